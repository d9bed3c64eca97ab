import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { nodeTooOld, Pulse } from "../../../../src/core/model/runtime.ts";

describe("nodeTooOld", () => {
  it.each(["22.20.0", "22.21.3", "23.0.0", "24.21.0"])("runs on %s", (version) => {
    expect(nodeTooOld(version)).toBeUndefined();
  });

  it.each(["22.19.9", "20.20.2", "18.0.0"])("rejects %s, in one line", (version) => {
    expect(nodeTooOld(version)).toBe(`hostform needs Node 22.20 or newer; this is Node ${version}.`);
  });

  it("has the same minimum as package.json", () => {
    const manifest = readFileSync(path.resolve(import.meta.dirname, "../../../../package.json"), "utf8");
    expect(JSON.parse(manifest).engines.node).toBe(">=22.20");
  });
});

it("a heartbeat detects a pause of more than five seconds, and its end", () => {
  let now = 0;
  const pulse = new Pulse(() => now);
  const at = (ms: number) => {
    now = ms;
    return pulse.wokeAt();
  };
  expect([at(60_000), at(61_000), at(66_900)], "the first tick shows no stop").toEqual(Array(3).fill(-Infinity));
  expect([at(73_000), at(74_000)]).toEqual([73_000, 73_000]);
});
