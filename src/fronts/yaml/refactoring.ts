import { hasReferences } from "../../core/expression/references.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { formatAddress, type MovedBlock, parseAddress, type RemovedBlock, resourceOf } from "../../core/model/index.ts";
import { unique } from "../source/diagnostics.ts";
import { rangeOf, type Span } from "../source/source.ts";
import { type Entry, isNull, type MapTree, stringOf, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";
import { type ReferenceContext, reportUndeclared } from "./references.ts";
import { readImport } from "./resource.ts";

/** Reads the sections that change the address of a state entry: `moved`, `removed` and `import`. */

/** The sections with the required keys of their items. */
const SECTIONS = { moved: ["from", "to"], removed: ["from", "destroy"], import: ["to", "id"] } as const;
type Section = keyof typeof SECTIONS;

export const REFACTORING: readonly string[] = Object.keys(SECTIONS);

interface Refactoring {
  readonly moved: readonly MovedBlock[];
  readonly removed: readonly RemovedBlock[];
  /** Id of the object to adopt, by address. */
  readonly importIds: ReadonlyMap<string, string>;
}

interface RefactoringContext extends ReferenceContext {
  readonly kinds: Kinds;
}

/** Reads the sections of all documents. Checks everything that does not need the state. */
export function readRefactoring(sections: readonly Entry[], context: RefactoringContext): Refactoring {
  const items = (section: Section) =>
    sections.filter(({ key }) => key === section).flatMap((entry) => itemsOf(entry, section, context));
  const removed = withNested(readRemoved(items("removed"), context), context, nestedRemoval);
  const moved = withNested(readMoved(items("moved"), removed, context), context, nestedMove);
  return { moved, removed, importIds: readImports(items("import"), context) };
}

function readMoved(
  items: readonly MapTree[],
  removed: readonly RemovedBlock[],
  context: RefactoringContext,
): MovedBlock[] {
  const read = items.flatMap((item) => {
    const [from, to] = [addressIn(item, "moved", "from", context), addressIn(item, "moved", "to", context)];
    return from === undefined || to === undefined ? [] : [{ from, to, range: rangeOf(item.span), item }];
  });
  // A later `moved` item may move the resource on.
  const left = new Set([...read, ...removed].map(({ from }) => from));
  return read.map(({ item, ...block }) => {
    const { from, to } = block;
    if (!left.has(to) && !left.has(resourceOf(to)) && parseAddress(from)?.type === parseAddress(to)?.type)
      checkDeclared(item, to, context, from === resourceOf(from));
    return block;
  });
}

function readRemoved(items: readonly MapTree[], context: RefactoringContext): RemovedBlock[] {
  const { diags } = context;
  const read = items.flatMap((item) => {
    const from = addressIn(item, "removed", "from", context);
    const flag = item.entries.get("destroy");
    const destroy = flag?.value.form === "leaf" ? flag.value.value : undefined;
    if (typeof destroy !== "boolean") {
      if (flag === undefined) diags.add(item.span, problem("config.missing_attribute/destroy"));
      else diags.add(valueSpan(flag), problem("config.structure/destroy"));
    }
    if (from === undefined || typeof destroy !== "boolean") return [];
    return [{ from, destroy, range: rangeOf(item.span), keySpan: item.span }];
  });
  return unique(read, ({ from }) => `The removal of ${from}`, diags).map(({ keySpan: _, ...block }) => block);
}

function readImports(items: readonly MapTree[], context: RefactoringContext): Map<string, string> {
  const { diags, drafts } = context;
  const ids = new Map<string, string>();
  for (const item of items) {
    const to = addressIn(item, "import", "to", context);
    const given = item.entries.get("id");
    if (given === undefined) {
      diags.add(item.span, problem("config.missing_attribute/id"));
    }
    const id = readImport(given, to, diags);
    if (to === undefined || id === undefined || !checkDeclared(item, to, context, false)) continue;
    if (ids.has(to) || drafts.get(to)?.importId !== undefined) {
      diags.add(item.span, problem("config.duplicate/import", { address: to }));
    }
    ids.set(to, id);
  }
  return ids;
}

/** Returns the items of a section that are maps. Reports all other items. */
function itemsOf(section: Entry, name: Section, { diags }: RefactoringContext): MapTree[] {
  const { value } = section;
  const keys: readonly string[] = SECTIONS[name];
  if (isNull(value)) return [];
  if (value.form !== "list") {
    diags.add(valueSpan(section), problem("config.structure/list", { name, keys }));
    return [];
  }
  return value.items.flatMap((item) => {
    if (item.form !== "map") {
      diags.add(item.span, problem("config.structure/item", { name, keys }));
      return [];
    }
    for (const { key, keySpan } of item.entries.values()) {
      if (!keys.includes(key))
        diags.add(keySpan, problem("config.unknown_key/item", { ...diags.unknown(key, keys), name }));
    }
    return [item];
  });
}

/** Returns the canonical address at a key. Undefined after a reported error. */
function addressIn(
  item: MapTree,
  section: Section,
  key: "from" | "to",
  { kinds, diags }: RefactoringContext,
): string | undefined {
  const entry = item.entries.get(key);
  if (entry === undefined) {
    return diags.add(item.span, problem("config.missing_attribute/address", { section, key }));
  }
  const text = stringOf(entry.value) ?? "";
  const address = hasReferences(text) ? undefined : parseAddress(text);
  if (address !== undefined && kinds.has(address.type)) return formatAddress(address);
  const near = address === undefined ? undefined : diags.nearest(address.type, [...kinds.keys()]);
  return diags.add(valueSpan(entry), problem("config.reference/address", { near }));
}

/**
 * Returns true if an address is declared. Reports an undeclared address at `to`.
 * @param all True if the address may mean all instances.
 */
function checkDeclared(item: MapTree, to: string, context: RefactoringContext, all: boolean): boolean {
  if (context.drafts.has(to) || (all && context.instances.has(to))) return true;
  const entry = item.entries.get("to");
  const span: Span = entry === undefined ? item.span : valueSpan(entry);
  reportUndeclared(to, span, context, {}, true);
  return false;
}

/**
 * Extends each block to nested resources, because their addresses contain the name of the outer resource: grants move with
 * their service, and leave the state with it. Nested resources with their own block are skipped.
 */
function withNested<Block extends { readonly from: string; readonly to?: string }>(
  blocks: readonly Block[],
  { kinds, instances }: RefactoringContext,
  nest: (block: Block, inner: (address: string) => string) => Block | undefined,
): Block[] {
  const all = [...blocks];
  const used = new Set(blocks.flatMap(({ from, to }) => (to === undefined ? [from] : [from, `to ${to}`])));
  const within = (outer: string): readonly Kind[] => [...kinds.values()].filter(({ nested }) => nested?.in === outer);
  for (const block of blocks) {
    const { type = "", key } = parseAddress(block.from) ?? {};
    for (const kind of key === undefined ? within(type) : []) {
      const added = nest(block, (address) => `${kind.type}.${parseAddress(address)?.name}`);
      const names = added && (added.to === undefined ? [added.from] : [added.from, `to ${added.to}`]);
      if (names === undefined || instances.has(added?.from ?? "") || names.some((name) => used.has(name))) continue;
      for (const name of names) used.add(name);
      all.push(added as Block);
    }
  }
  return all;
}

const nestedMove = ({ from, to, range }: MovedBlock, inner: (address: string) => string): MovedBlock | undefined => {
  const [source, target] = [parseAddress(from), parseAddress(to)];
  if (source?.type !== target?.type || target?.key !== undefined) return undefined;
  return { from: inner(from), to: inner(to), ...(range && { range }) };
};

const nestedRemoval = ({ from, destroy, range }: RemovedBlock, inner: (address: string) => string): RemovedBlock => ({
  from: inner(from),
  destroy,
  ...(range && { range }),
});
