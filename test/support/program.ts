/** The command line: the built program for tests that start processes, and the command line in this process. */
import path from "node:path";
import { builtPackage } from "./built-package.ts";
import { fakeIo } from "./io.ts";
import { shipped } from "./shipped.ts";

/** The command line of the built package. */
export const { runCli, loadParts } = await shipped("cli.js");

/** What came of a command line that ran in this process, by the real time: for tests that are not about processes. */
export async function runHere(
  args: readonly string[],
  where: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<{ readonly code: number; readonly out: string; readonly err: string; readonly text: string }> {
  const io = fakeIo(where);
  const code = await runCli(args, io);
  return { code, out: io.stdout(), err: io.stderr(), text: io.stdout() + io.stderr() };
}

/** Path of the built command line, for `node`. */
export const builtProgram = async (): Promise<string> => path.join(await builtPackage(), "dist/hostform.js");
