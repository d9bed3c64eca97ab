/** Shows and prunes the history of a state. */
import { problem, raise } from "../core/messages/index.ts";
import { resourceOf } from "../core/model/index.ts";
import { plural, renderHistory } from "../report/index.ts";
import { type Action, printJson, say } from "./terminal.ts";

/** Runs `hostform history [ADDRESS]`. Takes no lock and sends no request. Exit code 1 for a broken chain. */
export const runHistory: Action<object, [address?: string]> = async (terminal, project, _, address) => {
  const { entries, broken, name } = (await project.state.history()) ?? raise("state.history/place", {});
  const isNamed = (one: string) => address === undefined || one === address || resourceOf(one) === address;
  const chosen = entries.filter(
    (one) => address === undefined || one.details?.effects.some((of) => isNamed(of.address)),
  );
  if (terminal.json) printJson(terminal, chosen);
  else terminal.out(renderHistory(chosen, await project.declaration.moneyScale()));
  if (broken === undefined) return 0;
  project.log.alert(problem("state.history/broken", { place: name, line: broken, severity: "error" }));
  return 1;
};

/** Runs `hostform history prune`: removes names and effects of old entries. Orders and sums stay. */
export const runHistoryPrune: Action<{ readonly before: number }> = async (terminal, project, { before }) => {
  const count = await project.state.write("history prune", async ({ history }) =>
    (history ?? raise("state.history/place", {})).prune(before),
  );
  say(terminal, `Removed people, effects and CI runs from ${plural(count, "entry", "entries")}. Orders and sums stay.`);
  return 0;
};
