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

/** Records results. Each call resolves when its content is durable. */
export interface Recorder {
  put(resource: ResourceState): Promise<void>;
  remove(address: string): Promise<void>;
  /** The outputs, all of them, by name. */
  setOutputs?(outputs: ReadonlyMap<string, OutputState>): Promise<void>;
  /** Asks the backend whether this process holds the lock of the state. @throws HostformError `state.lost_lock`. */
  proveLock?(): Promise<void>;
  /** Returns the failure that shows without a question to a server that the lock is lost. */
  lostLock?(): HostformError | undefined;
}

/**
 * What is recorded while a run lasts: the state that it began with and what it has recorded since; and which address owns, or
 * is about to make, which object of the account.
 */
export class Records {
  readonly #recorder: Recorder;
  readonly #kinds: Kinds;
  readonly #resources: Map<string, ResourceState>;
  readonly #ownership = new Ownership<string>();
  /** Objects that this run has deleted: a list may still show them. */
  readonly #deleted = new Set<string>();
  /** Creates without known outcome. */
  readonly #pending = new Map<string, PendingCreate>();
  /** Addresses that this run makes: what is theirs is named by the answer. */
  readonly #making: ReadonlySet<string>;
  readonly #lost = new AbortController();
  #lostLock: HostformError | undefined;

  /** @param onLostLock is called once, when the lock of the state is lost. */
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

  /** Returns the records that concern one change. */
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

  /** Returns the failure that showed that the lock of the state is lost. */
  lostLock(): HostformError | undefined {
    this.#lostLock ??= this.#recorder.lostLock?.();
    if (this.#lostLock !== undefined) this.#lost.abort();
    return this.#lostLock;
  }

  /** Aborted when the lock of the state is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The failure of the lock, unless a change has it. */
  unreportedLoss(outcomes: Iterable<ChangeOutcome>): readonly Diagnostic[] {
    const codes = [...outcomes].flatMap((one) => one.diagnostics.map(({ code }) => code));
    return codes.includes("state.lost_lock") ? [] : (this.#lostLock?.diagnostics ?? []);
  }

  /** @param isGap this process slept or was stopped: the server of the state is asked. */
  async holdsLock(isGap: boolean): Promise<boolean> {
    // A server that does not answer shows no loss.
    if (isGap) await this.proveLock().catch(ifExplained(() => {}));
    return this.lostLock() === undefined;
  }

  /** Asks the backend of the state. @throws HostformError `state.lost_lock`, `state.backend`. */
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

  /** @param isDeleted its object has left the account. */
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
    // Two addresses may have come to one thing: it belongs to the first.
    this.#ownership.claim(address, thingIn(resource, this.#kinds));
    if (isPendingCreate(resource)) this.#pending.set(address, resource);
    else this.#pending.delete(address);
  }
}

/** The record of a resource that does not change, as the plan observed it; undefined if it differs in nothing. */
export function asObserved(prior: ResourceState, change: Change): ResourceState | undefined {
  if (change.before === null) return undefined;
  // The account shows the result of a request that an earlier run began.
  const { attempt, job, pending, shown: forms, suspended: before, ...mark } = prior.private;
  const { job: open, pending: still, shown, suspended } = change.private;
  // A moved record depends on what its new address refers to.
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

/** The record with the client of its change: the lifecycle does not know whose a resource is. */
export function withClient(resource: ResourceState, { client }: Change): ResourceState {
  const { client: _, ...mark } = resource.private;
  return { ...resource, private: { ...mark, ...(client !== undefined && { client }) } };
}
