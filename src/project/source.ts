import type { RequestEvent, Wait } from "../core/api/index.ts";
import type { Secrets } from "../core/engine/index.ts";
import type { CaptureOptions, CommandEnd } from "../core/files/index.ts";
import type { ApplyEvent, Backend, Channel, Clock, Diagnostic, ProviderConfig } from "../core/model/index.ts";
import type { StateBackend } from "../core/record/index.ts";
import type { Declaration, SourceFile } from "../fronts/source/index.ts";
import type { OpenStore, OwnState } from "./library-types.ts";
import type { Redaction } from "./redaction.ts";
import type { ActiveStack } from "./stacks/stack.ts";

/** The parts of a project. */
export interface ProjectParts {
  /** Returns the declared backend of the state. */
  backend?(): Promise<Backend | undefined>;
  readonly source: ProjectSource;
  readonly host: Host;
  /** Secrets of this run. Code that reads a secret must register it here before any output. */
  readonly redaction: Redaction;
  readonly log: Log;
}

/** Environment of a run: its name, and its file with path and text. */
interface Environment {
  readonly name: string;
  readonly file: { readonly path: string; readonly text: string };
}

/** Location and settings of a project. Plain values; a copy with other values is another project. */
export interface ProjectSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path. Messages show paths relative to it. */
  readonly cwd: string;
  /** Absolute path of the project's folder, or of the folder of its stack. */
  readonly dir: string;
  /** Files of the declaration. Empty: all declaration files in the folder. */
  readonly files: readonly string[];
  /** The declaration as a value, instead of files. */
  readonly value?: SourceFile | undefined;
  readonly environment?: Environment;
  /** File of templates that several projects share. Its path is for messages. */
  readonly templates?: { readonly path: string; readonly text: string } | undefined;
  /** Channels of notifications, in addition to the declared channels. */
  readonly channels?: readonly Channel[];
  /** Absolute path of the state file. */
  readonly state: string;
  /** Storage of the state that a program provides, instead of the file. */
  readonly ownState?: OwnState | undefined;
  /** Opens the store of an account that a program provides. */
  readonly openStore?: OpenStore | undefined;
  /** True if the user named the state file. */
  readonly stateNamed?: boolean;
  /** Absolute paths of policy files, in addition to the files in HOSTFORM_POLICY. */
  readonly policy?: readonly string[];
  /** True if HTTP without TLS is allowed to hosts other than loopback. */
  readonly insecureHttp: boolean;
  /** True if untrusted people may have written the declaration. */
  readonly untrusted?: boolean;
  /** True if an agent writes the declaration. It reads only variables in HOSTFORM_ENV_ALLOW, and files in the project. */
  readonly isProposed?: boolean | undefined;
  /**
   * Maximum wait in milliseconds for a locked state and for the create lock. Default: do not wait for the state, and wait for
   * the create lock without a limit.
   */
  readonly lockTimeoutMs?: number;
  /** Stack that replaces a YAML declaration. */
  readonly stack?: ActiveStack;
  /** True to write nothing to the stores of the accounts except the count of requests. */
  readonly readsOnly?: boolean;
  /** Replaces the accounts, the state and the secrets of the declaration. */
  readonly rehearsal?: Rehearsal | undefined;
}

/** Accounts and state of a rehearsal. A provider without an account here has no URL and no token. */
export interface Rehearsal {
  /** Returns the declaration, evaluated with the environment of the account. */
  declaration(): Promise<Declaration>;
  /** Provider alias -> URL and environment variable of the token. */
  readonly accounts: ReadonlyMap<string, Pick<ProviderConfig, "baseUrl" | "tokenEnv">>;
  readonly backend: StateBackend;
  readonly secrets: Secrets;
}

/** Services of the process. */
export interface Host {
  readonly clock: Clock;
  /** Runs a program without shell and terminal, with a time limit. */
  capture(command: readonly [string, ...string[]], options: CaptureOptions): Promise<CommandEnd>;
  /**
   * Runs a shell command of the user and passes on its output. The signal ends the command and its children.
   * @returns the failure as a verb phrase (`ended with exit code 1`). Undefined after success.
   */
  shell(line: string, options: ShellOptions): Promise<string | undefined>;
  /**
   * Calls `callback` at each Ctrl-C and SIGTERM. If the terminal closes, calls it unless it was called before. Returns the
   * function that unregisters it.
   */
  onInterrupt(callback: () => void): () => void;
  /** Returns true if Ctrl-C was pressed during an earlier run of this process, such as another stack. */
  wasInterrupted(): boolean;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** Settings of a shell command. */
export interface ShellOptions {
  readonly cwd: string;
  /** Complete environment of the command. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  onOutput(text: string): void;
}

/** Receives the spans of a run. */
interface Trace {
  /** Runs a task in a span. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  request(event: RequestEvent): void;
  change(event: ApplyEvent): void;
}

/** Receives messages during a task. Results are returned and errors are thrown, not logged. */
export interface Log {
  /** Prints one line. */
  say(text: string): void;
  /** Reports warnings in addition to the result. */
  warn(...diagnostics: readonly Diagnostic[]): void;
  /** Reports a request. @param budget requests per minute. */
  request(event: RequestEvent, budget: number): void;
  /** Prints that a request waits for the request limit, or because the API asked for a pause. */
  wait(wait: Wait): void;
  /** Prints a step of a new connection. Undefined if it is open or failed. */
  connecting(step: string | undefined): void;
  /** Prints the number of unread lists and objects. 0 at the end. */
  reading(open: number): void;
  /** Prints output of a program of the user. */
  output(text: string): void;
  /** True if {@link output} is visible. */
  readonly showsOutput: boolean;
  readonly trace?: Trace;
}
