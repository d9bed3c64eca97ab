/** Converts one object of the account to declared attributes. Explains missing attributes. */
import type { AttributeMeta } from "../kinds/attribute.ts";
import type { Kind } from "../kinds/kind.ts";
import { equal, escapeLine, foldedDomain, foldedEmail, type Json, type JsonObject } from "../model/index.ts";
import { attributesOf, checkOfNone } from "./attributes.ts";

/** Escapes and shortens a string of the account for a sentence. */
export const shown = (text: unknown) => escapeLine(String(text)).slice(0, 200);

/**
 * Declares a live object with all attributes that the API returns. Omits defaults, including `deletion_policy`. Omits `suspended`,
 * so that a suspension by the host stays.
 * @returns also one sentence for each `missing` required attribute and for each of the `omitted` attributes.
 */
export function declarableOf(kind: Kind, live: JsonObject) {
  const config: Record<string, Json> = {};
  const missing = new Map<string, string>();
  const omitted: string[] = [];
  for (const { name, type, meta } of attributesOf(kind)) {
    if (meta.change === undefined || meta.change === "in-place" || meta.writeOnly === true) continue;
    const value = live[name] ?? null;
    const written =
      value === null
        ? undefined
        : [...formsOf(value).filter((form) => isSame(meta, value, form)), meta.declarable?.(value)].find(
            (form) => form !== undefined && form !== null && type.safeParse(form).success,
          );
    if (written !== undefined && written !== null) {
      if (!equal(written, meta.default ?? null)) config[name] = written;
      continue;
    }
    const isRequired = !checkOfNone(type).success;
    if (value === null || value === "") {
      if (isRequired) missing.set(name, `The API does not return its ${name}.`);
      continue;
    }
    const [issue] = type.safeParse(value).error?.issues ?? [];
    const text = shown(JSON.stringify(value));
    const reason = `${text} (${issue?.message ?? "another type"})`;
    const why = `Its ${name} cannot be declared: ${shown(reason)}.`;
    // Without its natural key, the block would declare a different object.
    const isKey = kind.naturalKey(live) !== kind.naturalKey({ ...live, [name]: null });
    if (isRequired || isKey) missing.set(name, why);
    else omitted.push(why);
  }
  return { config, missing, omitted };
}

/** Returns a value and equivalent values: without a final dot, trimmed, in lower case. */
function formsOf(value: Json): readonly Json[] {
  if (typeof value !== "string") return [value];
  return [value.replace(/\.$/, ""), value, value.trim(), foldedDomain(value) ?? value, foldedEmail(value) ?? value];
}

const isSame = ({ same }: Pick<AttributeMeta, "same">, value: Json, form: Json): boolean =>
  form === value || same?.(value, form) === true;
