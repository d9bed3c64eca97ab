import { describe, expect, it } from "vitest";
import { renderOutcome } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { diagnostic, outcome, plain, result } from "./builders.ts";
import { full, outcomeCases, refused } from "./outcome-cases.ts";

const golden = (name: string) => `../../golden/report/${name}.txt`;

describe("renderOutcome", () => {
  it.each(outcomeCases)("$name: $why", async ({ name, plan: planned, result: ended }) => {
    const moneyScale = (currency: string, provider: string) =>
      currency === "GEL" && provider === "beta" ? 2 : undefined;
    await expect(renderOutcome(planned, ended, { remedies: fixOf, color: false, moneyScale })).toMatchFileSnapshot(
      golden(name),
    );
  });

  it("shows a diagnostic once that is in the outcome and in the result", () => {
    const text = renderOutcome(
      full,
      result([outcome("x.y", { result: "failed", diagnostics: [refused] })], { diagnostics: [refused] }),
      plain,
    );
    expect(text.match(/The API rejected/g)).toHaveLength(1);
  });

  it("shows a warning of a change that was made", () => {
    const lost = diagnostic({ severity: "warning", code: "api.malformed", summary: "The answer holds no secret" });
    expect(renderOutcome(full, result([outcome("hosting_service.acme", { diagnostics: [lost] })]), plain)).toContain(
      "Warning: The answer holds no secret",
    );
  });
});
