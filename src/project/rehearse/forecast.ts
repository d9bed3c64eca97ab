// Converts the facts of the passing time to parts of the report.
import {
  effectsOf,
  type MonthCash,
  type Outage,
  type PassageFact,
  type RehearsalReport,
  type RehearsedOrder,
  shownName,
} from "../../core/model/index.ts";
import type { MoneyScale } from "../../report/index.ts";
import type { Round } from "./run.ts";

/** A fact and the provider of its account. */
export type Fact = PassageFact & { readonly provider: string };

const dayOf = (at: string) => at.slice(0, 10);
const monthOf = (at: string) => at.slice(0, 7);

/** Returns the orders that the apply placed. Each amount is of the invoice, or else of the plan. */
export function ordersOf({ plan, result }: Round, moneyScale: MoneyScale): RehearsedOrder[] {
  if (plan === undefined) return [];
  const providers = new Map(plan.changes.map(({ address, provider }) => [address, provider]));
  return effectsOf(plan).flatMap(({ address, domain, money }) => {
    if (money === undefined) return [];
    const { invoice, result: end } = result?.outcomes.find((one) => one.address === address) ?? {};
    if (end !== "done") return [];
    const provider = providers.get(address) ?? "default";
    const { currency } = money;
    const amount = invoice?.total ?? money.now;
    const scale = moneyScale(currency, provider) ?? null;
    return [{ address, site: domain, plan: money.plan, provider, currency, amount, scale }];
  });
}

/** Returns the cash of each month. @param at Month of the orders. */
export function cashOf(
  orders: readonly RehearsedOrder[],
  facts: readonly Fact[],
  { at, isPaid, moneyScale }: { readonly at: string; readonly isPaid: boolean; readonly moneyScale: MoneyScale },
): MonthCash[] {
  const bills = [
    ...orders.map(({ amount, ...one }) => ({ ...one, month: monthOf(at), total: amount ?? 0, paid: isPaid })),
    ...facts.flatMap((one) => (one.fact === "invoice" ? [{ ...one, month: monthOf(one.at) }] : [])),
  ];
  const groups = Map.groupBy(bills, ({ month, provider, currency }) => JSON.stringify([month, currency, provider]));
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, all]) => {
      const [first] = all;
      if (first === undefined) return [];
      const { month, provider, currency } = first;
      const sum = (some: typeof all) => some.reduce((total, one) => total + one.total, 0);
      const unpaid = sum(all.filter(({ paid }) => !paid));
      const scale = moneyScale(currency, provider) ?? null;
      return [{ month, provider, currency, scale, amount: sum(all), invoices: all.length, unpaid }];
    });
}

const REASONS = { unpaid: "An invoice is unpaid.", request: "Its suspension was requested." } as const;

/** Returns the sites that go offline, by the plan or later, and the ends of services and grants. */
export function endsOf({ plan, records }: Round, facts: readonly Fact[]): Pick<RehearsalReport, "outages" | "ends"> {
  const keys = new Map([...records.values()].map((one) => [`${one.provider} ${one.attributes.id}`, one.address]));
  const outages: Outage[] = [];
  const ends: { on: string; text: string }[] = [];
  if (plan !== undefined)
    for (const { kind, address, domain: site, sentence: why } of effectsOf(plan))
      if (kind === "offline") outages.push({ site, address, from: dayOf(plan.timestamp), until: null, why });
  const over = new Set<string>();
  for (const one of facts) {
    const { fact, domain, at } = one;
    const key = `${one.provider} ${one.order}`;
    const address = keys.get(key) ?? null;
    const site = domain === null ? `service ${one.order}` : shownName(domain);
    const last = outages.findLastIndex((outage) => outage.site === site && outage.until === null);
    const open = outages[last];
    if (fact === "online" && open) outages[last] = { ...open, until: dayOf(at) };
    if (fact === "offline" && !open)
      outages.push({ site, address, from: dayOf(at), until: null, why: REASONS[one.reason ?? "request"] });
    if (fact === "ended") ends.push({ on: dayOf(at), text: `${site} ends, because an invoice is unpaid.` });
    if (fact === "ended") over.add(key);
    if (fact === "expired" && !over.has(key))
      ends.push({ on: dayOf(at), text: `The access of ${one.email} to ${site} expires.` });
  }
  return { outages, ends };
}
