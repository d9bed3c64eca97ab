import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { untrustedByEnvironment } from "../core/model/index.ts";
import { type CommonOptions, type GuardedIo, type Invocation, looksOf } from "./io.ts";
import { addStackOptions, stackSource } from "./stack/options.ts";

const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, given(value)];

/** An empty value is a variable that was not set: working in the wrong place would be worse than an error. */
export function given(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("it is empty; is a variable unset?");
  return value;
}

/** `90`, `90s`, `5m`, `1h` -> milliseconds. */
export function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError("expected a time such as 30s, 5m or 1h");
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? "s"] ?? 1000;
  return Math.round(Number(match[1]) * unit);
}

/** A port number, 0 for any free one. */
export function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65535) throw new InvalidArgumentError("expected a port from 0 to 65535");
  return value;
}

export { collect };

/** The heading of the options that work everywhere. */
export const COMMON_OPTIONS = "Common options:";

/** The heading of the options that put stacks in place of a declaration. */
export const STACK_OPTIONS = "Stacks:";

/** Adds the options that work everywhere, before and after the command's name. */
export function addCommonOptions(command: Command): Command {
  return addStackOptions(command, given, STACK_OPTIONS)
    .addOption(new Option("-C, --chdir <dir>", "work in another folder").argParser(given).helpGroup(COMMON_OPTIONS))
    .addOption(
      new Option("-f, --file <file>", "declaration to read, in place of hosting.yaml (repeatable)")
        .argParser(collect)
        .helpGroup(COMMON_OPTIONS),
    )
    .addOption(
      new Option("--state <file>", "state file, without a backend (default: hosting.tfstate)")
        .argParser(given)
        .helpGroup(COMMON_OPTIONS),
    )
    .addOption(new Option("--json", "machine-readable output").helpGroup(COMMON_OPTIONS))
    .addOption(new Option("--no-color", "no colours").helpGroup(COMMON_OPTIONS))
    .addOption(new Option("--quiet", "results and errors only").helpGroup(COMMON_OPTIONS))
    .addOption(new Option("--verbose", "show each API request").helpGroup(COMMON_OPTIONS))
    .addOption(
      new Option("--lock-timeout <time>", "wait for a locked state, e.g. 30s, 5m")
        .argParser(duration)
        .helpGroup(COMMON_OPTIONS),
    )
    .addOption(
      new Option(
        "--untrusted",
        "the declaration may be a stranger's: it names no address, credential, backend or program (validate, plan)",
      ).helpGroup(COMMON_OPTIONS),
    )
    .addOption(
      new Option("--insecure-http", "allow plain http to addresses other than loopback").helpGroup(COMMON_OPTIONS),
    );
}

/** The invocation of a command: its common options, wherever on the line they stood. */
export function invocationOf(command: Command, io: GuardedIo): Invocation {
  const levels: Record<string, unknown>[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) levels.push(at.opts());
  const first = <T>(name: string): T | undefined =>
    levels.find((level) => level[name] !== undefined)?.[name] as T | undefined;
  const dir = path.resolve(io.cwd, first<string>("chdir") ?? ".");
  const state = first<string>("state");
  const files = levels.flatMap((level) => (level.file as string[] | undefined) ?? []);
  const stacks = stackSource(levels, io.cwd, files.length > 0);
  const options: CommonOptions = {
    dir,
    files: files.map((file) => path.resolve(io.cwd, file)),
    state: state === undefined ? path.join(dir, "hosting.tfstate") : path.resolve(io.cwd, state),
    stateNamed: state !== undefined,
    json: levels.some((level) => level.json === true),
    color: levels.every((level) => level.color !== false),
    quiet: levels.some((level) => level.quiet === true),
    verbose: levels.some((level) => level.verbose === true),
    insecureHttp: levels.some((level) => level.insecureHttp === true),
    untrusted: levels.some((level) => level.untrusted === true) || untrustedByEnvironment(io.env),
    lockTimeoutMs: first<number>("lockTimeout") ?? 0,
    ...(stacks && { stacks }),
  };
  return { io, options, ...looksOf(io, options.color) };
}
