import { describe, expect, it } from "vitest";
import { lookAlikes, mixture } from "../../../../src/core/model/index.ts";

describe("mixture", () => {
  it.each([
    ["acme.example", undefined],
    ["k\u00f6ln.example", undefined],
    ["xn--kln-sna.example", undefined],
    ["\u0430cme.example", "mixed scripts: Cyrillic and Latin"],
    ["xn--cme-5cd.example", "mixed scripts: Cyrillic and Latin"],
    ["\u0430\u0441\u043c\u0435.example", "Cyrillic letters that look Latin"],
    ["\u0434\u043e\u043c.example", undefined],
    ["acm\u03b5.example", "mixed scripts: Latin and Greek"],
    ["\u6771\u4eactower.example", undefined],
    ["\u6771\u4eac\u0430.example", "mixed scripts: Han and Cyrillic"],
    ["acme.\u0434\u043e\u043c", undefined],
  ])("of %s is %s", (name, expected) => {
    expect(mixture(name)).toBe(expected);
  });
});

describe("lookAlikes", () => {
  const looksLike = lookAlikes(["acme.example", "modern.example", "xn--kln-sna.example"]);
  it.each([
    ["acme.example", undefined],
    ["acrne.example", "acme.example"],
    ["acm\u00e9.example", "acme.example"],
    ["m0dern.example", "modern.example"],
    ["koln.example", "xn--kln-sna.example"],
    ["acme.test", undefined],
  ])("finds the name that %s resembles: %s", (name, expected) => {
    expect(looksLike(name)).toBe(expected);
  });
});
