import type { Invocation } from "../../io.ts";

/** Ctrl-C: the first one ends the run in good order (`soon`), a second one at once (`now`). */
export function stopsOf({ io }: Invocation) {
  const [soon, now] = [new AbortController(), new AbortController()];
  const end = io.onInterrupt(() => {
    if (soon.signal.aborted) now.abort();
    soon.abort();
  });
  return {
    soon: soon.signal,
    now: now.signal,
    end,
    /** Does work that is told to end at once when the time is up. */
    async atMost(milliseconds: number, work: (now: AbortSignal) => Promise<void>): Promise<void> {
      const done = new AbortController();
      const timer = io.clock.sleep(milliseconds, done.signal).then(
        () => now.abort(),
        () => {},
      );
      await work(now.signal);
      done.abort();
      await timer;
    },
  };
}

/** Resolves when the signal comes. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
