/**
 * Starts the single executable. Under the name of the Terraform provider, it runs the provider, otherwise the command line.
 * Both programs are assets of the file (scripts/build/executable.ts) and are compiled at start.
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

/** Runs an asset as a CommonJS module, once. @returns its exports. */
function load(asset: string): unknown {
  const known = loaded.get(asset);
  if (known !== undefined) return known.exports;
  const module: Module = { exports: {} };
  // Register the module before running it, because modules may import each other.
  loaded.set(asset, module);
  const run = compileFunction(getAsset(asset, "utf8"), ["module", "exports", "require"], { filename: asset });
  run(module, module.exports, required);
  return module.exports;
}

/**
 * Returns an asset or a Node module.
 * @throws Error with Node's code for a missing module. Optional dependencies expect this code.
 */
function required(id: string): unknown {
  if (id.startsWith("./")) return load(id.slice(2));
  const found = process.getBuiltinModule(id);
  if (found === undefined) throw Object.assign(new Error(`Cannot find module '${id}'`), { code: "MODULE_NOT_FOUND" });
  return found;
}

async function commandLine(args: readonly string[]): Promise<void> {
  // Node's exit code for an unfinished module.
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
