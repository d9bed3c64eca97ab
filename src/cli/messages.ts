/**
 * The catalogue of the command line: each message by its code. In: a name and typed parameters. Out: a diagnostic. The
 * form is that of `core/messages`; here remedies name commands and options.
 */
import { type Catalogue, error, type Given, problemsOf, type Words } from "../core/messages/message.ts";
import { HostformError } from "../core/model/index.ts";

/** Leads from a usage error to the help of its command. */
const helpFor = (command: string) =>
  command === "" ? "See `hostform help --all`." : `See \`hostform help ${command}\`.`;

/** `-o, --out <file>` -> `--out` */
const longName = (flags: string) => flags.replace(/^-\w, /, "").replace(/ .*$/, "");

const catalogue = {
  "usage/option": error(({ command, flag, fix }: Words<"command" | "flag" | "fix">) => ({
    summary: `Unknown option ${flag}`,
    remedies: [fix, helpFor(command)].filter((one) => one !== ""),
  })),
  "usage/command": error(({ command, name, fix }: Words<"command" | "name" | "fix">) => ({
    summary: `Unknown command "${name}"`,
    remedies: [fix, helpFor(command)].filter((one) => one !== ""),
  })),
  "usage/no_command": error(({ command }: Words<"command">) => ({
    summary: "No command is given",
    remedies: [helpFor(command)],
  })),
  "usage/argument": error(({ command, name }: Words<"command" | "name">) => ({
    summary: `The argument <${name}> is missing`,
    remedies: [helpFor(command)],
  })),
  "usage/no_value": error(({ command, flags }: Words<"command" | "flags">) => ({
    summary: `${longName(flags)} needs a value`,
    remedies: [helpFor(command)],
  })),
  "usage/required": error(({ command, flags }: Words<"command" | "flags">) => ({
    summary: `${longName(flags)} is required`,
    remedies: [helpFor(command)],
  })),
  "usage/value": error(({ command, place, value, reason }: Words<"command" | "place" | "value" | "reason">) => ({
    summary: `The value "${value}" of ${place} is not valid`,
    remedies: [reason, helpFor(command)],
  })),
  "usage/line": error(({ command, text }: Words<"command" | "text">) => {
    const [first = "", ...rest] = text.split(". ");
    return {
      summary: first.charAt(0).toUpperCase() + first.slice(1),
      detail: rest.join(". ") || undefined,
      remedies: [helpFor(command)],
    };
  }),
  "usage/environments": error(({ one, other }: Words<"one" | "other">) => ({
    summary: `Two environments are named: ${one} and ${other}`,
    remedies: ["Name one with -e."],
  })),
  "usage/no_stack": error(({ option }: Words<"option">) => ({
    summary: `${option} needs a stack`,
    remedies: [
      "Pass `--stack cdktf.out` or `--app COMMAND`. In YAML, `${env.NAME}` inserts a value from the environment.",
    ],
  })),
  "usage/app_and_stack": error(() => ({
    summary: "--app and --stack cannot be combined",
    remedies: ["Pass --app to synthesize the stacks first, or --stack to read existing stacks."],
  })),
  "usage/file_and_stack": error(() => ({
    summary: "-f cannot be combined with --app or --stack",
    remedies: ["Pass -f for a declaration in YAML, or --app or --stack for stacks."],
  })),
  "usage/secret": error(({ option }: Words<"option">) => ({
    summary: `The value of ${option} is not the name of an environment variable`,
    detail: "It may be the secret itself, so it is not shown here.",
    remedies: [
      "Set an environment variable to the secret and pass its name. If you passed the secret itself, replace it: other users of this machine, and anyone who reads the log, may have seen it.",
    ],
  })),
} satisfies Catalogue;

/** Makes a diagnostic from a message of the catalogue. */
export const problem = problemsOf(catalogue);

/** Throws a message of the catalogue. */
export function refuse<Name extends keyof typeof catalogue>(name: Name, given: Given<(typeof catalogue)[Name]>): never {
  throw new HostformError([problem(name, given)]);
}
