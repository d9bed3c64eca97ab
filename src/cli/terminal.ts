/** The terminal, or what stands in its place: the streams of a command behind their guard, and how it was asked to print. */

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

/** The outside of a command: streams, environment, signals. Everything that a test wants to replace. */
export interface Io extends Omit<Host, "wasInterrupted"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Writes a result. */
  out(text: string): void;
  /** Writes what accompanies it: progress, questions, diagnostics. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** The runner of GitHub Actions reads standard error itself: it can be given secrets to hide there. */
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
   * Calls back at each SIGHUP that is no closed terminal: where none of the standard streams is one. It interrupts nothing
   * then. The function returned ends it.
   */
  onReload(callback: () => void): () => void;
  /**
   * Runs a command with this process's streams, hands signals on to it, and waits for its end.
   * @returns its exit code; 128+n when signal n ended it. @throws HostformError when it cannot be started.
   */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number>;
  /** Called before a command works on a project: here a process suits itself to that. @param state the path of the state file. */
  startWork(state: string): void;
  /** Opens an address in the user's browser. @throws HostformError when there is none. */
  browse(url: string): Promise<void>;
}

/**
 * The outside of a command as commands get it (`guarded-io.ts` makes it). Everything that they write passes through it, so
 * that nothing can get past: known secrets are hidden, and what would act on a terminal or on the agent of a CI is shown.
 */
export interface GuardedIo extends Io, Host {
  /** The secrets of this run. Code that learns one announces it here, before anything is written. */
  readonly redaction: Redaction;
  /**
   * Writes a result as it is, secrets included: for the commands that are asked for one (`output`, `state pull`,
   * `state show --reveal`, `password`, `sso`, `sandbox`). A test holds the list of them.
   */
  reveal(text: string): void;
  /** Writes a document in JSON and ends the line: secrets are hidden in its values, before they are written as JSON. @param indent spaces for each level. */
  document(value: unknown, indent?: number): void;
  /** Puts mistakes beside the lines of the declaration, where the runner of GitHub Actions reads standard error itself. */
  annotate(annotations: readonly Annotation[]): void;
  /**
   * Writes a result byte for byte (`fmt -`, `state pull`, `output --raw`). @param what it is, for the message.
   * @throws HostformError `usage` where a CI's agent would act on it.
   */
  exact(text: string, what: string): void;
  /** Goes up so many lines on the terminal of standard error, and clears what follows. */
  rewind(lines: number): void;
  /** Writes the commands for the runner that wait for the end of a line. For the end of a run. */
  flush(): void;
}

/** Output, questions and signals of a command. */
export interface Terminal
  extends Omit<GuardedIo, "env" | "cwd" | "redaction" | "capture" | "shell" | "exit" | "startWork"> {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Each API request is shown. */
  readonly verbose: boolean;
  /** Status of the reading and of the waits. */
  readonly activity: Activity;
  /** A status at the bottom of the terminal may be painted over: people look at it, and nothing comes between. */
  readonly repaints: boolean;
  /** Style of results (colours and width of standard output). */
  readonly outLook: MessageStyle;
  /** Style of messages (colours and width of standard error). */
  readonly errLook: MessageStyle;
}

/** Options without a value: `Switches<"force">`. */
export type Switches<Name extends string> = { readonly [N in Name]?: boolean };

/** A command: it takes its terminal, its project, its options and its arguments. @returns the exit code. */
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

/** The terminal of a command, and the parts of the project that it works on. @param printsJson no plain line of status is written. */
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

/** Writes the messages of a project to standard error; warnings are for people. */
function logOf(terminal: Terminal): Log {
  return {
    say: (text) => say(terminal, text),
    warn(diagnostics) {
      // The announced end of an API concerns jobs that run unattended with `--quiet` most of all.
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

/** Returns the style of the two streams: NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE and `--no-color` honoured, width only on a terminal. */
export function looksOf(io: Io, color: boolean): Pick<Terminal, "outLook" | "errLook"> {
  const { NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE = "0", TERM } = io.env;
  const refused = FORCE_COLOR === "0" || FORCE_COLOR === "false";
  const forced = FORCE_COLOR !== undefined || !["", "0"].includes(CLICOLOR_FORCE);
  const allowed = color && !NO_COLOR && !refused && TERM !== "dumb";
  const look = (terminal: boolean): MessageStyle => ({
    remedies: yamlRemedies,
    color: allowed && (terminal || forced),
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

/** Prints a result: a document in JSON, or its text for people. */
export function printResult(terminal: Pick<Terminal, "json" | "document" | "out">, value: unknown, text: string): void {
  if (terminal.json) printJson(terminal, value);
  else terminal.out(text);
}

/** The same for a document that was asked for because of the secret in it. */
export function revealJson(terminal: Pick<Terminal, "reveal">, value: unknown): void {
  terminal.reveal(`${jsonText(value, 2)}\n`);
}
