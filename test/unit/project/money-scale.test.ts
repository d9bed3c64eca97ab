import { describe, expect, it } from "vitest";
import type { ProviderConfig } from "../../../src/core/model/index.ts";
import { withMoneyScale } from "../../../src/project/declaration.ts";
import { project } from "../cli/harness.ts";

const scaleOf = (config: Partial<ProviderConfig>, text: string | undefined) =>
  withMoneyScale(new Map([["a", { alias: "a", ...config }]]), { HOSTING_MONEY_SCALE: text }).get("a")?.moneyScale;

describe("HOSTING_MONEY_SCALE", () => {
  it.each<[why: string, config: Partial<ProviderConfig>, text: string | undefined, scale: number | undefined]>([
    ["goes with the address of the environment", {}, "2", 2],
    ["does not outrank what is declared", { moneyScale: 0 }, "2", 0],
    ["says nothing of another host", { baseUrl: "https://other.example" }, "2", undefined],
    ["is no mistake of what does not use it", { baseUrl: "https://other.example", moneyScale: 2 }, "cents", 2],
    ["is not set", {}, undefined, undefined],
    ["is empty", {}, "", undefined],
  ])("%s", (_, config, text, scale) => expect(scaleOf(config, text)).toBe(scale));

  it.each(["cents", "5", "-1", "2.0", " 2"])("is refused when it is %j", (text) => {
    expect(() => scaleOf({}, text)).toThrow("HOSTING_MONEY_SCALE is not a number of decimal places");
  });

  it("makes amounts readable; without it no amount reads as one of its currency", async () => {
    const made = await project("project: test\nservices:\n  www: {plan_id: 11, currency: USD, domain: a.example}\n");
    const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.agency };
    const scaled = await made.run(["plan"], { env: { ...env, HOSTING_MONEY_SCALE: "2" } });
    expect(scaled.stdout).toContain("list price 5.00 USD, billed 4.50 USD");
    const plain = await made.run(["plan"], { env });
    expect(plain.stdout).toContain("list price 500 (USD, API's unit), billed 450 (USD, API's unit)");
    expect(plain.stdout).not.toMatch(/\d (?:USD|GEL|EUR)\b/);
  });
});
