/**
 * What can be typed: the options that several commands have, how their values are parsed, and how a command is
 * registered with them.
 */
import path from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { CURRENCIES, didYouMean, fail, milliseconds, untrustedByEnvironment } from "../core/model/index.ts";
import type { ProjectSource } from "../project/source.ts";
import type { StackSource, VariableOption } from "../project/stacks/stack.ts";
import type { Scope } from "./stacks.ts";
import type { Action, GuardedIo, PrintOptions } from "./terminal.ts";

const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, given(value)];

/** An empty value is a variable that was not set: working in the wrong place would be worse than an error. */
export function given(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("it is empty; is a variable unset?");
  return value;
}

/** `90`, `90s`, `5m`, `1h` -> milliseconds. */
export function duration(text: string): number {
  const ms = milliseconds(text);
  if (ms === undefined) throw new InvalidArgumentError("expected a time such as 30s, 5m or 1h");
  return ms;
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
  return addStackOptions(command)
    .optionsGroup(COMMON_OPTIONS)
    .option("-C, --chdir <dir>", "work in another folder", given)
    .option("-f, --file <file>", "declaration to read, in place of hosting.yaml (repeatable)", collect)
    .option("--state <file>", "state file, without a backend (default: hosting.tfstate)", given)
    .option("--json", "machine-readable output")
    .option("--no-color", "no colours")
    .option("--quiet", "results and errors only")
    .option("--verbose", "show each API request")
    .option("--lock-timeout <time>", "wait for a locked state, e.g. 30s, 5m", duration)
    .option(
      "--untrusted",
      "the declaration may be a stranger's: it names no address, credential, backend or program (validate, plan)",
    )
    .option("--insecure-http", "allow plain http to addresses other than loopback")
    .optionsGroup("Options:");
}

/** The options that every command has. */
interface CommonOptions {
  readonly print: PrintOptions;
  readonly source: ProjectSource;
  /** `--app` or `--stack`: stacks in place of a declaration in YAML. */
  readonly stacks?: StackSource;
}

/** What the common options of a command say, wherever on the line they stood. */
export function commonOptionsOf(command: Command, { cwd, env }: Pick<GuardedIo, "cwd" | "env">): CommonOptions {
  const levels: Record<string, unknown>[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) levels.push(at.opts());
  const first = <T>(name: string): T | undefined =>
    levels.find((level) => level[name] !== undefined)?.[name] as T | undefined;
  const dir = path.resolve(cwd, first<string>("chdir") ?? ".");
  const state = first<string>("state");
  const files = levels.flatMap((level) => (level.file as string[] | undefined) ?? []);
  const stacks = stackSource(levels, cwd, files.length > 0);
  return {
    print: {
      json: levels.some((level) => level.json === true),
      color: levels.every((level) => level.color !== false),
      quiet: levels.some((level) => level.quiet === true),
      verbose: levels.some((level) => level.verbose === true),
    },
    source: {
      env,
      cwd,
      dir,
      files: files.map((file) => path.resolve(cwd, file)),
      state: state === undefined ? path.join(dir, "hosting.tfstate") : path.resolve(cwd, state),
      stateNamed: state !== undefined,
      insecureHttp: levels.some((level) => level.insecureHttp === true),
      untrusted: levels.some((level) => level.untrusted === true) || untrustedByEnvironment(env),
      lockTimeoutMs: first<number>("lockTimeout") ?? 0,
    },
    ...(stacks && { stacks }),
  };
}

const GUARDS = "Guards (for this run):";

/** Adds the options that override the guards. */
export function addGuardOptions(command: Command): Command {
  return command
    .optionsGroup(GUARDS)
    .option("--max-orders <n>", "order at most so many services and domains", wholeNumber(0, 1_000_000))
    .option(
      "--max-spend <currency=amount>",
      "order for at most so much, in the API's own unit; see `hostform plans` (repeatable)",
      spend,
    )
    .option("--allow-removals", "remove as much as the plan says")
    .option("--allow-unknown-prices", "order also what the API tells no price of")
    .optionsGroup("Options:");
}

/** `USD=200`, added to those that came before. */
function spend(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, word = "", digits] = /^([A-Za-z]+)=(\d+)$/.exec(text.trim()) ?? [];
  const amount = Number(digits);
  if (digits === undefined || !Number.isSafeInteger(amount))
    throw new InvalidArgumentError("expected CURRENCY=AMOUNT with a whole amount in the API's own unit, as USD=20000");
  const currency = CURRENCIES.find((known) => known === word.toUpperCase());
  if (currency === undefined)
    throw new InvalidArgumentError(`the currencies are ${CURRENCIES.join(", ")}.${didYouMean(word, CURRENCIES)}`);
  if (earlier[currency] !== undefined)
    throw new InvalidArgumentError(`${currency} has a limit already: give one amount for each currency`);
  return { ...earlier, [currency]: amount };
}

/** What `--var` and `--var-file` leave behind, to be put back in order. */
interface Numbered {
  readonly nth: number;
  readonly option: VariableOption;
}

/** Counts the options of a process: what is given later on the line has the higher number. */
let count = 0;

const numbered = (option: VariableOption, earlier: readonly Numbered[] = []): readonly Numbered[] => {
  count += 1;
  return [...earlier, { nth: count, option }];
};

/** `plan=11`. */
function variable(text: string, earlier?: readonly Numbered[]): readonly Numbered[] {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at));
  if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)) throw new InvalidArgumentError("expected NAME=VALUE");
  return numbered({ name, text: text.slice(at + 1) }, earlier);
}

/** Adds the options of stacks. */
function addStackOptions(command: Command): Command {
  const file = (text: string, earlier?: readonly Numbered[]) => numbered({ file: given(text) }, earlier);
  return command
    .optionsGroup(STACK_OPTIONS)
    .option("--app <command>", "run this first: it synthesizes stacks, with cdktf or cdktn", given)
    .option("--stack <path>", "stacks in place of hosting.yaml: cdktf.out, or a folder with *.tf.json", given)
    .option("--only <stack>", "this stack alone, by name or construct path (repeatable)", collect)
    .option("--var <name=value>", "give a variable of the stack a value (repeatable)", variable)
    .option("--var-file <file>", "give variables the values of a JSON file (repeatable)", file);
}

/**
 * What the options say of stacks; undefined when they say nothing.
 * @param levels the options of the command and of those it is a part of. @param cwd paths are relative to it.
 * @throws HostformError `usage` for options that do not go together.
 */
function stackSource(
  levels: readonly Readonly<Record<string, unknown>>[],
  cwd: string,
  withFiles: boolean,
): StackSource | undefined {
  const first = (name: string) => levels.find((level) => level[name] !== undefined)?.[name] as string | undefined;
  const all = <T>(name: string) => levels.flatMap((level) => (level[name] as readonly T[] | undefined) ?? []);
  const [app, stack] = [first("app"), first("stack")];
  const only = all<string>("only");
  const variables = [...all<Numbered>("var"), ...all<Numbered>("varFile")]
    .toSorted((a, b) => a.nth - b.nth)
    .map(({ option }) => ("file" in option ? { file: path.resolve(cwd, option.file) } : option));
  if (app === undefined && stack === undefined) {
    const stray = only.length > 0 ? "--only" : variables.length > 0 ? "--var" : undefined;
    if (stray !== undefined) {
      fail("usage", `${stray} is about stacks, and none is given`, {
        remedies: [
          "Pass `--stack cdktf.out` or `--app COMMAND`. In YAML, `${env.NAME}` takes a value from the environment.",
        ],
      });
    }
    return undefined;
  }
  if (app !== undefined && stack !== undefined) {
    fail("usage", "--app and --stack are two ways; give one", {
      remedies: ["--app runs the app and reads what it has written."],
    });
  }
  if (withFiles) {
    fail("usage", "-f names a declaration in YAML, and --app or --stack takes its place", {
      remedies: ["Leave one of them out."],
    });
  }
  return {
    ...(app !== undefined && { app }),
    ...(stack !== undefined && { path: path.resolve(cwd, stack) }),
    only,
    variables,
  };
}

/** The same arguments with Terraform's spelling of the options of variables (`-var`, `-var-file`) in ours. */
export function withoutTerraformSpelling(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => (end >= 0 && at > end ? arg : arg.replace(/^-(var|var-file)(?==|$)/, "--$1")));
}

/** Adds the options that say where signing secrets are. @param group the heading that they stand under. */
export function addSecretOptions(command: Command, group = "Options:"): Command {
  return command
    .optionsGroup(group)
    .option(
      "--secret-env <name>",
      "environment variable with a signing secret (repeatable)",
      variableNames("--secret-env"),
    )
    .option("--secret-file <file>", "file with signing secrets, one on each line (repeatable)", collect)
    .option("--webhook <address>", "webhook in the state whose secret it is (repeatable)", collect)
    .optionsGroup("Options:");
}

/* Names of environment variables as they are typed. What is none may be the secret itself, so it is never repeated. */
const NAME = /^[A-Za-z_]\w*$/;
/** How signing secrets begin. */
const SECRET = /^whsec_/i;

/** The parser of an option that takes such a name. @throws HostformError `usage` for what is none. */
export function variableName(option: string): (text: string) => string {
  return (text) => {
    if (NAME.test(given(text)) && !SECRET.test(text)) return text;
    return refuse(option);
  };
}

/** The same for an option that can be repeated. */
function variableNames(option: string): (text: string, earlier?: readonly string[]) => readonly string[] {
  const parse = variableName(option);
  return (text, earlier = []) => [...earlier, parse(text)];
}

/**
 * For a variable that is not set: names are short, or capitals, or words.
 * @throws HostformError `usage` for a name that could as well be the secret itself.
 */
export function refuseSecretAsName(option: string, name: string): void {
  if (name.length >= 20 && /[a-z]/.test(name) && /\d/.test(name)) refuse(option);
}

function refuse(option: string): never {
  fail("usage", `What follows ${option} is no name of an environment variable`, {
    detail: "It is not repeated here, as it may be the secret itself.",
    remedies: [
      "Set a variable to the secret and give its name. If it was the secret, replace it: other users of the machine, and readers of a log of the command, may have seen it.",
    ],
  });
}

/** Registers commands on a program; `register/` has one function for each group of commands. */
export interface Registration {
  readonly program: Command;
  /**
   * Adds a command with the common options.
   * @param parent the command that it is a part of (`state` for `state list`); default: the program.
   */
  command(name: string, summary: string, group: string, parent?: Command): Command;
  /**
   * The action of a command: the function of this name, in the module that is loaded for it.
   * @param scope how it takes `--app` and `--stack`; default: `one` stack.
   */
  action<K extends string>(
    load: () => Promise<Readonly<Record<K, Action<never, never[]>>>>,
    name: K,
    scope?: Scope,
  ): (...args: unknown[]) => Promise<void>;
}

/** Adds examples below a command's help: command lines with what each is for. */
export function examples(command: Command, lines: readonly (readonly [line: string, purpose: string])[]): Command {
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, purpose]) => `  ${line.padEnd(width)}  # ${purpose}`).join("\n");
  return command.addHelpText("after", `\nExamples:\n${text}`);
}

/** A parser of whole numbers within bounds, for options. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
    }
    return value;
  };
}

/** Where to listen. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";

/** `8787`, `0.0.0.0:8787`, `[::1]:8787`. Without a host: loopback, so that to be reached from elsewhere is said on purpose. */
export function listenAddress(text: string): ListenAddress {
  const [, bracketed, name, digits] = /^(?:(?:\[([^[\]]+)\]|([^\s:[\]/]+)):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65535)
    throw new InvalidArgumentError("expected a port, or HOST:PORT such as 0.0.0.0:8787");
  return { host: bracketed ?? name ?? LOOPBACK, port };
}
