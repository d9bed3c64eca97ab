import type { Mistakes } from "../mistakes.ts";
import type { Span } from "../source.ts";
import { type Entry, type MapTree, type Tree, valueSpan } from "../tree.ts";
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
export function blocksOf(entry: Entry, labels: readonly string[], mistakes: Mistakes): Block[] {
  const found: Block[] = [];
  const { key, keySpan } = entry;
  const walk = (tree: Tree, above: readonly Label[], at: Span): void => {
    if (tree.form === "leaf" && tree.value === null) return;
    if (tree.form === "list") {
      for (const item of tree.items) {
        if (item.form === "map") walk(item, above, at);
        else reportForm(item.span, key, labels, mistakes);
      }
    } else if (tree.form === "leaf") {
      reportForm(tree.span.start === tree.span.end ? at : tree.span, key, labels, mistakes);
    } else if (above.length === labels.length) {
      if (at.source instanceof StackSource) at.source.credit(at.start, tree);
      found.push({ labels: above, keySpan: at, body: tree });
    } else {
      for (const one of tree.entries.values()) {
        if (one.key !== COMMENT) walk(one.value, [...above, { text: one.key, span: one.keySpan }], one.keySpan);
      }
    }
  };
  walk(entry.value, [], keySpan);
  return found;
}

function reportForm(span: Span, type: string, labels: readonly string[], mistakes: Mistakes): void {
  const form = labels.reduceRight((inner, label) => `{"${label}": ${inner}}`, "{…}");
  mistakes.add(span, "config.structure", `\`${type}\` must be an object here`, {
    fix: `Write \`"${type}": ${form}\`.`,
  });
}

/** The entries of a block, comments left out. */
export function argumentsOf({ entries }: MapTree): Entry[] {
  return [...entries.values()].filter(({ key }) => key !== COMMENT);
}

/** A block within a block: one, or none. Several are a mistake. */
export function onlyBlock(entry: Entry | undefined, mistakes: Mistakes): Block | undefined {
  if (entry === undefined) return undefined;
  const [first, second] = blocksOf(entry, [], mistakes);
  if (second !== undefined) {
    mistakes.add(valueSpan(entry), "config.duplicate", `\`${entry.key}\` is given more than once`, {
      fix: "Join them into one.",
    });
  }
  return first;
}

/** A literal true or false; Terraform takes the words as texts too. Undefined when nothing is given, or after a mistake. */
export function flagOf(entry: Entry | undefined, mistakes: Mistakes): boolean | undefined {
  if (entry === undefined) return undefined;
  const { value: tree } = entry;
  const value = tree.form === "leaf" ? tree.value : undefined;
  if (value === null) return undefined;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  const fix = "An expression cannot be used here.";
  mistakes.add(valueSpan(entry), "config.structure", `\`${entry.key}\` must be true or false`, { fix });
  return undefined;
}

/** A literal text. Undefined when nothing is given, or after a mistake. */
export function textOf(entry: Entry | undefined, mistakes: Mistakes): string | undefined {
  if (entry === undefined) return undefined;
  const { value: tree } = entry;
  if (tree.form === "leaf" && (typeof tree.value === "string" || tree.value === null)) return tree.value ?? undefined;
  mistakes.add(valueSpan(entry), "config.structure", `\`${entry.key}\` must be a text`);
  return undefined;
}

/** The items of a literal list of texts, with their places. */
export function textsOf(entry: Entry | undefined, mistakes: Mistakes): { text: string; span: Span }[] {
  if (entry === undefined || (entry.value.form === "leaf" && entry.value.value === null)) return [];
  if (entry.value.form !== "list") {
    mistakes.add(valueSpan(entry), "config.structure", `\`${entry.key}\` must be a list of texts`);
    return [];
  }
  return entry.value.items.flatMap((item) => {
    if (item.form === "leaf" && typeof item.value === "string") return [{ text: item.value, span: item.span }];
    mistakes.add(item.span, "config.structure", `An item of \`${entry.key}\` must be a text`);
    return [];
  });
}
