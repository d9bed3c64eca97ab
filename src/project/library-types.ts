/** The options and results of the library. */
import type { AccountStore } from "../core/local/account-store.ts";
import type { ApplyEvent, Channel, Clock, Diagnostic, Receipt, Unpaid } from "../core/model/index.ts";
import type { StateLock } from "../core/record/lock.ts";
import type { StateText } from "../core/record/state-file.ts";
import type {
  AccountReport,
  Attention,
  DiagnosticJson,
  PlanJson,
  RehearsalJson,
  RequestEvent,
  SectionName,
  TextStyle,
} from "../report/index.ts";
import type { AdoptOptions, Forecast } from "./adopt/types.ts";
import type { DeclarationValue } from "./declaration.gen.ts";

export type { AccountStore, DeclarationValue, Diagnostic, StateLock, StateText };

export interface LoadOptions {
  /** The project's folder. Default: the working folder. */
  readonly directory?: string;
  /** Folder for relative paths in environment variables, such as HOSTFORM_POLICY, and in messages. Default: `directory`. */
  readonly cwd?: string;
  /** Files of the declaration in YAML, relative to `directory`. Default: `hosting.yaml`, or the files that `hostform` finds. */
  readonly files?: readonly string[];
  /** A declaration as a value, instead of files. Errors contain the path in the value, such as `services.www.plan_id`. */
  readonly declaration?: DeclarationValue;
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
  /** The state, if no backend is declared: a file, relative to `directory`, or a storage. Default: `hosting.tfstate`. */
  readonly state?: string | OwnState;
  /** Opens the store of an account. Default: a file in the user's state folder, or PostgreSQL (`HOSTFORM_STORE`). */
  readonly store?: OpenStore;
  /** Environment variables with the token and the variables of the declaration. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Policy files, relative to `directory`. They are added to the files in HOSTFORM_POLICY. Default: none. */
  readonly policy?: readonly string[];
  /** True if untrusted people may have written the declaration. It can then be planned but not applied. Default: false. */
  readonly untrusted?: boolean;
  /** True if an agent writes the declaration. @internal */
  readonly isProposed?: boolean | undefined;
  /** Allows HTTP without TLS to other hosts than loopback. Default: false. */
  readonly insecureHttp?: boolean;
  /**
   * Maximum wait in milliseconds for a locked state, and for the create lock that processes on this machine share for one
   * token. Default: do not wait for the state, and wait for the create lock without a limit.
   */
  readonly lockTimeoutMs?: number;
  /** Sends the notifications of plans and applies, as the command line does in CI, also to the given channels. Default: false. */
  readonly notify?: boolean | readonly Channel[];
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * A storage of the state. A written text is durable when the promise resolves, because it contains the ids of paid orders.
 * `verify` runs directly before the replacement. The lock excludes every other writer, in all processes and machines.
 */
export interface OwnState {
  /** `name` identifies the state in messages and in the store. */
  readonly text: StateText;
  readonly lock: StateLock;
}

/**
 * Opens the store of an account: the same facts for all processes that use its token. Each project needs its own instance, because the
 * creates of one instance run simultaneously.
 * @param of `account`: digest of URL and token. `origin`: origin of the API.
 */
export type OpenStore = (of: { readonly account: string; readonly origin: string }) => AccountStore;

/** Options of each method of a project. */
export interface WorkOptions {
  /**
   * Stops the method: no more requests are sent. The method waits up to 30 seconds for requests in progress and saves their
   * results.
   */
  readonly signal?: AbortSignal | undefined;
  /** Cancels requests in progress after {@link signal}, as the second Ctrl-C does. Their creates stay pending. */
  readonly now?: AbortSignal | undefined;
  readonly onProgress?: (progress: Progress) => void;
}

/** A result of a policy function. It rejects the plan, or warns. */
export type PolicyFinding = ({ readonly deny: true } | { readonly warn: true }) & {
  readonly address?: string;
  /** One sentence for the user. */
  readonly sentence: string;
};

/**
 * A policy function: the default export of a policy file. If it throws or takes more than 5 seconds, the plan is rejected.
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
  /** A request waits `ms` milliseconds, because of the request limit or because the API asked for a pause. */
  | { readonly type: "waiting"; readonly ms: number }
  /** Number of lists and objects that are not read yet. */
  | { readonly type: "reading"; readonly open: number };

/** Limits of a run. They replace the declared guards of a new plan. For a saved plan, they can only tighten the guards. */
export interface Caps {
  /** Maximum number of services and domains to order. */
  readonly maxOrders?: number;
  /** Maximum amount to spend by currency, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Maximum number of resources to destroy. */
  readonly maxRemovals?: number;
}

/** Limits of one run. They replace the declared guards. */
export interface GuardFlags extends Caps {
  /** Disables the removal limits. Default: false. */
  readonly allowRemovals?: boolean;
  /** Also orders products without a listed price. Default: false. */
  readonly allowUnknownPrices?: boolean;
  /** Accepts any number of resources that are in the state and missing in the account. Default: false. */
  readonly allowMissing?: boolean;
  /**
   * Accepts another URL of the account, or an account that contains none of the objects in the state. Saves its new identity.
   * Default: false.
   */
  readonly accountMoved?: boolean;
}

/** Options of a plan. Its limits replace the declared guards. */
export interface PlanOptions extends WorkOptions, GuardFlags {
  /** Plans to destroy all resources. Default: false. */
  readonly destroy?: boolean;
  /** True if the program applies the plan without an approval. No notification then says that the plan waits. Default: false. */
  readonly approved?: boolean;
  /** Locks the state during the plan. Default: only if `lockTimeoutMs` is set. */
  readonly lock?: boolean;
  /** Plans only these addresses and their dependencies. Default: all. */
  readonly targets?: readonly string[];
  /** Addresses of services to order again. */
  readonly reorder?: readonly string[];
  /** Addresses of webhooks and grants to replace, for example a webhook that needs a new secret. */
  readonly replace?: readonly string[];
  /** Addresses of services to order even if the account has a similar service. */
  readonly orderAnyway?: readonly string[];
  /** Plans only resources that changed since this commit, and their dependents. Runs `git`. Default: all. */
  readonly base?: string;
  /**
   * Objects to read. `all`: everything. `changed`: objects that the plan changes, and their dependencies. `none`: only
   * objects that a request of the plan changes. All other objects are planned from the state, and the plan lists them.
   * Default: `all`.
   */
  readonly refresh?: "all" | "changed" | "none";
  /**
   * Maximum number of requests for lists of single services (grants), with `all`. Lists with the oldest reading come first.
   */
  readonly refreshBudget?: number;
}

/** Options of an apply. Its limits can only tighten the limits of the plan. */
export interface ApplyOptions extends WorkOptions, Caps {
  /** Text of a mandate. Required if `HOSTFORM_APPROVERS` is set. Default: none. */
  readonly mandate?: string;
  /** Applies the changes that no error affects. Default: false; a plan with skipped changes is then rejected. */
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
  /** True if everything in the plan was applied (exit code 0 of `hostform apply`). */
  readonly complete: boolean;
  readonly changes: readonly AppliedChange[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** Addresses of create requests with an unknown result. */
  readonly pending: readonly string[];
  /** Receipt of the mandate. */
  readonly receipt?: Receipt | undefined;
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

/** A status of the account. `sections`: default are the sections of `hostform status`. */
export interface Status {
  readonly report: AccountReport;
  text(sections?: readonly SectionName[]): string;
  markdown(sections?: readonly SectionName[]): string;
  html(sections?: readonly SectionName[]): string;
  csv(section: SectionName): string;
}

/** Options of a rehearsal. `plan`: the plan to rehearse. Default: a new plan. */
export interface RehearsalOptions extends WorkOptions {
  /** Time that runs, from 1 to 36 months. Default: 12. */
  readonly months?: number;
  /** True to apply again with a lost response or a crash at each request. Default: false. */
  readonly faults?: boolean;
  /** Invoices that nobody pays: none, those that are open today, or all. Default: `none`. */
  readonly unpaid?: Unpaid;
}

/** A rehearsal of a plan. */
export interface Rehearsed {
  readonly report: RehearsalJson;
  text(style?: TextStyle): string;
  /** Returns a part of a review comment, for the place under the plan. */
  markdown(): string;
  html(): string;
}

/** Options of an adoption. */
export interface AdoptAccountOptions extends WorkOptions, AdoptOptions {
  /**
   * Decides whether the adoption continues. Called after the lists are read and before the grants. If false, nothing is
   * written.
   */
  readonly approve: (forecast: Forecast) => boolean | Promise<boolean>;
}
