import { describe, expect, it } from "vitest";
import { domainProblem, foldedDomain, type Value } from "../../../../../src/core/model/index.ts";
import { domainAscii, money } from "../../../../../src/fronts/terraform/data/index.ts";
import { orderTexts } from "../../../../../src/report/money.ts";
import { fc } from "../../../../support/fc.ts";
import { called } from "./called.ts";

describe("provider::hosting::domain_ascii", () => {
  it.each([
    ["B\u00fccher.example", "xn--bcher-kva.example"],
    ["WWW.Acme.example.", "www.acme.example"],
    ["xn--BCHER-kva.example", "xn--bcher-kva.example"],
    ["stra\u00dfe.example", "xn--strae-oqa.example"],
  ])("converts %s to %s", async (domain, ascii) => {
    expect(await called("domain_ascii", [domain])).toEqual({ result: ascii, error: undefined });
  });

  it("returns the form in which the provider compares domains, and rejects every other text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.domain(), fc.string({ unit: "grapheme", maxLength: 20 })), async (text) => {
        const { result, error } = await called("domain_ascii", [text]);
        // Terraform normalizes each string before it sends the string.
        const domain = text.normalize("NFC");
        const why = domainProblem(domain);
        if (why === undefined) expect(result).toBe(foldedDomain(domain));
        else expect(error).toMatchObject({ functionArgument: 0n });
      }),
    );
  });

  it("reports an error at the argument, without the text", async () => {
    expect((await called("domain_ascii", ["secret..example"])).error).toMatchObject({
      functionArgument: 0n,
      text: "the text is not a domain name: it has an empty label",
    });
    expect(() => domainAscii.call([null])).toThrow("it is no string");
  });
});

describe("provider::hosting::money", () => {
  it("writes an amount as the reports do", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 0, max: 4 }), async (price, scale) => {
        const order = { plan: "-", months: 1, currency: "USD", now: price, monthly: null, discount: 0, bound: false };
        const { price: reported } = orderTexts({ ...order, price }, "default", () => scale);
        expect((await called("money", [price, scale, "USD"])).result).toBe(reported);
      }),
    );
    expect((await called("money", [999, 2, "USD"])).result).toBe("9.99 USD");
    expect((await called("money", [1234567, 0, "GEL"])).result).toBe("1,234,567 GEL");
  });

  it.each<readonly [readonly Value[], bigint, string]>([
    [[9.99, 2, "USD"], 0n, "with scale 2, the amount must be a whole number of the smallest unit"],
    [[999, 5, "USD"], 1n, "the scale must be a whole number from 0 to 4"],
    [[999, 1.5, "USD"], 1n, "the scale must be a whole number from 0 to 4"],
    [[999, -1, "USD"], 1n, "the scale must be a whole number from 0 to 4"],
    [[999, 2, ""], 2n, "the currency is empty"],
    [["x", 2, "USD"], 0n, "expected a number of at most 15 digits"],
  ])("rejects %j at argument %s", async (args, functionArgument, text) => {
    const { result, error } = await called("money", args);
    expect(result).toBeUndefined();
    expect(error).toMatchObject({ functionArgument, text: expect.stringContaining(text) });
  });

  it("rejects values of other types", () => {
    expect(() => money.call([null, 2, "USD"])).toThrow("must be a number");
    expect(() => money.call([1, 2, null])).toThrow("the currency is empty");
  });
});
