import { describe, expect, it } from "vitest";
import {
  add,
  type BigFloat,
  compare,
  divide,
  formatNumber,
  isWhole,
  multiply,
  negate,
  parseNumber,
  plannedText,
  power,
  remainder,
  sizeText,
  storedNumber,
  subtract,
  toIndex,
  toWhole,
  wholeNumber,
} from "../../../../src/core/expression/number.ts";
import { Refusal } from "../../../../src/core/expression/refusal.ts";
import fc from "../../../support/fc.ts";

const floatPower = (base: string, exponent: number) => power(of(base), exponent) ?? expect.fail("no power");
const of = (text: string): BigFloat => parseNumber(text) ?? expect.fail(`${text} is no number`);

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

  it.each(["inf", "-Inf", "1p3", "1e99999999", "1e6000"])("rejects %s, which Terraform can compute", (text) => {
    expect(() => parseNumber(text)).toThrow(Refusal);
  });

  // Results of Terraform 1.11.4. It uses binary numbers of 512 bits, and prints the shortest digits that identify them.
  it.each<[string, BigFloat, string]>([
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

  it("rejects a division by zero, which is infinity in Terraform", () => {
    expect(() => divide(of("1"), of("0"))).toThrow(Refusal);
  });

  // Terraform uses 64 bits for integers that a function returns or a plan file contains.
  it.each<[string, BigFloat, string]>([
    ["length / length", divide(wholeNumber(1), wholeNumber(3)), "0.33333333333333333334"],
    ["length / 3", divide(wholeNumber(1), of("3")), `0.${"3".repeat(154)}5`],
    ["pow(10, -2)", floatPower("10", -2), "0.01"],
    [
      "pow(10, -2) * 100",
      multiply(floatPower("10", -2), of("100")),
      "1.000000000000000020816681711721685132943093776702880859375",
    ],
    ["pow(2, 100)", floatPower("2", 100), "1267650600228229400000000000000"],
    ["pow(-0.5, 3)", floatPower("-0.5", 3), "-0.125"],
  ])("computes %s with Terraform's precision", (_, result, shown) => {
    expect(formatNumber(result)).toBe(shown);
  });

  it.each([
    ["3", 40],
    ["1.1", 2],
    ["0.1", -1],
    ["0", -1],
    ["2", 1e6],
  ])("leaves %s to the power of %d to Terraform, because the result depends on the processor", (base, exponent) => {
    expect(power(of(base), exponent)).toBeUndefined();
  });

  describe("numbers that may come from a plan file", () => {
    const stored = (text: string) => storedNumber(of(text));
    const third = divide(stored("1"), stored("3"));

    it("are computed if the result has few enough digits for every precision", () => {
      expect(formatNumber(divide(stored("7"), stored("2")))).toBe("3.5");
      expect(formatNumber(multiply(stored("9007199254740993"), stored("9007199254740993")))).toBe(
        "81129638414606699710187514626049",
      );
      expect(formatNumber(multiply(stored("100"), stored("1.18")))).toBe(formatNumber(multiply(of("100"), of("1.18"))));
    });

    it("keep all digits if an operand has full precision", () => {
      expect(formatNumber(divide(multiply(stored("1"), of("1")), stored("3")))).toBe(`0.${"3".repeat(154)}5`);
    });

    it("are printed, rounded and formatted if each precision has the same result", () => {
      expect(formatNumber(divide(stored("118"), stored("100")))).toBe("1.18");
      expect(formatNumber(toWhole(third, true))).toBe("1");
      expect(formatNumber(toWhole(negate(third), false))).toBe("-1");
      expect(sizeText(third, "f", 3)).toBe("0.333");
    });

    it("are rejected if the results differ", () => {
      expect(() => formatNumber(third)).toThrow("multiply one of them by 1");
      expect(() => sizeText(third, "f", 30)).toThrow(Refusal);
      expect(() => compare(divide(stored("118"), stored("100")), of("1.18"))).toThrow(Refusal);
      expect(() => multiply(third, of("3"))).toThrow(Refusal);
      expect(() => add(divide(stored("1"), stored("10")), of("1"))).toThrow(Refusal);
    });
  });

  // Terraform writes 64-bit floats to a plan file unchanged.
  it("prints a number that equals a 64-bit float with the digits of this float, as a plan file does", () => {
    expect(plannedText(divide(of("3"), of("18446744073709551616")))).toBe("0.00000000000000000016263032587282567");
    expect(plannedText(of("9007199254740993"))).toBe("9007199254740993");
    expect(plannedText(of("0.1"))).toBe("0.1");
    expect(plannedText(of("-0"))).toBe("0");
    expect(plannedText(divide(of("1"), of("3")))).toHaveLength(157);
  });

  it("accepts only whole numbers as an index", () => {
    expect(toIndex(of("2"))).toBe(2);
    expect(toIndex(of("0.5"))).toBeUndefined();
    expect(toIndex(of("1e20"))).toBeUndefined();
    expect(() => of("1e99999")).toThrow(Refusal);
  });

  const decimals = fc
    .tuple(fc.bigInt(-(10n ** 40n), 10n ** 40n), fc.integer({ min: -60, max: 60 }))
    .map(([digits, exponent]) => of(`${digits}e${exponent}`));

  it("computes with whole numbers as bigint does", () => {
    const wholes = fc.bigInt(-(10n ** 70n), 10n ** 70n);
    fc.assert(
      fc.property(wholes, wholes, (a, b) => {
        const [x, y] = [of(String(a)), of(String(b))];
        expect(formatNumber(add(x, y))).toBe(String(a + b));
        expect(formatNumber(subtract(x, y))).toBe(String(a - b));
        expect(formatNumber(multiply(x, y)).replace("-0", "0")).toBe(String(a * b));
        expect(compare(x, y)).toBe(a < b ? -1 : a > b ? 1 : 0);
        if (b !== 0n) expect(BigInt(formatNumber(remainder(x, y)))).toBe(a % b);
      }),
    );
  });

  it("follows the laws of rounding, and reads every result back unchanged", () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        expect(add(a, b)).toEqual(add(b, a));
        expect(multiply(a, b)).toEqual(multiply(b, a));
        expect(compare(subtract(a, a), of("0"))).toBe(0);
        expect(compare(negate(negate(a)), a)).toBe(0);
        for (const result of [add(a, b), multiply(a, b), ...(b.mantissa === 0n ? [] : [divide(a, b)])]) {
          expect(of(formatNumber(result))).toEqual(result);
          expect(isWhole(result)).toBe(!formatNumber(result).includes("."));
        }
      }),
    );
  });
});
