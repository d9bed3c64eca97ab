import type { DiagnosticCollector, Remark } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import {
  type Entry,
  isGiven,
  isNull,
  type MapTree,
  type SpannedName,
  stringOf,
  type Tree,
  valueSpan,
} from "../source/tree.ts";
import { SynthesizedSource } from "./json.ts";
import { problem } from "./messages.ts";

/**
 * Reads Terraform's JSON syntax: blocks with labels, literal values, and the table of all keys.
 * https://developer.hashicorp.com/terraform/language/syntax/json
 */

/** A block with its labels (`hosting_service`, `acme`) and its content. */
export interface Block {
  readonly labels: readonly { readonly text: string; readonly span: Span }[];
  /** Location of the last label. Without labels: of the block's type. */
  readonly keySpan: Span;
  readonly body: MapTree;
}

/** Key for comments and metadata, which are ignored. */
const COMMENT = "//";

/** Returns the blocks of a type. Each label is an object key. At each level, an array of objects means several blocks. */
export function blocksOf(entry: Entry, labels: readonly string[], diags: DiagnosticCollector): Block[] {
  const { key: type } = entry;
  const form = `"${type}": ${labels.reduceRight((inner, label) => `{"${label}": ${inner}}`, "{…}")}`;
  const walk = (tree: Tree, above: Block["labels"], at: Span): Block[] => {
    const parts = isNull(tree) ? [] : tree.form === "list" ? tree.items : [tree];
    const bodies = parts.filter((part) => part.form === "map");
    if (bodies.length < parts.length) {
      for (const part of parts.filter(({ form: own }) => own !== "map")) {
        diags.add(spanOf(part, at), problem("config.structure/object", { type, form }));
      }
      return [];
    }
    const label = labels[above.length];
    if (label === undefined) {
      for (const body of bodies) if (at.source instanceof SynthesizedSource) at.source.credit(at.start, body);
      return bodies.map((body) => ({ labels: above, keySpan: at, body }));
    }
    const named = bodies.flatMap(argumentsOf);
    if (named.length === 0) {
      // As in Terraform, this is an error. If it were ignored, the plan would remove the resources.
      diags.add(spanOf(tree, at), problem("config.structure/label", { type, label, form }));
    }
    return named.flatMap(({ key, keySpan, value }) => walk(value, [...above, { text: key, span: keySpan }], keySpan));
  };
  return walk(entry.value, [], entry.keySpan);
}

const spanOf = ({ span }: Tree, at: Span): Span => (span.start === span.end ? at : span);

/** Returns the entries of a block, without comments. */
export function argumentsOf({ entries }: MapTree): Entry[] {
  return [...entries.values()].filter(({ key }) => key !== COMMENT);
}

/** Returns the block within a block. Undefined if there is none. Several are an error. */
export function onlyBlock(entry: Entry | undefined, diags: DiagnosticCollector): Block | undefined {
  if (entry === undefined) return undefined;
  const [first, second] = blocksOf(entry, [], diags);
  if (second !== undefined) {
    diags.add(valueSpan(entry), problem("config.duplicate/block", { key: entry.key }));
  }
  return first;
}

/** Returns a literal true or false. As in Terraform, it may be a string. Undefined for any other value. */
export function flagOf({ value: tree }: Entry): boolean | undefined {
  const value = tree.form === "leaf" ? tree.value : undefined;
  if (value === true || value === "true") return true;
  return value === false || value === "false" ? false : undefined;
}

/** Returns a literal true or false. Undefined if missing, or after a reported error. */
export function literalFlag(entry: Entry | undefined, diags: DiagnosticCollector): boolean | undefined {
  if (!isGiven(entry)) return undefined;
  const flag = flagOf(entry);
  if (flag !== undefined) return flag;
  return diags.add(valueSpan(entry), problem("config.structure/flag", { key: entry.key }));
}

/** Returns a literal string. Undefined if missing, or after a reported error. */
export function literalText(entry: Entry | undefined, diags: DiagnosticCollector): string | undefined {
  if (!isGiven(entry)) return undefined;
  const text = stringOf(entry.value);
  if (text === undefined) diags.add(valueSpan(entry), problem("config.structure/text", { key: entry.key }));
  return text;
}

/** Returns the items of a literal list of strings, with their locations. */
export function literalTexts(entry: Entry | undefined, diags: DiagnosticCollector): SpannedName[] {
  if (!isGiven(entry)) return [];
  if (entry.value.form !== "list") {
    diags.add(valueSpan(entry), problem("config.structure/texts", { key: entry.key }));
    return [];
  }
  return entry.value.items.flatMap((item) => {
    const name = stringOf(item);
    if (name !== undefined) return { name, span: item.span };
    diags.add(item.span, problem("config.structure/item", { key: entry.key }));
    return [];
  });
}

/** Supported block types of Terraform's language, with their labels. */
export const BLOCK_TYPES = {
  terraform: [],
  provider: ["NAME"],
  variable: ["NAME"],
  locals: [],
  output: ["NAME"],
  resource: ["TYPE", "NAME"],
  data: ["TYPE", "NAME"],
  import: [],
  moved: [],
  removed: [],
} as const satisfies Record<string, readonly string[]>;

/** Keys of a block in Terraform's language. Excludes the keys of schemas and backends. */
export interface Keys {
  /** Keys that hostform reads or may ignore. */
  readonly known: readonly string[];
  /** Keys that only Terraform supports. */
  readonly refused: readonly string[];
}

const PROGRAMS = ["connection", "provisioner"];
const MOVES = [...PROGRAMS, "identity"];
const META = ["count", "for_each", "depends_on", "provider", "lifecycle"];
const CHECKS = ["precondition", "postcondition", "replace_triggered_by"];

/**
 * All keys of Terraform's language, by block. `stack`: the file itself. All readers use this table, so any other key is an
 * error. A test checks the effect of each key in an untrusted stack.
 */
export const KEYS = {
  stack: {
    known: Object.keys(BLOCK_TYPES),
    refused: ["module", "check", "ephemeral", "action", "list"],
  },
  terraform: {
    known: ["backend", "required_providers", "required_version", "provider_meta"],
    refused: ["cloud", "experiments", "encryption"],
  },
  provider: { known: ["alias", "version"], refused: [] },
  variable: {
    known: ["type", "default", "description", "sensitive", "nullable", "ephemeral", "validation"] as const,
    refused: [],
  },
  "variable.validation": { known: ["condition", "error_message"], refused: [] },
  output: {
    known: ["value", "description", "sensitive", "depends_on", "ephemeral"],
    refused: ["precondition"],
  },
  resource: { known: META, refused: [...PROGRAMS, "dynamic"] },
  "resource.lifecycle": {
    known: ["prevent_destroy", "ignore_changes", "create_before_destroy", "destroy", "enabled"],
    refused: CHECKS,
  },
  data: { known: META, refused: [...PROGRAMS, "dynamic"] },
  "data.lifecycle": { known: ["enabled"], refused: CHECKS },
  "data.terraform_remote_state": {
    known: ["backend", "config", "workspace", "defaults", "depends_on", "provider"],
    refused: ["count", "for_each", "lifecycle"],
  },
  import: { known: ["id", "to", "for_each", "provider"], refused: MOVES },
  moved: { known: ["from", "to"], refused: MOVES },
  removed: { known: ["from", "lifecycle"], refused: MOVES },
  "removed.lifecycle": { known: ["destroy"], refused: [] },
} satisfies Record<string, Keys>;

/** Reports a key that only Terraform supports. @returns true in this case. */
export function refusedKey(
  { key, keySpan }: Entry,
  { refused }: Keys,
  diags: DiagnosticCollector,
  remark: Remark = {},
): boolean {
  const isRefused = refused.includes(key);
  if (isRefused) diags.add(keySpan, problem("config.unsupported/key", { key, ...remark }));
  return isRefused;
}

export function checkKeys(
  { body }: Pick<Block, "body">,
  type: keyof typeof KEYS,
  diags: DiagnosticCollector,
  remark: Remark = {},
): void {
  const keys: Keys = KEYS[type];
  for (const entry of argumentsOf(body)) {
    const { key, keySpan } = entry;
    if (keys.known.includes(key) || refusedKey(entry, keys, diags, remark)) continue;
    diags.add(keySpan, problem("config.unknown_key/block", { ...diags.unknown(key, keys.known), type, ...remark }));
  }
}
