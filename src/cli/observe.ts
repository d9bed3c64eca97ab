/** Runs a command with its heartbeat and its spans. */
import type { ProjectParts } from "../project/source.ts";
import { startTrace } from "../project/telemetry.ts";
import { heartbeatTo } from "./heartbeat.ts";

/**
 * Sends a heartbeat after the run: a success for the exit codes 0 and 2. `watch` has a heartbeat and a span for each check instead.
 * @returns the exit code of the run.
 */
export async function observed(
  command: string,
  heartbeat: URL | undefined,
  parts: ProjectParts,
  work: (parts: ProjectParts) => Promise<number>,
): Promise<number> {
  const isWatch = command === "watch";
  const beat = heartbeatTo(isWatch ? undefined : heartbeat, parts);
  const trace = await startTrace(parts);
  const run = () => work(trace ? { ...parts, log: { ...parts.log, trace } } : parts);
  let code = 1;
  try {
    code = await (trace === undefined || isWatch ? run() : trace.run(command, run));
    return code;
  } finally {
    await Promise.all([beat?.(code === 0 || code === 2), trace?.end()]);
  }
}
