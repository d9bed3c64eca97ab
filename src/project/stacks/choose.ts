/** Selects stacks. Rejects settings that would make Terraform use other values or another state. */
import path from "node:path";
import { realPath } from "../../core/files/index.ts";
import { fail, HostformError, ifErrno, isError } from "../../core/model/index.ts";
import { raise } from "../messages.ts";
import { readOwn } from "../own-files.ts";
import type { ProjectSource } from "../source.ts";
import { namedFiles, variableGate } from "../trust.ts";
import { load, stacksAt, unlessMistaken } from "./files.ts";
import {
  inOrder,
  type LoadedStack,
  type Purpose,
  placeName,
  type StackRun,
  type StackSource,
  selected,
  stateFile,
  type VariableOption,
} from "./stack.ts";
import { givenVariables } from "./variables.ts";

/**
 * Reads the manifest and the files of the selected stacks. Sends no request.
 * @param at A folder or file, or the output folder of the app; absolute.
 * @returns the selected stacks in the order of their dependencies.
 * @throws HostformError for mistakes in the manifest and the files.
 */
export async function chooseStacks(
  source: ProjectSource,
  at: string,
  { only: named, variables: options, language }: Pick<StackSource, "only" | "variables" | "language">,
  purpose: Purpose,
) {
  const near = nearTo(source);
  const opened = await stacksAt(at, near, source.untrusted !== true);
  const only = named.length === 0 && opened.meant !== undefined ? [opened.meant.name] : named;
  const ordered = inOrder(opened.stacks);
  const wanted = selected(ordered, only);
  // As in the cdktf CLI, an error of a construct stops all stacks.
  const complaints = opened.stacks.flatMap(({ annotations }) => annotations.filter(isError));
  if (complaints.length > 0 && purpose !== "validate" && purpose !== "other") throw new HostformError(complaints);
  const stacks: LoadedStack[] = [];
  for (const stack of wanted) stacks.push(await load(stack, near));
  const others = ordered.filter((stack) => !wanted.includes(stack));
  const loaded = await Promise.all(others.map((stack) => unlessMistaken(load(stack, near))));
  const all = [...stacks, ...loaded.filter((stack) => stack !== undefined)];
  // Commands that inspect or repair a state are always allowed.
  if (purpose !== "other" && source.stateNamed !== true) await refuseSharedStates(all, source.env, near(at));
  refuseUndeclared(stacks, options);
  const run: StackRun = {
    purpose,
    source: at,
    project: source.dir,
    all,
    selected: stacks.length,
    options,
    language,
    planned: new Map(),
  };
  return { stacks, run };
}

/** Returns the project source for a stack: its folder and state. */
export async function sourceOn(source: ProjectSource, stack: LoadedStack, run: StackRun): Promise<ProjectSource> {
  const near = nearTo(source);
  await refuseWorkspaces(stack.folder, source.env, near(stack.folder));
  const { backend } = stack.outline;
  const state = stateFile(stack.folder, backend?.type === "local" ? backend.settings : {});
  const active = {
    ...source,
    dir: stack.folder,
    files: [],
    state: source.stateNamed === true ? source.state : state,
    stack: { ...stack, run, given: [], diagnostics: [] },
  };
  const { given, diagnostics } = await givenVariables(stack, optionsFor(stack, run), {
    env: source.env,
    near,
    refuses: variableGate(active),
    named: namedFiles(active),
  });
  return { ...active, stack: { ...active.stack, given, diagnostics } };
}

/** Returns the options for a stack. If several stacks are selected, each gets only variables that it declares. */
function optionsFor({ outline }: LoadedStack, { options, selected }: StackRun): readonly VariableOption[] {
  if (selected === 1) return options;
  return options.filter((option) => "file" in option || outline.variables.has(option.name));
}

function refuseUndeclared(stacks: readonly LoadedStack[], options: readonly VariableOption[]): void {
  if (stacks.length < 2) return;
  for (const option of options) {
    if ("file" in option || stacks.some(({ outline }) => outline.variables.has(option.name))) continue;
    raise("stack.variables/stray", { name: option.name });
  }
}

const nearTo =
  (source: ProjectSource) =>
  (file: string): string =>
    path.relative(source.cwd, file) || ".";

/** Backend types that hostform reads. The reader of the stack rejects all others. */
const KNOWN: readonly (string | undefined)[] = [undefined, "local", "http", "pg", "s3"];

/**
 * Rejects stacks with the same state: each would destroy or suspend the objects of the other.
 * @param shown Path of the stacks for messages.
 * @throws HostformError `stack.manifest`.
 */
async function refuseSharedStates(
  stacks: readonly LoadedStack[],
  env: Readonly<Record<string, string | undefined>>,
  shown: string,
): Promise<void> {
  const holders = new Map<string, string>();
  for (const { name, folder, outline, links = true } of stacks) {
    const { backend } = outline;
    if (!KNOWN.includes(backend?.type)) continue;
    const onDisk = backend === undefined || backend.type === "local";
    // Two paths may lead to the same file. An untrusted stack may not contain links, so do not follow them.
    const file = stateFile(folder, backend?.settings);
    const place = onDisk ? `local ${links ? realPath(file) : file}` : placeName(folder, backend, env);
    const other = holders.get(place);
    if (other !== undefined) {
      fail("stack.manifest", `${shown}: the stacks ${other} and ${name} keep their state in the same place`, {
        detail: "Each stack would remove the objects of the other. No request was sent.",
        remedies: [
          "Give each stack its own place: `path` of the local backend, `address` of http, `workspace` of pg, `key` of s3.",
        ],
      });
    }
    holders.set(place, name);
  }
}

/** Terraform options that change the plan. hostform does not support these. */
const DECIDING =
  /(?:^|[\s'"])--?(var|var-file|target|target-file|exclude|exclude-file|replace|state|state-out|destroy|refresh-only|chdir)(?![\w-])/;

/** Environment variables with Terraform options, by purpose of the run. */
const READ: Readonly<Record<Purpose, readonly string[]>> = {
  validate: [],
  plan: ["TF_CLI_ARGS", "TF_CLI_ARGS_plan"],
  apply: ["TF_CLI_ARGS", "TF_CLI_ARGS_apply", "TF_CLI_ARGS_plan"],
  destroy: ["TF_CLI_ARGS", "TF_CLI_ARGS_destroy", "TF_CLI_ARGS_plan"],
  other: [],
};

/**
 * Rejects Terraform options in the environment that would change the plan, such as values of variables.
 * @throws HostformError `stack.variables`. The message omits the options, because they may contain a secret.
 */
export function refuseTerraformArguments(env: Readonly<Record<string, string | undefined>>, purpose: Purpose): void {
  for (const name of READ[purpose]) {
    const option = DECIDING.exec(env[name] ?? "")?.[1];
    if (option === undefined) continue;
    raise("stack.variables/arguments", { name, option });
  }
}

/**
 * Rejects a workspace other than `default`, because Terraform would use another state.
 * @throws HostformError `stack.workspace`, `trust.file`.
 */
export async function refuseWorkspaces(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  shown: string,
): Promise<void> {
  const named = env.TF_WORKSPACE || (await chosen(folder, env.TF_DATA_DIR || undefined, shown));
  if (named === undefined || named === "default") return;
  const where = env.TF_WORKSPACE ? "TF_WORKSPACE names it" : `\`terraform workspace select\` chose it in ${shown}`;
  fail("stack.workspace", `The workspace ${JSON.stringify(named)} is selected; hostform supports only \`default\``, {
    detail: `${where}. Terraform keeps the state of each workspace in another place.`,
    remedies: [
      "Make a stack for each environment; or select `default`: unset TF_WORKSPACE, `terraform workspace select default`.",
    ],
  });
}

/** Returns the selected workspace. @param data Terraform's data folder from TF_DATA_DIR. Default: beside the stack. */
async function chosen(folder: string, data: string | undefined, shown: string): Promise<string | undefined> {
  const file = path.resolve(folder, data ?? ".terraform", "environment");
  // The user trusts the folder in TF_DATA_DIR.
  const roots = data === undefined ? [folder] : [path.dirname(file)];
  const named = { shown: path.join(shown, ".terraform", "environment"), roots };
  const text = await readOwn(file, named).catch(ifErrno(() => ""));
  return text.toString().trim() || undefined;
}

/** Returns the source on one stack, for programs. @throws HostformError `usage` if the folder has several stacks, and none is named. */
export async function sourceOnOne(
  source: ProjectSource,
  folder: string,
  only: string | undefined,
  variables: Readonly<Record<string, string>>,
): Promise<ProjectSource> {
  refuseTerraformArguments(source.env, "apply");
  const given = Object.entries(variables).map(([name, text]) => ({ name, text }));
  const named = { only: only === undefined ? [] : [only], variables: given };
  const { stacks, run } = await chooseStacks(source, folder, named, "apply");
  const [one, ...others] = stacks;
  if (one !== undefined && others.length === 0) return sourceOn(source, one, run);
  return fail("usage", `There are ${stacks.length} stacks: ${stacks.map(({ name }) => name).join(", ")}`, {
    remedies: ["Name one of them with `only`."],
  });
}
