import type { z } from "zod";
import { coreOf, isFreeMap, isJsonText, isTextMap } from "../../core/kinds/attribute.ts";
import {
  type AttributePath,
  canonicalDecimal,
  type Diagnostic,
  formatPath,
  type Json,
} from "../../core/model/index.ts";
import type { DiagnosticCollector } from "./diagnostics.ts";
import { problem } from "./messages.ts";
import type { Span } from "./source.ts";
import { type Leaf, type Tree, textOf } from "./tree.ts";

/**
 * Reads values by type: a string keeps its source text, and a number has decimal digits. Rejects a scalar whose value differs
 * from its source text.
 */

/** The value being read, with the data for its diagnostics. */
interface Reading {
  readonly path: AttributePath;
  readonly diags: DiagnosticCollector;
  readonly address?: string;
  /** Location of the key, if the value is empty. */
  readonly keySpan?: Span;
  /** True inside a map of strings, where null is an error. */
  readonly isInTexts?: boolean;
}

/** Parts of a zod definition that reading needs. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly values?: readonly unknown[];
}

/**
 * Returns a value as JSON. The caller validates it.
 * @param type Undefined: any type.
 * @param isItem True if the value is in a list or map.
 */
export function typedValue(tree: Tree, type: z.ZodType | undefined, reading: Reading, isItem = false): Json {
  if (tree.form === "leaf" && typeof tree.value === "string") return tree.value;
  const def: Definition = type === undefined ? { type: "any" } : (coreOf(type).def as unknown as Definition);
  if (tree.form === "leaf") return scalar(tree, def, reading, isItem);
  const { path } = reading;
  if (tree.form === "list") {
    return tree.items.map((item, i) => typedValue(item, def.element, { ...reading, path: [...path, i] }, true));
  }
  const isFree = type !== undefined && isFreeMap(type);
  const isFlat = isFree && isTextMap(type);
  const values = [...tree.entries].map(([key, { keySpan, value }]) => {
    const part = def.shape !== undefined && Object.hasOwn(def.shape, key) ? def.shape[key] : def.valueType;
    const inner = { ...reading, path: [...path, key], keySpan, isInTexts: isFree || reading.isInTexts === true };
    if (isFlat && value.form !== "leaf") return [key, refuseNested(value, inner)];
    if (isFree && !isFlat && value.form === "leaf" && isJsonText(String(value.value)))
      refuse(value, inner, problem("config.invalid_value/json_text", aboutOf(inner)));
    return [key, typedValue(value, part, inner, def.shape === undefined)];
  });
  return Object.fromEntries(values);
}

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

function scalar(leaf: Leaf, { type, values: [literal] = [] }: Definition, reading: Reading, isItem: boolean): Json {
  const { value, written } = leaf;
  const kind = type === "literal" ? typeof literal : type === "enum" ? "string" : type;
  if ((kind === "string" || reading.isInTexts === true) && value === null && (isItem || written !== undefined)) {
    return refuse(leaf, reading, problem("config.invalid_value/empty", { written, ...aboutOf(reading) }));
  }
  if (kind === "string") return textOf(leaf) ?? null;
  if (written === undefined || kind === "boolean") return value;
  if (kind === "number") {
    if (value === null || (DECIMAL.test(written) && canonicalDecimal(written) === canonicalDecimal(String(value))))
      return value;
    return refuse(leaf, reading, problem("config.invalid_value/decimal", { written, value, ...aboutOf(reading) }));
  }
  return refuse(leaf, reading, problem("config.invalid_value/unquoted", { written, value, ...aboutOf(reading) }));
}

/** Reports a list or a map if a string is expected. @returns a string that causes no second error. */
function refuseNested(tree: Exclude<Tree, Leaf>, reading: Reading): Json {
  const { source, start, end } = tree.span;
  const given = { written: source.text.slice(start, end), form: tree.form, ...aboutOf(reading) };
  reading.diags.add(tree.span, problem("config.invalid_value/nested", given));
  return "";
}

/** Reports a scalar. @returns a value that causes no second error. */
function refuse(leaf: Leaf, { diags, keySpan }: Reading, mistake: Diagnostic): Json {
  diags.add(leaf.span.start === leaf.span.end ? (keySpan ?? leaf.span) : leaf.span, mistake);
  return leaf.value ?? leaf.written ?? "";
}

const aboutOf = ({ path, address }: Reading) => ({ path: formatPath(path), attribute: path, address });
