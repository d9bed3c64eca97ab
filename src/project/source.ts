import type { RequestEvent, Wait } from "../core/api/index.ts";
import type { CaptureOptions, CommandEnd } from "../core/files/index.ts";
import type { Clock, Diagnostic } from "../core/model/index.ts";
import type { Redaction } from "./redaction.ts";
import type { ActiveStack } from "./stacks/stack.ts";

/** The parts of a project: its place, its process, its secrets, and the receiver of its messages. */
export interface ProjectParts {
  readonly source: ProjectSource;
  readonly host: Host;
  /** The secrets of this run. Code that learns a secret announces it here before any output. */
  readonly redaction: Redaction;
  readonly log: Log;
}

/** The environment of a run, with the shown path and the text of its file. */
interface Environment {
  readonly name: string;
  readonly file: { readonly path: string; readonly text: string };
}

/** The place of a project. Plain values: a copy with other values is another project. */
export interface ProjectSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Messages show paths relative to this absolute path. */
  readonly cwd: string;
  /** The project's folder, or the folder of its stack; absolute. */
  readonly dir: string;
  /** Files of the declaration, in place of those in the folder. */
  readonly files: readonly string[];
  readonly environment?: Environment;
  /** The state file, absolute. */
  readonly state: string;
  /** The run names the state file. */
  readonly stateNamed?: boolean;
  /** Files of the policy, absolute, beside those that HOSTFORM_POLICY names. */
  readonly policy?: readonly string[];
  /** Plain http is allowed to addresses other than loopback. */
  readonly insecureHttp: boolean;
  /** A stranger may have written the declaration. */
  readonly untrusted?: boolean;
  /** Longest wait for a locked state, and for the turn to create, in milliseconds. Default: none, and until the turn is free. */
  readonly lockTimeoutMs?: number;
  /** The stack in place of a declaration in YAML. */
  readonly stack?: ActiveStack;
}

/** The process of a project. */
export interface Host {
  readonly clock: Clock;
  /** Runs a program without a shell and without the terminal, in a bounded time. */
  capture(command: readonly [string, ...string[]], options: CaptureOptions): Promise<CommandEnd>;
  /**
   * Runs a line of the user's shell, and passes on its output. The signal ends the line with all its children.
   * @returns the failure as a verb (`ended with exit code 1`); undefined for a success.
   */
  shell(line: string, options: ShellOptions): Promise<string | undefined>;
  /**
   * Calls back at each Ctrl-C and SIGTERM, and once when the terminal is closed, unless it has called back before. The returned
   * function ends this.
   */
  onInterrupt(callback: () => void): () => void;
  /** Returns true after a Ctrl-C during an earlier run of the process, such as another stack. */
  wasInterrupted(): boolean;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** Settings of a line of the shell. */
export interface ShellOptions {
  readonly cwd: string;
  /** The whole environment of the line. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  onOutput(text: string): void;
}

/** Receiver of messages during the work. Results are returned, and errors thrown. */
export interface Log {
  /** Reports a line for people. */
  say(text: string): void;
  /** Reports warnings beside the result. */
  warn(diagnostics: readonly Diagnostic[]): void;
  /** Reports a possible loss, even in a quiet run. */
  alert(diagnostic: Diagnostic): void;
  /** Reports a request. @param budget requests per minute. */
  request(event: RequestEvent, budget: number): void;
  /** Reports a wait of a request for the budget, or for a pause of the API. */
  wait(wait: Wait): void;
  /** Reports a step of a new connection; undefined: the connection is open or has failed. */
  connecting(step: string | undefined): void;
  /** Reports the number of unread listings and objects; 0 at the end. */
  reading(open: number): void;
  /** Reports output of the user's program. */
  output(text: string): void;
  /** True if people see the {@link output}. */
  readonly showsOutput: boolean;
}
