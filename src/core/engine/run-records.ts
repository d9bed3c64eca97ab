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

/** Saves results in the state. Each promise resolves when the data is on disk or in the backend. */
export interface Recorder {
  put(resource: ResourceState): Promise<void>;
  remove(address: string): Promise<void>;
  /** Replaces all outputs, by name. */
  setOutputs?(outputs: ReadonlyMap<string, OutputState>): Promise<void>;
  /** Asks the backend whether this process still has the state lock. @throws HostformError `state.lost_lock`. */
  proveLock?(): Promise<void>;
  /** Returns the error that proved the loss of the lock. Sends no request. */
  lostLock?(): HostformError | undefined;
}

/**
 * State during a run: the initial state with every result saved since. Also finds the address that owns or creates an object.
 */
export class Records {
  readonly #recorder: Recorder;
  readonly #kinds: Kinds;
  readonly #resources: Map<string, ResourceState>;
  readonly #ownership = new Ownership<string>();
  /** Objects that this run deleted. List lag may still show these. */
  readonly #deleted = new Set<string>();
  /** Pending creations. */
  readonly #pending = new Map<string, PendingCreate>();
  /** Addresses of objects that this run creates. A response gives the id of each object. */
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

  /** Returns the state entries that one change needs. */
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

  /** Returns the error that proved the loss of the state lock. Undefined if the lock is not known to be lost. */
  lostLock(): HostformError | undefined {
    this.#lostLock ??= this.#recorder.lostLock?.();
    if (this.#lostLock !== undefined) this.#lost.abort();
    return this.#lostLock;
  }

  /** Signal that is aborted if the state lock is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Returns the error about the lost lock if no outcome contains it. */
  unreportedLoss(outcomes: Iterable<ChangeOutcome>): readonly Diagnostic[] {
    const codes = [...outcomes].flatMap((one) => one.diagnostics.map(({ code }) => code));
    return codes.includes("state.lost_lock") ? [] : (this.#lostLock?.diagnostics ?? []);
  }

  /**
   * Returns true if this process still has the state lock.
   * @param isGap True after a sleep or pause of this process; only then the backend is asked.
   */
  async holdsLock(isGap: boolean): Promise<boolean> {
    // A backend without a response proves no loss.
    if (isGap) await this.proveLock().catch(ifExplained(() => {}));
    return this.lostLock() === undefined;
  }

  /**
   * Asks the backend whether this process still has the state lock.
   * @throws HostformError `state.lost_lock`, `state.backend`.
   */
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
    // If two addresses have the same natural key, the first address owns it.
    this.#ownership.claim(address, thingIn(resource, this.#kinds));
    if (isPendingCreate(resource)) this.#pending.set(address, resource);
    else this.#pending.delete(address);
  }
}

/** Returns the updated state entry of an unchanged resource. Undefined if the plan observed no difference. */
export function asObserved(prior: ResourceState, change: Change): ResourceState | undefined {
  if (change.before === null) return undefined;
  // A request of an earlier run is finished: the account shows its result.
  const { attempt, job, pending, shown: forms, suspended: before, ...mark } = prior.private;
  const { job: open, pending: still, shown, suspended } = change.private;
  // A moved entry gets the dependencies of its new address.
  const isMoved = change.previousAddress !== undefined && change.config !== null;
  const same =
    !isMoved &&
    attempt === undefined &&
    equal(prior.attributes, change.before) &&
    (job === undefined) === (open === undefined) &&
    (pending === undefined) === (still === undefined) &&
    equal(forms ?? null, shown ?? null) &&
    equal({ ...before }, { ...suspended }) &&
    mark.client === change.client &&
    mark.skipDestroy === change.skipDestroy;
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

/** Adds the client and `skipDestroy` of the change to a state entry. The lifecycle does not know these. */
export function withClient(resource: ResourceState, { client, skipDestroy }: Change): ResourceState {
  const { client: _, skipDestroy: __, ...mark } = resource.private;
  const more = { ...(client !== undefined && { client }), ...(skipDestroy && { skipDestroy }) };
  return { ...resource, private: { ...mark, ...more } };
}
