import { describe, expect, it } from "vitest";
import { Memory } from "../../../src/project/watch/memory.ts";
import { change, diagnostic, drift, order, plan, reason, update } from "../report/builders.ts";

const WWW = "hosting_service.www";
const suspended = update(
  { suspended: false },
  { address: WWW, reasons: [reason("drift", "suspended is true", "suspended")] },
);
const fine = change({ address: WWW });

describe("the news of a check", () => {
  it("has no reported changes and no ended movements", () => {
    const memory = new Memory();
    memory.compare(plan([suspended]), []);
    memory.made([WWW]);
    expect(memory.compare(plan([fine]), [])).toMatchObject({ notes: [], settled: [] });
    memory.compare(plan([fine], { drift: [drift({ status: "x" }, { address: WWW })] }), []);
    expect(memory.compare(plan([fine]), [])).toMatchObject({ notes: [], settled: [] });
  });

  it("has nothing about unchecked addresses", () => {
    const memory = new Memory();
    const other = order({ address: "hosting_service.other" });
    memory.compare(plan([suspended, other]), []);
    expect(memory.compare(plan([fine]), [WWW])).toMatchObject({ notes: [], settled: [WWW] });
    expect(memory.compare(plan([fine, other]), [])).toEqual({ notes: [], settled: [], problems: [] });
  });

  it("has a problem once, until it ends and returns", () => {
    const memory = new Memory();
    const refused = plan([fine], { diagnostics: [diagnostic({ address: WWW })] });
    expect(memory.compare(refused, []).problems).toHaveLength(1);
    expect(memory.compare(refused, []).problems).toEqual([]);
    memory.compare(plan([fine]), []);
    expect(memory.compare(refused, []).problems).toHaveLength(1);
  });

  it("has no failure that differs only in its duration", () => {
    const memory = new Memory();
    const locked = (seconds: string) => [
      diagnostic({ detail: `Held by process 4711 (apply), ann@ci-7, since 2026-11-22T08:00:00Z (${seconds} ago).` }),
    ];
    expect(memory.isNew("failure", locked("12 s"))).toBe(true);
    expect(memory.isNew("failure", locked("312 s"))).toBe(false);
    expect(memory.isNew("failure", [diagnostic({ summary: "The API asks for a pause of 40 seconds" })])).toBe(true);
    expect(memory.isNew("failure", [diagnostic({ summary: "The API asks for a pause of 7 seconds" })])).toBe(false);
    expect(memory.isNew("failure", [diagnostic({ detail: "Held by process 4712 (apply)." })])).toBe(true);
  });
});
