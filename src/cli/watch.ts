/**
 * `hostform watch`: checks the account again and again, reports what differs, and with `--auto-approve` applies it. In: options, and events as hints of where to look. Out: what is new; an exit code. Must not: believe an event
 * (it only leads to a check), plan or apply in any other way than the commands of these names, hold the lock between checks.
 */
import { amended, fail, HostformError } from "../core/model/index.ts";
import type { GuardFlags } from "../project/guards.ts";
import type { Project } from "../project/project.ts";
import type { EventSubject } from "../project/watch/schedule.ts";
import { Watch } from "../project/watch/watch.ts";
import { invoiceIdOf, nodeHandler, orderIdOf, serviceIdOf, type WebhookEvent } from "../webhooks/index.ts";
import type { ListenAddress } from "./listen-address.ts";
import { type FailOnFlags, failedOn } from "./options.ts";
import { type Action, say } from "./terminal.ts";
import { terminalReporter } from "./watch-report.ts";
import { namesSecrets, openSecrets, SECRET_OPTIONS, type SecretFlags } from "./webhooks/secrets.ts";
import { type Receiver, receiveAt, short } from "./webhooks/server.ts";

interface WatchFlags extends GuardFlags, SecretFlags, FailOnFlags {
  /** Milliseconds from the end of a check of everything to the next one. */
  readonly interval?: number;
  readonly autoApprove?: boolean;
  readonly listen?: ListenAddress;
  /** Ends after this many checks. */
  readonly maxRuns?: number;
}

const INTERVAL_MS = 300_000;

/**
 * Watches until Ctrl-C, or for `maxRuns` checks.
 * @returns 0 after Ctrl-C that cut no apply short, or when the last check ended as an `apply` that succeeds does; 4 if a condition of
 *   `--fail-on` holds then; else 1.
 * @throws HostformError what hinders it from the start.
 */
export const runWatch: Action<WatchFlags> = async (terminal, project, flags) => {
  const { interval: intervalMs = INTERVAL_MS, autoApprove = false, maxRuns } = flags;
  if (flags.failOn !== undefined && maxRuns === undefined)
    fail("usage", "--fail-on needs --max-runs", { remedies: ["Add --max-runs 1, or remove --fail-on."] });
  const stop = new AbortController();
  const end = terminal.onInterrupt(() => stop.abort());
  if (!terminal.repaints) terminal.activity.mute();
  const reporter = terminalReporter(terminal);
  const options = { intervalMs, autoApprove, guards: flags, ...(maxRuns !== undefined && { maxRuns }) };
  const watch = new Watch(project, options, reporter, stop.signal);
  const endReload = terminal.onReload(() => watch.reload());
  try {
    const receiver = await listen(project, flags.listen, flags, {
      onHint: (hint) => watch.hint(hint),
      onRefused: (reason) => reporter.refused(reason),
    });
    try {
      reporter.start(intervalMs, autoApprove, receiver?.url);
      const code = await watch.run();
      return code === 0 ? failedOn(flags, watch.holds, code, (text) => say(terminal, text)) : code;
    } finally {
      // A delivery is only a hint, and after the end nobody acts upon it.
      await receiver?.close(AbortSignal.abort());
    }
  } finally {
    endReload();
    end();
  }
};

/**
 * Receives deliveries (§6). Only those whose signature fits become hints, each once, and a hint is no more than names.
 * @returns undefined when nothing is to be listened to.
 * @throws HostformError `usage`, `webhooks.secret`, `webhooks.listen` or what a place of a secret lacks.
 */
export async function listen(
  project: Project,
  at: ListenAddress | undefined,
  flags: SecretFlags,
  { onHint, onRefused }: { onHint(hint: EventSubject): void; onRefused(reason: string): void },
): Promise<Receiver | undefined> {
  if (at === undefined) {
    if (!namesSecrets(flags)) return undefined;
    return fail("usage", "A signing secret is given, but not --listen", {
      remedies: [`Add --listen [HOST:]PORT, or remove ${SECRET_OPTIONS}.`],
    });
  }
  const secrets = await openSecrets(project, flags);
  const handler = nodeHandler({
    secrets: secrets.texts,
    onEvent: (event) => onHint(hintOf(event)),
    onRefused: ({ code, message }) => {
      // Two attempts at once: one of them is taken.
      if (code !== "webhooks.busy") onRefused(message);
    },
    onError: (error) => onRefused(error instanceof HostformError ? error.message : "It could not be handled."),
  });
  try {
    return await receiveAt(at, handler);
  } catch (error) {
    const remedies = ["Choose another one with --listen [HOST:]PORT (port 0: any free one)."];
    throw amended(error, () => ({ remedies }));
  }
}

/** Ids are taken from wherever they may stand (§6: the content of `data` is not specified). */
function hintOf(event: WebhookEvent): EventSubject {
  const service = serviceIdOf(event) ?? orderIdOf(event);
  return { event: short(event.event), service, invoice: invoiceIdOf(event) };
}
