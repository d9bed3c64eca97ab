/** Runs `rehearse`: applies a plan in a sandbox with a copy of the account, and reports the forecast. */
import { remove, replace } from "../core/files/index.ts";
import type { Unpaid } from "../core/model/index.ts";
import { leavingJson } from "../project/redaction.ts";
import { rehearse } from "../project/rehearse/rehearse.ts";
import { readSavedPlan } from "../project/saved-plan.ts";
import { orRefuse } from "./files.ts";
import { problem } from "./messages.ts";
import { formatOf, type PlanFormat, reportPlaces } from "./plan-reports.ts";
import { type Action, printJson, say } from "./terminal.ts";

interface RehearseFlags {
  readonly months?: number;
  readonly faults?: boolean;
  readonly unpaid?: Unpaid;
  readonly format?: PlanFormat;
  /** Report files. The extension determines the format. */
  readonly report?: readonly string[];
}

/** Runs `hostform rehearse`. Changes neither the account nor the state. */
export const runRehearse: Action<RehearseFlags, [file?: string]> = async (terminal, project, flags, file) => {
  const format = formatOf(terminal, flags);
  const places = await reportPlaces(project, flags.report);
  // A failed rehearsal must not leave an earlier report.
  for (const { target } of places) remove(target);
  const saved = file === undefined ? undefined : await readSavedPlan(project, file);
  const { report, ...forms } = await rehearse(project, { ...flags, saved }, terminal.outLook.remedies);
  if (format === "json") printJson(terminal, "rehearse", report);
  else terminal.out(format === "text" ? forms.text(terminal.outLook) : forms[format]());
  for (const { file: name, target, format: form } of places) {
    const text = form === "json" ? leavingJson(report, project.redaction, 2) : forms[form]();
    await orRefuse(replace(target, text), (reason) => problem("plan.saved/report", { file: name, reason }));
    say(terminal, `Report: ${name}`);
  }
  return report.passed ? 0 : 1;
};
