/** A plan of the library, and the forms in which diagnostics leave it. */
import { hash } from "node:crypto";
import { type ApplyResult, type Diagnostic, fail, HostformError, heldIn, type Plan } from "../core/model/index.ts";
import type { Seal } from "../core/record/index.ts";
import {
  type Attention,
  attentionOf,
  type DiagnosticJson,
  diagnosticJson,
  type MoneyScale,
  type PlanJson,
  planJson,
  renderPlan,
  renderPlanHtml,
  renderPlanMarkdown,
  scaleOf,
} from "../report/index.ts";
import { hasChanges, mayApply, requireApplicable } from "./apply.ts";
import type { Project } from "./project.ts";
import { leaving, type Redaction } from "./redaction.ts";
import { encodeSavedPlan, type SavedPlan, writeSavedPlan } from "./saved-plan.ts";
import { yamlRemedies } from "./stack-diagnostics.ts";

/** A plan that a program can inspect, print, save and apply. */
export class Planned implements Attention {
  /** Terraform's JSON format, as in `hostform plan --json`. */
  readonly json: PlanJson;
  readonly diagnostics: readonly DiagnosticJson[];
  readonly conditions: Attention["conditions"];
  readonly holds: Attention["holds"];
  readonly hasChanges: boolean;
  /** True if the complete plan can be applied: no errors, no skipped changes, and the token may read all declared objects. */
  readonly applicable: boolean;
  /** Addresses that are skipped because of an error. With {@link ApplyOptions.partial}, all other changes are applied. */
  readonly heldBack: readonly string[];
  readonly #project: Project;
  readonly #saved: SavedPlan;
  readonly #seal: Seal | undefined;
  #text: string | undefined;
  readonly #look: { readonly moneyScale: MoneyScale; readonly remedies: typeof yamlRemedies };

  /** @internal */
  constructor(project: Project, saved: SavedPlan, moneyScale: MoneyScale, seal?: Seal) {
    const { redaction } = project;
    const { plan } = saved;
    this.#project = project;
    this.#saved = saved;
    this.#seal = seal;
    this.#look = { moneyScale, remedies: yamlRemedies };
    this.json = redaction.redactValue(planJson(plan, this.#look)) as PlanJson;
    this.diagnostics = shown(redaction, plan.diagnostics);
    const { conditions, holds } = attentionIn(redaction, plan);
    this.conditions = conditions;
    this.holds = holds;
    this.hasChanges = hasChanges(plan);
    this.applicable = mayApply(plan, false);
    this.heldBack = heldIn(plan);
  }

  /** SHA-256 of the file that {@link save} writes, or that {@link LoadedProject.readPlan} read. A mandate names this digest. */
  get digest(): string {
    return this.#saved.digest ?? hash("sha256", this.#encoded());
  }

  #encoded(): string {
    this.#text ??= encodeSavedPlan(this.#saved, this.#project.redaction, this.#seal);
    return this.#text;
  }

  /** Returns the plan as text, as `hostform plan` prints it. */
  text(): string {
    return leaving(renderPlan(this.#saved.plan, { ...this.#look, color: false }), this.#project.redaction);
  }

  /** Returns the plan as Markdown for a review comment. */
  markdown(): string {
    return leaving(renderPlanMarkdown(this.#saved.plan, this.#look), this.#project.redaction, "markdown");
  }

  /** Returns the plan as a complete HTML page. */
  html(): string {
    return leaving(renderPlanHtml(this.#saved.plan, this.#look), this.#project.redaction, "html");
  }

  /** Returns the number of decimal digits in the amounts of a currency. Undefined if unknown. @internal */
  scaleOf(currency: string): number | undefined {
    return scaleOf(this.#saved.plan.changes, currency, this.#look.moneyScale);
  }

  /** Writes the plan to a file, relative to the project's folder. @throws HostformError if the plan cannot be applied. */
  save(file: string): Promise<void> {
    const { redaction } = this.#project;
    return hiding(redaction, async () => {
      requireApplicable(this.#saved.plan, true);
      await writeSavedPlan(this.#project, file, this.#saved, this.#encoded());
    });
  }

  /** @internal */
  static savedIn(plan: Planned): SavedPlan {
    return plan instanceof Planned ? plan.#saved : fail("usage", "The plan was not made by a project");
  }
}

export const attentionIn = (redaction: Redaction, plan: Plan, result?: ApplyResult) =>
  redaction.redactValue(attentionOf(plan, yamlRemedies, result)) as Attention;

export function shown(redaction: Redaction, diagnostics: readonly Diagnostic[]): readonly DiagnosticJson[] {
  const texts = diagnostics.map((one) => diagnosticJson(one, yamlRemedies));
  return redaction.redactValue(texts) as readonly DiagnosticJson[];
}

export async function hiding<T>(redaction: Redaction, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    throw new HostformError(redaction.redactValue(error.diagnostics) as readonly Diagnostic[]);
  }
}
