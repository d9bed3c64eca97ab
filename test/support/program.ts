/** The command line for tests that start it as a process: the bundle, which starts in half the time of the sources. */
import { copyFile, cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { buildProgram } from "../../scripts/build-program.ts";
import { runCli } from "../../src/cli/cli.ts";
import { builtOnce, ROOT } from "./built-once.ts";
import { fakeIo } from "./io.ts";
import { builtProvider } from "./terraform-provider.ts";

/** Below the checkout's own packages, so that `pg` is found from there. */
const SHELF = path.join(ROOT, "node_modules/.cache/hostform-program");

/** What came of a command line that ran in this process, by the real time: for tests that are not about processes. */
export async function runHere(
  args: readonly string[],
  where: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<{ readonly code: number; readonly out: string; readonly err: string; readonly text: string }> {
  const io = fakeIo(where);
  const code = await runCli(args, io);
  return { code, out: io.stdout(), err: io.stderr(), text: io.stdout() + io.stderr() };
}

let built: Promise<string> | undefined;

/** What `node` is given to run hostform: its file in a package laid out as it is published, with the provider. */
export async function builtProgram(): Promise<string> {
  built ??= builtOnce(
    SHELF,
    ["src/**/*.ts", "schemas/*", "scripts/build-program.ts", "scripts/build-provider.ts", "package.json"],
    fill,
  );
  return path.join(await built, "dist/hostform.js");
}

async function fill(folder: string): Promise<void> {
  const provider = path.join(folder, "dist/terraform");
  await mkdir(provider, { recursive: true });
  const { folder: from } = await builtProvider();
  for (const name of ["provider.mjs", "provider.NOTICES.txt"])
    await copyFile(path.join(from, name), path.join(provider, name));
  for (const name of ["package.json", "LICENSE"]) await copyFile(path.join(ROOT, name), path.join(folder, name));
  await cp(path.join(ROOT, "schemas"), path.join(folder, "schemas"), { recursive: true });
  await buildProgram(path.join(folder, "dist"));
}
