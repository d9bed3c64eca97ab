// The record of a project.
import type { Json, JsonObject } from "./value.ts";

/**
 * A request that was begun. It is durable before the request leaves, and is removed with the answer: one that is found later
 * belongs to a run that was interrupted.
 */
export interface Intent {
  /** Unique for a create; it travels with the state. Absent: an earlier version recorded the create. */
  readonly id?: string;
  /** Time of the first attempt (ISO 8601, by the host's clock). */
  readonly since: string;
  /** Time of the last attempt, if there were several. */
  readonly resent?: string;
  /** Each attempt leaves within 5 seconds after its record, or not at all. Absent: an earlier version recorded it. */
  readonly fenced?: true;
  /** The endpoint: `createService`. */
  readonly operation: string;
  readonly params?: Readonly<Record<string, string>>;
  /** The body exactly as it was sent. Never there for a request that holds a password. */
  readonly body?: JsonObject;
  /** §4: of an order. */
  readonly idempotencyKey?: string;
  /** The API accepted it and did not say what it made: hostform looks for that, and never sends it again automatically. */
  readonly accepted?: true;
  /** Ids that a list showed before a create, without those of other addresses. */
  readonly known?: readonly string[];
  /** `known` is all of them. Absent: only those that are like it; there were too many, or an earlier version wrote it. */
  readonly knowsAll?: true;
}

/** A queued job (§3) that hostform asked for and whose end it has not seen. */
export interface QueuedJob {
  /** Time of the request (ISO 8601). */
  readonly since: string;
  /** The phase that shows that it is done. */
  readonly toward: "live" | "suspended";
  /** The status word before; null when the API showed none. */
  readonly before: string | null;
}

/** Value that a host shows in place of the sent one. */
export type OwnForm = {
  readonly sent: Json;
  readonly is: Json;
  /** Number of changes in a row that sent the value and did not make the host show it. */
  readonly times: number;
  /** Observed of the object that this one replaced: no list has shown this one. */
  readonly earlier?: true;
  /** No request of hostform led to it: somebody changed the object, or the user adopted one with this value. It is never equal to `sent`. */
  readonly foreign?: true;
};

/** An object that a list of the account has shown, managed or not: evidence of which account this is. */
export interface Anchor {
  readonly type: string;
  readonly id: string;
  /** Null: the host does not show it. */
  readonly created_at: string | null;
}

/** The account that holds an object. */
export interface AccountMark {
  /** Scheme, host, port and path of the API's address. A loopback address has no port: it changes with each start. */
  readonly origin: string;
  /** Oldest first. The records of a provider share the anchors among them. */
  readonly anchors: readonly Anchor[];
}

/**
 * What hostform must remember of a resource beside its attributes. Stored in the instance's `private` field (base64
 * JSON), the one place in a Terraform state that Terraform keeps for the provider and does not show.
 */
export interface PrivateMark {
  /** Number of orders at this address on purpose; part of the Idempotency-Key. Absent: 1. */
  readonly generation?: number;
  /**
   * Time of the creation (ISO 8601, by the host's clock): lists may lack the object for some time (`list_lag`), and teach its
   * own forms.
   */
  readonly created?: string;
  /** The attributes of the object that this one replaced and that remains to be deleted. */
  readonly deposed?: JsonObject;
  /**
   * The host's own forms, by attribute. A version before this one recorded the form alone, without the value that it stands for:
   * that is the recorded value.
   */
  readonly shown?: JsonObject;
  /** A create that was begun and whose result is unknown. */
  readonly pending?: Intent;
  /** A request whose answer, which alone shows a secret, was empty: it is sent once more, and not a third time. */
  readonly emptied?: string;
  /** Any other request that was begun. Nothing depends on it: the account shows its result. */
  readonly attempt?: Intent;
  /** Absent: an earlier version recorded it. */
  readonly account?: AccountMark;
  /** Client, as last declared. */
  readonly client?: string;
  /** Only shows what a status word that is not understood should mean. */
  readonly job?: QueuedJob;
  /** A suspension: a declaration asked for it, or the time at which an apply saw it first (ISO 8601, by the host's clock). */
  readonly suspended?: { readonly since?: string; readonly declared?: true };
  /**
   * Attributes that are recorded as declared although they wait until the object is live: Terraform insists that what is
   * declared is recorded. Written by the Terraform provider alone; readers of the state take them for not done.
   */
  readonly waiting?: readonly string[];
}

/**
 * The id that the Terraform provider writes for an object whose create is `pending`, so that every reference to it fails. Elsewhere
 * such an object has no id.
 */
export const PENDING_CREATE = "(not known whether it was made)";

/** One resource instance as last recorded. */
export interface ResourceState {
  readonly address: string;
  /** The provider's alias; `default` for the one without an alias. */
  readonly provider: string;
  readonly schemaVersion: number;
  /** Every attribute of the kind, null where there is no value. */
  readonly attributes: JsonObject;
  /** Names of attributes whose values are secret. */
  readonly sensitive: readonly string[];
  readonly private: PrivateMark;
  /** Resource addresses that it refers to; decides the order of removal. */
  readonly dependencies: readonly string[];
}

/** Everything recorded of a project. `serial` grows with each write, `lineage` never changes. */
export interface State {
  readonly lineage: string;
  readonly serial: number;
  readonly resources: ReadonlyMap<string, ResourceState>;
  /** By name. */
  readonly outputs?: ReadonlyMap<string, OutputState>;
}

/** One output as last recorded. */
export interface OutputState {
  readonly value: Json;
  /** Terraform's type of it: `"string"`, `["list", "string"]`. */
  readonly type: Json;
  readonly sensitive: boolean;
}
