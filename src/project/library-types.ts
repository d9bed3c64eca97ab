/** The options and results of the library. */
import type { ApplyEvent, Clock } from "../core/model/index.ts";
import type { AccountReport, Attention, DiagnosticJson, PlanJson, RequestEvent, SectionName } from "../report/index.ts";
import type { AdoptOptions, Forecast } from "./adopt/types.ts";

export interface LoadOptions {
  /** The project's folder. Default: the working folder. */
  readonly directory?: string;
  /** Files of the declaration in YAML, relative to `directory`. Default: `hosting.yaml`, or the files that `hostform` finds. */
  readonly files?: readonly string[];
  /** A stack instead of a YAML declaration: `cdktf.out`, or a folder with `*.tf.json`, relative to `directory`. */
  readonly stack?: string | undefined;
  /** Name of the stack. Required if the source has several stacks. */
  readonly only?: string;
  /** Variables of the stack. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * A file with `templates` and `defaults` that several projects share: its path, relative to `directory`, and its version for
   * people. Default: none.
   */
  readonly templates?: { readonly file: string; readonly version: string } | undefined;
  /** Name of the environment. `environments/NAME.yaml` has its account, state, guards and variables. Default: none. */
  readonly environment?: string | undefined;
  /** The state file, relative to `directory`, if no backend is declared. Default: `hosting.tfstate`. */
  readonly state?: string;
  /** Environment variables with the token and the variables of the declaration. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Policy files, relative to `directory`. They are added to the files in HOSTFORM_POLICY. Default: none. */
  readonly policy?: readonly string[];
  /** True if the declaration may come from untrusted people. It can be planned, but not applied. Default: false. */
  readonly untrusted?: boolean;
  /** Allows HTTP without TLS to hosts other than loopback. Default: false. */
  readonly insecureHttp?: boolean;
  /**
   * Maximum wait in milliseconds for a locked state, and for the create lock of another process on this machine with
   * the same token. By default, a run does not wait for the state, and waits for a running process without a limit.
   */
  readonly lockTimeoutMs?: number;
  /** Sends the notifications of plans and applies, as the command line does in CI. Default: false. */
  readonly notify?: boolean;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Options of each method of a project. */
export interface WorkOptions {
  /**
   * Stops the method: no further request is sent. The method waits up to 30 seconds for requests in progress, and saves
   * their results.
   */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** A finding of a policy function. It denies the plan or warns. */
export type PolicyFinding = ({ readonly deny: true } | { readonly warn: true }) & {
  readonly address?: string;
  /** One sentence for the user. */
  readonly sentence: string;
};

/**
 * A policy function: the default export of a policy file. If the function throws or needs more than 5 seconds, the plan
 * is denied.
 */
export type PolicyFunction = (
  effects: PlanJson["hostform"]["effects"],
  conditions: PlanJson["hostform"]["conditions"],
  plan: PlanJson,
) => readonly PolicyFinding[] | Promise<readonly PolicyFinding[]>;

/** Progress messages of a method. */
export type Progress =
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "diagnostic"; readonly diagnostic: DiagnosticJson }
  | { readonly type: "request"; readonly request: RequestEvent }
  /** A request waits for this many milliseconds, because of the request budget or because the API asks for a pause. */
  | { readonly type: "waiting"; readonly ms: number }
  /** Number of listings and objects that are not read yet. */
  | { readonly type: "reading"; readonly open: number };

/**
 * Caps of a run. They replace the declared guards of a new plan. For a saved plan, they can only tighten the guards.
 */
export interface Caps {
  /** Maximum number of services and domains to order. */
  readonly maxOrders?: number;
  /** Currency -> maximum amount to spend, in the API's unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Maximum number of resources to destroy. */
  readonly maxRemovals?: number;
}

/** Limits that replace the declared guards for one run. */
export interface GuardFlags extends Caps {
  /** Disables the removal limits. Default: false. */
  readonly allowRemovals?: boolean;
  /** Also orders products without a listed price. Default: false. */
  readonly allowUnknownPrices?: boolean;
  /** Accepts that many resources of the state are missing in the account. Default: false. */
  readonly allowMissing?: boolean;
  /**
   * Accepts another URL of the account, or an account without the objects of the state, and saves its new identity.
   * Default: false.
   */
  readonly accountMoved?: boolean;
}

/** Options of a plan. Its limits replace the declared guards. */
export interface PlanOptions extends WorkOptions, GuardFlags {
  /** Plans to destroy all resources. Default: false. */
  readonly destroy?: boolean;
  /** Locks the state during the plan. Default: only if `lockTimeoutMs` is set. */
  readonly lock?: boolean;
  /** Plans only these addresses and their dependencies. Default: all. */
  readonly targets?: readonly string[];
  /** Addresses of services to order again intentionally. */
  readonly reorder?: readonly string[];
  /** Addresses of webhooks and grants to replace intentionally, such as a webhook that needs a new secret. */
  readonly replace?: readonly string[];
  /** Addresses of services to order although the account has a similar service. */
  readonly orderAnyway?: readonly string[];
  /**
   * Plans only the changes of the declaration since this commit, and the resources that refer to them. Runs `git`.
   * Default: all.
   */
  readonly base?: string;
  /**
   * Part of the account to read. `all`: everything. `changed`: the objects that the plan changes and the objects that
   * they refer to. `none`: only objects that a request of the plan changes. Other objects are planned from the state,
   * and the plan lists them. Default: `all`.
   */
  readonly refresh?: "all" | "changed" | "none";
  /**
   * Maximum number of requests, with `all`, for lists of single services (grants). The lists with the oldest read come
   * first.
   */
  readonly refreshBudget?: number;
}

/** Options of an apply. Its limits can only tighten the limits of the plan. */
export interface ApplyOptions extends WorkOptions, Caps {
  /** Applies the changes that no error affects. Default: false, which rejects a plan with skipped changes. */
  readonly partial?: boolean;
  /** True to wait for queued jobs. Default: true. */
  readonly wait?: boolean;
  /** Time limit for queued jobs, in milliseconds. Default: 300,000. */
  readonly waitTimeoutMs?: number;
  /** Number of parallel changes. Default: 10. */
  readonly parallelism?: number;
  readonly onEvent?: (event: ApplyEvent) => void;
}

export interface Applied extends Attention {
  /** True if the plan is completely applied (exit code 0 of `hostform apply`). */
  readonly complete: boolean;
  readonly changes: readonly AppliedChange[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** Addresses of create requests with an unknown result. */
  readonly pending: readonly string[];
}

/** Result of one change. */
export interface AppliedChange {
  readonly address: string;
  readonly result: string;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** Options of a status. */
export interface StatusFlags {
  /** Only these resources: addresses, patterns, or clients. Default: the whole account. */
  readonly targets?: readonly string[] | undefined;
  /** Only this provider. Default: all providers of the project. */
  readonly provider?: string | undefined;
  /** Also reads the grants of each service, with one request per service. Default: the grants in the state. */
  readonly full?: boolean | undefined;
}

export interface StatusOptions extends WorkOptions, StatusFlags {}

/** A status of the account. Without names, its texts contain the sections of `hostform status`. */
export interface Status {
  readonly report: AccountReport;
  text(sections?: readonly SectionName[]): string;
  markdown(sections?: readonly SectionName[]): string;
  html(sections?: readonly SectionName[]): string;
  csv(section: SectionName): string;
}

/** Options of an adoption. */
export interface AdoptAccountOptions extends WorkOptions, AdoptOptions {
  /**
   * Decides whether the adoption continues. Called after the lists are read and before the grants are read. If the result is
   * false, the adoption changes neither the declaration nor the state.
   */
  readonly approve: (forecast: Forecast) => boolean | Promise<boolean>;
}
