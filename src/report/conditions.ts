// Counts and lists the conditions of a plan. An apply cannot fix a condition.
import {
  type ApplyResult,
  type Condition,
  type ConditionName,
  type FailOn,
  holding,
  type Plan,
  some,
} from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { firstOf, plural } from "./numbers.ts";
import { type ConditionJson, conditionJson } from "./plan-json.ts";
import type { Paint, ReportStyle } from "./text-style.ts";

/** Sentence of each condition, for one resource and for several resources. */
const HOLDS: Readonly<Record<ConditionName, readonly [one: string, many: string]>> = {
  offline: ["1 site is offline but not declared as suspended", "sites are offline but not declared as suspended"],
  gone: ["1 declared object no longer exists", "declared objects no longer exist"],
  handed_over: ["1 object was probably transferred", "objects were probably transferred"],
  outside: ["1 object is outside the scope of the token", "objects are outside the scope of the token"],
  unpaid: ["1 site has an unpaid invoice", "sites have unpaid invoices"],
  unread: ["1 site has unread invoices", "sites have unread invoices"],
  unknown_status: ["1 object has an unknown status", "objects have an unknown status"],
  other_plan: [
    "1 service has a hosting plan that was not ordered",
    "services have hosting plans that were not ordered",
  ],
  own_form: ["1 object still differs from its declared value", "objects still differ from their declared values"],
  receipt: ["1 order differs from its receipt", "orders differ from their receipts"],
  off: ["1 object is disabled", "objects are disabled"],
};

const addressesOf = (conditions: readonly Condition[]) => new Set(conditions.map(({ address }) => address)).size;

/** Returns for example `1 resource is not checked. 3 sites are offline but not declared as suspended.` Empty without conditions. */
export function conditionText({ conditions = [], unread = [] }: Pick<Plan, "conditions" | "unread">): string {
  const isCounted = ({ condition, address }: Condition) => condition === "unread" && unread.includes(address);
  const byName = Map.groupBy(
    conditions.filter((one) => !isCounted(one)),
    ({ condition }) => condition,
  );
  const unchecked = `${plural(unread.length, "resource")} ${unread.length === 1 ? "is" : "are"} not checked.`;
  const names = Object.keys(HOLDS) as ConditionName[];
  const sentences = names.flatMap((name) => {
    const count = addressesOf(byName.get(name) ?? []);
    const [one, many] = HOLDS[name];
    return count === 0 ? [] : [count === 1 ? `${one}.` : `${count} ${many}.`];
  });
  return [...(unread.length > 0 ? [unchecked] : []), ...sentences].join(" ");
}

/** Conditions for JSON. */
export interface Attention {
  /** Conditions in the form of `hostform.conditions` in a plan's JSON. */
  readonly conditions: readonly ConditionJson[];
  /** Names of the met conditions of `--fail-on`. */
  readonly holds: readonly FailOn[];
}

/** Returns the conditions for JSON. @param result result of the apply. Undefined before the apply. */
export const attentionOf = (plan: Plan, remedies: ReportStyle["remedies"], result?: ApplyResult): Attention => ({
  conditions: ((result ?? plan).conditions ?? []).map((one) => conditionJson(one, remedies)),
  holds: [...holding(plan, result)],
});

/** Omits the unpaid invoices of each object whose suspension names all of them. */
export function withoutNamedInvoices<
  One extends Pick<Condition, "invoice" | "others"> & { readonly condition: string; readonly address: string | null },
>(conditions: readonly One[]): One[] {
  const billOf = ({ address, invoice, others }: One) => JSON.stringify([address, invoice, others]);
  const named = new Set(conditions.flatMap((one) => (one.condition === "offline" && one.invoice ? [billOf(one)] : [])));
  return conditions.filter((one) => one.condition !== "unpaid" || !named.has(billOf(one)));
}

/** Conditions with the same cause and the same fix. */
export interface SameConditions {
  readonly all: readonly Condition[];
  /** Common title of unread objects. If undefined, each condition has its own line. */
  readonly title?: string;
  readonly detail?: string;
  readonly fix?: string;
}

/** Groups the conditions of a plan by detail and fix. Sorts severe conditions first. */
export function groupedConditions(
  { conditions = [], unread }: Pick<Plan, "conditions" | "unread">,
  remedies: ReportStyle["remedies"],
): SameConditions[] {
  const order = Object.keys(HOLDS);
  const sorted = withoutNamedInvoices(conditions).toSorted(
    (a, b) => order.indexOf(a.condition) - order.indexOf(b.condition),
  );
  const groups = Map.groupBy(sorted, ({ condition, detail, ...about }) =>
    JSON.stringify([condition, detail, condition === "unread" ? "" : remedies(about)]),
  );
  return [...groups.values()].flatMap((all): SameConditions[] => {
    const [first] = all;
    if (first === undefined) return [];
    const { detail, ...about } = first;
    const fix = remedies(about);
    const title = unread?.includes(first.address) ? "Not checked, planned from the state" : "Invoices not read";
    const isFolded = first.condition === "unread" && all.length > 1;
    const texts = { ...(detail !== undefined && { detail }), ...(fix !== undefined && { fix }) };
    return [{ all, ...(isFolded && { title }), ...texts }];
  });
}

/** Maximum number of listed conditions. Further conditions are counted. */
const MAX_LINES = 10;

/** Formats conditions. Unread objects with the same cause share a line. */
export function conditionLines(
  plan: Pick<Plan, "conditions" | "unread">,
  paint: Paint,
  { remedies }: ReportStyle,
): string[] {
  const groups = groupedConditions(plan, remedies);
  if (groups.length === 0) return [];
  const lines = groups.flatMap(({ all, title, detail, fix }) => {
    const addresses = some(all.map(({ address }) => address));
    const texts = title === undefined ? all.map(({ summary }) => summary) : [`${title}: ${addresses}`];
    return [
      ...firstOf(
        texts.map((text) => `  ${paint.warning("!")} ${escapeLine(text)}`),
        MAX_LINES,
      ),
      ...(detail === undefined ? [] : [`    ${escapeLine(detail)}`]),
      ...(fix === undefined ? [] : [`    ${paint.fix("Fix:")} ${escapeLine(fix)}`]),
    ];
  });
  return [paint.bold("Needs attention:"), ...lines, ""];
}
