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

/** How one look at the account ended. */
export interface Reconciliation {
  readonly plan: Plan;
  /**
   * `as_declared`: nothing to do. `differs`: there is, and it was only reported. `refused`: the plan has errors. `applied`:
   * all of it was done. `incomplete`: not all. `widened`: what events named cannot be put right without a look at everything.
   */
  readonly end: "as_declared" | "differs" | "refused" | "applied" | "incomplete" | "widened";
  /** Of a plan that was applied. */
  readonly result?: ApplyResult;
  /** API requests, and the smallest budget of the accounts per minute. */
  readonly requests: number;
  readonly perMinute: number;
  readonly moneyScale: MoneyScale;
}

export interface ReconcileOptions {
  /** Addresses; none: everything. */
  readonly targets: readonly string[];
  readonly autoApprove: boolean;
  readonly guards: GuardFlags;
  /** Called with a plan before anything of it is done. */
  onPlan(plan: Plan, moneyScale: MoneyScale): void;
  /** Runs an apply and shows its progress. */
  applying(
    plan: Plan,
    stop: AbortSignal,
    work: (onEvent: (event: ApplyEvent) => void) => Promise<ApplyResult>,
  ): Promise<ApplyResult>;
}

/**
 * One look: plan, and with `autoApprove` apply, exactly as the commands of these names do it; the state is locked meanwhile
 * and not a moment longer. Of a plan with errors of single resources, what they do not hold back is applied.
 * @throws HostformError what `plan` and `apply` throw.
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
    // The limits are for the plan of the whole project: what they count is never done by a plan of a part.
    if (targets.length > 0 && !plan.changes.every(isHarmless)) return looked("widened");
    const result = await options.applying(plan, run.interrupts.stop, (onEvent) => carryOut(run, {}, onEvent));
    if (isFulfilled(result)) return looked(changing ? "applied" : "as_declared", result);
    return looked("incomplete", result);
  });
}

/** A change in place, of something that is there: it orders nothing and removes nothing. */
function isHarmless(change: Change): boolean {
  return isNoOp(change) || (change.actions[0] === "update" && change.importing === undefined);
}

/** The errors of an apply, each once. */
export function errorsOf({ outcomes, diagnostics }: ApplyResult): Diagnostic[] {
  return [...outcomes.flatMap((outcome) => outcome.diagnostics), ...diagnostics].filter(isError);
}
