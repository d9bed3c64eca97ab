import type { State } from "../model/index.ts";
import type { OpenState } from "../record/index.ts";
import { interruptible } from "./interrupt.ts";
import type { Invocation } from "./io.ts";
import { stateStore } from "./project.ts";

/** The state as it is on disk, without taking the lock. */
export async function readState(invocation: Invocation): Promise<State> {
  const store = await stateStore(invocation).open({ write: false, command: "read", timeoutMs: 0 });
  try {
    return store.state;
  } finally {
    await store.close();
  }
}

/** Opens the state for writing, and frees the lock afterwards. Waiting for the lock can be interrupted. */
export function withState<T>(
  invocation: Invocation,
  command: string,
  work: (store: OpenState, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(invocation, async (signal) => {
    const timeoutMs = invocation.options.lockTimeoutMs;
    const store = await stateStore(invocation).open({ write: true, command, timeoutMs, signal });
    try {
      return await work(store, signal);
    } finally {
      await store.close();
    }
  });
}
