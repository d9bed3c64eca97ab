import type { Clock } from "../core/model/index.ts";
import type { CaptureOptions, CommandEnd } from "../core/record/index.ts";
import { jsonText, type Look } from "../report/index.ts";
import type { Redaction } from "./redaction.ts";
import type { ActiveStack, StackSource } from "./stacks/stack.ts";

/** The outside of a command: streams, environment, signals. Everything that a test wants to replace. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Writes a result. */
  out(text: string): void;
  /** Writes what accompanies it: progress, questions, diagnostics. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Whether the runner of GitHub Actions reads standard error itself: it can be given secrets to hide there. */
  readonly errIsRunner: boolean;
  readonly columns: number | undefined;
  /**
   * A line typed by the user; undefined at the end of input or when nobody is there to type.
   * @throws HostformError `interrupted` for Ctrl-C, and when the signal is aborted.
   */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** The same as it came, byte for byte: a signature is over bytes. Not more than `limit` of them: some input never ends. */
  readInputBytes(limit: number): Promise<Uint8Array>;
  /**
   * Calls back at each Ctrl-C (or SIGTERM), and when the terminal is closed, unless it has called back before: that comes
   * to a process more than once, and is no second Ctrl-C. The function returned ends it.
   */
  onInterrupt(callback: () => void): () => void;
  /** Ends the process at once, whatever is open. */
  exit(code: number): void;
  /**
   * Calls back at each SIGHUP that is no closed terminal: where none of the standard streams is one. It interrupts nothing
   * then. The function returned ends it.
   */
  onReload(callback: () => void): () => void;
  /**
   * Runs a command with this process's streams, hands signals on to it, and waits for its end.
   * @returns its exit code; 128+n when signal n ended it. @throws HostformError when it cannot be started.
   */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number>;
  /** Runs a program of which nothing reaches the terminal, in a bounded time, without a shell. How it ended is told. */
  capture(command: readonly [string, ...string[]], options: CaptureOptions): Promise<CommandEnd>;
  /**
   * Runs a line of the user's shell, and hands on what it writes to either stream as it comes. It is ended with everything
   * that it started when the signal comes.
   * @returns how it failed, as a verb (`ended with exit code 1`); undefined when it ended well.
   */
  shell(line: string, options: ShellOptions): Promise<string | undefined>;
  /** Opens an address in the user's browser. @throws HostformError when there is none. */
  browse(url: string): Promise<void>;
}

/** How a line of the shell is run. */
export interface ShellOptions {
  readonly cwd: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  onOutput(text: string): void;
}

/**
 * The outside of a command as commands get it (`guarded-io.ts` makes it). Everything that they write passes through it, so
 * that nothing can get past: known secrets are hidden, and what would act on a terminal or on the agent of a CI is shown.
 */
export interface GuardedIo extends Io {
  /** The secrets of this run. Whoever learns one announces it here, before anything is written. */
  readonly redaction: Redaction;
  /**
   * Writes a result as it is, secrets included: for the commands that are asked for one (`output`, `state pull`,
   * `state show --reveal`, `password`, `sso`, `sandbox`). A test holds the list of them.
   */
  reveal(text: string): void;
  /** Whether `reveal` has to change a text, since an agent of a CI would act on it. */
  breaks(text: string): boolean;
  /** Goes up so many lines on the terminal of standard error, and clears what follows. */
  rewind(lines: number): void;
  /** Whether Ctrl-C was pressed while somebody listened: a run that begins after that (another look, another stack) ends. */
  wasInterrupted(): boolean;
  /** Writes what was kept waiting, as it may have been the beginning of a secret. For the end of a run. */
  flush(): void;
}

/** The options that every command has. */
export interface CommonOptions {
  /** `-C`: the project's folder, absolute. */
  readonly dir: string;
  /** `-f`: the declaration's files, in place of those found in the folder. */
  readonly files: readonly string[];
  /** `--state`: the state file, absolute. */
  readonly state: string;
  /** `--state` was given. */
  readonly stateNamed?: boolean;
  readonly json: boolean;
  readonly color: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly insecureHttp: boolean;
  /** `--untrusted`: the declaration may come from a stranger. */
  readonly untrusted?: boolean;
  readonly lockTimeoutMs: number;
  /** `--app` or `--stack`: stacks in place of a declaration in YAML. */
  readonly stacks?: StackSource;
}

/** One run of one command. */
export interface Invocation {
  readonly io: GuardedIo;
  readonly options: CommonOptions;
  /** The stack that it works on, in place of a declaration in YAML; `dir` is its folder then, and `state` its state file. */
  readonly stack?: ActiveStack;
  /** How results look (colours and width of standard output). */
  readonly outLook: Look;
  /** How messages look (colours and width of standard error). */
  readonly errLook: Look;
}

/** How text on the two streams is to look: NO_COLOR, FORCE_COLOR and `--no-color` honoured, width only on a terminal. */
export function looksOf(io: Io, color: boolean): Pick<Invocation, "outLook" | "errLook"> {
  const forced = io.env.FORCE_COLOR !== undefined && io.env.FORCE_COLOR !== "0";
  const allowed = color && !io.env.NO_COLOR && io.env.TERM !== "dumb";
  const look = (terminal: boolean): Look => ({
    color: allowed && (terminal || forced),
    ...(terminal && io.columns !== undefined && { width: io.columns }),
  });
  return { outLook: look(io.outIsTerminal), errLook: look(io.errIsTerminal) };
}

/** Prints a line for people on standard error, unless `--quiet`. */
export function say({ io, options }: Invocation, text: string): void {
  if (!options.quiet) io.err(`${text}\n`);
}

/** Prints a JSON document on standard output. */
export function printJson({ io }: Invocation, value: unknown): void {
  io.out(`${jsonText(value, 2)}\n`);
}

/** The same for a document that was asked for because of the secret in it. */
export function revealJson({ io }: Invocation, value: unknown): void {
  io.reveal(`${jsonText(value, 2)}\n`);
}
