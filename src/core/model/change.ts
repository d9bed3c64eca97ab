import type { PrivateMark } from "./state.ts";
import type { JsonObject, Mask } from "./value.ts";

/** Terraform's words for what happens to a resource. `forget` = leaves the state, stays in the account. */
export type Action = "no-op" | "create" | "update" | "delete" | "forget";

/** One action, or the two of a replacement in their order. */
export type Actions = readonly [Action] | readonly ["delete", "create"] | readonly ["create", "delete"];

/** Why a change is planned. */
export type Why =
  | "declared" // the declaration is new or was edited
  | "drift" // the live object was changed elsewhere
  | "import" // adopted into the state
  | "removed" // no longer declared
  | "destroy" // `hostform destroy`
  | "reorder" // a gone service ordered anew on purpose
  | "gone"; // it no longer exists

export interface Reason {
  readonly why: Why;
  /** The attribute that differs; absent when the whole resource is meant. */
  readonly attribute?: string;
  /** One sentence for people. */
  readonly text: string;
}

/**
 * What is planned for one resource: a JSON value, never a closure. The field names that Terraform's plan
 * representation has too mean the same there.
 */
export interface Change {
  readonly address: string;
  readonly type: string;
  readonly provider: string;
  readonly actions: Actions;
  /** The live attributes (state refreshed by what was observed); null for a create. */
  readonly before: JsonObject | null;
  /** The attributes afterwards, null where unknown; null for a delete. */
  readonly after: JsonObject | null;
  readonly after_unknown: Mask;
  /** Names of attributes whose values are never shown. */
  readonly sensitive: readonly string[];
  /** The attributes as declared, templates not evaluated; of a write-only one only that it is (`true`). Null when not declared. */
  readonly config: JsonObject | null;
  readonly reasons: readonly Reason[];
  /** In-place changes that are declared but wait until the service is live. */
  readonly deferred: readonly string[];
  readonly importing?: { readonly id: string };
  /** The address under which it was recorded so far (`moved`). */
  readonly previousAddress?: string;
  /**
   * What is declared (or that it is to be destroyed) is not fulfilled, or that cannot be seen: the status is not understood.
   * Applying the plan does not mend it.
   */
  readonly unfulfilled?: true;
  /** When it was created (ISO 8601), where no list shows it yet: it is planned as it was recorded, and has not been seen. */
  readonly unlisted?: string;
  /** The API shows nothing of it before this is live (`service 1001`): until then it is planned as it was recorded, or as new. */
  readonly waitsFor?: string;
  /** Where the secret that it brings is written: a path in the project, links followed, or in full outside of it. */
  readonly secretTo?: string;
  /** What removal means for this resource: an API call, leaving it alone, or suspending it first. */
  readonly removal?: "delete" | "forget" | "suspend";
  readonly private: PrivateMark;
  /** An order that was insisted on although something like it exists (`--order-anyway`). */
  readonly anyway?: true;
  /** Addresses of resources that this one refers to. */
  readonly dependsOn: readonly string[];
  /** How many API requests the change takes, polls not counted. */
  readonly requests: number;
  /** The price of the order, for what is paid. */
  readonly quote?: Quote;
}

/** The price of one order, in the API's own unit (scale unspecified); null where the API gives no price. */
export interface Quote {
  readonly currency: string;
  readonly list: number | null;
  /** After the Manage discount (§1, §4). */
  readonly billed: number | null;
  /** What the invoice cannot exceed, where that is known though the price is not: discounts only lower it. */
  readonly most: number | null;
  /** Why a price is null. */
  readonly unknown?: string;
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

export function isNoOp(change: Change): boolean {
  return change.actions[0] === "no-op" && change.importing === undefined;
}

export function isReplacement(change: Change): boolean {
  return change.actions.length === 2;
}
