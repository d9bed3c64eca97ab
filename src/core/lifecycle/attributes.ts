/**
 * The attributes of a kind: which there are, when two values mean the same, what is recorded of a live object, and what a
 * change is to reach.
 */
import type * as z from "zod";
import { type AttributeMeta, metaOf } from "../kinds/attribute.ts";
import type { AttributeEntry, Created, Kind, Remote } from "../kinds/kind.ts";
import {
  type Change,
  equal,
  hasUnknown,
  isObject,
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

/** The attributes of a kind with their metadata, in the order of their definition. */
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

/** Names of the attributes whose values are secret. */
export const sensitiveNames = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta }) => (meta.sensitive ? [name] : []));

/** Names of the attributes that are sent and never stored. */
export const writeOnlyNames = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta }) => (meta.writeOnly ? [name] : []));

const absent = new WeakMap<z.ZodType, z.ZodSafeParseResult<unknown>>();

/** Check of an attribute that is not declared: the same for every resource. */
export function checkOfNone(type: z.ZodType): z.ZodSafeParseResult<unknown> {
  const known = absent.get(type) ?? type.safeParse(undefined);
  absent.set(type, known);
  return known;
}

/** Equality of two values of an attribute as the API means them. Null equals only null. */
export function sameValue(meta: AttributeMeta, a: Value, b: Value): boolean {
  if (equal(a, b)) return true;
  if (a === null || b === null || a === UNKNOWN || b === UNKNOWN || meta.same === undefined) return false;
  return meta.same(a as Json, b as Json);
}

/** Own forms of a host, by attribute. */
export type Forms = Readonly<Record<string, OwnForm>>;

/** The own forms of a mark. @param recorded the attributes, for forms that an earlier version recorded without them. */
export function formsOf({ shown }: PrivateMark, recorded: JsonObject): Forms {
  if (shown === undefined) return NO_FORMS;
  const forms = Object.entries(shown).map(([name, form]): [string, OwnForm] => [
    name,
    isObject(form) && "times" in form ? (form as OwnForm) : { sent: recorded[name] ?? null, is: form, times: 1 },
  ]);
  return Object.fromEntries(forms);
}

const NO_FORMS: Forms = {};

/** Returns true if an own form counts as the value that was sent. */
export const isBelieved = ({ ownForm }: AttributeMeta, { sent, is, foreign }: OwnForm): boolean =>
  !foreign && ownForm?.(sent, is, true) === true;

/** Returns true if a value that a list shows is the sent one or a notation of it. */
export const mayBeSame = (meta: AttributeMeta, sent: Value, shown: Value): boolean =>
  sameValue(meta, sent, shown) || meta.ownForm?.(sent as Json, shown as Json, false) === true;

/** An object as read; `id` null: the answer names none. */
interface Live {
  readonly id: string | null;
  readonly attributes: JsonObject;
}

/**
 * The attributes of a resource as they are now: what the live object shows, else what was recorded. A value that means
 * the same as the recorded one keeps the recorded notation, so that `2027-01-31` and `2027-01-31T00:00:00Z` do not churn.
 * An own form is the value that it stands for.
 */
export function refreshed(
  kind: Kind,
  recorded: JsonObject | undefined,
  { id, attributes: live }: Live,
  forms: Forms = NO_FORMS,
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

/** The live values that cannot be read, by attribute; undefined where each can. */
export function unclearOf(kind: Kind, live: JsonObject): JsonObject | undefined {
  const found = attributesOf(kind).flatMap(({ name, meta }): [string, Json][] => {
    const shown = live[name] ?? null;
    return meta.unclear?.(shown) ? [[name, shown]] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const isEmpty = (value: Value) => value === null || (Array.isArray(value) && value.length === 0);

/**
 * A server that says nothing of what no object can be without, or of what cannot change, has left it out rather than
 * changed it (which fields records have is not specified, §2).
 */
export function isLeftOut(type: z.ZodType, meta: AttributeMeta, value: Value): boolean {
  if (!isEmpty(value)) return false;
  return meta.change === "immutable" || (meta.change !== undefined && !checkOfNone(type).success);
}

/**
 * The attributes of the natural key that a live object does not show in a form that can be read, where it may be the declared
 * one by all that it does show; none when it certainly is another, or can be read.
 */
export function unreadableOf(kind: Kind, config: ValueObject, live: ValueObject): string[] {
  const { identity = [] } = kind;
  const hidden = identity.filter((name) => isEmpty(live[name] ?? null));
  // Most objects of a list hide nothing: no value is compared.
  if (hidden.length === 0) return [];
  const differs = attributesOf(kind).some(({ name, meta }) => {
    const isShown = identity.includes(name) && !hidden.includes(name);
    return isShown && !sameValue(meta, config[name] ?? null, live[name] ?? null);
  });
  return differs || !(kind.sameIdentity?.(config, live) ?? true) ? [] : hidden;
}

/** The first attribute that cannot change, of those that the API shows, in which a live object is not the planned one. */
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

/** The id of the parent whose collection the resource is in; undefined when the kind has none or it is not known yet. */
export function parentOf(kind: Kind, attributes: ValueObject | undefined): string | undefined {
  if (kind.parent === undefined) return undefined;
  const value = attributes?.[kind.parent];
  return value === undefined || value === null || hasUnknown(value) ? undefined : String(value);
}

/** The values of the plan, with unknown parts. */
export const plannedValues = ({ after, after_unknown }: Change): ValueObject =>
  join(after ?? {}, after_unknown) as ValueObject;

/** The attributes for which `value` gives one, in the kind's order. */
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

/** Every attribute of the kind as planned; null for what is known only after an answer or a later change. */
export function plannedAttributes(kind: Kind, change: Change, config: JsonObject): JsonObject {
  const after = plannedValues(change);
  return select(kind, (name, meta) => {
    const planned = after[name] ?? null;
    if (!hasUnknown(planned)) return planned;
    return meta.change === "in-place" ? null : (config[name] ?? null);
  });
}

/** The attributes that the in-place changes of an update are to reach: as planned, so that what the plan does not change stays. */
export function targetAttributes(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const after = plannedValues(change);
  const targets = select(kind, (name, meta) => {
    if (meta.change !== "in-place" || meta.writeOnly) return undefined;
    const planned = after[name] ?? null;
    return hasUnknown(planned) ? (config[name] ?? null) : planned;
  });
  return { ...current, ...targets };
}

/** The planned values of the attributes that only the state knows. */
export function recordedOnly(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const planned = plannedAttributes(kind, change, config);
  return select(kind, (name, meta) => {
    const learned = meta.change === "immutable" && current[name] == null;
    const cleared = meta.change === "in-place" && !meta.computed && planned[name] === null;
    return meta.change === "recorded" || learned || cleared ? planned[name] : undefined;
  });
}

/**
 * The attributes after a create: as planned, with what the answer contains, in the declared notation where both mean the same.
 */
export function createdAttributes(kind: Kind, planned: JsonObject, made: Created, forms: Forms): JsonObject {
  const live = refreshed(kind, planned, made, forms);
  const once = select(kind, (name, { unreadable }) => (unreadable ? made.attributes[name] : undefined));
  return { ...live, ...once };
}

/**
 * The attributes of an object that is adopted as it is: what the API showed; what it never shows, and what concerns
 * hostform alone, as declared. The rest (a password, a permission) takes requests: the next plan shows it.
 */
export function adoptedAttributes(kind: Kind, shown: JsonObject, config: ValueObject): JsonObject {
  return select(kind, (name, meta, type) => {
    const known = shown[name] ?? null;
    const declared = config[name] ?? meta.default ?? null;
    const believed = meta.change === "recorded" || isLeftOut(type, meta, known);
    return believed && !hasUnknown(declared) ? declared : known;
  });
}

/** Record of the resource of a change. */
export function recordOf(kind: Kind, change: Change, attributes: JsonObject, mark: PrivateMark): ResourceState {
  const { address, provider, sensitive, dependsOn: dependencies } = change;
  return { address, provider, schemaVersion: kind.schemaVersion, attributes, sensitive, private: mark, dependencies };
}

/** An object without some of its keys. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
