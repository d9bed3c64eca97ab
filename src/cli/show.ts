/** `show`: prints a saved plan or the state. Sends no request, takes no lock. */

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

interface ShowFlags {
  readonly format?: PlanFormat;
}

export const runShow: Action<ShowFlags, [file?: string]> = async (terminal, project, flags, file) => {
  const format = formatOf(terminal, flags);
  if (file !== undefined) {
    const { plan } = await readSavedPlan(project, file);
    printPlan(terminal, plan, await project.declaration.moneyScale(), format);
    return 0;
  }
  const { serial, resources: byAddress, outputs = new Map() } = await project.state.read();
  const resources = [...byAddress.values()];
  if (format === "json") {
    printJson(terminal, stateJson(resources, outputs, secretNames));
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
