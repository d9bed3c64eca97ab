import process from "node:process";
import { writeTo } from "../../../core/files/file-system.ts";
import type { ProcessEnvironment } from "./handshake.ts";

type Level = "trace" | "debug" | "info" | "warn" | "error";

/** Writes to Terraform's log, which TF_LOG prints. Callers must not log a secret. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;

/** Returns true if Terraform prints the log. Terraform filters by level. */
export function isLogged(env: ProcessEnvironment): boolean {
  return [env.TF_LOG, env.TF_LOG_PROVIDER].some((level) => level !== undefined && !/^(?:|off)$/i.test(level));
}

/**
 * Creates a log of JSON lines for Terraform's parser: `@message` must be a string (otherwise Terraform panics), and `@timestamp` must
 * have six fractional digits.
 * @param output `now` in milliseconds since 1970.
 */
export function jsonLog({ write, now }: { write: (line: string) => void; now: () => number }): Log {
  return (level, message, fields = {}) => {
    const timestamp = new Date(now()).toISOString().replace("Z", "000Z");
    const at = { "@level": level, "@message": message, "@module": "hosting", "@timestamp": timestamp };
    write(JSON.stringify({ ...fields, ...at }));
  };
}

/** The log of this process. */
export const processLog: Log = isLogged(process.env) ? jsonLog({ write: complain, now: Date.now }) : () => {};

/** Logs the place of a defect without its message, which may contain a secret. */
export function logError(error: unknown): void {
  const { summary, stack } = describeDefect(error);
  processLog("error", "a call failed", { error: summary, stack });
}

/**
 * File descriptors of a process that Terraform started. The first line of stdout is the handshake. Further output to stdout can block
 * Terraform. Terraform logs stderr, and prints stderr when the process dies.
 */
const STDOUT = 1;
const STDERR = 2;

/** Writes one line to stdout, synchronously: the handshake, or a message for a person. */
export function printLine(line: string): void {
  writeTo(STDOUT, `${line}\n`);
}

/** Writes to stderr synchronously, because the process may end next. Ignores a closed or full pipe. */
export function complain(text: string): void {
  try {
    writeTo(STDERR, `${text}\n`);
  } catch {
    // The pipe has no reader.
  }
}

/** Redirects stdout and the console to stderr from now on. */
export function keepStdoutClean(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}

/**
 * Patterns of V8's messages that contain only names of our sources. Other messages may quote a secret value.
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
 * Describes a defect without secrets: the kind and place of the error, and its message only if it contains only names of our sources.
 */
export function describeDefect(error: unknown): { readonly summary: string; readonly stack: string } {
  if (!(error instanceof Error)) return { summary: `a ${typeof error} was thrown`, stack: "" };
  const message = ABOUT_THE_SOURCE.some((form) => form.test(error.message)) ? `: ${error.message}` : "";
  const code =
    "code" in error && typeof error.code === "string" && /^[A-Z][A-Z0-9_]*$/.test(error.code) ? error.code : "";
  const kind = /^[\w$]+$/.test(error.name) ? error.name : "Error";
  return { summary: `${kind}${code && ` (${code})`}${message}`, stack: framesOf(error.stack ?? "") };
}

/** Returns the `at …` lines of a stack, without the message before them. */
function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^ {4}at (?:async )?(?:[\w$.<>#[\] ]+ \()?(?:file:|node:|\/|[A-Z]:\\|native)[^\n]*$/.test(line))
    .join("\n");
}
