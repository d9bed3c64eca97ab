/** Converts one object of the account to declared attributes in YAML. Explains missing attributes. */
import type { PlanRecord } from "../../core/api/index.ts";
import type { Kind, Remote } from "../../core/kinds/kind.ts";
import { declarableOf, shown } from "../../core/lifecycle/index.ts";
import type { Json, JsonObject } from "../../core/model/index.ts";
import { literal } from "../../fronts/yaml/index.ts";

/** Declares a live object with {@link declarableOf}. Sets `deletion_policy` to `prevent`. */
export function declaredOf(kind: Kind, live: JsonObject) {
  const { config, ...rest } = declarableOf(kind, live);
  const written = Object.entries(config).map(([name, value]): [string, Json] => [name, escaped(value)]);
  if (kind.removal === "policy") written.push(["deletion_policy", "prevent"]);
  return { config: Object.fromEntries(written), ...rest };
}

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
