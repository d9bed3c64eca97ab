/** The options and results of the library. */
import type { ApplyEvent, Clock } from "../core/model/index.ts";
import type { Attention, DiagnosticJson, PlanJson, RequestEvent } from "../report/index.ts";
import type { AdoptOptions, Forecast } from "./adopt/types.ts";

/** A project: its folder, its declaration, and its environment. */
export interface LoadOptions {
  /** The project's folder. Default: the working folder. */
  readonly directory?: string;
  /** Files of the declaration in YAML, relative to `directory`. Default: `hosting.yaml`, or the files that `hostform` finds. */
  readonly files?: readonly string[];
  /** A stack in place of a declaration in YAML: `cdktf.out`, or a folder with `*.tf.json`, relative to `directory`. */
  readonly stack?: string;
  /** Name of the stack. Required if there are several. */
  readonly only?: string;
  /** Variables of the stack. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The environment: `environments/NAME.yaml` with its account, state, guards and variables. Default: none. */
  readonly environment?: string;
  /** The state file, relative to `directory`, where no backend is declared. Default: `hosting.tfstate`. */
  readonly state?: string;
  /** Environment with the token and the variables of the declaration. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Files of the policy, relative to `directory`, beside those that HOSTFORM_POLICY names. Default: none. */
  readonly policy?: readonly string[];
  /** The declaration may come from a stranger: it can be planned, not applied. Default: false. */
  readonly untrusted?: boolean;
  /** Allows plain http to addresses other than loopback. Default: false. */
  readonly insecureHttp?: boolean;
  /**
   * Longest wait for a locked state, and for another process on this machine that creates with the token, in milliseconds. Default:
   * no wait for the state, and no limit for a process that lives.
   */
  readonly lockTimeoutMs?: number;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
}

/** Options of each work on a project. */
export interface WorkOptions {
  /** Stops the work: no further request leaves. Requests under way are awaited for 30 seconds, and recorded. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** A finding of a policy's function: it denies the plan, or warns. */
export type PolicyFinding = ({ readonly deny: true } | { readonly warn: true }) & {
  readonly address?: string;
  /** One sentence for people. */
  readonly sentence: string;
};

/** A function of a policy: the default export of a file of the policy. A function that throws or takes 5 seconds denies. */
export type PolicyFunction = (
  effects: PlanJson["hostform"]["effects"],
  conditions: PlanJson["hostform"]["conditions"],
  plan: PlanJson,
) => readonly PolicyFinding[] | Promise<readonly PolicyFinding[]>;

/** Messages during a work. */
export type Progress =
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "diagnostic"; readonly diagnostic: DiagnosticJson }
  | { readonly type: "request"; readonly request: RequestEvent }
  /** A request waits this many milliseconds for the budget of requests, or as the API asks. */
  | { readonly type: "waiting"; readonly ms: number }
  /** Number of listings and objects that are still to be read. */
  | { readonly type: "reading"; readonly open: number };

/** Maxima of a run. They replace the declared guards of a new plan, and only tighten those of a saved plan. */
export interface Caps {
  /** Maximum number of services and domains to order. */
  readonly maxOrders?: number;
  /** Currency -> the most to spend, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Maximum number of resources to remove. */
  readonly maxRemovals?: number;
}

/** Limits that replace the declared guards for one run. */
export interface GuardFlags extends Caps {
  /** Lifts the removal limits. Default: false. */
  readonly allowRemovals?: boolean;
  /** Also orders items without a listed price. Default: false. */
  readonly allowUnknownPrices?: boolean;
  /** Accepts that many recorded resources are missing in the account. Default: false. */
  readonly allowMissing?: boolean;
  /** Accepts another address of the account, or one without the recorded objects, and records it. Default: false. */
  readonly accountMoved?: boolean;
}

/** Options of a plan. Its limits replace the declared guards. */
export interface PlanOptions extends WorkOptions, GuardFlags {
  /** Plans the removal of everything. Default: false. */
  readonly destroy?: boolean;
  /** Only these addresses, and their dependencies. Default: all. */
  readonly targets?: readonly string[];
  /** Addresses of services to order again on purpose. */
  readonly reorder?: readonly string[];
  /** Addresses of webhooks and grants to replace on purpose, such as a webhook that needs a new secret. */
  readonly replace?: readonly string[];
  /** Addresses of services to order although the account has a similar one. */
  readonly orderAnyway?: readonly string[];
  /** Only what the declaration changes since this commit, and what refers to it. Runs `git`. Default: all. */
  readonly base?: string;
  /**
   * Part of the account to read: all of it, the objects that the plan changes and those that they refer to, or only objects that a
   * request of the plan touches. The others are planned as recorded, and the plan names them. Default: `all`.
   */
  readonly refresh?: "all" | "changed" | "none";
  /** Maximum of requests, with `all`, for lists of single services (grants); least recently read first. */
  readonly refreshBudget?: number;
}

/** Options of an apply. Its limits only tighten those of the plan. */
export interface ApplyOptions extends WorkOptions, Caps {
  /** Applies the rest of a plan of which trouble holds a part back. Default: false, such a plan is refused. */
  readonly partial?: boolean;
  /** Waits for queued jobs. Default: true. */
  readonly wait?: boolean;
  /** Time limit of that wait, in milliseconds. Default: 300,000. */
  readonly waitTimeoutMs?: number;
  /** Changes under way at once. Default: 10. */
  readonly parallelism?: number;
  readonly onEvent?: (event: ApplyEvent) => void;
}

/** Result of an apply. */
export interface Applied extends Attention {
  /** True if the whole plan is done: exit code 0 of `hostform apply`. */
  readonly complete: boolean;
  readonly changes: readonly AppliedChange[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** Addresses of creates whose outcome is unknown. */
  readonly pending: readonly string[];
}

/** The end of one change. */
export interface AppliedChange {
  readonly address: string;
  readonly result: string;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** Options of an adoption. */
export interface AdoptAccountOptions extends WorkOptions, AdoptOptions {
  /** Decides after the lists are read and before the grants are read. No file is written unless it returns true. */
  readonly approve: (forecast: Forecast) => boolean | Promise<boolean>;
}
