/** The terminal of a command: guarded streams and output options. */

import { type FailOn, isObject } from "../core/model/index.ts";
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
import type { JsonOutputs } from "./json.ts";

/** The process interface of a command: streams, environment, signals. Tests replace it. */
export interface Io extends Omit<Host, "wasInterrupted"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Writes a result. */
  out(text: string): void;
  /** Writes progress, questions and diagnostics. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /**
   * True if the GitHub Actions runner itself reads standard error. Secrets may then be written there, so that the runner
   * masks them.
   */
  readonly errIsRunner: boolean;
  readonly columns: number | undefined;
  /**
   * Reads a line from the user. Undefined at the end of input, or without a terminal.
   * @throws HostformError `interrupted` at Ctrl-C, or if the signal is aborted.
   */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  /** Reads the bytes of standard input up to a limit. */
  readInputBytes(limit: number): Promise<Uint8Array>;
  /**
   * Calls `callback` at each SIGHUP, unless a standard stream is a terminal.
   * @returns the function that unregisters it.
   */
  onReload(callback: () => void): () => void;
  /**
   * Runs a command with the streams of this process, forwards signals, and waits for its end.
   * @returns the exit code, or 128+n if signal n ended the command.
   * @throws HostformError if the command cannot start.
   */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number>;
  /** Opens a URL in the user's browser. @throws HostformError if this fails. */
  browse(url: string): Promise<void>;
}

/**
 * The process interface for commands, from `guarded-io.ts`. All output passes through it. It hides known secrets, and escapes
 * control sequences of terminals and commands for CI runners.
 */
export interface GuardedIo extends Io, Host {
  /** Secrets of this run. Code that reads a secret must register it here before any output. */
  readonly redaction: Redaction;
  /** Writes a result with its secrets, for commands that print a secret on request. A test lists these commands. */
  reveal(text: string): void;
  /**
   * Writes a JSON document on its own lines. Hides secrets in the values before formatting.
   * @param indent Spaces per level.
   */
  document(value: unknown, indent?: number): void;
  /** Annotates lines of the declaration, if the GitHub Actions runner itself reads standard error. */
  annotate(annotations: readonly Annotation[]): void;
  /**
   * Writes a result without any change (`fmt -`, `state pull`, `output --raw`).
   * @param what Subject of the error message.
   * @throws HostformError `usage` if a CI runner would execute a part of the text.
   */
  exact(text: string, what: string): void;
  /** Moves the cursor of standard error up, and clears the screen below. */
  rewind(lines: number): void;
  /** Writes waiting commands for the CI runner. */
  flush(): void;
}

/** Output, questions and signals of a command. */
export interface Terminal extends Omit<GuardedIo, "env" | "cwd" | "redaction" | "capture" | "shell" | "exit"> {
  readonly json: boolean;
  readonly quiet: boolean;
  /** True if each API request is printed. */
  readonly verbose: boolean;
  /** Status of reads and waits. */
  readonly activity: Activity;
  /** True if the bottom of the terminal may be repainted. */
  readonly repaints: boolean;
  /** Style of results: colors and width of standard output. */
  readonly outLook: MessageStyle;
  /** Style of messages: colors and width of standard error. */
  readonly errLook: MessageStyle;
}

/** Flags without a value, such as `Switches<"force">`. */
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

/**
 * Opens the terminal of a command, and the parts of its project.
 * @param printsJson True if status lines must not be printed.
 */
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

/** Returns the log that prints messages on standard error. */
function logOf(terminal: Terminal): Log {
  return {
    say: (text) => say(terminal, text),
    warn(...diagnostics) {
      // A wait is progress. Every other warning may concern money, a secret or a loss.
      const shown = terminal.quiet ? diagnostics.filter(({ code }) => code !== "store.waiting") : diagnostics;
      if (shown.length > 0) terminal.err(renderDiagnostics(shown, terminal.errLook));
    },
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

/**
 * Returns the style of both streams. NO_COLOR, FORCE_COLOR and `--no-color` determine colors. Only a terminal has a width.
 */
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

/** Prints a line on standard error, unless `--quiet` is set. */
export function say(terminal: Pick<Terminal, "quiet" | "err" | "errLook">, text: string): void {
  if (!terminal.quiet) terminal.err(`${flowText(text, terminal.errLook.width)}\n`);
}

/** Exit code of a successful run if a condition of `--fail-on` is true. */
const FAILED_ON = 4;

/**
 * Prints the true conditions of `--fail-on` and returns 4. If none is true, returns `code`.
 * @param isBlind True if invoices may be unread. `unpaid` then counts as true.
 */
export function failedOn(
  terminal: Pick<Terminal, "quiet" | "err" | "errLook">,
  { failOn = [] }: { readonly failOn?: readonly FailOn[] },
  holds: ReadonlySet<FailOn>,
  code: number,
  isBlind = holds.has("unread"),
): number {
  const met = failOn.flatMap((name) => {
    if (holds.has(name)) return name;
    return isBlind && name === "unpaid" ? `${name} (not fully checked)` : [];
  });
  if (met.length === 0) return code;
  say(terminal, `Exit code ${FAILED_ON} because of --fail-on: ${met.join(", ")}.`);
  return FAILED_ON;
}

/** A document before {@link versioned}. */
type Unversioned<Output> = Output extends { readonly format_version: "1.0" } ? Omit<Output, "format_version"> : Output;

/** Adds the version to an object of hostform's own format. Lists and outputs have no version. */
const versioned = (command: keyof JsonOutputs, value: unknown) =>
  command !== "output" && isObject(value) ? { format_version: "1.0", ...value } : value;

/** Prints the document of a command. */
export function printJson<Name extends keyof JsonOutputs>(
  terminal: Pick<Terminal, "document">,
  command: Name,
  value: Unversioned<JsonOutputs[Name]>,
): void {
  terminal.document(versioned(command, value), 2);
}

/** Prints the result of a command as JSON or as text. */
export function printResult<Name extends keyof JsonOutputs>(
  terminal: Pick<Terminal, "json" | "document" | "out">,
  command: Name,
  value: Unversioned<JsonOutputs[Name]>,
  text: string,
): void {
  if (terminal.json) printJson(terminal, command, value);
  else terminal.out(text);
}

/** Prints the document of a command with its secrets. */
export function revealJson<Name extends keyof JsonOutputs>(
  terminal: Pick<Terminal, "reveal">,
  command: Name,
  value: Unversioned<JsonOutputs[Name]>,
): void {
  terminal.reveal(`${jsonText(versioned(command, value), 2)}\n`);
}
