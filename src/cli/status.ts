/** Runs `status` and `audit`. Neither command changes the account or the state. */

import type { FailOn } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { leaving } from "../project/redaction.ts";
import { projectStatus } from "../project/status.ts";
import {
  AUDIT_SECTIONS,
  renderReport,
  renderReportCsv,
  renderReportHtml,
  renderReportMarkdown,
  SECTIONS,
  type SectionName,
  STATUS_SECTIONS,
} from "../report/index.ts";
import { raise } from "./messages.ts";
import type { FailOnFlags } from "./options.ts";
import { failedOn, printJson, type Terminal } from "./terminal.ts";

interface StatusCommandFlags extends FailOnFlags {
  readonly section?: readonly SectionName[];
  readonly target?: readonly string[];
  readonly provider?: string;
  readonly full?: boolean;
  readonly format?: "text" | "json" | "markdown" | "html" | "csv";
}

/** @param sections Sections without `--section`. */
const running =
  (sections: readonly SectionName[]) =>
  async (terminal: Terminal, project: Project, flags: StatusCommandFlags): Promise<number> => {
    const {
      section: names = sections,
      target: targets,
      provider,
      full,
      format = terminal.json ? "json" : "text",
    } = flags;
    if (terminal.json && format !== "json") raise("usage/combined", { options: `--json and --format ${format}` });
    const [first, ...others] = names;
    if (format === "csv" && (first === undefined || others.length > 0)) raise("usage/csv", { names: SECTIONS });
    const report = await projectStatus(project, { targets, provider, full });
    if (format === "json") printJson(terminal, "status", report);
    else if (format === "text") terminal.out(renderReport(report, names, terminal.outLook));
    else if (format === "csv") terminal.out(renderReportCsv(report, first ?? "services"));
    else {
      const render = { markdown: renderReportMarkdown, html: renderReportHtml }[format];
      terminal.out(leaving(render(report, names), project.redaction, format));
    }
    const code = report.attention.some(({ condition }) => condition === "error") ? 1 : 0;
    const isBlind = report.money.unread !== null;
    return failedOn(terminal, flags, new Set(report.holds as FailOn[]), code, isBlind);
  };

export const runStatus = running(STATUS_SECTIONS);
export const runAudit = running(AUDIT_SECTIONS);
