import { describe, expect, it } from "vitest";
import {
  add,
  compare,
  type Decimal,
  decimalOf,
  divide,
  dividesEvenly,
  formatNumber,
  isWhole,
  multiply,
  negate,
  parseNumber,
  remainder,
  subtract,
  toIndex,
  toNumber,
} from "../../../../src/core/expression/number.ts";
import { Refusal } from "../../../../src/core/expression/refusal.ts";
import fc from "../../../support/fc.ts";

const of = (text: string): Decimal => parseNumber(text) ?? expect.fail(`${text} is no number`);

describe("numbers", () => {
  it.each([
    ["1.50", "1.5"],
    ["-0.5", "-0.5"],
    ["1e3", "1000"],
    ["1E-2", "0.01"],
    [".5", "0.5"],
    ["5.", "5"],
    ["+7", "7"],
    ["007", "7"],
    ["-0", "-0"],
    ["1e30", `1${"0".repeat(30)}`],
    ["12345678901234567890123", "12345678901234567890123"],
  ])("reads %s as %s", (text, shown) => {
    expect(formatNumber(of(text))).toBe(shown);
  });

  it.each(["", ".", "e5", " 1", "1 ", "0x10", "1_000", "1e", "--1", "one", "1.2.3"])(
    "takes %j for no number",
    (text) => {
      expect(parseNumber(text)).toBeUndefined();
    },
  );

  it.each(["inf", "-Inf", "1p3", "1e99999999", "1e6000"])("refuses %s, which Terraform computes with", (text) => {
    expect(() => parseNumber(text)).toThrow(Refusal);
  });

  // Each as Terraform 1.11.4 prints it: binary numbers of 512 bits, shown with as few digits as distinguish them.
  it.each<[string, Decimal, string]>([
    ["0.1 + 0.2", add(of("0.1"), of("0.2")), "0.3"],
    ["1 / 3", divide(of("1"), of("3")), `0.${"3".repeat(154)}5`],
    ["2 / 3 * 3", multiply(divide(of("2"), of("3")), of("3")), "2"],
    [
      "1 / 3 + 1 / 3 + 1 / 3",
      add(add(divide(of("1"), of("3")), divide(of("1"), of("3"))), divide(of("1"), of("3"))),
      "1",
    ],
    ["1 - 0.9", subtract(of("1"), of("0.9")), `0.1${"0".repeat(153)}3`],
    ["7 / 2", divide(of("7"), of("2")), "3.5"],
    ["-5 % 3", remainder(of("-5"), of("3")), "-2"],
    ["5 % -3", remainder(of("5"), of("-3")), "2"],
    ["5.5 % 2", remainder(of("5.5"), of("2")), "1.5"],
    ["0.3 % 0.2", remainder(of("0.3"), of("0.2")), `0.1${"0".repeat(153)}1`],
    ["5 % 0", remainder(of("5"), of("0")), "5"],
    ["0 * -1", multiply(of("0"), of("-1")), "-0"],
    ["100 / 3", divide(of("100"), of("3")), `33.${"3".repeat(152)}`],
    ["0.7 - 0.1", subtract(of("0.7"), of("0.1")), `0.5${"9".repeat(153)}6`],
    ["1e160 + 1", add(of("1e160"), of("1")), `1${"0".repeat(160)}`],
  ])("computes %s as Terraform does", (_, result, shown) => {
    expect(formatNumber(result)).toBe(shown);
  });

  it("refuses to divide by zero, which is infinity in Terraform", () => {
    expect(() => divide(of("1"), of("0"))).toThrow(Refusal);
  });

  it("knows which quotients end", () => {
    expect(dividesEvenly(of("1"), of("8"))).toBe(true);
    expect(dividesEvenly(of("3"), of("0.6"))).toBe(true);
    expect(dividesEvenly(of("1"), of("3"))).toBe(false);
    expect(dividesEvenly(of("2"), of("-6"))).toBe(false);
  });

  it("gives a JavaScript number only when it is the same one", () => {
    expect(toNumber(of("0.1"))).toBe(0.1);
    expect(toNumber(of("9007199254740993"))).toBeUndefined();
    expect(toNumber(divide(of("1"), of("3")))).toBeUndefined();
    expect(toIndex(of("2"))).toBe(2);
    expect(toIndex(of("0.5"))).toBeUndefined();
    expect(toIndex(of("1e20"))).toBeUndefined();
    expect(() => decimalOf(Number.NaN)).toThrow("not a number");
  });

  const decimals = fc
    .tuple(fc.bigInt(-(10n ** 40n), 10n ** 40n), fc.integer({ min: -60, max: 60 }))
    .map(([digits, exponent]) => of(`${digits}e${exponent}`));

  it("reads what it prints", () => {
    fc.assert(
      fc.property(decimals, (a) => {
        expect(of(formatNumber(a))).toEqual(a);
      }),
    );
  });

  it("computes with whole numbers as bigint does", () => {
    const wholes = fc.bigInt(-(10n ** 70n), 10n ** 70n);
    fc.assert(
      fc.property(wholes, wholes, (a, b) => {
        const [x, y] = [decimalOf(a), decimalOf(b)];
        expect(formatNumber(add(x, y))).toBe(String(a + b));
        expect(formatNumber(subtract(x, y))).toBe(String(a - b));
        expect(formatNumber(multiply(x, y)).replace("-0", "0")).toBe(String(a * b));
        expect(compare(x, y)).toBe(a < b ? -1 : a > b ? 1 : 0);
        if (b !== 0n) expect(BigInt(formatNumber(remainder(x, y)))).toBe(a % b);
      }),
    );
  });

  it("keeps to the laws that rounding leaves, and every result reads back unchanged", () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        expect(add(a, b)).toEqual(add(b, a));
        expect(multiply(a, b)).toEqual(multiply(b, a));
        expect(compare(subtract(a, a), of("0"))).toBe(0);
        expect(compare(negate(negate(a)), a)).toBe(0);
        for (const result of [add(a, b), multiply(a, b), ...(b.digits === 0n ? [] : [divide(a, b)])]) {
          expect(of(formatNumber(result))).toEqual(result);
          expect(isWhole(result)).toBe(!formatNumber(result).includes("."));
        }
      }),
    );
  });
});
