import {
  type ApplyEvent,
  type ApplyResult,
  type Change,
  type Diagnostic,
  heldIn,
  isError,
  isFulfilled,
  isNoOp,
  isStopped,
  type Plan,
  unfulfilledIn,
} from "../../core/model/index.ts";
import type { MoneyScale } from "../../report/index.ts";
import { carryOut, hasChanges } from "../apply.ts";
import type { GuardFlags } from "../guards.ts";
import { withPlan } from "../plan.ts";
import type { Project } from "../project.ts";

/** Result of one check. */
export interface Reconciliation {
  readonly plan: Plan;
  /**
   * `as_declared`: no changes. `differs`: reported changes. `refused`: a plan with errors. `applied`: all changes are done.
   * `incomplete`: some are not. `widened`: the changes need a check of everything.
   */
  readonly end: "as_declared" | "differs" | "refused" | "applied" | "incomplete" | "widened";
  /** Result of the apply. */
  readonly result?: ApplyResult;
  /** Number of API requests. */
  readonly requests: number;
  /** Smallest request budget of the accounts. */
  readonly perMinute: number;
  readonly moneyScale: MoneyScale;
}

export interface ReconcileOptions {
  /** Addresses of a partial check. */
  readonly targets: readonly string[];
  readonly autoApprove: boolean;
  readonly guards: GuardFlags;
  /** Gets the plan before the apply. */
  onPlan(plan: Plan, moneyScale: MoneyScale): void;
  /** Runs an apply with its progress. */
  applying(
    plan: Plan,
    stop: AbortSignal,
    work: (onEvent: (event: ApplyEvent) => void) => Promise<ApplyResult>,
  ): Promise<ApplyResult>;
}

/**
 * Checks once: plans, and with `autoApprove` applies, while the state is locked. Applies the changes that errors of single resources do
 * not hold back.
 * @throws HostformError of a plan and an apply.
 */
export function reconcileOnce(project: Project, options: ReconcileOptions): Promise<Reconciliation> {
  const { targets, autoApprove, guards } = options;
  const request = { command: "watch", mode: "apply", targets, reorder: [], guards, unattended: autoApprove } as const;
  return withPlan(project, request, async (run) => {
    const { plan, providers } = run;
    const looked = (end: Reconciliation["end"], result?: ApplyResult): Reconciliation => ({
      plan,
      end,
      ...(result && { result }),
      requests: providers.requests,
      perMinute: providers.requestsPerMinute,
      moneyScale: providers.moneyScale,
    });
    options.onPlan(plan, providers.moneyScale);
    const changing = hasChanges(plan);
    const isPartial = autoApprove && changing && !isStopped(plan);
    if (plan.diagnostics.some(isError) && !isPartial) return looked("refused");
    const differs = changing || unfulfilledIn(plan).length > 0 || heldIn(plan).length > 0;
    if (!autoApprove) return looked(differs ? "differs" : "as_declared");
    // Limits count the changes of the whole project, so a partial plan makes no counted change.
    if (targets.length > 0 && !plan.changes.every(isHarmless)) return looked("widened");
    const result = await options.applying(plan, run.interrupts.stop, (onEvent) => carryOut(run, {}, onEvent));
    if (isFulfilled(result)) return looked(changing ? "applied" : "as_declared", result);
    return looked("incomplete", result);
  });
}

/** Returns true for an update in place: it orders and removes nothing. */
function isHarmless(change: Change): boolean {
  return isNoOp(change) || (change.actions[0] === "update" && change.importing === undefined);
}

/** Returns the errors of an apply. */
export function errorsOf({ outcomes, diagnostics }: ApplyResult): Diagnostic[] {
  return [...outcomes.flatMap((outcome) => outcome.diagnostics), ...diagnostics].filter(isError);
}
