import type { Diagnostic } from "./errors.ts";

/** Result of an access check. `unknown`: no GET request can decide. */
export type Access = "yes" | "no" | "unknown";

/** One endpoint of the API. `access`: whether the token may use it. */
export interface EndpointAccess {
  /** Method and path template, for example `GET /services/{id}`. */
  readonly endpoint: string;
  /** Required ability (§4). */
  readonly ability: string;
  readonly access: Access;
  /** Reason without a full stop: a response, or a conclusion from several. */
  readonly why: string;
}

/** Part of the responses that hostform cannot interpret. */
export interface UnreadableGap {
  /** Name of the part, for example `status of services`. */
  readonly gap: string;
  /** Words or format in the response. */
  readonly seen: string;
  /** Sentence about the effect on hostform. */
  readonly effect: string;
  /** Provider setting that solves the problem. Undefined if there is none. */
  readonly setting?: string;
}

/** Check of one account. */
export interface AccountReport {
  readonly provider: string;
  /** Base URL of the API. */
  readonly base_url?: string;
  /** Source of the token: a variable or a file. */
  readonly token_from: string;
  /**
   * Result of comparing the account with the state. `same`: the account contains objects of the state. `other`: it is another
   * account. `unknown`: the lists cannot decide. `new`: the state is empty. Null: not compared.
   */
  readonly identity: "same" | "other" | "unknown" | "new" | null;
  /**
   * Number of services on the first page of the list, and the domain of one. `more`: there are more pages. Null if the list
   * could not be read.
   */
  readonly services: { readonly count: number; readonly more: boolean; readonly domain: string | null } | null;
  readonly abilities: Readonly<Record<"view" | "technical" | "billing", Access>>;
  readonly endpoints: readonly EndpointAccess[];
  /**
   * `client_accounts`: the account has client accounts. `discount`: its hosting plans have a discount. `restricted`: the
   * token is limited to some services.
   */
  readonly client_accounts: Access;
  readonly discount: Access;
  readonly restricted: Access;
  /** Requests per minute, requests left after the check, and requests of the check. Null if the check sent none. */
  readonly requests: { readonly limit: number; readonly left: number; readonly sent: number } | null;
  /** Offset of the host's clock in milliseconds, positive if the host is ahead. Null if no response contained a date. */
  readonly clock_offset_ms: number | null;
  /** Proxy, for example `proxy.example:3128`, and its environment variable. Null without a proxy. */
  readonly proxy: { readonly address: string; readonly variable: string } | null;
  /** Path of the file that counts requests for all processes. Null if requests are counted in memory. */
  readonly store: string | null;
  readonly gaps: readonly UnreadableGap[];
  /** Settings that no GET request can determine. */
  readonly undetermined: readonly string[];
  /** Sandbox options that imitate this host. Empty if the defaults do. */
  readonly profile: string;
  readonly problems: readonly Diagnostic[];
}

/** Check of the state. */
export interface StateReport {
  /** Location of the state: a file or a backend. */
  readonly place: string;
  /** Number of resources in the state. Null if the state does not exist or is unreadable. */
  readonly resources: number | null;
  readonly encrypted: boolean | null;
  /**
   * Sentence about the process that has the lock. Null if the lock is free. `unknown`: only the backend can determine this.
   */
  readonly lock: string | "unknown" | null;
  readonly problems: readonly Diagnostic[];
}

/** Report of `hostform doctor`. */
export interface DoctorReport {
  readonly format_version: "1.0";
  /** True if no problem was found. */
  readonly healthy: boolean;
  readonly accounts: readonly AccountReport[];
  /** State of the project. Null without a project. */
  readonly state: StateReport | null;
  /** Problems that do not belong to one account, such as mistakes in the declaration. */
  readonly problems: readonly Diagnostic[];
}
