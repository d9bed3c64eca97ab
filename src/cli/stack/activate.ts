import path from "node:path";
import { fail, HostformError, isError } from "../../core/model/index.ts";
import type { Invocation } from "../io.ts";
import { namedFiles, variableGate } from "../untrusted.ts";
import { synthesize } from "./app.ts";
import { load, loadIfPossible, stacksAt } from "./open.ts";
import { inOrder, selected } from "./order.ts";
import { stateFile } from "./place.ts";
import { refuseSharedStates } from "./same-state.ts";
import type { ActiveStack, LoadedStack, Purpose, Stack, StackRun, StackSource, VariableOption } from "./stack.ts";
import { refuseTerraformArguments } from "./terraform-arguments.ts";
import { givenVariables } from "./variables.ts";
import { refuseWorkspaces } from "./workspace.ts";

/** The stacks that a command is to work on, in the order of their dependencies. */
export interface Chosen {
  readonly stacks: readonly LoadedStack[];
  readonly run: StackRun;
}

/**
 * Runs the app if there is one, reads the manifest and the files of the selected stacks. Nothing is asked of the account.
 * @throws HostformError with what is wrong with them.
 */
export async function chooseStacks(invocation: Invocation, source: StackSource, purpose: Purpose): Promise<Chosen> {
  const near = nearTo(invocation);
  refuseTerraformArguments(invocation.io.env, purpose);
  const at = source.app === undefined ? source.path : await synthesize(invocation, source.app);
  if (at === undefined) return fail("usage", "Which stack?", { fix: "Pass --app or --stack." });
  const opened = await stacksAt(at, near, invocation.options.untrusted !== true);
  const only = source.only.length === 0 && opened.meant !== undefined ? [opened.meant.name] : source.only;
  const ordered = inOrder(opened.stacks);
  const wanted = selected(ordered, only);
  if (purpose !== "validate" && purpose !== "other") refuseComplaints(opened.stacks);
  const stacks: LoadedStack[] = [];
  for (const stack of wanted) stacks.push(await load(stack, near));
  const others = ordered.filter((stack) => !wanted.includes(stack));
  const loaded = await Promise.all(others.map((stack) => loadIfPossible(stack, near)));
  const all = [...stacks, ...loaded.filter((stack) => stack !== undefined)];
  // Whoever looks at a state, or puts it right, may do so all the same.
  if (purpose !== "other" && invocation.options.stateNamed !== true)
    refuseSharedStates(all, invocation.io.env, near(at));
  const options = source.variables;
  refuseUndeclared(stacks, options);
  return {
    stacks,
    run: {
      purpose,
      source: at,
      project: invocation.options.dir,
      all,
      selected: stacks.length,
      options,
      planned: new Map(),
    },
  };
}

/** The invocation that works on one of the stacks: in its folder, with its state. */
export async function invocationOn(invocation: Invocation, stack: LoadedStack, run: StackRun): Promise<Invocation> {
  const { io, options } = invocation;
  const near = nearTo(invocation);
  await refuseWorkspaces(stack.folder, io.env, near(stack.folder));
  const { backend } = stack.outline;
  const state = stateFile(stack.folder, backend?.type === "local" ? backend.settings : {});
  const active: Invocation & { readonly stack: ActiveStack } = {
    ...invocation,
    options: { ...options, dir: stack.folder, files: [], state: options.stateNamed === true ? options.state : state },
    stack: { ...stack, run, given: [], diagnostics: [] },
  };
  const { given, diagnostics } = await givenVariables(stack, optionsFor(stack, run), {
    env: io.env,
    near,
    refuses: variableGate(active),
    named: namedFiles(active),
  });
  return { ...active, stack: { ...active.stack, given, diagnostics } };
}

/** An error that a construct tells of itself stops every stack, as the app's own CLI has it. */
function refuseComplaints(stacks: readonly Stack[]): void {
  const complaints = stacks.flatMap(({ annotations }) => annotations.filter(isError));
  if (complaints.length > 0) throw new HostformError(complaints);
}

/** With several stacks, `--var` is for those that declare the variable; one that none of them declares is a mistake. */
function optionsFor({ outline }: LoadedStack, { options, selected }: StackRun): readonly VariableOption[] {
  if (selected === 1) return options;
  return options.filter((option) => "file" in option || outline.variables.has(option.name));
}

function refuseUndeclared(stacks: readonly LoadedStack[], options: readonly VariableOption[]): void {
  if (stacks.length < 2) return;
  for (const option of options) {
    if ("file" in option || stacks.some(({ outline }) => outline.variables.has(option.name))) continue;
    fail("stack.variables", `None of the stacks declares a variable ${JSON.stringify(option.name)}`, {
      fix: "Correct the name, or leave `--var` out.",
    });
  }
}

function nearTo({ io }: Invocation): (file: string) => string {
  return (file) => path.relative(io.cwd, file) || ".";
}
