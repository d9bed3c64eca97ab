import { isError, isNoOp, type Plan } from "../../model/index.ts";
import { planJson, renderPlan } from "../../report/index.ts";
import type { GuardFlags } from "../guards.ts";
import { type Invocation, printJson } from "../io.ts";
import { withPlan } from "../run.ts";

export interface PlanFlags extends GuardFlags {
  readonly target?: readonly string[];
  readonly reorder?: readonly string[];
  readonly orderAnyway?: readonly string[];
  readonly destroy?: boolean;
  readonly detailedExitcode?: boolean;
}

/** `hostform plan`: shows what differs; changes nothing, neither in the account nor in the state. */
export async function runPlan(invocation: Invocation, flags: PlanFlags): Promise<number> {
  const options = {
    command: "plan" as const,
    mode: flags.destroy ? ("destroy" as const) : ("apply" as const),
    targets: flags.target ?? [],
    reorder: flags.reorder ?? [],
    orderAnyway: flags.orderAnyway ?? [],
    guards: flags,
  };
  return withPlan(invocation, options, async ({ plan, providers }) => {
    if (invocation.options.json) printJson(invocation, planJson(plan));
    else invocation.io.out(renderPlan(plan, { ...invocation.outLook, moneyScale: providers.moneyScale }));
    if (plan.diagnostics.some(isError) || plan.pending.length > 0) return 1;
    return flags.detailedExitcode && hasChanges(plan) ? 2 : 0;
  });
}

/** Whether applying the plan would do anything. */
export function hasChanges(plan: Plan): boolean {
  return plan.changes.some((change) => !isNoOp(change));
}
