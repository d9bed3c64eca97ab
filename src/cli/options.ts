/** Options that several commands share, and the parsers of their values. */
import path from "node:path";
import { type Command, InvalidArgumentError, type Option } from "commander";
import {
  CURRENCIES,
  didYouMean,
  FAIL_ON,
  type FailOn,
  milliseconds,
  STATUS_NAMES,
  untrustedByEnvironment,
} from "../core/model/index.ts";
import type { ProjectSource } from "../project/source.ts";
import type { StackSource, VariableOption } from "../project/stacks/stack.ts";
import type { CliCommand } from "./command.ts";
import { raise } from "./messages.ts";
import type { Action, GuardedIo, PrintOptions } from "./terminal.ts";

export const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  given(value),
];

/** Rejects an empty value: an unset shell variable must not select another location. */
export function given(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It is empty. Is a variable unset?");
  return value;
}

/** Parses `90`, `90s`, `5m` or `1h`. Returns milliseconds. */
export function duration(text: string): number {
  const ms = milliseconds(text);
  if (ms === undefined) throw new InvalidArgumentError("Expected a time such as 30s, 5m or 1h.");
  return ms;
}

/** Maximum lifetime of a mandate, in milliseconds. */
const MOST_LIFETIME = 90 * 86_400_000;

/** Parses `30m`, `2h` or `7d`: the lifetime of a mandate. Returns milliseconds. */
export function lifetime(text: string): number {
  const ms = /^\d+[mhd]$/.test(text) ? (milliseconds(text) ?? 0) : 0;
  if (ms === 0 || ms > MOST_LIFETIME)
    throw new InvalidArgumentError("Expected a time from 1m to 90d, such as 30m, 2h or 7d.");
  return ms;
}

/** Parses `30d` or `4w`. Returns milliseconds. */
export function days(text: string): number {
  const [, count, unit] = /^(\d+)([dw])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError("Expected days or weeks, such as 30d or 4w.");
  return Number(count) * (unit === "w" ? 7 : 1) * 86_400_000;
}

/** Parses an HTTP or HTTPS URL. Undefined for other texts. */
export function webUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined;
}

/** Heading of the options of every command. */
const COMMON_OPTIONS = "Common options:";

/** Heading of the options that select stacks instead of a YAML declaration. */
const STACK_OPTIONS = "Stacks:";

/** Adds the common options to the program. Commander accepts these before and after the command. */
export function addCommonOptions(program: CliCommand): CliCommand {
  program
    .optionsGroup(COMMON_OPTIONS)
    .option("-C, --chdir <dir>", "use the project in this folder; other paths stay relative to the current one", given)
    .option("-f, --file <file>", "read this declaration instead of hosting.yaml (repeatable)", collect)
    .option("-e, --environment <name>", "use environments/NAME.yaml: its account, state, guards and variables", collect)
    .option("--state <file>", "state file, if no backend is declared (default: hosting.tfstate)", given)
    .option("--json", "print JSON, for programs")
    .option("--no-color", "no colours")
    .option("--quiet", "print results, warnings and errors only")
    .option("--verbose", "print each API request")
    .option(
      "--lock-timeout <time>",
      "how long to wait for a locked state, and for the create lock, such as 30s or 5m (default: do not wait for the state)",
      duration,
    )
    .option(
      "--untrusted",
      "treat the declaration as a stranger's: refuse addresses, credentials, backends and programs in it (validate, plan)",
    )
    .option("--insecure-http", "allow plain http to addresses other than loopback");
  return addStackOptions(program).optionsGroup("Options:");
}

/** Values of the common options. */
interface CommonFlags {
  readonly chdir?: string;
  readonly file?: readonly string[];
  readonly environment?: readonly string[];
  readonly state?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly lockTimeout?: number;
  readonly untrusted?: boolean;
  readonly insecureHttp?: boolean;
  readonly policy?: readonly string[];
  readonly app?: string;
  readonly stack?: string;
  readonly only?: readonly string[];
  readonly var?: readonly Numbered[];
  readonly varFile?: readonly Numbered[];
  readonly language?: StackSource["language"];
}

export function commonOptionsOf(command: Command, { cwd, env }: Pick<GuardedIo, "cwd" | "env">) {
  const flags: CommonFlags = command.optsWithGlobals();
  const { json = false, quiet = false, verbose = false, color = true, state } = flags;
  const dir = path.resolve(cwd, flags.chdir ?? ".");
  const print: PrintOptions = { json, quiet, verbose, color };
  const source: ProjectSource = {
    env,
    cwd,
    dir,
    files: (flags.file ?? []).map((file) => path.resolve(cwd, file)),
    state: state === undefined ? path.join(dir, "hosting.tfstate") : path.resolve(cwd, state),
    stateNamed: state !== undefined,
    policy: (flags.policy ?? []).map((file) => path.resolve(cwd, file)),
    insecureHttp: flags.insecureHttp === true,
    untrusted: flags.untrusted === true || untrustedByEnvironment(env),
    lockTimeoutMs: flags.lockTimeout,
  };
  const [environment, other] = new Set(flags.environment);
  // Reject two environments: the last one would count, and it may be production.
  if (environment !== undefined && other !== undefined) raise("usage/environments", { one: environment, other });
  return { print, source, environment, stacks: stackSource(flags, cwd) };
}

const GUARDS = "Guards (for this run):";

export function addGuardOptions(command: CliCommand): CliCommand {
  return command
    .optionsGroup(GUARDS)
    .option("--max-orders <n>", "order at most this many services and domains", wholeNumber(0, 1_000_000))
    .option(
      "--max-spend <currency=amount>",
      "spend at most this much, in the unit that `hostform plans --json` shows, such as USD=20000 (repeatable)",
      spend,
    )
    .option("--max-removals <n>", "remove at most this many resources", wholeNumber(0, 1_000_000))
    .option("--allow-removals", "lift the removal limits")
    .option("--allow-unknown-prices", "also order items without a listed price")
    .option("--allow-missing", "accept that many recorded resources are missing in the account")
    .optionsGroup("Options:");
}

export const POLICY_OPTION = [
  "--policy <file>",
  "refuse what this policy does not allow; a file of rules, or a function (repeatable)",
  collect,
] as const;

/** Parses `USD=200`, and adds it to earlier limits. */
export function spend(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, word = "", digits] = /^([A-Za-z]+)=(\d+)$/.exec(text.trim()) ?? [];
  const amount = Number(digits);
  if (digits === undefined || !Number.isSafeInteger(amount))
    throw new InvalidArgumentError("Expected CURRENCY=AMOUNT, a whole number in the API's own unit: USD=20000.");
  const currency = CURRENCIES.find((known) => known === word.toUpperCase());
  if (currency === undefined)
    throw new InvalidArgumentError(`The currencies are ${CURRENCIES.join(", ")}.${didYouMean(word, CURRENCIES)}`);
  if (earlier[currency] !== undefined)
    throw new InvalidArgumentError(`${currency} already has a limit: give one amount for each currency.`);
  return { ...earlier, [currency]: amount };
}

/** A value of `--var` or `--var-file`, with its position in the command line. Of several, the last counts. */
type Numbered = VariableOption & { readonly nth: number };

let count = 0;

const numbered = (option: VariableOption, earlier: readonly Numbered[] = []): readonly Numbered[] => {
  count += 1;
  return [...earlier, { ...option, nth: count }];
};

/** Parses `plan=11`. */
function variable(text: string, earlier?: readonly Numbered[]): readonly Numbered[] {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at));
  if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)) throw new InvalidArgumentError("Expected NAME=VALUE.");
  return numbered({ name, text: text.slice(at + 1) }, earlier);
}

const LANGUAGES = ["1.11", "1.12"] as const satisfies readonly StackSource["language"][];

function addStackOptions(command: CliCommand): CliCommand {
  const file = (text: string, earlier?: readonly Numbered[]) => numbered({ file: given(text) }, earlier);
  return command
    .optionsGroup(STACK_OPTIONS)
    .option("--app <command>", "run this command first; it synthesizes the stacks (cdktf, cdktn)", given)
    .option("--stack <path>", "use these stacks instead of hosting.yaml: cdktf.out, or a folder with *.tf.json", given)
    .option("--only <stack>", "use only this stack: its name or construct path (repeatable)", collect)
    .option("--var <name=value>", "set a variable of the stack (repeatable)", variable)
    .option("--var-file <file>", "set variables from a JSON file (repeatable)", file)
    .choice(
      "--language <version>",
      "evaluate expressions as Terraform 1.11 or 1.12 does (default: the newest that required_version allows)",
      LANGUAGES,
    );
}

/**
 * Returns the selected stacks. Undefined without stack options.
 * @param cwd Folder for relative paths.
 * @throws HostformError `usage` for options that cannot be combined.
 */
function stackSource(flags: CommonFlags, cwd: string): StackSource | undefined {
  const { app, stack, only = [], language } = flags;
  const variables = [...(flags.var ?? []), ...(flags.varFile ?? [])]
    .toSorted((a, b) => a.nth - b.nth)
    .map(({ nth: _, ...option }) => ("file" in option ? { file: path.resolve(cwd, option.file) } : option));
  if (app === undefined && stack === undefined) {
    const given = { "--only": only.length > 0, "--var": variables.length > 0, "--language": language !== undefined };
    const [option] = Object.entries(given).find(([, isGiven]) => isGiven) ?? [];
    if (option === undefined) return undefined;
    raise("usage/needs", { option, other: "a stack (--stack or --app)" });
  }
  if (app !== undefined && stack !== undefined) raise("usage/combined", { options: "--app and --stack" });
  if (flags.file !== undefined) raise("usage/combined", { options: "-f and --app or --stack" });
  return {
    ...(app !== undefined && { app }),
    ...(stack !== undefined && { path: path.resolve(cwd, stack) }),
    only,
    variables,
    ...(language !== undefined && { language }),
  };
}

/** Converts options in Terraform's notation: `-out=x`, `-auto-approve`, `--json=true`. */
export function inOurSpelling(args: readonly string[], program: Command): readonly string[] {
  const optionsIn = (command: Command): Option[] => [...command.options, ...command.commands.flatMap(optionsIn)];
  const options = new Map(optionsIn(program).map((option) => [option.long, option]));
  const commands = program.commands.filter((command) => args.includes(command.name()));
  const own = new Set([...program.options, ...commands.flatMap(optionsIn)].map(({ long }) => long));
  const end = args.indexOf("--");
  return args.flatMap((arg, at) => {
    const [, name = "", value] = /^--?([a-z][a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (end >= 0 && at > end) return [arg];
    if (value === "false" && options.has(`--no-${name}`)) return [`--no-${name}`];
    const option = options.get(`--${name}`);
    if (option === undefined) return [arg];
    if (name === "refresh" && value === "true") return ["--refresh=all"];
    if (option.required || option.optional) return [value === undefined ? `--${name}` : `--${name}=${value}`];
    if (value === undefined || value === "true") return [`--${name}`];
    // The command rejects an option of another command.
    return value === "false" && own.has(option.long) ? [] : [arg];
  });
}

/** Converts an option name: `orderAnyway` becomes `--order-anyway`. */
export const spelledOption = (flag: string) => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Pattern of environment variable names. */
const NAME = /^[A-Za-z_]\w*$/;
/** Prefix of signing secrets. */
const SECRET = /^whsec_/i;

/**
 * Parses the name of an environment variable. Rejects other texts without repeating them, because the user may have typed the
 * secret itself.
 * @throws HostformError `usage`.
 */
export const variableName = (option: string) => (text: string) =>
  NAME.test(given(text)) && !SECRET.test(text) ? text : raise("usage/secret", { option });

export const TOKEN_ENV = [
  "--token-env <name>",
  "environment variable that holds the API token (default: HOSTING_TOKEN)",
  variableName("--token-env"),
] as const;

/** Adds the options for signing secrets. @param group Heading of the options. */
export function addSecretOptions(command: CliCommand, group = "Options:"): CliCommand {
  const parse = variableName("--secret-env");
  const names = (text: string, earlier: readonly string[] = []) => [...earlier, parse(text)];
  return command
    .optionsGroup(group)
    .option("--secret-env <name>", "environment variable that holds a signing secret (repeatable)", names)
    .option("--secret-file <file>", "file with signing secrets, one per line (repeatable)", collect)
    .option("--webhook <address>", "take the signing secret of this webhook from the state (repeatable)", collect)
    .optionsGroup("Options:");
}

/**
 * Rejects the name of an unset variable if it may be the secret itself: a long text with lower-case letters and digits.
 * @param shortest Minimum length of a secret.
 * @throws HostformError `usage`.
 */
export function refuseSecretAsName(option: string, name: string, shortest = 20): void {
  if (name.length >= shortest && /[a-z]/.test(name) && /\d/.test(name)) raise("usage/secret", { option });
}

/** Treatment of several stacks: `each` in turn, exactly `one`, or `none`. */
export type Scope = "each" | "one" | "none";

/** Functions that register commands. Each file in `register/` has one function per command group. */
export interface Registration {
  readonly program: CliCommand;
  /** Adds a command. @param parent Command group, such as `state` for `state list`. Default: the program. */
  command(name: string, summary: string, group: string, parent?: CliCommand): CliCommand;
  /**
   * Returns the action of a command: a function of a module that is loaded when the command runs.
   * @param scope How the command treats several stacks. Default: `one`.
   */
  action<K extends string>(
    load: () => Promise<Readonly<Record<K, Action<never, never[]>>>>,
    name: K,
    scope?: Scope,
  ): (...args: unknown[]) => Promise<void>;
}

export interface FailOnFlags {
  /** Conditions that make the exit code 4. */
  readonly failOn?: readonly FailOn[];
}

export const FAIL_ON_OPTION = [
  "--fail-on <conditions>",
  "exit with 4 if one of these conditions holds, such as offline,gone,unpaid",
  (text: string, earlier?: readonly FailOn[]) => {
    const names = conditionNames(text, earlier);
    const listed = STATUS_NAMES.find((name) => names.includes(name));
    if (listed === undefined) return names;
    throw new InvalidArgumentError(`${listed} is a section of a status. Only status and audit check it.`);
  },
] as const;

/** `--fail-on` of `status`. */
export const FAIL_ON_STATUS_OPTION = [FAIL_ON_OPTION[0], FAIL_ON_OPTION[1], conditionNames] as const;

function conditionNames(text: string, earlier: readonly FailOn[] = []): readonly FailOn[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !FAIL_ON.some((known) => known === name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `${JSON.stringify(unknown)} is no condition. The names are ${FAIL_ON.join(", ")}.${didYouMean(unknown, FAIL_ON)}`,
    );
  return [...new Set([...earlier, ...(names as FailOn[])])];
}

/** Returns a parser for integers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}
