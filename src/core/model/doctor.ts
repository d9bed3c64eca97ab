import type { Diagnostic } from "./errors.ts";

/** `unknown`: no GET shows it. */
export type Access = "yes" | "no" | "unknown";

/** One endpoint of the API, and whether the token may use it. */
export interface EndpointAccess {
  /** `GET /services/{id}`. */
  readonly endpoint: string;
  /** Ability that it needs (§4). */
  readonly ability: string;
  readonly access: Access;
  /** Evidence, as a sentence without a full stop: an answer, or the rule that follows from other answers. */
  readonly why: string;
}

/** A part of the host's answers that hostform cannot read. */
export interface UnreadableGap {
  /** `status of services`. */
  readonly gap: string;
  /** Words of the host, or a form of an answer. */
  readonly seen: string;
  /** Sentence about what hostform does instead. */
  readonly effect: string;
  /** Setting of the provider that helps. Absent: none does. */
  readonly setting?: string;
}

/** Examination of one account. */
export interface AccountReport {
  readonly provider: string;
  /** Absent: no address is known. */
  readonly base_url?: string;
  /** Source of the token: a variable or a file. */
  readonly token_from: string;
  /**
   * `same`: it has objects that the state recorded. `other`: it is another account. `unknown`: the state has records, and the lists
   * do not decide. `new`: nothing is recorded. Null: the account was not compared.
   */
  readonly identity: "same" | "other" | "unknown" | "new" | null;
  /** Number of services on the first page, and the domain of one. Null: unknown. `more`: there are further pages. */
  readonly services: { readonly count: number; readonly more: boolean; readonly domain: string | null } | null;
  readonly abilities: Readonly<Record<"view" | "technical" | "billing", Access>>;
  readonly endpoints: readonly EndpointAccess[];
  /** The account has client accounts; its plans have a discount; the token is restricted to services. */
  readonly client_accounts: Access;
  readonly discount: Access;
  readonly restricted: Access;
  /** Requests a minute, those left after the examination, and those that it sent. Null: none was sent. */
  readonly requests: { readonly limit: number; readonly left: number; readonly sent: number } | null;
  /** Offset of the host's clock, in milliseconds; positive when the host is ahead. Null: no answer had a date. */
  readonly clock_offset_ms: number | null;
  /** `proxy.example:3128`, and the variable that names it; null without a proxy. */
  readonly proxy: { readonly address: string; readonly variable: string } | null;
  /** File of the store that processes share; null: requests are counted in memory. */
  readonly store: string | null;
  readonly gaps: readonly UnreadableGap[];
  /** Settings that no GET returns. */
  readonly undetermined: readonly string[];
  /** Switches by which a sandbox imitates the host; empty: the sandbox's default does. */
  readonly profile: string;
  readonly problems: readonly Diagnostic[];
}

/** Examination of the state. */
export interface StateReport {
  /** A file, or a backend. */
  readonly place: string;
  /** Number of recorded resources; null: there is no state yet, or it cannot be read. */
  readonly resources: number | null;
  readonly encrypted: boolean | null;
  /** The process that holds the lock, as a sentence; null: nobody does. `unknown`: only the server of the state knows. */
  readonly lock: string | "unknown" | null;
  readonly problems: readonly Diagnostic[];
}

/** The report of the doctor. */
export interface DoctorReport {
  readonly format_version: "1.0";
  /** There is no problem. */
  readonly healthy: boolean;
  readonly accounts: readonly AccountReport[];
  /** Null: the account was named apart from the project. */
  readonly state: StateReport | null;
  /** Problems that concern no single account: those of the declaration. */
  readonly problems: readonly Diagnostic[];
}
