/**
 * What can be typed: the options that several commands have, how their values are parsed, and how a command is
 * registered with them.
 */
import path from "node:path";
import { type Command, InvalidArgumentError, type Option } from "commander";
import {
  budgetShare,
  CURRENCIES,
  didYouMean,
  FAIL_ON,
  type FailOn,
  fail,
  milliseconds,
  untrustedByEnvironment,
} from "../core/model/index.ts";
import type { ProjectSource } from "../project/source.ts";
import type { StackSource, VariableOption } from "../project/stacks/stack.ts";
import { CliCommand } from "./command.ts";
import type { Action, GuardedIo, PrintOptions } from "./terminal.ts";

export const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  given(value),
];

/** An empty value is a variable that was not set: working in the wrong place would be worse than an error. */
export function given(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It is empty. Is a variable unset?");
  return value;
}

/** `90`, `90s`, `5m`, `1h` -> milliseconds. */
export function duration(text: string): number {
  const ms = milliseconds(text);
  if (ms === undefined) throw new InvalidArgumentError("Expected a time such as 30s, 5m or 1h.");
  return ms;
}

/** A URL of http or https; undefined for any other text. */
export function webUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined;
}

function shareOfBudget(text: string): number {
  const share = budgetShare(text);
  if (share === undefined) throw new InvalidArgumentError("Expected a number above 0 and up to 1, such as 0.5.");
  return share;
}

/** The heading of the options that work everywhere. */
export const COMMON_OPTIONS = "Common options:";

/** The heading of the options that put stacks in place of a declaration. */
export const STACK_OPTIONS = "Stacks:";

/** Adds the options that work everywhere, before and after the command's name. */
export function addCommonOptions(command: CliCommand): CliCommand {
  common ??= withCommonOptions(new CliCommand()).options;
  for (const option of common) command.addOption(option);
  return command.optionsGroup("Options:");
}

/** Made once for all commands: to read them from their texts for each is most of what a start of the command line does. */
let common: readonly Option[] | undefined;

function withCommonOptions(command: CliCommand): CliCommand {
  return addStackOptions(command)
    .optionsGroup(COMMON_OPTIONS)
    .option("-C, --chdir <dir>", "use the project in this folder; other paths stay relative to the current one", given)
    .option("-f, --file <file>", "read this declaration instead of hosting.yaml (repeatable)", collect)
    .option("-e, --environment <name>", "use environments/NAME.yaml: its account, state, guards and variables", collect)
    .option("--state <file>", "state file, if no backend is declared (default: hosting.tfstate)", given)
    .option("--json", "print JSON, for programs")
    .option("--no-color", "no colours")
    .option("--quiet", "print results and errors only")
    .option("--verbose", "print each API request")
    .option(
      "--lock-timeout <time>",
      "how long to wait for a locked state, and for a turn to create, such as 30s or 5m (default: do not wait for the state)",
      duration,
    )
    .option(
      "--budget-share <share>",
      "use this part of the request budget, such as 0.5 where two machines share the token",
      shareOfBudget,
    )
    .option(
      "--untrusted",
      "treat the declaration as a stranger's: refuse addresses, credentials, backends and programs in it (validate, plan)",
    )
    .option("--insecure-http", "allow plain http to addresses other than loopback");
}

/** Reads the common options of a command, wherever on the line they stood. */
export function commonOptionsOf(command: Command, { cwd, env }: Pick<GuardedIo, "cwd" | "env">) {
  const given = levelsOf(command);
  const { first, all, has } = given;
  const dir = path.resolve(cwd, first<string>("chdir") ?? ".");
  const state = first<string>("state");
  const files = all<string>("file");
  const [json, quiet, verbose, color] = [has("json"), has("quiet"), has("verbose"), !has("color", false)];
  const print: PrintOptions = { json, quiet, verbose, color };
  const source: ProjectSource = {
    env,
    cwd,
    dir,
    files: files.map((file) => path.resolve(cwd, file)),
    state: state === undefined ? path.join(dir, "hosting.tfstate") : path.resolve(cwd, state),
    stateNamed: state !== undefined,
    insecureHttp: has("insecureHttp"),
    untrusted: has("untrusted") || untrustedByEnvironment(env),
    budgetShare: first<number>("budgetShare"),
    lockTimeoutMs: first<number>("lockTimeout"),
  };
  // `--app` or `--stack`: stacks in place of a declaration in YAML.
  return {
    print,
    source,
    environment: oneEnvironment(all<string>("environment")),
    stacks: stackSource(given, cwd, files.length > 0),
  };
}

/** @throws HostformError `usage` for two: the last one would win, and may be production. */
function oneEnvironment(names: readonly string[]): string | undefined {
  const [name, other] = new Set(names);
  if (other !== undefined)
    fail("usage", `Two environments are named: ${name} and ${other}`, { remedies: ["Name one with -e."] });
  return name;
}

/** Returns the values given to a command and to the commands around it. */
function levelsOf(command: Command) {
  const levels: Record<string, unknown>[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) levels.push(at.opts());
  return {
    first: <T>(name: string) => levels.find((level) => level[name] !== undefined)?.[name] as T | undefined,
    all: <T>(name: string) => levels.flatMap((level) => (level[name] as readonly T[] | undefined) ?? []),
    has: (name: string, value = true) => levels.some((level) => level[name] === value),
  };
}

const GUARDS = "Guards (for this run):";

export function addGuardOptions(command: CliCommand): CliCommand {
  return command
    .optionsGroup(GUARDS)
    .option("--max-orders <n>", "order at most this many services and domains", wholeNumber(0, 1_000_000))
    .option(
      "--max-spend <currency=amount>",
      "spend at most this much, in the unit that `hostform plans` shows, such as USD=20000 (repeatable)",
      spend,
    )
    .option("--max-removals <n>", "remove at most this many resources", wholeNumber(0, 1_000_000))
    .option("--allow-removals", "lift the removal limits")
    .option("--allow-unknown-prices", "also order items without a listed price")
    .option("--allow-missing", "accept that many recorded resources are missing in the account")
    .optionsGroup("Options:");
}

/** `USD=200`, added to those that came before. */
function spend(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
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

/** A value of `--var` or `--var-file`: what is given later on the line has the higher number. */
type Numbered = VariableOption & { readonly nth: number };

let count = 0;

const numbered = (option: VariableOption, earlier: readonly Numbered[] = []): readonly Numbered[] => {
  count += 1;
  return [...earlier, { ...option, nth: count }];
};

/** `plan=11`. */
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
 * What the options say of stacks; undefined when they say nothing.
 * @param cwd paths are relative to it.
 * @throws HostformError `usage` for options that do not go together.
 */
function stackSource(
  { first, all }: ReturnType<typeof levelsOf>,
  cwd: string,
  withFiles: boolean,
): StackSource | undefined {
  const [app, stack] = [first<string>("app"), first<string>("stack")];
  const only = all<string>("only");
  const language = first<NonNullable<StackSource["language"]>>("language");
  const variables = [...all<Numbered>("var"), ...all<Numbered>("varFile")]
    .toSorted((a, b) => a.nth - b.nth)
    .map(({ nth: _, ...option }) => ("file" in option ? { file: path.resolve(cwd, option.file) } : option));
  if (app === undefined && stack === undefined) {
    const stray =
      only.length > 0 ? "--only" : variables.length > 0 ? "--var" : language !== undefined ? "--language" : undefined;
    if (stray === undefined) return undefined;
    const env = "In YAML, `${env.NAME}` takes a value from the environment.";
    fail("usage", `${stray} needs a stack`, { remedies: [`Pass \`--stack cdktf.out\` or \`--app COMMAND\`. ${env}`] });
  }
  if (app !== undefined && stack !== undefined) {
    fail("usage", "--app and --stack cannot be combined", {
      remedies: ["Pass --app to synthesize the stacks first, or --stack to read those that exist."],
    });
  }
  if (withFiles) {
    fail("usage", "-f cannot be combined with --app or --stack", {
      remedies: ["Pass -f for a declaration in YAML, or --app or --stack for stacks."],
    });
  }
  return {
    ...(app !== undefined && { app }),
    ...(stack !== undefined && { path: path.resolve(cwd, stack) }),
    only,
    variables,
    ...(language !== undefined && { language }),
  };
}

/** The same arguments with Terraform's spelling of the options `-var`, `-var-file` and `-refresh` in ours. */
export function withoutTerraformSpelling(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => (end >= 0 && at > end ? arg : arg.replace(/^-(var|var-file|refresh)(?==|$)/, "--$1")));
}

/** `orderAnyway` -> `--order-anyway` */
export const spelledOption = (flag: string) => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/* Names of environment variables as they are typed. What is none may be the secret itself, so it is never repeated. */
const NAME = /^[A-Za-z_]\w*$/;
/** Beginning of signing secrets. */
const SECRET = /^whsec_/i;

/** The parser of an option that takes such a name. @throws HostformError `usage` for what is none. */
export const variableName = (option: string) => (text: string) =>
  NAME.test(given(text)) && !SECRET.test(text) ? text : refuse(option);

export const TOKEN_ENV = [
  "--token-env <name>",
  "environment variable that holds the API token (default: HOSTING_TOKEN)",
  variableName("--token-env"),
] as const;

/** Adds the options that say where signing secrets are. @param group the heading that they stand under. */
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
 * For a variable that is not set: names are short, or capitals, or words.
 * @param shortest the length from which a text can be the secret.
 * @throws HostformError `usage` for a name that could as well be the secret itself.
 */
export function refuseSecretAsName(option: string, name: string, shortest = 20): void {
  if (name.length >= shortest && /[a-z]/.test(name) && /\d/.test(name)) refuse(option);
}

function refuse(option: string): never {
  fail("usage", `The value of ${option} is not the name of an environment variable`, {
    detail: "It may be the secret itself, so it is not shown here.",
    remedies: [
      "Set an environment variable to the secret and pass its name. If you passed the secret itself, replace it: other users of this machine, and anyone who reads the log, may have seen it.",
    ],
  });
}

/** The stacks that a command takes: `each` of those selected in turn; `one` alone; `none`, as it is about no declaration. */
export type Scope = "each" | "one" | "none";

/** Registers commands on a program; `register/` has one function for each group of commands. */
export interface Registration {
  readonly program: CliCommand;
  /**
   * Adds a command with the common options.
   * @param parent the command that it is a part of (`state` for `state list`); default: the program.
   */
  command(name: string, summary: string, group: string, parent?: CliCommand): CliCommand;
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

/** Conditions on which a run fails. */
export interface FailOnFlags {
  readonly failOn?: readonly FailOn[];
}

/** The exit code of a run that ended well, but met a condition of `--fail-on`. */
const FAILED_ON = 4;

/** @returns 4 and names the conditions if one of them holds; else `code`. */
export function failedOn(
  { failOn = [] }: FailOnFlags,
  holds: ReadonlySet<FailOn>,
  code: number,
  warn: (text: string) => void,
) {
  const met = failOn.filter((name) => holds.has(name));
  if (met.length === 0) return code;
  warn(`Exit code ${FAILED_ON} because of --fail-on: ${met.join(", ")}.`);
  return FAILED_ON;
}

export const FAIL_ON_OPTION = [
  "--fail-on <conditions>",
  `exit with ${FAILED_ON} if one of these conditions holds, such as offline,gone,unpaid`,
  conditionNames,
] as const;

function conditionNames(text: string, earlier: readonly FailOn[] = []): readonly FailOn[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !FAIL_ON.some((known) => known === name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `${JSON.stringify(unknown)} is no condition. The names are ${FAIL_ON.join(", ")}.${didYouMean(unknown, FAIL_ON)}`,
    );
  return [...new Set([...earlier, ...(names as FailOn[])])];
}

/** A parser of whole numbers within bounds, for options. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

/** Words that a shell completes from the state: `targets` are addresses and clients. */
export const COMPLETED = ["addresses", "targets", "clients", "domains"] as const;
