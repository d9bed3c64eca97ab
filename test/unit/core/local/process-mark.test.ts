import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isRunning, processMark } from "../../../../src/core/local/index.ts";

describe("the mark of a process", () => {
  it("matches this running process", () => {
    expect(isRunning(processMark())).toBe(true);
  });

  it("matches no ended process, collected by its parent or not", async () => {
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    await once(child, "spawn");
    const mark = processMark(child.pid);
    expect(isRunning(mark)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isRunning(mark)).toBe(false);
  });

  it.skipIf(process.platform !== "linux")("is not that of another process with the same number", () => {
    expect(isRunning(`${process.pid}:1`)).toBe(false);
  });

  it("rejects any other string", () => {
    for (const text of ["", "x", "-1:", "0:", ":5"]) expect(isRunning(text)).toBe(false);
  });
});
