import { describe, expect, it } from "vitest";
import { z } from "zod";
import { attribute } from "../../../../src/core/kinds/attribute.ts";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { validate } from "../../../../src/core/lifecycle/index.ts";
import { UNKNOWN, type Value, type ValueObject } from "../../../../src/core/model/index.ts";
import { saying } from "../../../support/remedies.ts";
import { kindOf } from "../../../support/subjects.ts";

const order: ValueObject = { plan_id: 11, currency: "USD" };
const contact = { first_name: "Ana" };
const domain: ValueObject = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: contact,
};

const said = (type: string, config: ValueObject) =>
  validate(kindOf(type), config, `${type}.acme`).diagnostics.map(({ code, attribute, summary }) => ({
    code,
    attribute: attribute?.join("."),
    summary,
  }));

/** Creates a kind with required attributes and no rules across attributes. */
const kindWith = (types: Readonly<Record<string, z.ZodType>>, example?: string): Kind => {
  const meta = { change: "immutable", ...(example !== undefined && { example }) } as const;
  const entries = Object.entries(types).map(([name, type]) => {
    return [name, attribute(type, { ...meta, description: `What ${name} is.` })] as const;
  });
  const { check: _, ...kind } = kindOf("hosting_service");
  return { ...kind, attributes: z.object(Object.fromEntries(entries)) };
};

describe("validate", () => {
  it.each([
    ["hosting_service", {}, ["config.missing_attribute plan_id", "config.missing_attribute currency"]],
    ["hosting_service", { ...order, plan_id: null }, ["config.missing_attribute plan_id"]],
    ["hosting_service", { ...order, plan_id: "11" }, ["config.invalid_value plan_id"]],
    ["hosting_service", { ...order, plan_id: 0 }, ["config.invalid_value plan_id"]],
    ["hosting_service", { ...order, currency: "usd" }, ["config.invalid_value currency"]],
    ["hosting_service", { ...order, term: 2 }, ["config.invalid_value term"]],
    ["hosting_service", { ...order, suspended: "yes" }, ["config.invalid_value suspended"]],
    ["hosting_service", { ...order, domain: "localhost" }, ["config.invalid_value domain"]],
    ["hosting_service", { ...order, domain: "-a.example" }, ["config.invalid_value domain"]],
    ["hosting_service", { ...order, domain: "https://a.example" }, ["config.invalid_value domain"]],
    ["hosting_service", { ...order, deletion_policy: "delete" }, ["config.invalid_value deletion_policy"]],
    ["hosting_service", { ...order, password: "short", password_version: 1 }, ["config.invalid_value password"]],
    ["hosting_service", { ...order, password: "long enough" }, ["config.missing_attribute password"]],
    [
      "hosting_webhook",
      { url: "ftp://a.example", events: [] },
      ["config.invalid_value url", "config.invalid_value events"],
    ],
    ["hosting_webhook", { url: "https://a.example", events: ["invoice.payed"] }, ["config.invalid_value events.0"]],
    [
      "hosting_grant",
      { service_id: "1", email: "nobody", permission: "own", expires_at: "soon" },
      ["config.invalid_value email", "config.invalid_value permission", "config.invalid_value expires_at"],
    ],
    [
      "hosting_client_account",
      { name: "", deletion_policy: "suspend" },
      ["config.invalid_value name", "config.invalid_value deletion_policy"],
    ],
    ["hosting_domain", { ...domain, years: 11 }, ["config.invalid_value years"]],
    ["hosting_domain", { ...domain, registrant_contact: "Ana" }, ["config.invalid_value registrant_contact"]],
  ])("of a %s with %j reports %j", (type, config, expected) => {
    expect(said(type, config as ValueObject).map(({ code, attribute }) => `${code} ${attribute}`)).toEqual(expected);
  });

  it.each<[string, ValueObject, string[]]>([
    ["an element", { url: UNKNOWN, events: ["invoice.payed", UNKNOWN] }, ["config.invalid_value events.0"]],
    [
      "an element again",
      { url: UNKNOWN, events: [UNKNOWN, "invoice.paid", "invoice.paid"] },
      ["config.invalid_value events.2"],
    ],
    ["no whole", { url: UNKNOWN, events: [UNKNOWN], secret_output: { file: UNKNOWN, command: ["cat"] } }, []],
    [
      "a list",
      { url: UNKNOWN, events: UNKNOWN, secret_output: { file: UNKNOWN, command: [] } },
      ["config.invalid_value secret_output.command"],
    ],
    [
      "a missing part",
      { url: UNKNOWN, events: UNKNOWN, secret_output: { env_file: { path: UNKNOWN } } },
      ["config.invalid_value secret_output.env_file.name"],
    ],
  ])("with unknown parts checks the known ones: %s", (_, config, expected) => {
    expect(said("hosting_webhook", config).map(({ code, attribute }) => `${code} ${attribute}`)).toEqual(expected);
  });

  it("reports an element of a set that is declared twice, with the value only in the detail", () => {
    const config = { url: "https://a.example", events: ["invoice.paid", "invoice.created", "invoice.paid"] };
    expect(validate(kindOf("hosting_webhook"), config, "hosting_webhook.a").diagnostics).toMatchObject([
      { summary: "events.2: declared twice", detail: 'The value is "invoice.paid".', attribute: ["events", 2] },
    ]);
  });

  it("names the expected and the actual value", () => {
    const { diagnostics } = validate(
      kindOf("hosting_service"),
      { ...order, currency: "DOLLAR" },
      "hosting_service.acme",
    );
    expect(diagnostics).toEqual([
      {
        severity: "error",
        code: "config.invalid_value",
        summary: expect.stringMatching(/^currency: .*"GEL".*"USD".*"EUR"/),
        detail: 'The value is "DOLLAR".',
        address: "hosting_service.acme",
        attribute: ["currency"],
      },
    ]);
  });

  it.each<[string, ValueObject, string]>([
    ["hosting_service", { ...order, plan_id: 0 }, "plan_id: expected more than 0"],
    ["hosting_service", { ...order, plan_id: 1.5 }, "plan_id: expected a whole number"],
    ["hosting_service", { ...order, coupon_code: "" }, "coupon_code: expected a string that is not empty"],
    ["hosting_service", { ...order, reference: "x".repeat(201) }, "reference: expected at most 200 characters"],
    ["hosting_service", { ...order, suspended: "yes" }, "suspended: expected true or false"],
    ["hosting_domain", { ...domain, years: 0 }, "years: expected at least 1"],
    ["hosting_domain", { ...domain, years: 11 }, "years: expected at most 10"],
    ["hosting_domain", { ...domain, registrant_contact: "Ana" }, "registrant_contact: expected map, received string"],
    ["hosting_webhook", { url: "https://a.example", events: [] }, "events: at least one event"],
  ])("of a %s with %j has a clear message", (type, config, summary) => {
    expect(said(type, config).map((each) => each.summary)).toEqual([summary]);
  });

  it.each<[Value, z.ZodType, string]>([
    ["yes", z.boolean(), "Write `true`, without quotes."],
    ["On", z.boolean(), "Write `true`, without quotes."],
    ["true", z.boolean(), "Write `true`, without quotes."],
    ["no", z.boolean(), "Write `false`, without quotes."],
    ["off", z.boolean().optional(), "Write `false`, without quotes."],
    ["maybe", z.boolean(), "Write `true` or `false`, without quotes."],
    ["01", z.int(), "Write `1`, without quotes."],
    ["eleven", z.number(), "Write a number in decimal digits, without quotes."],
  ])("of the misplaced string %j names the correct notation", (value, type, fix) => {
    const { diagnostics } = validate(kindWith({ a: type }), { a: value }, "x.y");
    expect(diagnostics.map(({ remedies }) => remedies)).toEqual([[fix]]);
  });

  // A kind for this test covers each zod error, with zod's own message and with the kind's message.
  const size = z.object({ deep: z.array(z.object({ name: z.string() })) });
  it.each<[string, z.ZodType, Value, string, string]>([
    ["a short text", z.string().min(5), "abc", "expected at least 5 characters", '"abc"'],
    ["a long text", z.string().max(1), "abc", "expected at most 1 characters", '"abc"'],
    ["a short list", z.array(z.string()).min(2), [], "expected at least 2 elements", "[]"],
    ["a number at its upper bound", z.number().lt(3), 3, "expected less than 3", "3"],
    ["too much, in the words of the kind", z.string().max(1, "one letter"), "ab", "one letter", '"ab"'],
    ["none of several", z.enum(["a", "b"]), "c", 'expected one of "a", "b"', '"c"'],
    ["another form, in the words of the kind", z.string().regex(/^a/, "a|b"), "c", "a|b", '"c"'],
    ["something missing within", size, { deep: [{}] }, "expected string, received undefined", "missing"],
    ["80 characters", z.number(), "x".repeat(78), "expected a number", `"${"x".repeat(78)}"`],
    ["81 characters", z.number(), "x".repeat(79), "expected a number", `"${"x".repeat(79)}…`],
  ])("of %s names the expected form and the actual value", (_, type, value, words, shown) => {
    const diagnostics = validate(kindWith({ a: type }), { a: value }, "x.y").diagnostics;
    expect(diagnostics.map(({ summary, detail }) => [summary.replace(/^a[.\w]*: /, ""), detail])).toEqual([
      [words, `The value is ${shown}.`],
    ]);
  });

  it.each([["with an example where there is one", "www", "Add `a`, for example `a: www`."]])(
    "says what is missing %s",
    (_, example, fix) => {
      const kind = kindWith({ a: z.string() }, example);
      expect(validate(kind, {}, "x.y").diagnostics).toMatchObject([
        { summary: 'A service requires "a"', remedies: saying(fix), detail: "What a is." },
      ]);
    },
  );

  it.each([
    ["https://ci:hunter22hunter@x.example:99999/in?key=abcdefgh", '"https://…@x.example:99999/in?…"'],
    ["https://ci:hunter22@hunter@x.example/in", '"https://…@x.example/in"'],
    [String.raw`https://x.example\y?key=abcdefgh`, String.raw`"https://x.example\\y?…"`],
  ])("shows a URL without credentials and query: %s", (url, shown) => {
    const { diagnostics } = validate(kindOf("hosting_webhook"), { url, events: ["invoice.paid"] }, "a.b");
    expect(diagnostics.map(({ detail }) => detail)).toEqual([`The value is ${shown}.`]);
  });

  it("does not show values that Terraform adds", () => {
    const output = { file: "a", env_file: null, command: ["b"] };
    const { diagnostics } = validate(kindOf("hosting_service"), { ...order, secret_output: output }, "a.b");
    expect(diagnostics.map(({ detail }) => detail)).toEqual(['The value is {"file":"a","command":["b"]}.']);
  });

  it("never contains a secret", () => {
    const { diagnostics } = validate(
      kindOf("hosting_service"),
      { ...order, password: "s3cr3t", password_version: 1 },
      "a.b",
    );
    expect(diagnostics).toHaveLength(1);
    expect(JSON.stringify(diagnostics)).not.toContain("s3cr3t");
  });

  it("returns values in their normal form, unknown values unchanged, and omits null", () => {
    expect(
      validate(
        kindOf("hosting_migration_request"),
        { domain: UNKNOWN, order_id: 1001, questions: { size: 1, none: null } },
        "a.b",
      ).values,
    ).toEqual({ domain: UNKNOWN, order_id: "1001", questions: { size: "1" } });
    expect(validate(kindOf("hosting_service"), { ...order, domain: null }, "a.b").values).toStrictEqual(order);
  });
});
