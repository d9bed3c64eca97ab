// A plan, its changes and their effects on the account, and the results of an apply.
import type { Condition } from "./condition.ts";
import type { VariableValue } from "./desired.ts";
import { type Diagnostic, isError, isOfOne } from "./errors.ts";
import type { Origin, Origins } from "./origin.ts";
import type { Invoice } from "./payment.ts";
import type { NewName, PolicyVerdict } from "./policy-verdict.ts";
import type { PrivateMark } from "./state.ts";
import type { Json, JsonObject, Mask } from "./value.ts";

/** Orders of a plan in one currency. Amounts are in the API's own unit. */
export interface CostLine {
  readonly currency: string;
  readonly orders: number;
  /** Sum of the known list prices. Null if none is known. */
  readonly list: number | null;
  /** Sum of the amounts to be billed. Null if none is known. */
  readonly billed: number | null;
  /** Number of orders without a known price. */
  readonly unknown: number;
}

/** Number of API requests of a plan and its apply. */
export interface RequestEstimate {
  /** Requests already sent for computing the plan. */
  readonly read: number;
  /** Requests that the apply will send. Polls are estimated. */
  readonly apply: number;
  /** Estimated duration of the apply within the request budget, in seconds. */
  readonly seconds: number;
}

/** Requests that a token may send if nobody else uses the token. Times are in milliseconds from now. */
export interface RequestOutlook {
  /** Ascending times when earlier requests stop counting toward the limit. */
  readonly booked: readonly number[];
  readonly windowMs: number;
  /** Time of the last request: 0 or less. */
  readonly lastSentMs: number;
  /** Earliest time of the next request, because the host asked for a pause. 0 or less if no pause was requested. */
  readonly pausedMs: number;
  /** Additional waits of the next requests after a short pause. */
  readonly slowMs: readonly number[];
  /** Maximum requests a minute and their minimum distance, from a time on. Limits learned from rejections change with time. */
  readonly paces: readonly { readonly fromMs: number; readonly perMinute: number; readonly apartMs: number }[];
}

/** Request outlook, extended by how the client sends. */
export interface RequestBudget extends RequestOutlook {
  /** Number of parallel requests. */
  readonly sideBySide: number;
  /** Time from a request to its response, in milliseconds. */
  readonly latencyMs: number;
}

/** The difference between declaration and account, as a plain JSON value. The only product of planning. */
export interface Plan {
  readonly project: string;
  /** Accounts of the plan. Undefined if no account was opened. */
  readonly places?: readonly Place[];
  readonly lineage: string;
  /** Serial of the state that the plan is based on. */
  readonly serial: number;
  /** Creation time (ISO 8601). */
  readonly timestamp: string;
  readonly mode: "apply" | "destroy";
  /** One entry per declared resource or state entry that could be planned, including no-ops, in address order. */
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  /** One entry per declared or saved output, by name. */
  readonly outputs?: readonly OutputChange[];
  /** Addresses of pending creations that this plan does not settle. */
  readonly pending: readonly string[];
  /** Addresses that the API did not show. They are compared with the state. Undefined if all were read. */
  readonly unread?: readonly string[];
  /** True if nobody applies the plan and the token cannot read all resources. Changes of `unread` addresses are kept. */
  readonly forReading?: true;
  /** Changes that the apply skips, in address order. Undefined if none are skipped. */
  readonly held?: readonly HeldBack[];
  /** Resources that the user chose not to read. They are planned from the state. Undefined if all were read. */
  readonly notRead?: readonly NotRead[];
  /** Base commit of `--base`, and the number of resources without later changes, which were not planned. */
  readonly base?: { readonly ref: string; readonly commit: string; readonly not_planned: number };
  /** Conditions that no change ends, in address order. Undefined if none exist. */
  readonly conditions?: readonly Condition[];
  /** Variables of the declaration, with their values. Undefined if none exist. */
  readonly variables?: readonly VariableValue[];
  /** Hosts and domains that get access for the first time. Undefined if none do. */
  readonly newNames?: readonly NewName[];
  /** Policy of the run, and its verdicts, which the diagnostics show. Undefined if the run has no policy. */
  readonly policy?: { readonly files: readonly string[]; readonly verdicts: readonly PolicyVerdict[] };
  /** Diagnostics of the plan. Errors prevent applying, warnings do not. */
  readonly diagnostics: readonly Diagnostic[];
  readonly cost: readonly CostLine[];
  readonly requests: RequestEstimate;
}

/** Description of an account for people. */
export interface Place {
  /** Alias of the provider. */
  readonly provider: string;
  /** Project name. With several accounts: provider name. `SANDBOX` for the sandbox. */
  readonly name: string;
  /** Host of the API, for example `api.host.example`, with port and path if the URL has them. */
  readonly host: string;
  /** Number of services that the account shows, or else the number in the state. Null if both are unknown. */
  readonly services: number | null;
  /** Domain of one service. */
  readonly domain: string | null;
}

/** A change that waits until another resource no longer fails. */
export interface HeldBack extends Pick<Change, "address" | "type" | "actions"> {
  /** Address of the failing resource: the change's own address or a dependency. */
  readonly because: string;
}

/** Returns true if an error stops the whole plan. */
export const isStopped = ({ diagnostics }: Pick<Plan, "diagnostics">): boolean =>
  diagnostics.some((one) => isError(one) && !isOfOne(one));

/** Returns the addresses that an apply does not fulfill, because the resource or a dependency fails. */
export const heldIn = ({ diagnostics, held = [] }: Pick<Plan, "diagnostics" | "held">): string[] => {
  const refused = diagnostics.flatMap((one) => (isOfOne(one) && one.address !== undefined ? [one.address] : []));
  return [...new Set([...refused, ...held.map(({ address }) => address)])].sort();
};

/** Scope of reading: the whole account, the objects that the plan changes, or the objects that its requests affect. */
export type RefreshMode = "all" | "changed" | "none";

/** A resource in the state that a plan did not read. */
export interface NotRead {
  readonly address: string;
  readonly type: string;
  /** Id of the parent whose listing contains the object. The parent of a grant is a service. */
  readonly parent: string | null;
  /** Time of the last reading on this machine (ISO 8601). Null if unknown. */
  readonly last_read: string | null;
}

/** Returns the addresses that a plan does not fulfill because of an unknown status. */
export const unfulfilledIn = ({ changes }: Pick<Plan, "changes">): string[] =>
  changes.flatMap(({ address, unfulfilled }) => (unfulfilled ? [address] : []));

export interface OutputChange {
  readonly name: string;
  readonly action: "no-op" | "create" | "update" | "delete";
  readonly before: Json;
  /** Value after the apply. Null if unknown. */
  readonly after: Json;
  readonly after_unknown: Mask;
  /** True if reports must hide the value. */
  readonly sensitive: boolean;
  /** Sources of a secret in the output. Undefined if the output is only declared as sensitive, as CDKTF does. */
  readonly origin?: Origin;
  /** Terraform type of `after`. Undefined if a part is unknown. */
  readonly type?: Json;
}

/** Returns true if an apply would change outputs in the state. */
export function changesOutputs({ outputs = [] }: Pick<Plan, "outputs">): boolean {
  return outputs.some(({ action }) => action !== "no-op");
}

/** Returns true if an apply would change addresses in the state. */
export const changesAddresses = ({ changes }: Pick<Plan, "changes">): boolean =>
  changes.some(({ previousAddress }) => previousAddress !== undefined);

/** Returns true if an apply would change outputs or addresses in the state. */
export function changesRecord(plan: Pick<Plan, "changes" | "outputs">): boolean {
  return changesOutputs(plan) || changesAddresses(plan);
}

/** Result of one change. */
export interface ChangeOutcome {
  readonly address: string;
  /**
   * Result. `not-started`: no request was sent. `waiting`: nothing was changed; the change is possible once its parent is live
   * (§3). That depends on the host or a payment.
   */
  readonly result: "done" | "waiting" | "failed" | "skipped" | "not-started";
  readonly diagnostics: readonly Diagnostic[];
  /** Invoice of the order. */
  readonly invoice?: Invoice;
  /** True if a request was sent and its result is unknown. */
  readonly unknown?: boolean;
  /** Confirmed results of a failed change: half of a replacement, or an incomplete creation. */
  readonly did?: readonly ("create" | "delete")[];
  /** True if a request got a response, but the state could not be written. The result is then known, but not saved. */
  readonly unrecorded?: true;
  /** Event that the resource waits for: a payment, provisioning, a queued job, or the interpretation of its status. */
  readonly awaiting?: Awaiting;
}

export type Awaiting = "payment" | "provisioning" | "job" | "status";

/** Result of an apply. */
export interface ApplyResult {
  readonly outcomes: readonly ChangeOutcome[];
  readonly diagnostics: readonly Diagnostic[];
  readonly interrupted: boolean;
  /** Addresses of pending creations after the apply. */
  readonly pending: readonly string[];
  /** Addresses with {@link Change.unfulfilled} in the plan. The apply does not fulfill them. */
  readonly unfulfilled?: readonly string[];
  /** Addresses that the plan skipped because of failures. The apply does not fulfill them. */
  readonly held?: readonly string[];
  /** True with `--no-wait`. A running job then counts as finished. */
  readonly noWait?: boolean;
  /** Conditions after the apply, in address order. Undefined if none exist. */
  readonly conditions?: readonly Condition[];
  /** Number of API requests of the apply. */
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Returns true if an apply did everything in its plan. This function alone decides exit code 0 or 1. A queued job (§3) counts
 * as unfinished unless the user set `--no-wait`. A result hidden by an unknown status also counts as unfinished. Waiting for a
 * payment or provisioning counts as finished, because the order is placed.
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

/** Events of an apply. Reports show them as lines or as Terraform UI messages. */
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
  /** The host was busy with another request and returned this status. The change waits for these seconds. */
  | { readonly type: "busy"; readonly address: string; readonly status: number; readonly seconds: number };

/** Verb of a running change. */
export type ProgressVerb =
  | "order"
  | "create"
  | "update"
  | "delete"
  | "forget"
  | "import"
  | "suspend"
  | "unsuspend"
  /** suspended, then removed from the state */
  | "suspend-and-forget";

/** Terraform's names of actions. `forget`: the object leaves the state but stays in the account. */
export type ChangeAction = "no-op" | "create" | "update" | "delete" | "forget";

/** One action, or the two actions of a replacement in their order. */
export type ChangeActions = readonly [ChangeAction] | readonly ["delete", "create"] | readonly ["create", "delete"];

/** Reason why a change is planned. */
export type ReasonKind =
  | "declared" // the declaration is new or was edited
  | "drift" // the live object was changed outside of hostform
  | "import" // adopted into the state
  | "removed" // no longer declared
  | "destroy" // `hostform destroy`
  | "replace" // replacement requested by the user
  | "reorder" // deleted service ordered again by the user
  | "gone"; // the object no longer exists

export interface ChangeReason {
  readonly why: ReasonKind;
  /** Attribute that differs. Undefined if the reason concerns the whole resource. */
  readonly attribute?: string;
  /** Sentence for people. */
  readonly text: string;
}

/**
 * Words and attributes that reports use to describe a resource. They come from its kind and are stored in the plan, so reports
 * do not depend on kinds.
 */
export interface KindWords {
  /** Noun, for example `client account`. */
  readonly noun: string;
  /** Plural, for example `client accounts`. */
  readonly plural: string;
  /** Attribute that people use to identify a resource. */
  readonly name: string;
  /** Attribute with the site, domain or receiver of a change. */
  readonly site?: string;
  /** Parent whose site a resource belongs to: the attribute with its id, its type and its nouns. */
  readonly parent?: Pick<KindWords, "noun" | "plural"> & { readonly attribute: string; readonly type: string };
  /** Text before the address of a resource without a site, for example `The server`. */
  readonly siteless?: string;
  /** Verb of an order, for example `is ordered`. Undefined if a creation is free. */
  readonly ordered?: string;
  /** Attributes of an order that a policy evaluates. */
  readonly order?: { readonly plan?: string; readonly currency: string };
  /** Attributes of granted access: the person and the permission, with its levels in ascending order. */
  readonly access?: { readonly person: string; readonly permission: string; readonly levels: readonly string[] };
  /** Attribute with the URL that receives the account's events. */
  readonly receiver?: string;
  /** Sentences about changes to an integration, with `{site}`, and how to undo a deletion or replacement. */
  readonly integration?: Readonly<Record<"create" | "delete" | "replace" | "undo", string>>;
  /** Position among the tables of a state. Kinds without a rank come last. */
  readonly rank?: number;
}

/** Planned change of one resource, as a plain JSON value. Terraform's field names keep their meaning. */
export interface Change {
  readonly address: string;
  readonly type: string;
  readonly words: KindWords;
  readonly provider: string;
  readonly actions: ChangeActions;
  /** Live attributes: the state refreshed by the observation. Null for a creation. */
  readonly before: JsonObject | null;
  /** Attributes after the change. Unknown values are null. Null for a deletion. */
  readonly after: JsonObject | null;
  readonly after_unknown: Mask;
  /** Names of attributes whose values stay hidden. */
  readonly sensitive: readonly string[];
  /** Sources of attributes whose declared values are sensitive. */
  readonly origins?: Origins;
  /** Declared attributes before evaluation. Write-only attributes appear as `true`. Null if not declared. */
  readonly config: JsonObject | null;
  readonly reasons: readonly ChangeReason[];
  /** Declared in-place changes that wait until the service is live. */
  readonly deferred: readonly string[];
  readonly importing?: { readonly id: string };
  /** Earlier address in the state (`moved`). */
  readonly previousAddress?: string;
  /** True if an unknown status prevents or hides the fulfillment. Applying the plan does not change this. */
  readonly unfulfilled?: true;
  /** Creation time (ISO 8601) of an object that no list shows yet. The object is planned from the state. */
  readonly unlisted?: string;
  /** True if the response was not a list. The object is planned from the state. */
  readonly unchecked?: true;
  /** Parent that must be live before the API shows the object, such as `service 1001`. Until then, the state entry is used. */
  readonly waitsFor?: string;
  /** Declared client, or else the client in the state. */
  readonly client?: string;
  /** Client in the state, if the declared client differs. Null if the resource had no client. */
  readonly formerClient?: string | null;
  /** Declaring file, relative to the project directory. */
  readonly file?: string;
  /** Destination of the secret with links resolved. Relative inside the project, absolute outside. */
  readonly secretTo?: string;
  /** Form of the removal: an API call, no request, or a suspension first. */
  readonly removal?: "delete" | "forget" | "suspend";
  readonly private: PrivateMark;
  /** True if the order ignores a similar existing object (`--order-anyway`). */
  readonly anyway?: true;
  /** Addresses that this resource refers to. */
  readonly dependsOn: readonly string[];
  /** Number of API requests of the change, without polls. */
  readonly requests: number;
  /** Longest wait before the first request because of list lag, in milliseconds. */
  readonly waitMs?: number;
  /** Price of the order. Undefined if the change is free. */
  readonly quote?: Quote;
}

/** Price of one order in the API's own unit, whose scale is unspecified. Null if the API returns no price. */
export interface Quote {
  readonly currency: string;
  readonly list: number | null;
  /** Price after the Manage discount (§1, §4). */
  readonly billed: number | null;
  /** Upper bound of the invoice. It may be known without the price, because discounts only lower the price. */
  readonly most: number | null;
  /** Reason why a price is null. */
  readonly unknown?: string;
  /** Name of the hosting plan, from the list of plans. */
  readonly plan?: string;
  /** Number of months that `billed` or `most` covers. */
  readonly months?: number;
}

/** Difference between a live object and the state, whether declared or not. */
export interface Drift {
  readonly address: string;
  readonly type: string;
  readonly provider: string;
  readonly before: JsonObject;
  /** Attributes of the live object. Null if the object no longer exists. */
  readonly after: JsonObject | null;
}

export const isNoOp = ({ actions, importing }: Change): boolean => actions[0] === "no-op" && importing === undefined;

export const isReplacement = ({ actions }: Change): boolean => actions.length === 2;
