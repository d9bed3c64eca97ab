/**
 * Monitors of a watch: heartbeat, server with `/healthz` and `/metrics`, and service manager. In: results of checks. Must
 * not: delay a check, or end a running watch.
 */
import { spendOf } from "../project/history.ts";
import type { Project } from "../project/project.ts";
import { Health } from "../project/watch/health.ts";
import { isGood } from "../project/watch/reconcile.ts";
import type { WatchReporter } from "../project/watch/watch.ts";
import { escapeLine, foundText, stampOf } from "../report/index.ts";
import type { ListenAddress } from "./listen-address.ts";
import { problem } from "./messages.ts";
import { type HeartbeatFlags, heartbeatTo } from "./observe.ts";
import type { Terminal } from "./terminal.ts";
import { type Receiver, receiveAt } from "./webhooks/server.ts";

export interface MonitorFlags extends HeartbeatFlags {
  readonly metrics?: ListenAddress;
}

const TEXT = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

/** @param intervalMs Time between two checks, in milliseconds. */
export function monitorsOf(
  { clock, ...terminal }: Terminal,
  project: Project,
  flags: MonitorFlags,
  intervalMs: number,
) {
  const health = new Health(clock, intervalMs);
  const beat = heartbeatTo(flags.heartbeat, project);
  const manager = serviceManager(project);
  let server: Receiver | undefined;
  let sending = Promise.resolve();
  const ended = (isSuccess: boolean, text = "") => {
    sending = sending.then(() => beat?.(isSuccess));
    void manager?.notify(`STATUS=${stampOf(clock.now())} ${escapeLine(text)}`);
  };
  const spent = async () => {
    const { entries, broken } = (await project.state.history().catch(() => undefined)) ?? {};
    return entries && broken === undefined ? spendOf(entries, clock.now()) : undefined;
  };
  return {
    /** Returns a reporter that also informs the monitors. */
    observing: (reporter: WatchReporter): WatchReporter => ({
      ...reporter,
      ended(report, look, ...more) {
        const { end, plan, requests } = look;
        health.ended(end, isGood(look), requests, report.targets.length === 0 ? plan : undefined);
        if (flags.metrics !== undefined) void spent().then((spend) => Object.assign(health, { spend }));
        // A complete check follows immediately.
        if (end !== "widened") ended(isGood(look), foundText(plan, terminal.outLook.remedies));
        reporter.ended(report, look, ...more);
      },
      failed(report, diagnostics, ...more) {
        health.ended("failed", false);
        ended(false, diagnostics[0]?.summary);
        reporter.failed(report, diagnostics, ...more);
      },
    }),
    /** Starts the server, and notifies the service manager. @returns the URL of the server. */
    async start(): Promise<string | undefined> {
      const respond: Parameters<typeof receiveAt>[1] = ({ url = "", method = "" }, response) => {
        if (!["GET", "HEAD"].includes(method)) return void response.writeHead(405, { allow: "GET" }).end();
        const { status, body } = health.page(url, terminal.activity.budget());
        response.writeHead(status, TEXT).end(body);
      };
      if (flags.metrics !== undefined) server = await receiveAt(flags.metrics, respond, "--metrics");
      void manager?.notify("READY=1");
      return server?.url;
    },
    /** Reports that the watch ended with an error. */
    failed: () => ended(false),
    close: () => Promise.all([server?.close(AbortSignal.abort()), sending, manager?.end()]),
  };
}

/** Time limit of one notification, in milliseconds. */
const NOTIFY_MS = 5_000;

/**
 * Notifies systemd with the program `systemd-notify`, because Node cannot open Unix datagram sockets. Sends `WATCHDOG=1`
 * twice per watchdog period.
 * @returns undefined outside of systemd.
 */
function serviceManager({ source: { cwd, env }, host, log, redaction }: Project) {
  const { PATH, NOTIFY_SOCKET, WATCHDOG_USEC } = env;
  if (!NOTIFY_SOCKET) return undefined;
  const options = { cwd, env: { PATH, NOTIFY_SOCKET }, input: "", timeoutMs: NOTIFY_MS };
  const over = new AbortController();
  let isLost = false;
  const notify = async (text: string): Promise<void> => {
    if (isLost) return;
    const { failure } = await host.capture(["systemd-notify", redaction.redact(text)], options);
    if (failure === undefined || isLost) return;
    isLost = true;
    log.warn(problem("monitor.notify", { reason: failure }));
  };
  const beat = (halfMs: number): Promise<void> =>
    host.clock.sleep(halfMs, over.signal).then(() => {
      void notify("WATCHDOG=1");
      return beat(halfMs);
    });
  const halfMs = Number(WATCHDOG_USEC) / 2_000;
  if (halfMs > 0) beat(halfMs).catch(() => {});
  return {
    notify,
    end: () => {
      over.abort();
      return notify("STOPPING=1");
    },
  };
}
