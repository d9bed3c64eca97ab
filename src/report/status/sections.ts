// The sections of an account report, as tables of text that each form renders.
import { capitalized, formatMoney, formatNumber, type Json, some } from "../../core/model/index.ts";
import { withoutNamedInvoices } from "../conditions.ts";
import { formatEstimate, plural, UNSCALED } from "../numbers.ts";
import type { AccountReport } from "./model.ts";
import { daysAfter } from "./money.ts";
import type { SectionName } from "./names.ts";
import { remarkableStates, stateNote, stateText } from "./states.ts";

/** A section as text. Columns without any value are left out. */
export interface StatusTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** First column of amounts. */
  readonly from: number;
  readonly note: string;
  /** True if the section has problems. */
  readonly isAlarm: boolean;
}

type Entry = Readonly<Record<string, unknown>>;

interface Section {
  readonly title: string;
  /** Fields of an entry that are columns. Amounts are last. */
  readonly columns: string;
  readonly note?: string;
  /** Returns a note with figures. */
  readonly noteOf?: (report: AccountReport) => string;
  readonly isCalm?: true;
  entries(report: AccountReport): readonly Entry[];
}

const SINCE = "Times are in UTC.";
const LIST = "At list prices; a bill may be lower.";
const SERVICE = "client provider site address state sync plan next_due_date monthly";
const INVOICE = "client provider site number due_date status remarks quoted total";
const OBJECT = "client provider site type id name plan status";

const withState = (one: AccountReport["services"][number]) => ({ ...one, state: stateText(one.state, one.conditions) });

/** Begins with the domain, or else with the address. */
function whatOf({ site, address, summary, detail }: AccountReport["attention"][number]): string {
  const text = [summary, detail].filter((part) => part).join(". ");
  const own = `${address}: `;
  if (site !== null && text.startsWith(own)) return `${site}: ${text.slice(own.length).replace(` (${site})`, "")}`;
  const object = text.includes(address ?? "") ? [site] : [site, address];
  return [...object, text].filter((part) => part !== null).join(": ");
}

/** Joins the remarks that hold. */
const remarksOf = (remarks: Readonly<Record<string, boolean>>) =>
  Object.entries(remarks)
    .flatMap(([text, holds]) => (holds ? text : []))
    .join(", ");

const invoices = ({ money }: AccountReport) =>
  money.invoices.map((one) => ({ ...one, remarks: remarksOf({ "above its quote": one.is_above_quote }) }));

const undeclared = ({ services, objects, access }: AccountReport): readonly Entry[] => [
  ...[...services, ...objects].filter(({ sync }) => sync === "undeclared"),
  ...access.grants.filter((one) => !one.is_declared).map((one) => ({ ...one, name: one.email })),
];

const isCalm = true;

/** Sections by name. */
const ALL: Readonly<Record<SectionName, Section>> = {
  attention: {
    title: "Needs a person",
    columns: "client what since fix",
    note: SINCE,
    entries: ({ attention }) => withoutNamedInvoices(attention).map((one) => ({ ...one, what: whatOf(one) })),
  },
  due: {
    title: "Open invoices by week",
    columns: "week provider count total",
    isCalm,
    entries: ({ money }) => money.due,
  },
  unpaid: {
    title: "Open invoices",
    columns: INVOICE,
    isCalm,
    entries: (report) =>
      invoices(report)
        .filter(({ is_open }) => is_open)
        .map((one) => ({ ...one, status: one.is_overdue ? "overdue" : one.status })),
  },
  renewals: {
    title: "Renewals",
    columns: "days provider count total",
    ...{ note: LIST, isCalm },
    entries: ({ money }) => money.renewals,
  },
  money: {
    title: "A month by client",
    columns: "client provider count total",
    ...{ note: LIST, isCalm },
    entries: ({ money }) => money.run_rate,
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
    entries: ({ services }) =>
      services.map(withState).toSorted((a, b) => ((a.client ?? "~") < (b.client ?? "~") ? -1 : 1)),
  },
  changes: {
    title: "Last changes",
    columns: "at who what",
    isCalm,
    entries: ({ changes }) =>
      changes.map((one) => ({ ...one, what: [one.command, some(one.effects, 3)].filter((text) => text).join(": ") })),
  },
  billed: {
    title: "Billed and not declared",
    columns: SERVICE,
    note: LIST,
    entries: ({ services }) =>
      services.filter(({ sync, price }) => sync === "undeclared" && price !== null).map(withState),
  },
  overdue: {
    title: "Overdue",
    columns: INVOICE,
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
export const AMOUNTS: ReadonlySet<string> = new Set(["monthly", "price", "quoted", "total"]);

const HEADS: Readonly<Record<string, string>> = {
  ...{ provider: "Account", address: "Resource", registered_until: "Until (estimated)", monthly: "A month" },
  ...{
    days: "Next days",
    week: "Week of",
    "due.count": "Invoices",
    "renewals.count": "Renewals",
    "money.count": "Services",
    at: "When",
    email: "E-mail",
    expires_at: "Expires",
    next_due_date: "Next due",
    due_date: "Due",
  },
};

/** Time on the day of the report, or else the day. */
const sinceText = (since: string, { timestamp }: AccountReport) =>
  since.slice(0, 10) === timestamp.slice(0, 10) ? since.slice(11, 16) : since.slice(0, 10);

/** Adds that a condition may be older than its first record. */
const firstSince = (since: string, report: AccountReport) => `${sinceText(since, report)} or earlier`;

/** Names the service of an entry without a domain. */
function serviceText(entry: Entry): string {
  const id = entry.service_id ?? ("plan" in entry ? entry.id : null);
  return id === null ? "" : `service ${id}`;
}

/** Returns a formatter for amounts. */
function moneyOf({ accounts }: AccountReport) {
  const scales = new Map<unknown, number | undefined>(accounts.map((one) => [one.provider, one.scale ?? undefined]));
  return ({ currency, provider }: Entry, amount: number) =>
    formatMoney(amount, currency as string | null, scales.get(provider));
}

/** Returns the sections as tables. The last one names the sections without entries. */
export function tablesOf(report: AccountReport, names: readonly SectionName[]): StatusTable[] {
  const { accounts, access, money: bills } = report;
  const money = moneyOf(report);
  const textOf = (entry: Entry, field: string): string => {
    const value = entry[field] as Json;
    const isRepeated =
      (field === "provider" && accounts.length === 1) || (field === "name" && [entry.site, entry.id].includes(value));
    if (field === "site" && value === null) return serviceText(entry);
    if (value === null || value === undefined || isRepeated) return "";
    // The time of a pending request is exact.
    if (field === "at" || (field === "since" && entry.condition === "pending")) return sinceText(String(value), report);
    if (field === "since") return firstSince(String(value), report);
    if (typeof value === "number") return AMOUNTS.has(field) ? money(entry, value) : formatNumber(value);
    if (field === "sync") return String(value).replace("_", " ");
    if (field === "type") return String(value).split("_").slice(1).join(" ");
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  };
  const grants = access.is_complete
    ? ""
    : `From the state${access.as_of === null ? "" : `, read at ${access.as_of} or later`}. A full status reads the grants of each service.`;
  const tables = names.map((name) => {
    const { title, columns, note = "", noteOf = () => note, isCalm: calm = false } = ALL[name];
    const entries = entriesOf(report, name);
    const fields = columns.split(" ").filter((field) => entries.some((entry) => textOf(entry, field) !== ""));
    const from = fields.findIndex((field) => AMOUNTS.has(field));
    const notes = [
      entries.length > 0 ? noteOf(report) : "",
      name === "access" ? grants : "",
      (columns === INVOICE || name === "due") && bills.unread !== null
        ? `Not all invoices were read: ${bills.unread}.`
        : "",
      from >= 0 && accounts.some(({ scale }) => scale === null) ? UNSCALED : "",
    ];
    return {
      // Rows with sums are not counted.
      title: entries.length > 0 && !fields.includes("count") ? `${title}: ${formatNumber(entries.length)}` : title,
      head: fields.map((field) => HEADS[`${name}.${field}`] ?? HEADS[field] ?? capitalized(field)),
      rows: entries.map((entry) => fields.map((field) => textOf(entry, field))),
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
    : [...others, { title: "No entries", head: [], rows: [], from: 0, note, isAlarm: false }];
}

const DAY = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });

/** Returns a due day: a weekday within a week, or else the date. */
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

/** Returns the last sentences: the lists that were not read, and the requests. */
export function closingOf({ unread, requests, timestamp, access }: AccountReport): string[] {
  const full = ` A full status: ${plural(requests.full, "request")}, ${formatEstimate(requests.full_seconds)}.`;
  return [
    ...unread.map(({ provider, what, why }) => `Not read: ${what} of account ${provider}. ${why}.`),
    `${timestamp.slice(0, 16).replace("T", " ")} UTC, ${plural(requests.sent, "request")}.${access.is_complete ? "" : full}`,
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
