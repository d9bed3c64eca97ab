import { isObject, type Json, type JsonObject, type Mask } from "../core/model/index.ts";

/** Where a value has marked parts, as Terraform writes it: `false` or `{}` for nowhere, `true` for the whole value. */
export type MaskJson = boolean | readonly MaskJson[] | MaskedObject;
export type MaskedObject = { readonly [key: string]: MaskJson };

/** The attributes that may be shown: sensitive ones null, unknown ones left out. */
export function visibleValues(
  values: JsonObject | null,
  unknown: Mask,
  sensitive: readonly string[],
): JsonObject | null {
  if (values === null || unknown === true) return values === null ? null : {};
  const hidden = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, sensitive.includes(name) ? null : value]),
  );
  return withoutUnknown(hidden, unknown) as JsonObject;
}

/** Which attributes are sensitive, of those that the side has at all. */
export function maskOf(values: JsonObject | null, sensitive: readonly string[]): MaskedObject | false {
  if (values === null) return false;
  return Object.fromEntries(sensitive.filter((name) => Object.hasOwn(values, name)).map((name) => [name, true]));
}

/** Leaves out unknown attributes and map elements; in a list they stay as null, so that the others keep their index. */
export function withoutUnknown(value: Json, unknown: Mask | undefined): Json {
  if (unknown === undefined || typeof unknown === "boolean") return value;
  if (Array.isArray(value) && Array.isArray(unknown)) {
    return value.map((item: Json, i) => (unknown[i] === true ? null : withoutUnknown(item, unknown[i])));
  }
  if (!isObject(value) || !isObject(unknown)) return value;
  const masks = unknown as { readonly [key: string]: Mask };
  const known = Object.entries(value as JsonObject).filter(([name]) => masks[name] !== true);
  return Object.fromEntries(known.map(([name, item]) => [name, withoutUnknown(item, masks[name])]));
}
