/** Plans the move of blocks to another project: the texts of all files. Writes nothing. */
import path from "node:path";
import { exists, listNow, read } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { dependencyOrder } from "../../core/model/graph.ts";
import {
  attempt,
  type Desired,
  type DesiredOutput,
  type DesiredResource,
  type Diagnostic,
  equal,
  failWith,
  ifExplained,
  isError,
  isPattern,
  parseAddress,
  resourceOf,
  type SourceRange,
  some,
} from "../../core/model/index.ts";
import { freeName, slug } from "../adopt/names.ts";
import type { FileChange } from "../adopt/write.ts";
import { valueIn } from "../base.ts";
import { environmentNames } from "../environments.ts";
import { raise } from "../messages.ts";
import type { Project } from "../project.ts";
import { selected } from "../selection.ts";
import { gitignoreWith } from "../starter.ts";
import { namedBy } from "./changes.ts";
import { checkEffects, DeclarationEdit, type Edited, type Place } from "./declaration-edit.ts";
import { isEmptyText, ownParts, removeAll, sharedIn, textOf } from "./moved-text.ts";

/** A planned move. */
export interface Move extends Edited {
  /** Addresses of the moved blocks. */
  readonly blocks: readonly string[];
  /** Addresses of blocks that an interrupted run declared as `removed` in the source. */
  readonly begun: readonly string[];
  /** New files of the target. */
  readonly created: readonly FileChange[];
  /** Files of the source without the blocks, with `removed`. */
  readonly leaving: readonly FileChange[];
  /** Files of the source without `removed`. */
  readonly last: readonly FileChange[];
  /** Files of the source without content. The file with the name of the project is the last. */
  readonly empty: readonly string[];
}

export const MAIN = "hosting.yaml";

/** @throws HostformError `usage`. */
export const refuseMove = (why: string): never => raise("usage/split", { why });

/** @param what a file, or `client:NAME`. Undefined: all blocks. @throws HostformError `usage`, and as `DeclarationEdit` does. */
export async function planMove(from: Project, to: Project, what: string | undefined): Promise<Move> {
  const { cwd } = from.source;
  await refusePlaces(from, to);
  const checked = await to.declaration.check();
  const { desired: before } = checked;
  const isNew = isMissing(checked);
  if (!isNew) failWith(checked.diagnostics.filter(isError));
  if (isMissing(await from.declaration.check()))
    raise("usage/split_nothing", { what: path.relative(cwd, from.source.dir) });
  const edit = await DeclarationEdit.open(from);
  const chosen = chosenIn(edit, before, what);
  const { outer, names, begun } = chosen;
  const declared = new Set([...(before?.resources ?? []), ...(before?.outputs ?? [])].map(idOf));
  const added = chosen.places.filter(({ id }) => !declared.has(id));
  const target = added.length === 0 ? [] : [await targetFile(edit, to, what, isNew, textOf(added))];
  const any = new Map([...names].map((name) => [name, "any"] as const));
  const after = target.length === 0 ? before : await checkEffects(to, before, target, any);
  if (after !== undefined) refuseOthers(edit.desired, after, { ...chosen, declared });
  const { leaving, left } = await sourceTexts(edit, chosen);
  const files = edit.files.map(({ edit: { source }, before: text }) => {
    const file = path.resolve(cwd, source.path);
    return { file, before: text, text: left.get(file) ?? text };
  });
  const there = isNew ? [] : (await DeclarationEdit.open(to)).files;
  const { empty, comments, notes } = emptied(files, there, {
    isWritten: target.length > 0,
    isWhole: what === undefined,
  });
  const created = [
    ...(isNew && target.length > 0 ? await ignoring(to.source.dir) : []),
    ...target.map((one) => ({ ...one, text: comments + one.text })),
  ];
  const rest = files.map((one) => (empty.includes(one.file) ? { ...one, text: "" } : one));
  const changes = [...created, ...rest.filter(({ before: text, text: now }) => now !== text)];
  if (changes.length === 0) raise("usage/split_nothing", { what: what ?? "the project" });
  const last = leaving.map(({ file, text }) => ({ file, before: text, text: left.get(file) ?? "" }));
  const [shown, folder] = [target[0]?.file ?? to.source.dir, to.source.dir].map((one) => path.relative(cwd, one));
  const { type = "local" } = (await from.declaration.backend()) ?? {};
  return {
    blocks: outer.map(({ address }) => address),
    begun,
    created,
    leaving,
    last: last.filter(({ file, before: text, text: now }) => now !== text && !empty.includes(file)),
    empty,
    changes,
    notes: [
      ...outer.map((one) =>
        declared.has(idOf(one)) ? `${one.address} is already declared there.` : `${one.address} moves to ${shown}.`,
      ),
      ...begun.map((address) => `The move of ${address} was interrupted, and ends now.`),
      "The state entries move to the state of that project.",
      ...(isNew && type !== "local"
        ? [
            `The state of ${folder} is a file. To use a backend, declare it there, then run \`hostform -C ${folder} state migrate\`.`,
          ]
        : []),
      ...notes,
    ],
  };
}

/** Returns the changed files of the source with `removed`, and the texts without `removed`. */
async function sourceTexts(edit: DeclarationEdit, { outer, places, names, begun }: Chosen) {
  const effects = new Map([...names].map((name) => [name, "gone"] as const));
  removeAll(places);
  for (const one of edit.files) one.edit.dropItems("removed", "from", (address) => begun.includes(address));
  const left = new Map((await edit.result(effects)).map(({ file, text }) => [file, text]));
  const blocks = places.filter(({ id }) => outer.some(({ address }) => address === id));
  for (const [, all] of Map.groupBy(blocks, ({ path: at }) => at[0].map)) {
    const items = all.map(({ id }) => ({ from: id, destroy: false }));
    for (const { edit: file, path: at } of all.slice(0, 1)) file.addItems(at, "removed", items);
  }
  return { leaving: usersFirst(await edit.result(effects), edit, names), left };
}

/** Sorts files: blocks leave a file after the blocks and outputs that refer to them, so that each step is a valid declaration. */
function usersFirst(
  files: readonly FileChange[],
  { desired, project }: DeclarationEdit,
  names: ReadonlySet<string>,
): readonly FileChange[] {
  const fileOf = (range: SourceRange | undefined) => path.resolve(project.source.cwd, range?.file ?? "");
  const homes = new Map(desired.resources.map((one) => [resourceOf(one.address), fileOf(one.locate([]))]));
  const used = [...desired.resources, ...(desired.outputs ?? [])].flatMap((one) => {
    const user = fileOf("address" in one ? one.locate([]) : one.range);
    const addresses = one.references.flatMap(({ reference: of }) => (of.to === "resource" ? [of.address] : []));
    const all = [...addresses, ...("address" in one ? one.dependsOn : [])].map(resourceOf);
    return all.filter((to) => names.has(to)).map((to) => ({ user, home: homes.get(to) }));
  });
  const nodes = new Map(files.map((one) => [one.file, one]));
  return dependencyOrder(nodes, ({ file }) => used.flatMap(({ user, home }) => (home === file ? [user] : [])));
}

const isMissing = ({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): boolean =>
  diagnostics.some(({ code }) => code === "config.missing");

/** Rejects projects that cannot have separate states. */
async function refusePlaces(from: Project, to: Project): Promise<void> {
  if (from.source.dir === to.source.dir) refuseMove("both projects have the same folder");
  for (const { source } of [from, to])
    if ((await environmentNames(source)).length > 0) refuseMove("environments share the blocks, but not the states");
  const [here, there] = await Promise.all([from.state.declaredPlace(), to.state.declaredPlace()]);
  if (here.mark === there.mark) refuseMove("both projects have the same state");
}

const idOf = (one: DesiredResource | DesiredOutput): string => ("address" in one ? one.address : `output ${one.name}`);

/** Blocks and outputs to move. */
interface Chosen {
  readonly outer: readonly DesiredResource[];
  readonly outputs: readonly DesiredOutput[];
  /** Places of both in the source. */
  readonly places: readonly (Place & { readonly id: string })[];
  /** Addresses of the blocks without keys, and of the resources in the blocks. */
  readonly names: ReadonlySet<string>;
  readonly begun: readonly string[];
}

/** @throws HostformError `config.by_hand` for a block that other resources or outputs use. */
function chosenIn(edit: DeclarationEdit, target: Desired | undefined, what: string | undefined): Chosen {
  const { desired, project } = edit;
  const file = what === undefined || isPattern(what) ? undefined : path.resolve(project.source.cwd, what);
  const isIn = (range: SourceRange | undefined) =>
    file === undefined || path.resolve(project.source.cwd, range?.file ?? "") === file;
  const addressesIn = (resources: readonly DesiredResource[]) =>
    what === undefined || file ? resources.map(({ address }) => address) : selected([what], resources);
  const none = ifExplained((): readonly string[] => []);
  const [here, there] = [desired, target].map((of) => new Set(attempt(() => addressesIn(of?.resources ?? []), none)));
  const isOuter = (address: string) => !kinds.get(parseAddress(address)?.type ?? "")?.nested;
  const outer = desired.resources.filter(
    ({ address, locate }) => isOuter(address) && here?.has(address) && isIn(locate([])),
  );
  // Explains an unknown client.
  if (outer.length === 0 && there?.size === 0) addressesIn(desired.resources);
  const removed = (desired.removed ?? []).filter(
    ({ from, destroy, range }) => !destroy && isOuter(from) && there?.has(from) && isIn(range),
  );
  const names = new Set(outer.flatMap(({ address }) => namedBy(address)));
  const isMoving = ({ references }: DesiredOutput) => {
    const used = references.flatMap(({ reference: of }) => (of.to === "resource" ? [resourceOf(of.address)] : []));
    return what === undefined || (used.length > 0 && used.every((address) => names.has(address)));
  };
  const [outputs, staying] = [true, false].map((is) => (desired.outputs ?? []).filter((one) => isMoving(one) === is));
  const blocks = edit.removable(outer, names, "Move the block by hand.", staying);
  const places = [
    ...blocks.map((block) => ({ ...block, id: block.one.address })),
    ...(outputs ?? []).flatMap((one) => {
      const place = edit.placeAt(one.range);
      return place === undefined ? [] : [{ ...place, id: idOf(one) }];
    }),
  ];
  return { outer, outputs: outputs ?? [], places, names, begun: removed.map(({ from }) => from) };
}

/** Rejects blocks and outputs that would change by the move. */
function refuseOthers(
  desired: Desired,
  after: Desired,
  moved: Chosen & { readonly declared: ReadonlySet<string> },
): void {
  const partsOf = (one: DesiredOutput | undefined) => [one?.config ?? null, one?.sensitive ?? null];
  const blocks = desired.resources.filter((one) => {
    const there = after.resources.find(({ address }) => address === one.address);
    return moved.names.has(resourceOf(one.address)) && !equal(valueIn(desired, one), valueIn(after, there));
  });
  const outputs = moved.outputs.filter((one) => {
    const there = after.outputs?.find(({ name }) => name === one.name);
    return !equal(partsOf(one), partsOf(there));
  });
  const all = [...blocks, ...outputs].map(idOf);
  const twice = all.filter((id) => moved.declared.has(id));
  if (twice.length > 0) refuseMove(`both projects declare ${some(twice)}, with other values`);
  if (all.length > 0) refuseMove(`${some(all)} would have other values there`);
}

/** Returns the new file of the target. A new project gets the sections that the blocks may need. */
async function targetFile(
  { desired, files }: DeclarationEdit,
  { source: { dir } }: Project,
  what: string | undefined,
  isNew: boolean,
  text: string,
): Promise<FileChange> {
  if (!isNew) return { file: path.join(dir, newName(dir, what, desired.project)), before: undefined, text };
  const shared = files.flatMap(({ edit }) => sharedIn(edit)).join("");
  return {
    file: path.join(dir, MAIN),
    before: undefined,
    text: `project: ${slug(path.basename(dir))}\n${shared}${text}`,
  };
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

/** Returns the change of a .gitignore that excludes the state. */
async function ignoring(dir: string): Promise<readonly FileChange[]> {
  const file = path.join(dir, ".gitignore");
  const before = exists(file) ? (await read(file)).toString() : undefined;
  const text = gitignoreWith(before ?? "");
  return text === before ? [] : [{ file, before, text }];
}

/**
 * Returns the files of the source without content, and their comments. A file that has only comments is moved completely. After the
 * move of a whole project, all files are without content if the target has all their sections.
 */
function emptied(
  files: readonly (FileChange & { readonly before: string })[],
  there: DeclarationEdit["files"],
  { isWritten, isWhole }: { readonly isWritten: boolean; readonly isWhole: boolean },
) {
  // An interrupted run may have moved the comments.
  const isThere = (text: string) => there.some(({ before }) => before.includes(text.trim()));
  const known = new Set(there.flatMap(({ edit }) => sharedIn(edit)));
  const parts = files.map((one) => {
    const { sections, comments } = ownParts(one.text, known);
    const isBlank = one.text !== one.before && isEmptyText(one.text);
    const own = [...sections, ...(isWritten || isThere(comments) ? [] : ["comments"])];
    return { ...one, isBlank, comments: isBlank ? one.text : comments, own };
  });
  const kept = isWhole ? parts.filter(({ own }) => own.length > 0) : parts;
  const empty = kept.length === 0 ? parts : parts.filter(({ isBlank, own }) => isBlank && own.length === 0);
  const isName = ({ text }: FileChange) => /^project:/m.test(text);
  return {
    empty: empty.toSorted((a, b) => Number(isName(a)) - Number(isName(b))).map(({ file }) => file),
    comments: empty.flatMap(({ comments }) => (isThere(comments) ? [] : [comments])).join(""),
    notes: isWhole
      ? kept.map(({ file, own }) => `${path.basename(file)} stays: only this file has its ${some(own)}.`)
      : [],
  };
}
