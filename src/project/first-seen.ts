// Stores when a status first reported each condition and difference.
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

/** Lifetime of a time in the store, in milliseconds. */
const KEPT_MS = 400 * 24 * 3_600_000;

/**
 * Adds the time when a status first reported each condition and difference. The times are in the store of the account.
 * Without a store, only the times in the state are known.
 * @param isWhole False if the report covers only a part of the account. The times of the rest then stay.
 */
export async function withFirstSeen(
  { providers, plan }: Planned,
  report: AccountReport,
  isWhole: boolean,
): Promise<AccountReport> {
  const list = listOf(plan);
  const servers = plan.lineage === "" ? [] : providers.servers().filter(({ store }) => store.file !== undefined);
  const kept = await Promise.all(
    servers.map(async (server) => ({ ...server, known: await server.store.notes(list).catch(() => []) })),
  );
  const times = new Map(kept.flatMap(({ known }) => known.map(({ name, value }) => [name, String(value)])));
  const current = new Map<string, { readonly since: string; readonly provider: string }>();
  type Seen = { since: string | null; address: string | null; provider: string };
  const seen = <One extends Seen>(one: One, what: string): One => {
    const name = `${what} ${one.address}`;
    // A status or an apply was first.
    const [since = kept.length > 0 ? report.timestamp : null] = [one.since ?? [], times.get(name) ?? []].flat().sort();
    if (since !== null) current.set(name, { since, provider: one.provider });
    return { ...one, since };
  };
  const attention = report.attention.map((one) => seen(one, one.condition));
  const drift = report.drift.map((one) => seen(one, `drift ${one.attribute}`));
  for (const { store, aliases, known } of kept) {
    const fresh = [...current].flatMap(([name, { since: value, provider }]) =>
      aliases.has(provider) && !times.has(name) ? { list, name, value } : [],
    );
    const ended = known.filter(({ name }) => isWhole && !current.has(name));
    if (fresh.length > 0) await store.note(fresh, { keptMs: KEPT_MS, isDurable: false }).catch(() => {});
    if (ended.length > 0) await store.forget(ended).catch(() => {});
  }
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

/** Removes the times of conditions that this plan proves to have ended. */
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
