import { isObject } from "../model/index.ts";
import type { EndpointName } from "./endpoints.ts";
import { formOf, malformed } from "./errors.ts";
import { type Form, hasId, readRecord, WRAPPERS } from "./forms.ts";

type Object = { readonly [key: string]: unknown };

/**
 * Where a record may stand in an answer, likeliest first: under its name inside `data`, under `data` (§2), under its
 * name, or bare.
 */
function places(json: unknown, names: readonly string[]): Object[] {
  if (!isObject(json)) return [];
  const within = (holder: unknown, some: readonly string[]) =>
    isObject(holder) ? some.map((name) => holder[name]) : [];
  const inside = [...within(json.data, names), json.data, ...within(json.data, WRAPPERS)];
  const candidates = [...inside, ...within(json, [...names, ...WRAPPERS]), json];
  return candidates
    .map((value) => (isObject(value) && isObject(value.data) && value !== json ? value.data : value))
    .filter(isObject);
}

/** The record in an answer, found by structure (gap: several response shapes are not shown) among those that fit; undefined when there is none. */
export function findOne<T>(form: Form<T>, json: unknown, fits: (value: Object) => boolean = () => true): T | undefined {
  const found = places(json, form.one).find((value) => hasId(form, value) && fits(value));
  const read = found === undefined ? undefined : readRecord(form, found);
  return read !== undefined && "record" in read ? read.record : undefined;
}

/** The record in an answer that must hold one. Throws api.malformed. */
export function takeOne<T>(endpoint: EndpointName, form: Form<T>, json: unknown, fits?: (value: Object) => boolean): T {
  const found = findOne(form, json, fits);
  if (found === undefined) throw malformed(endpoint, { expected: `${form.noun} with an id`, came: formOf(json) });
  return found;
}

/** The record under one of its names anywhere an answer may put it beside another; undefined when there is none. */
export function findBeside<T>(form: Form<T>, json: unknown, beside: readonly string[]): T | undefined {
  for (const place of places(json, beside)) {
    for (const name of form.one) {
      const held = place[name];
      const value = isObject(held) && isObject(held.data) ? held.data : held;
      const read = readRecord(form, value);
      if ("record" in read) return read.record;
    }
  }
  return undefined;
}

/** A text under one of the names, in `data`, in a named object or at the top; null when there is none that fits. */
export function findText(
  json: unknown,
  names: readonly string[],
  wrappers: readonly string[] = [],
  fits: (text: string) => boolean = () => true,
): string | null {
  for (const place of [...places(json, wrappers), ...(isObject(json) ? [json] : [])]) {
    for (const name of names) {
      const value = place[name];
      if (typeof value === "string" && value !== "" && fits(value)) return value;
    }
  }
  return null;
}
