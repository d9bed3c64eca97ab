/** Texts of blocks that move to another project. Pure. */
import { FileEdit } from "../../fronts/yaml/index.ts";
import type { DeclarationEdit, Place } from "./declaration-edit.ts";

/** Sections that the blocks of a new project may need. */
const SHARED = /^(?:provider|providers|variables|defaults|guards|templates|x-.*)$/;

type Files = DeclarationEdit["files"];

const sectionsIn = (edit: FileEdit) => edit.paths.filter((at) => at.length === 1);

/** Returns the lines of each section that the blocks may need. */
export const sharedIn = (files: Files): readonly string[] =>
  files.flatMap(({ edit }) => sectionsIn(edit).flatMap((at) => (SHARED.test(at[0].key) ? [edit.linesOf(at)] : [])));

/**
 * Returns the files of the source without content, and their comments. A file that has only comments is moved completely. After the
 * move of a whole project, all files are without content if the target has all their sections.
 * @param isWritten true if the target gets the comments. An interrupted run may have moved them.
 * @returns `empty`: the file with the name of the project is the last. `kept`: files of a whole project with their own parts.
 */
export function emptied<File extends { file: string; before: string; text: string }>(
  files: readonly File[],
  there: Files,
  isWritten: boolean,
  isWhole: boolean,
) {
  const known = new Set(sharedIn(there));
  const isThere = (text: string) => there.some(({ before }) => before.includes(text.trim()));
  const parts = files.map(({ file, before, text }) => {
    const edit = new FileEdit({ path: "", text });
    const sections = sectionsIn(edit);
    const isName = sections.some(([{ key }]) => key === "project");
    const rest = sections.reduce(
      (left, at) => left.replace(at[0].key === "project" ? /^project:.*$/m : edit.linesOf(at).trimEnd(), ""),
      text,
    );
    const comments = rest.replace(/^---$/gm, "").trim();
    const own = sections.flatMap((at) => (at[0].key === "project" || known.has(edit.linesOf(at)) ? [] : [at[0].key]));
    const isBlank = sections.length === 0 && text !== before;
    return { file, isName, isBlank, comments, own: isWritten || isThere(comments) ? own : [...own, "comments"] };
  });
  const kept = isWhole ? parts.filter(({ own }) => own.length > 0) : [];
  const empty = parts.filter(({ isBlank, own }) => own.length === 0 && (isBlank || (isWhole && kept.length === 0)));
  const comments = empty.flatMap((one) => (isThere(one.comments) ? [] : [`${one.comments}\n\n`])).join("");
  const sorted = empty.toSorted((a, b) => Number(a.isName) - Number(b.isName));
  return { empty: sorted.map(({ file }) => file), comments, kept };
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
