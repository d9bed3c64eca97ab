/** The built program for tests that start processes, and the command line in this process. */
import path from "node:path";
import type { Io } from "../../src/cli/terminal.ts";
import { builtPackage } from "./built-package.ts";
import { fakeIo } from "./io.ts";
import { checkOutput } from "./output-schema.ts";
import { shipped } from "./shipped.ts";

const built = await shipped("cli.js");

export const { loadParts } = built;

/** Runs the command line of the built package. With `--json`, checks each document with its schema. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let printed = "";
  const out = (text: string) => {
    printed += text;
    io.out(text);
  };
  const code = await built.runCli(args, { ...io, out });
  checkOutput(args, printed);
  return code;
}

/** Runs a command line in this process with the system clock. For tests that are not about processes. */
export async function runHere(
  args: readonly string[],
  where: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<{ readonly code: number; readonly out: string; readonly err: string; readonly text: string }> {
  const io = fakeIo(where);
  const code = await runCli(args, io);
  return { code, out: io.stdout(), err: io.stderr(), text: io.stdout() + io.stderr() };
}

/** Returns the path of the built command line, for `node`. */
export const builtProgram = async (): Promise<string> => path.join(await builtPackage(), "dist/hostform.js");
