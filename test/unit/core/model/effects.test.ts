import { describe, expect, it } from "vitest";
import { type Change, EFFECT_KINDS, effectsOf, moneyTotals } from "../../../../src/core/model/index.ts";
import fc from "../../../support/fc.ts";
import { change, liveService, order, plan, reason, update } from "../../report/builders.ts";

const grant = (over: Partial<Change>) =>
  change({ address: 'hosting_grant.acme["dev@acme.example"]', type: "hosting_grant", ...over });
const may = (permission: string, email = "dev@acme.example") => ({ id: "7", service_id: "1001", email, permission });
const webhook = (over: Partial<Change>) =>
  change({ address: "hosting_webhook.a", type: "hosting_webhook", before: { url: "https://h.example" }, ...over });
const offline = { ...liveService, suspended: true };
const removed = (over: Partial<Change>) => change({ actions: ["forget"], before: liveService, ...over });

const sentences = (...changes: Change[]) => effectsOf(plan(changes)).map(({ sentence }) => sentence);

describe("effectsOf: the consequences of a plan for people", () => {
  it.each<[why: string, change: Change, sentences: readonly string[]]>([
    ["nothing", change({ before: liveService, after: liveService }), []],
    ["an order", order(), ["www.acme.example is ordered: plan 101."]],
    [
      "an order of an international domain, in both of its forms",
      order({ after: { ...liveService, domain: "m\u00fcnchen.example" } }),
      [expect.stringContaining("m\u00fcnchen.example (xn--mnchen-3ya.example) is ordered") as unknown as string],
    ],
    [
      "an order of what was there before",
      order({ reasons: [reason("reorder", "gone")] }),
      ["www.acme.example is ordered again: plan 101."],
    ],
    [
      "a domain",
      order({ address: "hosting_domain.a", type: "hosting_domain", after: { domain: "a.example", years: 1 } }),
      ["a.example is registered."],
    ],
    ["a suspension", update({ suspended: true }), ["www.acme.example is suspended and goes offline."]],
    [
      "a suspension with a new password is both",
      update(
        { suspended: true, password_version: 2 },
        {
          reasons: [reason("declared", "suspended is true", "suspended"), reason("declared", "2", "password_version")],
        },
      ),
      ["www.acme.example is suspended and goes offline.", "www.acme.example gets a new password."],
    ],
    [
      "removal with deletion_policy suspend is an outage, and what leaves is billed on",
      removed({ removal: "suspend" }),
      [
        "www.acme.example is suspended and goes offline.",
        "www.acme.example is no longer managed. It stays in the account, and the host still bills it.",
      ],
    ],
    [
      "removal with deletion_policy forget",
      removed({ removal: "forget" }),
      ["www.acme.example is no longer managed. It stays in the account, and the host still bills it."],
    ],
    [
      "what the API did not show, such as a service that was handed over, is neither in the account nor billed",
      removed({ removal: "forget", unchecked: true }),
      ["www.acme.example is no longer managed. The API did not return it."],
    ],
    [
      "what no longer exists is billed no more",
      removed({ removal: "forget", reasons: [reason("gone", "it is gone")] }),
      ["www.acme.example no longer exists and is removed from the state."],
    ],
    [
      "the end of a suspension",
      update({ suspended: false }, { before: offline }),
      ["www.acme.example comes back online."],
    ],
    [
      "what is only recorded",
      update(
        { deletion_policy: "forget" },
        { requests: 0, reasons: [reason("declared", "edited", "deletion_policy")] },
      ),
      ["www.acme.example: deletion_policy is recorded."],
    ],
    [
      "access given",
      grant({ actions: ["create"], after: may("view") }),
      ["dev@acme.example gets view access to www.acme.example."],
    ],
    [
      "access taken",
      grant({ actions: ["delete"], before: may("view") }),
      ["dev@acme.example loses view access to www.acme.example."],
    ],
    [
      "a higher permission",
      grant({ actions: ["delete", "create"], before: may("view"), after: may("manage") }),
      ["dev@acme.example: access to www.acme.example is raised from view to manage."],
    ],
    [
      "a lower permission",
      grant({ actions: ["delete", "create"], before: may("manage"), after: may("view") }),
      ["dev@acme.example: access to www.acme.example is reduced from manage to view."],
    ],
    [
      "a permission that the host does not show",
      grant({ actions: ["delete", "create"], before: { ...may("view"), permission: null }, after: may("manage") }),
      ["dev@acme.example: access to www.acme.example is raised to manage."],
    ],
    [
      "another end of the same permission",
      grant({
        actions: ["delete", "create"],
        before: may("view"),
        after: may("view"),
        reasons: [reason("declared", "edited", "expires_at")],
      }),
      ["dev@acme.example gets access to www.acme.example again: expires_at is changed."],
    ],
    [
      "a permission of another site",
      grant({ actions: ["delete", "create"], before: may("view"), after: { ...may("view"), service_id: "1002" } }),
      [
        "dev@acme.example loses view access to www.acme.example.",
        "dev@acme.example gets view access to shop.acme.example.",
      ],
    ],
    [
      "a grant that stays in the account when hostform stops managing it",
      grant({ actions: ["forget"], before: may("manage"), after: null, removal: "forget" }),
      ["dev@acme.example keeps manage access to www.acme.example. hostform no longer manages it."],
    ],
    [
      "another person in place of one is both",
      grant({ actions: ["delete", "create"], before: may("view"), after: may("view", "new@acme.example") }),
      [
        "dev@acme.example loses view access to www.acme.example.",
        "new@acme.example gets view access to www.acme.example.",
      ],
    ],
    ["a receiver", webhook({ actions: ["create"] }), ["https://h.example receives events from now on."]],
    ["a receiver less", webhook({ actions: ["delete"] }), ["https://h.example receives no more events."]],
    [
      "a receiver with a new secret",
      webhook({ actions: ["create", "delete"] }),
      ["The webhook of https://h.example is recreated and gets a new signing secret."],
    ],
    [
      "an adoption",
      change({ before: liveService, after: liveService, importing: { id: "1001" } }),
      ["www.acme.example is managed from now on. Nothing changes in the account."],
    ],
    [
      "an adoption that takes it offline at once is both",
      update({ suspended: true }, { importing: { id: "1001" } }),
      ["www.acme.example is suspended and goes offline.", "www.acme.example is managed from now on."],
    ],
    [
      "another address",
      change({ before: liveService, after: liveService, previousAddress: "hosting_service.old" }),
      ["hosting_service.old is renamed to hosting_service.acme. Nothing changes in the account."],
    ],
  ])("%s", (_, one, expected) => {
    const service = change({ address: "hosting_service.site", before: liveService, after: liveService });
    const shop = { ...liveService, id: "1002", domain: "shop.acme.example" };
    const other = change({ address: "hosting_service.shop", before: shop, after: shop });
    expect(sentences(service, other, one)).toEqual(expected);
  });

  it("marks an order as irreversible, and an outage with its remedy", () => {
    const [down, bought] = effectsOf(plan([order(), update({ suspended: true })]));
    expect(bought?.undo).toBeNull();
    expect(down?.undo).toBe("Declare suspended as false, and apply.");
  });

  it("finds the site of a grant in its own account, if two accounts have a service with the same id", () => {
    const service = (provider: string, domain: string) =>
      change({
        address: `hosting_service.${provider}`,
        provider,
        before: { ...liveService, domain },
        actions: ["no-op"],
      });
    const effects = sentences(
      service("default", "a.example"),
      service("beta", "b.example"),
      grant({ provider: "default", actions: ["delete"], before: may("view") }),
    );
    expect(effects).toEqual(["dev@acme.example loses view access to a.example."]);
  });

  it("finds the site of a grant whose service is ordered in the same plan", () => {
    const given = grant({
      actions: ["create"],
      after: { ...may("view"), service_id: null },
      dependsOn: ["hosting_service.acme"],
    });
    expect(effectsOf(plan([order(), given])).map(({ domain }) => domain)).toEqual([
      "www.acme.example",
      "www.acme.example",
    ]);
  });

  it("names the program that receives a new secret", () => {
    const to = { secret_output: { command: ["vault", "kv", "put", "x"] } };
    const ordered = order();
    const text = (one: Change) => effectsOf({ changes: [one] }).map(({ sentence }) => sentence);
    expect(text({ ...ordered, after: { ...ordered.after, ...to } })).toEqual([
      expect.stringMatching(/ is ordered.*\. Its secret goes to the program vault kv put x\.$/),
    ]);
    expect(text({ ...ordered, after: { ...ordered.after, ...to }, sensitive: ["secret_output"] })).toEqual([
      expect.stringMatching(/ Its secret goes to the program \(sensitive value\)\.$/),
    ]);
    expect(text(update({ suspended: true, ...to }, { reasons: [] })).join()).not.toContain("secret");
    const renewed = { why: "declared", attribute: "password_version", text: "" } as const;
    expect(text(update({ password_version: 2, ...to }, { reasons: [renewed] })).join()).toContain("the program vault");
  });

  it("returns an effect for each change", () => {
    const actions = [
      ["create"],
      ["update"],
      ["delete"],
      ["forget"],
      ["delete", "create"],
      ["create", "delete"],
    ] as const;
    const types = ["hosting_service", "hosting_grant", "hosting_webhook", "hosting_client_account", "hosting_new"];
    fc.assert(
      fc.property(
        fc.constantFrom(...actions),
        fc.constantFrom(...types),
        fc.boolean(),
        fc.boolean(),
        (does, type, was, is) => {
          const one = change({
            actions: does,
            type,
            address: `${type}.a`,
            before: { suspended: was },
            after: { suspended: is },
            requests: 1,
          });
          const found = effectsOf(plan([one]));
          expect(found).not.toEqual([]);
          for (const { kind, sentence } of found) {
            expect(EFFECT_KINDS).toContain(kind);
            expect(sentence).toMatch(/^\S.*\.$/);
            expect(sentence).not.toMatch(/undefined|null/);
          }
        },
      ),
    );
  });
});

describe("moneyTotals", () => {
  const priced = (currency: string, billed: number | null, most: number | null, months = 12) =>
    order({ quote: { currency, list: billed, billed, most, months } });
  const totals = (...changes: Change[]) => moneyTotals(effectsOf(plan(changes)));

  it("adds amounts by currency", () => {
    expect(totals(priced("USD", 1200, 1200), priced("GEL", 30, 30, 1), priced("USD", 600, 600))).toEqual([
      { currency: "USD", orders: 2, now: 1800, monthly: 150, bound: false, unknown: 0 },
      { currency: "GEL", orders: 1, now: 30, monthly: 30, bound: false, unknown: 0 },
    ]);
  });

  it("includes an upper bound, and marks the sum", () => {
    expect(totals(priced("USD", 1200, 1200), priced("USD", null, 2400))).toEqual([
      { currency: "USD", orders: 2, now: 3600, monthly: 300, bound: true, unknown: 0 },
    ]);
  });

  it("omits unknown amounts, and counts them separately", () => {
    expect(totals(priced("USD", 1200, 1200), priced("USD", null, null), priced("EUR", null, null))).toEqual([
      { currency: "USD", orders: 1, now: 1200, monthly: 100, bound: false, unknown: 1 },
      { currency: "EUR", orders: 0, now: null, monthly: null, bound: false, unknown: 1 },
    ]);
  });

  it("rounds a month up, so a bill is never higher than the shown amount", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.constantFrom(1, 3, 6, 12, 24, 36), (billed, months) => {
        const [total] = totals(priced("USD", billed, billed, months));
        expect((total?.monthly ?? 0) * months).toBeGreaterThanOrEqual(billed);
        expect((total?.monthly ?? 0) * months).toBeLessThan(billed + months);
      }),
    );
  });
});
