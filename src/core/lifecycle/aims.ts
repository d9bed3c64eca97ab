import type { z } from "zod";
import type { AttributeMeta } from "../kinds/attribute.ts";
import type { Created, Kind } from "../kinds/kind.ts";
import {
  type Change,
  hasUnknown,
  type JsonObject,
  join,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { attributesOf, isLeftOut, refreshed } from "./attributes.ts";

/** What a change aims at, as attributes: the plan's values, and the declared ones where the plan did not know them yet. */

const plannedValues = ({ after, after_unknown }: Change) => join(after ?? {}, after_unknown) as ValueObject;

/** The attributes for which `value` gives one, in the kind's order. */
function select(
  kind: Kind,
  value: (name: string, meta: AttributeMeta, type: z.ZodType) => Value | undefined,
): JsonObject {
  const entries = attributesOf(kind).map(([name, type, meta]) => [name, value(name, meta, type)] as const);
  return Object.fromEntries(entries.filter(([, chosen]) => chosen !== undefined)) as JsonObject;
}

/** Every attribute of the kind as planned; null for what only an answer or a later change will tell. */
export function plannedAttributes(kind: Kind, change: Change, config: JsonObject): JsonObject {
  const after = plannedValues(change);
  return select(kind, (name, meta) => {
    const planned = after[name] ?? null;
    if (!hasUnknown(planned)) return planned;
    return meta.change === "in-place" ? null : (config[name] ?? null);
  });
}

/** What the in-place changes of an update aim at: as planned, so that what the plan leaves alone is left alone. */
export function targetAttributes(kind: Kind, change: Change, config: JsonObject, current: JsonObject): JsonObject {
  const after = plannedValues(change);
  const aims = select(kind, (name, meta) => {
    if (meta.change !== "in-place" || meta.writeOnly) return undefined;
    const planned = after[name] ?? null;
    return hasUnknown(planned) ? (config[name] ?? null) : planned;
  });
  return { ...current, ...aims };
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
 * @param shown what the API shows in a form of its own.
 */
export function createdAttributes(kind: Kind, planned: JsonObject, made: Created, shown: JsonObject): JsonObject {
  const live = refreshed(kind, planned, made, shown);
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

/** What is recorded of a resource that a change is about. */
export function recordOf(kind: Kind, change: Change, attributes: JsonObject, mark: PrivateMark): ResourceState {
  const { address, provider, sensitive, dependsOn: dependencies } = change;
  return { address, provider, schemaVersion: kind.schemaVersion, attributes, sensitive, private: mark, dependencies };
}

/** An object without some of its keys. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
