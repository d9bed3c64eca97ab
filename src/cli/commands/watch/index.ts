/**
 * `hostform watch`: looks at the account again and again, reports what differs, and with `--auto-approve` makes it as
 * declared. In: options, and events as hints of where to look. Out: what is new; an exit code. Must not: believe an event
 * (it only leads to a look), plan or apply in any other way than the commands of these names, hold the lock between looks.
 */
import type { GuardFlags } from "../../guards.ts";
import type { Invocation } from "../../io.ts";
import type { SecretFlags } from "../../receiving/index.ts";
import type { ListenAddress } from "./address.ts";
import { listen } from "./listen.ts";
import { Telling } from "./telling.ts";
import { Watch } from "./watch.ts";

export interface WatchFlags extends GuardFlags, SecretFlags {
  /** Milliseconds from the end of a look at everything to the next one. */
  readonly interval?: number;
  readonly autoApprove?: boolean;
  readonly listen?: ListenAddress;
  /** Ends after so many looks. */
  readonly maxRuns?: number;
}

const INTERVAL_MS = 300_000;

/**
 * Watches until Ctrl-C, or for `maxRuns` looks.
 * @returns 0 after Ctrl-C that cut no apply short, or when the last look ended as an `apply` that succeeds does; else 1.
 * @throws HostformError what hinders it from the start.
 */
export async function runWatch(invocation: Invocation, flags: WatchFlags): Promise<number> {
  const { interval: intervalMs = INTERVAL_MS, autoApprove = false, maxRuns } = flags;
  const stop = new AbortController();
  const end = invocation.io.onInterrupt(() => stop.abort());
  const telling = new Telling(invocation);
  const options = { intervalMs, autoApprove, guards: flags, ...(maxRuns !== undefined && { maxRuns }) };
  const watch = new Watch(invocation, options, telling, stop.signal);
  const endReload = invocation.io.onReload(() => watch.reload());
  try {
    const receiver = await listen(invocation, flags.listen, flags, {
      onHint: (hint) => watch.hint(hint),
      onRefused: (reason) => telling.refused(reason),
    });
    try {
      telling.start(intervalMs, autoApprove, receiver?.url);
      return await watch.run();
    } finally {
      // What is being received is only a hint, and nobody acts upon it any more.
      await receiver?.close(AbortSignal.abort());
    }
  } finally {
    endReload();
    end();
  }
}
