/** Prints and prunes the history of a state. */
import { problem, raise } from "../core/messages/index.ts";
import { type HistoryEntry, nearest, resourceOf } from "../core/model/index.ts";
import { plural, renderHistory } from "../report/index.ts";
import { raise as raiseUsage } from "./messages.ts";
import { type Action, printJson, say } from "./terminal.ts";

/**
 * Runs `hostform history [ADDRESS]`. Takes no lock and sends no request. Returns 1 if the history was changed (a digest is
 * wrong).
 */
export const runHistory: Action<object, [target?: string]> = async (terminal, project, _, target) => {
  const { entries, broken, name } = (await project.state.history()) ?? raise("state.history/place", {});
  const chosen = target === undefined ? entries : about(target, entries);
  if (target !== undefined && chosen.length === 0) {
    const { resources } = await project.state.read(false);
    const names = [...resources.values()].flatMap(({ address, attributes }) => [address, `${attributes.domain}`]);
    if (!names.includes(target)) raise("plan.address", { target, near: nearest(target, names) });
  }
  if (terminal.json) printJson(terminal, "history", chosen);
  else terminal.out(renderHistory(chosen, await project.declaration.moneyScale()));
  if (broken === undefined) return 0;
  project.log.warn(problem("state.history/broken", { place: name, line: broken, severity: "error" }));
  return 1;
};

/** Returns the entries about an address or a domain, reduced to its effects and orders. */
function about(target: string, entries: readonly HistoryEntry[]): HistoryEntry[] {
  return entries.flatMap((entry) => {
    const { details, orders } = entry;
    const effects = (details?.effects ?? []).filter(({ address, domain }) =>
      [address, resourceOf(address), domain].includes(target),
    );
    if (details === null || effects.length === 0) return [];
    const keys = new Set(effects.map(({ order }) => order));
    return [{ ...entry, orders: orders.filter(({ key }) => keys.has(key)), details: { ...details, effects } }];
  });
}

/** Runs `hostform history prune`: removes names and effects from old entries. Orders and sums stay. */
export const runHistoryPrune: Action<{ readonly before: number }> = async (terminal, project, { before }) => {
  const value = new Date(before).toISOString().slice(0, 10);
  if (before > project.host.clock.now())
    raiseUsage("usage/value", {
      command: "history prune",
      place: "--before",
      value,
      reason: "Pass a day that has begun.",
    });
  const count = await project.state.write("history prune", async ({ history }) =>
    (history ?? raise("state.history/place", {})).prune(before),
  );
  const entries = plural(count, "entry", "entries");
  if (terminal.json) printJson(terminal, "history prune", { pruned: count });
  say(terminal, `Removed people, effects and CI runs from ${entries} before ${value}. Orders and sums stay.`);
  return 0;
};
