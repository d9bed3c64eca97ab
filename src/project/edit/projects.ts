/** Moves blocks and their state entries to another project. Sends no request. */
import path from "node:path";
import { look, makeParent } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { isPendingCreate } from "../../core/lifecycle/index.ts";
import { type DesiredResource, equal, isPattern, resourceOf } from "../../core/model/index.ts";
import { slug } from "../adopt/names.ts";
import { type FileChange, writeFiles } from "../adopt/write.ts";
import { valueIn } from "../base.ts";
import { environmentNames } from "../environments.ts";
import { refuse } from "../messages.ts";
import type { Project } from "../project.ts";
import { selected } from "../selection.ts";
import { namedBy } from "./changes.ts";
import { checkEffects, DeclarationEdit, type Edited, type Place } from "./declaration-edit.ts";

/** Sections that the blocks of a new project may need. */
const SHARED = /^(?:provider|providers|variables|defaults|templates|x-.*)$/;

/**
 * Moves the blocks of a file or client, or all blocks, to the project in another folder. Locks both states. The order of the writes
 * keeps each object in at least one state, and no plan after a crash removes an object:
 *
 * 1. The file of the target declares the blocks, and the state of the target gets the entries.
 * 2. The source declares the addresses as `removed` with `destroy: false`.
 * 3. The entries leave the state of the source, and then the source loses `removed`.
 * @param what a file, or `client:NAME`. Undefined: all blocks.
 */
export async function moveBlocks(
  from: Project,
  to: Project,
  what: string | undefined,
  dryRun: boolean,
): Promise<Edited> {
  const refuseMove = (why: string) => refuse("usage/split", { why });
  if (from.source.dir === to.source.dir) refuseMove("both projects have the same folder");
  for (const { source } of [from, to])
    if ((await environmentNames(source)).length > 0) refuseMove("environments share the blocks, but not the states");
  const edit = await DeclarationEdit.open(from);
  const { desired } = edit;
  const file = what !== undefined && !isPattern(what) ? path.resolve(from.source.cwd, what) : undefined;
  const isIn = (one: DesiredResource) => path.resolve(from.source.cwd, one.locate([])?.file ?? "") === file;
  const chosen = new Set(what === undefined || file ? [] : selected([what], desired.resources));
  const outer = desired.resources.filter(
    (one) => !kinds.get(one.type)?.nested && (what === undefined || (file ? isIn(one) : chosen.has(one.address))),
  );
  if (outer.length === 0) refuseMove(`${what ?? "the project"} has no block`);
  const places = outer.map((one) => ({ one, ...edit.block(one, "Move the block by hand.") }));
  const shared = edit.files.flatMap(({ edit: of }) =>
    of.paths.filter((at) => at.length === 1 && SHARED.test(at[0].key)).map((at) => of.linesOf(at)),
  );
  const main = path.join(to.source.dir, "hosting.yaml");
  if (!dryRun) makeParent(main);
  const { desired: before } = await to.declaration.check();
  const isNew = before === undefined && look(main) === undefined;
  const named = isNew
    ? "hosting.yaml"
    : `${slug(path.parse(what?.replace("client:", "") ?? desired.project).name)}.hosting.yaml`;
  const head = isNew ? `project: ${slug(path.basename(to.source.dir))}\n${shared.join("")}` : "";
  const added: FileChange = { file: path.join(to.source.dir, named), before: undefined, text: head + textOf(places) };
  const names = new Set(outer.flatMap(({ address }) => namedBy(address)));
  const after = await checkEffects(to, before, [added], new Map([...names].map((name) => [name, "any"])));
  const other = desired.resources.find((one) => {
    const moved = after.resources.find(({ address }) => address === one.address);
    return names.has(resourceOf(one.address)) && !equal(valueIn(desired, one), valueIn(after, moved));
  });
  if (other !== undefined) refuseMove(`${other.address} has other values there`);
  for (const { edit: of, path: at } of places) of.remove(at);
  const left = await edit.result(new Map([...names].map((name) => [name, "gone"])));
  for (const [, all] of Map.groupBy(places, ({ path: at }) => at[0].map)) {
    const items = all.map(({ one }) => ({ from: one.address, destroy: false }));
    for (const { edit: of, path: at } of all.slice(0, 1)) of.addItems(at, "removed", items);
  }
  const leaving = await edit.result(new Map([...names].map((name) => [name, "gone"])));
  const done = { changes: [added, ...left], notes: outer.map(({ address }) => `${address} moves to ${named}.`) };
  if (dryRun) return done;
  const keep = async () => undefined;
  await to.state.write("project", (target) =>
    from.state.write("project", async (source) => {
      const entries = [...source.state.resources.values()].filter(({ address }) => names.has(resourceOf(address)));
      for (const entry of entries) {
        const { address, attributes } = entry;
        const there = target.state.resources.get(address);
        if (isPendingCreate(entry)) refuseMove(`${address} may have been ordered`);
        if (there && there.attributes.id !== attributes.id) refuseMove(`${address} is another object there`);
      }
      await writeFiles([added], async () => void (await Promise.all(entries.map((entry) => target.put(entry)))));
      await writeFiles(leaving, keep);
      await source.remove(...entries.map(({ address }) => address));
      const last = leaving.map(({ file: of, text }) => ({ file: of, before: text, text: textAfter(left, of) }));
      await writeFiles(last, keep);
    }),
  );
  return done;
}

const textAfter = (changes: readonly FileChange[], file: string) =>
  changes.find((one) => one.file === file)?.text ?? "";

/** Returns the lines of blocks under their sections, with one document for each document of the source. */
function textOf(places: readonly Place[]): string {
  const documents = [...Map.groupBy(places, ({ path: at }) => at[0].map).values()].map((all) => {
    const sections = [...Map.groupBy(all, ({ path: at }) => at[0].key)].map(([section, of]) => {
      const lines = of.map(({ edit, path: at }) => edit.linesOf(at));
      return `${section}:\n${lines.join("")}`;
    });
    return sections.join("\n");
  });
  return documents.join("---\n");
}
