// End of a change: its result, or the errors that explain its failure.
import { describe, expect, it } from "vitest";
import { ended, proceed } from "../../../../src/core/lifecycle/context.ts";
import type { Diagnostic } from "../../../../src/core/model/index.ts";

const said = (severity: Diagnostic["severity"], summary: string): Diagnostic => ({
  severity,
  code: "api.server",
  summary,
});
const [warning, error, unclear] = [said("warning", "w"), said("error", "e"), said("error", "u")];

describe("a change", () => {
  it.each([["without errors", [warning]]])(
    "%s has ended well, though where it led may be unclear",
    (_, diagnostics) => {
      const applied = { attributes: null, diagnostics, unclear };
      expect(ended(applied)).toBe(applied);
    },
  );

  it.each([
    ["the rest", { diagnostics: [warning, error] }, [error, warning]],
    ["the rest and what is unclear", { diagnostics: [warning, error], unclear }, [error, warning, unclear]],
  ])("with an error fails with this error first, and then %s", (_, applied, expected) => {
    expect(() => ended({ attributes: null, ...applied })).toThrow(expect.objectContaining({ diagnostics: expected }));
  });

  it("continues until the run is stopped", () => {
    const stop = new AbortController();
    const run = { stop: stop.signal };
    proceed(run);
    stop.abort();
    expect(() => proceed(run)).toThrow(
      expect.objectContaining({ diagnostics: [expect.objectContaining({ code: "interrupted" })] }),
    );
  });
});
