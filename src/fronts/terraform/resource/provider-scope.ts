/**
 * What the resources of one provider configuration share while the process lives: who has which object and which name, what is
 * listed, and which jobs are waited for.
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

/** Default wait for queued jobs, in milliseconds. `timeouts` replaces it. */
const JOB_MS = 300_000;

/** A resource as one call of Terraform is about it: no call sends its address. Two calls are two resources, whatever the label. */
export interface Owner {
  /** Name in messages. */
  readonly label: string;
}

/** A resource that the state has: which one Terraform does not say. */
const IN_STATE: Owner = { label: "an address of this state" };

/** Owner of an object that Terraform destroyed or forgot in this process: a create may take its place. */
const RELEASED: Owner = { label: "the object that it replaces" };

/** The account of a provider configuration has no alias here. */
const keyOf = (kind: Kind, object: JsonObject) => objectKey("default", kind, object);

/** The name of a thing, as entries have it. */
const nameKey = (kind: Kind, name: string | undefined) =>
  name === undefined ? undefined : JSON.stringify(["name", kind.type, name]);

export class ProviderScope {
  readonly session: ProviderSession;
  readonly collections: Collections;
  readonly jobs: JobWatch;
  readonly handovers: Handovers;
  readonly activity: Activity;
  readonly #ownership = new Ownership<Owner>();
  /** Names of the creates that are planned: the apply of one claims its name again. */
  readonly #planned = new Ownership<Owner>();
  readonly #imported = new Set<string | undefined>();
  /** The ids of what the state has, by name. */
  readonly #recordedIds = new Map<string | undefined, string>();
  /** Names of what the state has without an id. */
  readonly #pending = new Set<string | undefined>();
  /** Entries of the creates that are planned: those settle the pending creates of their names. */
  readonly #declared = new Set<string>();
  readonly #declarations = new Arrivals();
  /** Id of the plan that this process applies, as soon as a change has named it. */
  plan: string | undefined;
  /** Entries are changed one after the other. */
  noting: Promise<void> = Promise.resolve();
  /** Entries of pending creates whose instance Terraform has destroyed; nothing was sent. */
  readonly passed = new Set<string>();
  /** The types of which the state is known to have an object. */
  readonly #recordedTypes = new Set<string>();
  /** The ids of objects that Terraform has tainted because their secret is lost, by name. */
  readonly #lost = new Map<string | undefined, string>();
  readonly #said = new Set<string>();

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

  /** Returns true if this process asks for the first time about something that is reported once. */
  isFirst(thing: string): boolean {
    if (this.#said.has(thing)) return false;
    this.#said.add(thing);
    return true;
  }

  /** Claims the name of what is to be made, and its natural key. @returns the label of the resource that has one of them. */
  claim(owner: Owner, kind: Kind, name: string | undefined, planned: ValueObject): string | undefined {
    return this.#ownership.claim(owner, nameKey(kind, name), thingKey("default", kind, planned))?.label;
  }

  /** A create is planned. @param entry of its name. */
  declare(entry: string): void {
    this.#declared.add(entry);
    this.#declarations.add(entry);
  }

  /** Returns true if a create of this name is planned. @param ms time that Terraform has to show it, in milliseconds. */
  async isDeclared(entry: string, ms = 0): Promise<boolean> {
    if (!this.#declared.has(entry) && ms > 0) await this.#declarations.wait(entry, this.session.clock, ms);
    return this.#declared.has(entry);
  }

  /** A change of an apply names the plan that Terraform applies. For create_before_destroy this process plans destroys itself. */
  applies({ plan }: Mark): void {
    this.holdings.applies();
    if (plan !== undefined && plan !== this.holdings.run) this.plan ??= plan;
  }

  /** Claims the name of a create that is planned. @returns the label of the one that has it. */
  claimPlanned(owner: Owner, kind: Kind, name: string): string | undefined {
    return this.#planned.claim(owner, nameKey(kind, name))?.label;
  }

  /** Claims an object that an answer has named. @returns the label of the resource that has it. */
  claimObject(owner: Owner, kind: Kind, object: JsonObject): string | undefined {
    if (this.isReleased(kind, object)) return RELEASED.label;
    return this.#ownership.claim(owner, keyOf(kind, object))?.label;
  }

  /** An object was made for a resource. */
  add(owner: Owner, kind: Kind, object: JsonObject): void {
    this.#ownership.add(owner, keyOf(kind, object));
  }

  /** The resource that is known to have an object. @param but one that does not count. */
  ownerOf(kind: Kind, object: JsonObject, but?: Owner): Owner | undefined {
    const owner = this.#ownership.ownerOf(keyOf(kind, object), but);
    if (owner !== undefined || this.isReleased(kind, object)) return owner;
    const holder = this.holdings.holderOf(kind, { id: String(object.id), attributes: object });
    return holder === undefined ? undefined : IN_STATE;
  }

  /** No instance of the state has the object for now: another one takes it over. */
  disown(kind: Kind, object: JsonObject): void {
    this.#ownership.release(IN_STATE, keyOf(kind, object));
  }

  /**
   * The label of the resource that is known to have a live object. @param but one that does not count.
   * @param sent a create without an answer: an earlier run may have adopted its object, and the state does not show it.
   */
  labelOf(kind: Kind, { id, attributes }: Remote, but?: Owner, sent?: PendingCreate): string | undefined {
    const object = { ...attributes, id };
    const { intent } = (sent && this.holdings.holderOf(kind, { id, attributes })) ?? {};
    const isOwn = intent !== undefined && sent !== undefined && intent === intentId(sent.private.pending);
    return (isOwn ? this.#ownership.ownerOf(keyOf(kind, object), but) : this.ownerOf(kind, object, but))?.label;
  }

  /** Nothing was made, or it was removed: its name and its natural key are free again. */
  release(kind: Kind, name: string | undefined, attributes: ValueObject): void {
    for (const key of [nameKey(kind, name), thingKey("default", kind, attributes)]) {
      const owner = this.#ownership.ownerOf(key);
      if (owner !== undefined) this.#ownership.release(owner, key);
    }
    this.#pending.delete(nameKey(kind, name));
  }

  /** Terraform's state has this. */
  addRecorded(kind: Kind, attributes: JsonObject): void {
    const { id } = attributes;
    const name = nameKey(kind, nameOf(kind, attributes));
    if (typeof id !== "string") {
      this.#pending.add(name);
      return;
    }
    this.#recordedIds.set(name, id);
    this.#recordedTypes.add(kind.type);
    this.holdings.show(kind, attributes);
    this.add(IN_STATE, kind, attributes);
  }

  /** Returns true if the state is known to have an object of a kind: Terraform shows one instance after the other. */
  hasRecorded(kind: Kind): boolean {
    return this.#recordedTypes.has(kind.type);
  }

  /** The id of the object that the state is known to have under a name. */
  recordedId(kind: Kind, name: string): string | undefined {
    return this.#recordedIds.get(nameKey(kind, name));
  }

  /** Returns true if the state has a pending create under this name. */
  hasPending(kind: Kind, name: string | undefined): boolean {
    return name !== undefined && this.#pending.has(nameKey(kind, name));
  }

  /** The secret of a recorded object is lost: Terraform sends only a create for what is tainted. */
  noteLost(kind: Kind, attributes: JsonObject): void {
    this.#lost.set(nameKey(kind, nameOf(kind, attributes)), String(attributes.id));
  }

  /** The recorded object of this name whose secret is lost. */
  lostId(kind: Kind, name: string | undefined): string | undefined {
    return this.#lost.get(nameKey(kind, name));
  }

  noteImported(kind: Kind, object: JsonObject): void {
    this.#imported.add(keyOf(kind, object));
  }

  isImported(kind: Kind, object: JsonObject): boolean {
    return this.#imported.has(keyOf(kind, object));
  }

  /** Returns true if an object is imported although another address of this state has it. */
  isDouble(kind: Kind, object: JsonObject): boolean {
    return this.isImported(kind, object) && this.#ownership.has(IN_STATE, keyOf(kind, object));
  }

  /** Terraform has destroyed or forgotten an object in this process. */
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

/** Wait of the first readers of a collection for others, in milliseconds. Terraform reads ten resources at a time. */
const GATHER_MS = 25;

/** Up to this many objects of a collection are read individually: a list may have many pages. */
const FEW = 2;

/** The collections of an account, shared by concurrent readers. */
class Collections {
  readonly #session: CollectionSession;
  readonly #stale = new Set<string>();
  readonly #asked = new Map<string, number>();

  constructor(session: CollectionSession) {
    this.#session = session;
  }

  /**
   * Returns true if so few objects of the collection are read that a GET of this one is cheaper. Waits a moment for
   * others: Terraform reads many instances concurrently.
   */
  async isAlone(kind: Kind, parent: string | undefined): Promise<boolean> {
    const key = collectionKey(kind, parent);
    this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1);
    if (kind.get === undefined) return false;
    await this.#session.clock.sleep(GATHER_MS);
    return (this.#asked.get(key) ?? 0) <= FEW;
  }

  /** This process changed a collection. Resources go on with the list that was read: what they created is claimed. */
  changed(kind: Kind, parent: string | undefined): void {
    this.#stale.add(collectionKey(kind, parent));
  }

  /** For data sources, which show a collection as it is after what they depend on: lists it again if it was changed. */
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
