/** `plan` and `validate`: what would change, and whether the declaration is valid. Nothing is changed. */
import { fail, isError, type Plan, unfulfilledIn } from "../core/model/index.ts";
import { hasChanges } from "../project/apply.ts";
import { commandLine } from "../project/command-line.ts";
import type { GuardFlags } from "../project/guards.ts";
import { type Run, withPlan } from "../project/plan.ts";
import { placeForPlan } from "../project/plan-file.ts";
import { originOf } from "../project/plan-origin.ts";
import { writeSavedPlan } from "../project/saved-plan.ts";
import {
  diagnosticJson,
  planJson,
  plural,
  renderDiagnostics,
  renderPlan,
  renderPlanHtml,
  renderPlanMarkdown,
} from "../report/index.ts";
import { type Action, printJson, say, type Terminal } from "./terminal.ts";

/** What a plan can be printed as; `json` is `--json`. */
type PlanFormat = "text" | "json" | "markdown" | "html";

interface PlanFlags extends GuardFlags {
  readonly target?: readonly string[];
  readonly reorder?: readonly string[];
  readonly orderAnyway?: readonly string[];
  readonly destroy?: boolean;
  readonly detailedExitcode?: boolean;
  readonly format?: PlanFormat;
  /** Where to save the plan, for `apply FILE`. */
  readonly out?: string;
}

/** `hostform plan`: shows what differs; changes nothing, neither in the account nor in the state. */
export const runPlan: Action<PlanFlags> = async (terminal, project, flags) => {
  const options = {
    command: "plan" as const,
    mode: flags.destroy ? ("destroy" as const) : ("apply" as const),
    targets: flags.target ?? [],
    reorder: flags.reorder ?? [],
    orderAnyway: flags.orderAnyway ?? [],
    guards: flags,
  };
  const format = formatOf(terminal, flags);
  // Before anything is asked of the account: a mistake in the name is reported at once.
  if (flags.out !== undefined) await placeForPlan(project.source, flags.out);
  return withPlan(project, options, async (run) => {
    const { plan, desired, store } = run;
    print(terminal, run, format);
    if (flags.out !== undefined) {
      if (!isApplicable(plan)) say(terminal, "The plan was not saved, because it cannot be applied.");
      else {
        const origin = await originOf(project.source, desired, store.state);
        await writeSavedPlan(project, flags.out, { request: options, origin, plan });
        const command = commandLine(project.source, "apply", [flags.out]);
        say(terminal, `The plan is saved. To apply exactly this plan: ${command}`);
      }
    }
    if (plan.diagnostics.some(isError) || plan.pending.length > 0) return 1;
    if (flags.out !== undefined && !isApplicable(plan)) return 1;
    const isUnseen = unfulfilledIn(plan).length > 0 || plan.unread !== undefined;
    return flags.detailedExitcode && (hasChanges(plan) || isUnseen) ? 2 : 0;
  });
};

/** What was not compared must not be passed over by an apply of the rest. */
const isApplicable = ({ diagnostics, unread }: Plan) => !diagnostics.some(isError) && unread === undefined;

function formatOf(terminal: Terminal, { format }: PlanFlags): PlanFormat {
  if (!terminal.json) return format ?? "text";
  if (format === undefined || format === "json") return "json";
  return fail("usage", `--json and --format ${format} cannot be combined`, { remedies: ["Pass one of them."] });
}

function print(terminal: Terminal, { plan, providers }: Run, format: PlanFormat): void {
  const { moneyScale } = providers;
  const { remedies } = terminal.outLook;
  if (format === "json") printJson(terminal, planJson(plan, { remedies }));
  else if (format === "markdown") terminal.out(renderPlanMarkdown(plan, { moneyScale, remedies }));
  else if (format === "html") terminal.out(renderPlanHtml(plan, { moneyScale, remedies }));
  else terminal.out(renderPlan(plan, { ...terminal.outLook, moneyScale, body: !terminal.quiet }));
}

/** `hostform validate`: checks the declaration without a token and without any request. */
export const runValidate: Action = async (terminal, project) => {
  const { desired, diagnostics } = await project.declaration.check();
  const errors = diagnostics.filter(isError).length;
  if (terminal.json) {
    printJson(terminal, {
      format_version: "1.0",
      valid: errors === 0,
      error_count: errors,
      warning_count: diagnostics.length - errors,
      diagnostics: diagnostics.map((one) => diagnosticJson(one, terminal.outLook.remedies)),
    });
  } else {
    if (diagnostics.length > 0) terminal.err(renderDiagnostics(diagnostics, terminal.errLook));
    if (desired !== undefined) {
      const files = plural(desired.files.length, "file");
      terminal.out(
        `${project.source.stack === undefined ? "The declaration" : "The stack"} is valid: ${plural(desired.resources.length, "resource")} in ${files}.\n`,
      );
    }
  }
  return errors === 0 ? 0 : 1;
};
