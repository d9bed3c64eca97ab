import { ApiError, HostformError } from "../model/index.ts";
import type { Invocation } from "./io.ts";

/**
 * Does work that a Ctrl-C may end at once, as nothing is begun that must be finished. The signal reaches the requests
 * under way.
 * @throws HostformError `interrupted`.
 */
export async function interruptible<T>({ io }: Invocation, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const end = io.onInterrupt(() =>
    stop.abort(new HostformError([{ severity: "error", code: "interrupted", summary: "Interrupted." }])),
  );
  try {
    return await work(stop.signal);
  } catch (error) {
    // A cancelled request says that it was cancelled, not why; only what may have been changed by it is worth saying.
    const changing = error instanceof ApiError && error.reached !== "no" && !error.endpoint.startsWith("GET ");
    if (!changing) stop.signal.throwIfAborted();
    throw error;
  } finally {
    end();
  }
}
