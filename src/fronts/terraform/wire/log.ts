import process from "node:process";
import { describeDefect } from "./defect.ts";
import type { Environment } from "./handshake.ts";
import { complain } from "./streams.ts";

export type Level = "trace" | "debug" | "info" | "warn" | "error";

/** Writes to Terraform's log, which is shown with TF_LOG. Nothing secret may be given to it. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;

/** How a log gets out and what time it is. */
export interface LogOutput {
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whether anybody reads the log; Terraform itself drops what is below the level that was asked for. */
export function isLogged(env: Environment): boolean {
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
