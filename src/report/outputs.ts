// Outputs in the formats of `terraform output` and `terraform plan`.
import {
  equal,
  hiddenText,
  isObject,
  type Json,
  join,
  type OutputChange,
  type OutputState,
  type Plan,
} from "../core/model/index.ts";
import { escapeLine, quote } from "./escape.ts";
import { type Row, rowLines } from "./plan-value.ts";
import type { Paint } from "./text-style.ts";

/** Terraform's text of a null value, by primitive type. */
const NULLS: Readonly<Record<string, string>> = {
  string: "tostring(null)",
  number: "tonumber(null)",
  bool: "tobool(null)",
};

/** Prints outputs like `terraform output`: lines `name = value`, sorted by name. Hides sensitive values. Empty without outputs. */
export function renderOutputs(outputs: ReadonlyMap<string, OutputState>): string {
  return outputTexts(outputs)
    .map(([name, text]) => `${escapeLine(name)} = ${text}\n`)
    .join("");
}

/** Returns names and values in Terraform's format, sorted by name. */
export function outputTexts(outputs: ReadonlyMap<string, OutputState>): [name: string, value: string][] {
  // CDKTF adds outputs for other stacks. Only `--json` prints them.
  const declared = [...outputs].filter(([name]) => !name.startsWith("cross-stack-output-"));
  return declared
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { value, type, sensitive }]) => [name, sensitive ? "<sensitive>" : renderOutputValue(value, type)]);
}

/**
 * Prints one value in Terraform's format, without a final newline.
 * @param type Terraform's JSON type (`["set", "string"]`). Equal values of a set, a list and a tuple print differently.
 */
export function renderOutputValue(value: Json, type: Json, indent = 0): string {
  const [form, of] = Array.isArray(type) ? (type as readonly Json[]) : [type, null];
  if (value === null) return nullText(form ?? null, of ?? null);
  if (typeof value === "string") return value.includes("\n") ? heredoc(value, indent) : quote(value);
  if (Array.isArray(value)) {
    const items = value.map((item, i) => renderOutputValue(item, partType(form, of, i), indent + 2));
    const lines = items.map((item) => `${item},`);
    const text = enclosed("[", lines, "]", indent);
    return form === "list" || form === "set" ? `to${form}(${text})` : text;
  }
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = entries.map(
    ([name, item]) => `${quote(name)} = ${renderOutputValue(item as Json, partType(form, of, name), indent + 2)}`,
  );
  const text = enclosed("{", lines, "}", indent);
  return form === "map" ? `tomap(${text})` : text;
}

/** Type of a part: the element type of a collection, or the part's own type in a tuple or an object. */
function partType(form: Json | undefined, of: Json | undefined, step: string | number): Json {
  if (form === "list" || form === "set" || form === "map") return of ?? null;
  if (typeof of !== "object" || of === null) return null;
  return (Object.hasOwn(of, step) ? (of as Readonly<Record<string | number, Json>>)[step] : null) ?? null;
}

function nullText(form: Json, of: Json): string {
  if (typeof form !== "string") return "null";
  if (form === "object" || form === "tuple") return `null /* ${form} */`;
  if (form !== "list" && form !== "set" && form !== "map") return NULLS[form] ?? "null";
  return `to${form}(null) /* of ${escapeLine(typeof of === "string" ? of : "object")} */`;
}

function enclosed(open: string, lines: readonly string[], close: string, indent: number): string {
  if (lines.length === 0) return `${open}${close}`;
  const inner = lines.map((line) => `${" ".repeat(indent + 2)}${line}\n`).join("");
  return `${open}\n${inner}${" ".repeat(indent)}${close}`;
}

/** Prints a text of several lines as a heredoc. No line of the text equals its delimiter. */
function heredoc(text: string, indent: number): string {
  const lines = text.split("\n").map(escapeLine);
  let word = "EOT";
  while (lines.some((line) => line.trim() === word)) word += "_";
  const margin = " ".repeat(indent);
  return `${indent > 0 ? "<<-" : "<<"}${word}\n${lines.map((line) => `${margin}${line}\n`).join("")}${margin}${word}`;
}

/** Returns Terraform's section "Changes to Outputs:" of a plan. Empty without changed outputs. */
export function outputLines({ outputs = [] }: Plan, paint: Paint): string[] {
  const changed = outputs.filter(({ action }) => action !== "no-op");
  if (changed.length === 0) return [];
  return [paint.bold("Changes to Outputs:"), ...rowLines(changed.map(rowOf), 2, paint), ""];
}

function rowOf({ name, action, before, after, after_unknown: unknown, sensitive, origin }: OutputChange): Row {
  if (!sensitive) {
    const note =
      action === "update" && unknown === false && equal(before, after) ? { note: "only the type changes" } : {};
    return { label: name, before, after: join(after, unknown), keep: true, ...note };
  }
  // Two different strings replace the values, so that the row has the mark of a change even if both values print the same.
  const sides = { before: action === "create" ? null : "before", after: action === "delete" ? null : "after" };
  return { label: name, ...sides, instead: hiddenText(origin) };
}
