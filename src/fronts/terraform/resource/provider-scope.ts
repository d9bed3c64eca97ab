/**
 * Shared data of the resources of one provider configuration during the process: owners of objects and names, lists, and
 * awaited jobs.
 */
import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import {
  type Account,
  intentId,
  JobWatch,
  Ownership,
  objectKey,
  type PendingCreate,
  thingKey,
} from "../../../core/lifecycle/index.ts";
import type { JsonObject, ValueObject } from "../../../core/model/index.ts";
import type { DataSession, ProviderSession } from "../index.ts";
import { Activity, Arrivals } from "./activity.ts";
import { type Mark, nameOf } from "./attribute-mapping.ts";
import { Handovers } from "./handover.ts";
import type { Holdings } from "./holdings.ts";

/** Default wait for queued jobs, in milliseconds. `timeouts` overrides it. */
const JOB_MS = 300_000;

/** Resource of one call of Terraform. Calls contain no address, so two calls are two resources, even with equal labels. */
export interface Owner {
  /** Name in messages. */
  readonly label: string;
}

/** A resource in the state. Terraform does not send its address. */
const IN_STATE: Owner = { label: "an address of this state" };

/** Owner of an object that Terraform destroyed or forgot in this process: a create may replace it. */
const RELEASED: Owner = { label: "the object that it replaces" };

/** Returns the key of an object. Always uses the alias `default`, because Terraform does not send the alias. */
const keyOf = (kind: Kind, object: JsonObject) => objectKey("default", kind, object);

/** Returns the key of a name for {@link Ownership}. */
const nameKey = (kind: Kind, name: string | undefined) =>
  name === undefined ? undefined : JSON.stringify(["name", kind.type, name]);

export class ProviderScope {
  readonly session: ProviderSession;
  readonly collections: Collections;
  readonly jobs: JobWatch;
  readonly handovers: Handovers;
  readonly activity: Activity;
  readonly #ownership = new Ownership<Owner>();
  /** Owners of the names of planned creates. The apply claims each name in `#ownership`. */
  readonly #planned = new Ownership<Owner>();
  readonly #imported = new Set<string | undefined>();
  /** Ids of recorded objects, by name. */
  readonly #recordedIds = new Map<string | undefined, string>();
  /** Attributes of recorded objects, by object. */
  readonly #recorded = new Map<string | undefined, JsonObject>();
  /** Names of recorded objects without an id. */
  readonly #pending = new Set<string | undefined>();
  /** Keys of the entries of planned creates ({@link declare}). */
  readonly #declared = new Set<string>();
  readonly #declarations = new Arrivals();
  /** Id of the plan that this process applies. Undefined until a change names the plan. */
  plan: string | undefined;
  /** Queue of changes of entries. */
  noting: Promise<void> = Promise.resolve();
  /** Types with a recorded object. */
  readonly #recordedTypes = new Set<string>();
  /** Ids of objects that Terraform has tainted because their secret is lost, by name. */
  readonly #lost = new Map<string | undefined, string>();
  readonly #said = new Set<string>();
  /** Live values of the services that actions of this process have suspended or restored, by id. */
  readonly acted = new Map<string, JsonObject>();
  /** Last action on each service. */
  readonly turns = new Map<string, Promise<unknown>>();

  constructor(session: ProviderSession, activity = new Activity()) {
    this.session = session;
    this.collections = collectionsOf(session);
    this.activity = activity;
    this.handovers = new Handovers(this);
    this.jobs = new JobWatch({ clock: session.clock, timeoutMs: JOB_MS, stop: session.stop });
  }

  get account(): Account {
    return this.session.account;
  }

  get holdings(): Holdings {
    return this.session.holdings;
  }

  /** Returns the recorded values, with a planned suspension that an action of this process has already completed. */
  afterActions(prior: JsonObject, planned: ValueObject | null): JsonObject {
    const live = this.acted.get(String(prior.id));
    const isRepeated = live !== undefined && (planned === null || planned.suspended === live.suspended);
    return isRepeated ? { ...prior, ...live } : prior;
  }

  /** Returns true for the first call with a key. Limits a report to one in each process. */
  isFirst(thing: string): boolean {
    if (this.#said.has(thing)) return false;
    this.#said.add(thing);
    return true;
  }

  /** Claims the name and the natural key of a new object. @returns the label of the resource that already has one of them. */
  claim(owner: Owner, kind: Kind, name: string | undefined, planned: ValueObject): string | undefined {
    return this.#ownership.claim(owner, nameKey(kind, name), thingKey("default", kind, planned))?.label;
  }

  /** Registers a planned create. @param entry key of the entry with its name. */
  declare(entry: string): void {
    this.#declared.add(entry);
    this.#declarations.add(entry);
  }

  /** Returns true if a create of this name is planned. @param ms maximum wait for the create, in milliseconds. */
  async isDeclared(entry: string, ms = 0): Promise<boolean> {
    if (!this.#declared.has(entry) && ms > 0) await this.#declarations.wait(entry, this.session.clock, ms);
    return this.#declared.has(entry);
  }

  /** Registers the plan that this process applies. Ignores a plan of this process: with create_before_destroy, it plans destroys. */
  applies({ plan }: Mark): void {
    this.holdings.applies();
    if (plan !== undefined && plan !== this.holdings.run) this.plan ??= plan;
  }

  /** Claims the name of a planned create. @returns the label of the resource that already has the name. */
  claimPlanned(owner: Owner, kind: Kind, name: string): string | undefined {
    return this.#planned.claim(owner, nameKey(kind, name))?.label;
  }

  /** Claims an object that a response has named. @returns the label of the resource that already has the object. */
  claimObject(owner: Owner, kind: Kind, object: JsonObject): string | undefined {
    if (this.isReleased(kind, object)) return RELEASED.label;
    return this.#ownership.claim(owner, keyOf(kind, object))?.label;
  }

  /** Registers the created object of a resource. */
  add(owner: Owner, kind: Kind, object: JsonObject): void {
    this.#ownership.add(owner, keyOf(kind, object));
  }

  /** Returns the known resource of an object. @param but resource to ignore. */
  ownerOf(kind: Kind, object: JsonObject, but?: Owner): Owner | undefined {
    const owner = this.#ownership.ownerOf(keyOf(kind, object), but);
    if (owner !== undefined || this.isReleased(kind, object)) return owner;
    const holder = this.holdings.holderOf(kind, { id: String(object.id), attributes: object });
    return holder === undefined ? undefined : IN_STATE;
  }

  /** Removes the state as owner of an object, because another instance adopts the object. */
  disown(kind: Kind, object: JsonObject): void {
    this.#ownership.release(IN_STATE, keyOf(kind, object));
  }

  /**
   * Returns the label of the known resource of a live object. @param but resource to ignore.
   * @param sent create without a response. If an earlier run created the object with the same intent, the state does not count as owner.
   */
  labelOf(kind: Kind, { id, attributes }: Remote, but?: Owner, sent?: PendingCreate): string | undefined {
    const object = { ...attributes, id };
    const { intent } = (sent && this.holdings.holderOf(kind, { id, attributes })) ?? {};
    const isOwn = intent !== undefined && sent !== undefined && intent === intentId(sent.private.pending);
    return (isOwn ? this.#ownership.ownerOf(keyOf(kind, object), but) : this.ownerOf(kind, object, but))?.label;
  }

  /** Releases a name and a natural key, after a failed create or a removal. */
  release(kind: Kind, name: string | undefined, attributes: ValueObject): void {
    for (const key of [nameKey(kind, name), thingKey("default", kind, attributes)]) {
      const owner = this.#ownership.ownerOf(key);
      if (owner !== undefined) this.#ownership.release(owner, key);
    }
    this.#pending.delete(nameKey(kind, name));
  }

  /** Registers an object in Terraform's state. */
  addRecorded(kind: Kind, attributes: JsonObject): void {
    const { id } = attributes;
    const name = nameKey(kind, nameOf(kind, attributes));
    if (typeof id !== "string") {
      this.#pending.add(name);
      return;
    }
    this.#recordedIds.set(name, id);
    this.#recorded.set(keyOf(kind, attributes), attributes);
    this.#recordedTypes.add(kind.type);
    this.holdings.show(kind, attributes);
    this.add(IN_STATE, kind, attributes);
  }

  /** Returns true if Terraform has sent a recorded object of this kind. */
  hasRecorded(kind: Kind): boolean {
    return this.#recordedTypes.has(kind.type);
  }

  /** Returns the attributes that Terraform has sent for an object. */
  recordedOf(kind: Kind, object: JsonObject): JsonObject | undefined {
    return this.#recorded.get(keyOf(kind, object));
  }

  /** Returns the id of the recorded object with a name. */
  recordedId(kind: Kind, name: string): string | undefined {
    return this.#recordedIds.get(nameKey(kind, name));
  }

  /** Returns true if the state contains a pending create with this name. */
  hasPending(kind: Kind, name: string | undefined): boolean {
    return name !== undefined && this.#pending.has(nameKey(kind, name));
  }

  /** Registers a recorded object whose secret is lost. Terraform later sends only a create for this tainted object. */
  noteLost(kind: Kind, attributes: JsonObject): void {
    this.#lost.set(nameKey(kind, nameOf(kind, attributes)), String(attributes.id));
  }

  /** Returns the id of the recorded object with this name whose secret is lost. */
  lostId(kind: Kind, name: string | undefined): string | undefined {
    return this.#lost.get(nameKey(kind, name));
  }

  noteImported(kind: Kind, object: JsonObject): void {
    this.#imported.add(keyOf(kind, object));
  }

  isImported(kind: Kind, object: JsonObject): boolean {
    return this.#imported.has(keyOf(kind, object));
  }

  /** Returns true if an object is imported although another address of this state contains it. */
  isDouble(kind: Kind, object: JsonObject): boolean {
    return this.isImported(kind, object) && this.#ownership.has(IN_STATE, keyOf(kind, object));
  }

  /** Registers an object that Terraform has destroyed or forgotten in this process. */
  markReleased(kind: Kind, object: JsonObject): void {
    this.add(RELEASED, kind, object);
  }

  isReleased(kind: Kind, object: JsonObject): boolean {
    return this.#ownership.has(RELEASED, keyOf(kind, object));
  }
}

const scopes = new WeakMap<ProviderSession, ProviderScope>();

export function scopeOf(session: ProviderSession, activity?: Activity): ProviderScope {
  const scope = scopes.get(session) ?? new ProviderScope(session, activity);
  scopes.set(session, scope);
  return scope;
}

/** Time for which a reader of a collection waits for other readers, in milliseconds. Terraform reads ten resources at a time. */
const GATHER_MS = 25;

/** Maximum number of individual reads in a collection. With more readers, one list serves all. */
const FEW = 2;

/** Collections of an account, shared by concurrent readers. */
class Collections {
  readonly #session: CollectionSession;
  readonly #stale = new Set<string>();
  readonly #asked = new Map<string, number>();

  constructor(session: CollectionSession) {
    this.#session = session;
  }

  /**
   * Returns true if at most {@link FEW} objects of the collection are read, so that a GET is cheaper than the list. Waits for
   * other readers during {@link GATHER_MS}, because Terraform reads instances concurrently.
   */
  async isAlone(kind: Kind, parent: string | undefined): Promise<boolean> {
    const key = collectionKey(kind, parent);
    this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1);
    if (kind.get === undefined) return false;
    await this.#session.clock.sleep(GATHER_MS);
    return (this.#asked.get(key) ?? 0) <= FEW;
  }

  /** Registers that this process changed a collection. Resources still use the old list, because each create claims its object. */
  changed(kind: Kind, parent: string | undefined): void {
    this.#stale.add(collectionKey(kind, parent));
  }

  /** Discards the list of a changed collection, because a data source must contain the changes of its dependencies. */
  upToDate(kind: Kind, parent: string | undefined): void {
    if (this.#stale.delete(collectionKey(kind, parent))) this.#session.account.forget(kind, parent);
  }
}

const collectionKey = (kind: Kind, parent: string | undefined) => `${kind.type} ${parent ?? ""}`;

type CollectionSession = Pick<DataSession, "account" | "clock">;

const known = new WeakMap<CollectionSession, Collections>();

export function collectionsOf(session: CollectionSession): Collections {
  const collections = known.get(session) ?? new Collections(session);
  known.set(session, collections);
  return collections;
}
