/**
 * Objects that change their address in one run: a swap, a shifted `count` list, a rename without a `moved` block. Terraform plans a
 * destroy at one address and a create at another, in no order. The plan notes such pairs in the store under its own id, which Terraform
 * passes to the destroy. The apply then sends neither a DELETE nor a POST if the object is what the create declares.
 */
import type { Kind } from "../../../core/kinds/kind.ts";
import {
  attributesOf,
  objectKey,
  oneTimeSecretName,
  parentOf,
  returnsSecretOnce,
  sameValue,
  thingKey,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  equal,
  hasUnknown,
  type JsonObject,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import type { ProviderSession } from "../index.ts";
import { type Mark, nameOf, recordedAs } from "./attribute-mapping.ts";
import { moves } from "./holding-notices.ts";

/** The part of the destroy, or of the create that did not wait for it. */
type Leg = { readonly is: "taken" } | { readonly is: "handed"; readonly done: Promise<boolean> };

/** A create that needs the secret of the object waits this long for the destroy, which has it, in milliseconds. */
const DESTROY_MS = 1_000;

/** The plan of a removal waits this long for a create of the same thing, in milliseconds. */
const CREATE_MS = 500;

/** The API can delete an object of the kind, so that Terraform may plan a destroy and a create of the same thing. */
export const mayPassOn = (kind: Kind): boolean => kind.removal === "delete";

const typeOf = ({ type }: Kind, what: "passed" | "taken") => `${type} ${what}`;

const idOf = (kind: Kind, attributes: JsonObject) =>
  [parentOf(kind, attributes), attributes.id].filter((part) => part !== undefined).join(" ");

const keyOf = (kind: Kind, attributes: JsonObject) => objectKey("default", kind, attributes) ?? "";

type Session = Pick<ProviderSession, "clock" | "entries" | "holdings" | "place" | "self">;

export class Handovers {
  readonly #session: Session;
  /** Creates that are planned, and the object that each one replaces at its own address. */
  readonly #creates = new Map<string, { readonly planned: ValueObject; readonly replaces: string | undefined }>();
  readonly #said = new Set<string>();
  readonly #awaited = new Map<string, PromiseWithResolvers<void>>();
  /** Objects that instances give up, by natural key. */
  readonly #leaving = new Map<string, readonly [kind: Kind, object: ResourceState]>();
  readonly #legs = new Map<string, Leg>();
  readonly #arrivals = new Map<string, PromiseWithResolvers<void>>();
  /** Instances that still have an object of an interrupted run. */
  readonly #left = new Map<string, number>();
  readonly #noted = new Map<string, Promise<readonly Entry[]>>();
  /** The plan that this process applies, as soon as a destroy has named it. */
  #plan: string | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** A create is planned. @param replaces id of the object at its own address. */
  async planCreate(kind: Kind, planned: ValueObject, replaces: string | undefined): Promise<readonly Diagnostic[]> {
    const thing = thingKey("default", kind, planned);
    if (thing === undefined) return [];
    this.#creates.set(thing, { planned, replaces });
    this.#awaited.get(thing)?.resolve();
    return this.#note(thing);
  }

  /** Another instance plans to create what this object is. */
  isWanted(kind: Kind, attributes: JsonObject): boolean {
    const thing = thingKey("default", kind, attributes) ?? "";
    const create = this.#creates.get(thing);
    return mayPassOn(kind) && create !== undefined && create.replaces !== attributes.id;
  }

  /** Returns true if an instance plans to create what this object is, now or in a moment: Terraform plans a removal and a create in no order. */
  async isMade(kind: Kind, attributes: JsonObject): Promise<boolean> {
    const thing = thingKey("default", kind, attributes);
    if (thing === undefined) return false;
    const awaited = this.#awaited.get(thing) ?? Promise.withResolvers<void>();
    this.#awaited.set(thing, awaited);
    if (!this.#creates.has(thing)) await Promise.race([awaited.promise, this.#session.clock.sleep(CREATE_MS)]);
    return this.#creates.has(thing);
  }

  /** An instance gives up its object. An object whose secret is lost is of no use to another instance. */
  async planLeaving(kind: Kind, object: ResourceState, { lost }: Mark): Promise<readonly Diagnostic[]> {
    const thing = thingKey("default", kind, object.attributes);
    if (!mayPassOn(kind) || thing === undefined || lost) return [];
    this.#leaving.set(thing, [kind, object]);
    return this.#note(thing);
  }

  /**
   * The destroy of an object. @returns `taken`: the create of another instance has dealt with it. `handed`: it is kept for such a
   * create. Undefined: it is to be deleted.
   */
  async destroy(kind: Kind, prior: JsonObject, mark: Mark): Promise<Leg["is"] | undefined> {
    if (!mayPassOn(kind) || typeof prior.id !== "string") return undefined;
    const key = keyOf(kind, prior);
    const isPassed = (await this.passed(kind, prior, mark)) !== undefined;
    if (await this.#isLeft(kind, prior, mark, key)) return "taken";
    if (!isPassed || mark.lost) return undefined;
    const done = this.#hand(kind, prior, mark);
    this.#legs.set(key, { is: "handed", done });
    const isHanded = await done;
    if (!isHanded) this.#legs.delete(key);
    this.#arrivals.get(key)?.resolve();
    return isHanded ? "handed" : undefined;
  }

  /**
   * The create of another instance has dealt with the object. After an interrupted run the state has it at both addresses: the last
   * destroy of it is a real one.
   */
  async #isLeft(kind: Kind, prior: JsonObject, mark: Mark, key: string): Promise<boolean> {
    const isInterrupted = await this.isTaken(kind, prior);
    if (this.#legs.get(key)?.is === "taken") {
      this.#legs.delete(key);
      return true;
    }
    if (!isInterrupted) return false;
    await this.#session.holdings.load();
    const { instances = 1 } = this.#session.holdings.holderOf(kind, { id: String(prior.id), attributes: prior }) ?? {};
    const left = this.#left.get(key) ?? instances;
    this.#left.set(key, left - 1);
    if (left > 1) {
      this.#session.holdings.left(kind, prior, mark, left - 1);
      return true;
    }
    await this.#session.entries.remove(typeOf(kind, "taken"), idOf(kind, prior));
    return false;
  }

  /** The note of the plan that is applied, if it passes an object on. @param mark of the destroy, which names the plan. */
  async passed(kind: Kind, attributes: JsonObject, { plan }: Mark = {}): Promise<Entry | undefined> {
    const { entries, holdings, place, self } = this.#session;
    const loading = this.#noted.get(kind.type) ?? entries.all(typeOf(kind, "passed")).then((all) => [...all.values()]);
    this.#noted.set(kind.type, loading);
    const noted = (await loading).filter((entry) => entry.place === place && entry.plan !== holdings.run);
    // For create_before_destroy this process plans the destroy once more, under its own id.
    if (plan !== undefined && plan !== holdings.run) this.#plan = plan;
    const own = noted.filter(({ owner }) => owner === self.parent);
    const newest = (own.length > 0 ? own : noted).toSorted((a, b) => (a.noted ?? 0) - (b.noted ?? 0)).at(-1);
    const applied = this.#plan ?? newest?.plan;
    const id = idOf(kind, attributes);
    return noted.find((entry) => entry.plan === applied && idOf(kind, entry.attributes) === id);
  }

  /** The create of another instance has dealt with the object, in this run or in one that was interrupted. */
  async isTaken(kind: Kind, attributes: JsonObject): Promise<boolean> {
    const entry = await this.#session.entries.get(typeOf(kind, "taken"), idOf(kind, attributes));
    return entry?.place === this.#session.place;
  }

  /**
   * The create of what an object is. @param waits the object is of no use without its secret, which the destroy has.
   * @returns true if the destroy has handed over the object; false if the create deals with it alone.
   */
  async take(kind: Kind, object: ResourceState, waits: boolean): Promise<boolean> {
    const { attributes } = object;
    const key = keyOf(kind, attributes);
    if (waits && !this.#legs.has(key)) {
      const arrival = Promise.withResolvers<void>();
      this.#arrivals.set(key, arrival);
      await Promise.race([arrival.promise, this.#session.clock.sleep(DESTROY_MS)]);
    }
    const leg = this.#legs.get(key);
    if (leg?.is === "handed" && (await leg.done)) return true;
    this.#legs.set(key, { is: "taken" });
    const { entries, place } = this.#session;
    await entries.put(typeOf(kind, "taken"), idOf(kind, attributes), { ...withoutSecrets(kind, object), place });
    return false;
  }

  async #hand(kind: Kind, prior: JsonObject, mark: Mark): Promise<boolean> {
    const { entries, place, self } = this.#session;
    const name = nameOf(kind, prior);
    if (name === undefined) return false;
    const { plan: _, replacing: __, ...kept } = mark;
    const entry: Entry = { ...recordedAs(kind, prior, kept), place, owner: self.mark, handed: true };
    const other = await entries.insert(kind.type, name, entry);
    return other === undefined || (other.handed === true && other.attributes.id === prior.id);
  }

  /** Notes a pair as soon as both of its parts are planned. @returns what the apply does with the object. */
  async #note(thing: string): Promise<readonly Diagnostic[]> {
    const [kind, object] = this.#leaving.get(thing) ?? [];
    const { clock, entries, holdings, place, self } = this.#session;
    // An apply plans creates again, and destroys of create_before_destroy: it has the pairs of the plan.
    if (kind === undefined || object === undefined || holdings.isApply) return [];
    const create = this.#creates.get(thing);
    if (create === undefined || !this.isWanted(kind, object.attributes)) return [];
    const { run: plan } = holdings;
    await entries.put(typeOf(kind, "passed"), `${plan} ${idOf(kind, object.attributes)}`, {
      ...withoutSecrets(kind, object),
      place,
      owner: self.parent,
      plan,
      noted: clock.now(),
      ...(isBare(kind, object.attributes) && { bare: true }),
    });
    if (this.#said.has(thing)) return [];
    this.#said.add(thing);
    return [moves(kind, object.attributes, suits(kind, object.attributes, create.planned))];
  }
}

/** No secret can get lost with the record of an object. */
const isBare = (kind: Kind, attributes: JsonObject) =>
  returnsSecretOnce(kind, attributes) && (attributes.secret_output ?? null) === null;

/** Returns true if an object, as the instance that gives it up records it, is what is declared, so that no request is needed. */
export function suits(kind: Kind, attributes: JsonObject, planned: ValueObject): boolean {
  const isFixed = (change: string | undefined) => change === "replace" || change === "immutable";
  const isSame = attributesOf(kind).every(({ name, meta }) => {
    const wanted: Value = planned[name] ?? null;
    return !isFixed(meta.change) || hasUnknown(wanted) || sameValue(meta, wanted, attributes[name] ?? null);
  });
  // A secret that only its file has cannot be written to another one.
  const isInPlace = equal(planned.secret_output ?? null, attributes.secret_output ?? null);
  return isSame && (oneTimeSecretName(kind) === undefined || isInPlace);
}

function withoutSecrets(kind: Kind, object: ResourceState): ResourceState {
  const secret = attributesOf(kind).filter(({ meta }) => meta.sensitive);
  const attributes = { ...object.attributes, ...Object.fromEntries(secret.map(({ name }) => [name, null])) };
  return { ...object, attributes, private: {} };
}
