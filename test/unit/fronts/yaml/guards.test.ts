import { describe, expect, it } from "vitest";
import { declare, declareFiles, reported } from "./fakes.ts";

const AMOUNT = "expected a whole number, in the unit of the API (`hostform plans` shows amounts in it)";

describe("guards", () => {
  it("are limits, each with its position", () => {
    const { desired, diagnostics } = declare(
      "guards:\n  max_orders: 3\n  max_spend: {USD: 20000, GEL: 0}\n  max_removals: 5\n  max_removals_percent: 12.5\n",
    );
    expect(reported(diagnostics)).toEqual([]);
    const { ranges, ...limits } = desired?.guards ?? {};
    expect(limits).toEqual({
      maxOrders: 3,
      maxSpend: { USD: 20_000, GEL: 0 },
      maxRemovals: 5,
      maxRemovalsPercent: 12.5,
    });
    expect(ranges?.maxOrders).toMatchObject({ line: 3, column: 15 });
    expect(ranges?.maxSpend).toMatchObject({ line: 4, column: 14 });
  });

  it.each([
    ["are absent when nothing is written", "", undefined],
    ["limit nothing while the section is empty", "guards:\n", {}],
    ["may be only one", "guards: {max_orders: 0}\n", { maxOrders: 0 }],
  ])("%s", (_, text, expected) => {
    const { ranges: _ranges, ...limits } = declare(text).desired?.guards ?? {};
    expect(limits).toEqual(expected ?? {});
    expect(declare(text).desired?.guards === undefined).toBe(expected === undefined);
  });

  it.each(["guards:\n", "guards: {}\n", "guards:\n  # max_orders: 3\n", "guards: {max_spend: {}}\n"])(
    "without any limit are warned of: %j",
    (text) => {
      const { desired, diagnostics } = declare(text);
      expect(desired?.guards).toEqual({});
      expect(diagnostics).toMatchObject([
        { severity: "warning", code: "config.structure", range: { line: 2, column: 1 } },
      ]);
      expect(diagnostics[0]?.summary).toBe("`guards` sets no limit");
      // A warning stays a warning if the declaration also has errors.
      expect(declare(`${text}nonsense: 1\n`).diagnostics.map(({ severity }) => severity)).toEqual(["error", "warning"]);
    },
  );

  it.each([
    ["a list is not a map", "guards: [max_orders]", ["2:9 config.structure: `guards` must be a map of limits"]],
    [
      "a misspelt limit would limit nothing",
      "guards: {max_order: 3}",
      ['2:10 config.unknown_key: `guards` has no setting "max_order". Did you mean "max_orders"?'],
    ],
    ["less than nothing", "guards: {max_orders: -1}", ["2:22 config.invalid_value: max_orders: at least 0"]],
    [
      "half an order",
      "guards: {max_orders: 2.5}",
      ["2:22 config.invalid_value: max_orders: expected a whole number of orders"],
    ],
    [
      "a number in quotes is a text",
      'guards: {max_removals: "5"}',
      ["2:24 config.invalid_value: max_removals: expected a whole number of resources"],
    ],
    [
      "a limit without a value is not known to be none",
      "guards: {max_removals:}",
      ["2:10 config.invalid_value: max_removals: expected a whole number of resources"],
    ],
    [
      "an amount needs its currency",
      "guards: {max_spend: 200}",
      ["2:21 config.invalid_value: max_spend: expected amounts by currency, such as {USD: 20000}"],
    ],
    [
      "a currency in small letters",
      "guards: {max_spend: {usd: 200}}",
      ['2:22 config.unknown_key: The API has no currency "usd". Did you mean "USD"?'],
    ],
    [
      "a currency that the API does not have",
      "guards: {max_spend: {USD: 1, JPY: 200}}",
      ['2:30 config.unknown_key: The API has no currency "JPY".'],
    ],
    [
      "an amount in dollars and cents, where the API counts something else",
      "guards: {max_spend: {USD: 199.99}}",
      [`2:27 config.invalid_value: max_spend.USD: ${AMOUNT}`],
    ],
    [
      "a whole amount with decimals, whose unit would be a hundredth",
      "guards: {max_spend_month: {USD: 45.00}}",
      [`2:33 config.invalid_value: max_spend_month.USD: ${AMOUNT}`],
    ],
    ["a negative amount", "guards: {max_spend: {EUR: -5}}", ["2:27 config.invalid_value: max_spend.EUR: at least 0"]],
    [
      "more than everything",
      "guards: {max_removals_percent: 120}",
      ["2:32 config.invalid_value: max_removals_percent: at most 100"],
    ],
    [
      "a percentage with its sign",
      "guards: {max_removals_percent: 20%}",
      ["2:32 config.invalid_value: max_removals_percent: expected a percentage from 0 to 100"],
    ],
    [
      "every mistake is reported, not only the first",
      "guards: {max_spend: {usd: 1, EUR: -5}, max_orders: x}",
      [
        '2:22 config.unknown_key: The API has no currency "usd". Did you mean "USD"?',
        "2:35 config.invalid_value: max_spend.EUR: at least 0",
        "2:52 config.invalid_value: max_orders: expected a whole number of orders",
      ],
    ],
    [
      "a name of JavaScript's own",
      "guards: {constructor: 1}",
      ['2:10 config.unknown_key: `guards` has no setting "constructor".'],
    ],
  ])("reject %s", (_, text, expected) => {
    const { desired, diagnostics } = declare(`${text}\n`);
    expect(reported(diagnostics)).toEqual(expected);
    expect(desired).toBeUndefined();
  });

  it("may be in one place of a project, because two sections would be ambiguous", () => {
    const { desired, diagnostics } = declareFiles({
      "hosting.yaml": "project: p\nguards: {max_orders: 1}\n",
      "b.hosting.yaml": "guards: {max_orders: 9}\n",
    });
    expect(reported(diagnostics)).toEqual([
      "2:1 config.duplicate: The section `guards` is declared twice",
      "1:1 config.duplicate: The section `guards` is declared twice",
    ]);
    expect(diagnostics[0]?.detail).toBe("The other place is b.hosting.yaml:1:1.");
    expect(desired).toBeUndefined();
  });

  it("are suggested for a misspelt section", () => {
    expect(reported(declare("guard: {max_orders: 1}\n").diagnostics)).toEqual([
      '2:1 config.unknown_key: A declaration has no "guard". Did you mean "guards"?',
    ]);
  });
});
