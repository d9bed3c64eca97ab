import { describe, expect, it } from "vitest";
import { formatMoney } from "../../../src/core/model/index.ts";
import { formatDuration, formatElapsed, formatEstimate, plural } from "../../../src/report/index.ts";

describe("numbers, times and money in words", () => {
  it.each([
    [0, "0 s", "0s"],
    [0.4, "under 1 s", "0s"],
    [45.4, "45 s", "45s"],
    [60, "1 min", "1m0s"],
    [65, "1 min 5 s", "1m5s"],
    [3600, "1 h", "1h0m0s"],
    [7385, "2 h 3 min", "2h3m5s"],
    [-1, "0 s", "0s"],
  ])("%d seconds: %s, for Terraform's lines %s", (seconds, words, compact) => {
    expect(formatDuration(seconds)).toBe(words);
    expect(formatElapsed(seconds)).toBe(compact);
  });

  it.each([
    [3, "under 10 seconds"],
    [21, "about 30 seconds"],
    [49, "about 50 seconds"],
    [64, "about 1 minute"],
    [140, "about 2 minutes"],
    [3590, "about 1 hour"],
    [5400, "about 1½ hours"],
    [7300, "about 2 hours"],
  ])("an estimate of %d seconds promises no more than %s", (seconds, words) =>
    expect(formatEstimate(seconds)).toBe(words),
  );

  it("counts with one noun for one and another for all else", () => {
    expect([0, 1, 2, 1000].map((n) => plural(n, "order"))).toEqual(["0 orders", "1 order", "2 orders", "1,000 orders"]);
    expect(plural(2, "query", "queries")).toBe("2 queries");
  });

  const amounts: readonly (readonly [number | null, string | null, number | undefined, string, string])[] = [
    [4000, "USD", undefined, "4000 (USD, API's unit)", "no scale is assumed (§2 Gaps)"],
    [4000, "USD", 2, "40.00 USD", "a scale that the user stated"],
    [4005, "GEL", 0, "4,005 GEL", "a stated scale of nothing"],
    [19.99, "EUR", undefined, "19.99 (EUR, API's unit)", "major units stay as they came"],
    [null, "USD", 2, "unknown", "no price"],
    [5, null, undefined, "5 (API's unit)", "no currency"],
  ];
  it.each(amounts)("money: %s %s, scale %s: %s (%s)", (amount, currency, scale, text) =>
    expect(formatMoney(amount, currency, scale)).toBe(text),
  );
});
