/** A plan in each of its formats: printed, or written to files that others read. */
import path from "node:path";
import { fail, type Plan } from "../core/model/index.ts";
import { placeForPlan } from "../project/plan-file.ts";
import type { Project } from "../project/project.ts";
import { jsonText, planJson, renderPlan, renderPlanHtml, renderPlanMarkdown } from "../report/index.ts";
import { fileFailure, writeWhole } from "./files.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

/** What a plan can be printed as; `json` is `--json`. */
export type PlanFormat = "text" | "json" | "markdown" | "html";

/** Digits after the decimal point of amounts, where they are known. */
type Scale = (currency: string, provider: string) => number | undefined;

/** The format that `--format` and `--json` ask for. @throws HostformError `usage` for both. */
export function formatOf(terminal: Terminal, { format }: { readonly format?: PlanFormat }): PlanFormat {
  if (!terminal.json) return format ?? "text";
  if (format === undefined || format === "json") return "json";
  return fail("usage", `--json and --format ${format} cannot be combined`, { remedies: ["Pass one of them."] });
}

/** Prints a plan on standard output. */
export function printPlan(terminal: Terminal, plan: Plan, moneyScale: Scale, format: PlanFormat): void {
  const { remedies } = terminal.outLook;
  if (format === "json") printJson(terminal, planJson(plan, { remedies }));
  else if (format === "text")
    terminal.out(renderPlan(plan, { ...terminal.outLook, moneyScale, body: !terminal.quiet }));
  else terminal.out(documentOf(terminal, plan, moneyScale, format));
}

function documentOf({ outLook: { remedies } }: Terminal, plan: Plan, moneyScale: Scale, format: PlanFormat): string {
  if (format === "markdown") return renderPlanMarkdown(plan, { moneyScale, remedies });
  if (format === "html") return renderPlanHtml(plan, { moneyScale, remedies });
  return renderPlan(plan, { color: false, remedies, moneyScale });
}

const EXTENSIONS: Readonly<Record<string, PlanFormat>> = {
  ".html": "html",
  ".htm": "html",
  ".json": "json",
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "text",
};

/** A file that a report goes to, and its format. */
interface ReportPlace {
  readonly file: string;
  readonly target: string;
  readonly format: PlanFormat;
}

/**
 * The files of `--report`, checked before anything is asked of the account: a mistake in a name is reported at once. What
 * stands there is replaced, unless it belongs to the state or the declaration.
 * @throws HostformError `usage` for an extension that is not known, and as `placeForPlan` does.
 */
export async function reportPlaces(
  project: Pick<Project, "source">,
  files: readonly string[] = [],
): Promise<ReportPlace[]> {
  const places: ReportPlace[] = [];
  for (const file of files) {
    const format = EXTENSIONS[path.extname(file).toLowerCase()];
    if (format === undefined) {
      fail("usage", `The format of the report ${file} is not known`, {
        detail: `Its extension decides: ${Object.keys(EXTENSIONS).join(", ")}.`,
        remedies: ["Name it, for example, plan.html."],
      });
    }
    places.push({ file, format, target: await placeForPlan(project.source, file, "report") });
  }
  return places;
}

/** Writes the reports of a plan, without colours and secrets. One plan serves all of them. */
export async function writeReports(
  terminal: Terminal,
  { redaction }: Pick<Project, "redaction">,
  places: readonly ReportPlace[],
  plan: Plan,
  moneyScale: Scale,
): Promise<void> {
  for (const { file, target, format } of places) {
    const json = () => `${jsonText(redaction.redactValue(planJson(plan, terminal.outLook)), 2)}\n`;
    const text = format === "json" ? json() : redaction.redact(documentOf(terminal, plan, moneyScale, format));
    await writeWhole(target, text).catch((error: unknown) =>
      fail("plan.saved", `The report cannot be written to ${file}: ${fileFailure(error)}`, {
        remedies: ["Check that the folder exists and that you may write there. Nothing was changed."],
      }),
    );
    say(terminal, `Report: ${file}`);
  }
}
