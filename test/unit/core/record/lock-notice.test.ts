import { describe, expect, test } from "vitest";
import { decodeHolder, describeHolder, encodeHolder, type LockHolder } from "../../../../src/core/record/lock.ts";
import { manualClock } from "./builders.ts";

const holder: LockHolder = {
  id: "uuid-1",
  command: "apply",
  who: "ana@ci-1",
  pid: 4711,
  since: "2026-01-02T03:03:53.000Z",
};

describe("the notice beside a locked state", () => {
  test("has Terraform's fields and names the process", () => {
    const text = encodeHolder(holder, "/p/hosting.tfstate");
    expect(JSON.parse(text)).toEqual({
      ID: "uuid-1",
      Operation: "apply",
      Info: "hostform",
      Who: "ana@ci-1",
      Version: "",
      Created: "2026-01-02T03:03:53.000Z",
      Path: "/p/hosting.tfstate",
      Pid: 4711,
    });
    expect(decodeHolder(text)).toEqual(holder);
  });

  test("is read from Terraform, as a holder without a process id", () => {
    const text =
      '{"ID":"9","Operation":"OperationTypeApply","Info":"","Who":"bo@host","Version":"1.11.4","Created":"2026-01-02T03:04:00Z","Path":"hosting.tfstate"}';
    expect(decodeHolder(text)).toEqual({
      id: "9",
      command: "OperationTypeApply",
      who: "bo@host",
      pid: null,
      since: "2026-01-02T03:04:00Z",
    });
  });

  test.each([
    ["empty", ""],
    ["torn", '{"ID":"9"'],
    ["not an object", "7"],
    ["without an id", "{}"],
  ])("%s: nobody is named", (_reason, text) => {
    expect(decodeHolder(text)).toBeUndefined();
  });

  test.each([
    ["hostform", holder, "process 4711 (apply), ana@ci-1, since 2026-01-02T03:03:53.000Z (12 s ago)"],
    ["Terraform", { ...holder, pid: null }, "Terraform (apply), ana@ci-1, since 2026-01-02T03:03:53.000Z (12 s ago)"],
    [
      "a sign of life",
      { ...holder, lastAlive: "2026-01-02T03:04:02.000Z" },
      "process 4711 (apply), ana@ci-1, since 2026-01-02T03:03:53.000Z (12 s ago), last alive 3 s ago",
    ],
    ["a time that is none", { ...holder, since: "unknown" }, "process 4711 (apply), ana@ci-1, since unknown"],
  ])("describes %s", (_reason, each, text) => {
    expect(describeHolder(each, manualClock())).toBe(text);
  });
});
