import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import type { ApplyContext } from "../lifecycle/index.ts";
import type { Change, JsonObject, OutputState, ResourceState, State } from "../model/index.ts";
import { identityIn, identityOf, sameThing, sameThingIn, siblingsOf } from "./identity.ts";

/** Where results are recorded; each call resolves when its content is durable. */
export interface Recorder {
  put(resource: ResourceState): Promise<void>;
  remove(address: string): Promise<void>;
  /** The outputs, all of them, by name. */
  setOutputs?(outputs: ReadonlyMap<string, OutputState>): Promise<void>;
}

/** An object of the account. */
type Live = Pick<Remote, "id" | "attributes">;

/**
 * What is recorded while a run lasts: the state that it began with and what it has recorded since; and which address owns, or
 * is about to make, which thing of the account.
 */
export class Records {
  readonly #recorder: Recorder;
  readonly #kinds: Kinds;
  readonly #resources: Map<string, ResourceState>;
  /** Object of the account, by its identity -> the addresses that have it recorded; more than one only in a damaged state. */
  readonly #owners = new Map<string, Set<string>>();
  /** Thing of the account -> the address that owns it, or that it is being made for. */
  readonly #things = new Map<string, string>();
  /** Objects that answers of this run have named -> the address that claimed it. */
  readonly #claimed = new Map<string, string>();
  /** Addresses that this run makes: what is theirs is named by the answer. */
  readonly #making: ReadonlySet<string>;

  constructor(recorder: Recorder, kinds: Kinds, state: State, changes: readonly Change[]) {
    this.#recorder = recorder;
    this.#kinds = kinds;
    this.#resources = new Map(state.resources);
    for (const resource of state.resources.values()) this.#note(resource);
    this.#making = new Set(changes.flatMap(({ address, actions: [first] }) => (first === "create" ? [address] : [])));
  }

  /** What of the lifecycle's context concerns the records of one change. */
  contextOf({ address, provider }: Change): Pick<ApplyContext, "ownerOf" | "claimId" | "claim" | "siblings"> {
    return {
      ownerOf: (kind, remote) => this.#ownerOf(address, provider, kind, remote),
      claimId: (kind, id, attributes) => this.#claimId(address, provider, kind, { id, attributes }),
      claim: (kind, planned) => this.#claimThing(address, provider, kind, planned),
      siblings: (kind) =>
        siblingsOf({ address, provider }, kind, this.#resources.values()).filter((one) =>
          this.#making.has(one.address),
        ),
    };
  }

  get(address: string): ResourceState | undefined {
    return this.#resources.get(address);
  }

  isPending(address: string): boolean {
    return this.#resources.get(address)?.private.pending !== undefined;
  }

  async put(resource: ResourceState): Promise<void> {
    await this.#recorder.put(resource);
    this.#release(resource.address);
    this.#resources.set(resource.address, resource);
    this.#note(resource);
  }

  async remove(address: string): Promise<void> {
    await this.#recorder.remove(address);
    this.#release(address);
    this.#resources.delete(address);
    for (const [thing, by] of this.#things) if (by === address) this.#things.delete(thing);
  }

  #note(resource: ResourceState): void {
    const thing = sameThingIn(resource, this.#kinds);
    if (thing !== undefined && !this.#things.has(thing)) this.#things.set(thing, resource.address);
    const identity = identityIn(resource, this.#kinds);
    if (identity === undefined) return;
    this.#owners.set(identity, (this.#owners.get(identity) ?? new Set()).add(resource.address));
  }

  /** The address no longer has the object that is recorded for it. */
  #release(address: string): void {
    const resource = this.#resources.get(address);
    const identity = resource && identityIn(resource, this.#kinds);
    if (identity !== undefined) this.#owners.get(identity)?.delete(address);
  }

  /** The other address that owns the thing already; otherwise it is claimed for this one. */
  #claimThing(address: string, provider: string, kind: Kind, planned: JsonObject): string | undefined {
    const thing = sameThing(provider, kind, planned);
    const by = thing === undefined ? undefined : this.#things.get(thing);
    if (by !== undefined && by !== address) return by;
    if (thing !== undefined) this.#things.set(thing, address);
    return undefined;
  }

  #claimId(address: string, provider: string, kind: Kind, remote: Live): string | undefined {
    const identity = identityOf(provider, kind, { ...remote.attributes, id: remote.id }) ?? "";
    const by = this.#claimed.get(identity) ?? this.#ownerOf(address, provider, kind, remote);
    if (by !== undefined && by !== address) return by;
    this.#claimed.set(identity, address);
    return undefined;
  }

  #ownerOf(address: string, provider: string, kind: Kind, { id, attributes }: Live): string | undefined {
    const owners = this.#owners.get(identityOf(provider, kind, { ...attributes, id }) ?? "") ?? [];
    return [...owners].find((owner) => owner !== address);
  }
}
