/**
 * `pass`: seen as specified. `differs`: seen otherwise, and hostform copes. `stops`: hostform cannot work with it.
 * `not_seen`: nothing was there to look at, or the token may not look.
 */
export type Verdict = "pass" | "differs" | "stops" | "not_seen";

/** One statement of the specification, held against what a server does. */
export interface ContractCheck {
  /** `service.fields`: stable, for programs. */
  readonly id: string;
  /** Where the specification says it: `§4 Pagination`. */
  readonly clause: string;
  /** What it says. */
  readonly says: string;
  readonly verdict: Verdict;
  /** What was seen, or why nothing was. No data of customers. */
  readonly detail?: string;
  /** What to do, where something is to be done. */
  readonly fix?: string;
}

/**
 * How a switch of the sandbox's profile came out. `seen`: a value fits. `other`: something was seen that no value is
 * like. `nothing`: there was nothing to look at. `untold`: reading cannot find it out.
 */
type Finding = "seen" | "other" | "nothing" | "untold";

/** One gap of the specification, and how a server fills it. */
export interface ContractRow {
  readonly switch: string;
  readonly finding: Finding;
  /** The value of the switch; for `seen` alone. */
  readonly value?: string;
  /** What a sandbox does that is started without a profile. */
  readonly default: string;
  /** What was seen and where, or why nothing was. No data of customers. */
  readonly evidence: string;
}

/** What `hostform contract` found out about a server. */
export interface ContractReport {
  readonly base_url: string;
  /** Whether the harmless writes were sent. */
  readonly wrote: boolean;
  /** HTTP requests made, those of them that were repetitions. */
  readonly requests: number;
  readonly repeated: number;
  readonly rows: readonly ContractRow[];
  readonly checks: readonly ContractCheck[];
  /** For `hostform sandbox --profile`; empty: the default fits. */
  readonly profile: string;
}

/** Whether anything could be read at all: a token that may read nothing shows nothing about a server. */
export function isJudged({ checks }: Pick<ContractReport, "checks">): boolean {
  return checks.some(({ id, verdict }) => id.startsWith("read.") && verdict !== "not_seen");
}
