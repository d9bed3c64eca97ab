/** What every command promises to a reader of its output, whatever its input. */
import { expect } from "vitest";
import { testClock } from "../support/clock.ts";
import { cpuTimer } from "../support/cpu-time.ts";
import { fakeIo } from "../support/io.ts";
import { runCli } from "../support/program.ts";
import { dangerous, liveCommands } from "../unit/report/hostile.ts";

/**
 * Longer than any answer takes on a busy machine, far shorter than what grows with the square of the input. On an idle
 * machine every case is answered within 300 ms, but for those that go up to a bound (a mebibyte of YAML, ten of an
 * answer, five hundred pages), which take a second or two: HOSTFORM_TIMES=1 prints the time of each.
 */
export const PATIENCE_MS = 10_000;

/** What a command said. */
export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly text: string;
}

/**
 * Runs a command and holds it to what every command owes: it ends, with 0 or 1, in time; nothing that it prints acts on a
 * terminal, nor on the agent of a CI where it runs in one (in Markdown anywhere); a failure is explained, not a stack trace or a defect; with `--json` standard output is JSON; objects of
 * this process are as they were.
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
