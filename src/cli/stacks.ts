import { HostformError } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import type { ProjectSource } from "../project/source.ts";
import { throwingForStack } from "../project/stack-diagnostics.ts";
import { chooseStacks, refuseTerraformArguments, sourceOn } from "../project/stacks/choose.ts";
import { refuseSharedOrders } from "../project/stacks/same-orders.ts";
import type { LoadedStack, Purpose, StackSource } from "../project/stacks/stack.ts";
import { synthesize } from "../project/stacks/synthesize.ts";
import { escapeLine, firstOf, plural, renderDiagnostics } from "../report/index.ts";
import { raise } from "./messages.ts";
import { type Scope, spelledOption } from "./options.ts";
import { say, type Terminal } from "./terminal.ts";

interface Given {
  readonly command: string;
  readonly scope: Scope;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly words: readonly unknown[];
}

const PURPOSES: Readonly<Record<string, Purpose>> = {
  validate: "validate",
  plan: "plan",
  apply: "apply",
  watch: "apply",
  import: "apply",
  destroy: "destroy",
};

const ORDERING: readonly Purpose[] = ["validate", "plan", "apply"];

/** Maximum number of stack names in the last line, and in a list. */
const MAX_IN_LINE = 3;
const MAX_LISTED = 20;

/** Options that need a single state or plan. */
const FOR_ONE = [
  "out",
  "report",
  "format",
  "target",
  "reorder",
  "replace",
  "orderAnyway",
  "maxOrders",
  "maxSpend",
  "maxRemovals",
  "mandate",
  "receipt",
] as const;

/**
 * Runs a command on the stacks of `--app` or `--stack`. Each stack is a separate run with its own state.
 * @returns 1 if a stack failed or was skipped, otherwise the highest exit code.
 * @throws HostformError `usage` if several stacks are selected for a command that accepts one. Rethrows the error of a single
 * stack.
 */
export async function runOnStacks(
  terminal: Terminal,
  project: Project,
  chosen: StackSource,
  given: Given,
  work: (project: Project) => Promise<number>,
): Promise<number> {
  if (given.command === "export") raise("usage/stack_export", {});
  if (given.scope === "none") raise("usage/stack", { command: given.command });
  const destroying = given.command === "destroy" || given.flags.destroy === true;
  const purpose = destroying ? "destroy" : (PURPOSES[given.command] ?? "other");
  const { source } = project;
  refuseTerraformArguments(source.env, purpose);
  const { app, path = source.dir } = chosen;
  const at = app === undefined ? path : await synthesize(source, project.host, project.log, app);
  const { stacks, run } = await chooseStacks(source, at, chosen, purpose);
  const [only, ...others] = stacks;
  if (only === undefined) return 0;
  const on = async (stack: LoadedStack) => {
    const own = await sourceOn(source, stack, run);
    return throwingForStack(own, () => work(project.on(own)));
  };
  if (others.length === 0) return on(only);
  const reason = reasonForOne(terminal, source, given);
  if (reason !== undefined) raise("usage/one_stack", { reason, stacks: stacks.map(({ name }) => name) });
  // Reject the same order in several stacks before the first request.
  if (ORDERING.includes(purpose)) await refuseSharedOrders(project, stacks, run);
  return runSeveral(terminal, destroying ? stacks.toReversed() : stacks, destroying, on);
}

/** Runs the stacks one after another. @param destroying True if dependent stacks run first. */
async function runSeveral(
  terminal: Terminal,
  stacks: readonly LoadedStack[],
  destroying: boolean,
  on: (stack: LoadedStack) => Promise<number>,
): Promise<number> {
  const failed = new Map<string, "failed" | "interrupted" | "skipped">();
  let interrupted = false;
  const end = terminal.onInterrupt(() => {
    interrupted = true;
  });
  let [code, first] = [0, true];
  try {
    for (const stack of stacks) {
      if (interrupted) {
        failed.set(stack.name, "skipped");
        continue;
      }
      terminal.out(`${first ? "" : "\n"}Stack ${escapeLine(stack.name)}\n\n`);
      first = false;
      const dependents = stacks.filter(({ dependencies }) => dependencies.includes(stack.name));
      const before = destroying ? dependents.map(({ name }) => name) : stack.dependencies;
      const hindrance = before.find((name) => failed.has(name));
      if (hindrance !== undefined) {
        failed.set(stack.name, "skipped");
        const relation = destroying ? "which depends on it" : "which it depends on";
        const how = failed.get(hindrance) === "failed" ? "failed" : "was skipped";
        say(terminal, escapeLine(`Skipped: ${hindrance}, ${relation}, ${how}.`));
        continue;
      }
      const ended = await on(stack).catch((error: unknown) => {
        if (!(error instanceof HostformError)) throw error;
        terminal.err(renderDiagnostics(error.diagnostics, terminal.errLook));
        return 1;
      });
      if (ended === 1) failed.set(stack.name, interrupted ? "interrupted" : "failed");
      code = Math.max(code, ended);
    }
  } finally {
    end();
  }
  if (failed.size === 0) return code;
  const lines = [...failed].map(([name, how]) => `  ${escapeLine(name)} (${how})`);
  const list =
    lines.length > MAX_IN_LINE ? `\n${firstOf(lines, MAX_LISTED).join("\n")}` : ` ${lines.join(",").trim()}.`;
  say(terminal, `\n${plural(stacks.length, "stack")}, not completed:${list}`);
  return 1;
}

/** Returns why the command accepts only one stack. Undefined if it accepts several. */
function reasonForOne(
  terminal: Terminal,
  source: ProjectSource,
  { command, scope, flags, words }: Given,
): string | undefined {
  if (scope === "one") return `\`hostform ${command}\` works on one stack`;
  if (terminal.json) return "--json reports one stack";
  if (source.stateNamed === true) return "--state names the state of one stack";
  if (words.some((word) => word !== undefined)) return "A saved plan is of one stack";
  const flag = FOR_ONE.find((name) => flags[name] !== undefined);
  return flag && `${spelledOption(flag)} is for one stack`;
}
