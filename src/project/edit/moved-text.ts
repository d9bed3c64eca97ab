/** Texts of blocks that move to another project. Pure. */
import { FileEdit, type KeyPath } from "../../fronts/yaml/index.ts";
import type { Place } from "./declaration-edit.ts";

/** Sections that the blocks of a new project may need. */
const SHARED = /^(?:provider|providers|variables|defaults|guards|templates|x-.*)$/;

const isTop = (at: KeyPath): boolean => at.length === 1;

/** Returns the lines of each section that the blocks may need. */
export const sharedIn = (edit: FileEdit): readonly string[] =>
  edit.paths.filter((at) => isTop(at) && SHARED.test(at[0].key)).map((at) => edit.linesOf(at));

/** Returns true if a text has only comments. */
export const isEmptyText = (text: string): boolean => /^(?:[ \t\r]*(?:#[^\n]*|---)?\n)*$/.test(text);

/**
 * Returns the sections of a file that another project does not have, and the comments outside of all sections.
 * @param there lines of the sections of the other project.
 */
export function ownParts(text: string, there: ReadonlySet<string>) {
  const edit = new FileEdit({ path: "", text });
  const sections = edit.paths.filter(isTop);
  const isName = (at: KeyPath) => at[0].key === "project";
  const isKnown = (at: KeyPath) => SHARED.test(at[0].key) && there.has(edit.linesOf(at));
  const comments = sections
    .reduce((left, at) => left.replace(isName(at) ? /^project:.*$/m : edit.linesOf(at).trimEnd(), ""), text)
    .replace(/^---$/gm, "");
  return {
    sections: sections.filter((at) => !isName(at) && !isKnown(at)).map(([{ key }]) => key),
    comments: comments.trim() === "" ? "" : `${comments.trim()}\n\n`,
  };
}

/** Returns the moved entries of each section, in their order. Neighbours are one run. The section is complete if all its entries move. */
function sectionsOf(places: readonly Place[]) {
  return [...Map.groupBy(places, ({ path }) => path[0].pair).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const siblings = first.path[1]?.map.items ?? [];
    const sorted = all
      .map((one) => ({ ...one, nth: siblings.indexOf(one.path[1]?.pair as never) }))
      .sort((a, b) => a.nth - b.nth);
    const runs = [...Map.groupBy(sorted, (one) => one.nth - sorted.indexOf(one)).values()];
    return [{ first, runs, isComplete: siblings.length === all.length }];
  });
}

/** Removes entries with the comments and empty lines between neighbours. */
export function removeAll(places: readonly Place[]): void {
  for (const { edit, path } of places) edit.remove(path);
  for (const run of sectionsOf(places).flatMap(({ runs }) => runs))
    run.forEach(({ edit, path }, at) => {
      const next = run[at + 1];
      if (next !== undefined) edit.removeBetween(path, next.path);
    });
}

/** Returns the lines of entries under their sections, with one document for each document of the source. */
export function textOf(places: readonly Place[]): string {
  const documents = [...Map.groupBy(places, ({ path }) => path[0].map).values()].map((all) =>
    sectionsOf(all)
      .map(({ first, runs, isComplete }) => {
        if (isComplete) return first.edit.linesOf([first.path[0]]);
        const lines = runs.map((run) => run[0]?.edit.linesOf(run[0].path, run.at(-1)?.path));
        return `${first.path[0].key}:\n${lines.join("")}`;
      })
      .join("\n"),
  );
  return documents.join("---\n");
}
