import type { RequestEvent, Wait } from "../core/api/index.ts";
import type { CaptureOptions, CommandEnd } from "../core/files/index.ts";
import type { Clock, Diagnostic } from "../core/model/index.ts";
import type { Redaction } from "./redaction.ts";
import type { ActiveStack } from "./stacks/stack.ts";

/** What a project is made of: where it is, the process that it runs in, its secrets, and who hears of it. */
export interface ProjectParts {
  readonly source: ProjectSource;
  readonly host: Host;
  /** The secrets of this run. Code that learns one announces it here, before anything is written. */
  readonly redaction: Redaction;
  readonly log: Log;
}

/** The environment of a run: its name, and the text of its file. `path` is as messages show it. */
interface Environment {
  readonly name: string;
  readonly file: { readonly path: string; readonly text: string };
}

/** Where a project is, and what it sees of the machine. Plain values; a copy with other ones is another project. */
export interface ProjectSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Paths are shown relative to it; absolute. */
  readonly cwd: string;
  /** The project's folder, absolute; of a stack, its own. */
  readonly dir: string;
  /** The declaration's files, in place of those found in the folder. */
  readonly files: readonly string[];
  /** The environment that was chosen. */
  readonly environment?: Environment;
  /** The state file, absolute. */
  readonly state: string;
  /** The state file was named, and not only found. */
  readonly stateNamed?: boolean;
  /** Files of the policy, absolute, beside those that HOSTFORM_POLICY names. */
  readonly policy?: readonly string[];
  /** Plain http is allowed to addresses other than loopback. */
  readonly insecureHttp: boolean;
  /** The declaration may come from a stranger. */
  readonly untrusted?: boolean;
  /** The part of each request budget that this run may use; absent: as HOSTFORM_BUDGET_SHARE says. */
  readonly budgetShare?: number | undefined;
  /** Longest wait for a locked state, and for the turn to create, in milliseconds. Absent: none, and until the turn is given back. */
  readonly lockTimeoutMs?: number | undefined;
  /** The stack that takes the place of a declaration in YAML. */
  readonly stack?: ActiveStack;
}

/** What a project needs of its process. Everything that a test wants to replace. */
export interface Host {
  readonly clock: Clock;
  /** Runs a program of which nothing reaches the terminal, in a bounded time, without a shell. */
  capture(command: readonly [string, ...string[]], options: CaptureOptions): Promise<CommandEnd>;
  /**
   * Runs a line of the user's shell, and hands on what it writes to either stream as it comes. It is ended with everything
   * that it started when the signal comes.
   * @returns how it failed, as a verb (`ended with exit code 1`); undefined when it ended well.
   */
  shell(line: string, options: ShellOptions): Promise<string | undefined>;
  /**
   * Calls back at each Ctrl-C (or SIGTERM), and when the terminal is closed, unless it has called back before: that comes
   * to a process more than once, and is no second Ctrl-C. The function returned ends it.
   */
  onInterrupt(callback: () => void): () => void;
  /** Whether Ctrl-C was pressed while somebody listened: a run that begins after that (another look, another stack) ends. */
  wasInterrupted(): boolean;
  /** Ends the process at once, whatever is open. */
  exit(code: number): void;
}

/** How a line of the shell is run. */
export interface ShellOptions {
  readonly cwd: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  onOutput(text: string): void;
}

/** Who hears what a project says while it works. Results are returned, and errors thrown. */
export interface Log {
  /** A line for people. */
  say(text: string): void;
  /** Warnings beside the result. */
  warn(diagnostics: readonly Diagnostic[]): void;
  /** What must be read, even where nobody wants to hear anything: otherwise something is lost. */
  alert(diagnostic: Diagnostic): void;
  /** A request was made. @param budget requests per minute. */
  request(event: RequestEvent, budget: number): void;
  /** A request has to wait for the budget, or for a pause that the API asks for. */
  wait(wait: Wait): void;
  /** A connection is being opened, with the step that began; undefined: it is open, or has failed. */
  connecting(step: string | undefined): void;
  /** What is declared is being read: so many listings and objects are not read yet; 0 at the end. */
  reading(open: number): void;
  /** What the user's own program writes, as it comes. */
  output(text: string): void;
  /** Whether people have seen the {@link output}. */
  readonly showsOutput: boolean;
}
