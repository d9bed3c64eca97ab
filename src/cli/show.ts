/** Runs `show`: prints a saved plan or the state. Sends no request and takes no lock. */

import { type Origin, savedScale } from "../project/plan-origin.ts";
import { readSavedPlan, wordsOfType } from "../project/saved-plan.ts";
import { secretNames } from "../project/secrets.ts";
import {
  escapeLine,
  recordedConditions,
  renderListing,
  renderRecordedHtml,
  renderRecordedMarkdown,
  stateJson,
} from "../report/index.ts";
import { formatOf, namesOf, type PlanFormat, printPlan } from "./plan-reports.ts";
import { stateRows } from "./state.ts";
import { type Action, printJson } from "./terminal.ts";

/** Text about the origin of a saved plan, for the comparison with a commit and with later runs. */
function originText(timestamp: string, { serial, commit, sequence = {} }: Origin): string {
  const from = commit === undefined ? "" : ` from commit ${commit.slice(0, 12)}`;
  const counts = Object.entries(sequence).map(([alias, count]) => (alias === "default" ? count : `${alias} ${count}`));
  const store = counts.length === 0 ? "" : `, account store at sequence ${counts.join(", ")}`;
  return `Planned at ${timestamp}${from}, with serial ${serial} of the state${store}.`;
}

interface ShowFlags {
  readonly format?: PlanFormat;
}

export const runShow: Action<ShowFlags, [file?: string]> = async (terminal, project, flags, file) => {
  const format = formatOf(terminal, flags);
  if (file !== undefined) {
    const { plan, origin } = await readSavedPlan(project, file);
    printPlan(terminal, plan, savedScale(await project.declaration.moneyScale(), origin), format);
    if (format === "text") terminal.out(`\n${escapeLine(originText(plan.timestamp, origin))}\n`);
    return 0;
  }
  const { serial, resources: byAddress, outputs = new Map() } = await project.state.read();
  const resources = [...byAddress.values()];
  if (format === "json") {
    printJson(terminal, "show", stateJson(resources, outputs, secretNames));
    return 0;
  }
  if (format !== "text") {
    const recorded = { project: (await namesOf(project)).project || undefined, serial, resources, outputs };
    const moneyScale = await project.declaration.moneyScale();
    const render = format === "html" ? renderRecordedHtml : renderRecordedMarkdown;
    terminal.out(
      render(recorded, { hidden: secretNames, words: wordsOfType, moneyScale, remedies: terminal.outLook.remedies }),
    );
    return 0;
  }
  terminal.out(renderListing("state", stateRows(resources), terminal.outLook));
  const attention = recordedConditions(resources, { hidden: secretNames, words: wordsOfType });
  for (const text of attention) terminal.out(`\n${escapeLine(text)}\n`);
  return 0;
};
