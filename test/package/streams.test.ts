/** The built command line whose standard output or standard error cannot be written. */
import { type SpawnOptions, spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { builtProgram } from "../support/program.ts";

const LINES: readonly (readonly [line: string, code: number])[] = [
  ["--version", 0],
  ["plan --help", 0],
  ["completion bash", 0],
  ["validate --json", 1],
];

const program = await builtProgram();

async function run(line: string, stdio: Exclude<SpawnOptions["stdio"], undefined>) {
  const folder = temporaryFolder();
  const env = { PATH: process.env.PATH, HOME: folder, NO_COLOR: "1" };
  const child = spawn(process.execPath, [program, ...line.split(" ")], { cwd: folder, env, stdio });
  const code = new Promise((resolve) => child.once("close", resolve));
  return { child, code, err: child.stderr === null ? "" : text(child.stderr) };
}

/** A device that has no room. */
const FULL = "/dev/full";

function full(): number {
  const device = openSync(FULL, "w");
  onTestFinished(() => closeSync(device));
  return device;
}

describe.skipIf(!existsSync(FULL))("a full disk", () => {
  it.each(LINES)("hostform %s ends with one line and exit code 1 when standard output is on it", async (line) => {
    const { code, err } = await run(line, ["ignore", full(), "pipe"]);
    expect(await err).toBe(
      "Error: Standard output cannot be written: ENOSPC: no space left on device, write. Redirect it to another place.\n",
    );
    expect(await code).toBe(1);
  });

  it.each(["validate"])("hostform %s ends with exit code 1 when standard error is on it", async (line) => {
    const { code } = await run(line, ["ignore", "pipe", full()]);
    expect(await code).toBe(1);
  });
});

it.each(LINES)("hostform %s is silent when the reader of its output goes away", async (line, expected) => {
  const { child, code, err } = await run(line, ["ignore", "pipe", "pipe"]);
  child.stdout?.destroy();
  expect(await err).toBe("");
  expect(await code).toBe(expected);
});
