/** Converts one object of the account to declared attributes. Explains missing attributes. */
import type { PlanRecord } from "../../core/api/index.ts";
import type { AttributeMeta } from "../../core/kinds/attribute.ts";
import type { Kind, Remote } from "../../core/kinds/kind.ts";
import { attributesOf } from "../../core/lifecycle/index.ts";
import { equal, escapeLine, foldedDomain, foldedEmail, type Json, type JsonObject } from "../../core/model/index.ts";
import { literal } from "../../fronts/yaml/index.ts";

/** Escapes and shortens a string of the account for a sentence. */
export const shown = (text: unknown) => escapeLine(String(text)).slice(0, 200);

/**
 * Declares a live object with all attributes that the API returns. Omits defaults. Omits `suspended`, so that a suspension by
 * the host stays. Sets `deletion_policy` to `prevent`.
 * @returns also one sentence for each `missing` required attribute and for each of the `omitted` attributes.
 */
export function declaredOf(kind: Kind, live: JsonObject) {
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
      if (!equal(written, meta.default ?? null)) config[name] = escaped(written);
      continue;
    }
    const isRequired = !type.safeParse(undefined).success;
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
  if (kind.removal === "policy") config.deletion_policy = "prevent";
  return { config, missing, omitted };
}

/** Returns a value and equivalent values: without a final dot, trimmed, in lower case. */
function formsOf(value: Json): readonly Json[] {
  if (typeof value !== "string") return [value];
  return [value.replace(/\.$/, ""), value, value.trim(), foldedDomain(value) ?? value, foldedEmail(value) ?? value];
}

const isSame = ({ same }: Pick<AttributeMeta, "same">, value: Json, form: Json): boolean =>
  form === value || same?.(value, form) === true;

function escaped(value: Json): Json {
  if (typeof value === "string") return literal(value);
  return Array.isArray(value) ? (value as readonly Json[]).map(escaped) : value;
}

const MOST_CANDIDATES = 10;

/** Returns the comment above a block that needs a choice of the hosting plan. */
export function choiceOf({ id, attributes }: Remote, candidates: readonly PlanRecord[]): string[] {
  const { plan, price, currency, billing_cycle: cycle } = attributes;
  const about = [plan, price, currency, cycle].filter((part) => part != null).map(shown);
  const named = candidates.slice(0, MOST_CANDIDATES).map((one) => {
    const cost = one.price === null ? [] : [`${one.price} ${one.currency ?? ""}`.trim()];
    return `${one.plan_id} (${[one.name ?? "no name", ...cost, ...(one.billing_cycle === null ? [] : [one.billing_cycle])].map(shown).join(", ")})`;
  });
  const more = candidates.length > MOST_CANDIDATES ? `, or one of ${candidates.length - MOST_CANDIDATES} more` : "";
  return [
    `choose: plan_id ${named.length === 0 ? "(one of the host's hosting plans)" : `${named.join(" or ")}${more}`} (service ${id})`,
    `The API shows ${about.length === 0 ? "nothing of its plan" : about.join(", ")}. Add plan_id, remove the \`# \`, and plan.`,
  ];
}
