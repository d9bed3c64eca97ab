import { describe, expect, test } from "vitest";
import { withoutWarning } from "../../../../src/core/local/database-file.ts";

describe("loading node:sqlite", () => {
  const recorder = () => {
    const seen: unknown[][] = [];
    return { seen, emitWarning: (...given: unknown[]) => void seen.push(given) };
  };

  test("drops the warning of Node 22, passes other warnings, and restores emitWarning", () => {
    const emitter = recorder();
    const original = emitter.emitWarning;
    const result = withoutWarning(emitter, () => {
      emitter.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      emitter.emitWarning("another", "ExperimentalWarning");
      emitter.emitWarning(new Error("a third"));
      return 7;
    });
    expect(result).toBe(7);
    expect(emitter.seen).toEqual([["another", "ExperimentalWarning"], [new Error("a third")]]);
    expect(emitter.emitWarning).toBe(original);
  });

  test("restores emitWarning after a failed load", () => {
    const emitter = recorder();
    const original = emitter.emitWarning;
    const failing = () => {
      throw new Error("no such module");
    };
    expect(() => withoutWarning(emitter, failing)).toThrow("no such module");
    expect(emitter.emitWarning).toBe(original);
  });
});
