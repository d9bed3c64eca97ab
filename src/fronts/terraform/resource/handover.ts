/**
 * Objects that change their address in one run: a swap, a shifted `count` list, a rename without a `moved` block. Terraform plans a
 * destroy at one address and a create at another, in no order. The plan notes such pairs in the store under its own id, which Terraform
 * passes to the destroy. The apply then sends neither a DELETE nor a POST if the object is what the create declares. A create that
 * comes first takes the object over with what the note has. A destroy that comes first waits for it where it can, so that an
 * interruption takes no object out of the state.
 */
import type { Kind } from "../../../core/kinds/kind.ts";
import {
  type Account,
  attributesOf,
  objectKey,
  oneTimeSecretName,
  parentOf,
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
import type { Entry, Passing } from "../entries.ts";
import type { ProviderSession } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { type Activity, Arrivals } from "./activity.ts";
import { type Mark, named, nameOf, recordedAs } from "./attribute-mapping.ts";

/** The part of the destroy, or of the create that came before it. It may fail: `done` is false then. */
interface Leg {
  readonly is: "taken" | "handed";
  readonly done: Promise<boolean>;
}

/** Destroys that wait long at the same time. Terraform works on ten instances, if `-parallelism` does not say otherwise. */
const MOST_WAITING = 4;

/** Notes keep this number of plans. */
const PLANS = 20;

/** A saved plan may be applied this long after it was made, in milliseconds, although a later plan has other declarations. */
const SAVED_MS = 24 * 3_600_000;

/** The plan of a removal waits this long for a create of the same thing, in milliseconds. */
const CREATE_MS = 500;

/** The API can delete an object of the kind, so that Terraform may plan a destroy and a create of the same thing. */
export const mayPassOn = (kind: Kind): boolean => kind.removal === "delete";

const typeOf = ({ type }: Kind, what: "passed" | "taken") => `${type} ${what}`;

const idOf = (kind: Kind, attributes: JsonObject) =>
  [parentOf(kind, attributes), attributes.id].filter((part) => part !== undefined).join(" ");

const keyOf = (kind: Kind, attributes: JsonObject) => objectKey("default", kind, attributes) ?? "";

type Session = Pick<ProviderSession, "clock" | "entries" | "holdings" | "place" | "self" | "stop">;

/** Parts of a scope that hand-overs need. */
interface Scope {
  readonly session: Session;
  readonly activity: Activity;
  /** Id of the plan that this process applies, as soon as a change has named it. */
  readonly plan: string | undefined;
}

export class Handovers {
  readonly #scope: Scope;
  /** Creates that are planned, and the object that each one replaces at its own address. */
  readonly #creates = new Map<string, { readonly planned: ValueObject; readonly replaces: string | undefined }>();
  readonly #said = new Set<string>();
  readonly #arrivals = new Arrivals();
  /** Objects that instances give up, by natural key. */
  readonly #leaving = new Map<string, readonly [kind: Kind, object: ResourceState]>();
  readonly #legs = new Map<string, Leg>();
  /** Destroys that wait for the create of another instance, by natural key. */
  readonly #waiting = new Map<string, { readonly creates: string | undefined; come(): void }>();
  #mostWaiting = MOST_WAITING;
  /** Terraform has begun nothing for a while: those that wait may have all its places. */
  #isCrowded = false;
  /** Instances that still have an object of an interrupted run. */
  readonly #left = new Map<string, number>();
  /** Notes are changed one after the other. */
  #noting: Promise<unknown> = Promise.resolve();

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** A create is planned. @param replaces id of the object at its own address. */
  async planCreate(kind: Kind, planned: ValueObject, replaces: string | undefined): Promise<readonly Diagnostic[]> {
    const thing = thingKey("default", kind, planned);
    if (thing === undefined) return [];
    this.#creates.set(thing, { planned, replaces });
    this.#arrivals.add(thing);
    return this.#pair(thing);
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
    if (!this.#creates.has(thing)) await this.#arrivals.wait(thing, this.#scope.session.clock, CREATE_MS);
    return this.#creates.has(thing);
  }

  /** An instance gives up its object. An object whose secret is lost is of no use to another instance. */
  async planLeaving(kind: Kind, object: ResourceState, { lost }: Mark): Promise<readonly Diagnostic[]> {
    const thing = thingKey("default", kind, object.attributes);
    if (!mayPassOn(kind) || thing === undefined || lost) return [];
    this.#leaving.set(thing, [kind, object]);
    return this.#pair(thing);
  }

  /**
   * A create of this plan is what an object of the state is. Until its instance gives it up, the plan does not pass it on.
   * @param isShown Terraform has shown the instance: the plan is one of the whole state.
   */
  async meet(kind: Kind, attributes: JsonObject, isShown: boolean): Promise<void> {
    await this.#note(kind, recordedAs(kind, attributes, {}), { is: false, isShown });
  }

  /**
   * Refuses a destroy if the create at the same address would fail, because another instance has what it declares and the plan does not
   * pass that on. Sends GETs. @throws HostformError `plan.exists`.
   */
  async refuseHalf(kind: Kind, prior: JsonObject, { creates, plan }: Mark, account: Account): Promise<void> {
    const { entries, place } = this.#scope.session;
    if (!mayPassOn(kind) || creates === undefined || plan === undefined) return;
    for (const { id, attributes, phase } of (await account.list(kind, creates.parent)).values()) {
      const object = { ...attributes, id };
      if (phase === "gone" || id === prior.id || thingKey("default", kind, object) !== creates.thing) continue;
      const noted = await entries.get(typeOf(kind, "passed"), idOf(kind, object));
      const { is, isShown } = (noted?.place === place && noted.passes?.[plan]) || {};
      // An interrupted create: its entry settles it.
      if (is || isShown || (await entries.get(kind.type, nameOf(kind, object))) !== undefined) continue;
      const [what, other] = [named(kind, prior), named(kind, object)];
      refuse(problem("plan.exists/half", { what, other, isUnseen: is === undefined }));
    }
  }

  /** An instance keeps its object: the note of an old plan, with its secret, is of no use. A new one may be saved, and applied. */
  async stays(kind: Kind, attributes: JsonObject): Promise<void> {
    const { clock, entries } = this.#scope.session;
    const name = idOf(kind, attributes);
    const { passes = {} } = (mayPassOn(kind) && (await entries.get(typeOf(kind, "passed"), name))) || {};
    const times = Object.values(passes).map(({ noted }) => noted);
    if (times.length > 0 && Math.max(...times) < clock.now() - SAVED_MS)
      await entries.remove(typeOf(kind, "passed"), name);
  }

  /**
   * The destroy of an object. Waits a while for the create of another instance: until then the state keeps the object.
   * @returns `taken`: that create has dealt with it. `handed`: it is kept for that create. Undefined: it is to be deleted.
   * @throws HostformError `apply.waiting`: the create cannot come now.
   */
  async destroy(kind: Kind, prior: JsonObject, mark: Mark): Promise<Leg["is"] | undefined> {
    if (!mayPassOn(kind) || typeof prior.id !== "string") return undefined;
    const key = keyOf(kind, prior);
    const isPassed = (await this.passed(kind, prior)) !== undefined;
    if (await this.#isLeft(kind, prior, mark, key)) return "taken";
    if (!isPassed || mark.lost) return undefined;
    do if (await this.#comes(kind, prior, mark)) return "taken";
    while (this.#legs.get(key)?.is === "taken");
    const done = this.#hand(kind, prior, mark);
    this.#legs.set(key, { is: "handed", done });
    if (await done) return "handed";
    this.#legs.delete(key);
    return undefined;
  }

  /** A destroy of this process has handed an object over. */
  isHanded(kind: Kind, attributes: JsonObject): boolean {
    return this.#legs.get(keyOf(kind, attributes))?.is === "handed";
  }

  /**
   * Waits for the create of an object. Terraform works on ten instances at a time, so few destroys wait long.
   * @returns true if it has come; false if it may come only after this destroy.
   */
  async #comes(kind: Kind, prior: JsonObject, { creates }: Mark): Promise<boolean> {
    const { activity, session } = this.#scope;
    const thing = thingKey("default", kind, prior) ?? "";
    const leg = () => this.#legs.get(keyOf(kind, prior));
    for (;;) {
      if (leg()?.is === "taken" && (await leg()?.done)) return true;
      const stays = (hasFailed: boolean) =>
        problem("apply.waiting/at_old_address", { what: named(kind, prior), hasFailed });
      if (session.stop.aborted) refuse(stays(false));
      const isMany = this.#waiting.size >= this.#mostWaiting;
      if ((isMany && this.#isCrowded) || this.#isCircle(thing, creates?.thing)) return false;
      const come = new AbortController();
      this.#waiting.set(thing, { creates: creates?.thing, come: () => come.abort() });
      const isQuiet = await activity.isQuiet(session.clock, AbortSignal.any([session.stop, come.signal]), isMany);
      const waited = this.#waiting.size;
      this.#waiting.delete(thing);
      if (!isQuiet || leg()?.is === "taken") continue;
      if (activity.hasFailed) refuse(stays(true));
      this.#isCrowded = true;
      if (isMany) return false;
      // Terraform may work on no more instances than wait: the create comes after this destroy.
      this.#mostWaiting = Math.min(this.#mostWaiting, waited - 1);
      return false;
    }
  }

  /** Returns true if a destroy would wait for itself: its create comes after a destroy that waits for the create at this address. */
  #isCircle(thing: string, creates: string | undefined): boolean {
    let next = creates;
    while (next !== undefined && next !== thing) next = this.#waiting.get(next)?.creates;
    return next === thing;
  }

  /**
   * The create of another instance has dealt with the object. After an interrupted run the state has it at both addresses: the last
   * destroy of it is a real one.
   */
  async #isLeft(kind: Kind, prior: JsonObject, mark: Mark, key: string): Promise<boolean> {
    const isInterrupted = await this.isTaken(kind, prior);
    const leg = this.#legs.get(key);
    if (leg?.is === "taken") {
      if (!(await leg.done)) return false;
      this.#legs.delete(key);
      return true;
    }
    if (!isInterrupted) return false;
    const { entries, holdings } = this.#scope.session;
    await holdings.load();
    const { instances = 1 } = holdings.holderOf(kind, { id: String(prior.id), attributes: prior }) ?? {};
    const left = this.#left.get(key) ?? instances;
    this.#left.set(key, left - 1);
    if (left > 1) {
      holdings.left(kind, prior, mark, left - 1);
      return true;
    }
    await entries.remove(typeOf(kind, "taken"), idOf(kind, prior));
    return false;
  }

  /** The note of an object, with its secret, if the plan that is applied passes it on. */
  async passed(kind: Kind, attributes: JsonObject): Promise<Entry | undefined> {
    const { entries, holdings, place, self } = this.#scope.session;
    const entry = await entries.get(typeOf(kind, "passed"), idOf(kind, attributes));
    if (entry?.place !== place) return undefined;
    // This process plans creates again, and the destroys of create_before_destroy.
    const plans = Object.entries(entry.passes ?? {}).filter(([plan]) => plan !== holdings.run);
    const newest = plans.toSorted(([, a], [, b]) => a.noted - b.noted);
    const own = newest.filter(([, { owner }]) => owner === self.parent);
    const applied = this.#scope.plan ?? (own.at(-1) ?? newest.at(-1))?.[0] ?? "";
    return entry.passes?.[applied]?.is ? entry : undefined;
  }

  /** The create of another instance has dealt with the object, in this run or in one that was interrupted. */
  async isTaken(kind: Kind, attributes: JsonObject): Promise<boolean> {
    const { entries, place } = this.#scope.session;
    const entry = await entries.get(typeOf(kind, "taken"), idOf(kind, attributes));
    return entry?.place === place;
  }

  /**
   * The create of what an object is deals with it. The destroy of the object sends nothing then.
   * @param work adopts or deletes it. If it throws, the destroy keeps the object in the state.
   */
  async take<T>(kind: Kind, { attributes }: ResourceState, work: () => Promise<T>): Promise<T> {
    const { entries, place } = this.#scope.session;
    const key = keyOf(kind, attributes);
    const other = this.#legs.get(key);
    // The destroy may be about to hand it over.
    if (other?.is === "handed" && (await other.done)) return work();
    const note = [typeOf(kind, "taken"), idOf(kind, attributes)] as const;
    const { id = null } = attributes;
    const taking = entries.put(...note, { ...recordedAs(kind, { id }, {}), place }).then(work);
    const done = taking.then(
      () => true,
      () => false,
    );
    this.#legs.set(key, { is: "taken", done });
    this.#waiting.get(thingKey("default", kind, attributes) ?? "")?.come();
    if (!(await done)) {
      this.#legs.delete(key);
      await entries.remove(...note);
    }
    return taking;
  }

  /** The new address has what was passed on. */
  async settle(kind: Kind, attributes: JsonObject): Promise<void> {
    await this.#scope.session.entries.remove(typeOf(kind, "passed"), idOf(kind, attributes));
  }

  async #hand(kind: Kind, prior: JsonObject, mark: Mark): Promise<boolean> {
    const { entries, place, self } = this.#scope.session;
    const name = nameOf(kind, prior);
    if (name === undefined) return false;
    const entry: Entry = { ...recordedAs(kind, prior, keptOf(mark)), place, owner: self.mark, handed: true };
    const other = await entries.insert(kind.type, name, entry);
    return other === undefined || (other.handed === true && other.attributes.id === prior.id);
  }

  /** Notes a pair as soon as both of its parts are planned. @returns what the apply does with the object. */
  async #pair(thing: string): Promise<readonly Diagnostic[]> {
    const [kind, object] = this.#leaving.get(thing) ?? [];
    // An apply plans creates again, and destroys of create_before_destroy: it has the pairs of the plan.
    if (kind === undefined || object === undefined || this.#scope.session.holdings.isApply) return [];
    const create = this.#creates.get(thing);
    if (create === undefined || !this.isWanted(kind, object.attributes)) return [];
    await this.#note(kind, { ...object, private: keptOf(object.private) }, { is: true, isShown: true });
    if (this.#said.has(thing)) return [];
    this.#said.add(thing);
    const isKept = suits(kind, object.attributes, create.planned);
    const what = named(kind, object.attributes);
    return [problem(isKept ? "apply.replayed/moves" : "apply.replayed/recreates", { what })];
  }

  /** Notes that this plan passes an object on, or that it does not do so yet. */
  #note(kind: Kind, object: ResourceState, own: Pick<Passing, "is" | "isShown">): Promise<void> {
    const { clock, entries, holdings, place, self } = this.#scope.session;
    const [type, name] = [typeOf(kind, "passed"), idOf(kind, object.attributes)];
    const noting = this.#noting.then(async () => {
      const noted = await entries.get(type, name);
      const { passes = {}, ...before } = noted?.place === place ? noted : { ...object, place };
      if (!own.is && (passes[holdings.run] !== undefined || holdings.isApply)) return;
      const others = Object.entries(passes).filter(([run]) => run !== holdings.run);
      const passing: Passing = { owner: self.parent, noted: clock.now(), ...own };
      const plans = Object.fromEntries([...others.slice(1 - PLANS), [holdings.run, passing]]);
      await entries.put(type, name, { ...(own.is ? { ...object, place } : before), passes: plans });
    });
    this.#noting = noting.catch(() => undefined);
    return noting;
  }
}

/** The mark of an object that changes its address. */
const keptOf = ({ plan: _, replacing: __, creates: ___, ...kept }: Mark): Mark => kept;

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
