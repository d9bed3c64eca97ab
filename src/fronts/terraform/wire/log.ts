import { writeSync } from "node:fs";
import process from "node:process";
import type { ProcessEnvironment } from "./handshake.ts";

type Level = "trace" | "debug" | "info" | "warn" | "error";

/** Writes to Terraform's log, which is shown with TF_LOG. Nothing secret may be given to it. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;

/** How a log gets out and what time it is. */
interface LogOutput {
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whether anybody reads the log; Terraform itself drops what is below the level that was asked for. */
export function isLogged(env: ProcessEnvironment): boolean {
  return [env.TF_LOG, env.TF_LOG_PROVIDER].some((level) => level !== undefined && !/^(?:|off)$/i.test(level));
}

/**
 * A log of JSON lines as Terraform takes them apart: `@message` has to be a string (anything else makes it panic), and
 * `@timestamp` to have six digits after the point.
 */
export function jsonLog({ write, now }: LogOutput): Log {
  return (level, message, fields = {}) => {
    const timestamp = new Date(now()).toISOString().replace("Z", "000Z");
    const at = { "@level": level, "@message": message, "@module": "hosting", "@timestamp": timestamp };
    write(JSON.stringify({ ...fields, ...at }));
  };
}

/** The log of this process. */
export const processLog: Log = isLogged(process.env) ? jsonLog({ write: complain, now: Date.now }) : () => {};

/** An error that no part expected, in words that can hold no secret, with the place where it was thrown. */
export function logError(message: string, error: unknown): void {
  const { summary, stack } = describeDefect(error);
  processLog("error", message, { error: summary, stack });
}

/**
 * The streams of a process that Terraform started. The first line of stdout is the handshake; anything more there would
 * stop Terraform from reading. What goes to stderr is Terraform's log, or is shown when the process dies.
 */
const STDOUT = 1;
const STDERR = 2;

/** One line to stdout: the handshake, or what a person asked for. Written when it returns. */
export function printLine(line: string): void {
  writeSync(STDOUT, `${line}\n`);
}

/** To stderr, at once: the process may be about to end. A pipe that nobody reads or that is full is no reason to fail. */
export function complain(text: string): void {
  try {
    writeSync(STDERR, `${text}\n`);
  } catch {
    // Nobody is left to read it.
  }
}

/** From now on whatever a part of the program (or a dependency) writes to stdout or the console goes to stderr. */
export function keepStdoutClean(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}

/**
 * What V8 itself says of a defect. It speaks of names in our sources; other messages may quote a value, and a value may be
 * a secret.
 */
const ABOUT_THE_SOURCE = [
  /^Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '[\w$]+'\)$/,
  /^[\w$.()[\]]+ is not (?:a function|a constructor|iterable|defined)$/,
  /^Maximum call stack size exceeded$/,
  /^Assignment to constant variable\.$/,
  /^Cannot access '[\w$]+' before initialization$/,
  /^Class constructor [\w$]+ cannot be invoked without 'new'$/,
];

/**
 * An error that no part of the provider expected, in words that can hold no secret: what kind it is and where it was
 * thrown; its message only when that is about the source.
 */
export function describeDefect(error: unknown): { readonly summary: string; readonly stack: string } {
  if (!(error instanceof Error)) return { summary: `a ${typeof error} was thrown`, stack: "" };
  const message = ABOUT_THE_SOURCE.some((form) => form.test(error.message)) ? `: ${error.message}` : "";
  const code =
    "code" in error && typeof error.code === "string" && /^[A-Z][A-Z0-9_]*$/.test(error.code) ? error.code : "";
  const kind = /^[\w$]+$/.test(error.name) ? error.name : "Error";
  return { summary: `${kind}${code && ` (${code})`}${message}`, stack: framesOf(error.stack ?? "") };
}

/** The lines `at …` alone: what stands before them is the message, which may have many lines. */
function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^ {4}at (?:async )?(?:[\w$.<>#[\] ]+ \()?(?:file:|node:|\/|[A-Z]:\\|native)[^\n]*$/.test(line))
    .join("\n");
}
