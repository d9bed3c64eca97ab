/** Runs `rehearse`: applies a plan in a sandbox with a copy of the account, and reports the forecast. */
import { remove, replace } from "../core/files/index.ts";
import type { RehearsalReport, Unpaid } from "../core/model/index.ts";
import { leaving, leavingJson } from "../project/redaction.ts";
import { rehearse } from "../project/rehearse/rehearse.ts";
import { readSavedPlan } from "../project/saved-plan.ts";
import { rehearsalJson, renderRehearsal, renderRehearsalHtml, renderRehearsalMarkdown } from "../report/index.ts";
import { orRefuse } from "./files.ts";
import { problem } from "./messages.ts";
import { formatOf, type PlanFormat, reportPlaces } from "./plan-reports.ts";
import { type Action, printJson, say, type Terminal } from "./terminal.ts";

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
  const { months = 12, faults = false, unpaid = "none" } = flags;
  const format = formatOf(terminal, flags);
  const places = await reportPlaces(project, flags.report);
  // A failed rehearsal must not leave an earlier report.
  for (const { target } of places) remove(target);
  const saved = file === undefined ? undefined : await readSavedPlan(project, file);
  const report = await rehearse(project, { saved, months, faults, unpaid });
  const { remedies } = terminal.outLook;
  if (format === "json") printJson(terminal, "rehearse", rehearsalJson(report, remedies));
  else
    terminal.out(format === "text" ? renderRehearsal(report, terminal.outLook) : documentOf(terminal, report, format));
  for (const { file: name, target, format: form } of places) {
    const text =
      form === "json"
        ? leavingJson(rehearsalJson(report, remedies), project.redaction, 2)
        : leaving(documentOf(terminal, report, form), project.redaction, form);
    await orRefuse(replace(target, text), (reason) => problem("plan.saved/report", { file: name, reason }));
    say(terminal, `Report: ${name}`);
  }
  return report.passed ? 0 : 1;
};

function documentOf({ outLook: { remedies } }: Terminal, report: RehearsalReport, format: PlanFormat): string {
  if (format === "markdown") return renderRehearsalMarkdown(report, remedies);
  return format === "html"
    ? renderRehearsalHtml(report, remedies)
    : renderRehearsal(report, { color: false, remedies });
}
