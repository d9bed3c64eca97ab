import type { Change, Drift } from "./change.ts";
import { type Diagnostic, isError } from "./diagnostic.ts";
import type { Json, Mask } from "./value.ts";

/** The orders of a plan in one currency. Amounts are in the API's own unit. */
export interface CostLine {
  readonly currency: string;
  readonly orders: number;
  /** Sum of the known list prices; null when none is known. */
  readonly list: number | null;
  /** Sum of what will be billed; null when none is known. */
  readonly billed: number | null;
  /** How many of the orders have no known price. */
  readonly unknown: number;
}

/** What applying costs in API requests. */
export interface RequestEstimate {
  /** Requests already made to compute the plan. */
  readonly read: number;
  /** Requests that apply will make (polls estimated). */
  readonly apply: number;
  /** About how long apply will take, in seconds, within the request budget. */
  readonly seconds: number;
}

/** The difference between what is declared and what is: the one product of planning, a plain JSON value. */
export interface Plan {
  readonly project: string;
  readonly lineage: string;
  /** The serial of the state that the plan was made from. */
  readonly serial: number;
  /** ISO 8601, when it was made. */
  readonly timestamp: string;
  readonly mode: "apply" | "destroy";
  /** One entry for every resource that is declared or recorded and could be planned, no-ops too, in address order. */
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  /** One entry for every output that is declared or recorded, by name. */
  readonly outputs?: readonly OutputChange[];
  /** Addresses of creates without known outcome that applying this plan does not settle. */
  readonly pending: readonly string[];
  /** Addresses of what the token may not read, so that nothing is planned for them: such a plan cannot be applied. Absent: none. */
  readonly unread?: readonly string[];
  /** Errors forbid applying; warnings do not. */
  readonly diagnostics: readonly Diagnostic[];
  readonly cost: readonly CostLine[];
  readonly requests: RequestEstimate;
}

/** Addresses of what a plan leaves unfulfilled because a status is not understood. */
export const unfulfilledIn = ({ changes }: Pick<Plan, "changes">): string[] =>
  changes.flatMap(({ address, unfulfilled }) => (unfulfilled ? [address] : []));

/** What is planned for one output. */
export interface OutputChange {
  readonly name: string;
  readonly action: "no-op" | "create" | "update" | "delete";
  readonly before: Json;
  /** Null where unknown. */
  readonly after: Json;
  readonly after_unknown: Mask;
  /** Never shown. */
  readonly sensitive: boolean;
  /** A secret goes into it. What is only declared as sensitive (as CDKTF declares all that stacks share) need be none. */
  readonly secret?: true;
  /** Terraform's type of `after`, where all of it is known. */
  readonly type?: Json;
}

/** Whether applying the plan would record other outputs than there are. */
export function changesOutputs({ outputs = [] }: Pick<Plan, "outputs">): boolean {
  return outputs.some(({ action }) => action !== "no-op");
}

/** Whether applying the plan would record something under another address. */
export function changesAddresses({ changes }: Pick<Plan, "changes">): boolean {
  return changes.some(({ previousAddress }) => previousAddress !== undefined);
}

/** Whether applying the plan would change the state even if it changes nothing in the account. */
export function changesRecord(plan: Pick<Plan, "changes" | "outputs">): boolean {
  return changesOutputs(plan) || changesAddresses(plan);
}

/** What became of one change. */
export interface Outcome {
  readonly address: string;
  /**
   * `not-started`: no request of it was sent. `waiting`: nothing was done; it can be when what it belongs to is live (§3), which
   * is the host's part, or a payment's.
   */
  readonly result: "done" | "waiting" | "failed" | "skipped" | "not-started";
  readonly diagnostics: readonly Diagnostic[];
  /** An invoice that the order raised. */
  readonly invoice?: Invoice;
  /** A request of it left, and it is not known what became of it. */
  readonly unknown?: boolean;
  /** A request of it was answered, and the state could not be written since: what became of it is known, and not recorded. */
  readonly unrecorded?: true;
  /** What the resource now waits for: the payment of its invoice, a queued job, or somebody who says what its status means. */
  readonly awaiting?: Awaiting;
}

export type Awaiting = "payment" | "provisioning" | "job" | "status";

/** The invoice of an order (§2). Amounts are in the API's own unit. */
export interface Invoice {
  readonly id: string | null;
  readonly number: string | null;
  readonly currency: string | null;
  readonly total: number | null;
  readonly status: string | null;
  readonly due_date: string | null;
  /** Whether it is known to be paid. */
  readonly paid?: boolean;
}

/** The end of an apply. */
export interface ApplyResult {
  readonly outcomes: readonly Outcome[];
  readonly diagnostics: readonly Diagnostic[];
  readonly interrupted: boolean;
  /** Addresses of creates without known outcome, at the end. */
  readonly pending: readonly string[];
  /** Addresses of which the plan says {@link Change.unfulfilled}: applying it does not mend that. */
  readonly unfulfilled?: readonly string[];
  /** The user asked not to wait for queued jobs (`--no-wait`): one that is not done yet leaves nothing undone. */
  readonly noWait?: boolean;
  /** API requests made by the apply. */
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Whether an apply did all that its plan said, interrupted or not; the one place that decides exit code 0 or 1. A job that
 * is still queued (§3) is not done, unless the user asked not to wait for it; nor is what a status that is not understood
 * does not show. Waiting for a payment or for provisioning is the host's part: the order is placed.
 */
export function isFulfilled({
  outcomes,
  diagnostics,
  pending,
  unfulfilled = [],
  noWait = false,
}: ApplyResult): boolean {
  const isDone = ({ result, awaiting }: Outcome) =>
    result === "waiting" || (result === "done" && awaiting !== "status" && (awaiting !== "job" || noWait));
  return pending.length === 0 && unfulfilled.length === 0 && !diagnostics.some(isError) && outcomes.every(isDone);
}

/** What apply tells while it works; the report folder turns these into lines or Terraform's UI messages. */
export type ApplyEvent =
  | { readonly type: "start"; readonly address: string; readonly action: Progress; readonly id?: string }
  | { readonly type: "progress"; readonly address: string; readonly action: Progress; readonly seconds: number }
  | {
      readonly type: "complete";
      readonly address: string;
      readonly action: Progress;
      readonly seconds: number;
      readonly id?: string;
      readonly outcome: Outcome;
    }
  | {
      readonly type: "errored";
      readonly address: string;
      readonly action: Progress;
      readonly seconds: number;
      readonly outcome: Outcome;
    }
  | { readonly type: "waiting"; readonly addresses: readonly string[]; readonly seconds: number };

/** The verb of a running change. */
export type Progress =
  | "create"
  | "update"
  | "delete"
  | "forget"
  | "import"
  | "suspend"
  | "unsuspend"
  /** Suspended, and then out of the state. */
  | "suspend-and-forget";
