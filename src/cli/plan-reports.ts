/** Prints a plan in all formats, and writes the files of `--report`. */
import path from "node:path";
import { replace } from "../core/files/index.ts";
import { type Diagnostic, isProjectName, type Plan } from "../core/model/index.ts";
import { diagnosticsOf } from "../project/failure.ts";
import type { GuardFlags } from "../project/guards.ts";
import { declaredPlaces } from "../project/identity.ts";
import { placeForOutput } from "../project/output-place.ts";
import type { Project } from "../project/project.ts";
import { leaving, leavingJson } from "../project/redaction.ts";
import type { ProjectSource } from "../project/source.ts";
import { forStack } from "../project/stack-diagnostics.ts";
import { annotationsOf, planJson, renderPlan, renderPlanHtml, renderPlanMarkdown } from "../report/index.ts";
import { orRefuse } from "./files.ts";
import { problem, raise } from "./messages.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

/** Output formats of a plan. `json` equals `--json`. */
export type PlanFormat = "text" | "json" | "markdown" | "html";

/** Returns the `money_scale` of a provider. Undefined if unknown. */
type Scale = (currency: string, provider: string) => number | undefined;

/** Returns the format that `--format` or `--json` selects. @throws HostformError `usage` if they contradict. */
export function formatOf(terminal: Terminal, { format }: { readonly format?: PlanFormat }): PlanFormat {
  if (!terminal.json) return format ?? "text";
  if (format === undefined || format === "json") return "json";
  return raise("usage/combined", { options: `--json and --format ${format}` });
}

export function printPlan(terminal: Terminal, plan: Plan, moneyScale: Scale, format: PlanFormat): void {
  const { remedies } = terminal.outLook;
  if (format === "json") printJson(terminal, "plan", planJson(plan, { remedies, moneyScale }));
  else if (format === "text")
    terminal.out(renderPlan(plan, { ...terminal.outLook, moneyScale, body: !terminal.quiet }));
  else terminal.out(documentOf(terminal, plan, moneyScale, format));
}

function documentOf({ outLook: { remedies } }: Terminal, plan: Plan, moneyScale: Scale, format: PlanFormat): string {
  const render = { markdown: renderPlanMarkdown, html: renderPlanHtml, text: renderPlan, json: renderPlan }[format];
  return render(plan, { color: false, moneyScale, remedies });
}

const EXTENSIONS: Readonly<Record<string, PlanFormat>> = {
  ".html": "html",
  ".json": "json",
  ".md": "markdown",
  ".txt": "text",
};

export interface PlanningFlags extends GuardFlags {
  readonly base?: string;
  readonly refresh?: "all" | "changed" | "false";
  readonly refreshBudget?: number;
  readonly target?: readonly string[];
  readonly reorder?: readonly string[];
  readonly replace?: readonly string[];
  readonly orderAnyway?: readonly string[];
  /** Report files. The extension determines the format. */
  readonly report?: readonly string[];
}

/** Converts the options of a plan. */
export const planningOf = (flags: PlanningFlags) => ({
  targets: flags.target ?? [],
  reorder: flags.reorder ?? [],
  replace: flags.replace ?? [],
  orderAnyway: flags.orderAnyway ?? [],
  guards: flags,
  refresh: flags.refresh === "false" ? ("none" as const) : flags.refresh,
  refreshBudget: flags.refreshBudget,
  base: flags.base,
});

/** Returns the working folder, and in CI also the folder of the repository. */
export const placesOf = ({ env, cwd }: ProjectSource) => ({ cwd, root: env.GITHUB_WORKSPACE ?? env.CI_PROJECT_DIR });

/**
 * Checks the files of `--report` before the first request. Rejects files of state and declaration.
 * @throws HostformError `usage` for an unknown extension, and as `placeForOutput` does.
 */
export async function reportPlaces({ source }: Pick<Project, "source">, files: readonly string[] = []) {
  const places = [];
  for (const file of files) {
    const format = EXTENSIONS[path.extname(file).toLowerCase()];
    if (format === undefined) raise("usage/report", { file, extensions: Object.keys(EXTENSIONS) });
    places.push({ file, format, target: await placeForOutput(source, file, "report") });
  }
  return places;
}

const UNSCALED: Scale = () => undefined;

/**
 * Prepares the report files of a run. Until the plan exists, each file says that the plan is missing, so that no file
 * contains an earlier plan. If the plan fails, the file contains the reason. Reports have no colors and no secrets.
 * @throws HostformError as {@link reportPlaces} does.
 */
export async function reportsOf(
  terminal: Terminal,
  project: Pick<Project, "source" | "redaction" | "declaration">,
  files?: readonly string[],
) {
  const places = await reportPlaces(project, files);
  let isPlanned = false;
  const writeAll = async (plan: Plan, moneyScale: Scale): Promise<void> => {
    const { redaction } = project;
    for (const { file, target, format } of places) {
      const text =
        format === "json"
          ? leavingJson(planJson(plan, { ...terminal.outLook, moneyScale }), redaction, 2)
          : leaving(documentOf(terminal, plan, moneyScale, format), redaction, format);
      await orRefuse(replace(target, text), (reason) => problem("plan.saved/report", { file, reason }));
    }
  };
  /** Returns an empty plan, for the report about a failed plan. */
  const unplanned = async (mode: Plan["mode"], diagnostics: readonly Diagnostic[]): Promise<Plan> => ({
    ...(await namesOf(project)),
    lineage: "",
    serial: 0,
    timestamp: new Date(terminal.clock.now()).toISOString(),
    mode,
    changes: [],
    drift: [],
    pending: [],
    diagnostics,
    cost: [],
    requests: { read: 0, apply: 0, seconds: 0 },
  });
  if (places.length > 0) await writeAll(await unplanned("apply", [problem("interrupted/report", {})]), UNSCALED);
  return {
    /** Writes the reports. In CI, annotates lines with errors and warnings. @throws HostformError `plan.saved`. */
    async write(plan: Plan, moneyScale: Scale): Promise<void> {
      isPlanned = true;
      terminal.annotate(annotationsOf(plan.diagnostics, placesOf(project.source), terminal.errLook.remedies));
      await writeAll(plan, moneyScale);
      for (const { file } of places) say(terminal, `Report: ${file}`);
    },
    /**
     * Runs the planning function. If it fails, writes the reason to the reports. With the format Markdown or HTML, also
     * prints it.
     */
    async orWhy<T>(mode: Plan["mode"], format: PlanFormat, work: () => Promise<T>): Promise<T> {
      try {
        return await work();
      } catch (error) {
        if (isPlanned) throw error;
        const plan = await unplanned(mode, forStack(project.source, diagnosticsOf(error)));
        // A CI job needs the name of the project to find its earlier comment.
        if (format === "html" || (format === "markdown" && plan.project !== ""))
          printPlan(terminal, plan, UNSCALED, format);
        // Throw the error of the plan, even if a report cannot be written.
        await writeAll(plan, UNSCALED).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** Returns the name of the project and its accounts. Empty if the declaration is unreadable. */
export async function namesOf({ declaration, source }: Pick<Project, "declaration" | "source">) {
  const { desired, partial } = await declaration.read().catch(() => ({ desired: undefined, partial: undefined }));
  const { project: name = "", providers = new Map() } = desired ?? partial ?? {};
  const project = isProjectName(name) ? name : "";
  return { project, places: project === "" ? [] : declaredPlaces(source, { project, providers }) };
}
