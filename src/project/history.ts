/** The history of a state, and the orders of the month. */
import { hash, randomUUID } from "node:crypto";
import type { InvoiceRecord } from "../core/api/index.ts";
import { amountsOf, checkMonth, type Limits, type MonthBudget, ordersOf } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import type { AccountStore } from "../core/local/index.ts";
import { problem } from "../core/messages/index.ts";
import {
  type ApplyResult,
  counted,
  type Desired,
  type Diagnostic,
  effectsOf,
  type HistoryDetails,
  type HistoryEntry,
  type HistoryOrder,
  HostformError,
  idOf,
  isError,
  mergedOrders,
  messageOf,
  ordersIn,
  type PastOrder,
  type Plan,
  readMoment,
} from "../core/model/index.ts";
import { authorOf } from "../core/policy/index.ts";
import { type OpenState, thisProcess } from "../core/record/index.ts";
import { headOf } from "./base.ts";
import type { Interrupts } from "./interrupt.ts";
import type { Provider, Providers } from "./providers.ts";
import type { ProjectParts } from "./source.ts";

/** Parts of a run that the history needs. */
interface Acting {
  readonly project: ProjectParts;
  readonly command: string;
  readonly plan: Plan;
  readonly desired: Pick<Desired, "providers">;
  readonly store: Pick<OpenState, "state" | "history">;
  readonly providers: Providers;
  readonly interrupts: Interrupts;
  readonly limits: Limits;
}

/** Lifetime of a reservation in the store, in milliseconds: longer than a month. */
const KEPT_MS = 40 * 86_400_000;

/** Returns the name of an order in the history and in reservations, the same for all attempts. */
export const orderKey = (place: string, { address, generation = 1 }: { address: string; generation?: number }) =>
  hash("sha256", JSON.stringify([place, address, generation])).slice(0, 16);

/** Returns the beginning of a month (UTC), in milliseconds since the epoch. */
const monthOf = (ms: number) => Date.parse(`${new Date(ms).toISOString().slice(0, 7)}-01`);

/** Converts a failure of the history to diagnostics. @param severity `warning` after the apply. */
function failureOf(place: string, error: unknown, severity: Diagnostic["severity"]): readonly Diagnostic[] {
  if (error instanceof HostformError && severity === "error") return error.diagnostics;
  return [problem("state.history", { place, reason: messageOf(error), severity })];
}

/**
 * Adds the orders of this month to the limits of a run, and checks the plan. Does nothing without a monthly or daily limit,
 * or without orders.
 * @param isApplied True to check that the history can be written.
 */
export async function budgetOf(
  { plan, desired, store: { history }, providers, interrupts, limits, project }: Omit<Acting, "command">,
  isApplied: boolean,
): Promise<{ readonly limits: Limits; readonly diagnostics: readonly Diagnostic[] }> {
  const orders = ordersOf(plan.changes, kinds);
  const of = (...diagnostics: readonly Diagnostic[]) => ({ limits, diagnostics });
  if (limits.maxSpendMonth === undefined && limits.maxOrdersDay === undefined) return of();
  if (history === undefined) return of(problem("state.history/place", {}));
  const { name: place } = history;
  const { clock } = project.host;
  const now = new Date(clock.now());
  const keyOf: MonthBudget["keyOf"] = (order) => orderKey(place, order);
  if (isApplied) await nameFound(plan, providers, keyOf, clock.now());
  if (orders.length === 0) return of();
  const month = monthOf(clock.now());
  const aliases = [...new Set(orders.map(({ provider }) => provider))];
  const past: PastOrder[] = [];
  let reservations: Reservation[] = [];
  let written = Promise.resolve();
  const reserved = async () => {
    await written;
    const found = aliases.map(async (alias) => {
      const { store } = providers.get(alias).account;
      return ((await store?.notes(listIn(store, clock.now()))) ?? []).map(({ name, value }) => {
        const one = value as unknown as Reservation;
        return { ...one, id: name === one.key ? null : `${alias} ${name}` };
      });
    });
    return (await Promise.all(found)).flat();
  };
  let source = "Sources: history, invoices and reservations.";
  try {
    const { entries, broken } = await history.read();
    if (broken !== undefined) return of(problem("state.history/broken", { place, line: broken, severity: "error" }));
    if (isApplied) await history.prove();
    past.push(...ordersIn(entries).filter(({ at }) => at >= month));
    reservations = await reserved();
  } catch (error) {
    return of(...failureOf(place, error, "error"));
  }
  for (const alias of aliases) {
    const found = await orderedIn(providers.get(alias), month);
    if (typeof found === "string") source = `Sources: history and reservations. ${found}.`;
    else past.push(...found);
  }
  const others = reservations.filter((one) => one.place !== place).length;
  if (others > 0) source += ` ${counted(others, "order")} of this month by this token in other projects.`;
  const reserve: MonthBudget["reserve"] = async (order, check) => {
    const { store } = providers.get(order.provider).account;
    if (store === undefined) throw new Error("an order without a store");
    const { currency, most: amount, type } = order;
    const key = keyOf(order);
    const list = listIn(store, clock.now());
    const put = (name: string, one: Omit<PastOrder, "key" | "id">) =>
      store.note([{ list, name, value: { ...one, key, place } }], { keptMs: KEPT_MS });
    return store.withTurn({ project: plan.project, place: "", signal: interrupts.stop }, async () => {
      const now = await reserved();
      check(mergedOrders([...past, ...now]));
      const earlier = now.find((one) => one.key === key && one.id === null);
      await put(key, { at: clock.now(), currency, amount });
      return (end) => {
        const name = end?.id ? `${type} ${end.id}` : key;
        const kept = end
          ? { at: clock.now(), amount: end.amount ?? amount, currency: end.currency ?? currency }
          : earlier;
        const settle = async () => {
          if (kept) await put(name, kept);
          if (!kept || name !== key) await store.forget([{ list, name: key }]);
        };
        // If the write fails, the reserved amount stays.
        written = written.then(settle).catch(() => {});
      };
    });
  };
  const budget = {
    past: mergedOrders([...past, ...reservations]),
    source,
    day: new Date(now).setUTCHours(0, 0, 0, 0),
    keyOf,
    reserve,
  };
  const all = { ...limits, budget };
  return { limits: all, diagnostics: checkMonth(orders, all, budget.past, amountsOf(orders, desired.providers)) };
}

/** Returns the invoice with the earliest due date. */
export const firstInvoice = (invoices: readonly InvoiceRecord[]): InvoiceRecord | undefined =>
  invoices.toSorted((a, b) => ((a.due_date ?? "~") < (b.due_date ?? "~") ? -1 : 1))[0];

/** A reservation, and the history of its project. */
type Reservation = PastOrder & { readonly place: string };

/** Returns the name of the list of reservations for a month. */
const listIn = ({ account }: AccountStore, now: number) =>
  `orders ${account} ${new Date(now).toISOString().slice(0, 7)}`;

/** Renames the reservation of a lost response if the plan found its object. */
async function nameFound({ changes }: Plan, providers: Providers, keyOf: MonthBudget["keyOf"], now: number) {
  for (const { address, type, provider, importing, private: mark } of changes) {
    const { store } = importing ? providers.get(provider).account : {};
    if (store === undefined) continue;
    const list = listIn(store, now);
    const name = keyOf({ address, generation: 1, ...mark });
    const [note] = await store.notes(list, name).catch(() => []);
    if (note === undefined) continue;
    await store.note([{ ...note, name: `${type} ${importing?.id}` }], { keptMs: KEPT_MS }).catch(() => {});
    await store.forget([{ list, name }]).catch(() => {});
  }
}

/** Returns the services that were ordered since a time, as orders. A string: reason why invoices could not be read. */
async function orderedIn({ alias, account }: Provider, since: number): Promise<PastOrder[] | string> {
  try {
    const kind = kinds.get("hosting_service");
    const listed = kind === undefined ? [] : [...(await account.list(kind)).values()];
    const made = listed.flatMap(({ id, attributes }) => {
      const moment = readMoment(attributes.created_at);
      return "at" in moment && moment.at >= since ? [{ id, at: moment.at }] : [];
    });
    const { invoices, why } = await account.invoices.of(made.map(({ id }) => id));
    if (why !== undefined) return why;
    return made.flatMap(({ id: service, at }) => {
      const first = firstInvoice(invoices.get(service) ?? []);
      const id = idOf(alias, "hosting_service", service);
      return first === undefined ? [] : [{ key: id, id, at, currency: first.currency, amount: first.total }];
    });
  } catch (error) {
    if (error instanceof HostformError) return error.message;
    throw error;
  }
}

/** An entry without the parts that {@link remember} adds. */
type Remembered = Omit<HistoryEntry, "at" | "commit" | "details"> & Pick<HistoryDetails, "effects">;

/** Returns the history entry of an apply. */
export function entryOf({ plan, command, store, project }: Acting, result: ApplyResult): Remembered {
  const outcomes = new Map(result.outcomes.map((outcome) => [outcome.address, outcome]));
  const keyOf = (order: Parameters<typeof orderKey>[1]) => orderKey(store.history?.name ?? "", order);
  const all = ordersOf(plan.changes, kinds);
  const effects = effectsOf(plan).flatMap(({ address, domain, kind, sentence }) => {
    const { result: end = kind === "recorded" ? "done" : "not-started" } = outcomes.get(address) ?? {};
    if (end === "not-started" || end === "skipped") return [];
    const order = all.find((one) => one.address === address);
    const text = end === "done" ? sentence : `${end}: ${sentence}`;
    return [{ address, text, ...(domain !== null && { domain }), ...(order && { order: keyOf(order) }) }];
  });
  const orders = all.flatMap((order) => {
    const { address, provider, type, currency, most: quote } = order;
    const { result: end, unknown, invoice } = outcomes.get(address) ?? {};
    if (end !== "done" && !unknown && invoice === undefined && !result.pending.includes(address)) return [];
    const id = store.state.resources.get(address)?.attributes.id;
    const { id: of = null, number = null, total = null, currency: word = null } = invoice ?? {};
    const billed = invoice ? { id: of, number, total, currency: word } : null;
    const known = typeof id === "string" ? id : null;
    return [{ key: keyOf(order), id: known, provider, type, currency, quote, invoice: billed }];
  });
  const found = [...result.outcomes.flatMap(({ diagnostics }) => diagnostics), ...result.diagnostics];
  const errors = found.filter(isError).map(({ code }) => code);
  const digest = hash("sha256", JSON.stringify(project.redaction.redactValue(plan.changes)));
  return { command, plan: digest, orders, requests: result.requests, errors, effects };
}

/** Adds an entry to the history. @returns a warning if this fails. */
export async function remember(
  { source, host, redaction }: ProjectParts,
  open: Partial<Pick<OpenState, "history" | "proveLock">>,
  { effects, ...entry }: Remembered,
): Promise<readonly Diagnostic[]> {
  const { history } = open;
  if (history === undefined) return [];
  const { env } = source;
  try {
    await open.proveLock?.();
    const { commit = null, author } = await headOf(host, source);
    const { GITHUB_RUN_ID: github, GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env;
    const run = env.CI_JOB_URL ?? env.BUILD_URL ?? (github ? `${server}/${repository}/actions/runs/${github}` : null);
    const who = authorOf(env) ?? author ?? thisProcess().user;
    const details = { salt: randomUUID(), who, run, effects };
    const at = new Date(host.clock.now()).toISOString();
    await history.append(redaction.redactValue({ at, commit, ...entry, details }) as HistoryEntry);
    return [];
  } catch (error) {
    return failureOf(history.name, error, "warning");
  }
}

/** Returns the entries of a history. Warns if it is unreadable or a digest is wrong. Empty if it is unreadable. */
export async function entriesIn(
  { log }: Pick<ProjectParts, "log">,
  history: OpenState["history"],
): Promise<readonly HistoryEntry[]> {
  if (history === undefined) return [];
  const { name: place } = history;
  try {
    const { entries, broken } = await history.read();
    if (broken === undefined) return entries;
    log.warn(problem("state.history/broken", { place, line: broken, severity: "warning" }));
  } catch (error) {
    log.warn(...failureOf(place, error, "warning"));
  }
  return [];
}

/**
 * Returns the orders by `PROVIDER ID`, with their quotes. An order that `resolve` settled has the quote of its first attempt.
 */
export function quotesIn(entries: readonly HistoryEntry[]): ReadonlyMap<string, HistoryOrder> {
  const orders = entries.flatMap((entry) => entry.orders);
  const quotes = new Map(orders.flatMap(({ key, quote }) => (quote === null ? [] : [[key, quote] as const])));
  return new Map(
    orders.flatMap((order) => {
      const { key, id, provider, quote } = order;
      return id === null ? [] : [[`${provider} ${id}`, { ...order, quote: quote ?? quotes.get(key) ?? null }] as const];
    }),
  );
}

/**
 * Returns the cost of this month's orders (UTC), by currency, in the API's own unit. Each order counts with its invoice, or
 * else its quote. 0 for a currency that only earlier months have.
 */
export function spendOf(entries: readonly HistoryEntry[], now: number): ReadonlyMap<string, number> {
  const orders = ordersIn(entries);
  const sums = new Map<string, number>(orders.flatMap(({ currency }) => (currency === null ? [] : [[currency, 0]])));
  for (const { currency, amount } of mergedOrders(orders.filter(({ at }) => at >= monthOf(now))))
    if (currency !== null) sums.set(currency, (sums.get(currency) ?? 0) + (amount ?? 0));
  return sums;
}
