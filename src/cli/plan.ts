/** Runs `plan` and `validate`. Neither command changes the account. */
import { VERSION } from "../core/api/version.ts";
import {
  type Diagnostic,
  hasUnreadInvoices,
  heldIn,
  holding,
  isError,
  type RemedyText,
  unfulfilledIn,
} from "../core/model/index.ts";
import { hasChanges, mayApply, withUnread } from "../project/apply.ts";
import { notify } from "../project/notify/index.ts";
import { placeForOutput } from "../project/output-place.ts";
import { savedFrom, withPlan } from "../project/plan.ts";
import { writeSavedPlan } from "../project/saved-plan.ts";
import { commandLine } from "../project/stack-diagnostics.ts";
import {
  annotationsOf,
  codeQualityOf,
  diagnosticJson,
  plural,
  refusalOf,
  renderDiagnostics,
  sarifOf,
} from "../report/index.ts";
import { raise } from "./messages.ts";
import type { FailOnFlags } from "./options.ts";
import {
  formatOf,
  type PlanFormat,
  type PlanningFlags,
  placesOf,
  planningOf,
  printPlan,
  reportsOf,
} from "./plan-reports.ts";
import { type Action, failedOn, printJson, say } from "./terminal.ts";

interface PlanFlags extends PlanningFlags, FailOnFlags {
  readonly destroy?: boolean;
  readonly detailedExitcode?: boolean;
  readonly format?: PlanFormat;
  /** File for the saved plan, which `apply FILE` reads. */
  readonly out?: string;
  /** Locks the state. */
  readonly lock?: boolean;
}

/** Runs `hostform plan`. Changes neither the account nor the state. */
export const runPlan: Action<PlanFlags> = async (terminal, project, flags) => {
  const options = {
    command: "plan" as const,
    mode: flags.destroy ? ("destroy" as const) : ("apply" as const),
    ...planningOf(flags),
    lock: flags.lock,
  };
  const format = formatOf(terminal, flags);
  const reports = await reportsOf(terminal, project, flags.report);
  return reports.orWhy(options.mode, format, async () => {
    // Check the file name before the first request.
    if (flags.out !== undefined) await placeForOutput(project.source, flags.out, "plan");
    return withPlan(project, options, async (run) => {
      const isKept = flags.out === undefined || mayApply(run.plan, true);
      const plan = isKept ? run.plan : withUnread(run.plan);
      const { moneyScale } = run.providers;
      printPlan(terminal, plan, moneyScale, format);
      await reports.write(plan, moneyScale);
      // Outside of CI, the user reads the plan in the terminal.
      if (project.source.env.CI) await notify(project, { ...run, plan, moneyScale, errors: [], waits: true });
      if (flags.out !== undefined) {
        if (!isKept) say(terminal, `The plan was not saved. ${refusalOf(plan)}`);
        else {
          await writeSavedPlan(project, flags.out, await savedFrom(run, options));
          const command = commandLine(project.source, "apply", [flags.out]);
          const part =
            heldIn(plan).length === 0 ? "The plan is saved." : "The plan is saved without the skipped resources.";
          say(terminal, `${part} To apply exactly this plan: ${command}`);
        }
      }
      if (plan.diagnostics.some(isError) || plan.pending.length > 0) return 1;
      if (!isKept) return 1;
      const isUnseen = unfulfilledIn(plan).length > 0 || plan.unread !== undefined || heldIn(plan).length > 0;
      const code = flags.detailedExitcode && (hasChanges(plan) || isUnseen) ? 2 : 0;
      return failedOn(terminal, flags, holding(plan), code, hasUnreadInvoices(plan));
    });
  });
};

/** Returns the result of a check of the declaration. */
export function validationOf(diagnostics: readonly Diagnostic[], remedies: RemedyText) {
  const errors = diagnostics.filter(isError).length;
  return {
    valid: errors === 0,
    error_count: errors,
    warning_count: diagnostics.length - errors,
    diagnostics: diagnostics.map((one) => diagnosticJson(one, remedies)),
  };
}

interface ValidateFlags {
  readonly format?: "text" | "json" | "sarif" | "gitlab";
  /** Print the declaration with templates, defaults and includes expanded. */
  readonly expanded?: boolean;
}

/** Runs `hostform validate`: checks the declaration. Needs no token and sends no request. */
export const runValidate: Action<ValidateFlags> = async (terminal, project, { format = "text", expanded }) => {
  if (expanded && (terminal.json || format !== "text"))
    raise("usage/combined", { options: "--expanded and another format" });
  const { desired, diagnostics } = await project.declaration.check();
  const errors = diagnostics.filter(isError).length;
  const places = placesOf(project.source);
  const { remedies } = terminal.outLook;
  terminal.annotate(annotationsOf(diagnostics, places, remedies));
  if (terminal.json && format !== "text" && format !== "json")
    raise("usage/combined", { options: `--json and --format ${format}` });
  if (format === "sarif") terminal.document(sarifOf(diagnostics, places, remedies, VERSION), 2);
  else if (format === "gitlab") {
    terminal.document(codeQualityOf(diagnostics, places, remedies), 2);
  } else if (terminal.json || format === "json") {
    printJson(terminal, "validate", validationOf(diagnostics, remedies));
  } else {
    if (diagnostics.length > 0) terminal.err(renderDiagnostics(diagnostics, terminal.errLook));
    if (desired !== undefined && expanded) {
      const { expandedText } = await import("./fmt.ts");
      terminal.out(await expandedText(project));
    } else if (desired !== undefined) {
      const what = project.source.stack === undefined ? "The declaration" : "The stack";
      const resources = plural(desired.resources.length, "resource");
      terminal.out(`${what} is valid: ${resources} in ${plural(desired.files.length, "file")}.\n`);
    }
  }
  return errors === 0 ? 0 : 1;
};
