/**
 * Start of a single executable: the command line, or the Terraform provider if the file has its name. Both are assets of the file
 * (scripts/build/executable.ts), compiled when they run.
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

/** Runs an asset once, as a CommonJS module. @returns its exports. */
function load(asset: string): unknown {
  const known = loaded.get(asset);
  if (known !== undefined) return known.exports;
  const module: Module = { exports: {} };
  // Registered before it runs, because two parts may need each other.
  loaded.set(asset, module);
  const run = compileFunction(getAsset(asset, "utf8"), ["module", "exports", "require"], { filename: asset });
  run(module, module.exports, required);
  return module.exports;
}

/** Returns an asset, or a module of Node. @throws Error with the code of a missing module, which optional dependencies expect. */
function required(id: string): unknown {
  if (id.startsWith("./")) return load(id.slice(2));
  const found = process.getBuiltinModule(id);
  if (found === undefined) throw Object.assign(new Error(`Cannot find module '${id}'`), { code: "MODULE_NOT_FOUND" });
  return found;
}

async function commandLine(args: readonly string[]): Promise<void> {
  // The exit code of Node for a module that never finishes.
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
