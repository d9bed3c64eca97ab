import type { Diagnostic } from "./errors.ts";

/** Result of an access check. `unknown`: no GET shows it. */
export type Access = "yes" | "no" | "unknown";

/** One endpoint of the API, and whether the token may use the endpoint. */
export interface EndpointAccess {
  /** Method and path template, for example `GET /services/{id}`. */
  readonly endpoint: string;
  /** Required ability (§4). */
  readonly ability: string;
  readonly access: Access;
  /** Reason without a full stop: a response, or a conclusion from several responses. */
  readonly why: string;
}

/** Part of the host's responses that hostform cannot read. */
export interface UnreadableGap {
  /** Unreadable part, for example `status of services`. */
  readonly gap: string;
  /** Words of the host, or the format of a response. */
  readonly seen: string;
  /** Sentence about the effect on hostform. */
  readonly effect: string;
  /** Provider setting that solves the problem. Undefined if no setting does. */
  readonly setting?: string;
}

/** Check of one account. */
export interface AccountReport {
  readonly provider: string;
  /** Base URL of the API. Undefined if unknown. */
  readonly base_url?: string;
  /** Source of the token: a variable or a file. */
  readonly token_from: string;
  /**
   * Result of comparing the account with the state. `same`: the account has objects of the state. `other`: the account differs.
   * `unknown`: the lists do not decide. `new`: the state is empty. Null if nothing was compared.
   */
  readonly identity: "same" | "other" | "unknown" | "new" | null;
  /**
   * Number of services on the first page, and the domain of one of them. `more`: true if further pages exist. Null if the list
   * is unknown.
   */
  readonly services: { readonly count: number; readonly more: boolean; readonly domain: string | null } | null;
  readonly abilities: Readonly<Record<"view" | "technical" | "billing", Access>>;
  readonly endpoints: readonly EndpointAccess[];
  /**
   * `client_accounts`: the account has client accounts. `discount`: its hosting plans have a discount. `restricted`: the
   * token's scope is limited to some services.
   */
  readonly client_accounts: Access;
  readonly discount: Access;
  readonly restricted: Access;
  /** Requests per minute, requests left after the check, and requests that the check sent. Null if none was sent. */
  readonly requests: { readonly limit: number; readonly left: number; readonly sent: number } | null;
  /** Offset of the host's clock in milliseconds, positive if the host is ahead. Null if no response had a date. */
  readonly clock_offset_ms: number | null;
  /** Proxy, for example `proxy.example:3128`, and its environment variable. Null without a proxy. */
  readonly proxy: { readonly address: string; readonly variable: string } | null;
  /** Path of the shared request counter file. Null if requests are counted in memory. */
  readonly store: string | null;
  readonly gaps: readonly UnreadableGap[];
  /** Settings that no GET returns. */
  readonly undetermined: readonly string[];
  /** Sandbox options that imitate the host. Empty if the sandbox's default does. */
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
  /** Sentence about the process that holds the lock. Null if nobody does. `unknown`: only the state backend knows. */
  readonly lock: string | "unknown" | null;
  readonly problems: readonly Diagnostic[];
}

/** Report of `hostform doctor`. */
export interface DoctorReport {
  readonly format_version: "1.0";
  /** True if no problem was found. */
  readonly healthy: boolean;
  readonly accounts: readonly AccountReport[];
  /** State of the project. Null if the account was given without a project. */
  readonly state: StateReport | null;
  /** Problems that concern no single account, such as mistakes in the declaration. */
  readonly problems: readonly Diagnostic[];
}
