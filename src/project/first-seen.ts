// Times of the first status with each condition and difference, in the account's store.
import { CONDITION_NAMES, type Plan, type State } from "../core/model/index.ts";
import type { AccountReport } from "../report/index.ts";
import type { Providers } from "./providers.ts";

interface Planned {
  readonly plan: Plan;
  readonly providers: Providers;
}

const listOf = ({ lineage }: Pick<State, "lineage">) => `seen ${lineage}`;

/** Returns the condition and the address in the name of a note. An address may contain spaces. */
function causeIn(name: string) {
  const at = name.indexOf(" ");
  return { condition: name.slice(0, at), address: name.slice(at + 1) };
}

/** Lifetime of the first time of a condition, in milliseconds. */
const KEPT_MS = 400 * 24 * 3_600_000;

/**
 * Adds the time of the first status with each condition and difference. The file of the account's store keeps these times. Without
 * this file, only the times in the state are known.
 * @param isWhole false: the report contains only a part of the account, so the times of the rest stay.
 */
export async function withFirstSeen(
  { providers, plan }: Planned,
  report: AccountReport,
  isWhole: boolean,
): Promise<AccountReport> {
  const list = listOf(plan);
  const [store] = providers.stores(report.accounts.map(({ provider }) => provider)).values();
  const isKept = store?.file !== undefined && plan.lineage !== "";
  const known = isKept ? await store.notes(list).catch(() => []) : [];
  const times = new Map(known.map(({ name, value }) => [name, String(value)]));
  const current = new Map<string, string>();
  const seen = <One extends { since: string | null; address: string | null }>(one: One, what: string): One => {
    const name = `${what} ${one.address}`;
    // A status or an apply was first.
    const [since = isKept ? report.timestamp : null] = [one.since ?? [], times.get(name) ?? []].flat().sort();
    if (since !== null) current.set(name, since);
    return { ...one, since };
  };
  const attention = report.attention.map((one) => seen(one, one.condition));
  const drift = report.drift.map((one) => seen(one, `drift ${one.attribute}`));
  const fresh = [...current].flatMap(([name, value]) => (times.has(name) ? [] : { list, name, value }));
  const ended = known.filter(({ name }) => isWhole && !current.has(name));
  if (isKept && fresh.length > 0) await store.note(fresh, { keptMs: KEPT_MS, isDurable: false }).catch(() => {});
  if (isKept && ended.length > 0) await store.forget(ended).catch(() => {});
  const [offline_since = null] = attention
    .flatMap((one) => (one.condition === "offline" ? (one.since ?? []) : []))
    .sort();
  return { ...report, attention, drift, overview: { ...report.overview, offline_since } };
}

/** Adds the first time of suspensions that only a status has recorded, so that no condition of the plan names a younger invoice. */
export async function withFirstSuspensions(state: State, providers: Providers): Promise<State> {
  const resources = new Map(state.resources);
  for (const { store } of providers.servers())
    for (const { name, value } of await store.notes(listOf(state)).catch(() => [])) {
      const { condition, address } = causeIn(name);
      const one = resources.get(address);
      if (condition !== "offline" || one === undefined) continue;
      resources.set(address, { ...one, private: { suspended: { since: String(value) }, ...one.private } });
    }
  return { ...state, resources };
}

/** Forgets the conditions whose end this plan shows, so that a later condition has its own time. */
export async function forgetEnded({ providers, plan }: Planned): Promise<void> {
  const { changes, conditions = [], unread = [], notRead = [], lineage } = plan;
  if (lineage === "") return;
  const read = new Set(changes.map(({ address }) => address));
  for (const address of [...unread, ...notRead.map((one) => one.address)]) read.delete(address);
  const current = new Set(conditions.map(({ condition, address }) => `${condition} ${address}`));
  const isEnded = (name: string) => {
    const { condition, address } = causeIn(name);
    return CONDITION_NAMES.some((one) => one === condition) && read.has(address) && !current.has(name);
  };
  for (const { store } of providers.servers()) {
    const known = await store.notes(listOf(plan)).catch(() => []);
    const ended = known.filter(({ name }) => isEnded(name));
    if (ended.length > 0) await store.forget(ended).catch(() => {});
  }
}
