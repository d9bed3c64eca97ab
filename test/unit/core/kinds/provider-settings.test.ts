import { describe, expect, it } from "vitest";
import { configOf, providerSettings, readingSettings } from "../../../../src/core/kinds/provider-settings.ts";

describe("settings of a provider", () => {
  it.each([
    ["90s", 90_000],
    ["10m", 600_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
  ])("a retention of %s is %i ms", (idempotency_key_retention, keyLifetimeMs) => {
    expect(configOf(providerSettings.parse({ idempotency_key_retention }))).toEqual({ keyLifetimeMs });
  });

  it("status words are compared in lower case, without surrounding white space", () => {
    const { statusWords } = readingSettings({ statusWords: { " On HOLD ": "suspended" }, keyLifetimeMs: 1 });
    expect(statusWords).toEqual({ "on hold": "suspended" });
  });
});
