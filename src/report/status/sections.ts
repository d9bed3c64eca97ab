// Converts the sections of an account report to tables of text. Each output format prints these tables.
import { capitalized, formatMoney, formatNumber, type Json, readMoment, some } from "../../core/model/index.ts";
import { withoutNamedInvoices } from "../conditions.ts";
import { formatEstimate, plural, UNSCALED } from "../numbers.ts";
import type { ReportTable } from "../table.ts";
import type { AccountReport } from "./model.ts";
import { daysAfter } from "./money.ts";
import type { SectionName } from "./names.ts";
import { remarkableStates, stateNote, stateText } from "./states.ts";

type Entry = Readonly<Record<string, unknown>>;

interface Section {
  readonly title: string;
  /** Names of an entry's fields that are columns, separated by spaces. Numbers are last. */
  readonly columns: string;
  /** True if the numbers have totals. */
  readonly hasTotals?: true;
  readonly note?: string;
  /** Returns a note with figures. */
  readonly noteOf?: (report: AccountReport) => string;
  readonly isCalm?: true;
  entries(report: AccountReport): readonly Entry[];
}

const SINCE = "Times are in UTC.";
const LIST = "At list prices; a bill may be lower.";
const QUOTED = "The quote of an order is its list price. Discounts lower the invoice.";
const SERVICE = "client provider site address state sync plan next_due_date monthly";
const INVOICE = "client provider site number due_date status remarks quoted total";
const OBJECT = "client provider site type id name plan status";

const withState = (one: AccountReport["services"][number]) => ({ ...one, state: stateText(one.state, one.conditions) });

/** Returns the text of a point. It begins with the domain, or without a domain with the address. */
function whatOf({ site, address, summary, detail }: AccountReport["attention"][number]): string {
  const text = [summary, detail].filter((part) => part).join(". ");
  const own = `${address}: `;
  if (site !== null && text.startsWith(own)) return `${site}: ${text.slice(own.length).replace(` (${site})`, "")}`;
  const object = text.includes(address ?? "") ? [site] : [site, address];
  return [...object, text].filter((part) => part !== null).join(": ");
}

/** Sorts entries by client. Entries without a client are last. */
const byClient = (a: Entry, b: Entry) => (String(a.client ?? "~") < String(b.client ?? "~") ? -1 : 1);

/** Joins the remarks whose value is true. */
const remarksOf = (remarks: Readonly<Record<string, boolean>>) =>
  Object.entries(remarks)
    .flatMap(([text, holds]) => (holds ? text : []))
    .join(", ");

/** Returns the invoices. The status of an unpaid invoice is a word of the report: `overdue` or `unpaid`. */
const invoices = ({ money }: AccountReport) =>
  money.invoices.map((one) => ({
    ...one,
    status: one.is_overdue ? "overdue" : one.is_open ? "unpaid" : one.status,
    remarks: remarksOf({ "above its quote": one.is_above_quote }),
  }));

/** Returns the first effects of a change, without their full stops. */
const effectsText = (effects: readonly string[]) =>
  some(
    effects.map((text) => text.replace(/\.$/, "")),
    3,
  );

const undeclared = ({ services, objects, access }: AccountReport): readonly Entry[] => [
  ...[...services, ...objects].filter(({ sync }) => sync === "undeclared"),
  ...access.grants.filter((one) => !one.is_declared).map((one) => ({ ...one, name: one.email })),
];

const [isCalm, hasTotals] = [true, true] as const;

/** Sections by name. */
const ALL: Readonly<Record<SectionName, Section>> = {
  attention: {
    title: "Needs a person",
    columns: "client what since fix",
    note: SINCE,
    entries: ({ attention }) => withoutNamedInvoices(attention).map((one) => ({ ...one, what: whatOf(one) })),
  },
  due: {
    title: "Unpaid invoices by week",
    columns: "week provider count total",
    isCalm,
    entries: ({ money }) => money.due,
  },
  unpaid: {
    title: "Unpaid invoices",
    columns: INVOICE,
    ...{ hasTotals, isCalm },
    entries: (report) => invoices(report).filter(({ is_open }) => is_open),
  },
  renewals: {
    title: "Renewals within 90 days",
    columns: "due_date client provider site next_30_days next_60_days next_90_days",
    note: `${LIST} A term with an unpaid invoice is no renewal. A service with an overdue invoice renews after the payment.`,
    ...{ hasTotals, isCalm },
    entries: ({ money }) => money.renewals,
  },
  money: {
    title: "Average month by client, at list prices",
    columns: "client provider is_suspended count total",
    note: "A term of 12 months counts as a twelfth. Suspended services have separate rows. A bill may be lower.",
    ...{ hasTotals, isCalm },
    entries: ({ money }) => money.run_rate.toSorted(byClient),
  },
  domains: {
    title: "Domains",
    columns: "client provider site address registered_until",
    note: "The API shows no domains. The dates follow from order, years and paid renewals.",
    isCalm,
    entries: ({ objects }) => objects.filter(({ registered_until }) => registered_until !== null),
  },
  access: {
    title: "Access",
    columns: "email client provider site permission expires_at remarks",
    isCalm,
    entries: ({ access: { grants } }) =>
      grants
        .toSorted((a, b) => (a.email < b.email ? -1 : 1))
        .map((one) => ({
          ...one,
          remarks: remarksOf({
            "not declared": !one.is_declared,
            "outside the allowed domains": one.is_outside,
            "ends within 14 days": one.expires_soon,
          }),
        })),
  },
  drift: {
    title: "Drift",
    columns: "client provider address attribute declared live since",
    note: SINCE,
    entries: ({ drift }) => drift,
  },
  undeclared: { title: "Exists and is not declared", columns: OBJECT, entries: undeclared },
  services: {
    title: "Services",
    columns: SERVICE,
    noteOf: ({ overview }) => `${stateNote(overview)}${LIST}`,
    isCalm,
    entries: ({ services }) => services.map(withState).toSorted(byClient),
  },
  changes: {
    title: "Last changes",
    columns: "at who what",
    isCalm,
    entries: ({ changes }) =>
      changes.map((one) => ({
        ...one,
        what: [one.command, effectsText(one.effects)].filter((text) => text).join(": "),
      })),
  },
  billed: {
    title: "Billed and not declared",
    columns: SERVICE,
    note: LIST,
    entries: ({ services }) =>
      services.filter(({ sync, price }) => sync === "undeclared" && price !== null).map(withState),
  },
  overdue: {
    title: "Overdue invoices",
    columns: INVOICE,
    hasTotals,
    entries: (report) => invoices(report).filter(({ is_overdue }) => is_overdue),
  },
  webhooks: {
    title: "Webhooks without a known secret",
    columns: `${OBJECT} address`,
    entries: ({ objects }) => objects.filter(({ secret }) => secret === "unknown"),
  },
  pending: {
    title: "Pending orders",
    columns: "client provider address since fix",
    note: SINCE,
    entries: ({ attention }) => attention.filter(({ condition }) => condition === "pending"),
  },
  invoices: { title: "Invoices", columns: INVOICE, isCalm, entries: invoices },
};

/** Returns the entries of a section. */
export const entriesOf = (report: AccountReport, name: SectionName): readonly Entry[] => ALL[name].entries(report);

/** Fields with amounts. */
export const AMOUNTS: ReadonlySet<string> = new Set([
  ...["monthly", "price", "quoted", "total", "next_30_days", "next_60_days", "next_90_days"],
]);

const HEADS: Readonly<Record<string, string>> = {
  ...{ provider: "Account", address: "Resource", registered_until: "Until (estimated)", monthly: "A month" },
  ...{
    week: "Week of",
    "due.count": "Invoices",
    "money.count": "Services",
    "money.total": "A month",
    is_suspended: "State",
    quoted: "Quoted at most",
    "renewals.due_date": "Next due",
    at: "When",
    email: "E-mail",
    expires_at: "Expires",
    next_due_date: "Next due",
    due_date: "Due",
  },
};

/** Returns the time for a moment on the day of the report, otherwise the day. */
const sinceText = (since: string, { timestamp }: AccountReport) =>
  since.slice(0, 10) === timestamp.slice(0, 10) ? since.slice(11, 16) : since.slice(0, 10);

/** Returns the time of a condition's first record. "or earlier": the condition may be older. */
const firstSince = (since: string, report: AccountReport) => `${sinceText(since, report)} or earlier`;

const minuteOf = (time: string | number) => `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Returns totals, one for each account, currency and state. None if they would repeat the entries. */
function totalsOf(entries: readonly Entry[], fields: readonly string[]): Entry[] {
  const groups = Map.groupBy(entries, ({ provider, currency, is_suspended }) =>
    JSON.stringify({ provider, currency, is_suspended }),
  );
  if (groups.size === entries.length) return [];
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, group]) => {
    const sums = fields.map((field) => [field, group.reduce((sum, one) => sum + Number(one[field] ?? 0), 0)]);
    return { ...JSON.parse(key), ...Object.fromEntries(sums), quoted: null };
  });
}

/** Returns a formatter for sites. It returns the domain, otherwise the address or the id of the service. */
function sitesOf({ services }: AccountReport) {
  const addresses = new Map(services.map(({ provider, id, address }) => [`${provider} ${id}`, address]));
  return (entry: Entry) => {
    const id = entry.service_id ?? ("plan" in entry ? entry.id : null);
    return entry.site ?? (id == null ? entry.address : (addresses.get(`${entry.provider} ${id}`) ?? `service ${id}`));
  };
}

/** Returns a formatter for amounts. */
function moneyOf({ accounts }: AccountReport) {
  const scales = new Map<unknown, number | undefined>(accounts.map((one) => [one.provider, one.scale ?? undefined]));
  return ({ currency, provider }: Entry, amount: number) =>
    formatMoney(amount, currency as string | null, scales.get(provider));
}

/** Returns the sections as tables, without columns that have no value. The last table names the sections without entries. */
export function tablesOf(report: AccountReport, names: readonly SectionName[]): ReportTable[] {
  const { accounts, access, money: bills } = report;
  const money = moneyOf(report);
  const siteOf = sitesOf(report);
  const textOf = (entry: Entry, field: string, columns: string): string => {
    const value = (field === "site" ? siteOf(entry) : entry[field]) as Json | undefined;
    const isRepeated =
      (field === "provider" && accounts.length === 1) ||
      (field === "name" && [entry.site, entry.id].includes(value)) ||
      (field === "site" && columns.includes("address") && value === entry.address);
    if (value === null || value === undefined || isRepeated) return "";
    // The time of a pending request is exact.
    if (field === "at" || (field === "since" && entry.condition === "pending")) return sinceText(String(value), report);
    if (field === "since") return firstSince(String(value), report);
    if (field === "is_suspended") return value === true ? "suspended" : "";
    if (field === "expires_at") {
      const moment = readMoment(value);
      if (moment.form === "instant") return minuteOf(moment.at);
    }
    if (typeof value === "number") return AMOUNTS.has(field) ? money(entry, value) : formatNumber(value);
    if (field === "sync") return String(value).replace("_", " ");
    if (field === "type") return String(value).split("_").slice(1).join(" ");
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  };
  const recorded = access.grants.length === 0 ? "The state has no access" : "From the state";
  const asOf = access.as_of === null ? "" : `, read at ${minuteOf(access.as_of)} or later`;
  const grants = access.is_complete ? "" : `${recorded}${asOf}. A full status reads the grants of each service.`;
  const tables = names.map((name) => {
    const {
      title,
      columns,
      note = "",
      noteOf = () => note,
      isCalm: calm = false,
      hasTotals: isSummed = false,
    } = ALL[name];
    const entries = entriesOf(report, name);
    const fields = columns.split(" ").filter((field) => entries.some((entry) => textOf(entry, field, columns) !== ""));
    const from = fields.findIndex((field) => field === "count" || AMOUNTS.has(field));
    const isUnscaled = accounts.some(
      (one) => one.scale === null && entries.some((entry) => entry.provider === one.provider),
    );
    const rowOf = (entry: Entry) => fields.map((field) => textOf(entry, field, columns));
    const notes = [
      entries.length > 0 ? noteOf(report) : "",
      fields.includes("quoted") ? QUOTED : "",
      name === "access" ? grants : "",
      (columns === INVOICE || name === "due") && bills.unread !== null
        ? `Not all invoices were read: ${bills.unread}.`
        : "",
      from >= 0 && isUnscaled ? UNSCALED : "",
    ];
    return {
      // Rows with sums are not counted.
      title: entries.length > 0 && !fields.includes("count") ? `${title}: ${formatNumber(entries.length)}` : title,
      head: fields.map((field) => HEADS[`${name}.${field}`] ?? HEADS[field] ?? capitalized(field).replaceAll("_", " ")),
      rows: entries.map(rowOf),
      foot: isSummed ? totalsOf(entries, fields.slice(from)).map((entry) => rowOf(entry).with(0, "Total")) : [],
      from: from < 0 ? fields.length : from,
      note: notes.filter((one) => one !== "").join(" "),
      isAlarm: !calm && entries.length > 0,
    };
  });
  const { true: none = [], false: others = [] } = Object.groupBy(
    tables,
    ({ rows, note }) => `${rows.length === 0 && !note}`,
  );
  const note = `${none.map(({ title }) => title).join(", ")}.`;
  return none.length === 0
    ? others
    : [...others, { title: "No entries", head: [], rows: [], foot: [], from: 0, note, isAlarm: false }];
}

const DAY = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });

/** Returns the text of a due day: the weekday within a week, otherwise the date. */
function byDay(day: string | null, today: string): string {
  if (day === null) return "";
  if (day < today) return `, overdue since ${day}`;
  if (day === today) return " by today";
  return ` by ${day < daysAfter(today, 7) ? DAY.format(new Date(day)) : day}`;
}

/** Returns the first sentence: `Synced 300 of 300 · live 292 · 5 unpaid, 22.50 USD by Friday · 1 offline since 04:10 or earlier`. */
export function headlineOf(report: AccountReport): string {
  const { declared, synced, states, offline_since: since, unpaid, pending } = report.overview;
  const money = moneyOf(report);
  const bills = unpaid.map((one) => {
    const day = byDay(one.due_date, report.timestamp.slice(0, 10));
    return `${formatNumber(one.count)} unpaid, ${money(one, one.total)}${day}`;
  });
  const longest = states.offline > 1 ? ", the longest" : "";
  const down = since === null ? "" : `${longest} since ${firstSince(since, report)}`;
  return [
    `Synced ${formatNumber(synced)} of ${formatNumber(declared)}`,
    `live ${formatNumber(states.live)}`,
    ...bills,
    ...(states.offline > 0 ? [`${formatNumber(states.offline)} offline${down}`] : []),
    ...remarkableStates(states).map(({ count, words }) => `${formatNumber(count)} ${words}`),
    ...(pending > 0 ? [`${formatNumber(pending)} pending`] : []),
  ].join(" · ");
}

/** Returns the last sentences: about unread lists, and about requests. */
export function closingOf({ unread, requests, timestamp, access }: AccountReport): string[] {
  const full = ` A full status: ${plural(requests.full, "request")}, ${formatEstimate(requests.full_seconds)}.`;
  return [
    ...unread.map(({ provider, what, why }) => `Not read: ${what} of account ${provider}. ${why}.`),
    `${minuteOf(timestamp)}, ${plural(requests.sent, "request")}.${access.is_complete ? "" : full}`,
  ];
}

/** Returns the figures of the page by label. */
export function tilesOf(report: AccountReport): Readonly<Record<string, string | number>> {
  const { declared, synced, services, states, pending, unpaid } = report.overview;
  return {
    Synced: `${formatNumber(synced)} of ${formatNumber(declared)}`,
    "Live in the account": `${formatNumber(states.live)} of ${formatNumber(services)}`,
    Offline: states.offline,
    ...Object.fromEntries(remarkableStates(states).map(({ count, words }) => [capitalized(words), count])),
    Pending: pending,
    Unpaid: unpaid.reduce((sum, { count }) => sum + count, 0),
    "Not declared": undeclared(report).length,
  };
}
