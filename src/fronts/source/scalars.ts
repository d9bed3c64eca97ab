import type { z } from "zod";
import { coreOf, isFreeMap, isJsonText, isTextMap } from "../../core/kinds/attribute.ts";
import { type AttributePath, canonicalDecimal, formatPath, type Json } from "../../core/model/index.ts";
import type { DiagnosticCollector } from "./diagnostics.ts";
import type { Span } from "./source.ts";
import { type Leaf, type Tree, textOf } from "./tree.ts";

/**
 * Reads values by their type: a text keeps its source text, a number has decimal digits. A scalar that would be sent in another
 * form than its source text is refused at its place.
 */

/** The value being read, as diagnostics need it. */
interface Place {
  readonly path: AttributePath;
  readonly diags: DiagnosticCollector;
  readonly address?: string;
  /** The key of an empty value. */
  readonly keySpan?: Span;
  /** True inside a map of texts, where null is an error at each level. */
  readonly isInTexts?: boolean;
}

/** The parts of a zod type that values are read by. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly values?: readonly unknown[];
}

/**
 * The value of a tree as JSON. The caller checks it against the type.
 * @param type undefined where any value is accepted. @param isItem whether a list or a map holds the value.
 */
export function typedValue(tree: Tree, type: z.ZodType | undefined, place: Place, isItem = false): Json {
  if (tree.form === "leaf" && typeof tree.value === "string") return tree.value;
  const def: Definition = type === undefined ? { type: "any" } : (coreOf(type).def as unknown as Definition);
  if (tree.form === "leaf") return scalar(tree, def, place, isItem);
  const { path } = place;
  if (tree.form === "list") {
    return tree.items.map((item, i) => typedValue(item, def.element, { ...place, path: [...path, i] }, true));
  }
  const isFree = type !== undefined && isFreeMap(type);
  const isFlat = isFree && isTextMap(type);
  const values = [...tree.entries].map(([key, { keySpan, value }]) => {
    const part = def.shape !== undefined && Object.hasOwn(def.shape, key) ? def.shape[key] : def.valueType;
    const inner = { ...place, path: [...path, key], keySpan, isInTexts: isFree || place.isInTexts === true };
    if (isFlat && value.form !== "leaf") return [key, refuseNested(value, inner)];
    if (isFree && !isFlat && value.form === "leaf" && isJsonText(String(value.value)))
      refuse(value, inner, "this text would be sent as the list or map that it holds", "Write it without quotes.");
    return [key, typedValue(value, part, inner, def.shape === undefined)];
  });
  return Object.fromEntries(values);
}

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

function scalar(leaf: Leaf, { type, values: [literal] = [] }: Definition, place: Place, isItem: boolean): Json {
  const { value, written } = leaf;
  const kind = type === "literal" ? typeof literal : type === "enum" ? "string" : type;
  if ((kind === "string" || place.isInTexts === true) && value === null && (isItem || written !== undefined)) {
    const given = written === undefined ? "the value is empty" : `${written} without quotes means "no value"`;
    const quoted = written === undefined ? '`""` for an empty text' : `\`"${written}"\``;
    return refuse(leaf, place, `expected a text, but ${given}`, `Write it in quotes (${quoted}), or remove it.`);
  }
  if (kind === "string") return textOf(leaf) ?? null;
  if (written === undefined || kind === "boolean") return value;
  if (kind === "number") {
    if (value === null || (DECIMAL.test(written) && canonicalDecimal(written) === canonicalDecimal(String(value))))
      return value;
    return refuse(leaf, place, `${written} is not a number in decimal digits`, `Write \`${value}\` if you mean that.`);
  }
  const fix = `Write it in quotes if it is a text (\`"${written}"\`), otherwise \`${value}\`.`;
  return refuse(leaf, place, `${written} without quotes would become ${value}`, fix);
}

/** Reports a list or a map where a text belongs. @returns a text that causes no second error. */
function refuseNested(tree: Exclude<Tree, Leaf>, { path, diags, address }: Place): Json {
  const { source, start, end } = tree.span;
  const written = source.text.slice(start, end);
  const isShort = written.length < 80 && !/["\n]/.test(written);
  const fix = `Write it in quotes${isShort ? ` (\`"${written}"\`)` : ""} if it is a text.`;
  const summary = `${formatPath(path)}: expected a text, not a ${tree.form}`;
  diags.add(tree.span, "config.invalid_value", summary, { fix, attribute: path, address });
  return "";
}

/** Reports a scalar. @returns a value that causes no second error. */
function refuse(leaf: Leaf, { path, diags, address, keySpan }: Place, problem: string, fix: string): Json {
  const span = leaf.span.start === leaf.span.end ? (keySpan ?? leaf.span) : leaf.span;
  diags.add(span, "config.invalid_value", `${formatPath(path)}: ${problem}`, { fix, attribute: path, address });
  return leaf.value ?? leaf.written ?? "";
}
