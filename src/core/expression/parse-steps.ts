import { ExpressionError } from "../model/index.ts";
import { type Decimal, parseNumber, toIndex } from "./number.ts";
import type { Reader } from "./reader.ts";
import type { Expression } from "./syntax.ts";
import type { Step } from "./value.ts";

/** An operand with the steps that follow it: `.name`, `.0`, `[key]`, `[*]`, `.*`. @throws ExpressionError */
export function traversed(reader: Reader, from: Expression): Expression {
  let result = from;
  for (;;) {
    const { kind, text, start } = reader.peek();
    if (kind !== "symbol") return result;
    if (text === ".") {
      reader.take();
      result = dotted(reader, result, start);
    } else if (text === "[") {
      reader.take();
      result = bracketed(reader, result, start);
    } else return result;
  }
}

function dotted(reader: Reader, from: Expression, start: number): Expression {
  const step = dotStep(reader);
  if (step !== undefined) return extended(reader, from, step, start);
  if (!reader.accept("*")) reader.unexpected("the name of an attribute after the dot");
  // The older form of a splat takes attributes alone; an index after it is one of the whole result.
  let each: Expression = { kind: "item", offset: start };
  while (reader.peek().text === ".") {
    const dot = reader.take().start;
    const next = dotStep(reader);
    if (next === undefined) reader.unexpected("the name of an attribute after the dot");
    each = extended(reader, each, next, dot);
  }
  return reader.made({ kind: "splat", source: from, each, offset: from.offset });
}

/** A name, or a number as it was once written for an index. */
function dotStep(reader: Reader): Step | undefined {
  const { kind, text, start } = reader.peek();
  if (kind === "identifier") return reader.take().text;
  if (kind !== "number") return undefined;
  reader.take();
  const index = staticIndex(parseNumber(text));
  if (text.includes(".") || index === undefined)
    throw new ExpressionError(`.${text} is read as one number; write [${text.split(".").join("][")}]`, start);
  return index;
}

function bracketed(reader: Reader, from: Expression, start: number): Expression {
  if (reader.accept("*")) {
    reader.expect("]", "right after [*");
    const each = traversed(reader, { kind: "item", offset: start });
    return reader.made({ kind: "splat", source: from, each, offset: from.offset });
  }
  const key = reader.ignoringNewlines(() => {
    const expression = reader.expression();
    reader.expect("]", "to close the index");
    return expression;
  });
  const step = staticKey(key);
  if (step !== undefined) return extended(reader, from, step, start);
  return reader.made({ kind: "index", source: from, key, offset: from.offset });
}

/** The key when it is plainly written: a number or a string without templates. */
function staticKey(key: Expression): Step | undefined {
  if (key.kind === "literal" && key.value.type === "number") return staticIndex(key.value.content as Decimal);
  const [part, ...others] = key.kind === "template" ? key.parts : [];
  return others.length === 0 && part?.kind === "literal" ? String(part.value.content) : undefined;
}

function staticIndex(value: Decimal | undefined): number | undefined {
  const index = value === undefined ? undefined : toIndex(value);
  return index !== undefined && index >= 0 ? index : undefined;
}

/** Static steps gather in one node, so that a name knows how it goes on. */
function extended(reader: Reader, from: Expression, step: Step, start: number): Expression {
  if (from.kind === "name")
    return reader.made({ ...from, steps: [...from.steps, step], text: reader.text.slice(from.offset, reader.at) });
  if (from.kind === "access") return reader.made({ ...from, steps: [...from.steps, step] });
  return reader.made({
    kind: "access",
    source: from,
    steps: [step],
    offset: from.kind === "item" ? start : from.offset,
  });
}
