/** Converts the list of hosting plans to plans of the sandbox. Pure. */
import type { PlanRecord } from "../../core/api/index.ts";
import { listPrice } from "../../core/kinds/service/quote.ts";
import { namesakesOf } from "../../core/kinds/service/steps.ts";
import { monthsOf } from "../../core/kinds/service/words.ts";
import { CURRENCIES } from "../../core/model/index.ts";
import type { ImportedAccount, Plan, Service } from "../../sandbox/index.ts";
import { type Doubt, hasDiscount, type Material, scaled, textOf } from "./material.ts";

export type ImportedPlan = ImportedAccount["plans"][number];

/** Converts the list of plans, and adds inactive plans for services whose plan is no longer in the list. */
export function plansOf({ plans, listed, recorded }: Material, unit: number, doubt: Doubt): ImportedPlan[] {
  const services = [...listed.services.values()].map(({ attributes }) => attributes);
  const rows = Map.groupBy(
    plans.filter(({ plan_id }) => plan_id !== null),
    ({ plan_id }) => Number(plan_id),
  );
  const found = [...rows].map(([id, of]): ImportedPlan => {
    const [first] = of;
    const name = first?.name ?? String(id);
    const isMapped = of.some(({ prices }) => Object.keys(prices).length > 0);
    const prices: Partial<Record<Service["currency"], number>> = {};
    for (const currency of CURRENCIES) {
      const monthly = of.map((row) => monthlyPrice(row, currency)).find((price) => price !== undefined);
      if (monthly !== undefined) prices[currency] = scaled(monthly, unit);
      if (monthly !== undefined && Math.abs(scaled(monthly, unit) - monthly * unit) > 0.001)
        doubt("The host shows no price of a month, so it is rounded for new orders of these hosting plans: {}.", name);
      if (monthly === undefined && !isMapped) {
        const same = services.find(
          (one) => one.plan === first?.name && one.currency === currency && typeof one.price === "number",
        );
        prices[currency] = scaled(Number(same?.price ?? 0) / Number(same?.term ?? 1), unit);
        if (same === undefined)
          doubt(
            "The host shows no price in every currency: new orders of these hosting plans cost 0 in the others: {}.",
            name,
          );
      }
    }
    const [row] = of.filter(hasDiscount);
    const after = row?.price_after_discount ?? row?.price ?? 0;
    const derived = row?.price ? Math.round((1 - after / row.price) * 10_000) / 100 : 0;
    const percent = row?.manage_discount_percent ?? derived;
    return {
      id,
      name,
      product_type: productOf(first?.product_type ?? null),
      currency: (first?.currency ?? CURRENCIES.find((one) => prices[one] !== undefined) ?? "USD") as Plan["currency"],
      prices,
      manage_discount_percent: Math.min(100, Math.max(0, percent)),
      active: true,
    };
  });
  let next = found.reduce((most, { id }) => Math.max(most, id), 0);
  for (const one of services) {
    const name = textOf(one.plan) ?? "";
    if (namesakesOf(plans, one.plan).length > 0 || found.some((plan) => plan.name === name)) continue;
    const known = recorded.get("hosting_service")?.get(String(one.id))?.attributes.plan_id;
    next += 1;
    const id = typeof known === "number" && !rows.has(known) && !found.some((plan) => plan.id === known) ? known : next;
    const type = productOf(textOf(one.product_type));
    found.push({
      id,
      name,
      product_type: type,
      currency: "USD",
      prices: {},
      manage_discount_percent: 0,
      active: false,
    });
  }
  return found;
}

/** Returns the list price of a month. Undefined if the row has none. */
function monthlyPrice(row: PlanRecord, currency: string): number | undefined {
  const price = listPrice(row, currency);
  const months = monthsOf(row.billing_cycle) ?? 1;
  return price === null || months < 1 ? undefined : price / months;
}

/** Returns the sandbox's word of a product, or the host's own. */
export function productOf(word: string | null): Plan["product_type"] {
  const letters = (word ?? "").toLowerCase().replace(/[^a-z]/g, "");
  if (letters.includes("wordpress")) return "wordpress";
  if (letters.includes("vps")) return "vps";
  if (letters.includes("desktop")) return "virtual_desktop";
  return (letters.includes("shared") ? "shared" : (word ?? "shared")) as Plan["product_type"];
}
