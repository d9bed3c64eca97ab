import { describe, expect, it } from "vitest";
import { checkGuards, type GuardContext, type Limits } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Change, Diagnostic, ProviderConfig, Quote } from "../../../../src/core/model/index.ts";
import { fixOf, saying } from "../../../support/remedies.ts";

const change = (address: string, over: Partial<Change>): Change =>
  ({ address, type: address.split(".")[0], provider: "default", reasons: [], ...over }) as unknown as Change;

const order = (name: string, quote: Partial<Quote> = {}, type = "hosting_service") =>
  change(`${type}.${name}`, {
    actions: ["create"],
    quote: { currency: "USD", list: 500, billed: 450, most: 450, ...quote },
  });

const unpriced = { list: null, billed: null, most: null, unknown: "the API gives no price for domains" };
const domain = (name: string, currency = "USD") => order(name, { ...unpriced, currency }, "hosting_domain");

const removal = (name: string, over: Partial<Change> = {}) =>
  change(`hosting_webhook.${name}`, {
    actions: ["delete"],
    removal: "delete",
    reasons: [{ why: "removed", text: "no longer declared" }],
    ...over,
  });

const removals = (count: number) => Array.from({ length: count }, (_, at) => removal(`w${at}`));

const providersOf = (config: Partial<ProviderConfig>) => new Map([["default", { alias: "default", ...config }]]);

function check(
  changes: readonly Change[],
  limits: Limits,
  over: Partial<GuardContext> & { mode?: "apply" | "destroy" } = {},
): Diagnostic[] {
  const { mode = "apply", ...context } = over;
  return checkGuards({ changes, mode }, limits, {
    kinds,
    providers: providersOf({}),
    recorded: 20,
    declared: 15,
    ...context,
  });
}

const said = (found: readonly Diagnostic[]) => found.map(({ code, summary }) => `${code}: ${summary}`);

describe("max_orders", () => {
  const adoption = change("hosting_service.old", { actions: ["no-op"], importing: { id: "1" } });
  const webhook = change("hosting_webhook.w", { actions: ["create"] });
  const pending = { ...order("again"), private: { pending: { since: "", operation: "createService" } } } as Change;
  const reordered = { ...order("reordered"), reasons: [{ why: "reorder", text: "" }] } as Change;

  it.each([
    ["as many as allowed", [order("a"), order("b")], 2, []],
    ["one more", [order("a"), order("b"), order("c")], 2, ["The plan makes 3 orders; max_orders allows 2"]],
    ["none at all", [order("a")], 0, ["The plan makes 1 order; max_orders allows 0"]],
    ["a domain is an order", [order("a"), domain("b")], 1, ["The plan makes 2 orders; max_orders allows 1"]],
    ["so is a service that is ordered again", [reordered], 0, ["The plan makes 1 order; max_orders allows 0"]],
    [
      "so is one sent again: its first sending may have failed",
      [pending],
      0,
      ["The plan makes 1 order; max_orders allows 0"],
    ],
    ["what is adopted is not ordered", [adoption], 0, []],
    ["what costs nothing is not ordered", [webhook], 0, []],
  ])("counts %s", (_, changes, maxOrders, expected) => {
    expect(said(check(changes, { maxOrders }))).toEqual(expected.map((summary) => `guard.orders: ${summary}`));
  });

  it("names the orders, the flag, and the position of the limit", () => {
    const range = { file: "hosting.yaml", line: 3, column: 15, endLine: 3, endColumn: 16 };
    const [found] = check([order("a"), order("b")], { maxOrders: 1, ranges: { maxOrders: range } });
    expect(found).toEqual({
      severity: "error",
      code: "guard.orders",
      summary: "The plan makes 2 orders; max_orders allows 1",
      detail: "Orders: hosting_service.a, hosting_service.b.",
      remedies: saying("Check the orders. To allow this for one run: `--max-orders 2`."),
      range,
    });
  });
});

describe("max_spend", () => {
  const coupon = { billed: null, most: 500, unknown: "the effect of the coupon is known only from the invoice" };
  const later = { ...unpriced, currency: "unknown", most: 5 };

  it.each([
    ["exactly what is allowed", [order("a"), order("b")], { USD: 900 }, []],
    ["one unit more", [order("a"), order("b")], { USD: 899 }, ["may cost 900 USD; max_spend allows 899 USD"]],
    [
      "what cannot be known exactly by what it cannot exceed",
      [order("a", coupon)],
      { USD: 499 },
      ["may cost 500 USD; max_spend allows 499 USD"],
    ],
    ["free of charge as nothing", [order("a", { most: 0 })], { USD: 0 }, []],
    [
      "each currency separately",
      [order("a"), order("b", { currency: "GEL", most: 1300 })],
      { USD: 450, GEL: 1000 },
      ["may cost 1300 GEL; max_spend allows 1000 GEL"],
    ],
    ["only currencies that are limited", [order("b", { currency: "GEL", most: 1300 })], { USD: 0 }, []],
    [
      "an amount that cannot be known as too much",
      [domain("d")],
      { USD: 99_999 },
      ["max_spend of 99999 USD cannot be checked: the amount of 1 order is unknown"],
    ],
    ["nothing unknown where nothing is limited", [domain("d", "GEL")], { USD: 1 }, []],
    [
      "an amount in no currency yet against every limit",
      [order("a", later)],
      { USD: 9, EUR: 9 },
      [
        "max_spend of 9 USD cannot be checked: the amount of 1 order is unknown",
        "max_spend of 9 EUR cannot be checked: the amount of 1 order is unknown",
      ],
    ],
  ])("counts %s", (_, changes, maxSpend, expected) => {
    const summaries = check(changes, { maxSpend }).map(({ summary }) => summary.replace("The orders of the plan ", ""));
    expect(summaries).toEqual(expected);
  });

  it("permits unknown amounts with the flag, and still counts the others", () => {
    const changes = [order("a"), domain("d")];
    expect(check(changes, { maxSpend: { USD: 450 }, allowUnknownPrices: true })).toEqual([]);
    expect(said(check(changes, { maxSpend: { USD: 449 }, allowUnknownPrices: true }))).toEqual([
      "guard.spend: The orders of the plan may cost 450 USD; max_spend allows 449 USD",
    ]);
  });

  it("prints one message for each limit: numbers, unit, and both flags", () => {
    const [found, ...more] = check([order("a"), order("b"), domain("d")], { maxSpend: { USD: 500 } });
    expect(more).toEqual([]);
    expect(found?.detail).toBe(
      "Maximum cost: hosting_service.a 450, hosting_service.b 450.\nUnknown cost: hosting_domain.d (the API gives no price for domains).\nAmounts are in the API's own unit.",
    );
    expect(fixOf(found)).toContain(
      "`--max-spend USD=900` and `--allow-unknown-prices`. Orders of unknown amount are then sent",
    );
  });

  it.each<[string, readonly Change[], Limits, detail: string, fix: string]>([
    [
      "only amounts that are known",
      [order("a")],
      { maxSpend: { USD: 1 } },
      "Maximum cost: hosting_service.a 450.\nAmounts are in the API's own unit.",
      "Check the orders. To allow this for one run: `--max-spend USD=450`.",
    ],
    [
      "only amounts that are not",
      [domain("d")],
      { maxSpend: { USD: 1 } },
      "Unknown cost: hosting_domain.d (the API gives no price for domains).\nAmounts are in the API's own unit.",
      "Check the orders. To allow this for one run: `--allow-unknown-prices`. Orders of unknown amount are then sent one by one, and each invoice counts.",
    ],
    [
      "an amount in a currency that is not known yet",
      [order("a", { currency: "unknown", most: 5 })],
      { maxSpend: { USD: 9 } },
      "Unknown cost: hosting_service.a (its currency is known only after apply).\nAmounts are in the API's own unit.",
      "Check the orders. To allow this for one run: `--allow-unknown-prices`. Orders of unknown amount are then sent one by one, and each invoice counts.",
    ],
    [
      "unknown amounts that are allowed, beside known ones that are too much",
      [order("a"), domain("d")],
      { maxSpend: { USD: 1 }, allowUnknownPrices: true },
      "Maximum cost: hosting_service.a 450.\nUnknown cost: hosting_domain.d (the API gives no price for domains).\nAmounts are in the API's own unit.",
      "Check the orders. To allow this for one run: `--max-spend USD=450`.",
    ],
  ])("names %s and the flags that permit them", (_, changes, limits, detail, fix) => {
    expect(check(changes, limits)).toMatchObject([{ severity: "error", detail, remedies: saying(fix) }]);
  });

  it("prints scaled amounts beside the API's amounts if the scale is known", () => {
    const [found] = check([order("a")], { maxSpend: { USD: 20 } }, { providers: providersOf({ moneyScale: 2 }) });
    expect(found?.summary).toBe("The orders of the plan may cost 450 USD (4.50); max_spend allows 20 USD (0.20)");
    expect(found?.detail).toContain("in the API's own unit, in brackets by money_scale");
    expect(fixOf(found)).toContain("--max-spend USD=450");
  });

  it("does not scale if the accounts of the orders use different scales", () => {
    const providers = new Map([
      ["default", { alias: "default", moneyScale: 2 }],
      ["beta", { alias: "beta" }],
    ]);
    const [found] = check([order("a"), { ...order("b"), provider: "beta" }], { maxSpend: { USD: 0 } }, { providers });
    expect(found?.summary).toContain("may cost 900 USD; max_spend");
  });
});

describe("removals", () => {
  const gone = removal("g", {
    actions: ["forget"],
    removal: "forget",
    reasons: [{ why: "gone", text: "it was not found" }],
  });
  const forgotten = removal("f", { actions: ["forget"], removal: "forget" });
  const retired = removal("s", { actions: ["forget"], removal: "suspend" });
  const replaced = change("hosting_grant.r", { actions: ["delete", "create"] });
  const kept = change("hosting_service.k", { actions: ["no-op"] });

  it.each([
    ["a deletion", removal("a"), 1],
    ["what is forgotten", forgotten, 1],
    ["what is suspended and forgotten", retired, 1],
    ["not what is gone already", gone, 0],
    ["not the half of a replacement", replaced, 0],
    ["not what deletion_policy keeps", kept, 0],
  ])("are %s", (_, one, count) => {
    expect(check([one], { maxRemovals: 0 })).toHaveLength(count);
  });

  it.each<[string, number, Limits, Parameters<typeof check>[2], string[]]>([
    [
      "one, which nobody looks at before",
      1,
      { unattended: true },
      {},
      ["The plan removes 1 resource; without approval, an apply removes none by default"],
    ],
    ["as many as a declared limit, which nobody looks at before", 5, { unattended: true, maxRemovals: 5 }, {}, []],
    ["as many as max_removals", 5, { maxRemovals: 5 }, {}, []],
    ["one more than max_removals", 6, { maxRemovals: 5 }, {}, ["The plan removes 6 resources; max_removals allows 5"]],
    ["exactly the share", 4, { maxRemovalsPercent: 20 }, {}, []],
    [
      "a little more than the share",
      301,
      { maxRemovalsPercent: 30 },
      { recorded: 1000 },
      ["The plan removes 301 of 1000 resources in the state (30.1%); max_removals_percent allows 30%"],
    ],
    [
      "a share that reads as the limit is rounded up",
      3001,
      { maxRemovalsPercent: 30 },
      { recorded: 10_000 },
      ["The plan removes 3001 of 10000 resources in the state (30.1%); max_removals_percent allows 30%"],
    ],
    [
      "a declared share holds in a small project, too",
      1,
      { maxRemovalsPercent: 20 },
      { recorded: 3 },
      ["The plan removes 1 of 3 resources in the state (33.4%); max_removals_percent allows 20%"],
    ],
    [
      "both limits, each reported",
      6,
      { maxRemovals: 5, maxRemovalsPercent: 20 },
      {},
      [
        "The plan removes 6 resources; max_removals allows 5",
        "The plan removes 6 of 20 resources in the state (30%); max_removals_percent allows 20%",
      ],
    ],
    ["by default up to 30%", 6, {}, {}, []],
    [
      "by default not more: was a file left out?",
      7,
      {},
      {},
      ["The plan removes 7 of 20 resources in the state (35%); the default limit allows 30%"],
    ],
    [
      "exactly ten recorded",
      4,
      {},
      { recorded: 10 },
      ["The plan removes 4 of 10 resources in the state (40%); the default limit allows 30%"],
    ],
    ["fewer than ten: half of them is an ordinary edit", 5, {}, { recorded: 9 }, []],
    ["a project with three resources", 2, {}, { recorded: 3 }, []],
    [
      "limits of other things leave the default as it is",
      7,
      { maxOrders: 3 },
      {},
      ["The plan removes 7 of 20 resources in the state (35%); the default limit allows 30%"],
    ],
    ["a declared number takes the place of the default share", 7, { maxRemovals: 7 }, {}, []],
    ["a share of 100 lifts it", 20, { maxRemovalsPercent: 100 }, {}, []],
    [
      "nothing declared at all: a bad glob",
      1,
      {},
      { declared: 0, recorded: 1 },
      ["The plan removes 1 of 1 resource in the state (100%); no resource is declared"],
    ],
    [
      "nothing declared, said once",
      20,
      {},
      { declared: 0 },
      ["The plan removes 20 of 20 resources in the state (100%); no resource is declared"],
    ],
    [
      "nothing declared, within a number that was meant for edits",
      3,
      { maxRemovals: 5 },
      { declared: 0, recorded: 3 },
      ["The plan removes 3 of 3 resources in the state (100%); no resource is declared"],
    ],
    ["nothing declared, where everything may go", 3, { maxRemovalsPercent: 100 }, { declared: 0, recorded: 3 }, []],
    ["nothing declared and nothing removed", 0, {}, { declared: 0, recorded: 0 }, []],
    ["destroy is explicit", 20, {}, { declared: 0, mode: "destroy" }, []],
    [
      "destroy keeps to what is declared",
      20,
      { maxRemovals: 5 },
      { mode: "destroy" },
      ["The plan removes 20 resources; max_removals allows 5"],
    ],
    [
      "--allow-removals lifts all of them",
      20,
      { maxRemovals: 1, maxRemovalsPercent: 1, allowRemovals: true },
      { declared: 0 },
      [],
    ],
  ])("%s", (_, count, limits, over, expected) => {
    expect(said(check(removals(count), limits, over))).toEqual(expected.map((summary) => `guard.removals: ${summary}`));
  });

  it("are a share of the resources in the state, or 100 % if the state is empty", () => {
    expect(said(check(removals(1), { maxRemovalsPercent: 50 }, { recorded: 0 }))).toEqual([
      "guard.removals: The plan removes 1 of 0 resources in the state (100%); max_removals_percent allows 50%",
    ]);
  });

  it("refer to the exceeded limit", () => {
    const range = (line: number) => ({ file: "hosting.yaml", line, column: 1, endLine: line, endColumn: 2 });
    const ranges = { maxRemovals: range(3), maxRemovalsPercent: range(4) };
    const found = check(removals(6), { maxRemovals: 5, maxRemovalsPercent: 20, ranges });
    expect(found.map((one) => one.range)).toEqual([range(3), range(4)]);
    expect(
      check(removals(7), { ranges }).map((one) => one.range),
      "a default has no place",
    ).toEqual([undefined]);
  });

  it("name the affected resources, a likely cause and the flag", () => {
    const [found] = check([removal("a"), removal("b")], { maxRemovals: 1 });
    expect(found?.detail).toBe(
      "hosting_webhook.a, hosting_webhook.b\nWas a file left out, or does a pattern match too few resources?",
    );
    expect(fixOf(found)).toContain("`--allow-removals`");
  });
});
