import { readFile } from "node:fs/promises";
import path from "node:path";
import { errnoOf, fail } from "../../../core/model/index.ts";
import { interruptible } from "../../interrupt.ts";
import { type Invocation, printJson } from "../../io.ts";
import { stateStore } from "../../project.ts";

export interface StatePushFlags {
  readonly force?: boolean;
}

/** `hostform state push [FILE|-]`: replaces the state by the text of a state file. */
export async function runStatePush(invocation: Invocation, flags: StatePushFlags, file: string): Promise<number> {
  const text = file === "-" ? await invocation.io.readInput() : await readText(path.resolve(invocation.io.cwd, file));
  await interruptible(invocation, (signal) =>
    stateStore(invocation).push(text, {
      command: "state push",
      timeoutMs: invocation.options.lockTimeoutMs,
      signal,
      force: flags.force === true,
    }),
  );
  if (invocation.options.json) printJson(invocation, { pushed: true });
  else invocation.io.out("The state was replaced.\n");
  return 0;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    fail("config.unreadable", `${file} cannot be read: ${errnoOf(error)}`, {
      fix: "Check the path, or give `-` for standard input.",
    });
  }
}
