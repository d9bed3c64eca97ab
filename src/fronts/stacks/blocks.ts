import type { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, type MapTree, type Tree, valueSpan } from "../source/tree.ts";
import { StackSource } from "./source.ts";

/** A block of Terraform's JSON syntax: its labels (`hosting_service`, `acme`), and what stands in it. */
export interface Block {
  readonly labels: readonly Label[];
  /** The last label, or the block's type. */
  readonly keySpan: Span;
  readonly body: MapTree;
}

interface Label {
  readonly text: string;
  readonly span: Span;
}

/** The key under which comments and metadata stand; never a part of what is declared. */
const COMMENT = "//";

/**
 * The blocks of a type: an object for each label, and at each level an array in place of an object where there are
 * several. https://developer.hashicorp.com/terraform/language/syntax/json
 */
export function blocksOf(entry: Entry, labels: readonly string[], diags: DiagnosticCollector): Block[] {
  const found: Block[] = [];
  const { key, keySpan } = entry;
  const written: Written = { type: key, labels, diags };
  const walk = (tree: Tree, above: readonly Label[], at: Span): void => {
    const bodies = mapsIn(tree, at, written);
    const label = labels[above.length];
    if (label === undefined) {
      for (const body of bodies ?? []) {
        if (at.source instanceof StackSource) at.source.credit(at.start, body);
        found.push({ labels: above, keySpan: at, body });
      }
      return;
    }
    const named = bodies?.flatMap(argumentsOf);
    if (named?.length === 0) reportNameless(tree, at, label, written);
    for (const one of named ?? []) walk(one.value, [...above, { text: one.key, span: one.keySpan }], one.keySpan);
  };
  walk(entry.value, [], keySpan);
  return found;
}

/** What is being read, for what is said of it. */
interface Written {
  readonly type: string;
  readonly labels: readonly string[];
  readonly diags: DiagnosticCollector;
}

/** The objects at a level: one, several in a list, or none (`null`, `[]`). Undefined when what is there instead is reported. */
function mapsIn(tree: Tree, at: Span, { type, labels, diags }: Written): readonly MapTree[] | undefined {
  if (tree.form === "map") return [tree];
  if (tree.form === "leaf" && tree.value === null) return [];
  const others = tree.form === "leaf" ? [tree] : tree.items.filter(({ form }) => form !== "map");
  for (const other of others) {
    diags.add(spanOf(other, at), "config.structure", `\`${type}\` must be an object here`, {
      fix: `Write \`${formOf(type, labels)}\`.`,
    });
  }
  if (others.length > 0) return undefined;
  return tree.form === "list" ? tree.items.flatMap((item) => (item.form === "map" ? [item] : [])) : [];
}

/** Terraform refuses it too: passed over, whatever stood there before would be taken for removed. */
function reportNameless(tree: Tree, at: Span, label: string, { type, labels, diags }: Written): void {
  diags.add(spanOf(tree, at), "config.structure", `\`${type}\` is given without a ${label} here`, {
    detail: "Whether nothing is declared any more, or something is missing, cannot be told.",
    fix: `Write \`${formOf(type, labels)}\`; or leave out what is empty.`,
  });
}

const spanOf = ({ span }: Tree, at: Span): Span => (span.start === span.end ? at : span);

function formOf(type: string, labels: readonly string[]): string {
  return `"${type}": ${labels.reduceRight((inner, label) => `{"${label}": ${inner}}`, "{…}")}`;
}

/** The entries of a block, comments left out. */
export function argumentsOf({ entries }: MapTree): Entry[] {
  return [...entries.values()].filter(({ key }) => key !== COMMENT);
}

/** A block within a block: one, or none. Several are a mistake. */
export function onlyBlock(entry: Entry | undefined, diags: DiagnosticCollector): Block | undefined {
  if (entry === undefined) return undefined;
  const [first, second] = blocksOf(entry, [], diags);
  if (second !== undefined) {
    diags.add(valueSpan(entry), "config.duplicate", `\`${entry.key}\` is given more than once`, {
      fix: "Join them into one.",
    });
  }
  return first;
}

/** A literal true or false; Terraform takes the words as texts too. Undefined when nothing is given, or after a mistake. */
export function flagOf(entry: Entry | undefined, diags: DiagnosticCollector): boolean | undefined {
  if (entry === undefined) return undefined;
  const { value: tree } = entry;
  const value = tree.form === "leaf" ? tree.value : undefined;
  if (value === null) return undefined;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  const fix = "An expression cannot be used here.";
  diags.add(valueSpan(entry), "config.structure", `\`${entry.key}\` must be true or false`, { fix });
  return undefined;
}

/** A literal text. Undefined when nothing is given, or after a mistake. */
export function textOf(entry: Entry | undefined, diags: DiagnosticCollector): string | undefined {
  if (entry === undefined) return undefined;
  const { value: tree } = entry;
  if (tree.form === "leaf" && (typeof tree.value === "string" || tree.value === null)) return tree.value ?? undefined;
  diags.add(valueSpan(entry), "config.structure", `\`${entry.key}\` must be a text`);
  return undefined;
}

/** The items of a literal list of texts, with their places. */
export function textsOf(entry: Entry | undefined, diags: DiagnosticCollector): { text: string; span: Span }[] {
  if (entry === undefined || (entry.value.form === "leaf" && entry.value.value === null)) return [];
  if (entry.value.form !== "list") {
    diags.add(valueSpan(entry), "config.structure", `\`${entry.key}\` must be a list of texts`);
    return [];
  }
  return entry.value.items.flatMap((item) => {
    if (item.form === "leaf" && typeof item.value === "string") return [{ text: item.value, span: item.span }];
    diags.add(item.span, "config.structure", `An item of \`${entry.key}\` must be a text`);
    return [];
  });
}
