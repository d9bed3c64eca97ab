/** The options and results of the library. */
import type { ApplyEvent, Clock } from "../core/model/index.ts";
import type { Attention, DiagnosticJson, PlanJson, RequestEvent } from "../report/index.ts";
import type { AdoptOptions, Forecast } from "./adopt/types.ts";

/** Options of a project and its reading. */
export interface LoadOptions {
  /** The project's folder. Default: the working folder. */
  readonly dir?: string;
  /** Files of the declaration in YAML, relative to `dir`. Default: `hosting.yaml`, or the files that `hostform` finds. */
  readonly files?: readonly string[];
  /** A stack in place of a declaration in YAML: `cdktf.out`, or a folder with `*.tf.json`, relative to `dir`. */
  readonly stack?: string;
  /** The name of the stack, where there are several. */
  readonly only?: string;
  /** Variables of the stack. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The environment: `environments/NAME.yaml` with its account, state, guards and variables. Default: none. */
  readonly environment?: string;
  /** The state file, relative to `dir`, where no backend is declared. Default: `hosting.tfstate`. */
  readonly state?: string;
  /** Holds the token and what the declaration refers to. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The declaration may come from a stranger: it can be planned, not applied. Default: false. */
  readonly untrusted?: boolean;
  /** Allows plain http to addresses other than loopback. Default: false. */
  readonly insecureHttp?: boolean;
  /**
   * Longest wait for a locked state, and for another process on this machine that creates with the token, in milliseconds. Default:
   * no wait for the state, and no limit for a process that lives.
   */
  readonly lockTimeoutMs?: number;
  /** Stops what is done with the project: nothing that has not left is sent any more; what is under way is awaited and recorded. */
  readonly signal?: AbortSignal;
  /** Receives messages during the work. */
  readonly onMessage?: (message: Message) => void;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
}

/** Messages beside the results. */
export type Message =
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "diagnostic"; readonly diagnostic: DiagnosticJson }
  | { readonly type: "request"; readonly request: RequestEvent }
  /** A request waits so many milliseconds for the budget of requests, or as the API asks. */
  | { readonly type: "waiting"; readonly ms: number }
  /** Number of listings and objects that are still to be read. */
  | { readonly type: "reading"; readonly open: number };

/** A project whose declaration has no mistakes. */
export interface LoadedProject {
  /** The addresses that it declares: `hosting_service.acme`. */
  readonly addresses: readonly string[];
  readonly warnings: readonly DiagnosticJson[];
}

/** Options of a plan, with its limits. */
export interface PlanOptions {
  /** Plans the removal of everything. Default: false. */
  readonly destroy?: boolean;
  /** Only these addresses, and what they depend on. Default: all. */
  readonly targets?: readonly string[];
  /** Addresses of services to order again on purpose. */
  readonly reorder?: readonly string[];
  /** Addresses of webhooks and grants to replace on purpose, such as a webhook whose secret is to change. */
  readonly replace?: readonly string[];
  /** Addresses of services to order although something like them exists. */
  readonly orderAnyway?: readonly string[];
  /** Only what the declaration changes since this commit, and what refers to it. Runs `git`. Default: all. */
  readonly base?: string;
  /**
   * How much of the account is read: everything, what the plan changes against the state and all that this refers to, or only
   * what a request of the plan touches. The rest is planned as it was recorded, and the plan names it. Default: `all`.
   */
  readonly refresh?: "all" | "changed" | "false";
  /** Maximum of requests, with `all`, for lists of single services (grants); least recently read first. */
  readonly refreshBudget?: number;
  /** At most so many services and domains are ordered. */
  readonly maxOrders?: number;
  /** Currency -> the most to spend, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** At most so many resources are removed. */
  readonly maxRemovals?: number;
  /** Lifts the removal limits. Default: false. */
  readonly allowRemovals?: boolean;
  /** Also orders what has no listed price. Default: false. */
  readonly allowUnknownPrices?: boolean;
  /** Accepts that many recorded resources are missing in the account. Default: false. */
  readonly allowMissing?: boolean;
  /** Accepts another address of the account, or one without the recorded objects, and records it. Default: false. */
  readonly accountMoved?: boolean;
  /** Writes the plan to a file, relative to the project's folder, for {@link ApplyOptions.saved}, unless it cannot be applied. */
  readonly saveTo?: string;
}

/** A plan: what would change, and whether it may. */
export interface Planned extends Attention {
  /** Terraform's representation, as `hostform plan --json` prints it. */
  readonly json: PlanJson;
  readonly diagnostics: readonly DiagnosticJson[];
  readonly hasChanges: boolean;
  /** True if all of it can be applied: it has no errors, nothing is held back, and the token may read what is declared. */
  readonly applicable: boolean;
  /** Addresses that trouble holds back: {@link ApplyOptions.partial} applies the rest. */
  readonly heldBack: readonly string[];
  /** For people, as `hostform plan` prints it. */
  text(): string;
  /** For a review comment. */
  markdown(): string;
  /** A page of its own. */
  html(): string;
}

/** Options of an apply. */
export interface ApplyOptions extends Omit<PlanOptions, "saveTo"> {
  /**
   * Decides on the plan while the state is locked; nothing is changed unless it returns true. A saved plan was decided on
   * when it was made: it is carried out exactly, or refused.
   */
  readonly approve: (plan: Planned) => boolean | Promise<boolean>;
  /** A file that {@link PlanOptions.saveTo} wrote. The other options of the plan come from it; its limits can be tightened. */
  readonly saved?: string;
  /** Asks `approve` for the rest of a plan of which trouble holds a part back. Default: false, such a plan is not applied. */
  readonly partial?: boolean;
  /** Waits for queued jobs. Default: true. */
  readonly wait?: boolean;
  /** For how long, in milliseconds. Default: 300,000. */
  readonly waitTimeoutMs?: number;
  /** Changes under way at once. Default: 10. */
  readonly parallelism?: number;
  readonly onEvent?: (event: ApplyEvent) => void;
}

/** Result of an apply. */
export interface Applied extends Attention {
  readonly plan: Planned;
  /** True if `approve` returned true. If not, nothing was changed. */
  readonly approved: boolean;
  /** True if everything that the plan says is done: exit code 0 of `hostform apply`. */
  readonly complete: boolean;
  readonly changes: readonly AppliedChange[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** Addresses of creates of which it is not known whether the host has made them. */
  readonly pending: readonly string[];
}

/** The end of one change. */
export interface AppliedChange {
  readonly address: string;
  readonly result: string;
  readonly diagnostics: readonly DiagnosticJson[];
}

/** Options of an adoption: the account, and the folder. */
export interface AdoptLibraryOptions extends LoadOptions, AdoptOptions {
  /** Decides when it is known what is there, before the grants are read; nothing is written unless it returns true. */
  readonly approve: (forecast: Forecast) => boolean | Promise<boolean>;
}
