/**
 * The catalogue of the command line: each message by its code. In: a name and typed parameters. Out: a diagnostic. The
 * form is that of `core/messages`; here remedies name commands and options.
 */
import { type Catalogue, error, type Given, problemsOf, type Words, warning } from "../core/messages/message.ts";
import { HostformError, inQuotes, type Remedy, shellWord, some } from "../core/model/index.ts";

/** A file and the reason of a failure. */
type File = Words<"file" | "reason">;

/** Remedies that depend on the declaration. */
interface Way {
  readonly remedies: readonly Remedy[];
}

const PASSWORD_SOURCES = "--password-env NAME, --password-file FILE or --password-stdin";

/** Steps after another build of the provider was installed. */
export const NEW_HASH =
  'remove the block `provider "registry.terraform.io/hostform/hosting"` from .terraform.lock.hcl, then run `terraform init`.';

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
  "usage/combined": error(({ options }: Words<"options">) => ({
    summary: `${options} cannot be combined`,
    remedies: ["Pass one of them."],
  })),
  "usage/needs": error(({ option, other }: Words<"option" | "other">) => ({
    summary: `${option} needs ${other}`,
    remedies: [`Add ${other}, or remove ${option}.`],
  })),
  "usage/asks": error(({ command, flag }: Words<"command" | "flag">) => ({
    summary: `${command} --json cannot ask for approval`,
    remedies: [`Pass ${flag}.`],
  })),
  "usage/saved_plan": error(({ flag }: Words<"flag">) => ({
    summary: `${flag} cannot be combined with a saved plan`,
    detail: "A saved plan is applied exactly.",
    remedies: [`Remove it, or save another plan: \`hostform plan ${flag} … --out FILE\`.`],
  })),
  "usage/several": error(({ name, found }: Words<"name"> & { found: readonly string[] }) => ({
    summary: `${name} names ${found.length} resources`,
    detail: `${some(found)}.`,
    remedies: ["Name one of them, in quotes for the shell."],
  })),
  "usage/service": error(({ text, fix }: Words<"text" | "fix">) => ({
    summary: `${JSON.stringify(text)} is neither the id, the address nor the domain of a managed service.${fix}`,
    remedies: [
      "Give an id such as 1001, the domain of a managed service, or an address such as hosting_service.acme-www (`hostform state list`).",
    ],
  })),
  "usage/other_provider": error(({ address, provider, alias }: Words<"address" | "provider" | "alias">) => ({
    summary: `${address} belongs to provider ${provider}, not ${alias}`,
    remedies: ["Remove --provider."],
  })),
  "usage/password_form": error(({ type }: Words<"type">) => ({
    summary: `hostform does not know how services of type ${type} receive their password`,
    remedies: [`Pass ${PASSWORD_SOURCES}, or --generate to have the API generate a password.`],
  })),
  "usage/password_needed": error(({ type }: Words<"type">) => ({
    summary: `A service of type ${type} needs a password from you`,
    detail: "The API generates passwords for Root VPS and Virtual Desktop only.",
    remedies: [`Pass ${PASSWORD_SOURCES}.`],
  })),
  "usage/password_generated": error(({ type }: Words<"type">) => ({
    summary: `A service of type ${type} takes no password: the API generates it`,
    remedies: ["Pass no password."],
  })),
  "usage/password_sources": error(() => ({
    summary: "More than one source is given for the password",
    remedies: [`Pass one of ${PASSWORD_SOURCES}, or --generate.`],
  })),
  "usage/password_file": error(({ file, reason }: File) => ({
    summary: `The password file cannot be read: ${reason}`,
    detail: file,
    remedies: ["Check the path and its permissions."],
  })),
  "usage/password_lines": error(({ place }: Words<"place">) => ({
    summary: `The password has more than one line (${place})`,
    remedies: ["Provide only the password."],
  })),
  "usage/password_short": error(({ place, shortest }: Words<"place"> & { shortest: number }) => ({
    summary: `The password is too short (${place})`,
    remedies: [`Give at least ${shortest} characters.`],
  })),
  "usage/unset": error(({ variable }: Words<"variable">) => ({
    summary: `The environment variable ${variable} is not set`,
    remedies: ["Set it to the password, and export it."],
  })),
  "usage/raw_name": error(() => ({
    summary: "--raw needs the name of an output",
    remedies: ["Name it: `hostform output --raw NAME`."],
  })),
  "usage/report": error(({ file, extensions }: Words<"file"> & { extensions: readonly string[] }) => ({
    summary: `The format of the report ${file} is not known`,
    detail: `The extension decides: ${extensions.join(", ")}.`,
    remedies: ["Name it, for example, plan.html."],
  })),
  "usage/dash": error(() => ({
    summary: "`-` cannot be combined with files",
    remedies: ["Pass `-` alone to format standard input."],
  })),
  "usage/stack_yaml": error(() => ({
    summary: "A stack has no YAML to format or to expand",
    remedies: ["Remove --app and --stack."],
  })),
  "usage/stack_export": error(() => ({
    summary: "A stack is already a Terraform configuration",
    remedies: ["Run Terraform in the stack's folder; `hostform terraform install` installs the provider."],
  })),
  "usage/stack": error(({ command }: Words<"command">) => ({
    summary: `\`hostform ${command}\` does not work on a stack`,
    remedies: ["Remove --app, --stack and --var."],
  })),
  "usage/one_stack": error(({ reason, stacks }: Words<"reason"> & { stacks: readonly string[] }) => ({
    summary: `${reason}, and there are ${stacks.length} stacks`,
    detail: `They are ${stacks.join(", ")}.`,
    remedies: [`Choose one: \`--only ${stacks[0]}\`.`],
  })),
  "usage/ending": error(({ out, format, ending }: Words<"out" | "format" | "ending">) => ({
    summary: `Terraform would not read ${out} as ${format}`,
    remedies: [`Name a file that ends in ${ending}, or a folder.`],
  })),
  "usage/exists": error(({ file }: Words<"file">) => ({
    summary: `${file} already exists, with other contents`,
    remedies: ["Choose another file, or pass --force to replace it."],
  })),
  "usage/declared": error(({ name, file }: Words<"name" | "file">) => ({
    summary: `${name} already exists`,
    detail: file,
    remedies: ["Edit it, or move it to another folder first."],
  })),
  "usage/no_schema": error(({ name, file }: Words<"name" | "file">) => ({
    summary: `${name} already exists, and is no schema of hostform`,
    detail: file,
    remedies: ["Name another file: `hostform schema FILE`."],
  })),
  "usage/scale": error(({ digits }: Words<"digits">) => ({
    summary: `${JSON.stringify(digits)} is not a number of decimal places`,
    remedies: ["Give a number from 0 to 4, or nothing."],
  })),
  "usage/unwritable": error(({ name, file, reason }: File & Words<"name">) => ({
    summary: `${name} cannot be written: ${reason}`,
    detail: file,
    remedies: ["Check that the folder exists and that you may write there, or name another with `-C`."],
  })),
  "usage/no_pending": error(() => ({
    summary: "No address is given",
    remedies: ["Give the address of a pending create; `hostform resolve` lists them."],
  })),
  "usage/adopt_id": error(() => ({
    summary: "--adopt needs an id, as the API or the invoice shows it",
    remedies: ["Is a variable unset?"],
  })),
  "usage/no_single": error(({ name }: Words<"name">) => ({
    summary: `The API does not show single ${name}`,
    remedies: [`List all: \`hostform ${name}\`.`],
  })),
  "usage/runner": error(({ what }: Words<"what">) => ({
    summary: `${what} contains a command for the CI runner`,
    detail: "It has `##[`, `##vso[`, or `::` at the beginning of a line. Printed unchanged, it could control this job.",
    remedies: ["Print it where no CI variable is set, or in JSON."],
  })),
  "usage/program": error(({ command, reason }: Words<"command" | "reason">) => ({
    summary: `${JSON.stringify(command)} cannot be run: ${reason}`,
    remedies: ["Give a command on the PATH, after `--`."],
  })),
  "usage/browser": error(({ command, why }: Words<"command" | "why">) => ({
    summary: `The browser could not be opened: ${command}${why}`,
    remedies: ["Run it without `--open` to print the URL."],
  })),
  "usage/platform": error(({ platform, platforms }: Words<"platform"> & { platforms: readonly string[] }) => ({
    summary: `The provider cannot be installed for ${inQuotes(platform)}`,
    detail: `The npm package has the provider for ${some(platforms)}.`,
    remedies: ["Name one of these. For another platform, use its single executable (docs/install.md)."],
  })),
  "usage/platform_of_executable": error(({ platform }: Words<"platform">) => ({
    summary: `The provider cannot be installed for ${inQuotes(platform)}`,
    detail: "A single executable is the provider for its own platform.",
    remedies: ["Install with the npm package, or with the executable of that platform."],
  })),
  "usage/no_home": error(() => ({
    summary: "HOME is not set, so the folder in which Terraform looks for providers is unknown",
    remedies: ["Name one: `hostform terraform install --mirror DIR`."],
  })),
  "terraform.install": error(({ mirror, reason }: Words<"mirror" | "reason">) => ({
    summary: `The provider cannot be installed into ${mirror}: ${reason}`,
    remedies: ["Check that you may write there, or choose another folder with `--mirror`."],
  })),
  "terraform.install/unbuilt": error(({ file, root }: Words<"file" | "root">) => ({
    summary: "The Terraform provider is not built",
    detail: `${file} does not exist: hostform runs from its sources here.`,
    remedies: [`Build it first: \`npm run build\` in ${root}.`],
  })),
  "terraform.install/other": error(({ version, folder }: Words<"version" | "folder">) => ({
    summary: `Another build of version ${version} is installed`,
    detail: `${folder}\nTerraform has a hash of it in the .terraform.lock.hcl of each folder that uses it, and refuses any other build of the same version; \`terraform init -upgrade\` does not help.`,
    remedies: [`Replace it with --force. Then, in each of those folders: ${NEW_HASH}`],
  })),
  "terraform.export": error(({ file, reason }: File) => ({
    summary: `The configuration cannot be written to ${file}: ${reason}`,
    remedies: ["Check that the folder exists and that you may write there, or name another with `--out`."],
  })),
  "plan.saved/report": error(({ file, reason }: File) => ({
    summary: `The report cannot be written to ${file}: ${reason}`,
    remedies: ["Check that the folder exists and that you may write there. Nothing was changed."],
  })),
  "plan.address": error(({ prefix, fix }: Words<"prefix" | "fix">) => ({
    summary: `No address in the state begins with ${prefix}.${fix}`,
    remedies: ["List all addresses: `hostform state list`."],
  })),
  "plan.pending": error(({ address }: Words<"address">) => ({
    summary: `The state has no id for ${address}`,
    detail: "The result of its order is unknown.",
    remedies: ["Run `hostform apply`; it finds the result."],
  })),
  "plan.held_back": error(({ held, others }: Words<"others"> & { held: number }) => ({
    summary: `${held} ${held === 1 ? "resource is" : "resources are"} held back`,
    detail: "Nothing was changed.",
    remedies: [`Correct what the plan names, or apply the ${others} with --partial.`],
  })),
  "api.malformed/password": error(({ id, names }: Words<"id" | "names">) => ({
    summary: `The password of service ${id} was reset, but the answer does not hold the new one`,
    detail: `Only this answer has a generated password. The names in it: ${names}.`,
    remedies: [
      "Set a password on the server or in the host's dashboard. Running this command again resets it once more, probably with the same kind of answer.",
    ],
  })),
  "apply.declined": error(() => ({ summary: "Not approved. Nothing was changed" })),
  "apply.declined/unasked": error(({ flags, command }: Words<"flags" | "command">) => ({
    summary: "Cannot ask for approval: standard input is not a terminal",
    remedies: [`Nothing was changed. Pass ${flags} to ${command} without approval.`],
  })),
  "apply.declined/lock": error(() => ({ summary: "Not approved", detail: "The state stays locked." })),
  "apply.declined/lock_unasked": error(() => ({
    summary: "Cannot ask: standard input is not a terminal",
    detail: "The state stays locked.",
    remedies: ["Pass --yes to release it without asking."],
  })),
  interrupted: error(() => ({ summary: "Interrupted. Nothing was changed" })),
  "interrupted/report": error(() => ({
    summary: "The run that writes this report has no plan yet, or was stopped before it had one",
    remedies: ["Wait for its end, or run the command again."],
  })),
  "config.unreadable": error(({ file, reason }: File) => ({
    summary: `${file} cannot be read: ${reason}`,
    remedies: ["No file was changed. Check the path and its permissions."],
  })),
  "config.unreadable/write": error(({ file, reason }: File) => ({
    summary: `${file} cannot be written: ${reason}`,
    remedies: ["Check that you may write there, and run the command again."],
  })),
  "config.unreadable/state": error(({ file, reason }: File) => ({
    summary: `${file} cannot be read: ${reason}`,
    remedies: ["Check the path, or give `-` for standard input."],
  })),
  "state.output/none": warning(({ remedies }: Way) => ({ summary: "No outputs are recorded", remedies })),
  "state.output/empty": error(({ name, remedies }: Way & Words<"name">) => ({
    summary: `The state has no output ${name}`,
    detail: "No outputs are recorded.",
    remedies,
  })),
  "state.output/unknown": error(({ name, known, fix }: Words<"name" | "fix"> & { known: readonly string[] }) => ({
    summary: `The state has no output ${name}.${fix}`,
    detail: `The outputs are ${known.join(", ")}.`,
    remedies: ["Correct the name. The next `hostform apply` records an output that was declared since."],
  })),
  "state.output/raw": error(({ name, what }: Words<"name" | "what">) => ({
    summary: `The output ${name} cannot be printed raw: it is ${what}`,
    detail: "--raw prints texts, numbers and booleans.",
    remedies: [`Use \`hostform output --json ${shellWord(name)}\`.`],
  })),
} satisfies Catalogue;

/** Makes a diagnostic from a message of the catalogue. */
export const problem = problemsOf(catalogue);

/** Throws a message of the catalogue. */
export function refuse<Name extends keyof typeof catalogue>(name: Name, given: Given<(typeof catalogue)[Name]>): never {
  throw new HostformError([problem(name, given)]);
}
