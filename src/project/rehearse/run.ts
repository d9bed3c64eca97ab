// Plans and applies on a stage.
import {
  type ApplyResult,
  type Diagnostic,
  effectsOf,
  ifExplained,
  isError,
  isFulfilled,
  type Plan,
  type ResourceState,
  type Unpaid,
} from "../../core/model/index.ts";
import { carryOut, hasChanges, mayApply, unchanged, withUnread } from "../apply.ts";
import { withPlan } from "../plan.ts";
import type { PlanRequest } from "../saved-plan.ts";
import { errorsOf } from "../watch/reconcile.ts";
import type { Sent, Stage } from "./stage.ts";

/** End of a plan or an apply. */
export interface Round {
  /** Undefined if there is no plan. */
  readonly plan?: Plan;
  /** Undefined if nothing was applied. */
  readonly result?: ApplyResult;
  readonly errors: readonly Diagnostic[];
  readonly requests: number;
  readonly records: ReadonlyMap<string, ResourceState>;
}

/** Texts about one address. */
export interface Left {
  readonly address: string;
  readonly text: string;
}

/** Plans as a new process, and applies if the plan has no error. @param isApplied False only plans. */
export async function runOn(
  stage: Stage,
  request: PlanRequest,
  isApplied: boolean,
  death?: AbortSignal,
): Promise<Round> {
  const options = { ...request, command: isApplied ? request.mode : ("plan" as const) };
  return withPlan(stage.runner(death), options, async (run): Promise<Round> => {
    const { plan, providers, store } = run;
    const end = (errors: readonly Diagnostic[], result?: ApplyResult): Round => {
      return { plan, errors, requests: providers.requests, records: store.state.resources, ...(result && { result }) };
    };
    if (!isApplied || !mayApply(plan, false)) return end(withUnread(plan).diagnostics.filter(isError));
    providers.refresh();
    const result = hasChanges(plan) ? await carryOut(run, {}, () => {}) : unchanged(plan);
    return end(errorsOf(result), result);
  }).catch(ifExplained(({ diagnostics }) => ({ errors: diagnostics, requests: 0, records: new Map() })));
}

/** Returns the work that a plan leaves, and the objects that wait. Empty if there is none. */
export function leftIn({ plan, errors }: Round): Left[] {
  const summaries = errors.map(({ address = "", summary }) => ({ address, text: summary }));
  if (plan === undefined) return summaries;
  const effects = effectsOf(plan).map(({ address, sentence }) => ({ address, text: sentence }));
  const pending = plan.pending.map((address) => {
    return { address, text: `${address}: the result of its create is unknown. A person must resolve it.` };
  });
  return [...effects, ...pending, ...summaries];
}

/** Returns the conditions that a plan shows. */
export const conditionsIn = ({ plan }: Round): Left[] =>
  (plan?.conditions ?? []).map(({ address, summary }) => ({ address, text: summary }));

/** Returns the request of a later run, which repeats no order. */
export const laterOf = ({ mode, targets, guards }: PlanRequest): PlanRequest => {
  return { mode, targets, reorder: [], ...(guards && { guards }) };
};

/** Maximum number of applies. */
const MOST_APPLIES = 4;

/** End of {@link converge}: the applies, and the plan after the last one. */
interface Convergence {
  readonly applies: readonly Round[];
  readonly after: Round;
  readonly converges: boolean;
  /** Time of the applies. */
  readonly seconds: number;
  /** Requests of the first apply. */
  readonly sent: readonly Sent[];
}

/** Applies until nothing is left, as a job does every hour. Invoices are paid between two applies. */
export async function converge(stage: Stage, first: PlanRequest, unpaid: Unpaid): Promise<Convergence> {
  const later = laterOf(first);
  const applies: Round[] = [];
  let seconds = 0;
  let sent: readonly Sent[] = [];
  for (let request = first; ; request = later) {
    const began = stage.now();
    const round = await runOn(stage, request, true);
    seconds += (stage.now() - began) / 1000;
    if (applies.length === 0) sent = stage.sent();
    applies.push(round);
    stage.pay(unpaid);
    stage.advance({ hours: 1 });
    const after = await runOn(stage, later, false);
    const { result } = round;
    const converges = leftIn(after).length === 0 && result !== undefined && isFulfilled(result);
    if (converges || result === undefined || applies.length === MOST_APPLIES)
      return { applies, after, converges, seconds, sent };
  }
}
