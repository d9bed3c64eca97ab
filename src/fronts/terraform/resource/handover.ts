/**
 * Objects that change their address in one run: a swap, a shifted `count` list, a rename without a `moved` block. Terraform plans a
 * destroy at one address and a create at another, in any order. The plan records such pairs in the store under its own id, and Terraform
 * passes this id to the destroy. If the object matches the create, the apply sends neither a DELETE nor a POST. An early create
 * adopts the object with the data of the record. An early destroy waits for the create where possible, so that an interruption
 * removes no object from the state.
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

/** First operation that transfers an object: the create (`taken`) or the destroy (`handed`). `done` resolves to false after a failure. */
interface Leg {
  readonly is: "taken" | "handed";
  readonly done: Promise<boolean>;
}

/** Maximum number of destroys that wait for {@link Activity.isQuiet} at the same time. By default, Terraform has ten workers. */
const MOST_WAITING = 4;

/** Maximum number of plans in one record. */
const PLANS = 20;

/** Minimum age of a record before a later plan removes it, in milliseconds. Until then, a saved plan may use the record. */
const SAVED_MS = 24 * 3_600_000;

/** Time for which the plan of a removal waits for a create of the same object, in milliseconds. */
const CREATE_MS = 500;

/** Returns true if the API can delete objects of the kind, so that Terraform may plan a destroy and a create of the same object. */
export const mayPassOn = (kind: Kind): boolean => kind.removal === "delete";

const typeOf = ({ type }: Kind, what: "passed" | "taken") => `${type} ${what}`;

const idOf = (kind: Kind, attributes: JsonObject) =>
  [parentOf(kind, attributes), attributes.id].filter((part) => part !== undefined).join(" ");

const keyOf = (kind: Kind, attributes: JsonObject) => objectKey("default", kind, attributes) ?? "";

type Session = Pick<ProviderSession, "clock" | "entries" | "holdings" | "place" | "self" | "stop">;

/** Parts of a scope that transfers need. */
interface Scope {
  readonly session: Session;
  readonly activity: Activity;
  /** Id of the plan that this process applies. Undefined until a change names the plan. */
  readonly plan: string | undefined;
}

export class Handovers {
  readonly #scope: Scope;
  /** Planned creates, by natural key. `replaces`: id of the object at the address of the create. */
  readonly #creates = new Map<string, { readonly planned: ValueObject; readonly replaces: string | undefined }>();
  readonly #said = new Set<string>();
  readonly #arrivals = new Arrivals();
  /** Objects that instances release, by natural key. */
  readonly #leaving = new Map<string, readonly [kind: Kind, object: ResourceState]>();
  readonly #legs = new Map<string, Leg>();
  /** Destroys that wait for the create of another instance, by natural key. `come` ends the wait. */
  readonly #waiting = new Map<string, { readonly creates: string | undefined; come(): void }>();
  #mostWaiting = MOST_WAITING;
  /** True after a quiet period without the awaited create: waiting destroys may occupy all workers of Terraform. */
  #isCrowded = false;
  /** Number of instances that contain an object of an interrupted run, by object. */
  readonly #left = new Map<string, number>();
  /** Queue of changes of records. */
  #noting: Promise<unknown> = Promise.resolve();

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** Registers a planned create. @param replaces id of the object at its own address. */
  async planCreate(kind: Kind, planned: ValueObject, replaces: string | undefined): Promise<readonly Diagnostic[]> {
    const thing = thingKey("default", kind, planned);
    if (thing === undefined) return [];
    this.#creates.set(thing, { planned, replaces });
    this.#arrivals.add(thing);
    return this.#pair(thing);
  }

  /** Returns true if another instance plans a create that matches this object. */
  isWanted(kind: Kind, attributes: JsonObject): boolean {
    const thing = thingKey("default", kind, attributes) ?? "";
    const create = this.#creates.get(thing);
    return mayPassOn(kind) && create !== undefined && create.replaces !== attributes.id;
  }

  /** Returns true if an instance plans a create that matches this object. Waits for such a create, at most {@link CREATE_MS}. */
  async isMade(kind: Kind, attributes: JsonObject): Promise<boolean> {
    const thing = thingKey("default", kind, attributes);
    if (thing === undefined) return false;
    if (!this.#creates.has(thing)) await this.#arrivals.wait(thing, this.#scope.session.clock, CREATE_MS);
    return this.#creates.has(thing);
  }

  /** Registers a released object. Ignores an object whose secret is lost, because another instance cannot use that object. */
  async planLeaving(kind: Kind, object: ResourceState, { lost }: Mark): Promise<readonly Diagnostic[]> {
    const thing = thingKey("default", kind, object.attributes);
    if (!mayPassOn(kind) || thing === undefined || lost) return [];
    this.#leaving.set(thing, [kind, object]);
    return this.#pair(thing);
  }

  /**
   * Registers that a create of this plan matches an object of the state. The plan transfers the object only after its instance releases it.
   * @param isShown true if Terraform has sent the instance: the plan covers the whole state.
   */
  async meet(kind: Kind, attributes: JsonObject, isShown: boolean): Promise<void> {
    await this.#note(kind, recordedAs(kind, attributes, {}), { is: false, isShown });
  }

  /**
   * Rejects a destroy if the create at the same address would fail, because another instance contains the declared object and the plan does
   * not transfer that object. Sends GETs. @throws HostformError `plan.exists`.
   */
  async refuseHalf(kind: Kind, prior: JsonObject, { creates, plan }: Mark, account: Account): Promise<void> {
    const { entries, place } = this.#scope.session;
    if (!mayPassOn(kind) || creates === undefined || plan === undefined) return;
    for (const { id, attributes, phase } of (await account.list(kind, creates.parent)).values()) {
      const object = { ...attributes, id };
      if (phase === "gone" || id === prior.id || thingKey("default", kind, object) !== creates.thing) continue;
      const noted = await entries.get(typeOf(kind, "passed"), idOf(kind, object));
      const { is, isShown } = (noted?.place === place && noted.passes?.[plan]) || {};
      // This object belongs to an interrupted create, which its entry completes.
      if (is || isShown || (await entries.get(kind.type, nameOf(kind, object))) !== undefined) continue;
      const [what, other] = [named(kind, prior), named(kind, object)];
      refuse(problem("plan.exists/half", { what, other, isUnseen: is === undefined }));
    }
  }

  /** Removes the old record of an object that its instance keeps. Keeps a record for {@link SAVED_MS}, because its plan may be saved. */
  async stays(kind: Kind, attributes: JsonObject): Promise<void> {
    const { clock, entries } = this.#scope.session;
    const name = idOf(kind, attributes);
    const { passes = {} } = (mayPassOn(kind) && (await entries.get(typeOf(kind, "passed"), name))) || {};
    const times = Object.values(passes).map(({ noted }) => noted);
    if (times.length > 0 && Math.max(...times) < clock.now() - SAVED_MS)
      await entries.remove(typeOf(kind, "passed"), name);
  }

  /**
   * Destroys an object. First waits for the create of another instance, because until then the state keeps the object.
   * @returns `taken`: that create has adopted the object. `handed`: the object is kept for that create. Undefined: delete the object.
   * @throws HostformError `apply.waiting`: the create cannot run now.
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

  /** Returns true if a destroy of this process has kept the object for the create of another instance. */
  isHanded(kind: Kind, attributes: JsonObject): boolean {
    return this.#legs.get(keyOf(kind, attributes))?.is === "handed";
  }

  /**
   * Waits until another instance has created or adopted the object. Limits the number of waiting destroys, which occupy Terraform's workers.
   * @returns true if the create has run; false if the create may run only after this destroy.
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
      // The waiting destroys may occupy all workers of Terraform. The create can then run only after this destroy.
      this.#mostWaiting = Math.min(this.#mostWaiting, waited - 1);
      return false;
    }
  }

  /** Returns true if the destroy and the create that it awaits wait for each other through other destroys. */
  #isCircle(thing: string, creates: string | undefined): boolean {
    let next = creates;
    while (next !== undefined && next !== thing) next = this.#waiting.get(next)?.creates;
    return next === thing;
  }

  /**
   * Returns true if the create of another instance has adopted or deleted the object. After an interrupted run, the state contains the
   * object at both addresses: the last destroy of the object sends a DELETE.
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

  /** Returns the record of an object if the applied plan transfers the object. The record contains the secret. */
  async passed(kind: Kind, attributes: JsonObject): Promise<Entry | undefined> {
    const { entries, holdings, place, self } = this.#scope.session;
    const entry = await entries.get(typeOf(kind, "passed"), idOf(kind, attributes));
    if (entry?.place !== place) return undefined;
    // Ignore the plans of this process: during an apply, it plans creates again, and destroys with create_before_destroy.
    const plans = Object.entries(entry.passes ?? {}).filter(([plan]) => plan !== holdings.run);
    const newest = plans.toSorted(([, a], [, b]) => a.noted - b.noted);
    const own = newest.filter(([, { owner }]) => owner === self.parent);
    const applied = this.#scope.plan ?? (own.at(-1) ?? newest.at(-1))?.[0] ?? "";
    return entry.passes?.[applied]?.is ? entry : undefined;
  }

  /** Returns true if the create of another instance has adopted or deleted the object, in this run or in an interrupted run. */
  async isTaken(kind: Kind, attributes: JsonObject): Promise<boolean> {
    const { entries, place } = this.#scope.session;
    const entry = await entries.get(typeOf(kind, "taken"), idOf(kind, attributes));
    return entry?.place === place;
  }

  /**
   * Runs the matching create of a released object. The destroy of the object then sends no request.
   * @param work adopts or deletes the object. If it throws, the destroy keeps the object in the state.
   */
  async take<T>(kind: Kind, { attributes }: ResourceState, work: () => Promise<T>): Promise<T> {
    const { entries, place } = this.#scope.session;
    const key = keyOf(kind, attributes);
    const other = this.#legs.get(key);
    // A concurrent destroy may be transferring the object.
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

  /** Removes the record of a transfer, because the new address contains the object. */
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

  /** Records the transfer of an object after its release and its create are planned. @returns the notice about the transfer. */
  async #pair(thing: string): Promise<readonly Diagnostic[]> {
    const [kind, object] = this.#leaving.get(thing) ?? [];
    // An apply uses the pairs of its plan, although it plans creates again, and destroys with create_before_destroy.
    if (kind === undefined || object === undefined || this.#scope.session.holdings.isApply) return [];
    const create = this.#creates.get(thing);
    if (create === undefined || !this.isWanted(kind, object.attributes)) return [];
    await this.#note(kind, { ...object, private: keptOf(object.private) }, { is: true, isShown: true });
    if (this.#said.has(thing)) return [];
    this.#said.add(thing);
    const isKept = suits(kind, object.attributes, create.planned);
    return [problem("apply.replayed/moves", { what: named(kind, object.attributes), isKept })];
  }

  /** Records whether this plan transfers an object. */
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

/** Returns the mark of a transferred object, without the fields of a plan. */
const keptOf = ({ plan: _, replacing: __, creates: ___, ...kept }: Mark): Mark => kept;

/** Returns true if the released object equals the declaration, so that no request is needed. */
export function suits(kind: Kind, attributes: JsonObject, planned: ValueObject): boolean {
  const isFixed = (change: string | undefined) => change === "replace" || change === "immutable";
  const isSame = attributesOf(kind).every(({ name, meta }) => {
    const wanted: Value = planned[name] ?? null;
    return !isFixed(meta.change) || hasUnknown(wanted) || sameValue(meta, wanted, attributes[name] ?? null);
  });
  // Only the old secret file contains the secret, so the provider cannot write it to another file.
  const isInPlace = equal(planned.secret_output ?? null, attributes.secret_output ?? null);
  return isSame && (oneTimeSecretName(kind) === undefined || isInPlace);
}
