import { importObject } from "../project/import.ts";
import type { Project } from "../project/source.ts";
import { escapeLine } from "../report/index.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

/** `hostform import ADDRESS ID`: adopts an existing object into the state, and says what the next plan will show. */
export async function runImport(
  terminal: Terminal,
  project: Project,
  _: object,
  declared: string,
  importId: string,
): Promise<number> {
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
}
