import { type Kind, type Kinds, namedBy } from "../kinds/kind.ts";
import type { Held, HeldObject, Holding, Place } from "../local/index.ts";
import { type MissingState, problem } from "../messages/index.ts";
import {
  type Change,
  type Diagnostic,
  isError,
  type JsonObject,
  parseAddress,
  type State,
  type ValueObject,
} from "../model/index.ts";
import { parentOf } from "./attributes.ts";

/**
 * Records which resource owns an object ({@link objectKey}) or a future object ({@link thingKey}). Owners are compared with
 * `===`.
 */
export class Ownership<Owner> {
  readonly #owners = new Map<string, readonly Owner[]>();

  /**
   * Reserves all keys for a resource. If another resource owns one of them, reserves none.
   * @param keys Undefined keys are ignored.
   * @returns the other owner.
   */
  claim(owner: Owner, ...keys: readonly (string | undefined)[]): Owner | undefined {
    for (const key of keys) {
      const other = this.ownerOf(key, owner);
      if (other !== undefined) return other;
    }
    for (const key of keys) this.add(owner, key);
    return undefined;
  }

  /** Adds an owner from the state. A damaged state may contain one object at two addresses. */
  add(owner: Owner, key: string | undefined): void {
    const owners = this.#owners.get(key ?? "") ?? [];
    if (key !== undefined && !owners.includes(owner)) this.#owners.set(key, [...owners, owner]);
  }

  /** Returns the first resource that owns the key. @param but Resource to ignore. */
  ownerOf(key: string | undefined, but?: Owner): Owner | undefined {
    return this.#owners.get(key ?? "")?.find((owner) => owner !== but);
  }

  /** Returns true if the resource owns the key, alone or shared. */
  has(owner: Owner, key: string | undefined): boolean {
    return this.#owners.get(key ?? "")?.includes(owner) === true;
  }

  /** Releases these keys of a resource. Without keys: releases all. */
  release(owner: Owner, ...keys: readonly (string | undefined)[]): void {
    for (const key of keys.length > 0 ? keys : [...this.#owners.keys()]) {
      const left = this.#owners.get(key ?? "")?.filter((one) => one !== owner) ?? [];
      if (left.length > 0) this.#owners.set(key ?? "", left);
      else this.#owners.delete(key ?? "");
    }
  }
}

/** Returns the key of an object: account, kind, parent and id. Undefined if the object has no id. */
export function objectKey(provider: string, kind: Kind, attributes: JsonObject): string | undefined {
  const { id } = attributes;
  return typeof id === "string" ? keyOf("object", provider, kind, attributes, id) : undefined;
}

/**
 * Returns the key of an object before its creation: account, kind, parent and natural key. Undefined while a part is unknown.
 */
export function thingKey(provider: string, kind: Kind, attributes: ValueObject): string | undefined {
  const key = kind.naturalKey(attributes);
  if (key === undefined || (kind.parent !== undefined && parentOf(kind, attributes) === undefined)) return undefined;
  return keyOf("thing", provider, kind, attributes, key);
}

const keyOf = (what: string, provider: string, kind: Kind, attributes: ValueObject, name: string) =>
  JSON.stringify([what, provider, kind.type, parentOf(kind, attributes) ?? null, name]);

type AddressedHolding = Holding & { readonly address: string };

/**
 * Returns the objects of a state for the store, including objects that wait for deletion.
 * @param aliases Providers that use the same server.
 * @param intents Intents of creations by address, as this run read them. The state drops the intent when the object exists.
 */
export function holdingsIn(
  state: State,
  kinds: Kinds,
  aliases: ReadonlySet<string>,
  intents: ReadonlyMap<string, string> = new Map(),
): AddressedHolding[] {
  const found = new Map<string, AddressedHolding>();
  for (const { address, provider, attributes, private: mark } of state.resources.values()) {
    const kind = kinds.get(parseAddress(address)?.type ?? "");
    if (kind === undefined || !aliases.has(provider)) continue;
    const add = (of: JsonObject | undefined, intent?: string) => {
      if (typeof of?.id !== "string") return;
      const object = { type: kind.type, parent: parentOf(kind, of) ?? "", id: of.id };
      const { instances = 0 } = found.get(nameOf(object)) ?? {};
      const facts = {
        name: kind.naturalKey(of),
        generation: mark.generation,
        intent,
        address,
        instances: instances + 1,
      };
      found.set(nameOf(object), { ...object, ...facts });
    };
    add(attributes, intents.get(address));
    add(mark.deposed);
  }
  return [...found.values()];
}

/** Returns the objects that the state no longer contains. */
export function leftIn(before: readonly AddressedHolding[], now: readonly AddressedHolding[]): AddressedHolding[] {
  const names = new Set(now.map(nameOf));
  return before.filter((one) => !names.has(nameOf(one)));
}

/**
 * Warns about objects that another state of this machine also contains. One warning per state. If no run has used the other
 * state since this state got the object, the other state counts as the old location of this state.
 * @param own Objects of this state in the store.
 * @param others Objects of all other states.
 */
export function heldTwice(
  here: Place,
  now: readonly AddressedHolding[],
  own: readonly Held[],
  others: readonly Held[],
  kinds: Kinds,
): Diagnostic[] {
  const firstSeen = new Map(own.map((one) => [nameOf(one), one.firstSeen]));
  const addresses = new Map(now.map((one) => [nameOf(one), one.address]));
  const shared = others.filter(
    (one) =>
      one.isFirm && !one.isRemoved && addresses.has(nameOf(one)) && one.lastSeen > (firstSeen.get(nameOf(one)) ?? 0),
  );
  return [...Map.groupBy(shared, ({ place }) => place.mark).values()].flatMap(([other, ...more]) =>
    other === undefined
      ? []
      : problem("state.shared", {
          address: addresses.get(nameOf(other)) ?? "",
          noun: kinds.get(other.type)?.noun ?? "object",
          id: other.id,
          other: other.address,
          place: other.place.label,
          lastSeen: new Date(other.lastSeen).toISOString(),
          here: here.label,
          more: more.length,
        }),
  );
}

/**
 * Adds the owner, another state, to errors about existing objects.
 * @param kind Kind of all objects, if the addresses do not contain the kind. These errors then never suggest a move within
 * this state.
 */
export function withHolders(
  diagnostics: readonly Diagnostic[],
  others: readonly Held[],
  kind?: Kind,
  projectAt: (place: Place) => string | undefined = () => undefined,
): readonly Diagnostic[] {
  const firm = others.filter(({ isFirm, isRemoved }) => isFirm && !isRemoved);
  if (firm.length === 0) return diagnostics;
  return diagnostics.map((one) => {
    const { code, address = "", detail, object, remedies = [] } = one;
    if (code !== "plan.exists") return one;
    const imports = remedies.map((remedy) =>
      typeof remedy === "object" && remedy.do === "import" ? remedy.id : undefined,
    );
    const ids = kind === undefined ? imports : [...imports, object];
    const isIt = ({ type, parent, id }: Held) =>
      type === (kind?.type ?? parseAddress(address)?.type) &&
      ids.some((named) => named !== undefined && namedBy({ parent }, named, parent).id === id);
    const held = firm.find(isIt);
    if (held === undefined) return one;
    const { place, address: other, lastSeen } = held;
    const holder = `The object belongs to ${place.label}${other === undefined ? "" : ` as ${other}`}, seen at ${new Date(lastSeen).toISOString()}.`;
    const isInside = (remedy: (typeof remedies)[number]) => typeof remedy === "object" && remedy.do === "move";
    const left = kind === undefined ? remedies : remedies.filter((remedy) => !isInside(remedy));
    const name = other === address ? projectAt(place) : undefined;
    const isImport = (remedy: (typeof remedies)[number]) =>
      typeof remedy === "object" && remedy.do === "import" && !remedy.forgetFirst;
    const joined = left.map((remedy) =>
      name !== undefined && isImport(remedy) ? ({ do: "advise", on: "join_project", name } as const) : remedy,
    );
    return { ...one, detail: [detail, holder].filter(Boolean).join(" "), remedies: joined };
  });
}

/** Codes of errors about an object that already exists. */
const EXISTS: ReadonlySet<string> = new Set(["plan.exists", "plan.lookalike", "plan.unreadable"]);
/** Minimum number of these errors from which a missing state is likely. */
const MANY = 3;

/**
 * Adds the likely cause to the errors of a plan: the state is missing. Condition: the state is empty, and the account already
 * contains at least 3 declared objects, and at least as many as the plan creates. The first plan of a new project does not
 * meet this condition.
 * @param held Objects of all other states.
 */
export function withMissingState(
  diagnostics: readonly Diagnostic[],
  changes: readonly Pick<Change, "address" | "actions" | "provider">[],
  {
    state,
    held,
    ...beside
  }: Pick<MissingState, "place" | "others" | "backup"> & { state: State; held: readonly Held[] },
): readonly Diagnostic[] {
  const isSymptom = (one: Diagnostic) => isError(one) && EXISTS.has(one.code);
  const symptoms = diagnostics.filter(isSymptom);
  const created = changes.filter(({ actions }) => actions[0] === "create").length;
  if (state.resources.size > 0 || symptoms.length < MANY || symptoms.length < created) return diagnostics;
  const addresses = new Set(symptoms.map(({ address }) => address));
  const ids = new Set(symptoms.map(({ object }) => object));
  const holder = held.find(({ isFirm, isRemoved, id }) => isFirm && !isRemoved && ids.has(id))?.place.label;
  const missing = problem("state.missing", {
    ...beside,
    count: addresses.size,
    isNew: state.lineage === "",
    holder,
    providers: [...new Set(changes.flatMap(({ address, provider }) => (addresses.has(address) ? [provider] : [])))],
  });
  return [missing, ...diagnostics.map((one) => (isSymptom(one) ? { ...one, because: missing.code } : one))];
}

const nameOf = ({ type, parent, id }: HeldObject): string => JSON.stringify([type, parent, id]);
