/** History of a project's state, and the orders of its month. */
import { hash, randomUUID } from "node:crypto";
import { amountsOf, checkMonth, type Limits, type MonthBudget, mergedOrders, ordersOf } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import type { AccountStore } from "../core/local/index.ts";
import { problem } from "../core/messages/index.ts";
import {
  type ApplyResult,
  type Desired,
  type Diagnostic,
  effectsOf,
  type HistoryDetails,
  type HistoryEntry,
  HostformError,
  isError,
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

/** Parts of a run that its history needs. */
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

/** Lifetime of a reservation, in milliseconds: longer than a month. */
const KEPT_MS = 40 * 86_400_000;

/** Returns the name of an order in the history of a state and in the reservations, equal for each attempt. */
export const orderKey = (place: string, { address, generation = 1 }: { address: string; generation?: number }) =>
  hash("sha256", JSON.stringify([place, address, generation])).slice(0, 16);

/** A failure of the history. @param severity `warning` after the apply. */
function failureOf(place: string, error: unknown, severity: Diagnostic["severity"]): readonly Diagnostic[] {
  if (error instanceof HostformError && severity === "error") return error.diagnostics;
  return [problem("state.history", { place, reason: messageOf(error), severity })];
}

/**
 * Adds the orders of this month to the limits of a run, and checks its plan against them. Reads nothing without such a limit or
 * without orders.
 * @param isApplied proves that the history can be written.
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
  const reservations = ({ account }: AccountStore) => `orders ${account} ${now.toISOString().slice(0, 7)}`;
  if (isApplied) await nameFound(plan, providers, keyOf, reservations);
  if (orders.length === 0) return of();
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const past: PastOrder[] = [];
  try {
    const { entries, broken } = await history.read();
    if (broken !== undefined) return of(problem("state.history/broken", { place, line: broken, severity: "error" }));
    if (isApplied) await history.prove();
    past.push(...ordersIn(entries).filter(({ at }) => at >= month));
  } catch (error) {
    return of(...failureOf(place, error, "error"));
  }
  let source = "Sources: history and invoices.";
  for (const alias of new Set(orders.map(({ provider }) => provider))) {
    const found = await orderedIn(providers.get(alias), month);
    if (typeof found === "string") source = `Source: the history alone. ${found}.`;
    else past.push(...found);
  }
  const reserve: MonthBudget["reserve"] = async (order, check) => {
    const { store } = providers.get(order.provider).account;
    const { currency, most, provider } = order;
    if (store === undefined) throw new Error("an order without a store");
    const list = reservations(store);
    const name = keyOf(order);
    const put = (value: Omit<PastOrder, "key">) =>
      store.note([{ list, name, value: { ...value } }], { keptMs: KEPT_MS });
    return store.withTurn({ project: plan.project, place: "", signal: interrupts.stop }, async () => {
      const reserved = (await store.notes(list)).map(
        ({ name: key, value }) => ({ ...(value as object), key }) as PastOrder,
      );
      check(mergedOrders([...past, ...reserved]));
      const at = clock.now();
      await put({ at, currency, amount: most, id: null });
      return (end) => {
        const earlier = reserved.find(({ key }) => key === name);
        const id = end?.id ? `${provider} ${end.id}` : null;
        const kept = end ? { at, id, amount: end.amount ?? most, currency: end.currency ?? currency } : earlier;
        // A failed write leaves the reserved amount.
        void (kept ? put(kept) : store.forget([{ list, name }])).catch(() => {});
      };
    });
  };
  const budget = { past: mergedOrders(past), source, day: new Date(now).setUTCHours(0, 0, 0, 0), keyOf, reserve };
  const all = { ...limits, budget };
  return { limits: all, diagnostics: checkMonth(orders, all, budget.past, amountsOf(orders, desired.providers)) };
}

/** Adds the id to the reservation of each order whose response was lost and whose object the plan found. */
async function nameFound(
  { changes }: Plan,
  providers: Providers,
  keyOf: MonthBudget["keyOf"],
  listOf: (store: AccountStore) => string,
): Promise<void> {
  for (const { address, provider, importing, private: mark } of changes) {
    const { store } = importing ? providers.get(provider).account : {};
    if (store === undefined) continue;
    const [note] = await store.notes(listOf(store), keyOf({ address, generation: 1, ...mark })).catch(() => []);
    const value = { ...(note?.value as object), id: `${provider} ${importing?.id}` };
    if (note) await store.note([{ ...note, value }], { keptMs: KEPT_MS }).catch(() => {});
  }
}

/** Returns the orders of the services that the account shows since a time. A string is the reason why it shows no invoices. */
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
    return made.flatMap(({ id, at }) => {
      const first = invoices.get(id)?.toSorted((a, b) => ((a.due_date ?? "~") < (b.due_date ?? "~") ? -1 : 1))[0];
      const name = `${alias} ${id}`;
      return first === undefined ? [] : [{ key: name, id: name, at, currency: first.currency, amount: first.total }];
    });
  } catch (error) {
    if (error instanceof HostformError) return error.message;
    throw error;
  }
}

/** An entry without the parts that {@link remember} adds. */
type Remembered = Omit<HistoryEntry, "at" | "commit" | "details"> & Pick<HistoryDetails, "effects">;

/** Returns the entry of an apply. */
export function entryOf({ plan, command, store, project }: Acting, result: ApplyResult): Remembered {
  const outcomes = new Map(result.outcomes.map((outcome) => [outcome.address, outcome]));
  const effects = effectsOf(plan).flatMap(({ address, sentence }) => {
    const { result: end = "not-started" } = outcomes.get(address) ?? {};
    if (end === "not-started" || end === "skipped") return [];
    return [{ address, text: end === "done" ? sentence : `${end}: ${sentence}` }];
  });
  const orders = ordersOf(plan.changes, kinds).flatMap((order) => {
    const { address, provider, currency, most: quote } = order;
    const { result: end, unknown, invoice } = outcomes.get(address) ?? {};
    if (end !== "done" && !unknown && invoice === undefined && !result.pending.includes(address)) return [];
    const id = store.state.resources.get(address)?.attributes.id;
    const { id: of = null, number = null, total = null, currency: word = null } = invoice ?? {};
    const key = orderKey(store.history?.name ?? "", order);
    const billed = invoice ? { id: of, number, total, currency: word } : null;
    return [{ key, id: typeof id === "string" ? id : null, provider, currency, quote, invoice: billed }];
  });
  const found = [...result.outcomes.flatMap(({ diagnostics }) => diagnostics), ...result.diagnostics];
  const errors = found.filter(isError).map(({ code }) => code);
  const digest = hash("sha256", JSON.stringify(project.redaction.redactValue(plan.changes)));
  return { command, plan: digest, orders, requests: result.requests, errors, effects };
}

/** Appends an entry to the history of an open state. @returns a warning if this fails. */
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

/** Returns the listed price of each order by `PROVIDER ID`, beside its invoice. */
export const quotesIn = (entries: readonly HistoryEntry[]) =>
  new Map(entries.flatMap(({ orders }) => orders.map((order) => [`${order.provider} ${order.id}`, order] as const)));
