// A plan, its changes and their effects on the account, and the results of an apply.
import type { Condition } from "./condition.ts";
import type { VariableValue } from "./desired.ts";
import { type Diagnostic, isError, isOfOne } from "./errors.ts";
import type { Receipt } from "./mandate.ts";
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
  /** Number of orders with unknown price. */
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

/** Requests that a token may send, if no other client uses it. Times are in milliseconds from now. */
export interface RequestOutlook {
  /** Times when earlier requests stop counting toward the limit, ascending. */
  readonly booked: readonly number[];
  readonly windowMs: number;
  /** Time of the last request, 0 or less. */
  readonly lastSentMs: number;
  /** Earliest time of the next request, if the host asked for a pause. Otherwise 0 or less. */
  readonly pausedMs: number;
  /** Additional waits of the next requests after a pause. */
  readonly slowMs: readonly number[];
  /** Maximum requests per minute and their minimum distance, valid from `fromMs`. Limits learned from rejections expire. */
  readonly paces: readonly { readonly fromMs: number; readonly perMinute: number; readonly apartMs: number }[];
}

/** Request outlook, and how the client sends requests. */
export interface RequestBudget extends RequestOutlook {
  /** Maximum number of parallel requests. */
  readonly sideBySide: number;
  /** Time from a request to its response, in milliseconds. */
  readonly latencyMs: number;
}

/** Result of planning: the difference between declaration and account, as a plain JSON value. */
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
  /** Changes of the declared resources and state entries, including no-ops, sorted by address. None if not plannable. */
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  /** One entry per declared or saved output, sorted by name. */
  readonly outputs?: readonly OutputChange[];
  /** Addresses of pending creations that this plan does not settle. */
  readonly pending: readonly string[];
  /** Addresses that could not be read. hostform compares these with the state. Undefined if all were read. */
  readonly unread?: readonly string[];
  /**
   * True if the plan is only displayed and the token cannot read all resources. Changes of `unread` addresses stay in the
   * plan.
   */
  readonly forReading?: true;
  /** Changes that the apply skips, sorted by address. */
  readonly held?: readonly HeldBack[];
  /** Resources that `--refresh` excludes from reading. They are planned from the state. */
  readonly notRead?: readonly NotRead[];
  /** Commit of `--base`, and the number of resources that did not change since then and were not planned. */
  readonly base?: { readonly ref: string; readonly commit: string; readonly not_planned: number };
  /** Conditions that no change of the plan ends, sorted by address. */
  readonly conditions?: readonly Condition[];
  /** Variables of the declaration with their values. */
  readonly variables?: readonly VariableValue[];
  /** Hosts and domains that get access for the first time. */
  readonly newNames?: readonly NewName[];
  /** Policy of the run and its verdicts. The diagnostics contain the verdicts too. */
  readonly policy?: { readonly files: readonly string[]; readonly verdicts: readonly PolicyVerdict[] };
  /** Diagnostics of the plan. An error prevents the apply. */
  readonly diagnostics: readonly Diagnostic[];
  readonly cost: readonly CostLine[];
  readonly requests: RequestEstimate;
}

/** An account, described for people. */
export interface Place {
  /** Alias of the provider. */
  readonly provider: string;
  /** Name of the project, or of the provider if there are several accounts. `SANDBOX` for the sandbox. */
  readonly name: string;
  /** Host of the API, for example `api.host.example`, with port and path if the URL has them. */
  readonly host: string;
  /** Number of services in the account. If unknown: number of services in the state. Null if both are unknown. */
  readonly services: number | null;
  /** Domain of any one service. */
  readonly domain: string | null;
}

/** A change that is skipped because a resource fails. */
export interface HeldBack extends Pick<Change, "address" | "type" | "actions"> {
  /** Address of the failing resource: the same resource, or a dependency. */
  readonly because: string;
}

/** Returns true if an error stops the whole plan. */
export const isStopped = ({ diagnostics }: Pick<Plan, "diagnostics">): boolean =>
  diagnostics.some((one) => isError(one) && !isOfOne(one));

/** Returns the addresses that an apply skips because the resource or a dependency fails. */
export const heldIn = ({ diagnostics, held = [] }: Pick<Plan, "diagnostics" | "held">): string[] => {
  const refused = diagnostics.flatMap((one) => (isOfOne(one) && one.address !== undefined ? [one.address] : []));
  return [...new Set([...refused, ...held.map(({ address }) => address)])].sort();
};

/** Objects to read: all, objects that the plan changes, or objects that its requests affect. */
export type RefreshMode = "all" | "changed" | "none";

/** A resource in the state that a plan did not read. */
export interface NotRead {
  readonly address: string;
  readonly type: string;
  /** Id of the parent whose list contains the object. The parent of a grant is a service. */
  readonly parent: string | null;
  /** Time of the last reading on this machine (ISO 8601). Null if unknown. */
  readonly last_read: string | null;
}

/** Returns the addresses whose declaration an apply cannot fulfill because of an unknown status. */
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
  /** Sources of a secret in the output. Undefined if the output is only declared sensitive, as in CDKTF. */
  readonly origin?: Origin;
  /** Terraform type of `after`. Undefined if a part is unknown. */
  readonly type?: Json;
}

/** Returns true if an apply changes outputs in the state. */
export function changesOutputs({ outputs = [] }: Pick<Plan, "outputs">): boolean {
  return outputs.some(({ action }) => action !== "no-op");
}

/** Returns true if an apply changes addresses in the state. */
export const changesAddresses = ({ changes }: Pick<Plan, "changes">): boolean =>
  changes.some(({ previousAddress }) => previousAddress !== undefined);

/** Returns true if an apply changes outputs or addresses in the state. */
export function changesRecord(plan: Pick<Plan, "changes" | "outputs">): boolean {
  return changesOutputs(plan) || changesAddresses(plan);
}

/** Result of one change. */
export interface ChangeOutcome {
  readonly address: string;
  /**
   * `not-started`: no request was sent. `waiting`: nothing changed; the change becomes possible when its parent is live (§3),
   * which depends on the host or on a payment.
   */
  readonly result: "done" | "waiting" | "failed" | "skipped" | "not-started";
  readonly diagnostics: readonly Diagnostic[];
  /** Invoice of the order. */
  readonly invoice?: Invoice;
  /** True if a request was sent and its result is unknown. */
  readonly unknown?: boolean;
  /** Effects of a failed change that responses confirmed. */
  readonly did?: readonly ("create" | "delete")[];
  /** True if a response could not be saved in the state. */
  readonly unrecorded?: true;
  /** What the resource waits for: a payment, provisioning, a queued job, or the user's interpretation of its status. */
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
  /** Addresses whose declaration the apply could not fulfill because of an unknown status. */
  readonly unfulfilled?: readonly string[];
  /** Addresses that the plan skipped because of failures. */
  readonly held?: readonly string[];
  /** True with `--no-wait`. A running job then counts as done. */
  readonly noWait?: boolean;
  /** Conditions after the apply, sorted by address. */
  readonly conditions?: readonly Condition[];
  /** Receipt of the mandate. */
  readonly mandate?: Receipt | undefined;
  /** Number of API requests of the apply. */
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Returns true if an apply did everything in its plan. The only function that decides between exit codes 0 and 1. A queued
 * job (§3) counts as unfinished, except with `--no-wait`. So does an unknown status that hides the result. A wait for payment
 * or provisioning counts as finished, because the order is placed.
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

/** Events of an apply. Reports print these as lines or as Terraform UI messages. */
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
  /** The host was busy with another request and returned `status`. The change waits `seconds`. */
  | { readonly type: "busy"; readonly address: string; readonly status: number; readonly seconds: number };

/** Verb for a change in progress. */
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

/** Words and attributes with which reports describe a resource, so that reports need no kinds. */
export interface KindWords {
  /** Noun, for example `client account`. */
  readonly noun: string;
  /** Plural, for example `client accounts`. */
  readonly plural: string;
  /** Attribute that people use to identify a resource. */
  readonly name: string;
  /** Attribute with the site, domain or receiver of a change. */
  readonly site?: string;
  /** Parent whose site counts as the site of the resource: its type, its nouns, and the attribute with its id. */
  readonly parent?: Pick<KindWords, "noun" | "plural"> & { readonly attribute: string; readonly type: string };
  /** Text for a resource without a site, placed before its address, for example `The server`. */
  readonly siteless?: string;
  /** Verb of an order, for example `is ordered`. Undefined if a creation is free. */
  readonly ordered?: string;
  /** Attributes of an order that policies evaluate. */
  readonly order?: { readonly plan?: string; readonly currency: string };
  /** Attributes that grant access: person, and permission with its levels in ascending order. */
  readonly access?: { readonly person: string; readonly permission: string; readonly levels: readonly string[] };
  /** Attribute with the URL that receives the account's events. */
  readonly receiver?: string;
  /** Sentences about an integration, with the placeholder `{site}`. `undo`: how to undo a deletion or replacement. */
  readonly integration?: Readonly<Record<"create" | "delete" | "replace" | "undo", string>>;
  /** Position of the kind's table in a list of the state. Kinds without a rank come last. */
  readonly rank?: number;
}

/** Planned change of one resource, as a plain JSON value. Names from Terraform's plan format keep their meaning. */
export interface Change {
  readonly address: string;
  readonly type: string;
  readonly words: KindWords;
  readonly provider: string;
  readonly actions: ChangeActions;
  /** Live attributes. Null for a creation. */
  readonly before: JsonObject | null;
  /** Attributes after the change. Null for a deletion. Unknown values are null. */
  readonly after: JsonObject | null;
  readonly after_unknown: Mask;
  /** Names of attributes whose values reports must hide. */
  readonly sensitive: readonly string[];
  /** Origins of sensitive declared values, by attribute. */
  readonly origins?: Origins;
  /** Declared attributes before evaluation. Write-only attributes are `true`. Null if not declared. */
  readonly config: JsonObject | null;
  readonly reasons: readonly ChangeReason[];
  /** Attributes whose declared change must wait until the service is live. */
  readonly deferred: readonly string[];
  readonly importing?: { readonly id: string };
  /** Earlier address in the state (`moved`). */
  readonly previousAddress?: string;
  /** True if an unknown status prevents the declared change, or hides whether it is needed. */
  readonly unfulfilled?: true;
  /** Creation time (ISO 8601) of a new object that no list contains yet. hostform plans it from the state. */
  readonly unlisted?: string;
  /** True if the response was not a list. hostform plans the object from the state. */
  readonly unchecked?: true;
  /** Parent that must be live before the API returns the object, such as `service 1001`. hostform plans it from the state. */
  readonly waitsFor?: string;
  /** Declared client. If none is declared, the client in the state. */
  readonly client?: string;
  /** True if a removal keeps the object, by its declaration. */
  readonly skipDestroy?: true;
  /** Client in the state, if it differs from the declared one. Null if there was none. */
  readonly formerClient?: string | null;
  /** File with the declaration, relative to the project directory. */
  readonly file?: string;
  /** Destination of the secret, with links resolved. Relative inside the project, absolute outside. */
  readonly secretTo?: string;
  /** Kind of the removal: a DELETE request, no request, or a suspension first. */
  readonly removal?: "delete" | "forget" | "suspend";
  readonly private: PrivateMark;
  /** True if a similar existing object must not prevent the order (`--order-anyway`). */
  readonly anyway?: true;
  /** Addresses that the resource depends on. */
  readonly dependsOn: readonly string[];
  /** Number of API requests of the change, without polls. */
  readonly requests: number;
  /** Longest wait for the list lag before the first request, in milliseconds. */
  readonly waitMs?: number;
  /** Price of the order. Undefined if the change costs nothing. */
  readonly quote?: Quote;
}

/** Price of one order in the API's own unit. Null if the API returns no price. */
export interface Quote {
  readonly currency: string;
  readonly list: number | null;
  /** Price after the Manage discount (§1, §4). */
  readonly billed: number | null;
  /** Maximum amount of the invoice. May be known without the price, because discounts only lower the price. */
  readonly most: number | null;
  /** Reason why a price is null. */
  readonly unknown?: string;
  /** Name of the hosting plan. */
  readonly plan?: string;
  /** Months that `billed` or `most` covers. */
  readonly months?: number;
}

/** Difference between a live object and the state. The declaration does not matter. */
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
