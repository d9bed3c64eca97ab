import type { Created, Kind } from "../kinds/kind.ts";
import { type Change, hasUnknown, type JsonObject, join, type Value, type ValueObject } from "../model/index.ts";
import { attributesOf, refreshed } from "./attributes.ts";

/** What a change aims at, as attributes: the plan's values, and the declared ones where the plan did not know them yet. */

const plannedValues = ({ after, after_unknown }: Change) => join(after ?? {}, after_unknown) as ValueObject;

const attributesWhere = (kind: Kind, values: (name: string) => Value | undefined): JsonObject =>
  Object.fromEntries(
    attributesOf(kind).flatMap(([name]) => {
      const value = values(name);
      return value === undefined ? [] : [[name, value]];
    }),
  ) as JsonObject;

/** Every attribute of the kind as planned; null for what only an answer or a later change will tell. */
export function plannedAttributes(kind: Kind, change: Change, config: JsonObject): JsonObject {
  const after = plannedValues(change);
  const later = new Set(
    attributesOf(kind).flatMap(([name, , meta]) => (meta.writeOnly || meta.change === "in-place" ? [name] : [])),
  );
  return attributesWhere(kind, (name) => {
    const planned = after[name] ?? null;
    if (!hasUnknown(planned)) return planned;
    return later.has(name) ? null : (config[name] ?? null);
  });
}

/** What the in-place changes of an update aim at: as planned, so that what the plan leaves alone is left alone. */
export function inPlaceAims(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const after = plannedValues(change);
  const aims = attributesOf(kind).flatMap(([name, , meta]) => {
    if (meta.change !== "in-place" || meta.writeOnly) return [];
    const planned = after[name] ?? null;
    return [[name, hasUnknown(planned) ? (config[name] ?? null) : planned] as const];
  });
  return { ...current, ...(Object.fromEntries(aims) as JsonObject) };
}

/** The planned values of the attributes that only the state knows. */
export function recordedOnly(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const planned = plannedAttributes(kind, change, config);
  const names = attributesOf(kind).flatMap(([name, , meta]) => {
    const learned = meta.change === "immutable" && current[name] == null;
    const cleared = meta.change === "in-place" && !meta.computed && planned[name] === null;
    return meta.change === "recorded" || learned || cleared ? [name] : [];
  });
  return attributesWhere(kind, (name) => (names.includes(name) ? (planned[name] ?? null) : undefined));
}

/** The attributes after a create: as planned, with what the answer tells, in the declared notation where both mean the same. */
export function createdAttributes(kind: Kind, planned: JsonObject, made: Created): JsonObject {
  const live = refreshed(kind, planned, { id: made.id ?? "", attributes: made.attributes, phase: "live" });
  const once = attributesOf(kind).flatMap(([name, , meta]) =>
    meta.unreadable && name in made.attributes ? [name] : [],
  );
  return {
    ...live,
    ...attributesWhere(kind, (name) => (once.includes(name) ? made.attributes[name] : undefined)),
    id: made.id,
  };
}

/** An object without some of its keys. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
