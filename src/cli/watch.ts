/**
 * Runs `watch`: checks the account repeatedly, reports differences, and applies them with `--auto-approve`. Must not: trust
 * an event (it only starts a check), plan or apply differently than `plan` and `apply`, or keep the lock between checks.
 */
import { HostformError } from "../core/model/index.ts";
import type { GuardFlags } from "../project/guards.ts";
import { requireMandate } from "../project/mandate/gate.ts";
import { failureNews } from "../project/notify/index.ts";
import type { Project } from "../project/project.ts";
import type { EventSubject } from "../project/watch/schedule.ts";
import { Watch } from "../project/watch/watch.ts";
import { invoiceIdOf, nodeHandler, orderIdOf, serviceIdOf, type WebhookEvent } from "../webhooks/index.ts";
import type { ListenAddress } from "./listen-address.ts";
import { raise } from "./messages.ts";
import { type MonitorFlags, monitorsOf } from "./monitors.ts";
import type { FailOnFlags } from "./options.ts";
import { type Action, failedOn } from "./terminal.ts";
import { terminalReporter } from "./watch-report.ts";
import { namesSecrets, openSecrets, SECRET_OPTIONS, type SecretFlags } from "./webhooks/secrets.ts";
import { type Receiver, receiveAt, short } from "./webhooks/server.ts";

interface WatchFlags extends GuardFlags, SecretFlags, FailOnFlags, MonitorFlags {
  /** Interval between complete checks, in milliseconds. */
  readonly interval?: number;
  readonly autoApprove?: boolean;
  readonly listen?: ListenAddress;
  /** Time without a response after which the watch reports it, in milliseconds. */
  readonly unreachableAfter?: number;
  /** Maximum number of checks. */
  readonly maxRuns?: number;
}

const INTERVAL_MS = 300_000;
const UNREACHABLE_MS = 900_000;

/**
 * Watches until Ctrl-C, or for `maxRuns` checks.
 * @returns 5 if the token was rejected in the first check or in the last three. 1 if the last check failed, or Ctrl-C
 * interrupted an apply. Otherwise 4 if a condition of `--fail-on` is true, else 0.
 * @throws HostformError for an error before the first check.
 */
export const runWatch: Action<WatchFlags> = async (terminal, project, flags) => {
  const { interval: intervalMs = INTERVAL_MS, unreachableAfter: unreachableMs = UNREACHABLE_MS, maxRuns } = flags;
  const { autoApprove = false } = flags;
  if (flags.failOn !== undefined && maxRuns === undefined)
    raise("usage/needs", { option: "--fail-on", other: "--max-runs 1" });
  if (autoApprove) requireMandate(project.source, "`watch --auto-approve`");
  const stop = new AbortController();
  const end = terminal.onInterrupt(() => stop.abort());
  if (!terminal.repaints) terminal.activity.mute();
  const reporter = terminalReporter(terminal);
  const timing = { intervalMs, unreachableMs, ...(maxRuns !== undefined && { maxRuns }) };
  const monitors = monitorsOf(terminal, project, flags, intervalMs);
  const options = { ...timing, autoApprove, guards: flags };
  const watch = new Watch(project, options, monitors.observing(reporter), stop.signal);
  const endReload = terminal.onReload(() => watch.reload());
  try {
    const receiver = await listen(project, flags.listen, flags, {
      onHint: (hint) => watch.hint(hint),
      onRefused: (reason) => reporter.refused(reason),
    });
    try {
      reporter.start(intervalMs, autoApprove, receiver?.url, await monitors.start());
      const code = await watch.run().catch(failureNews(project));
      await watch.news.deliver(true);
      return code === 0 ? failedOn(terminal, flags, watch.holds, code) : code;
    } finally {
      // No check follows, so deliveries have no effect.
      await receiver?.close(AbortSignal.abort());
    }
  } catch (error) {
    monitors.failed();
    throw error;
  } finally {
    await monitors.close();
    endReload();
    end();
  }
};

/**
 * Receives deliveries (§6). A delivery with a valid signature becomes a hint, which contains only names and ids.
 * @returns undefined without `--listen`.
 * @throws HostformError `usage`, `webhooks.secret`, `webhooks.listen`, and errors of a secret source.
 */
export async function listen(
  project: Project,
  at: ListenAddress | undefined,
  flags: SecretFlags,
  { onHint, onRefused }: { onHint(hint: EventSubject): void; onRefused(reason: string): void },
): Promise<Receiver | undefined> {
  if (at === undefined) {
    if (!namesSecrets(flags)) return undefined;
    return raise("usage/needs", { option: SECRET_OPTIONS, other: "--listen [HOST:]PORT" });
  }
  const secrets = await openSecrets(project, flags);
  const handler = nodeHandler({
    secrets: secrets.texts,
    onEvent: (event) => onHint(hintOf(event)),
    onRefused: ({ code, message }) => {
      // Another attempt at the same delivery is being handled, so this is no rejection.
      if (code !== "webhooks.busy") onRefused(message);
    },
    onError: (error) => onRefused(error instanceof HostformError ? error.message : "It could not be handled."),
  });
  return receiveAt(at, handler, "--listen");
}

/** Returns the hint of an event. Ids may be anywhere in `data`, because §6 does not define its content. */
function hintOf(event: WebhookEvent): EventSubject {
  const service = serviceIdOf(event) ?? orderIdOf(event);
  return { event: short(event.event), service, invoice: invoiceIdOf(event) };
}
