/** The terminal of a command: its guarded streams, and the output options. */

import type { Project } from "../project/project.ts";
import type { Redaction } from "../project/redaction.ts";
import type { Host, Log, ProjectParts, ProjectSource } from "../project/source.ts";
import { yamlRemedies } from "../project/stack-diagnostics.ts";
import { waitReasonLine } from "../report/budget.ts";
import type { Annotation } from "../report/ci.ts";
import { renderDiagnostics } from "../report/diagnostics.ts";
import { jsonText } from "../report/escape.ts";
import { requestEventLine } from "../report/progress.ts";
import { flowText, type MessageStyle } from "../report/text-style.ts";
import { type Activity, startActivity } from "./activity.ts";

/** The process interface of a command: streams, environment, signals. A test replaces them. */
export interface Io extends Omit<Host, "wasInterrupted"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Writes a result. */
  out(text: string): void;
  /** Writes progress, questions and diagnostics. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** True if the runner of GitHub Actions reads standard error itself. Then secrets for it to hide can be written there. */
  readonly errIsRunner: boolean;
  readonly columns: number | undefined;
  /**
   * Reads a line from the user; undefined at the end of input, and without a terminal.
   * @throws HostformError `interrupted` for Ctrl-C, and when the signal is aborted.
   */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  /** Reads the bytes of standard input up to a limit. */
  readInputBytes(limit: number): Promise<Uint8Array>;
  /** Calls back at each SIGHUP, unless a standard stream is a terminal. @returns the function that ends it. */
  onReload(callback: () => void): () => void;
  /**
   * Runs a command with the streams of this process, passes signals on, and waits for its end.
   * @returns its exit code; 128+n if signal n ended it. @throws HostformError if it cannot be started.
   */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number>;
  /** Opens an address in the user's browser. @throws HostformError if that fails. */
  browse(url: string): Promise<void>;
}

/**
 * The process interface that commands receive from `guarded-io.ts`. All output passes through it: known secrets are hidden, and
 * control sequences for a terminal or for the agent of a CI are escaped.
 */
export interface GuardedIo extends Io, Host {
  /** Secrets of this run. Code that learns a secret adds it here before anything is written. */
  readonly redaction: Redaction;
  /** Writes a result with its secrets, for the few commands that print one on demand. A test holds their list. */
  reveal(text: string): void;
  /** Writes JSON and ends the line. Secrets are hidden in the values before they become JSON. @param indent spaces for each level. */
  document(value: unknown, indent?: number): void;
  /** Annotates lines of the declaration, if the runner of GitHub Actions reads standard error itself. */
  annotate(annotations: readonly Annotation[]): void;
  /**
   * Writes a result byte for byte (`fmt -`, `state pull`, `output --raw`). @param what subject of the message.
   * @throws HostformError `usage` if the agent of a CI would execute a part of it.
   */
  exact(text: string, what: string): void;
  /** Moves the cursor of standard error up, and clears the rest of the screen. */
  rewind(lines: number): void;
  /** Writes the commands for the runner that wait for the end of a line. */
  flush(): void;
}

/** Output, questions and signals of a command. */
export interface Terminal extends Omit<GuardedIo, "env" | "cwd" | "redaction" | "capture" | "shell" | "exit"> {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Prints each API request. */
  readonly verbose: boolean;
  /** Status of reads and waits. */
  readonly activity: Activity;
  /** True if a status at the bottom of the terminal may be repainted. */
  readonly repaints: boolean;
  /** Style of results (colours and width of standard output). */
  readonly outLook: MessageStyle;
  /** Style of messages (colours and width of standard error). */
  readonly errLook: MessageStyle;
}

/** Options without a value: `Switches<"force">`. */
export type Switches<Name extends string> = { readonly [N in Name]?: boolean };

/** Runs a command. @returns the exit code. */
export type Action<Flags = object, Words extends unknown[] = []> = (
  terminal: Terminal,
  project: Project,
  flags: Flags,
  ...words: Words
) => Promise<number>;

/** Output options of a command: `--json`, `--quiet`, `--verbose`, `--no-color`. */
export interface PrintOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
}

/** Opens the terminal of a command and the parts of its project. @param printsJson true writes no plain status line. */
export function opened(
  io: GuardedIo,
  { color, ...print }: PrintOptions,
  source: ProjectSource,
  printsJson = print.json,
) {
  const repaints = io.errIsTerminal && !print.verbose && !io.env.CI && !io.env.TF_IN_AUTOMATION;
  const looks = looksOf(io, color);
  const activity = startActivity({
    err: io.err,
    rewind: io.rewind,
    clock: io.clock,
    repaints,
    look: looks.errLook,
    isSilent: print.quiet || (printsJson && !repaints),
  });
  const terminal: Terminal = {
    ...io,
    ...print,
    ...looks,
    repaints,
    activity,
    out: io.outIsTerminal ? activity.above(io.out) : io.out,
    err: activity.above(io.err),
    document: io.outIsTerminal ? activity.above(io.document) : io.document,
    ask(question, signal) {
      activity.end();
      return io.ask(question, signal);
    },
  };
  const parts: ProjectParts = { source, host: io, redaction: io.redaction, log: logOf(terminal) };
  return { terminal, parts };
}

/** Writes the messages of a project to standard error. */
function logOf(terminal: Terminal): Log {
  return {
    say: (text) => say(terminal, text),
    warn(diagnostics) {
      // Unattended jobs run with `--quiet`, and need the announced end of an API most.
      const shown = terminal.quiet ? diagnostics.filter(({ code }) => code === "api.deprecated") : diagnostics;
      if (shown.length > 0) terminal.err(renderDiagnostics(shown, terminal.errLook));
    },
    alert: (diagnostic) => terminal.err(renderDiagnostics([diagnostic], terminal.errLook)),
    wait(wait) {
      terminal.activity.waits(wait);
      const line = waitReasonLine(wait);
      if (terminal.verbose && line !== undefined) say(terminal, line);
    },
    connecting: (step) => terminal.activity.connects(step),
    reading: (open) => terminal.activity.reads(open),
    request(request, budget) {
      terminal.activity.requested(request, budget);
      const { left, ...event } = request;
      if (terminal.verbose) say(terminal, requestEventLine({ ...event, budgetLeft: left, budget }));
    },
    output(text) {
      if (!terminal.quiet) terminal.err(text);
    },
    showsOutput: !terminal.quiet && !terminal.json,
  };
}

/** Returns the style of both streams: colours by NO_COLOR, FORCE_COLOR and `--no-color`, a width only on a terminal. */
export function looksOf(io: Io, color: boolean): Pick<Terminal, "outLook" | "errLook"> {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  const refused = FORCE_COLOR === "0" || FORCE_COLOR === "false";
  const allowed = color && !NO_COLOR && !refused && TERM !== "dumb";
  const look = (terminal: boolean): MessageStyle => ({
    remedies: yamlRemedies,
    color: allowed && (terminal || FORCE_COLOR !== undefined),
    ...(terminal && io.columns !== undefined && { width: io.columns }),
  });
  return { outLook: look(io.outIsTerminal), errLook: look(io.errIsTerminal) };
}

/** Prints a line for people on standard error, unless `--quiet`. */
export function say(terminal: Pick<Terminal, "quiet" | "err" | "errLook">, text: string): void {
  if (!terminal.quiet) terminal.err(`${flowText(text, terminal.errLook.width)}\n`);
}

export function printJson(terminal: Pick<Terminal, "document">, value: unknown): void {
  terminal.document(value, 2);
}

/** Prints a result as JSON, or as its text. */
export function printResult(terminal: Pick<Terminal, "json" | "document" | "out">, value: unknown, text: string): void {
  if (terminal.json) printJson(terminal, value);
  else terminal.out(text);
}

/** Prints JSON with its secrets. */
export function revealJson(terminal: Pick<Terminal, "reveal">, value: unknown): void {
  terminal.reveal(`${jsonText(value, 2)}\n`);
}
