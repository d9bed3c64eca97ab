/**
 * `pass`: seen as specified. `differs`: seen otherwise, and hostform copes. `stops`: hostform cannot work with it.
 * `not_seen`: there was nothing to look at, or the token may not read it.
 */
export type Verdict = "pass" | "differs" | "stops" | "not_seen";

/** One statement of the specification, compared with what a server does. */
export interface ContractCheck {
  /** `service.fields`: stable, for programs. */
  readonly id: string;
  /** Clause of the specification: `§4 Pagination`. */
  readonly clause: string;
  readonly says: string;
  readonly verdict: Verdict;
  /** Observation, or the reason why there is none. No data of customers. */
  readonly detail?: string;
  readonly fix?: string;
}

/**
 * The result for a switch of the sandbox's profile. `seen`: a value fits. `other`: no value fits. `nothing`: there was
 * nothing to look at. `untold`: reading does not show it.
 */
type Finding = "seen" | "other" | "nothing" | "untold";

/** One gap of the specification, and how a server fills it. */
export interface ContractRow {
  readonly switch: string;
  readonly finding: Finding;
  /** The value of the switch; for `seen` alone. */
  readonly value?: string;
  /** Default of the sandbox. */
  readonly default: string;
  /** Observation with its place, or the reason why there is none. No data of customers. */
  readonly evidence: string;
}

/** The result of a contract check. */
export interface ContractReport {
  readonly base_url: string;
  /** The harmless writes were sent. */
  readonly wrote: boolean;
  /** HTTP requests made, those of them that were repetitions. */
  readonly requests: number;
  readonly repeated: number;
  readonly rows: readonly ContractRow[];
  readonly checks: readonly ContractCheck[];
  /** For `hostform sandbox --profile`; empty: the default fits. */
  readonly profile: string;
}

/** Returns true if anything could be read: a token that may read nothing shows nothing about a server. */
export function isJudged({ checks }: Pick<ContractReport, "checks">): boolean {
  return checks.some(({ id, verdict }) => id.startsWith("read.") && verdict !== "not_seen");
}
