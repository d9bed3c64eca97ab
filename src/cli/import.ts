import { importObject } from "../project/import.ts";
import { escapeLine } from "../report/index.ts";
import { type Action, printResult, say } from "./terminal.ts";

/** Runs `hostform import ADDRESS ID`: adds an existing object to the state, and predicts the next plan. */
export const runImport: Action<object, [declared: string, importId: string]> = async (
  terminal,
  project,
  _,
  declared,
  importId,
) => {
  const { address, id, noun, differences, isCompared, notes } = await importObject(project, declared, importId);
  printResult(
    terminal,
    "import",
    { address, id, differences },
    `Imported ${escapeLine(address)}: ${noun} ${escapeLine(String(id))}\n`,
  );
  if (terminal.json) return 0;
  for (const note of notes) say(terminal, note);
  const differs = `It differs from the declaration in ${differences.join(", ")}: see \`hostform plan\`.`;
  if (differences.length > 0) say(terminal, differs);
  else if (isCompared) say(terminal, "It matches the declaration.");
  return 0;
};
