import { kinds } from "../core/kinds/index.ts";
import { sensitiveNames } from "../core/lifecycle/index.ts";
import { parseAddress, type ResourceState, type State } from "../core/model/index.ts";
import type { OpenState, Resealed, Resealing } from "../core/record/index.ts";
import { interruptible } from "./interrupt.ts";
import { stateStore } from "./project.ts";
import type { Project } from "./source.ts";
import { inItsTerms } from "./told.ts";

/** The state as it is on disk, without taking the lock. */
export async function readState(project: Project): Promise<State> {
  const store = await stateStore(project).open({ write: false, command: "read", timeoutMs: 0 });
  try {
    warn(project, store);
    return store.state;
  } finally {
    await store.close();
  }
}

/** Opens the state for writing, and frees the lock afterwards. Waiting for the lock can be interrupted. */
export function withState<T>(
  project: Project,
  command: string,
  work: (store: OpenState, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(project.host, async (signal) => {
    const timeoutMs = project.source.lockTimeoutMs;
    const store = await stateStore(project).open({ write: true, command, timeoutMs, signal });
    try {
      warn(project, store);
      return await work(store, signal);
    } finally {
      await store.close();
    }
  });
}

/** Changes how the state is kept, under its lock. Waiting for the lock can be interrupted. */
export function resealState(project: Project, command: string, wanted: Resealing): Promise<Resealed> {
  return interruptible(project.host, (signal) =>
    stateStore(project).reseal(wanted, { command, timeoutMs: project.source.lockTimeoutMs, signal }),
  );
}

/** The attributes of a resource that hold secrets: those of its kind, and those that a secret flowed into. */
export function secretNames({ address, sensitive }: ResourceState): ReadonlySet<string> {
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  return new Set([...sensitive, ...(kind === undefined ? [] : sensitiveNames(kind))]);
}

/** Warnings go beside the result: what a program reads is the result. */
function warn({ source, log }: Project, { warnings }: OpenState): void {
  log.warn(inItsTerms(source, warnings));
}
