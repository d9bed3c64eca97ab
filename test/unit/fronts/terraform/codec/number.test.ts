import { describe, expect, it } from "vitest";
import { numberOf, wireNumber } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { fc } from "../../../../support/fc.ts";
import { number } from "./arbitrary.ts";

describe("numbers on the wire", () => {
  it("sends integers as integers and everything else as decimal text", () => {
    expect(wireNumber(101)).toBe(101);
    expect(wireNumber(-9007199254740991)).toBe(-9007199254740991);
    expect(wireNumber(9.99)).toBe("9.99");
    expect(wireNumber(1e21)).toBe("1e+21");
  });

  it.each([Number.NaN, Infinity, -Infinity])("refuses to send %s", (value) => {
    expect(() => wireNumber(value)).toThrow(RangeError);
  });

  it.each([
    [1n, 1],
    [-9007199254740991n, -9007199254740991],
    ["9.99", 9.99],
    ["0.1000", 0.1],
    ["-0.0", 0],
    ["1.5E3", 1500],
    ["100000000000000000000000", 1e23],
    [0.5, 0.5],
    [2 ** 53, 2 ** 53],
  ])("reads %s", (raw, value) => expect(numberOf(raw)).toBe(value));

  it.each([
    ["an integer between two doubles", 9007199254740993n],
    ["a double whose digits go on", 2n ** 60n],
    ["the same as a float", 2 ** 70],
    ["a third", "0.33333333333333333333333333333333333333333333333333333333"],
    ["one and almost nothing", "1.0000000000000000000000001"],
    ["what is larger than any double", "1e400"],
    ["what is smaller than any double", "1e-400"],
    ["infinity", Infinity],
    ["no number", "12 monkeys"],
    ["nothing", ""],
    ["hexadecimal", "0x10"],
    ["a point", "."],
  ])("does not read %s", (_, raw) => expect(numberOf(raw)).toBeUndefined());

  it("reads whatever it has sent", () => {
    fc.assert(
      fc.property(number, (value) => {
        expect(numberOf(wireNumber(value))).toBe(value);
      }),
    );
  });

  /** Terraform keeps a decimal of any length and sends it as the shortest of integer, exact float and text. */
  it("reads it when Terraform sends it back in another notation", () => {
    fc.assert(
      fc.property(number, (value) => {
        const exact = BigInt(Number.isInteger(value) ? value : 0);
        const isInt64 = Number.isInteger(value) && exact >= -(2n ** 63n) && exact < 2n ** 63n;
        if (isInt64 && String(exact) === String(value)) expect(numberOf(exact)).toBe(value);
        if (!String(value).includes("e"))
          expect(numberOf(`${value}${Number.isInteger(value) ? ".00" : "00"}`)).toBe(value);
      }),
    );
  });

  it("reads a number only if sending it gives the same digits", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }), (raw) => {
        const value = numberOf(raw);
        if (value !== undefined) expect(BigInt(wireNumber(value))).toBe(raw);
      }),
    );
  });
});
