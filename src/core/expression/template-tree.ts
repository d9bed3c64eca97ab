import { ExpressionError } from "../model/index.ts";
import type { Reader } from "./reader.ts";
import type { Expression, Template } from "./syntax.ts";
import type { Part } from "./template-parts.ts";
import { text } from "./typed.ts";

/** Directives within directives. */
const MOST_NESTED = 100;

/** A template from its parts. One that is a single `${…}` is what stands in it, of whatever type. @throws ExpressionError */
export function templateOf(reader: Reader, parts: readonly Part[], offset: number): Expression {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === "value")
    return reader.made({ kind: "parentheses", inner: only.value, offset: only.offset });
  const cursor = { parts, at: 0, nested: 0 };
  const { template, end } = sequenceOf(reader, cursor, offset, []);
  if (end !== undefined)
    throw new ExpressionError(
      `%{${end.kind}} has no beginning: there is no %{if} or %{for} that it belongs to`,
      end.offset,
    );
  return template;
}

interface Cursor {
  readonly parts: readonly Part[];
  at: number;
  nested: number;
}

/** Parts up to a directive that ends them, which is taken; without one, up to the end of the template. */
function sequenceOf(reader: Reader, cursor: Cursor, offset: number, ends: readonly Part["kind"][]) {
  const parts: Expression[] = [];
  let end: Part | undefined;
  while (cursor.at < cursor.parts.length && end === undefined) {
    const part = cursor.parts[cursor.at];
    cursor.at += 1;
    if (part === undefined) break;
    if (part.kind === "literal") parts.push({ kind: "literal", value: text(part.text), offset: part.offset });
    else if (part.kind === "value") parts.push(part.value);
    else if (part.kind === "if") parts.push(within(cursor, part, () => ifOf(reader, cursor, part)));
    else if (part.kind === "for") parts.push(within(cursor, part, () => forOf(reader, cursor, part)));
    else if (ends.length > 0 && !ends.includes(part.kind))
      throw new ExpressionError(`%{${part.kind}} where %{${ends.join("} or %{")}} is awaited`, part.offset);
    else end = part;
  }
  if (parts.length === 0) parts.push({ kind: "literal", value: text(""), offset });
  const template: Template = reader.made({ kind: "template", parts, offset });
  return { template, end };
}

function ifOf(reader: Reader, cursor: Cursor, start: Part & { kind: "if" }): Expression {
  const { offset, condition } = start;
  const first = sequenceOf(reader, cursor, offset, ["else", "endif"]);
  if (first.end === undefined) throw new ExpressionError("this %{if} has no %{endif}", offset);
  const second = first.end.kind === "else" ? sequenceOf(reader, cursor, first.end.offset, ["endif"]) : undefined;
  if (second !== undefined && second.end === undefined) throw new ExpressionError("this %{if} has no %{endif}", offset);
  const nothing: Template = { kind: "template", parts: [{ kind: "literal", value: text(""), offset }], offset };
  return reader.made({ kind: "conditional", condition, yes: first.template, no: second?.template ?? nothing, offset });
}

function forOf(reader: Reader, cursor: Cursor, start: Part & { kind: "for" }): Expression {
  const { kind, ...names } = start;
  const { template, end } = sequenceOf(reader, cursor, start.offset, ["endfor"]);
  if (end === undefined) throw new ExpressionError("this %{for} has no %{endfor}", start.offset);
  const texts = reader.made({ kind, ...names, body: template, group: false });
  return reader.made({ kind: "join", texts, offset: start.offset });
}

function within<T>(cursor: Cursor, part: Part, run: () => T): T {
  cursor.nested += 1;
  if (cursor.nested > MOST_NESTED) throw new ExpressionError("directives are nested too deeply", part.offset);
  const result = run();
  cursor.nested -= 1;
  return result;
}
