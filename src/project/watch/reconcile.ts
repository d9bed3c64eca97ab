import {
  type ApplyEvent,
  type ApplyResult,
  type Change,
  type Desired,
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
  readonly desired: Desired;
  /** All declared addresses, even outside of the targets. */
  readonly all: ReadonlySet<string>;
  /**
   * Result. `as_declared`: no changes. `differs`: changes were reported. `refused`: the plan has errors. `applied`: all
   * changes were applied. `incomplete`: some changes were not applied. `widened`: the changes need a complete check first.
   */
  readonly end: "as_declared" | "differs" | "refused" | "applied" | "incomplete" | "widened";
  /** Result of the apply. */
  readonly result?: ApplyResult;
  /** Number of API requests of the check. */
  readonly requests: number;
  /** Smallest request limit of the accounts, per minute. */
  readonly perMinute: number;
  readonly moneyScale: MoneyScale;
}

export interface ReconcileOptions {
  /** Addresses of a partial check. */
  readonly targets: readonly string[];
  readonly autoApprove: boolean;
  readonly guards: GuardFlags;
  /** Called with the plan before the apply. */
  onPlan(plan: Plan, moneyScale: MoneyScale): void;
  /** Runs an apply and reports its progress. */
  applying(
    plan: Plan,
    stop: AbortSignal,
    work: (onEvent: (event: ApplyEvent) => void) => Promise<ApplyResult>,
  ): Promise<ApplyResult>;
}

/**
 * Runs one check while the state is locked: plans, and applies if `autoApprove` is set. Skips changes that errors of single
 * resources affect.
 * @throws HostformError of the plan and the apply.
 */
export function reconcileOnce(project: Project, options: ReconcileOptions): Promise<Reconciliation> {
  const { targets, autoApprove, guards } = options;
  const request = { command: "watch", mode: "apply", targets, reorder: [], guards, unattended: autoApprove } as const;
  return withPlan(project, request, async (run) => {
    const { plan, desired, all, providers } = run;
    const looked = (end: Reconciliation["end"], result?: ApplyResult): Reconciliation => ({
      plan,
      desired,
      all,
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
    // Limits count the changes of the complete project, so a partial check applies only changes without a limit.
    if (targets.length > 0 && !plan.changes.every(isHarmless)) return looked("widened");
    const result = await options.applying(plan, run.interrupts.stop, (onEvent) => carryOut(run, {}, onEvent));
    if (isFulfilled(result)) return looked(changing ? "applied" : "as_declared", result);
    return looked("incomplete", result);
  });
}

/** Returns true if the change is an in-place update or nothing. No limit counts these. */
function isHarmless(change: Change): boolean {
  return isNoOp(change) || (change.actions[0] === "update" && change.importing === undefined);
}

/** Returns true if a check succeeded. */
export const isGood = ({ end, plan }: Pick<Reconciliation, "end" | "plan">): boolean =>
  ["as_declared", "differs", "applied"].includes(end) && plan.pending.length === 0;

/** Returns the errors of an apply. */
export function errorsOf({ outcomes, diagnostics }: ApplyResult): Diagnostic[] {
  return [...outcomes.flatMap((outcome) => outcome.diagnostics), ...diagnostics].filter(isError);
}
