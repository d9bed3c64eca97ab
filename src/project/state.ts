import { kinds } from "../core/kinds/index.ts";
import { isPendingCreate, sensitiveNames } from "../core/lifecycle/index.ts";
import { HostformError, inQuotes, parseAddress, type ResourceState, type State } from "../core/model/index.ts";
import { type OpenState, type Resealed, type Resealing, selectResources } from "../core/record/index.ts";
import { interruptible } from "./interrupt.ts";
import { stateStore } from "./project.ts";
import type { Project } from "./source.ts";
import { forStack } from "./stack-diagnostics.ts";

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

/**
 * Forgets resources, which stay in the account. All of them, or none when one is unknown or was perhaps ordered.
 * @returns the addresses, each once. @throws HostformError `plan.address`, `plan.pending`.
 */
export async function forget(store: OpenState, addresses: readonly string[]): Promise<readonly string[]> {
  const problems: HostformError[] = [];
  const chosen = addresses.flatMap((address) => {
    try {
      return selectResources(store.state, address);
    } catch (error) {
      if (!(error instanceof HostformError)) throw error;
      problems.push(error);
      return [];
    }
  });
  for (const resource of chosen.filter(isPendingCreate)) {
    const diagnostic = {
      severity: "error" as const,
      code: "plan.pending" as const,
      summary: `${resource.address} was not forgotten: it is not known whether it was ordered`,
      detail: "Its record is what keeps it from being ordered again.",
      remedies: [
        `\`hostform resolve ${inQuotes(resource.address)}\` shows what is known of it; \`--absent\` forgets it when it was not.`,
      ],
      address: resource.address,
    };
    problems.push(new HostformError([diagnostic]));
  }
  if (problems.length > 0) throw new HostformError(problems.flatMap(({ diagnostics }) => diagnostics));
  const removed = [...new Set(chosen.map(({ address }) => address))];
  await store.remove(...removed);
  return removed;
}

/** The attributes of a resource that hold secrets: those of its kind, and those that a secret flowed into. */
export function secretNames({ address, sensitive }: ResourceState): ReadonlySet<string> {
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  return new Set([...sensitive, ...(kind === undefined ? [] : sensitiveNames(kind))]);
}

/** Warnings go beside the result: what a program reads is the result. */
function warn({ source, log }: Project, { warnings }: OpenState): void {
  log.warn(forStack(source, warnings));
}
