/**
 * Monitors of a watch: a heartbeat, a server with `/healthz` and `/metrics`, and the service manager. In: the ends of checks. Must
 * not: delay a check, or fail a watch that runs.
 */
import type { Diagnostic } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { Health } from "../project/watch/health.ts";
import { isGood } from "../project/watch/reconcile.ts";
import type { WatchReporter } from "../project/watch/watch.ts";
import { escapeLine, foundText, stampOf } from "../report/index.ts";
import { type HeartbeatFlags, heartbeatTo } from "./heartbeat.ts";
import type { ListenAddress } from "./listen-address.ts";
import { problem } from "./messages.ts";
import type { Terminal } from "./terminal.ts";
import { type Receiver, receiveFor } from "./webhooks/server.ts";

export interface MonitorFlags extends HeartbeatFlags {
  readonly metrics?: ListenAddress;
}

/** @param intervalMs between two checks. */
export function monitorsOf(terminal: Terminal, project: Project, flags: MonitorFlags, intervalMs: number) {
  const { clock, activity } = terminal;
  const health = new Health(clock, intervalMs);
  const beat = heartbeatTo(flags.heartbeat, project);
  const manager = serviceManager(project);
  let server: Receiver | undefined;
  let sending = Promise.resolve();
  const send = (isSuccess: boolean) => {
    sending = sending.then(() => beat?.(isSuccess));
  };
  const status = (text: string) => manager?.send(`STATUS=${stampOf(clock.now())} ${escapeLine(text)}`);
  return {
    /** Returns a reporter that also informs the monitors. */
    observing: (reporter: WatchReporter): WatchReporter => ({
      ...reporter,
      ended(report, look, news, nextMs) {
        const isWhole = report.targets.length === 0;
        health.ended(look.end, isGood(look), look.requests, isWhole ? look.plan : undefined);
        // A complete check follows at once.
        if (look.end !== "widened") send(isGood(look));
        status(foundText(look.plan, terminal.outLook.remedies));
        reporter.ended(report, look, news, nextMs);
      },
      failed(report, diagnostics: readonly Diagnostic[], news, nextMs) {
        health.ended("failed", false);
        send(false);
        status(diagnostics[0]?.summary ?? "The check failed.");
        reporter.failed(report, diagnostics, news, nextMs);
      },
    }),
    /** Starts the server and notifies the service manager. @returns the URL of the server. */
    async start(): Promise<string | undefined> {
      const { metrics: at } = flags;
      if (at !== undefined)
        server = await receiveFor("--metrics", at, ({ url = "" }, response) => {
          const metrics = { status: 200, body: health.metrics(activity.budget()) };
          const pages = new Map([
            ["/healthz", health.report()],
            ["/metrics", metrics],
          ]);
          const { status, body } = pages.get(url) ?? { status: 404, body: "not found\n" };
          response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(body);
        });
      manager?.send("READY=1");
      return server?.url;
    },
    /** Reports a watch that ends with an error. */
    failed: () => send(false),
    async close(): Promise<void> {
      await Promise.all([server?.close(AbortSignal.abort()), sending, manager?.end()]);
    },
  };
}

/** Time limit of one notification, in milliseconds. */
const NOTIFY_MS = 5_000;

/**
 * Notifies systemd through the program `systemd-notify`, because Node has no datagram sockets of Unix. Sends `WATCHDOG=1` twice in
 * each period of the watchdog.
 * @returns undefined outside of systemd.
 */
function serviceManager({ source: { cwd, env }, host, log, redaction }: Project) {
  const { PATH, NOTIFY_SOCKET, WATCHDOG_USEC } = env;
  if (!NOTIFY_SOCKET) return undefined;
  const over = new AbortController();
  let sending = Promise.resolve();
  let isLost = false;
  const send = (text: string) => {
    sending = sending.then(async () => {
      if (isLost) return;
      const options = { cwd, env: { PATH, NOTIFY_SOCKET }, input: "", timeoutMs: NOTIFY_MS };
      const { failure } = await host.capture(["systemd-notify", redaction.redact(text)], options);
      isLost = failure !== undefined;
      if (failure !== undefined) log.alert(problem("watch.notify", { reason: failure }));
    });
  };
  const watchdog = async () => {
    for (const halfMs = Number(WATCHDOG_USEC) / 2_000; ; send("WATCHDOG=1"))
      await host.clock.sleep(halfMs, over.signal);
  };
  if (Number(WATCHDOG_USEC) > 0) void watchdog().catch(() => {});
  return {
    send,
    end: () => {
      over.abort();
      send("STOPPING=1");
      return sending;
    },
  };
}
