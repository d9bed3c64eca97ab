/** Moves blocks and their state entries to another project. Sends no request. */
import path from "node:path";
import { exists, listNow, makeParent, read, remove, removeTree } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { isPendingCreate } from "../../core/lifecycle/index.ts";
import { dependencyOrder } from "../../core/model/graph.ts";
import {
  attempt,
  type Desired,
  type DesiredOutput,
  type DesiredResource,
  equal,
  failWith,
  ifExplained,
  isError,
  isPattern,
  type Json,
  parseAddress,
  resourceOf,
  type SourceRange,
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
import { checkEffects, DeclarationEdit, type Edited } from "./declaration-edit.ts";
import { emptied, removeAll, sharedIn, textOf } from "./moved-text.ts";

const MAIN = "hosting.yaml";

/** A planned move. Nothing is written yet. */
interface Move {
  /** Addresses of the moved blocks. */
  readonly blocks: readonly string[];
  /** Addresses of blocks that an interrupted run declared as `removed` in the source. */
  readonly begun: readonly string[];
  /** New files of the target. */
  readonly created: readonly FileChange[];
  /** Files of the source: with `removed`, and their final text. */
  readonly files: readonly { file: string; before: string; leaving: string; text: string }[];
  /** Files of the source without content. The file with the name of the project is the last. */
  readonly empty: readonly string[];
  readonly notes: readonly string[];
}

const refuseMove = (why: string): never => raise("usage/split", { why });

/**
 * Moves the blocks of a file or client, or all blocks, to the project in another folder.
 * @param what a file, or `client:NAME`. Undefined: all blocks.
 * @throws HostformError `usage`, and errors of both declarations and states.
 */
export async function moveBlocks(
  from: Project,
  to: Project,
  what: string | undefined,
  dryRun: boolean,
): Promise<Edited> {
  const { dir } = to.source;
  const isThere = exists(dir);
  makeParent(path.join(dir, MAIN));
  try {
    const move = await planMove(from, to, what);
    const sources = move.files.map((one) => (move.empty.includes(one.file) ? { ...one, text: "" } : one));
    const changes = [...move.created, ...sources.filter(({ before, text }) => text !== before)];
    if (changes.length === 0) raise("usage/split_nothing", { what: what ?? "the project" });
    if (!dryRun) await carryOut(from, to, move);
    return { changes, notes: move.notes };
  } finally {
    if (!isThere && listNow(dir).length === 0) removeTree(dir);
  }
}

async function planMove(from: Project, to: Project, what: string | undefined): Promise<Move> {
  const { cwd, dir: own } = from.source;
  const { dir } = to.source;
  await refusePlaces(from, to);
  const before = await declaredIn(to);
  if ((await declaredIn(from)) === undefined) raise("usage/split_nothing", { what: path.relative(cwd, own) });
  const edit = await DeclarationEdit.open(from);
  const chosen = chosenIn(edit, before, what);
  const target = await targetFile(edit, to, before, chosen, what);
  const files = await sourceFiles(edit, chosen);
  const theirs = before === undefined ? [] : (await DeclarationEdit.open(to)).files;
  const { empty, comments, kept } = emptied(files, theirs, target !== undefined, what === undefined);
  const created = target === undefined ? [] : [{ ...target, text: comments + target.text }];
  const isNew = before === undefined && target !== undefined;
  const isRemote = (await from.declaration.backend()) !== undefined;
  const [shown, folder] = [target?.file ?? dir, dir].map((one) => path.relative(cwd, one));
  const there = valuesIn(before);
  return {
    blocks: chosen.outer,
    begun: chosen.begun,
    created: isNew ? [...(await ignoring(dir)), ...created] : created,
    files,
    empty,
    notes: [
      ...chosen.outer.map((address) =>
        there.has(address) ? `Both projects declare ${address}. One block stays.` : `${address} moves to ${shown}.`,
      ),
      ...chosen.begun.map((address) => `The move of ${address} was interrupted, and ends now.`),
      "The state entries move to the state of that project.",
      ...(isNew && isRemote
        ? [`The state of ${folder} is a file. For a backend, declare it there and migrate the state.`]
        : []),
      ...kept.map(({ file, own }) => `${path.basename(file)} stays: only this file has its ${some(own)}.`),
    ],
  };
}

type Chosen = ReturnType<typeof chosenIn>;

/** Returns the new file of the target. Undefined if the target declares all blocks and outputs. */
async function targetFile(
  { desired, files }: DeclarationEdit,
  to: Project,
  before: Desired | undefined,
  { places, names }: Chosen,
  what: string | undefined,
): Promise<FileChange | undefined> {
  const { dir } = to.source;
  const there = valuesIn(before);
  const added = places.filter(({ id }) => !there.has(id));
  const head = before === undefined ? `project: ${slug(path.basename(dir))}\n${sharedIn(files).join("")}` : "";
  const file = path.join(dir, before === undefined ? MAIN : newName(dir, what, desired.project));
  const target = added.length === 0 ? undefined : { file, before: undefined, text: head + textOf(added) };
  const any = new Map([...names].map((name) => [name, "any"] as const));
  const after = target === undefined ? there : valuesIn(await checkEffects(to, before, [target], any));
  const moving = new Set(places.map(({ id }) => id));
  const others = [...valuesIn(desired)].flatMap(([id, value]) =>
    (moving.has(id) || names.has(resourceOf(id))) && !equal(value, after.get(id) ?? null) ? [id] : [],
  );
  const twice = others.filter((id) => there.has(id));
  if (twice.length > 0) refuseMove(`both projects declare ${some(twice)}, with other values`);
  if (others.length > 0) refuseMove(`${some(others)} would have other values there`);
  return target;
}

/** Returns the files of the source. Files of blocks that other files use are the last. */
async function sourceFiles(edit: DeclarationEdit, { outer, places, names, begun }: Chosen): Promise<Move["files"]> {
  const textsNow = async () => {
    const changed = await edit.result(new Map([...names].map((name) => [name, "gone"] as const)));
    return new Map(changed.map(({ file, text }) => [file, text]));
  };
  removeAll(places);
  for (const one of edit.files) one.edit.dropItems("removed", "from", (address) => begun.includes(address));
  const left = await textsNow();
  edit.addRemoved(places.filter(({ id }) => outer.includes(id)));
  const leaving = await textsNow();
  const files = edit.files.map(({ edit: { source }, before }) => {
    const file = path.resolve(edit.project.source.cwd, source.path);
    return { file, before, leaving: leaving.get(file) ?? before, text: left.get(file) ?? before };
  });
  return usersFirst(files, edit, names);
}

/** Returns the change of a .gitignore that excludes the state. */
async function ignoring(dir: string): Promise<readonly FileChange[]> {
  const file = path.join(dir, ".gitignore");
  const before = exists(file) ? (await read(file)).toString() : undefined;
  const text = gitignoreWith(before ?? "");
  return text === before ? [] : [{ file, before, text }];
}

/** Rejects projects that cannot have separate states. */
async function refusePlaces(from: Project, to: Project): Promise<void> {
  if (from.source.dir === to.source.dir) refuseMove("both projects have the same folder");
  for (const { source } of [from, to])
    if ((await environmentNames(source)).length > 0) refuseMove("environments share the blocks, but not the states");
  const [here, there] = await Promise.all([from.state.declaredPlace(), to.state.declaredPlace()]);
  if (here.mark === there.mark) refuseMove("both projects have the same state");
}

/** Returns the declaration of a project. Undefined without one. @throws HostformError with its errors. */
async function declaredIn({ declaration }: Project): Promise<Desired | undefined> {
  const { desired, diagnostics } = await declaration.check();
  if (!diagnostics.some(({ code }) => code === "config.missing")) failWith(diagnostics.filter(isError));
  return desired;
}

const idOf = (one: DesiredResource | DesiredOutput): string => ("address" in one ? one.address : `output ${one.name}`);

/** Returns the parts of resources and outputs that must not change. */
const valuesIn = (desired: Desired | undefined): ReadonlyMap<string, Json> =>
  new Map([
    ...(desired?.resources ?? []).map((one): [string, Json] => [idOf(one), valueIn(desired as Desired, one)]),
    ...(desired?.outputs ?? []).map((one): [string, Json] => [idOf(one), [one.config ?? null, one.sensitive]]),
  ]);

/**
 * Returns the blocks to move, the places of blocks and outputs, and the addresses whose move was interrupted.
 * @throws HostformError `config.by_hand` for a block that other resources or outputs use.
 */
function chosenIn(edit: DeclarationEdit, target: Desired | undefined, what: string | undefined) {
  const { desired, project } = edit;
  const file = what === undefined || isPattern(what) ? undefined : path.resolve(project.source.cwd, what);
  const isIn = (range: SourceRange | undefined) => file === undefined || fileOf(edit, range) === file;
  const addressesIn = ({ resources }: Pick<Desired, "resources">) =>
    what === undefined || file ? resources.map(({ address }) => address) : selected([what], resources);
  const none = ifExplained((): readonly string[] => []);
  const here = new Set(attempt(() => addressesIn(desired), none));
  const there = new Set(attempt(() => addressesIn(target ?? { resources: [] }), none));
  const isOuter = (address: string) => !kinds.get(parseAddress(address)?.type ?? "")?.nested;
  const outer = desired.resources.filter(
    ({ address, locate }) => isOuter(address) && here.has(address) && isIn(locate([])),
  );
  // Explains an unknown client.
  if (outer.length === 0 && there.size === 0) addressesIn(desired);
  const begun = (desired.removed ?? []).filter(
    ({ from, destroy, range }) => !destroy && isOuter(from) && there.has(from) && isIn(range),
  );
  const names = new Set(outer.flatMap(({ address }) => namedBy(address)));
  const isMoving = ({ references }: DesiredOutput) => {
    const used = references.flatMap(({ reference: of }) => (of.to === "resource" ? [resourceOf(of.address)] : []));
    return what === undefined || (used.length > 0 && used.every((address) => names.has(address)));
  };
  const { outputs = [] } = desired;
  const staying = outputs.filter((one) => !isMoving(one));
  const blocks = edit.removable(outer, names, "Move the block by hand.", staying);
  const places = [
    ...blocks,
    ...outputs.filter(isMoving).flatMap((one) => {
      const place = edit.placeAt(one.range);
      return place === undefined ? [] : { ...place, id: idOf(one) };
    }),
  ];
  const addresses = outer.map(({ address }) => address);
  return { outer: addresses, places, names, begun: begun.map(({ from }) => from) };
}

const fileOf = ({ project }: DeclarationEdit, range: SourceRange | undefined): string =>
  path.resolve(project.source.cwd, range?.file ?? "");

/** Sorts files: blocks leave a file after the blocks and outputs that refer to them, so that each step is a valid declaration. */
function usersFirst<File extends { readonly file: string }>(
  files: readonly File[],
  edit: DeclarationEdit,
  names: ReadonlySet<string>,
): readonly File[] {
  const { resources, outputs = [] } = edit.desired;
  const homes = new Map(resources.map((one) => [resourceOf(one.address), fileOf(edit, one.locate([]))]));
  const used = [...resources, ...outputs].flatMap((one) => {
    const [range, after] = "address" in one ? [one.locate([]), one.dependsOn] : [one.range, []];
    const all = one.references.flatMap(({ reference: of }) => (of.to === "resource" ? [of.address] : []));
    const moved = [...all, ...after].map(resourceOf).filter((to) => names.has(to));
    return moved.map((to) => ({ user: fileOf(edit, range), home: homes.get(to) }));
  });
  const nodes = new Map(files.map((one) => [one.file, one]));
  return dependencyOrder(nodes, ({ file }) => used.flatMap(({ user, home }) => (home === file ? [user] : [])));
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

/**
 * Writes all files while both states are locked. The order of the writes keeps each object in at least one state, and no plan after a
 * crash removes an object. After each write, the same command completes the move:
 *
 * 1. The file of the target declares the blocks, and the state of the target gets the entries.
 * 2. The entries of an interrupted move leave the state of the source, which declares them as `removed`.
 * 3. The source declares the other addresses as `removed` with `destroy: false`.
 * 4. Their entries leave the state of the source, and both histories get an entry.
 * 5. The source loses `removed`, and its files without content.
 */
async function carryOut(from: Project, to: Project, move: Move): Promise<void> {
  const [names, begun] = [move.blocks, move.begun].map((all) => new Set(all.flatMap(namedBy)));
  const write = (files: readonly FileChange[]) =>
    writeFiles(
      files.filter(({ before, text }) => text !== before),
      async () => undefined,
    );
  await to.state.write("project", (target) =>
    from.state.write("project", async (source) => {
      const held = target.state.resources;
      const entriesOf = (of: ReadonlySet<string> | undefined) =>
        [...source.state.resources.values()].filter(({ address }) => of?.has(resourceOf(address)));
      const forget = (of: ReadonlySet<string> | undefined) =>
        source.remove(...entriesOf(of).map(({ address }) => address));
      const entries = [...entriesOf(begun), ...entriesOf(names)];
      for (const entry of entries) {
        const other = held.get(entry.address);
        if (isPendingCreate(entry)) refuseMove(`${entry.address} may have been ordered`);
        if (other && other.attributes.id !== entry.attributes.id)
          refuseMove(`${entry.address} is another object there`);
      }
      const missing = entries.map(({ address }) => address).filter((address) => !held.has(address));
      await writeFiles(move.created, () => target.receive(source.document, missing));
      await forget(begun);
      await write(move.files.map(({ file, before, leaving: text }) => ({ file, before, text })));
      await forget(names);
      for (const [one, { history }, text] of [
        [from, source, `Moved to ${to.source.dir}.`],
        [to, target, `Moved from ${from.source.dir}.`],
      ] as const) {
        const effects = [...move.begun, ...move.blocks].map((address) => ({ address, text }));
        const entry = { command: "project", plan: null, orders: [], requests: 0, errors: [], effects };
        from.log.warn(...(await remember(one, { history }, entry)));
      }
      const last = move.files.filter(({ file }) => !move.empty.includes(file));
      await write(last.map(({ file, leaving, text }) => ({ file, before: leaving, text })));
      for (const file of move.empty) remove(file);
    }),
  );
}
