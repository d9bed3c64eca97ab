// A plan, its changes and what they do to the account; and their results when it is applied.
import type { Condition } from "./condition.ts";
import type { VariableValue } from "./desired.ts";
import { type Diagnostic, isError, isOfOne } from "./errors.ts";
import type { Origin, Origins } from "./origin.ts";
import type { Invoice } from "./payment.ts";
import type { NewName, PolicyVerdict } from "./policy-verdict.ts";
import type { PrivateMark } from "./state.ts";
import type { Json, JsonObject, Mask } from "./value.ts";

/** The orders of a plan in one currency. Amounts are in the API's own unit. */
export interface CostLine {
  readonly currency: string;
  readonly orders: number;
  /** Sum of the known list prices; null when none is known. */
  readonly list: number | null;
  /** Sum of what will be billed; null when none is known. */
  readonly billed: number | null;
  /** Number of orders without a known price. */
  readonly unknown: number;
}

/** API requests that an apply takes. */
export interface RequestEstimate {
  /** Requests already made to compute the plan. */
  readonly read: number;
  /** Requests that apply will make (polls estimated). */
  readonly apply: number;
  /** About how long apply will take, in seconds, within the request budget. */
  readonly seconds: number;
}

/** Requests that a token may send if nobody else sends. Times are in milliseconds from now. */
export interface RequestOutlook {
  /** Times at which the counting requests stop to count, ascending. */
  readonly booked: readonly number[];
  readonly windowMs: number;
  /** Time of the last request: 0 or less. */
  readonly lastSentMs: number;
  /** Nothing leaves before: a host that refused a request asked for a pause. 0 or less: none did. */
  readonly pausedMs: number;
  /** Additional waits of the next requests after a short pause. */
  readonly slowMs: readonly number[];
  /** From a moment on, how many leave a minute at most and how far apart. The first from 0: what refusals taught changes with time. */
  readonly paces: readonly { readonly fromMs: number; readonly perMinute: number; readonly apartMs: number }[];
}

/** The same, with how its client sends. */
export interface RequestBudget extends RequestOutlook {
  /** Number of requests under way at the same time. */
  readonly sideBySide: number;
  /** From sending a request to its answer. */
  readonly latencyMs: number;
}

/** The difference between what is declared and what is: the one product of planning, a plain JSON value. */
export interface Plan {
  readonly project: string;
  /** The accounts that it is for. Absent: no account was opened. */
  readonly places?: readonly Place[];
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
  /** Addresses that the API did not show: they are compared with the record. Absent: none. */
  readonly unread?: readonly string[];
  /** The token lacks an ability to read what is declared, and nobody applies the plan: it has the changes of `unread`, too. */
  readonly forReading?: true;
  /** Changes that applying the plan leaves out, in address order. Absent: none. */
  readonly held?: readonly HeldBack[];
  /** Resources that were not read, by the user's choice: they are planned as recorded. Absent: everything was read. */
  readonly notRead?: readonly NotRead[];
  /** The commit since which only the changes were planned (`--base`), and how many resources were not. Absent: everything was. */
  readonly base?: { readonly ref: string; readonly commit: string; readonly not_planned: number };
  /** Conditions that no change ends, in address order. Absent: none. */
  readonly conditions?: readonly Condition[];
  /** Variables of the declaration, with their values. Absent: none. */
  readonly variables?: readonly VariableValue[];
  /** Hosts and domains that the plan lets in for the first time. Absent: none. */
  readonly newNames?: readonly NewName[];
  /** The policy of the run, and its verdicts, which the diagnostics show. Absent: the run has none. */
  readonly policy?: { readonly files: readonly string[]; readonly verdicts: readonly PolicyVerdict[] };
  /** Errors forbid applying; warnings do not. */
  readonly diagnostics: readonly Diagnostic[];
  readonly cost: readonly CostLine[];
  readonly requests: RequestEstimate;
}

/** An account, by what people know it by. */
export interface Place {
  /** Alias of the provider. */
  readonly provider: string;
  /** The project or, of several accounts, the provider; `SANDBOX`. */
  readonly name: string;
  /** `api.host.example`, with port and path where there are any. */
  readonly host: string;
  /** Services that the account shows or, if they were not listed, that are recorded. Null: neither is known. */
  readonly services: number | null;
  /** The domain of one of them. */
  readonly domain: string | null;
}

/** A change that waits until the trouble of a resource is over. */
export interface HeldBack extends Pick<Change, "address" | "type" | "actions"> {
  /** Address of the resource in trouble: its own, or one that it depends on. */
  readonly because: string;
}

/** Returns true if an error stops the whole plan. */
export const isStopped = ({ diagnostics }: Pick<Plan, "diagnostics">): boolean =>
  diagnostics.some((one) => isError(one) && !isOfOne(one));

/** Addresses whose declaration an apply of the plan does not fulfil, because the resource or another one is in trouble. */
export const heldIn = ({ diagnostics, held = [] }: Pick<Plan, "diagnostics" | "held">): string[] => {
  const refused = diagnostics.flatMap((one) => (isOfOne(one) && one.address !== undefined ? [one.address] : []));
  return [...new Set([...refused, ...held.map(({ address }) => address)])].sort();
};

/** Part of the account that a plan reads: everything, the objects that it changes, or the objects that its requests touch. */
export type RefreshMode = "all" | "changed" | "none";

/** A recorded resource that a plan did not read. */
export interface NotRead {
  readonly address: string;
  readonly type: string;
  /** The id of the object in whose listing it is: of a grant, the service. */
  readonly parent: string | null;
  /** Time of the last reading on this machine (ISO 8601); null: unknown. */
  readonly last_read: string | null;
}

/** Addresses of what a plan leaves unfulfilled because a status is not understood. */
export const unfulfilledIn = ({ changes }: Pick<Plan, "changes">): string[] =>
  changes.flatMap(({ address, unfulfilled }) => (unfulfilled ? [address] : []));

export interface OutputChange {
  readonly name: string;
  readonly action: "no-op" | "create" | "update" | "delete";
  readonly before: Json;
  /** Null where unknown. */
  readonly after: Json;
  readonly after_unknown: Mask;
  /** Never shown. */
  readonly sensitive: boolean;
  /** The sources of a secret that goes into it. What is only declared as sensitive (as CDKTF declares all that stacks share) need be none. */
  readonly origin?: Origin;
  /** Terraform's type of `after`, where all of it is known. */
  readonly type?: Json;
}

/** Returns true if an apply would record other outputs. */
export function changesOutputs({ outputs = [] }: Pick<Plan, "outputs">): boolean {
  return outputs.some(({ action }) => action !== "no-op");
}

/** Returns true if an apply would record a resource under another address. */
export const changesAddresses = ({ changes }: Pick<Plan, "changes">): boolean =>
  changes.some(({ previousAddress }) => previousAddress !== undefined);

/** Returns true if an apply would change the state even if it changes nothing in the account. */
export function changesRecord(plan: Pick<Plan, "changes" | "outputs">): boolean {
  return changesOutputs(plan) || changesAddresses(plan);
}

/** The result of one change. */
export interface ChangeOutcome {
  readonly address: string;
  /**
   * `not-started`: no request of it was sent. `waiting`: nothing was done yet; it is possible when its parent is live (§3), which
   * depends on the host or a payment.
   */
  readonly result: "done" | "waiting" | "failed" | "skipped" | "not-started";
  readonly diagnostics: readonly Diagnostic[];
  /** An invoice that the order raised. */
  readonly invoice?: Invoice;
  /** A request of it left, and its result is unknown. */
  readonly unknown?: boolean;
  /** Results of the answered requests of a failed change: half of a replacement, or a create that lacks something. */
  readonly did?: readonly ("create" | "delete")[];
  /** A request of it was answered, but the state could not be written: its result is known, and not recorded. */
  readonly unrecorded?: true;
  /** The event that the resource waits for: a payment, provisioning, a queued job, or a meaning for its status word. */
  readonly awaiting?: Awaiting;
}

export type Awaiting = "payment" | "provisioning" | "job" | "status";

/** The end of an apply. */
export interface ApplyResult {
  readonly outcomes: readonly ChangeOutcome[];
  readonly diagnostics: readonly Diagnostic[];
  readonly interrupted: boolean;
  /** Addresses of creates without known outcome, at the end. */
  readonly pending: readonly string[];
  /** Addresses with {@link Change.unfulfilled} in the plan: applying it does not fulfil them. */
  readonly unfulfilled?: readonly string[];
  /** Addresses that trouble held back in the plan: applying it does not fulfil them. */
  readonly held?: readonly string[];
  /** The user asked not to wait for queued jobs (`--no-wait`): a job that is not done yet counts as done. */
  readonly noWait?: boolean;
  /** Conditions after the apply, in address order. Absent: none. */
  readonly conditions?: readonly Condition[];
  /** API requests made by the apply. */
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Whether an apply did all that its plan said, interrupted or not; the one place that decides exit code 0 or 1. A job that
 * is still queued (§3) is not done, unless the user asked not to wait for it; nor is a change whose result an unknown status
 * hides. Waiting for a payment or for provisioning is the host's part: the order is placed.
 */
export function isFulfilled({
  outcomes,
  diagnostics,
  pending,
  unfulfilled = [],
  held = [],
  noWait = false,
}: ApplyResult): boolean {
  const isDone = ({ result, awaiting }: ChangeOutcome) =>
    result === "waiting" || (result === "done" && awaiting !== "status" && (awaiting !== "job" || noWait));
  const isOpen = pending.length + unfulfilled.length + held.length > 0;
  return !isOpen && !diagnostics.some(isError) && outcomes.every(isDone);
}

/** Events of an apply. Reports render them as lines or as Terraform's UI messages. */
export type ApplyEvent =
  | { readonly type: "start"; readonly address: string; readonly action: ProgressVerb; readonly id?: string }
  | { readonly type: "progress"; readonly address: string; readonly action: ProgressVerb; readonly seconds: number }
  | {
      readonly type: "complete" | "errored";
      readonly address: string;
      readonly action: ProgressVerb;
      readonly seconds: number;
      readonly id?: string;
      readonly outcome: ChangeOutcome;
    }
  | { readonly type: "waiting"; readonly addresses: readonly string[]; readonly seconds: number }
  /** The host was busy with another request, and answered with this status: the change waits so long. */
  | { readonly type: "busy"; readonly address: string; readonly status: number; readonly seconds: number };

/** The verb of a running change. */
export type ProgressVerb =
  | "order"
  | "create"
  | "update"
  | "delete"
  | "forget"
  | "import"
  | "suspend"
  | "unsuspend"
  /** Suspended, and then out of the state. */
  | "suspend-and-forget";

/** Terraform's words for what happens to a resource. `forget` = leaves the state, stays in the account. */
export type ChangeAction = "no-op" | "create" | "update" | "delete" | "forget";

/** One action, or the two of a replacement in their order. */
export type ChangeActions = readonly [ChangeAction] | readonly ["delete", "create"] | readonly ["create", "delete"];

/** Why a change is planned. */
export type ReasonKind =
  | "declared" // the declaration is new or was edited
  | "drift" // the live object was changed elsewhere
  | "import" // adopted into the state
  | "removed" // no longer declared
  | "destroy" // `hostform destroy`
  | "replace" // replaced on purpose
  | "reorder" // a gone service ordered again on purpose
  | "gone"; // it no longer exists

export interface ChangeReason {
  readonly why: ReasonKind;
  /** The attribute that differs; absent when the whole resource is meant. */
  readonly attribute?: string;
  /** One sentence for people. */
  readonly text: string;
}

/** Words and attributes by which reports describe a resource. Its kind gives them; a plan holds them, so that reports name no kind. */
export interface KindWords {
  /** `client account`. */
  readonly noun: string;
  /** `client accounts`. */
  readonly plural: string;
  /** Attribute by which people know a resource. */
  readonly name: string;
  /** Attribute with the site, domain or receiver that a change is about. */
  readonly site?: string;
  /** Parent whose site a resource belongs to: the attribute with its id, its type and its nouns. */
  readonly parent?: Pick<KindWords, "noun" | "plural"> & { readonly attribute: string; readonly type: string };
  /** `The server`: precedes the address of a resource without a site. */
  readonly siteless?: string;
  /** `is ordered`. Absent: a create costs nothing. */
  readonly ordered?: string;
  /** Attributes of an order by which a policy judges it. */
  readonly order?: { readonly plan?: string; readonly currency: string };
  /** Attributes of the access to the site that a resource gives: the person and the permission, with its levels from the lowest. */
  readonly access?: { readonly person: string; readonly permission: string; readonly levels: readonly string[] };
  /** Attribute with the URL that receives what happens in the account. */
  readonly receiver?: string;
  /** Sentences of changes to an integration, with `{site}`, and how a deletion or replacement is undone. */
  readonly integration?: Readonly<Record<"create" | "delete" | "replace" | "undo", string>>;
  /** Position among the tables of a state. Kinds without one follow. */
  readonly rank?: number;
}

/**
 * What is planned for one resource: a JSON value, never a closure. The field names that Terraform's plan
 * representation has too mean the same there.
 */
export interface Change {
  readonly address: string;
  readonly type: string;
  readonly words: KindWords;
  readonly provider: string;
  readonly actions: ChangeActions;
  /** The live attributes (state refreshed by what was observed); null for a create. */
  readonly before: JsonObject | null;
  /** The attributes afterwards, null where unknown; null for a delete. */
  readonly after: JsonObject | null;
  readonly after_unknown: Mask;
  /** Names of attributes whose values are never shown. */
  readonly sensitive: readonly string[];
  /** The sources of those into which the declaration puts a sensitive value. */
  readonly origins?: Origins;
  /** The attributes as declared, templates not evaluated; of a write-only one only that it is (`true`). Null when not declared. */
  readonly config: JsonObject | null;
  readonly reasons: readonly ChangeReason[];
  /** In-place changes that are declared but wait until the service is live. */
  readonly deferred: readonly string[];
  readonly importing?: { readonly id: string };
  /** The address under which it was recorded so far (`moved`). */
  readonly previousAddress?: string;
  /**
   * The status is not understood, so the declaration (or a destroy) is not fulfilled, or that cannot be seen. Applying the plan
   * does not change that.
   */
  readonly unfulfilled?: true;
  /** Time of its creation (ISO 8601), if no list shows it yet: it is planned as recorded. */
  readonly unlisted?: string;
  /** The host answered with no list in place of the list that would show it: it is planned as recorded. */
  readonly unchecked?: true;
  /** The API does not show it before this is live (`service 1001`): until then it is planned as recorded, or as new. */
  readonly waitsFor?: string;
  /** Client: as declared, else as recorded. */
  readonly client?: string;
  /** The recorded client, if another one is declared; null: nobody's. */
  readonly formerClient?: string | null;
  /** The file that declares it, relative to the project's folder. */
  readonly file?: string;
  /** Destination of its secret: a path in the project, links followed, or in full outside of it. */
  readonly secretTo?: string;
  /** Form of the removal: an API call, none, or a suspension first. */
  readonly removal?: "delete" | "forget" | "suspend";
  readonly private: PrivateMark;
  /** An order in spite of something like it that exists (`--order-anyway`). */
  readonly anyway?: true;
  /** Addresses of resources that this one refers to. */
  readonly dependsOn: readonly string[];
  /** Number of API requests of the change, without polls. */
  readonly requests: number;
  /** Longest wait before the first request, in milliseconds: lists may lag. */
  readonly waitMs?: number;
  /** The price of the order, for what is paid. */
  readonly quote?: Quote;
}

/** The price of one order, in the API's own unit (scale unspecified); null where the API gives no price. */
export interface Quote {
  readonly currency: string;
  readonly list: number | null;
  /** After the Manage discount (§1, §4). */
  readonly billed: number | null;
  /** Upper bound of the invoice. It may be known without the price, because discounts only lower the price. */
  readonly most: number | null;
  /** Why a price is null. */
  readonly unknown?: string;
  /** The name of the plan, as the list has it. */
  readonly plan?: string;
  /** The months that `billed`, or `most`, is for. */
  readonly months?: number;
}

/** The live object differs from what was recorded, whether or not the declaration cares. */
export interface Drift {
  readonly address: string;
  readonly type: string;
  readonly provider: string;
  readonly before: JsonObject;
  /** null: the object is gone. */
  readonly after: JsonObject | null;
}

export const isNoOp = ({ actions, importing }: Change): boolean => actions[0] === "no-op" && importing === undefined;

export const isReplacement = ({ actions }: Change): boolean => actions.length === 2;
