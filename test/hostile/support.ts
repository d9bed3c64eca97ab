/** Requirements of every command's output, whatever its input. */
import { expect } from "vitest";
import { testClock } from "../support/clock.ts";
import { cpuTimer } from "../support/cpu-time.ts";
import { fakeIo } from "../support/io.ts";
import { runCli } from "../support/program.ts";
import { dangerous, liveCommands } from "../unit/report/hostile.ts";

/**
 * Time limit of a command: longer than any case on a busy machine, and far shorter than a case whose time grows with
 * the square of its input. On an idle machine, every case ends within 300 ms. Cases at a size limit (1 MiB of YAML, 10
 * MiB of a response, 500 pages) take one or two seconds. HOSTFORM_TIMES=1 prints the time of each case.
 */
export const PATIENCE_MS = 10_000;

/** Exit code and output of a command. */
export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly text: string;
}

/**
 * Runs a command and checks the requirements of every command. It ends in time with exit code 0 or 1. Its output has no
 * effect on a terminal, and none on the CI agent if the command runs in CI (Markdown: never). It explains a failure
 * without a stack trace or a defect. With `--json`, standard output is JSON. The process's own objects are unchanged.
 */
export async function answer(
  dir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  what = "",
): Promise<Answer> {
  const io = fakeIo({ cwd: dir, env, clock: testClock() });
  const elapsed = cpuTimer();
  const code = await runCli(args, io);
  const ms = elapsed();
  if (process.env.HOSTFORM_TIMES) process.stderr.write(`${Math.round(ms)} ms  ${args.join(" ")} ${what}\n`);
  const [out, err] = [io.stdout(), io.stderr()];
  const text = out + err;
  expect(ms, "the answer took too long").toBeLessThan(PATIENCE_MS);
  expect([0, 1], text.slice(0, 2000)).toContain(code);
  expect(dangerous(text, "\n\t"), "nothing acts on a terminal").toEqual([]);
  if (env.GITHUB_ACTIONS || args.includes("markdown")) expect(liveCommands(text), "nothing acts on a CI").toEqual([]);
  expect(text, "no stack trace").not.toMatch(/^\s+at .+:\d+:\d+/m);
  expect(text, "no defect").not.toMatch(/\[internal\]|"internal"|Internal error/);
  expect(text, "nothing half-said").not.toMatch(/\[object Object\]/);
  if (args.includes("--json")) {
    for (const document of args[0] === "apply" ? out.trim().split("\n") : [out])
      expect(() => JSON.parse(document), out.slice(0, 500)).not.toThrow();
  }
  expect(({} as Record<string, unknown>).polluted, "prototypes are as they were").toBeUndefined();
  return { code, out, err, text };
}
