/** Runs a command with heartbeat and spans. */
import { isLoopback } from "../core/model/index.ts";
import { posterTo } from "../project/notify/post.ts";
import type { ProjectParts } from "../project/source.ts";
import { startTrace } from "../project/telemetry.ts";
import { problem, raise } from "./messages.ts";

export interface HeartbeatFlags {
  /** URL for success. `/fail` after its path means failure. */
  readonly heartbeat?: URL;
}

/**
 * Returns the function that sends a heartbeat. It never throws: failures are warnings, and the same failure is reported once.
 * @returns undefined without a URL.
 * @throws HostformError `usage` for HTTP to another machine.
 */
export function heartbeatTo(url: URL | undefined, { source, host, log }: ProjectParts) {
  if (url === undefined) return undefined;
  if (url.protocol !== "https:" && !isLoopback(url) && !source.insecureHttp)
    raise("usage/heartbeat", { host: url.host });
  let known: string | undefined;
  return async (isGood: boolean): Promise<void> => {
    const to = new URL(url);
    if (!isGood) to.pathname = `${url.pathname.replace(/\/$/, "")}/fail`;
    const monitor = posterTo(to, host.clock, source.env);
    const { status = 0, error } = await monitor.send("", async () => undefined, new AbortController().signal);
    await monitor.close();
    const reason = error ?? (status < 300 ? undefined : `the response has the status ${status}`);
    const fix = status >= 500 ? "See the log of the monitor." : "Check the URL of --heartbeat and the network.";
    if (reason !== undefined && reason !== known)
      log.warn(problem("monitor.heartbeat", { host: url.host, reason, fix }));
    known = reason;
  };
}

/**
 * Runs a command, then sends a heartbeat: success for exit codes 0 and 2. `watch` and `fleet run` do this for each check instead.
 * @returns the exit code of the command.
 */
export async function observed(
  command: string,
  heartbeat: URL | undefined,
  parts: ProjectParts,
  work: (parts: ProjectParts) => Promise<number>,
): Promise<number> {
  const isWatch = command === "watch" || command === "fleet run";
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
