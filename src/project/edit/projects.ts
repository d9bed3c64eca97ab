/** Moves blocks and their state entries to another project. Sends no request. */
import path from "node:path";
import { exists, listNow, makeParent, read, remove, removeTree } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { isPendingCreate } from "../../core/lifecycle/index.ts";
import {
  type DesiredOutput,
  type DesiredResource,
  equal,
  isPattern,
  resourceOf,
  some,
} from "../../core/model/index.ts";
import { freeName, slug } from "../adopt/names.ts";
import { type FileChange, writeFiles } from "../adopt/write.ts";
import { valueIn } from "../base.ts";
import { environmentNames } from "../environments.ts";
import { remember } from "../history.ts";
import { raise } from "../messages.ts";
import type { Project } from "../project.ts";
import { selected } from "../selection.ts";
import { gitignoreWith } from "../starter.ts";
import { namedBy } from "./changes.ts";
import { checkEffects, DeclarationEdit, type Edited, type Place } from "./declaration-edit.ts";

/** Sections that the blocks of a new project may need. */
const SHARED = /^(?:provider|providers|variables|defaults|guards|templates|x-.*)$/;

/**
 * Moves the blocks of a file or client, or all blocks, to the project in another folder. Locks both states. The order of the writes
 * keeps each object in at least one state, and no plan after a crash removes an object:
 *
 * 1. The file of the target declares the blocks, and the state of the target gets the entries.
 * 2. The source declares the addresses as `removed` with `destroy: false`.
 * 3. The entries leave the state of the source, and then the source loses `removed`.
 * @param what a file, or `client:NAME`. Undefined: all blocks.
 */
export async function moveBlocks(...[from, to, what, dryRun]: Parameters<typeof moved>): Promise<Edited> {
  const { dir } = to.source;
  const isThere = exists(dir);
  makeParent(path.join(dir, "hosting.yaml"));
  try {
    return await moved(from, to, what, dryRun);
  } finally {
    if (!isThere && listNow(dir).length === 0) removeTree(dir);
  }
}

async function moved(from: Project, to: Project, what: string | undefined, dryRun: boolean): Promise<Edited> {
  const refuseMove = (why: string) => raise("usage/split", { why });
  if (from.source.dir === to.source.dir) refuseMove("both projects have the same folder");
  for (const { source } of [from, to])
    if ((await environmentNames(source)).length > 0) refuseMove("environments share the blocks, but not the states");
  const { dir } = to.source;
  const main = path.join(dir, "hosting.yaml");
  const { desired: before } = await to.declaration.check();
  const isNew = before === undefined && !exists(main);
  const edit = await DeclarationEdit.open(from);
  const { desired } = edit;
  const file = what !== undefined && !isPattern(what) ? path.resolve(from.source.cwd, what) : undefined;
  const isIn = (one: DesiredResource) => path.resolve(from.source.cwd, one.locate([])?.file ?? "") === file;
  const chosen = new Set(what === undefined || file ? [] : selected([what], desired.resources));
  const outer = desired.resources.filter(
    (one) => !kinds.get(one.type)?.nested && (what === undefined || (file ? isIn(one) : chosen.has(one.address))),
  );
  if (outer.length === 0) refuseMove(`${what ?? "the project"} has no block`);
  const { resources: present = [] } = before ?? {};
  const equals = outer
    .map(({ address }) => address)
    .filter((address) => present.some((one) => one.address === address));
  if (equals.length > 0) refuseMove(`both projects declare ${some(equals)}`);
  const names = new Set(outer.flatMap(({ address }) => namedBy(address)));
  const isMoving = ({ references }: DesiredOutput) => {
    const used = references.flatMap(({ reference: of }) => (of.to === "resource" ? [resourceOf(of.address)] : []));
    return what === undefined || (used.length > 0 && used.every((address) => names.has(address)));
  };
  const { outputs = [] } = desired;
  const blocks = edit.removable(
    outer,
    names,
    "Move the block by hand.",
    outputs.filter((one) => !isMoving(one)),
  );
  const places = [...blocks, ...outputs.filter(isMoving).flatMap((one) => edit.placeAt(one.range) ?? [])];
  const shared = edit.files.flatMap(({ edit: of }) =>
    of.paths.filter((at) => at.length === 1 && SHARED.test(at[0].key)).map((at) => of.linesOf(at)),
  );
  const head = isNew ? `project: ${slug(path.basename(to.source.dir))}\n${shared.join("")}` : "";
  const added: FileChange = {
    file: isNew ? main : path.join(dir, newName(dir, what, desired.project)),
    before: undefined,
    text: head + textOf(places),
  };
  const there = await checkEffects(to, before, [added], new Map([...names].map((name) => [name, "any"])));
  const other = desired.resources.find((one) => {
    const moved = there.resources.find(({ address }) => address === one.address);
    return names.has(resourceOf(one.address)) && !equal(valueIn(desired, one), valueIn(there, moved));
  });
  if (other !== undefined) refuseMove(`${other.address} has other values there`);
  for (const { edit: of, path: at } of places) of.remove(at);
  const left = await edit.result(new Map([...names].map((name) => [name, "gone"])));
  for (const [, all] of Map.groupBy(blocks, ({ path: at }) => at[0].map)) {
    const items = all.map(({ one }) => ({ from: one.address, destroy: false }));
    for (const { edit: of, path: at } of all.slice(0, 1)) of.addItems(at, "removed", items);
  }
  const leaving = await edit.result(new Map([...names].map((name) => [name, "gone"])));
  const ignoring = path.join(dir, ".gitignore");
  const ignored = exists(ignoring) ? (await read(ignoring)).toString() : undefined;
  const ignores = { file: ignoring, before: ignored, text: gitignoreWith(ignored ?? "") };
  const isChanged = isNew && ignores.text !== ignored;
  // A file that has only comments is moved completely.
  const empty = new Set(
    left.filter(({ text }) => /^(?:[ \t\r]*(?:#[^\n]*|---)?\n)*$/.test(text)).map((one) => one.file),
  );
  const comments = left.flatMap(({ file: of, text }) => (empty.has(of) && text !== "" ? [text] : []));
  const created = [{ ...added, text: [...comments, added.text].join("") }, ...(isChanged ? [ignores] : [])];
  const shown = path.relative(from.source.cwd, added.file);
  const done = {
    changes: [...created, ...left.map((one) => (empty.has(one.file) ? { ...one, text: "" } : one))],
    notes: [
      ...outer.map(({ address }) => `${address} moves to ${shown}.`),
      "The state entries move to the state of that project.",
    ],
  };
  if (dryRun) return done;
  const keep = async () => undefined;
  await to.state.write("project", (target) =>
    from.state.write("project", async (source) => {
      const entries = [...source.state.resources.values()].filter(({ address }) => names.has(resourceOf(address)));
      for (const entry of entries) {
        const { address, attributes } = entry;
        const held = target.state.resources.get(address);
        if (isPendingCreate(entry)) refuseMove(`${address} may have been ordered`);
        if (held && held.attributes.id !== attributes.id) refuseMove(`${address} is another object there`);
      }
      await writeFiles(created, async () => void (await Promise.all(entries.map((entry) => target.put(entry)))));
      await writeFiles(leaving, keep);
      await source.remove(...entries.map(({ address }) => address));
      const after = new Map(left.map((one) => [one.file, one.text]));
      const last = leaving.map(({ file: of, text }) => ({ file: of, before: text, text: after.get(of) ?? "" }));
      await writeFiles(last, keep);
      for (const each of empty) remove(each);
      for (const [one, { history }, text] of [
        [from, source, `Moved to ${dir}.`],
        [to, target, `Moved from ${from.source.dir}.`],
      ] as const) {
        const effects = outer.map(({ address }) => ({ address, text }));
        const entry = { command: "project", plan: null, orders: [], requests: 0, errors: [], effects };
        from.log.warn(...(await remember(one, { history }, entry)));
      }
    }),
  );
  return done;
}

/** Returns a free file name, after the file or the client that moves, or after the project. */
function newName(dir: string, what: string | undefined, project: string): string {
  const stem =
    what === undefined ? "" : path.basename(what.replace("client:", "")).replace(/(?:\.?hosting)?\.ya?ml$/, "");
  const suffix = ".hosting.yaml";
  const files = exists(dir) ? listNow(dir).filter((name) => name.endsWith(suffix)) : [];
  const taken = files.map((name) => name.slice(0, -suffix.length));
  return `${freeName(slug(stem === "" ? project : stem), new Set(taken))}${suffix}`;
}

/** Returns the lines of entries under their sections, with one document for each document of the source. */
function textOf(places: readonly Place[]): string {
  const documents = [...Map.groupBy(places, ({ path: at }) => at[0].map).values()].map((all) => {
    const sections = [...Map.groupBy(all, ({ path: at }) => at[0].pair)].map(([pair, of]) => {
      const siblings = of[0]?.path[1]?.map.items ?? [];
      const [first] = of;
      if (first && siblings.length === of.length) return first.edit.linesOf([first.path[0]]);
      const sorted = of
        .map((one) => ({ ...one, nth: siblings.indexOf(one.path[1]?.pair as never) }))
        .sort((a, b) => a.nth - b.nth);
      // Neighbours keep the text between them.
      const runs = Map.groupBy(sorted, (one) => one.nth - sorted.indexOf(one));
      const lines = [...runs.values()].map((run) => run[0]?.edit.linesOf(run[0].path, run.at(-1)?.path));
      return `${String(first?.path[0].key ?? pair)}:\n${lines.join("")}`;
    });
    return sections.join("\n");
  });
  return documents.join("---\n");
}
