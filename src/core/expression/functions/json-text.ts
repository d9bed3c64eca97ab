import { formatNumber } from "../number.ts";
import { elementsOf, entriesOf, isKnown, isWhollyKnown, text, unknown } from "../typed.ts";
import { shapeOf } from "../types.ts";
import type { Typed } from "../value.ts";
import type { Definition } from "./definition.ts";
import { decimalIn } from "./integers.ts";
import { readJson } from "./json-reader.ts";
import { NOTHING, textOf } from "./parts.ts";

/** Characters that would mean something in HTML, and line ends of JavaScript, are escaped. */
const ESCAPED = /[<>&\u2028\u2029]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text as JSON, with Terraform's escapes. */
export function quotedJson(content: string): string {
  return JSON.stringify(content).replace(ESCAPED, escaped);
}

/** The value as JSON: no spaces, keys in order, numbers in full. It is known with all its parts. */
export function writtenJson(typed: Typed): string {
  if (typed.content === null) return "null";
  switch (shapeOf(typed.type)) {
    case "string":
      return quotedJson(textOf(typed));
    case "number":
      return formatNumber(decimalIn(typed));
    case "bool":
      return String(typed.content);
    case "map":
    case "object":
      return `{${entriesOf(typed)
        .map(([key, item]) => `${quotedJson(key)}:${writtenJson(item)}`)
        .join(",")}}`;
    default:
      return `[${elementsOf(typed).map(writtenJson).join(",")}]`;
  }
}

const jsonencode: Definition = {
  parameters: [{ name: "val", type: "any", nullable: true, unknown: true, untyped: true }],
  result: "string",
  run: ([given = NOTHING]) => (isWhollyKnown(given) ? text(writtenJson(given)) : unknown("string")),
};

const jsondecode: Definition = {
  parameters: [{ name: "str", type: "string" }],
  result: ([given = NOTHING]) => (isKnown(given) ? readJson(textOf(given)).type : "any"),
  run: ([given = NOTHING]) => readJson(textOf(given)),
};

export const JSON_TEXT: Readonly<Record<string, Definition>> = { jsondecode, jsonencode };
