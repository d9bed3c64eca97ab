/** Policy rules: the plans that each rule rejects or permits. An additional rule never permits more. */
import { describe, expect, it } from "vitest";
import {
  type Change,
  capsOf,
  changeFacts,
  EFFECT_KINDS,
  type JsonObject,
  namesIn,
  newNames,
  type PolicyFacts,
  type PolicyRules,
  verdictsOf,
} from "../../../../src/core/model/index.ts";
import { parsePolicy } from "../../../../src/core/policy/rule-files.ts";
import { type GuardFlags, limitsOf, tightened } from "../../../../src/project/guards.ts";
import { wordsOfType } from "../../../../src/project/saved-plan.ts";
import { fc } from "../../../support/fc.ts";
import { change, liveService, order, reason, update } from "../../report/builders.ts";

const FRIDAY = Date.parse("2026-11-27T17:30:00Z");

const webhook = (url: string | null, over: Partial<Change> = {}) =>
  change({
    address: "hosting_webhook.audit",
    actions: ["create"],
    after: { url, events: ["invoice.paid"] },
    after_unknown: url === null ? { url: true } : {},
    ...over,
  });
const grant = (email: string, over: Partial<Change> = {}) =>
  change({ address: 'hosting_grant.www["x"]', actions: ["create"], after: { email, permission: "view" }, ...over });
const removed = (address: string) =>
  change({ address, actions: ["delete"], removal: "delete", before: { id: "7" }, reasons: [reason("removed", "")] });
const domain = change({
  address: "hosting_domain.acme",
  actions: ["create"],
  after: { domain: "acme.example", currency: "GEL" },
  quote: { currency: "GEL", list: null, billed: null, most: null, unknown: "the API gives no price for domains" },
});
const suspension = update({ suspended: true });
const named = order({ quote: { currency: "USD", list: 2000, billed: 1800, most: 1800, plan: "Shared S" } });

function said(rules: PolicyRules, changes: readonly Change[], over: Partial<PolicyFacts> = {}, isLater = false) {
  const policy = { file: "policy.yaml", rules, places: new Map() };
  return verdictsOf([policy], factsOf(changes, over), { isLater }).map(
    ({ level, sentence }) => `${level}: ${sentence}`,
  );
}

const factsOf = (changes: readonly Change[], over: Partial<PolicyFacts> = {}): PolicyFacts => ({
  changes: changeFacts({ changes }),
  conditions: [],
  unseen: 0,
  author: null,
  now: FRIDAY,
  hasStateKey: true,
  known: [],
  ...over,
});

describe("a rule of a policy", () => {
  it.each<[string, PolicyRules, readonly Change[], Partial<PolicyFacts>, readonly string[]]>([
    ["max_orders", { max_orders: 1 }, [named, domain], {}, ["The plan has 2 orders, and 1 are allowed"]],
    ["max_orders, kept", { max_orders: 1 }, [named], {}, []],
    [
      "max_spend",
      { max_spend: { USD: 1799 } },
      [named],
      {},
      ["The orders of the plan may cost 1800 USD; max_spend allows 1799 USD"],
    ],
    ["max_spend, kept", { max_spend: { USD: 1800 } }, [named], {}, []],
    ["max_spend, another currency", { max_spend: { EUR: 0 } }, [named], {}, []],
    [
      "max_spend, no price",
      { max_spend: { GEL: 100 } },
      [domain],
      {},
      ["The price of hosting_domain.acme is not known"],
    ],
    ["max_removals", { max_removals: 0 }, [removed("hosting_webhook.a")], {}, ["The plan has 1 removal, and 0"]],
    [
      "webhook_hosts",
      { webhook_hosts: ["*.acme.example"] },
      [webhook("https://hooks.evil.example/acme.example")],
      {},
      ["hosting_webhook.audit sends events to hooks.evil.example"],
    ],
    ["webhook_hosts, below", { webhook_hosts: ["*.acme.example"] }, [webhook("https://a.b.acme.example./x")], {}, []],
    [
      "webhook_hosts, the apex",
      { webhook_hosts: ["*.acme.example"] },
      [webhook("https://acme.example")],
      {},
      ["hosting_"],
    ],
    [
      "webhook_hosts, user",
      { webhook_hosts: ["ok.example"] },
      [webhook("https://ok.example@e.example")],
      {},
      ["hosting_"],
    ],
    [
      "webhook_hosts, unknown",
      { webhook_hosts: ["*.a.example"] },
      [webhook(null)],
      {},
      ["hosting_webhook.audit sends events to a host that is known only after apply"],
    ],
    [
      "webhook_hosts, removed",
      { webhook_hosts: [] },
      [webhook("https://e.example", { actions: ["delete"], before: { url: "https://e.example" }, after: null })],
      {},
      [],
    ],
    [
      "grantee_domains",
      { grantee_domains: ["acme.example"] },
      [grant("m@acme.example.evil.example")],
      {},
      ["hosting_grant"],
    ],
    ["grantee_domains, kept", { grantee_domains: ["Acme.Example"] }, [grant("m@ACME.example")], {}, []],
    ["plans by name", { plans: ["Shared M"] }, [named], {}, ["hosting_service.acme orders the plan Shared S"]],
    ["plans by id", { plans: [101] }, [named, domain], {}, []],
    ["currencies", { currencies: ["USD"] }, [named, domain], {}, ["hosting_domain.acme is an order in GEL"]],
    [
      "removable_kinds",
      { removable_kinds: ["hosting_grant"] },
      [removed("hosting_webhook.a")],
      {},
      ["hosting_webhook.a is"],
    ],
    ["never_offline", { never_offline: ["*.acme.example"] }, [suspension], {}, ["www.acme.example would go offline"]],
    ["never_offline, another", { never_offline: ["shop.acme.example"] }, [suspension], {}, []],
    ["never_offline, by address", { never_offline: ["hosting_service.ac*"] }, [suspension], {}, ["www.acme.example"]],
    [
      "look_alikes, mixed",
      { look_alikes: "deny" },
      [grant("a@\u0430cme.example")],
      {},
      ['hosting_grant.www["x"] names \u0430cme.example (xn--cme-5cd.example, mixed scripts: Cyrillic and Latin)'],
    ],
    [
      "look_alikes, known",
      { look_alikes: "deny" },
      [grant("a@acrne.example")],
      { known: ["acme.example"] },
      ["hosting_grant"],
    ],
    ["look_alikes, itself", { look_alikes: "deny" }, [grant("a@acme.example")], { known: ["acme.example"] }, []],
    ["require_state_key", { require_state_key: true }, [], { hasStateKey: false }, ["The state has no key"]],
    ["require_state_key, kept", { require_state_key: true }, [named], {}, []],
    [
      "no_orders_while",
      { no_orders_while: ["offline"] },
      [named],
      { conditions: [{ address: "hosting_service.b", condition: "offline" }] },
      ["The plan orders while these have the condition offline: hosting_service.b"],
    ],
    [
      "no_orders_while, no order",
      { no_orders_while: ["offline"] },
      [suspension],
      { conditions: [{ address: "hosting_service.b", condition: "offline" }] },
      [],
    ],
    [
      "no_orders_while, not all read",
      { no_orders_while: ["offline"] },
      [named],
      { unseen: 3 },
      ["The plan orders, and 3"],
    ],
    ["windows", { windows: [{ days: ["fri"], from: "17:00" }] }, [named], {}, ["Nothing may be applied now"]],
    ["windows, allowed", { windows: [{ days: ["fri"], allow: ["offline"] }] }, [suspension], {}, []],
    [
      "windows, not only",
      { windows: [{ allow: ["offline"], reason: "sale" }] },
      [named],
      {},
      ["Only offline may be applied now (sale)"],
    ],
    ["windows, nothing to do", { windows: [{}] }, [change()], {}, []],
    [
      "scopes, own client",
      { scopes: [{ authors: ["ann"], clients: ["acme"] }] },
      [{ ...named, client: "acme" }],
      { author: "ann" },
      [],
    ],
    [
      "scopes, another client",
      { scopes: [{ authors: ["ann"], clients: ["acme"] }] },
      [{ ...named, client: "beta" }],
      { author: "Ann" },
      ["Ann may not change hosting_service.acme: it is of beta"],
    ],
    [
      "scopes, no client",
      { scopes: [{ authors: ["ann"], clients: ["acme"] }] },
      [named],
      { author: "ann" },
      ["ann may not"],
    ],
    ["scopes, another author", { scopes: [{ authors: ["ann"], clients: ["acme"] }] }, [named], { author: "bob" }, []],
    [
      "scopes, no author",
      { scopes: [{ authors: ["ann"], clients: ["acme"] }] },
      [named],
      {},
      ["A run whose author is not known"],
    ],
    ["scopes, excepted", { scopes: [{ except_authors: ["ops-*"], kinds: [] }] }, [named], { author: "ops-lead" }, []],
    [
      "scopes, not excepted",
      { scopes: [{ except_authors: ["ops-*"], kinds: [] }] },
      [named],
      { author: "ops" },
      ["ops may not"],
    ],
    [
      "scopes, a client taken over",
      { scopes: [{ files: ["clients/acme.yaml"], clients: ["acme"] }] },
      [change({ client: "acme", formerClient: "beta", file: "clients/acme.yaml" })],
      {},
      ["clients/acme.yaml may not change hosting_service.acme: it is of beta"],
    ],
    [
      "scopes, another file",
      { scopes: [{ files: ["clients/*"], clients: ["acme"] }] },
      [{ ...named, file: "b.yaml" }],
      {},
      [],
    ],
    [
      "scopes, effects",
      { scopes: [{ authors: ["*"], effects: ["offline"] }] },
      [named],
      { author: "x" },
      ["x may not change hosting_service.acme: its effect is order"],
    ],
  ])("%s", (_, rules, changes, over, expected) => {
    const found = said(rules, changes, over);
    expect(found.length, found.join("\n")).toBe(expected.length);
    for (const [at, text] of expected.entries()) expect(found[at]).toContain(`deny: ${text}`);
  });

  it("only warns about a window while nobody applies the plan", () => {
    expect(said({ windows: [{ days: ["fri"] }] }, [named], {}, true)).toEqual(["warn: Nothing may be applied now"]);
  });

  it("distinguishes known hosts and domains of the project from new ones", () => {
    const changes = changeFacts({
      changes: [webhook("https://new.example/x"), grant("a@acme.example"), grant("b@evil.example")],
    });
    const words = (address: string) => wordsOfType(address.split(".")[0] ?? "");
    const recorded = [
      { address: "hosting_service.www", attributes: { domain: "acme.example" } as JsonObject },
      { address: "hosting_webhook.old", attributes: { url: "https://old.example" } as JsonObject },
    ];
    expect(newNames(changes, namesIn(recorded, words))).toEqual([
      { what: "receives events", name: "new.example", addresses: ["hosting_webhook.audit"] },
      { what: "gets access", name: "evil.example", addresses: ['hosting_grant.www["x"]'] },
    ]);
  });
});

/** Random policies, plans and times. */
const some = <T>(...values: T[]) => fc.option(fc.subarray(values), { nil: undefined });
const rulesBy = fc.record(
  {
    max_orders: fc.nat(3),
    max_spend: fc.dictionary(fc.constantFrom("USD", "GEL"), fc.nat(4000)),
    max_removals: fc.nat(2),
    webhook_hosts: some("hooks.acme.example", "*.evil.example"),
    grantee_domains: some("acme.example"),
    plans: some("Shared S", "11"),
    currencies: some("USD"),
    removable_kinds: some("hosting_webhook"),
    never_offline: some("*.acme.example"),
    look_alikes: fc.constantFrom("deny", "warn"),
    require_state_key: fc.constant(true),
    no_orders_while: some("offline", "unpaid"),
    windows: fc.array(fc.record({ allow: some("order", "offline") })),
    scopes: fc.array(fc.record({ authors: fc.constant(["*"]), clients: some("acme", "beta") })),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<PolicyRules>;
const changesBy = fc.subarray([
  named,
  domain,
  suspension,
  webhook("https://hooks.evil.example"),
  webhook(null),
  grant("a@evil.example"),
  removed("hosting_webhook.x"),
  change({ before: liveService, after: liveService }),
]);
const factsBy = fc.record({
  author: fc.constantFrom(null, "ann"),
  hasStateKey: fc.boolean(),
  now: fc.nat(7 * 86_400_000).map((ms) => FRIDAY + ms),
});

describe("policies together", () => {
  it("never permit more if a rule is added", () => {
    const denied = (rules: readonly PolicyRules[], changes: readonly Change[], over: Partial<PolicyFacts>) =>
      new Set(rules.flatMap((one) => said(one, changes, over)).filter((one) => one.startsWith("deny")));
    fc.assert(
      fc.property(rulesBy, rulesBy, changesBy, factsBy, (rules, more, changes, facts) => {
        const before = [...denied([rules], changes, facts)];
        expect([...denied([{ ...more, ...rules }], changes, facts)]).toEqual(expect.arrayContaining(before));
        expect([...denied([rules, more], changes, facts)]).toEqual(expect.arrayContaining(before));
      }),
    );
  });

  it("never raise a limit of the guards", () => {
    const flags = fc.record(
      { maxOrders: fc.nat(5), maxSpend: fc.dictionary(fc.constantFrom("USD", "GEL"), fc.nat(5000)) },
      { requiredKeys: [] },
    ) as fc.Arbitrary<GuardFlags>;
    fc.assert(
      fc.property(flags, rulesBy, (guards, rules) => {
        const limits = limitsOf(guards);
        const within = tightened(limits, capsOf([{ rules }]));
        const { maxOrders = Number.POSITIVE_INFINITY, maxSpend = {} } = limits;
        expect(within.maxOrders ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(maxOrders);
        for (const [currency, most] of Object.entries(maxSpend))
          expect(within.maxSpend?.[currency]).toBeLessThanOrEqual(most);
      }),
    );
  });
});

describe("a file of rules", () => {
  it("is read with the position of each rule and entry", () => {
    const { rules, places } = parsePolicy(
      "p.yaml",
      "max_orders: 2\nscopes:\n  - authors: [ann]\n    clients: [acme]\n",
    );
    expect(rules).toEqual({ max_orders: 2, scopes: [{ authors: ["ann"], clients: ["acme"] }] });
    expect(places.get("max_orders")).toMatchObject({ line: 1, column: 1, text: "max_orders: 2" });
    expect(places.get("scopes.0")).toMatchObject({ line: 3 });
  });

  it.each([
    ["", "the file is empty"],
    ["{}", "expected at least one rule"],
    ["5", "expected map, received number"],
    ["max_orders: 1\nlook_alikes: never", 'look_alikes: expected one of "deny", "warn"'],
    ["max_orders: -1", "max_orders: at least 0"],
    ["max_order: 1", '"max_order" is not known. Did you mean "max_orders"?'],
    ["max_orders: 1\nmax_orders: 2", "Map keys must be unique"],
    ["webhook_hosts: ['*acme.example']", "webhook_hosts[0]: expected a domain"],
    ["windows: [{ time_zone: Mars }]", "windows[0].time_zone: expected a time zone"],
    ["windows: [{ day: [fri] }]", 'windows[0]: "day" is not known'],
    ["scopes: [{ clients: [acme] }]", "scopes[0]: expected `files` or `authors`"],
    ["scopes: [{ authors: [ann] }]", "scopes[0]: expected `clients`"],
    ["a: &a [x]\nb: [*a, *a", "Flow sequence"],
    ["webhook_hosts: acme.example", "webhook_hosts: expected a list of domains"],
    [`never_offline: [${"x,".repeat(10)}1]`, "never_offline[10]: expected sites"],
  ])("with the text %j is rejected: %s", (text, why) => {
    expect(() => parsePolicy("p.yaml", text)).toThrow(why);
  });

  it("is rejected with the position of each unknown key, and with the place of a misplaced one", () => {
    const text = "max_orders: 1\nwindows:\n  - days: [fri]\n    dais: 1\n    currencies: [USD]\n";
    const at = (why: string, line: number) =>
      expect.objectContaining({
        summary: expect.stringContaining(`windows[0]: ${why}`),
        range: expect.objectContaining({ line, column: 5 }),
      });
    const diagnostics = [at('"dais" is not known', 4), at('"currencies" belongs at the top of the file', 5)];
    expect(() => parsePolicy("p.yaml", text)).toThrow(expect.objectContaining({ diagnostics }));
  });

  it("names only effects that plans have", () => {
    expect(parsePolicy("p.yaml", `windows: [{ allow: [${EFFECT_KINDS.join(", ")}] }]`).rules.windows).toHaveLength(1);
  });
});
