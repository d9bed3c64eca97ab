import { describe, expect, it } from "vitest";
import { type FleetProject, fleetTotals, renderFleet } from "../../../src/report/index.ts";

const project = (name: string, result: FleetProject["result"], more: Partial<FleetProject> = {}): FleetProject => ({
  ...{ name, result, commit: null, add: 1, change: 0, destroy: 0, orders: 1, spend: { USD: 450 }, scales: { USD: 2 } },
  ...{ offline: [], holds: [], errors: [], ...more },
});

const textOf = (projects: readonly FleetProject[]) =>
  renderFleet({
    ...{ format_version: "1.0", fleet: "agency", command: "status", timestamp: "", templates: null, errors: [] },
    ...{ projects, totals: fleetTotals(projects) },
  });

describe("the report of recorded results", () => {
  const checked_at = "2026-11-30T21:00:00Z";

  it("keeps the order of the file after the failed projects, and separates ordered from planned orders", () => {
    const text = textOf([
      project("canary", "applied", { checked_at }),
      project("next", "differs", { checked_at }),
      project("broken", "failed", { checked_at, orders: 0, spend: {} }),
      project("last", "applied", { checked_at }),
    ]);
    expect(text.match(/^\w+(?= {2})/gm)).toEqual(["broken", "canary", "next", "last"]);
    expect(text).toContain("Ordered: 2, 9.00 USD. Planned orders: 1, 4.50 USD.");
  });

  it("prints the warnings of a project with their places", () => {
    const range = { filename: "hosting.yaml", start: { line: 3, column: 5 }, end: { line: 3, column: 9 } };
    const warning = { severity: "warning", code: "store.restored", summary: "It was restored", detail: "" } as const;
    const text = textOf([project("a", "same", { warnings: [{ ...warning, range }] })]);
    expect(text).toContain("  Warning: hosting.yaml:3:5: It was restored [store.restored]");
  });
});
