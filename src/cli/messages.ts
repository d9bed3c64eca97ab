/**
 * Catalogue of the command line: each message by its code. In: a name and typed parameters. Out: a diagnostic. Same structure
 * as `core/messages`, but remedies contain commands and options.
 */
import {
  type Catalogue,
  error,
  problemsOf,
  type Raise,
  raiseOf,
  type Words,
  warning,
} from "../core/messages/message.ts";
import { inQuotes, type Remedy, shellWord, some } from "../core/model/index.ts";

/** Remedies that depend on the declaration. */
interface Way {
  readonly remedies: readonly Remedy[];
}

const PASSWORD_SOURCES = "--password-env NAME, --password-file FILE or --password-stdin";

/** Steps after another build of the provider was installed. */
export const NEW_HASH =
  "remove the provider block of hostform/hosting from .terraform.lock.hcl, then run `terraform init`.";

/** Returns the remedy that refers to the help of a command. */
const helpFor = (command: string) =>
  command === "" ? "See `hostform help --all`." : `See \`hostform help ${command}\`.`;

/** Returns the long name of an option: `-o, --out <file>` becomes `--out`. */
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
    summary: "The command is missing",
    remedies: [helpFor(command)],
  })),
  "usage/argument": error(({ command, name }: Words<"command" | "name">) => ({
    summary: `The argument <${name}> is missing`,
    remedies: [helpFor(command)],
  })),
  "usage/no_value": error(({ command, flags }: Words<"command" | "flags">) => ({
    summary: `${longName(flags)} requires a value`,
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
  "usage/environments": error({
    summary: "Two environments are selected: {one} and {other}",
    remedies: ["Select one environment with `-e NAME`."],
  }),
  "usage/secret": error({
    summary: "The value of {option} is not the name of an environment variable",
    detail: "It may be the secret itself, so it is not shown here.",
    remedies: [
      "Set an environment variable to the secret and pass the name of the variable. If you passed the secret, replace it: other users of this machine and readers of the log may have seen it.",
    ],
  }),
  "usage/combined": error({ summary: "{options} cannot be combined", remedies: ["Pass only one of them."] }),
  "usage/needs": error({ summary: "{option} requires {other}", remedies: ["Add {other}, or remove {option}."] }),
  "usage/asks": error({ summary: "{command} --json cannot ask for approval", remedies: ["Pass {flag}."] }),
  "usage/saved_plan": error({
    summary: "{flag} cannot be combined with a saved plan",
    detail: "A saved plan is applied without changes.",
    remedies: ["Remove {flag}, or save another plan: `hostform plan {flag} … --out FILE`."],
  }),
  "usage/receipt": error({
    summary: "--receipt requires --mandate",
    remedies: ["Pass the mandate, or remove --receipt."],
  }),
  "usage/no_services": error({
    summary: "No service is selected",
    remedies: ["Pass domains or addresses, or `--unpaid-over TIME`, or `--paid`."],
  }),
  "usage/several": error(({ name, found }: Words<"name"> & { found: readonly string[] }) => ({
    summary: `${name} matches ${found.length} resources`,
    detail: `${some(found)}.`,
    remedies: ["Pass the address of one resource, in quotes for the shell."],
  })),
  "usage/service": error(({ text, fix }: Words<"text" | "fix">) => ({
    summary: `${JSON.stringify(text)} is not the id, the address or the domain of a managed service.${fix}`,
    remedies: [
      "Pass an id such as 1001, a domain, or an address such as hosting_service.acme-www. `hostform state list` lists the addresses.",
    ],
  })),
  "usage/other_provider": error({
    summary: "{address} belongs to provider {provider}, not {alias}",
    remedies: ["Remove --provider."],
  }),
  "usage/password_form": error(({ type }: Words<"type">) => ({
    summary: `hostform does not know how services of type ${type} receive their password`,
    remedies: [`Pass ${PASSWORD_SOURCES}. To let the API generate a password, pass --generate.`],
  })),
  "usage/password_needed": error(({ type }: Words<"type">) => ({
    summary: `A service of type ${type} requires a password from you`,
    detail: "The API generates passwords for Root VPS and Virtual Desktop only.",
    remedies: [`Pass ${PASSWORD_SOURCES}.`],
  })),
  "usage/password_generated": error({
    summary: "A password is not supported for a service of type {type}: the API generates it",
    remedies: ["Remove the password option."],
  }),
  "usage/password_file": error({
    summary: "The password file cannot be read: {reason}",
    detail: "{file}",
    remedies: ["Check the path and its permissions."],
  }),
  "usage/password_lines": error({
    summary: "The password has more than one line ({place})",
    remedies: ["Provide only the password, on one line."],
  }),
  "usage/password_short": error({
    summary: "The password is too short ({place})",
    remedies: ["Use at least {shortest} characters."],
  }),
  "usage/unset": error({
    summary: "The environment variable {variable} is not set",
    remedies: ["Set {variable} to the password, and export it."],
  }),
  "usage/csv": error(({ names }: { readonly names: readonly string[] }) => ({
    summary: "CSV has one table",
    remedies: [`Select one section, such as \`--section ${names[0]}\`. The sections are ${names.join(", ")}.`],
  })),
  "usage/report": error(({ file, extensions }: Words<"file"> & { extensions: readonly string[] }) => ({
    summary: `The format of the report ${file} is unknown`,
    detail: `The extension sets the format: ${extensions.join(", ")}.`,
    remedies: ["Use a file name such as plan.html."],
  })),
  "usage/stack_yaml": error({
    summary: "A stack has no YAML to format or to expand",
    remedies: ["Remove --app and --stack."],
  }),
  "usage/stack_export": error({
    summary: "A stack is already a Terraform configuration",
    remedies: [
      "Install the provider with `hostform terraform install`. Then run Terraform in the folder of the stack.",
    ],
  }),
  "usage/stack": error({
    summary: "`hostform {command}` does not work on a stack",
    remedies: ["Remove --app, --stack and --var."],
  }),
  "usage/one_stack": error(({ reason, stacks }: Words<"reason"> & { stacks: readonly string[] }) => ({
    summary: `${reason}, but the project has ${stacks.length} stacks`,
    detail: `The stacks are ${stacks.join(", ")}.`,
    remedies: [`Choose one: \`--only ${stacks[0]}\`.`],
  })),
  "usage/exists": error({
    summary: "{file} already exists, with other contents",
    remedies: ["Choose another file. To replace the existing file, pass --force."],
  }),
  "usage/declared": error({
    summary: "{name} already exists",
    detail: "{file}",
    remedies: ["Edit {name}, or move it to another folder first."],
  }),
  "usage/no_schema": error({
    summary: "{name} already exists, and is not a schema of hostform",
    detail: "{file}",
    remedies: ["Pass another file: `hostform schema FILE`."],
  }),
  "usage/scale": error(({ digits }: Words<"digits">) => ({
    summary: `${JSON.stringify(digits)} is not a number of decimal places`,
    remedies: ["Enter an integer from 0 to 4, or nothing."],
  })),
  "usage/unwritable": error({
    summary: "{name} cannot be written: {reason}",
    detail: "{file}",
    remedies: ["Check that the folder exists and is writable, or pass another folder with `-C`."],
  }),
  "usage/no_pending": error({
    summary: "The address is missing",
    remedies: ["Pass the address of a pending create. `hostform resolve` lists the pending creates."],
  }),
  "usage/adopt_id": error({
    summary: "--adopt requires an id from the API or the invoice",
    remedies: ["Check that the shell variable of the id is set."],
  }),
  "usage/no_single": error({
    summary: "The API cannot read one of the {name}",
    remedies: ["List all {name}: `hostform {name}`."],
  }),
  "usage/runner": error({
    summary: "{what} contains a command for the CI runner",
    detail: "It has `##[`, `##vso[`, or `::` at the beginning of a line. The runner would execute it.",
    remedies: ["Print it outside CI, or as JSON."],
  }),
  "usage/program": error(({ command, reason }: Words<"command" | "reason">) => ({
    summary: `${JSON.stringify(command)} cannot be run: ${reason}`,
    remedies: ["After `--`, pass a program that is on the PATH."],
  })),
  "usage/browser": error({
    summary: "The browser could not be opened: {failure}",
    remedies: ["To print the URL, run the command without `--open`."],
  }),
  "usage/platform": error(({ platform, platforms }: Words<"platform"> & { platforms: readonly string[] }) => ({
    summary: `The provider cannot be installed for ${inQuotes(platform)}`,
    detail: `The npm package has the provider for ${some(platforms)}.`,
    remedies: ["Pass one of these platforms. For another platform, use its single executable (docs/install.md)."],
  })),
  "usage/platform_of_executable": error(({ platform }: Words<"platform">) => ({
    summary: `The provider cannot be installed for ${inQuotes(platform)}`,
    detail: "A single executable contains the provider for its own platform only.",
    remedies: ["Install with the npm package, or with the executable of that platform."],
  })),
  "usage/no_home": error({
    summary: "HOME is not set, so the provider folder of Terraform is unknown",
    remedies: ["Pass the folder: `hostform terraform install --mirror DIR`."],
  }),
  "usage/heartbeat": error({
    summary: "The heartbeat to {host} needs an https URL",
    remedies: ["Use an https URL, or allow http with --insecure-http."],
  }),
  "monitor.heartbeat": warning({ summary: "The heartbeat to {host} failed: {reason}", remedies: ["{fix}"] }),
  "monitor.notify": warning({
    summary: "systemd receives no status of this run: systemd-notify {reason}",
    remedies: [
      "Install systemd-notify, and set `NotifyAccess=all` in the unit. Or set `Type=exec`, and remove `WatchdogSec`.",
    ],
  }),
  "terraform.install": error({
    summary: "The provider cannot be installed into {mirror}: {reason}",
    remedies: ["Check that the folder is writable, or choose another folder with `--mirror`."],
  }),
  "terraform.install/unbuilt": error({
    summary: "The Terraform provider is not built",
    detail: "{file} does not exist: hostform runs from its sources here.",
    remedies: ["Build the provider first: `npm run build` in {root}."],
  }),
  "terraform.install/other": error(({ version, folder }: Words<"version" | "folder">) => ({
    summary: `Another build of version ${version} is installed`,
    detail: `${folder}\nEach folder that uses this build has its hash in .terraform.lock.hcl. Terraform rejects another build of the same version, even with \`terraform init -upgrade\`.`,
    remedies: [`Replace the build with --force. Then, in each of these folders: ${NEW_HASH}`],
  })),
  "terraform.export": error({
    summary: "The configuration cannot be written to {file}: {reason}",
    remedies: ["Check that the folder exists and is writable, or pass another folder with `--out`."],
  }),
  "plan.saved/report": error({
    summary: "The report cannot be written to {file}: {reason}",
    remedies: ["Check that the folder exists and is writable. Nothing was changed."],
  }),
  "plan.address": error({
    summary: "No address in the state begins with {prefix}.{fix}",
    remedies: ["List all addresses: `hostform state list`."],
  }),
  "plan.pending": error({
    summary: "{address} has no id in the state",
    detail: "The result of its order is unknown.",
    remedies: ["Run `hostform apply`, which finds the result."],
  }),
  "plan.held_back": error(({ held, others }: Words<"others"> & { held: number }) => ({
    summary: `${held} ${held === 1 ? "resource is" : "resources are"} skipped`,
    detail: "Nothing was changed.",
    remedies: [`Fix the errors of the plan, or apply the ${others} with --partial.`],
  })),
  "api.malformed/password": error({
    summary: "The password of service {id} was reset, but the response does not contain the new password",
    detail: "The API returns a generated password only in this response. The fields of the response: {names}.",
    remedies: [
      "Set a password on the server or in the host's dashboard. If you run this command again, it resets the password again, probably with the same response.",
    ],
  }),
  "apply.declined": error({ summary: "Not approved. Nothing was changed" }),
  "apply.declined/unasked": error({
    summary: "Cannot ask for approval: standard input is not a terminal",
    remedies: ["To {command} without approval, pass {flags}. Nothing was changed."],
  }),
  "apply.declined/lock": error({ summary: "Not approved", detail: "The state stays locked." }),
  interrupted: error({ summary: "Interrupted. Nothing was changed" }),
  "interrupted/report": error({
    summary: "This run has no plan yet, or was interrupted before its plan",
    remedies: ["Wait until the run ends, or run the command again."],
  }),
  "config.unreadable": error({
    summary: "{file} cannot be read: {reason}",
    remedies: ["Check the path and its permissions. No file was changed."],
  }),
  "state.output/none": warning(({ remedies }: Way) => ({ summary: "The state has no outputs", remedies })),
  "state.output/empty": error(({ name, remedies }: Way & Words<"name">) => ({
    summary: `The state has no output ${name}`,
    detail: "The state has no outputs.",
    remedies,
  })),
  "state.output/unknown": error(({ name, known, fix }: Words<"name" | "fix"> & { known: readonly string[] }) => ({
    summary: `The state has no output ${name}.${fix}`,
    detail: `The outputs are ${known.join(", ")}.`,
    remedies: ["Correct the name. If the output is new in the declaration, run `hostform apply` first."],
  })),
  "state.output/raw": error(({ name, what }: Words<"name" | "what">) => ({
    summary: `The output "${name}" cannot be printed raw: it is ${what}`,
    detail: "--raw prints strings, numbers and booleans.",
    remedies: [`Use \`hostform output --json ${shellWord(name)}\`.`],
  })),
} satisfies Catalogue;

/** Creates a diagnostic from the catalogue. */
export const problem = problemsOf(catalogue);

/** Throws a message of the catalogue. */
export const raise: Raise<typeof catalogue> = raiseOf(catalogue);
