import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as checks from "../../../src/constructs/sites/checks.ts";
import { LONGEST_REFERENCE, orderReference } from "../../../src/constructs/sites/checks.ts";
import { Currency, DeletionPolicy, EventName, Permission, Term } from "../../../src/constructs/sites/words.ts";
import { kinds } from "../../../src/core/kinds/index.ts";
import { EVENTS } from "../../../src/core/model/index.ts";
import fc, { runs } from "../../support/fc.ts";

const attribute = (kind: string, name: string): z.ZodType => {
  const found = kinds.get(kind)?.attributes.shape[name];
  if (found === undefined) throw new Error(`${kind} has no ${name}`);
  return found as z.ZodType;
};

/** Returns the words that a kind accepts for an attribute, from its JSON Schema. */
function wordsOf(kind: string, name: string): unknown[] {
  const { enum: words = [] } = z.toJSONSchema(attribute(kind, name), { io: "input" }) as { enum?: unknown[] };
  return words;
}

describe("the constructs accept the same words as the kinds", () => {
  it.each([
    ["Currency", Currency, wordsOf("hosting_service", "currency")],
    ["Currency of a client", Currency, wordsOf("hosting_client_account", "currency")],
    ["Term", Term, wordsOf("hosting_service", "term")],
    ["Permission", Permission, wordsOf("hosting_grant", "permission")],
    ["EventName", EventName, [...EVENTS]],
    ["DeletionPolicy", DeletionPolicy, wordsOf("hosting_service", "deletion_policy")],
  ])("%s", (_, words, kind) => {
    expect(kind.length).toBeGreaterThan(1);
    expect(Object.values(words).toSorted()).toEqual(kind.toSorted());
  });

  it.each(["hosting_client_account", "hosting_migration_request"])("a %s cannot be suspended", (kind) => {
    expect(wordsOf(kind, "deletion_policy")).toEqual(["prevent", "forget"]);
  });
});

describe("the constructs and the kinds accept the same values", () => {
  const label = fc.string({ unit: fc.constantFrom(..."aZ09-.ü@ '+_გ"), maxLength: 12 });
  const texts = fc.oneof(
    label,
    fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join(".")),
    fc.tuple(label, label).map(([user, host]) => `${user}@${host}.example`),
    fc.emailAddress(),
    fc.domain(),
    fc.string(),
  );
  const urls = fc.oneof(
    fc.webUrl({ validSchemes: ["http", "https", "ftp"] }),
    texts,
    texts.map((rest) => `https://${rest}`),
  );
  const times = fc.oneof(
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 16)),
    texts,
  );
  const agree = <T>(arbitrary: fc.Arbitrary<T>, check: checks.Check, type: z.ZodType) =>
    fc.assert(
      fc.property(arbitrary, (value) => {
        fc.pre(!checks.isToken(value));
        expect(check("it", value).length === 0, JSON.stringify(value)).toBe(type.safeParse(value).success);
      }),
      { numRuns: runs(500) },
    );

  it.each([
    ["times", times, checks.checkInstant, attribute("hosting_grant", "expires_at")],
    [
      "references",
      fc.string({ maxLength: 250 }),
      checks.checkText(LONGEST_REFERENCE),
      attribute("hosting_service", "reference"),
    ],
  ])("%s", (_, arbitrary, check, type) => agree(arbitrary, check, type));

  it.each([
    ["domains", checks.checkDomain, attribute("hosting_service", "domain")],
    ["e-mail addresses", checks.checkEmail, attribute("hosting_grant", "email")],
  ])("%s in ASCII: only the kinds know the A-labels of other letters", (_, check, type) => {
    const ascii = texts.filter((text) => /^(?!.*xn--)[ -~]*$/i.test(text) && text.length < 254);
    agree(ascii, check, type);
    fc.assert(
      fc.property(texts, (text) => {
        if (type.safeParse(text).success) expect(check("it", text)).toEqual([]);
      }),
    );
  });

  it("positive whole numbers", () => {
    const numbers = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, 1, Number.MAX_SAFE_INTEGER, 2 ** 53));
    agree(numbers, checks.checkPositive, attribute("hosting_service", "plan_id"));
  });

  it("URLs, except URLs with a password, which only the constructs reject", () => {
    const open = urls.filter((url) => !(URL.canParse(url) && new URL(url).password !== ""));
    agree(open, checks.checkUrl, attribute("hosting_webhook", "url"));
    const [said = ""] = checks.checkUrl("url", "https://me:hunter22@hooks.example/");
    expect(said).toContain("holds a password");
    expect(said).not.toContain("hunter22");
  });
});

describe("the name of an order", () => {
  const paths = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 8 });
  const path = paths.map((ids) => ids.join("/")).filter((text) => !checks.isToken(text));
  const reference = attribute("hosting_service", "reference");

  it("is the path if the path is a valid name", () => {
    expect(orderReference("production/acme/build-1")).toBe("production/acme/build-1");
    expect(orderReference("სახელი/dev@acme.example")).toBe("სახელი/dev@acme.example");
    expect(orderReference(`p/${"x".repeat(198)}`)).toHaveLength(200);
  });

  it("is accepted by the provider, and contains nothing that Terraform would evaluate", () => {
    fc.assert(
      fc.property(path, (text) => {
        const name = orderReference(text);
        expect(reference.safeParse(name).success).toBe(true);
        expect(name).toMatch(/^[\p{L}\p{N}._@/-]+$/u);
        expect(orderReference(text)).toBe(name);
      }),
    );
  });

  it("differs for another path, even if only special characters or the end of a long path differ", () => {
    const pairs = [
      ["a b", "a_b"],
      ["a b", "a%b"],
      [`a/${"x".repeat(300)}1`, `a/${"x".repeat(300)}2`],
    ] as const;
    for (const [one, other] of pairs) expect(orderReference(one)).not.toBe(orderReference(other));
    fc.assert(
      fc.property(path, path, (one, other) => {
        fc.pre(one !== other);
        expect(orderReference(one)).not.toBe(orderReference(other));
      }),
    );
  });

  it("is rejected for a path that differs in each run", () => {
    expect(() => orderReference("production/${TfToken[TOKEN.3]}")).toThrow(/holds a token/);
  });
});
