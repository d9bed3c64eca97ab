import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { fail } from "../../core/model/index.ts";
import type { StackSource, VariableOption } from "./stack.ts";

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

/** Adds the options of stacks. @param given refuses an empty value. */
export function addStackOptions(command: Command, given: (text: string) => string, group: string): Command {
  const several = (text: string, earlier: readonly string[] = []) => [...earlier, given(text)];
  const file = (text: string, earlier?: readonly Numbered[]) => numbered({ file: given(text) }, earlier);
  return command
    .addOption(
      new Option("--app <command>", "run this first: it synthesizes stacks, with cdktf or cdktn")
        .argParser(given)
        .helpGroup(group),
    )
    .addOption(
      new Option("--stack <path>", "stacks in place of hosting.yaml: cdktf.out, or a folder with *.tf.json")
        .argParser(given)
        .helpGroup(group),
    )
    .addOption(
      new Option("--only <stack>", "this stack alone, by name or construct path (repeatable)")
        .argParser(several)
        .helpGroup(group),
    )
    .addOption(
      new Option("--var <name=value>", "give a variable of the stack a value (repeatable)")
        .argParser(variable)
        .helpGroup(group),
    )
    .addOption(
      new Option("--var-file <file>", "give variables the values of a JSON file (repeatable)")
        .argParser(file)
        .helpGroup(group),
    );
}

/**
 * What the options say of stacks; undefined when they say nothing.
 * @param levels the options of the command and of those it is a part of. @param cwd paths are relative to it.
 * @throws HostformError `usage` for options that do not go together.
 */
export function stackSource(
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
        fix: "Pass `--stack cdktf.out` or `--app COMMAND`. In YAML, `${env.NAME}` takes a value from the environment.",
      });
    }
    return undefined;
  }
  if (app !== undefined && stack !== undefined) {
    fail("usage", "--app and --stack are two ways; give one", {
      fix: "--app runs the app and reads what it has written.",
    });
  }
  if (withFiles) {
    fail("usage", "-f names a declaration in YAML, and --app or --stack takes its place", {
      fix: "Leave one of them out.",
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
