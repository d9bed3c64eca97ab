// The state of a project.
import type { Json, JsonObject } from "./value.ts";

/**
 * A request in progress. It is saved durably before the request is sent, and removed with the response. A later run that
 * finds an intent knows that the earlier run was interrupted.
 */
export interface Intent {
  /** Unique id of the creation. Undefined if an earlier version saved the intent. */
  readonly id?: string;
  /** Time of the first attempt (ISO 8601, by the host's clock). */
  readonly since: string;
  /** Time of the last attempt (ISO 8601), if there were several. */
  readonly resent?: string;
  /**
   * True if each attempt is sent within 5 seconds of its state entry, or never. Undefined if an earlier version saved the
   * intent.
   */
  readonly fenced?: true;
  /** Endpoint, for example `createService`. */
  readonly operation: string;
  readonly params?: Readonly<Record<string, string>>;
  /** Body exactly as sent. Undefined for requests with a password. */
  readonly body?: JsonObject;
  /** Idempotency-Key of an order (§4). */
  readonly idempotencyKey?: string;
  /**
   * True if the API accepted the request without identifying the object. hostform searches for the object and never repeats
   * the request automatically.
   */
  readonly accepted?: true;
  /** Ids that the list contained before the creation, without objects of other addresses. */
  readonly known?: readonly string[];
  /**
   * True if `known` contains all ids. Undefined if it contains only similar objects, because the list was too long or an
   * earlier version saved the intent.
   */
  readonly knowsAll?: true;
}

/** A queued job (§3) that hostform requested, and whose end is unknown. */
export interface QueuedJob {
  /** Time of the request (ISO 8601). */
  readonly since: string;
  /** Phase at the end of the job. */
  readonly toward: "live" | "suspended";
  /** Status word before the job. Null if the API returned none. */
  readonly before: string | null;
}

/** Normalized value: the host returns another value than hostform sent. */
export type OwnForm = {
  readonly sent: Json;
  readonly is: Json;
  /** Number of consecutive changes that sent `sent` without effect. */
  readonly times: number;
  /** True if the value comes from the replaced object, and no list has contained the new object yet. */
  readonly earlier?: true;
  /**
   * True if no request of hostform caused the value: somebody changed the object, or the user adopted it. The value then
   * never counts as equal to `sent`.
   */
  readonly foreign?: true;
};

/** Normalized values by attribute. */
export type Forms = Readonly<Record<string, OwnForm>>;

/** An object of the account, managed or not, that identifies the account. */
export interface Anchor {
  readonly type: string;
  readonly id: string;
  /** Creation time. Null if unknown. */
  readonly created_at: string | null;
}

/** Identifies the account of an object. */
export interface AccountMark {
  /** Scheme, host, port and path of the API's URL. Loopback URLs omit the port, because it changes with each start. */
  readonly origin: string;
  /** Anchors, oldest first. Each state entry of a provider contains some of its anchors. */
  readonly anchors: readonly Anchor[];
}

/**
 * Data about a resource in addition to its attributes. Saved as base64 JSON in the instance's `private` field, which
 * Terraform reserves for the provider and does not print.
 */
export interface PrivateMark {
  /** Number of deliberate orders at this address. Part of the Idempotency-Key. Default: 1. */
  readonly generation?: number;
  /** Creation time (ISO 8601, by the host's clock). For `list_lag` after this time, lists may lack the object. */
  readonly created?: string;
  /** Attributes of the replaced object, which must still be deleted. */
  readonly deposed?: JsonObject;
  readonly shown?: Forms;
  /** Intent of a pending creation. */
  readonly pending?: Intent;
  /** Request whose response lacked the one-time secret. The next apply sends it once more, but never a third time. */
  readonly emptied?: string;
  /** Intent of any other pending request. The account shows its result, so no decision is needed. */
  readonly attempt?: Intent;
  /** Account of the object. Undefined if an earlier version saved the entry. */
  readonly account?: AccountMark;
  /** Last declared client. */
  readonly client?: string;
  /** True if a removal keeps the object. The file has OpenTofu's field `skip_destroy` instead. */
  readonly skipDestroy?: true;
  /** Last queued job. Used only to interpret an unknown status word. */
  readonly job?: QueuedJob;
  /** Suspension: `declared` if declared, else the time when an apply first read it (ISO 8601, by the host's clock). */
  readonly suspended?: { readonly since?: string; readonly declared?: true };
  /**
   * Attributes whose saved value was not applied yet, because the object is not live. Terraform requires saving declared
   * values at once. Only the Terraform provider writes this field.
   */
  readonly waiting?: readonly string[];
}

/**
 * Id that the Terraform provider saves for an object with a pending creation, so that every reference to it fails. In other
 * front ends such an object has no id.
 */
export const PENDING_CREATE = "(not known whether it was made)";

/** One resource instance in the state. */
export interface ResourceState {
  readonly address: string;
  /** Alias of the provider, or `default`. */
  readonly provider: string;
  readonly schemaVersion: number;
  /** Every attribute of the kind. Null without a value. */
  readonly attributes: JsonObject;
  /** Names of attributes with secret values. */
  readonly sensitive: readonly string[];
  readonly private: PrivateMark;
  /** Addresses that the resource depends on. They determine the order of removals. */
  readonly dependencies: readonly string[];
}

/** State of a project. `serial` increases with each write; `lineage` never changes. */
export interface State {
  readonly lineage: string;
  readonly serial: number;
  readonly resources: ReadonlyMap<string, ResourceState>;
  /** Outputs by name. */
  readonly outputs?: ReadonlyMap<string, OutputState>;
}

/** One output in the state. */
export interface OutputState {
  readonly value: Json;
  /** Terraform type: `"string"`, `["list", "string"]`. */
  readonly type: Json;
  readonly sensitive: boolean;
}
