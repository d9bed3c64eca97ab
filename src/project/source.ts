import type { RequestEvent, Wait } from "../core/api/index.ts";
import type { CaptureOptions, CommandEnd } from "../core/files/index.ts";
import type { ApplyEvent, Backend, Clock, Diagnostic } from "../core/model/index.ts";
import type { Redaction } from "./redaction.ts";
import type { ActiveStack } from "./stacks/stack.ts";

/** The parts of a project: its source, its process, its secrets, and its log. */
export interface ProjectParts {
  /** Returns the declared backend of the state. */
  backend?(): Promise<Backend | undefined>;
  readonly source: ProjectSource;
  readonly host: Host;
  /** Secrets of this run. Code that learns a secret registers the secret here before any output. */
  readonly redaction: Redaction;
  readonly log: Log;
}

/** The environment of a run, with the displayed path and the text of its file. */
interface Environment {
  readonly name: string;
  readonly file: { readonly path: string; readonly text: string };
}

/** Location and settings of a project. The fields are plain values. A copy with other values is another project. */
export interface ProjectSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path. Messages show paths relative to it. */
  readonly cwd: string;
  /** Absolute path of the project's folder, or of the folder of its stack. */
  readonly dir: string;
  /** Files of the declaration. If empty, the files in the folder are read. */
  readonly files: readonly string[];
  readonly environment?: Environment;
  /** Absolute path of the state file. */
  readonly state: string;
  /** True if the run names the state file. */
  readonly stateNamed?: boolean;
  /** Absolute paths of policy files, in addition to the files in HOSTFORM_POLICY. */
  readonly policy?: readonly string[];
  /** True if HTTP without TLS is allowed to hosts other than loopback. */
  readonly insecureHttp: boolean;
  /** True if untrusted people may have written the declaration. */
  readonly untrusted?: boolean;
  /**
   * Maximum wait in milliseconds for a locked state, and for the create lock. By default, a run does not wait for the state, and
   * waits for the create lock without a limit.
   */
  readonly lockTimeoutMs?: number;
  /** Stack that replaces a YAML declaration. */
  readonly stack?: ActiveStack;
}

/** Services of the process that a project uses. */
export interface Host {
  readonly clock: Clock;
  /** Runs a program without a shell or a terminal, with a time limit. */
  capture(command: readonly [string, ...string[]], options: CaptureOptions): Promise<CommandEnd>;
  /**
   * Runs a shell command of the user and passes on its output. The signal ends the command with all its children.
   * @returns the failure as a verb phrase (`ended with exit code 1`), or undefined after a success.
   */
  shell(line: string, options: ShellOptions): Promise<string | undefined>;
  /**
   * Calls back at each Ctrl-C and SIGTERM. Calls back once when the terminal is closed, unless it has called back before. The
   * returned function ends the callbacks.
   */
  onInterrupt(callback: () => void): () => void;
  /** Returns true if Ctrl-C was pressed during an earlier run of the process, such as another stack. */
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

/** Receiver of the spans of a run. */
interface Trace {
  /** Runs a task in a span. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  request(event: RequestEvent): void;
  change(event: ApplyEvent): void;
}

/** Receiver of messages during a task. Results are returned, and errors are thrown. */
export interface Log {
  /** Reports one line to the user. */
  say(text: string): void;
  /** Reports warnings in addition to the result. */
  warn(diagnostics: readonly Diagnostic[]): void;
  /** Reports a possible loss, even in a quiet run. */
  alert(diagnostic: Diagnostic): void;
  /** Reports a request. @param budget requests per minute. */
  request(event: RequestEvent, budget: number): void;
  /** Reports that a request waits for the budget, or because the API asks for a pause. */
  wait(wait: Wait): void;
  /** Reports a step of a new connection. Undefined if the connection is open or has failed. */
  connecting(step: string | undefined): void;
  /** Reports the number of unread listings and objects. Reports 0 at the end. */
  reading(open: number): void;
  /** Reports output of the user's program. */
  output(text: string): void;
  /** True if {@link output} is visible to the user. */
  readonly showsOutput: boolean;
  readonly trace?: Trace;
}
