import { describe, expect, it } from "vitest";
import { Memory } from "../../../src/project/watch/memory.ts";
import { change, diagnostic, drift, order, plan, reason, update } from "../report/builders.ts";

const WWW = "hosting_service.www";
const suspended = update(
  { suspended: false },
  { address: WWW, reasons: [reason("drift", "suspended is true", "suspended")] },
);
const fine = change({ address: WWW });

describe("what is new at a look", () => {
  it("is not what was just made, nor that something no longer moves", () => {
    const memory = new Memory();
    memory.compare(plan([suspended]), []);
    memory.made([WWW]);
    expect(memory.compare(plan([fine]), [])).toMatchObject({ notes: [], settled: [] });
    memory.compare(plan([fine], { drift: [drift({ status: "x" }, { address: WWW })] }), []);
    expect(memory.compare(plan([fine]), [])).toMatchObject({ notes: [], settled: [] });
  });

  it("is nothing about what a look did not look at", () => {
    const memory = new Memory();
    const other = order({ address: "hosting_service.other" });
    memory.compare(plan([suspended, other]), []);
    expect(memory.compare(plan([fine]), [WWW])).toMatchObject({ notes: [], settled: [WWW] });
    expect(memory.compare(plan([fine, other]), [])).toEqual({ notes: [], settled: [], problems: [] });
  });

  it("is an error or a warning until it goes and comes back", () => {
    const memory = new Memory();
    const refused = plan([fine], { diagnostics: [diagnostic({ address: WWW })] });
    expect(memory.compare(refused, []).problems).toHaveLength(1);
    expect(memory.compare(refused, []).problems).toEqual([]);
    memory.compare(plan([fine]), []);
    expect(memory.compare(refused, []).problems).toHaveLength(1);
  });

  it("is no failure that has only lasted longer", () => {
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
