/** Runs the built command line with a standard output or standard error that fails. */
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

/** Device that rejects each write for lack of space. */
const FULL = "/dev/full";

function full(): number {
  const device = openSync(FULL, "w");
  onTestFinished(() => closeSync(device));
  return device;
}

describe.skipIf(!existsSync(FULL))("on a full disk", () => {
  it.each(LINES)(
    "hostform %s prints one line and ends with exit code 1 if standard output is on the disk",
    async (line) => {
      const { code, err } = await run(line, ["ignore", full(), "pipe"]);
      expect(await err).toBe(
        "Error: Standard output cannot be written: ENOSPC: no space left on device, write. Redirect it to another place.\n",
      );
      expect(await code).toBe(1);
    },
  );

  it.each(["validate"])("hostform %s ends with exit code 1 if standard error is on the disk", async (line) => {
    const { code } = await run(line, ["ignore", "pipe", full()]);
    expect(await code).toBe(1);
  });
});

it.each(LINES)("hostform %s prints no error if the reader closes its output", async (line, expected) => {
  const { child, code, err } = await run(line, ["ignore", "pipe", "pipe"]);
  child.stdout?.destroy();
  expect(await err).toBe("");
  expect(await code).toBe(expected);
});
