/**
 * What a single executable starts with: the command line, or the Terraform provider where the file has the name that Terraform
 * looks for. Both are assets of the file (scripts/build/executable.ts), compiled only when they run.
 */
import path from "node:path";
import { getAsset } from "node:sea";
import { compileFunction } from "node:vm";
import { endSoon, guardResults } from "./streams.ts";
import { versionAnswer } from "./version.ts";

interface Module {
  readonly exports: unknown;
}

const loaded = new Map<string, Module>();

/** Runs an asset as a CommonJS module, once: there is no file system that it could be loaded from. @returns its exports. */
function load(asset: string): unknown {
  const known = loaded.get(asset);
  if (known !== undefined) return known.exports;
  const module: Module = { exports: {} };
  // Before it runs: two parts may need each other.
  loaded.set(asset, module);
  const run = compileFunction(getAsset(asset, "utf8"), ["module", "exports", "require"], { filename: asset });
  run(module, module.exports, required);
  return module.exports;
}

/** A part beside, or a module of Node. @throws Error with the code of a missing module: what a dependency could use, and does without. */
function required(id: string): unknown {
  if (id.startsWith("./")) return load(id.slice(2));
  const found = process.getBuiltinModule(id);
  if (found === undefined) throw Object.assign(new Error(`Cannot find module '${id}'`), { code: "MODULE_NOT_FOUND" });
  return found;
}

async function commandLine(args: readonly string[]): Promise<void> {
  // Ends as Node ends a module that never finishes: a command without an outcome has not succeeded.
  process.exitCode = 13;
  const { runCli, systemIo } = load("hostform.js") as typeof import("./cli.ts") & typeof import("./system-io.ts");
  process.exitCode = await runCli(args, systemIo());
  endSoon();
}

const args = process.argv.slice(2);
const version = versionAnswer(args);
if (path.basename(process.execPath).startsWith("terraform-provider-hosting")) load("provider.js");
else {
  guardResults();
  if (version === undefined) void commandLine(args);
  else process.stdout.write(`${version}\n`);
}
