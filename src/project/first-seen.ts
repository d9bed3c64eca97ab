// Stores when a status first reported each condition and difference.
import { CONDITION_NAMES } from "../core/model/index.ts";
import type { AccountReport } from "../report/index.ts";
import type { Run } from "./plan.ts";

const listOf = ({ lineage }: Run["plan"]) => `seen ${lineage}`;

/** How long a time is stored, in milliseconds. */
const KEPT_MS = 400 * 24 * 3_600_000;

/**
 * Adds the time when a status first reported each condition and difference. The times are in the store of the account.
 * Without a store, only the times in the state are known.
 * @param isWhole False if the report covers only a part of the account. The times of the rest then stay.
 */
export async function withFirstSeen(
  { providers, plan }: Run,
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

/** Removes the times of conditions that this plan proves to have ended. */
export async function forgetEnded({ providers, plan }: Run): Promise<void> {
  const { changes, conditions = [], unread = [], notRead = [], lineage } = plan;
  if (lineage === "") return;
  const read = new Set(changes.map(({ address }) => address));
  for (const address of [...unread, ...notRead.map((one) => one.address)]) read.delete(address);
  const current = new Set(conditions.map(({ condition, address }) => `${condition} ${address}`));
  const isEnded = (name: string) => {
    const [condition, address = ""] = name.split(" ", 2);
    return CONDITION_NAMES.some((one) => one === condition) && read.has(address) && !current.has(name);
  };
  for (const { store } of providers.servers()) {
    const known = await store.notes(listOf(plan)).catch(() => []);
    const ended = known.filter(({ name }) => isEnded(name));
    if (ended.length > 0) await store.forget(ended).catch(() => {});
  }
}
