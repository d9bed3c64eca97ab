/** Converts the list of hosting plans to plans of the sandbox. Pure. */
import type { PlanRecord } from "../../core/api/index.ts";
import { listPrice } from "../../core/kinds/service/quote.ts";
import { monthsOf } from "../../core/kinds/service/words.ts";
import { CURRENCIES } from "../../core/model/index.ts";
import type { ImportedAccount, Plan } from "../../sandbox/index.ts";
import { type Conversion, scaled, UNKNOWN_PRICE } from "./material.ts";

export type ImportedPlan = ImportedAccount["plans"][number];

export function plansOf({ plans, unit, doubt }: Conversion): ImportedPlan[] {
  const rows = Map.groupBy(plans, ({ plan_id }) => plan_id);
  return [...rows].flatMap(([id, of]) => {
    // A host may list each billing cycle. The shortest one shows the price of a month.
    const entries = of.toSorted((a, b) => cycleOf(a) - cycleOf(b));
    const [first] = entries;
    if (id === null || first === undefined) return [];
    const name = first.name ?? String(id);
    const prices: ImportedPlan["prices"] = {};
    for (const currency of CURRENCIES) {
      const priced = entries.find((row) => listPrice(row, currency) !== null);
      const monthly = priced && Number(listPrice(priced, currency)) / cycleOf(priced);
      const isMapped = entries.some((row) => Object.keys(row.prices).length > 0);
      if (monthly === undefined && isMapped) continue;
      prices[currency] = monthly === undefined ? UNKNOWN_PRICE : scaled(monthly, unit);
      if (monthly !== undefined && Math.abs(scaled(monthly, unit) - monthly * unit) > 0.001)
        doubt("The host shows no price of a month, so it is rounded for new orders of these hosting plans: {}.", name);
    }
    const { price, price_after_discount, manage_discount_percent } = first;
    const discount = price && price_after_discount !== null ? 1 - price_after_discount / price : 0;
    const percent = manage_discount_percent ?? Math.round(discount * 10_000) / 100;
    return {
      id,
      name,
      product_type: productOf(first.product_type),
      currency: (first.currency ?? Object.keys(prices)[0] ?? "USD") as Plan["currency"],
      prices,
      manage_discount_percent: Math.min(100, Math.max(0, percent)),
      active: true,
    };
  });
}

/** Returns the months of a listed price. */
const cycleOf = ({ billing_cycle }: PlanRecord): number => monthsOf(billing_cycle) || 1;

/** Returns the sandbox's word of a product, or the host's own. */
export function productOf(word: string | null): Plan["product_type"] {
  const letters = (word ?? "").toLowerCase().replace(/[^a-z]/g, "");
  const types = ["wordpress", "virtual_desktop", "vps", "shared"];
  const found = types.find((type) => letters.includes(type.replace("_", "")));
  return (found ?? word ?? "shared") as Plan["product_type"];
}
