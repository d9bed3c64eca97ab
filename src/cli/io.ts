import type { Clock } from "../model/index.ts";
import { jsonText, type Look } from "../report/index.ts";

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
  readonly columns: number | undefined;
  /**
   * A line typed by the user; undefined at the end of input or when nobody is there to type.
   * @throws HostformError `interrupted` for Ctrl-C.
   */
  ask(question: string): Promise<string | undefined>;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Calls back at each Ctrl-C (or SIGTERM); the function returned ends that. */
  onInterrupt(callback: () => void): () => void;
  /**
   * Runs a command with this process's streams, hands signals on to it, and waits for its end.
   * @returns its exit code; 128+n when signal n ended it. @throws HostformError when it cannot be started.
   */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number>;
  /** Opens an address in the user's browser. @throws HostformError when there is none. */
  browse(url: string): Promise<void>;
}

/** The options that every command has. */
export interface CommonOptions {
  /** `-C`: the project's folder, absolute. */
  readonly dir: string;
  /** `-f`: the declaration's files, in place of those found in the folder. */
  readonly files: readonly string[];
  /** `--state`: the state file, absolute. */
  readonly state: string;
  readonly json: boolean;
  readonly color: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly insecureHttp: boolean;
  readonly lockTimeoutMs: number;
}

/** One run of one command. */
export interface Invocation {
  readonly io: Io;
  readonly options: CommonOptions;
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
