/** A plan in each of its formats: printed, or written to files that others read. */
import path from "node:path";
import { replace } from "../core/files/index.ts";
import { type Diagnostic, fail, isProjectName, type Plan } from "../core/model/index.ts";
import { diagnosticsOf } from "../project/failure.ts";
import type { GuardFlags } from "../project/guards.ts";
import { declaredPlaces } from "../project/identity.ts";
import type { Project } from "../project/project.ts";
import { leaving, leavingJson } from "../project/redaction.ts";
import { placeForPlan } from "../project/saved-plan.ts";
import type { ProjectSource } from "../project/source.ts";
import { forStack } from "../project/stack-diagnostics.ts";
import { annotationsOf, planJson, renderPlan, renderPlanHtml, renderPlanMarkdown } from "../report/index.ts";
import { orFail } from "./files.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

/** Output formats of a plan. `json` equals `--json`. */
export type PlanFormat = "text" | "json" | "markdown" | "html";

/** Digits after the decimal point of amounts, where they are known. */
type Scale = (currency: string, provider: string) => number | undefined;

/** The format that `--format` and `--json` ask for. @throws HostformError `usage` for both. */
export function formatOf(terminal: Terminal, { format }: { readonly format?: PlanFormat }): PlanFormat {
  if (!terminal.json) return format ?? "text";
  if (format === undefined || format === "json") return "json";
  return fail("usage", `--json and --format ${format} cannot be combined`, { remedies: ["Pass one of them."] });
}

export function printPlan(terminal: Terminal, plan: Plan, moneyScale: Scale, format: PlanFormat): void {
  const { remedies } = terminal.outLook;
  if (format === "json") printJson(terminal, planJson(plan, { remedies }));
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
  ".htm": "html",
  ".json": "json",
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "text",
};

/** Options of everything that plans. */
export interface PlanningFlags extends GuardFlags {
  readonly base?: string;
  readonly refresh?: "all" | "changed" | "false";
  readonly refreshBudget?: number;
  readonly target?: readonly string[];
  readonly reorder?: readonly string[];
  readonly replace?: readonly string[];
  readonly orderAnyway?: readonly string[];
  /** Files to write the plan to before anything is asked, each in the format of its extension. */
  readonly report?: readonly string[];
}

/** Reads the options of a plan. */
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

/** Place of the repository in a CI. */
export const placesOf = ({ env, cwd }: ProjectSource) => ({ cwd, root: env.GITHUB_WORKSPACE ?? env.CI_PROJECT_DIR });

/**
 * The files of `--report`, checked before anything is asked of the account: a mistake in a name is reported at once. What
 * stands there is replaced, unless it belongs to the state or the declaration.
 * @throws HostformError `usage` for an extension that is not known, and as `placeForPlan` does.
 */
async function reportPlaces({ source }: Pick<Project, "source">, files: readonly string[] = []) {
  const places = [];
  for (const file of files) {
    const format = EXTENSIONS[path.extname(file).toLowerCase()];
    if (format === undefined) {
      fail("usage", `The format of the report ${file} is not known`, {
        detail: `Its extension decides: ${Object.keys(EXTENSIONS).join(", ")}.`,
        remedies: ["Name it, for example, plan.html."],
      });
    }
    places.push({ file, format, target: await placeForPlan(source, file, "report") });
  }
  return places;
}

const UNSCALED: Scale = () => undefined;

/**
 * The reports of a run (`--report FILE`), without colours and secrets. One plan serves all of them. What stands there after the
 * run is this run's: until there is a plan they say that there is none, also when the run is killed, and when none could be
 * made, why.
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
          ? leavingJson(planJson(plan, terminal.outLook), redaction, 2)
          : leaving(documentOf(terminal, plan, moneyScale, format), redaction, format);
      await orFail(replace(target, text), "plan.saved", `The report cannot be written to ${file}`, {
        remedies: ["Check that the folder exists and that you may write there. Nothing was changed."],
      });
    }
  };
  /** Makes a plan without changes, in place of a plan that failed. */
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
  if (places.length > 0) await writeAll(await unplanned("apply", [NOT_ENDED]), UNSCALED);
  return {
    /** Also puts errors and warnings beside their lines, where a CI shows them there. @throws HostformError `plan.saved` for a file that cannot be written. */
    async write(plan: Plan, moneyScale: Scale): Promise<void> {
      isPlanned = true;
      terminal.annotate(annotationsOf(plan.diagnostics, placesOf(project.source), terminal.errLook.remedies));
      await writeAll(plan, moneyScale);
      for (const { file } of places) say(terminal, `Report: ${file}`);
    },
    /**
     * Does what plans. When no plan can be made, the reports say why, and so does what goes to standard output as a comment or a page.
     * @throws what `work` throws.
     */
    async orWhy<T>(mode: Plan["mode"], format: PlanFormat, work: () => Promise<T>): Promise<T> {
      try {
        return await work();
      } catch (error) {
        if (isPlanned) throw error;
        const plan = await unplanned(mode, forStack(project.source, diagnosticsOf(error)));
        // A job finds its earlier comment by the project's name.
        if (format === "html" || (format === "markdown" && plan.project !== ""))
          printPlan(terminal, plan, UNSCALED, format);
        // Why there is no plan is more than why that cannot be written, and no earlier one stands there.
        await writeAll(plan, UNSCALED).catch(() => undefined);
        throw error;
      }
    },
  };
}

const NOT_ENDED: Diagnostic = {
  severity: "error",
  code: "interrupted",
  summary: "The run that writes this report has no plan yet, or was stopped before it had one",
  remedies: ["Wait for its end, or run the command again."],
};

/** The name of the project and its accounts, as far as its declaration can be read. */
export async function namesOf({ declaration, source }: Pick<Project, "declaration" | "source">) {
  const { desired, partial } = await declaration.read().catch(() => ({ desired: undefined, partial: undefined }));
  const { project: name = "", providers = new Map() } = desired ?? partial ?? {};
  const project = isProjectName(name) ? name : "";
  return { project, places: project === "" ? [] : declaredPlaces(source, { project, providers }) };
}
