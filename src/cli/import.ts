import { importObject } from "../project/import.ts";
import { escapeLine } from "../report/index.ts";
import { type Action, printJson, say } from "./terminal.ts";

/** `hostform import ADDRESS ID`: adopts an existing object into the state, and says what the next plan will show. */
export const runImport: Action<object, [declared: string, importId: string]> = async (
  terminal,
  project,
  _,
  declared,
  importId,
) => {
  const { address, id, noun, differences, notes } = await importObject(project, declared, importId);
  if (terminal.json) {
    printJson(terminal, { address, id, differences });
    return 0;
  }
  terminal.out(`Imported ${escapeLine(address)}: ${noun} ${escapeLine(String(id))}\n`);
  for (const note of notes) say(terminal, note);
  say(
    terminal,
    differences.length === 0
      ? "It matches the declaration."
      : `It differs from the declaration in ${differences.join(", ")}: see \`hostform plan\`.`,
  );
  return 0;
};
