// Dates and sums of an account report. Dates are days (YYYY-MM-DD) in UTC, amounts are in the API's own unit.
import { DAY_MS } from "../../core/model/index.ts";
import type { AccountReport } from "./model.ts";

type Service = AccountReport["services"][number];
type Invoice = AccountReport["money"]["invoices"][number];
type Renewal = AccountReport["money"]["renewals"][number];

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Returns the day of a date or a time of the API. Null for any other text. */
export const dayIn = (text: unknown): string | null => /^\d{4}-\d\d-\d\d/.exec(String(text))?.[0] ?? null;

export const daysAfter = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS);

/** Adds months. Uses the last day of a shorter month. */
export function monthsAfter(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month - 1 + months, Math.min(date, last)));
}

/** Returns the Monday of a day's week. */
export const weekOf = (day: string): string => daysAfter(day, -((new Date(day).getUTCDay() + 6) % 7));

/** Sums amounts by their other fields. Ignores unknown amounts and currencies. */
function sums<Key extends object>(
  items: readonly (Key & { readonly currency: string | null; readonly total: number | null })[],
) {
  const known = items.flatMap((one) =>
    one.currency === null || one.total === null ? [] : { ...one, currency: one.currency, total: one.total },
  );
  const groups = Map.groupBy(known, ({ total: _, ...key }) => JSON.stringify(key));
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const total = others.reduce((sum, one) => sum + one.total, first.total);
    return [{ ...first, total, count: others.length + 1 }];
  });
}

/** Returns the due days of a service within a period. @param months length of its billing cycle; null if unknown. */
export function dueDays(first: string | null, months: number | null, from: string, to: string): string[] {
  const days: string[] = [];
  for (let nth = 0; first !== null && (nth === 0 || months); nth += 1) {
    const day = monthsAfter(first, nth * (months ?? 0));
    if (day > to) break;
    if (day >= from) days.push(day);
  }
  return days;
}

/** A billed service. `months`: length of its billing cycle. `today`: day by the host's clock. */
export interface Billed {
  readonly service: Service;
  readonly isSuspended: boolean;
  readonly months: number | null;
  readonly today: string;
}

/** Length of the longest period of renewals, in days. */
const LONGEST = 90;

/** Returns the renewal of a service. Undefined without a renewal in the longest period, and until an overdue invoice is paid. */
function renewalOf({ service, months, today }: Billed, open: readonly Invoice[]): Renewal | undefined {
  const { provider, client, address, site, id: service_id, currency, price, next_due_date } = service;
  if (open.some(({ is_overdue }) => is_overdue)) return undefined;
  // An open invoice covers one term. It is due on the first day of this term or later.
  const isBilled = (day: string, nth: number) => nth < open.filter(({ due_date }) => (due_date ?? "") >= day).length;
  const all = dueDays(next_due_date, months, today, daysAfter(today, LONGEST));
  const days = all.filter((day, nth) => !isBilled(day, nth));
  const [due_date] = days;
  if (due_date === undefined) return undefined;
  const within = (period: number) =>
    price === null ? null : price * days.filter((day) => day <= daysAfter(today, period)).length;
  return {
    ...{ provider, client, address, site, service_id, due_date, currency },
    ...{ next_30_days: within(30), next_60_days: within(60), next_90_days: within(LONGEST) },
  };
}

/** Returns the services that renew, by day. */
function renewalsOf(billed: readonly Billed[], invoices: readonly Invoice[]): Renewal[] {
  const open = Map.groupBy(
    invoices.filter(({ is_open }) => is_open),
    ({ provider, service_id }) => `${provider} ${service_id}`,
  );
  return billed
    .flatMap((one) => renewalOf(one, open.get(`${one.service.provider} ${one.service.id}`) ?? []) ?? [])
    .toSorted((a, b) => (a.due_date < b.due_date ? -1 : 1));
}

/** Returns the sums of services, by list price, and of open invoices. */
export function sumsOf(billed: readonly Billed[], invoices: readonly Invoice[]) {
  const due = invoices.flatMap(({ is_open, due_date, provider, currency, total }) =>
    is_open && due_date !== null ? [{ week: weekOf(due_date), provider, currency, total }] : [],
  );
  return {
    run_rate: sums(
      billed
        .toSorted((a, b) => Number(a.isSuspended) - Number(b.isSuspended))
        .map(({ service: { provider, client, currency, monthly: total }, isSuspended: is_suspended }) => ({
          client,
          provider,
          is_suspended,
          currency,
          total,
        })),
    ),
    due: sums(due).toSorted((a, b) => (a.week < b.week ? -1 : 1)),
    renewals: renewalsOf(billed, invoices),
  };
}

/** Returns the sums of open invoices, with the earliest due day. */
export function unpaidOf(invoices: readonly Invoice[]): AccountReport["overview"]["unpaid"] {
  const open = invoices.filter(({ is_open }) => is_open);
  return sums(open.map(({ provider, currency, total }) => ({ provider, currency, total }))).map((sum) => {
    const days = open.map(
      (one) => (one.provider === sum.provider && one.currency === sum.currency && one.due_date) || "~",
    );
    const [first = "~"] = days.toSorted();
    return { ...sum, due_date: first === "~" ? null : first };
  });
}
