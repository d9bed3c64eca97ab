// The state of a project.
import type { Json, JsonObject } from "./value.ts";

/**
 * A request in progress. It is durable before the request is sent, and removed with the response. An intent found later comes
 * from an interrupted run.
 */
export interface Intent {
  /** Unique id of a creation, kept in the state. Undefined if an earlier version saved it. */
  readonly id?: string;
  /** Time of the first attempt (ISO 8601, by the host's clock). */
  readonly since: string;
  /** Time of the last attempt, if there were several. */
  readonly resent?: string;
  /** True if each attempt is sent within 5 seconds of its state entry, or never. Undefined if an earlier version saved it. */
  readonly fenced?: true;
  /** Endpoint, for example `createService`. */
  readonly operation: string;
  readonly params?: Readonly<Record<string, string>>;
  /** Body exactly as sent. Undefined for requests with a password. */
  readonly body?: JsonObject;
  /** Idempotency-Key of an order (§4). */
  readonly idempotencyKey?: string;
  /**
   * True if the API accepted the request without naming the object. hostform searches for the object and never resends the
   * request automatically.
   */
  readonly accepted?: true;
  /** Ids that a list showed before a creation, without objects of other addresses. */
  readonly known?: readonly string[];
  /**
   * True if `known` contains all ids. Undefined if it contains only similar objects: the list was too long, or an earlier
   * version saved it.
   */
  readonly knowsAll?: true;
}

/** A queued job (§3) that hostform requested and whose end is not known. */
export interface QueuedJob {
  /** Time of the request (ISO 8601). */
  readonly since: string;
  /** Phase that proves the end of the job. */
  readonly toward: "live" | "suspended";
  /** Status word before the job. Null if the API showed none. */
  readonly before: string | null;
}

/** Normalized value: the host's value in place of the sent one. */
export type OwnForm = {
  readonly sent: Json;
  readonly is: Json;
  /** Number of consecutive changes that sent the value without effect. */
  readonly times: number;
  /** True if the value was observed on the replaced object, and no list has shown this object yet. */
  readonly earlier?: true;
  /**
   * True if no request of hostform caused the value: somebody changed the object, or the user adopted it. The value never
   * counts as `sent`.
   */
  readonly foreign?: true;
};

/** An object from a list of the account, managed or not. Anchors identify the account. */
export interface Anchor {
  readonly type: string;
  readonly id: string;
  /** Creation time. Null if the host does not show it. */
  readonly created_at: string | null;
}

/** Account that holds an object. */
export interface AccountMark {
  /** Scheme, host, port and path of the API's URL. Loopback URLs have no port, because the port changes with each start. */
  readonly origin: string;
  /** Anchors, oldest first. The entries of a provider divide the anchors among themselves. */
  readonly anchors: readonly Anchor[];
}

/**
 * Data about a resource in addition to its attributes. Stored as base64 JSON in the instance's `private` field. Terraform keeps
 * this field for the provider and does not show it.
 */
export interface PrivateMark {
  /** Number of deliberate orders at this address. Part of the Idempotency-Key. Default: 1. */
  readonly generation?: number;
  /**
   * Creation time (ISO 8601, by the host's clock). Lists may lack the object for `list_lag`, and then reveal its normalized
   * values.
   */
  readonly created?: string;
  /** Attributes of the replaced object that must still be deleted. */
  readonly deposed?: JsonObject;
  /**
   * Normalized values by attribute. Earlier versions saved only the host's value; the sent value is then the value in the
   * state.
   */
  readonly shown?: JsonObject;
  /** Pending creation. */
  readonly pending?: Intent;
  /** Request whose response lacked its one-time secret. It is sent once more, but not a third time. */
  readonly emptied?: string;
  /** Any other request in progress. Nothing depends on it, because the account shows its result. */
  readonly attempt?: Intent;
  /** Account that holds the object. Undefined if an earlier version saved the entry. */
  readonly account?: AccountMark;
  /** Last declared client. */
  readonly client?: string;
  /** Last queued job. Used only to interpret an unknown status word. */
  readonly job?: QueuedJob;
  /**
   * Suspension: `declared` if a declaration requested it, or the time when an apply first saw it (ISO 8601, by the host's
   * clock).
   */
  readonly suspended?: { readonly since?: string; readonly declared?: true };
  /**
   * Attributes saved as declared although they wait until the object is live, because Terraform requires saving declared
   * values. Only the Terraform provider writes this field. Readers of the state treat these attributes as not applied.
   */
  readonly waiting?: readonly string[];
}

/**
 * Id that the Terraform provider saves for an object with a `pending` creation, so that every reference to it fails. Elsewhere
 * such an object has no id.
 */
export const PENDING_CREATE = "(not known whether it was made)";

/** One resource instance in the state. */
export interface ResourceState {
  readonly address: string;
  /** Alias of the provider, or `default`. */
  readonly provider: string;
  readonly schemaVersion: number;
  /** Every attribute of the kind. Null if it has no value. */
  readonly attributes: JsonObject;
  /** Names of attributes with secret values. */
  readonly sensitive: readonly string[];
  readonly private: PrivateMark;
  /** Addresses that the resource refers to. They decide the order of removals. */
  readonly dependencies: readonly string[];
}

/** State of a project. `serial` grows with each write; `lineage` never changes. */
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
