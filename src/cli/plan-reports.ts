/** A plan in each of its formats: printed, or written to files that others read. */
import path from "node:path";
import { type Diagnostic, diagnosticsOf, fail, HostformError, isProjectName, type Plan } from "../core/model/index.ts";
import type { BaseOptions } from "../project/base.ts";
import type { GuardFlags } from "../project/guards.ts";
import { type RefreshOptions, refreshOf } from "../project/last-read.ts";
import { placeForPlan } from "../project/plan-file.ts";
import type { Project } from "../project/project.ts";
import type { ProjectSource } from "../project/source.ts";
import { forStack } from "../project/stack-diagnostics.ts";
import { annotationsOf, jsonText, planJson, renderPlan, renderPlanHtml, renderPlanMarkdown } from "../report/index.ts";
import { orFail, writeWhole } from "./files.ts";
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

/** Options of everything that plans. */
export interface PlanningFlags extends GuardFlags, RefreshOptions, BaseOptions {
  readonly target?: readonly string[];
  readonly reorder?: readonly string[];
  readonly orderAnyway?: readonly string[];
  /** Files to write the plan to before anything is asked, each in the format of its extension. */
  readonly report?: readonly string[];
}

/** What they ask for. */
export const planningOf = (flags: PlanningFlags) => ({
  targets: flags.target ?? [],
  reorder: flags.reorder ?? [],
  orderAnyway: flags.orderAnyway ?? [],
  guards: flags,
  ...refreshOf(flags),
  ...(flags.base !== undefined && { base: flags.base }),
});

/** Where a CI has the repository. */
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

type Reported = Pick<Project, "source" | "redaction" | "declaration">;

/**
 * The reports of a run (`--report FILE`), without colours and secrets. One plan serves all of them. What stands there after the
 * run is this run's: until there is a plan they say that there is none, also when the run is killed, and when none could be
 * made, why.
 */
export class Reports {
  readonly #terminal: Terminal;
  readonly #project: Reported;
  readonly #places: Awaited<ReturnType<typeof reportPlaces>>;
  /** Whether they hold a plan of this run. */
  #arePlanned = false;

  private constructor(terminal: Terminal, project: Reported, places: Awaited<ReturnType<typeof reportPlaces>>) {
    this.#terminal = terminal;
    this.#project = project;
    this.#places = places;
  }

  /** @throws HostformError as {@link reportPlaces} does. */
  static async of(terminal: Terminal, project: Reported, files?: readonly string[]): Promise<Reports> {
    const reports = new Reports(terminal, project, await reportPlaces(project, files));
    if (reports.#places.length > 0) await reports.#write(await reports.#without("apply", [NOT_ENDED]), () => undefined);
    return reports;
  }

  /** Also puts errors and warnings beside their lines, where a CI shows them there. @throws HostformError `plan.saved` for a file that cannot be written. */
  async write(plan: Plan, moneyScale: Scale): Promise<void> {
    this.#arePlanned = true;
    const { annotate, errLook } = this.#terminal;
    annotate(annotationsOf(plan.diagnostics, placesOf(this.#project.source), errLook.remedies));
    await this.#write(plan, moneyScale);
    for (const { file } of this.#places) say(this.#terminal, `Report: ${file}`);
  }

  async #write(plan: Plan, moneyScale: Scale): Promise<void> {
    const { redaction } = this.#project;
    for (const { file, target, format } of this.#places) {
      const json = () => `${jsonText(redaction.redactValue(planJson(plan, this.#terminal.outLook)), 2)}\n`;
      const text = format === "json" ? json() : redaction.redact(documentOf(this.#terminal, plan, moneyScale, format));
      await orFail(writeWhole(target, text), "plan.saved", `The report cannot be written to ${file}`, {
        remedies: ["Check that the folder exists and that you may write there. Nothing was changed."],
      });
    }
  }

  /**
   * Does what plans. When no plan can be made, the reports say why, and so does what goes to standard output as a comment or a page.
   * @throws what `work` throws.
   */
  async orWhy<T>(mode: Plan["mode"], format: PlanFormat, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.#arePlanned) await this.#sayWhy(mode, format, error);
      throw error;
    }
  }

  async #sayWhy(mode: Plan["mode"], format: PlanFormat, error: unknown): Promise<void> {
    const plan = await this.#without(mode, forStack(this.#project.source, diagnosticsOf(error)));
    // A job finds its earlier comment by the project's name.
    if (format === "html" || (format === "markdown" && plan.project !== ""))
      printPlan(this.#terminal, plan, () => undefined, format);
    // Why there is no plan is more than why that cannot be written, and no earlier one stands there.
    await this.#write(plan, () => undefined).catch(() => undefined);
  }

  /** What stands in place of a plan. */
  async #without(mode: Plan["mode"], diagnostics: readonly Diagnostic[]): Promise<Plan> {
    return {
      project: (await projectName(this.#project)) ?? "",
      lineage: "",
      serial: 0,
      timestamp: new Date(this.#terminal.clock.now()).toISOString(),
      mode,
      changes: [],
      drift: [],
      pending: [],
      diagnostics,
      cost: [],
      requests: { read: 0, apply: 0, seconds: 0 },
    };
  }
}

const NOT_ENDED: Diagnostic = {
  severity: "error",
  code: "interrupted",
  summary: "The run that writes this report has no plan yet, or was stopped before it had one",
  remedies: ["Wait for its end, or run the command again."],
};

/** The name of the project, as far as its declaration can be read. */
export async function projectName({ declaration }: Pick<Project, "declaration">): Promise<string | undefined> {
  const { desired, partial } = await declaration.read().catch(() => ({ desired: undefined, partial: undefined }));
  const name = (desired ?? partial)?.project ?? "";
  return isProjectName(name) ? name : undefined;
}

/** The scale of amounts is declared. A plan can be shown without its declaration: amounts then name their unit. */
export async function declaredScale({ declaration }: Pick<Project, "declaration">): Promise<Scale> {
  try {
    const providers = await declaration.providers();
    return (_, alias) => providers.get(alias)?.moneyScale;
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    return () => undefined;
  }
}
