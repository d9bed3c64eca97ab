import { kinds } from "../core/kinds/index.ts";
import { sensitiveNames } from "../core/lifecycle/index.ts";
import { parseAddress, type ResourceState, type State } from "../core/model/index.ts";
import type { OpenState, Resealed, Resealing } from "../core/record/index.ts";
import { renderDiagnostics } from "../report/index.ts";
import { interruptible } from "./interrupt.ts";
import type { Invocation } from "./invocation.ts";
import { stateStore } from "./project.ts";
import { inItsTerms } from "./told.ts";

/** The state as it is on disk, without taking the lock. */
export async function readState(invocation: Invocation): Promise<State> {
  const store = await stateStore(invocation).open({ write: false, command: "read", timeoutMs: 0 });
  try {
    warn(invocation, store);
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
      warn(invocation, store);
      return await work(store, signal);
    } finally {
      await store.close();
    }
  });
}

/** Changes how the state is kept, under its lock. Waiting for the lock can be interrupted. */
export function resealState(invocation: Invocation, command: string, wanted: Resealing): Promise<Resealed> {
  return interruptible(invocation, (signal) =>
    stateStore(invocation).reseal(wanted, { command, timeoutMs: invocation.options.lockTimeoutMs, signal }),
  );
}

/** The attributes of a resource that hold secrets: those of its kind, and those that a secret flowed into. */
export function secretNames({ address, sensitive }: ResourceState): ReadonlySet<string> {
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  return new Set([...sensitive, ...(kind === undefined ? [] : sensitiveNames(kind))]);
}

/** Warnings go beside the result: to people only, as what a program reads is the result. */
function warn(invocation: Invocation, { warnings }: OpenState): void {
  const { io, errLook, options } = invocation;
  if (warnings.length > 0 && !options.quiet) io.err(renderDiagnostics(inItsTerms(invocation, warnings), errLook));
}
