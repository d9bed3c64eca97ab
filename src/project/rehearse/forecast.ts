// Converts the facts of the passing time to parts of the report.
import {
  effectsOf,
  type MonthCash,
  type Outage,
  type PassageFact,
  type RehearsalReport,
  type RehearsedOrder,
  type ResourceState,
  shownName,
} from "../../core/model/index.ts";
import type { MoneyScale } from "../../report/index.ts";
import type { Round } from "./run.ts";

/** A fact and the provider of its account. */
export type Fact = PassageFact & { readonly provider: string };

type OfService = Pick<Fact, "provider" | "order" | "domain">;

const dayOf = (at: string) => at.slice(0, 10);
const monthOf = (at: string) => at.slice(0, 7);

/** Returns the orders that an apply placed. Each amount is of the invoice, or else of the plan. */
export function ordersOf({ plan, result }: Round, moneyScale: MoneyScale): RehearsedOrder[] {
  if (plan === undefined) return [];
  const providers = new Map(plan.changes.map(({ address, provider }) => [address, provider]));
  return effectsOf(plan).flatMap(({ address, domain, money }) => {
    if (money === undefined) return [];
    const { invoice, result: end } = result?.outcomes.find((one) => one.address === address) ?? {};
    if (end !== "done") return [];
    const provider = providers.get(address) ?? "default";
    const { currency } = money;
    // The sandbox needs a price for each order, also if the host shows none.
    const amount = money.now === null ? null : (invoice?.total ?? money.now);
    const scale = moneyScale(currency, provider) ?? null;
    return [{ address, site: domain, plan: money.plan, provider, currency, amount, scale }];
  });
}

/** Returns the functions that find the address and the name of a service. */
function finder(records: ReadonlyMap<string, ResourceState>) {
  const keys = new Map([...records.values()].map((one) => [`${one.provider} ${one.attributes.id}`, one.address]));
  const addressOf = ({ provider, order }: OfService) => keys.get(`${provider} ${order}`) ?? null;
  const nameOf = (one: OfService) =>
    one.domain === null ? (addressOf(one) ?? `service ${one.order}`) : shownName(one.domain);
  return { addressOf, nameOf };
}

interface CashOptions {
  /** First day. */
  readonly start: string;
  readonly isPaid: boolean;
  readonly records: Round["records"];
  readonly moneyScale: MoneyScale;
  /** Returns true if the API does not show the price of a service. */
  isUnpriced(service: OfService): boolean;
}

/** Returns the cash of each month, and the names of the orders and services without a known price. */
export function cashOf(
  orders: readonly RehearsedOrder[],
  facts: readonly Fact[],
  { start, isPaid, records, moneyScale, isUnpriced }: CashOptions,
): Pick<RehearsalReport, "cash" | "unpriced"> {
  const { addressOf, nameOf } = finder(records);
  const open = new Set(orders.flatMap(({ address, amount }) => (amount === null ? [address] : [])));
  const bills = [
    ...orders.map(({ amount: total, site, address, ...one }) => {
      return { ...one, name: site ?? address, month: monthOf(start), total, paid: isPaid };
    }),
    ...facts.flatMap((one) => {
      if (one.fact !== "invoice") return [];
      const total = open.has(addressOf(one) ?? "") || isUnpriced(one) ? null : one.total;
      return [{ ...one, name: nameOf(one), month: monthOf(one.at), total }];
    }),
  ];
  const groups = Map.groupBy(bills, ({ month, provider, currency }) => JSON.stringify([month, currency, provider]));
  const cash = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, all]): MonthCash[] => {
      const [first] = all;
      if (first === undefined) return [];
      const { month, provider, currency } = first;
      const unknown = all.filter(({ total }) => total === null).length;
      const unpaid = sumOf(all.filter(({ paid }) => !paid));
      const scale = moneyScale(currency, provider) ?? null;
      return [{ month, provider, currency, scale, amount: sumOf(all), invoices: all.length, unknown, unpaid }];
    });
  const unpriced = new Set(bills.flatMap(({ total, name }) => (total === null ? [name] : [])));
  return { cash, unpriced: [...unpriced] };
}

/** Returns the sum of the known amounts. Null if no amount is known. */
const sumOf = (all: readonly { readonly total: number | null }[]): number | null =>
  all.length > 0 && all.every(({ total }) => total === null)
    ? null
    : all.reduce((sum, { total }) => sum + (total ?? 0), 0);

const REASONS = { unpaid: "An invoice is unpaid.", request: "Its suspension was requested." } as const;

/**
 * Returns the sites that go offline, by the plan or later, and the ends of services and grants.
 * @param suspended Services that are suspended at the start and at the end.
 */
export function endsOf(
  { plan, records }: Round,
  facts: readonly Fact[],
  suspended: readonly OfService[],
): Pick<RehearsalReport, "outages" | "ends" | "offline"> {
  const { addressOf, nameOf } = finder(records);
  const outages: Outage[] = [];
  const ends: RehearsalReport["ends"][number][] = [];
  if (plan !== undefined)
    for (const { kind, address, domain: site, sentence: why } of effectsOf(plan))
      if (kind === "offline")
        outages.push({ site: site ?? address, address, from: dayOf(plan.timestamp), until: null, why });
  const over = new Set<string>();
  for (const one of facts) {
    const { fact, at } = one;
    const key = `${one.provider} ${one.order}`;
    const address = addressOf(one);
    const site = nameOf(one);
    const last = outages.findLastIndex((outage) => outage.site === site && outage.until === null);
    const open = outages[last];
    if (fact === "online" && open) outages[last] = { ...open, until: dayOf(at) };
    if (fact === "offline" && !open)
      outages.push({ site, address, from: dayOf(at), until: null, why: REASONS[one.reason ?? "request"] });
    if (fact === "ended") ends.push({ on: dayOf(at), text: `${site} ends, because an invoice is unpaid.`, site });
    if (fact === "ended") over.add(key);
    if (fact === "expired" && !over.has(key))
      ends.push({ on: dayOf(at), text: `The access of ${one.email} to ${site} expires.`, site: null });
  }
  const away = new Set(outages.map(({ site }) => site));
  return { outages, ends, offline: suspended.map(nameOf).filter((site) => !away.has(site)) };
}
