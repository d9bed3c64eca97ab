/** Builds the account report from a plan and the lists of the accounts. Sends no request. */
import type { InvoiceRecord } from "../core/api/index.ts";
import { secondsToSend } from "../core/engine/index.ts";
import { kindAt } from "../core/kinds/index.ts";
import type { Kind, Remote } from "../core/kinds/kind.ts";
import {
  type Change,
  type Condition,
  type ConditionName,
  clientOf,
  codes,
  DAY_MS,
  effectOf,
  type HistoryEntry,
  holding,
  idOf,
  isAboveQuote,
  isError,
  isNoOp,
  isOpen,
  isPaid,
  type Json,
  type JsonObject,
  type Phase,
  type RequestBudget,
  readMoment,
  shownName,
  siteFinder,
} from "../core/model/index.ts";
import {
  type AccountReport,
  type Billed,
  conditionJson,
  dayIn,
  dayOf,
  monthsAfter,
  SERVICE_STATES,
  type ServiceState,
  sumsOf,
  unpaidOf,
} from "../report/index.ts";
import { flatKinds, nestedKind } from "./adopt/read.ts";
import { firstInvoice, quotesIn } from "./history.ts";
import { declaredPlaces } from "./identity.ts";
import type { StatusFlags } from "./library-types.ts";
import type { Run } from "./plan.ts";
import { yamlRemedies } from "./stack-diagnostics.ts";

/** The lists of one account. */
export interface AccountLists {
  /** Current time by the host's clock, in milliseconds since the epoch. */
  readonly now: number;
  readonly objects: readonly { readonly kind: Kind; readonly remote: Remote }[];
  readonly invoices: readonly InvoiceRecord[];
  /** Reason why not all invoices were read. */
  readonly why: string | undefined;
  /** Lists that the token cannot read. */
  readonly unread: readonly { readonly what: string; readonly why: string }[];
  /** Number of requests so far, and the budget after them. */
  readonly sent: number;
  readonly budget: RequestBudget;
}

export type Lists = ReadonlyMap<string, AccountLists>;

/** Type of the kind that grants belong to: services. */
export const SERVICE = nestedKind.nested?.in;

/** Time before the end of a grant or domain in which the report warns, in milliseconds. */
const SOON_MS = 14 * DAY_MS;

/** Number of history entries in a report. */
const MOST_CHANGES = 5;

/** An object of the account or the state, without secrets. */
interface Entry {
  readonly kind: Kind;
  readonly about: { provider: string; client: string | null; address: string | null; site: string | null };
  readonly attributes: JsonObject;
  readonly sync: AccountReport["services"][number]["sync"];
  /** True if the list of the object was read without the object. It has ended, or belongs to another account. */
  isEnded?: boolean;
  /** Phase in the list of the account. */
  phase?: Phase;
}

const text = (value: Json | undefined): string | null => (value == null ? null : String(value));
const number = (value: Json | undefined): number | null => (typeof value === "number" ? value : null);
const nameIn = (attributes: JsonObject, name = ""): string | null =>
  typeof attributes[name] === "string" ? shownName(attributes[name]) : null;

/** Replaces secret values. */
const shown = (attributes: JsonObject, sensitive: readonly string[]): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      value !== null && sensitive.includes(name) ? "(sensitive)" : value,
    ]),
  );

/** Returns the key of the parent object: of the service of a grant. Empty for other kinds. */
const parentOf = (kind: Kind | undefined, provider: string, attributes: JsonObject): string =>
  kind?.words.parent === undefined
    ? ""
    : idOf(provider, kind.words.parent.type, `${attributes[kind.words.parent.attribute]}`);

/** Conditions of an object that differs from its declaration. */
const DIFFERENCES: ReadonlySet<string> = new Set(["gone", "handed_over", "outside", "other_plan", "own_form"]);

/**
 * Returns the planned resources, the declared resources that could not be planned, undeclared objects, and objects of the state that
 * have ended.
 * @param full true if the run read the access to each service.
 */
function entriesOf({ plan, state, all, store }: Run, lists: Lists, isPart: boolean, full: boolean): Entry[] {
  const sites = siteFinder(plan.changes);
  const notRead = new Set(plan.notRead?.map(({ address }) => address));
  const failed = new Set([
    ...plan.diagnostics.flatMap((one) => (isError(one) ? one.address : [])),
    ...(plan.conditions ?? []).flatMap(({ condition, address }) => (DIFFERENCES.has(condition) ? address : [])),
  ]);
  const syncOf = (change: Change): Entry["sync"] => {
    if (plan.pending.includes(change.address)) return "pending";
    if (change.config === null) return "undeclared";
    const isOpen = failed.has(change.address) || change.unfulfilled || change.deferred.length > 0;
    if (isOpen || !isNoOp(change)) return "differs";
    return notRead.has(change.address) ? "not_read" : "synced";
  };
  const entries = new Map<string, Entry>();
  const add = (kind: Kind | undefined, about: Entry["about"], attributes: JsonObject, sync: Entry["sync"]) => {
    if (kind === undefined) return;
    const key = attributes.id == null ? `${about.address}` : idOf(about.provider, kind.type, `${attributes.id}`);
    const site = about.site ?? nameIn(attributes, kind.words.site);
    if (!entries.has(key)) entries.set(key, { kind, about: { ...about, site }, attributes, sync });
  };
  for (const change of plan.changes) {
    const { address, provider, before, after, sensitive } = change;
    const about = { provider, client: clientOf(change), address, site: sites(change) ?? null };
    const attributes = before ?? state.resources.get(address)?.attributes ?? after ?? {};
    add(kindAt(address), about, shown(attributes, sensitive), syncOf(change));
  }
  const planned = new Set(plan.changes.map(({ address }) => address));
  for (const { address, provider, attributes, sensitive, private: mark } of state.resources.values()) {
    const client = mark.client ?? clientOf({ provider });
    if (all.has(address) && !planned.has(address))
      add(kindAt(address), { provider, client, address, site: null }, shown(attributes, sensitive), "differs");
  }
  // The access to a target is no target.
  for (const { address, provider, attributes, sensitive } of isPart ? store.state.resources.values() : []) {
    const kind = kindAt(address);
    const parent = entries.get(parentOf(kind, provider, attributes));
    if (parent) add(kind, { ...parent.about, address }, shown(attributes, sensitive), "undeclared");
  }
  for (const [provider, { objects }] of lists)
    for (const { kind, remote } of objects) {
      const about = { provider, client: clientOf({ provider }), address: null, site: null };
      // With targets, the lists contain only the grants of the targets.
      if (!isPart || kind.parent !== undefined) add(kind, about, remote.attributes, "undeclared");
      const entry = entries.get(idOf(provider, kind.type, remote.id));
      if (entry !== undefined) entry.phase = remote.phase;
    }
  // An object that is missing in the complete list has ended, or belongs to another account.
  const isListed = ({ section }: Kind, alias: string) =>
    lists.get(alias)?.unread.every(({ what }) => what !== section.replaceAll("_", " ")) === true;
  for (const entry of entries.values()) {
    const { kind, about, attributes, phase } = entry;
    if (phase !== undefined || !isListed(kind, about.provider)) continue;
    // hostform reads the access to services that exist.
    const isRead = full && entries.get(parentOf(kind, about.provider, attributes))?.phase !== undefined;
    entry.isEnded = isRead || flatKinds.includes(kind);
  }
  return [...entries.values()];
}

/** Conditions of declared services that no list shows. */
const ABSENT = ["gone", "handed_over", "outside"] as const;

/** Returns the state of a service. @param isRestored True if the plan ends its suspension. */
function stateOf(
  { sync, phase, attributes }: Entry,
  conditions: readonly ConditionName[],
  isRestored: boolean,
): ServiceState {
  if (phase === undefined) {
    const rest = attributes.id == null && sync !== "pending" ? "not_ordered" : "not_listed";
    return ABSENT.find((name) => conditions.includes(name)) ?? rest;
  }
  if (phase === "live") return "live";
  if (isRestored || conditions.includes("offline")) return "offline";
  if (phase === "suspended") return sync === "undeclared" ? "suspended_undeclared" : "suspended";
  return phase === "pending" ? "waiting" : "unknown_status";
}

/** Builds the report. Its `since` times come only from the state. @param past History entries. */
export function reportOf(
  run: Run,
  lists: Lists,
  { targets = [], provider: only, full = false }: StatusFlags,
  past: readonly HistoryEntry[],
): AccountReport {
  const { plan, providers, desired, state, project, policy } = run;
  const isPart = targets.length > 0;
  const found = entriesOf(run, lists, isPart, full).filter(
    ({ about }) => only === undefined || about.provider === only,
  );
  const entries = found.filter(({ sync, isEnded }) => !(isEnded && sync === "undeclared"));
  const nowOf = (provider: string) => lists.get(provider)?.now ?? project.host.clock.now();
  const conditions = Map.groupBy(plan.conditions ?? [], ({ address }) => address);
  const billed: Billed[] = [];
  const objects: AccountReport["objects"] = [];
  const grants: AccountReport["access"]["grants"] = [];
  const services: AccountReport["services"] = [];
  let listed = 0;
  const restored = new Set(plan.changes.flatMap((one) => (effectOf(one) === "unsuspend" ? one.address : [])));
  const owners = new Map(
    found.flatMap(({ kind, about, attributes: { id } }) =>
      kind.words.order === undefined ? [] : [[`${about.provider} ${id}`, about] as const],
    ),
  );
  const invoices: AccountReport["money"]["invoices"] = [];
  const quotes = quotesIn(past);
  for (const [provider, { invoices: own, why }] of lists)
    for (const record of own) {
      const about = owners.get(`${provider} ${record.order_id}`);
      if (isPart && about === undefined) continue;
      const { id, invoice_number, status, currency, total, paid_at, order_id } = record;
      const due_date = dayIn(record.due_date);
      const is_open = isOpen(record);
      const order = quotes.get(`${provider} ${order_id}`);
      // Renewals have no quote. If the history lacks the invoice of the order, the first invoice in a complete list is the
      // order.
      const first = () => (why === undefined ? firstInvoice(own.filter((one) => one.order_id === order_id))?.id : null);
      const isOrders = order !== undefined && (order.invoice?.id ?? first()) === id;
      const quoted = isOrders && order.currency === currency ? order.quote : null;
      invoices.push({
        ...(about ?? { provider, client: clientOf({ provider }), address: null, site: null }),
        ...{ id, number: invoice_number, status, due_date, paid_at, service_id: order_id, is_open },
        is_overdue: is_open && due_date !== null && due_date < dayOf(nowOf(provider)),
        ...{ currency, quoted, total, is_above_quote: isAboveQuote(record, { currency, most: quoted }) },
      });
    }
  const paid = Map.groupBy(invoices.filter(isPaid), ({ provider, service_id }) => `${provider} ${service_id}`);
  for (const entry of entries) {
    const { kind, about, attributes, sync, phase, isEnded } = entry;
    const { type, words } = kind;
    const { provider, address } = about;
    const base = {
      ...about,
      ...{ type, id: text(attributes.id), sync, status: text(attributes.status) },
      name: nameIn(attributes, words.name) ?? String(attributes.id ?? ""),
      conditions: (conditions.get(address ?? "") ?? []).map(({ condition }) => condition),
    };
    if (type === SERVICE) {
      const [months, price] = [number(attributes.term), number(attributes.price)];
      const service = {
        ...base,
        state: stateOf(entry, base.conditions, restored.has(address ?? "")),
        ...{ plan: text(attributes.plan), currency: text(attributes.currency), price },
        monthly: price === null || !months ? null : Math.ceil(price / months),
        next_due_date: dayIn(attributes.next_due_date),
      };
      services.push(service);
      if (phase !== undefined) listed += 1;
      const isSuspended = phase === "suspended";
      if (phase !== undefined && phase !== "pending")
        billed.push({ service, isSuspended, months, today: dayOf(nowOf(provider)) });
    } else if (words.access === undefined) {
      const bills = paid.get(`${provider} ${attributes.id}`) ?? [];
      const created = state.resources.get(address ?? "")?.private.created;
      const ordered = dayIn(created ?? bills.map(({ paid_at }) => paid_at).sort()[0]);
      // The first invoice is for the order, each further paid invoice for a renewal.
      const months = 12 * Number(attributes.years ?? 0) * Math.max(1, bills.length);
      const isKnown = attributes.secret != null || attributes.secret_fingerprint != null;
      objects.push({
        ...base,
        registered_until: ordered !== null && months > 0 ? monthsAfter(ordered, months) : null,
        secret: words.receiver === undefined ? null : isKnown ? "known" : "unknown",
      });
    } else if (attributes.id != null && !isEnded) {
      const service_id = text(attributes[words.parent?.attribute ?? ""]);
      const email = text(attributes[words.access.person]) ?? "";
      const end = readMoment(attributes.expires_at ?? null);
      const parent = owners.get(`${provider} ${service_id}`);
      grants.push({
        ...(address === null && parent ? { ...parent, address } : about),
        site: about.site ?? parent?.site ?? null,
        ...{ type, service_id, email: shownName(email), permission: text(attributes[words.access.permission]) },
        expires_at: text(attributes.expires_at),
        expires_soon: "at" in end && end.at - nowOf(provider) <= SOON_MS,
        is_declared: run.all.has(`${address}`),
        is_outside: policy.isOutside(email),
      });
    }
  }
  const byAddress = new Map(entries.map(({ about }) => [about.address, about]));
  const [main = "default"] = lists.keys();
  const aboutOf = (address: string) =>
    byAddress.get(address) ?? { provider: main, client: null, address: address || null, site: null };
  const whys = [...lists].flatMap(([alias, { why }]) => (why === undefined ? [] : `account ${alias}: ${why}`));
  const unread = [...lists].flatMap(([provider, one]) => one.unread.map((list) => ({ provider, ...list })));
  const attention = attentionOf(run).map((one) => ({ ...aboutOf(one.address), ...one, since: one.since ?? null }));
  const declared = entries.filter(({ sync }) => sync !== "undeclared");
  const count = (state: ServiceState) => services.filter((one) => one.state === state).length;
  // A full status reads the access to each service.
  const shared = [...services.map((one) => ({ ...one, service_id: one.id })), ...grants];
  const forecasts = [...lists].map(([alias, { sent, budget }]) => {
    const more = new Set(shared.flatMap((one) => (one.provider === alias ? (one.service_id ?? []) : [])));
    const requests = full ? sent : sent + more.size;
    return { requests, seconds: secondsToSend(requests, budget) };
  });
  return {
    format_version: "1.0",
    project: plan.project,
    // Use the host's time, because dates in the account are compared with it.
    timestamp: new Date(Math.max(...[...lists.values()].map(({ now }) => now))).toISOString(),
    accounts: declaredPlaces(project.source, desired)
      .filter(({ provider }) => lists.has(provider))
      .map(({ provider, name, host }) => ({ provider, name, host, scale: providers.moneyScale("", provider) ?? null })),
    overview: {
      declared: Math.max(declared.length, isPart || only !== undefined ? 0 : desired.resources.length),
      synced: declared.filter(({ sync }) => sync === "synced" || sync === "not_read").length,
      services: listed,
      states: Object.fromEntries(SERVICE_STATES.map((state) => [state, count(state)])) as Record<ServiceState, number>,
      offline_since: null,
      unpaid: unpaidOf(invoices),
      pending: plan.pending.length,
    },
    ...{ attention, services, objects, unread },
    money: { unread: whys.join("; ") || null, ...sumsOf(billed, invoices), invoices },
    access: {
      as_of: (plan.notRead ?? []).map(({ last_read }) => last_read ?? "").sort()[0] || null,
      is_complete: full && !unread.some(({ what }) => what === nestedKind.section),
      grants,
    },
    drift: plan.changes.flatMap(({ address, reasons, sensitive, before, after, actions, config }) =>
      reasons.flatMap(({ why, attribute }) => {
        if (why !== "drift" || attribute === undefined) return [];
        const valueIn = (side: JsonObject | null) => shown(side ?? {}, sensitive)[attribute] ?? null;
        // A value that the API cannot change stays as it is in the plan.
        const declared = valueIn(actions[0] === "no-op" ? { ...after, ...config } : after);
        return [{ ...aboutOf(address), attribute, declared, live: valueIn(before), since: null }];
      }),
    ),
    changes: (isPart || only !== undefined ? [] : past.slice(-MOST_CHANGES)).toReversed().map((one) => ({
      at: one.at,
      who: one.details?.who ?? null,
      command: one.command,
      effects: (one.details?.effects ?? []).map((effect) => effect.text),
    })),
    holds: [...holding(plan)],
    requests: {
      sent: providers.requests,
      full: forecasts.reduce((sum, { requests }) => sum + requests, 0),
      full_seconds: Math.max(0, ...forecasts.map(({ seconds }) => seconds)),
    },
  };
}

/** Returns the errors of the plan, pending create requests, and conditions. */
function attentionOf({ plan: { diagnostics, pending, conditions = [] }, state }: Run) {
  const isPending = (address = "") => pending.includes(address);
  const found = diagnostics.filter((one) => isError(one) || isPending(one.address));
  const rest = pending.filter((address) => !found.some((one) => one.address === address));
  const unknown = rest.map((address) => ({ address, summary: codes["plan.pending"], remedies: [{ do: "resolve" }] }));
  const all = [...unknown, ...found].map((one) => ({
    ...one,
    ...{ condition: isPending(one.address) ? "pending" : "error", address: one.address ?? "" },
    since: state.resources.get(one.address ?? "")?.private.pending?.since,
  }));
  return [...all, ...conditions].map((one) => conditionJson(one as Condition, yamlRemedies));
}
