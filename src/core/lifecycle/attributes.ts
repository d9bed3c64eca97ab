/** Attributes of a kind: their list, equality of values, values to save, and target values of a change. */
import type * as z from "zod";
import { type AttributeMeta, metaOf } from "../kinds/attribute.ts";
import type { AttributeEntry, Created, Kind, Remote } from "../kinds/kind.ts";
import {
  type Change,
  equal,
  type Forms,
  hasUnknown,
  type Json,
  type JsonObject,
  join,
  type OwnForm,
  type PrivateMark,
  type ResourceState,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";

const cache = new WeakMap<Kind, readonly AttributeEntry[]>();

/** Returns the attributes of a kind with their metadata, in the order of definition. */
export function attributesOf(kind: Kind): readonly AttributeEntry[] {
  const known = cache.get(kind);
  if (known !== undefined) return known;
  const entries = Object.entries<z.ZodType>(kind.attributes.shape).map(([name, type]) => ({
    name,
    type,
    meta: metaOf(type),
  }));
  cache.set(kind, entries);
  return entries;
}

export const sensitiveNames = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta }) => (meta.sensitive ? [name] : []));

/** Returns the names of attributes that requests contain and the state never contains. */
export const writeOnlyNames = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta }) => (meta.writeOnly ? [name] : []));

const absent = new WeakMap<z.ZodType, z.ZodSafeParseResult<unknown>>();

/** Returns the validation result of an undeclared attribute. Cached, because it is the same for every resource. */
export function checkOfNone(type: z.ZodType): z.ZodSafeParseResult<unknown> {
  const known = absent.get(type) ?? type.safeParse(undefined);
  absent.set(type, known);
  return known;
}

/** Returns true if the API treats two values of an attribute as equal. Null equals only null. */
export function sameValue(meta: AttributeMeta, a: Value, b: Value): boolean {
  if (equal(a, b)) return true;
  if (a === null || b === null || a === UNKNOWN || b === UNKNOWN || meta.same === undefined) return false;
  return meta.same(a as Json, b as Json);
}

/** Returns true if the host's normalized value is treated as equal to the sent value. */
export const isBelieved = ({ ownForm }: AttributeMeta, { sent, is, foreign }: OwnForm): boolean =>
  !foreign && ownForm?.(sent, is, true) === true;

/** Returns true if a listed value is the sent value, or another format of it. */
export const mayBeSame = (meta: AttributeMeta, sent: Value, shown: Value): boolean =>
  sameValue(meta, sent, shown) || meta.ownForm?.(sent as Json, shown as Json, false) === true;

/** An object in a response. `id` is null if the response contains no id. */
interface Live {
  readonly id: string | null;
  readonly attributes: JsonObject;
}

/**
 * Returns the current attributes of a resource: live values, or else values of the state. An equal value keeps the format of
 * the state: `2027-01-31` and `2027-01-31T00:00:00Z` cause no change. The sent value replaces its normalized value.
 */
export function refreshed(
  kind: Kind,
  recorded: JsonObject | undefined,
  { id, attributes: live }: Live,
  forms: Forms = {},
): JsonObject {
  const value = ({ name, type, meta }: AttributeEntry): Json => {
    if (name === "id") return id;
    if (meta.writeOnly) return null;
    const old = recorded?.[name] ?? null;
    const shown = live[name] === undefined ? old : live[name];
    const remembered = meta.unreadable && recorded !== undefined;
    const unclear = old !== null && meta.unclear?.(shown) === true;
    const silent = remembered || unclear || isLeftOut(type, meta, shown);
    if (silent || sameValue(meta, old, shown)) return old;
    const form = forms[name];
    if (form === undefined || !equal(form.is, shown) || !isBelieved(meta, form)) return shown;
    return sameValue(meta, old, form.sent) ? old : form.sent;
  };
  return Object.fromEntries(attributesOf(kind).map((entry) => [entry.name, value(entry)]));
}

/** Returns live values that hostform cannot interpret, by attribute. Undefined if there are none. */
export function unclearOf(kind: Kind, live: JsonObject): JsonObject | undefined {
  const found = attributesOf(kind).flatMap(({ name, meta }): [string, Json][] => {
    const shown = live[name] ?? null;
    return meta.unclear?.(shown) ? [[name, shown]] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const isEmpty = (value: Value) => value === null || (Array.isArray(value) && value.length === 0);

/**
 * Returns true if the response omits the value although the object has one. This holds for required or immutable attributes.
 * The specification does not define the fields of objects (§2).
 */
export function isLeftOut(type: z.ZodType, meta: AttributeMeta, value: Value): boolean {
  if (!isEmpty(value)) return false;
  return meta.change === "immutable" || (meta.change !== undefined && !checkOfNone(type).success);
}

/**
 * Returns the attributes of the natural key that a live object hides, if the object may still be the declared object. Empty
 * if the object certainly differs, or its natural key is readable.
 */
export function unreadableOf(kind: Kind, config: ValueObject, live: ValueObject): string[] {
  const { identity = [] } = kind;
  const hidden = identity.filter((name) => isEmpty(live[name] ?? null));
  // Most objects hide no attribute. Skip the comparison for them.
  if (hidden.length === 0) return [];
  const differs = attributesOf(kind).some(({ name, meta }) => {
    const isShown = identity.includes(name) && !hidden.includes(name);
    return isShown && !sameValue(meta, config[name] ?? null, live[name] ?? null);
  });
  return differs || !(kind.sameIdentity?.(config, live) ?? true) ? [] : hidden;
}

/** Returns the first visible immutable attribute whose value differs between a live object and the planned object. */
export function differing(
  kind: Kind,
  planned: ValueObject,
  { attributes }: Pick<Remote, "attributes">,
  isSame: (meta: AttributeMeta, wanted: Value, shown: Value) => boolean = sameValue,
): string | undefined {
  const found = attributesOf(kind).find(({ name, meta }) => {
    const shown = attributes[name] ?? null;
    const wanted = planned[name] ?? null;
    return (
      meta.change === "immutable" &&
      !meta.unreadable &&
      shown !== null &&
      wanted !== null &&
      !isSame(meta, wanted, shown)
    );
  });
  return found?.name;
}

/** Returns the id of the parent collection. Undefined if the kind has no parent, or the parent is not known yet. */
export function parentOf(kind: Kind, attributes: ValueObject | undefined): string | undefined {
  if (kind.parent === undefined) return undefined;
  const value = attributes?.[kind.parent];
  return value === undefined || value === null || hasUnknown(value) ? undefined : String(value);
}

/** Returns the planned values, including unknown parts. */
export const plannedValues = ({ after, after_unknown }: Change): ValueObject =>
  join(after ?? {}, after_unknown) as ValueObject;

/** Returns the attributes for which `value` returns a value, in the order of the kind. */
function select(
  kind: Kind,
  value: (name: string, meta: AttributeMeta, type: z.ZodType) => Value | undefined,
): JsonObject {
  const selected: Record<string, Value> = {};
  for (const { name, type, meta } of attributesOf(kind)) {
    const chosen = value(name, meta, type);
    if (chosen !== undefined) selected[name] = chosen;
  }
  return selected as JsonObject;
}

/** Returns the planned attributes. Null for values that are known only after a response or another change. */
export function plannedAttributes(kind: Kind, change: Change, config: JsonObject): JsonObject {
  const after = plannedValues(change);
  return select(kind, (name, meta) => {
    const planned = after[name] ?? null;
    if (!hasUnknown(planned)) return planned;
    return meta.change === "in-place" ? null : (config[name] ?? null);
  });
}

/** Returns the target attributes of an in-place update. Other attributes keep their values. */
export function targetAttributes(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const after = plannedValues(change);
  const targets = select(kind, (name, meta) => {
    if (meta.change !== "in-place" || meta.writeOnly) return undefined;
    const planned = after[name] ?? null;
    return hasUnknown(planned) ? (config[name] ?? null) : planned;
  });
  return { ...current, ...targets };
}

/** Returns the planned values of attributes that only the state contains, not the API. */
export function recordedOnly(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const planned = plannedAttributes(kind, change, config);
  return select(kind, (name, meta) => {
    const learned = meta.change === "immutable" && current[name] == null;
    const cleared = meta.change === "in-place" && !meta.computed && planned[name] === null;
    return meta.change === "recorded" || learned || cleared ? planned[name] : undefined;
  });
}

/** Returns the attributes after a creation: planned values, replaced by different values in the response. */
export function createdAttributes(kind: Kind, planned: JsonObject, made: Created, forms: Forms): JsonObject {
  const live = refreshed(kind, planned, made, forms);
  const once = select(kind, (name, { unreadable }) => (unreadable ? made.attributes[name] : undefined));
  return { ...live, ...once };
}

/**
 * Returns the attributes of an adopted object. Values come from the API if it returns them. The declaration replaces values
 * that the API omits, and values that only hostform uses. All other attributes (a password, a permission) keep the API's
 * value or null: the next plan contains the change.
 */
export function adoptedAttributes(kind: Kind, shown: JsonObject, config: ValueObject): JsonObject {
  return select(kind, (name, meta, type) => {
    const known = shown[name] ?? null;
    const declared = config[name] ?? meta.default ?? null;
    const believed = meta.change === "recorded" || isLeftOut(type, meta, known);
    return believed && !hasUnknown(declared) ? declared : known;
  });
}

/** Returns the state entry for the resource of a change. */
export function recordOf(kind: Kind, change: Change, attributes: JsonObject, mark: PrivateMark): ResourceState {
  const { address, provider, sensitive, dependsOn: dependencies } = change;
  return { address, provider, schemaVersion: kind.schemaVersion, attributes, sensitive, private: mark, dependencies };
}

/** Returns a copy of the object without these keys. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
