import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import {
  type ApplyContext,
  isPendingCreate,
  Ownership,
  objectKey,
  type PendingCreate,
  thingKey,
} from "../lifecycle/index.ts";
import {
  type Change,
  type ChangeOutcome,
  type Diagnostic,
  equal,
  HostformError,
  ifExplained,
  type OutputState,
  type ResourceState,
  type State,
} from "../model/index.ts";
import { objectIn, siblingsOf, thingIn } from "./identity.ts";

/** Saves results. Each call resolves when its content is durable. */
export interface Recorder {
  put(resource: ResourceState): Promise<void>;
  remove(address: string): Promise<void>;
  /** Replaces all outputs, by name. */
  setOutputs?(outputs: ReadonlyMap<string, OutputState>): Promise<void>;
  /** Asks the backend whether this process holds the state lock. @throws HostformError `state.lost_lock`. */
  proveLock?(): Promise<void>;
  /** Returns a failure that proves the loss of the lock. Sends no request. */
  lostLock?(): HostformError | undefined;
}

/**
 * State during a run: the initial state with everything saved since. Also tracks which address owns or is creating which object
 * of the account.
 */
export class Records {
  readonly #recorder: Recorder;
  readonly #kinds: Kinds;
  readonly #resources: Map<string, ResourceState>;
  readonly #ownership = new Ownership<string>();
  /** Objects that this run deleted. A list may still show them. */
  readonly #deleted = new Set<string>();
  /** Pending creations. */
  readonly #pending = new Map<string, PendingCreate>();
  /** Addresses that this run creates. The response names their objects. */
  readonly #making: ReadonlySet<string>;
  readonly #lost = new AbortController();
  #lostLock: HostformError | undefined;

  /** @param onLostLock Called once if the state lock is lost. */
  constructor(
    recorder: Recorder,
    kinds: Kinds,
    state: State,
    changes: readonly Change[],
    onLostLock: () => void = () => {},
  ) {
    this.#recorder = recorder;
    this.lost.addEventListener("abort", onLostLock, { once: true });
    this.#kinds = kinds;
    this.#resources = new Map(state.resources);
    for (const resource of state.resources.values()) this.#index(resource);
    this.#making = new Set(changes.flatMap(({ address, actions: [first] }) => (first === "create" ? [address] : [])));
  }

  /** Returns the state entries that concern one change. */
  contextOf({ address, provider, type }: Change): Omit<ApplyContext["records"], "save" | "drop"> {
    const own = this.#kinds.get(type);
    const keyOf = (kind: Kind, { id, attributes }: Pick<Remote, "id" | "attributes">) =>
      objectKey(provider, kind, { ...attributes, id });
    return {
      prior: this.#resources.get(address),
      lostLock: () => this.lostLock(),
      ...(this.#recorder.proveLock && { proveLock: () => this.proveLock() }),
      ownerOf: (kind, remote) => this.#ownership.ownerOf(keyOf(kind, remote), address),
      replaces: (remote) => own !== undefined && this.#deleted.has(keyOf(own, remote) ?? ""),
      claimId: (kind, id, attributes) => this.#ownership.claim(address, keyOf(kind, { id, attributes })),
      claim: (kind, planned) => this.#ownership.claim(address, thingKey(provider, kind, planned)),
      siblings: (kind, isThisRun = false) =>
        siblingsOf({ address, provider }, kind, this.#pending.values()).filter(
          (one) => !isThisRun || this.#making.has(one.address),
        ),
    };
  }

  /** Returns the failure that proved the loss of the state lock. Undefined if none did. */
  lostLock(): HostformError | undefined {
    this.#lostLock ??= this.#recorder.lostLock?.();
    if (this.#lostLock !== undefined) this.#lost.abort();
    return this.#lostLock;
  }

  /** Signal that is aborted if the state lock is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Returns the lock's failure, unless a change already reports it. */
  unreportedLoss(outcomes: Iterable<ChangeOutcome>): readonly Diagnostic[] {
    const codes = [...outcomes].flatMap((one) => one.diagnostics.map(({ code }) => code));
    return codes.includes("state.lost_lock") ? [] : (this.#lostLock?.diagnostics ?? []);
  }

  /** @param isGap True if this process slept or was paused. The backend is then asked. */
  async holdsLock(isGap: boolean): Promise<boolean> {
    // A backend that does not respond proves no loss.
    if (isGap) await this.proveLock().catch(ifExplained(() => {}));
    return this.lostLock() === undefined;
  }

  /** Asks the state backend about the lock. @throws HostformError `state.lost_lock`, `state.backend`. */
  proveLock(): Promise<void> {
    return this.#write(async () => this.#recorder.proveLock?.());
  }

  isPending(address: string): boolean {
    return this.#resources.get(address)?.private.pending !== undefined;
  }

  async put(resource: ResourceState): Promise<void> {
    await this.#write(() => this.#recorder.put(resource));
    const before = this.#resources.get(resource.address);
    if (before !== undefined) this.#ownership.release(resource.address, objectIn(before, this.#kinds));
    this.#resources.set(resource.address, resource);
    this.#index(resource);
  }

  /** @param isDeleted True if the object was deleted from the account. */
  async remove(address: string, isDeleted = false): Promise<void> {
    await this.#write(() => this.#recorder.remove(address));
    const before = this.#resources.get(address);
    const object = before && isDeleted ? objectIn(before, this.#kinds) : undefined;
    if (object !== undefined) this.#deleted.add(object);
    this.#ownership.release(address);
    this.#pending.delete(address);
    this.#resources.delete(address);
  }

  async #write(write: () => Promise<void>): Promise<void> {
    await write().catch((error: unknown) => {
      if (error instanceof HostformError && error.diagnostics[0]?.code === "state.lost_lock") {
        this.#lostLock ??= error;
        this.#lost.abort();
      }
      throw error;
    });
  }

  #index(resource: ResourceState): void {
    const { address } = resource;
    this.#ownership.add(address, objectIn(resource, this.#kinds));
    // If two addresses have the same natural key, the first address owns the key.
    this.#ownership.claim(address, thingIn(resource, this.#kinds));
    if (isPendingCreate(resource)) this.#pending.set(address, resource);
    else this.#pending.delete(address);
  }
}

/** Returns the state entry of an unchanged resource, as the plan observed it. Undefined if nothing differs. */
export function asObserved(prior: ResourceState, change: Change): ResourceState | undefined {
  if (change.before === null) return undefined;
  // The account shows the result of a request from an earlier run.
  const { attempt, job, pending, shown: forms, suspended: before, ...mark } = prior.private;
  const { job: open, pending: still, shown, suspended } = change.private;
  // A moved entry depends on the references of its new address.
  const isMoved = change.previousAddress !== undefined && change.config !== null;
  const same =
    !isMoved &&
    attempt === undefined &&
    equal(prior.attributes, change.before) &&
    (job === undefined) === (open === undefined) &&
    (pending === undefined) === (still === undefined) &&
    equal(forms ?? null, shown ?? null) &&
    equal({ ...before }, { ...suspended }) &&
    mark.client === change.client;
  const kept = {
    ...mark,
    ...(open && { job: open }),
    ...(still && { pending: still }),
    ...(shown && { shown }),
    ...(suspended && { suspended }),
  };
  const dependencies = isMoved ? change.dependsOn : prior.dependencies;
  return same ? undefined : withClient({ ...prior, attributes: change.before, private: kept, dependencies }, change);
}

/** Returns the state entry with the client of its change. The lifecycle does not know clients. */
export function withClient(resource: ResourceState, { client }: Change): ResourceState {
  const { client: _, ...mark } = resource.private;
  return { ...resource, private: { ...mark, ...(client !== undefined && { client }) } };
}
