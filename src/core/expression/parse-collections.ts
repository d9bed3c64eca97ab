import { ExpressionError } from "../model/index.ts";
import type { Reader } from "./reader.ts";
import type { Expression, For } from "./syntax.ts";
import { text } from "./typed.ts";

/** `[a, b]` or `[for …]`, from the bracket on. @throws ExpressionError */
export function tupleOf(reader: Reader): Expression {
  const offset = reader.take().start;
  return reader.ignoringNewlines(() => {
    if (isFor(reader)) return forOf(reader, offset, "]");
    const items: Expression[] = [];
    while (!reader.accept("]")) {
      items.push(reader.expression());
      if (reader.accept(",")) continue;
      reader.expect("]", "or a comma in the list");
      break;
    }
    return reader.made({ kind: "tuple", items, offset });
  });
}

/** `{a = b}` or `{for …}`, from the brace on. Line breaks separate entries as commas do. @throws ExpressionError */
export function objectOf(reader: Reader): Expression {
  const offset = reader.take().start;
  const made = reader.ignoringNewlines(() => (isFor(reader) ? forOf(reader, offset, "}") : undefined));
  return made ?? reader.withNewlines(true, () => entriesOf(reader, offset));
}

function entriesOf(reader: Reader, offset: number): Expression {
  const entries: { key: Expression; value: Expression }[] = [];
  for (;;) {
    while (reader.peek().kind === "newline") reader.take();
    if (reader.accept("}")) break;
    const key = keyOf(reader.expression());
    if (!reader.accept("=") && !reader.accept(":")) reader.unexpected('"=" and the value of the attribute');
    entries.push({ key, value: reader.expression() });
    if (reader.accept("}")) break;
    if (!reader.accept(",") && reader.peek().kind !== "newline")
      reader.unexpected('a comma, a line break or "}" after the attribute');
  }
  return reader.made({ kind: "object", entries, offset });
}

/** A bare word is the key itself; an expression stands in parentheses. */
function keyOf(key: Expression): Expression {
  if (key.kind === "literal" && typeof key.value.content === "boolean")
    return { ...key, value: text(String(key.value.content)) };
  if (key.kind === "literal" && key.value.content === null) return { ...key, value: text("null") };
  if (key.kind !== "name") return key;
  if (key.steps.length > 0)
    throw new ExpressionError(
      `${key.text} as a key: put it in parentheses to have its value, or in quotes to have it as it is`,
      key.offset,
    );
  return { kind: "literal", value: text(key.root), offset: key.offset };
}

function isFor(reader: Reader): boolean {
  const { kind, text: word } = reader.peek();
  return kind === "identifier" && word === "for";
}

function forOf(reader: Reader, offset: number, close: "]" | "}"): For {
  reader.take();
  const names = reader.forNames();
  const source = reader.expression();
  reader.expect(":", "after what the for goes through");
  const first = reader.expression();
  const arrow = reader.peek();
  const second = reader.accept("=>") ? reader.expression() : undefined;
  if (close === "]" && second !== undefined)
    throw new ExpressionError("a for in [ ] has no keys: write { } to make an object", arrow.start);
  if (close === "}" && second === undefined) reader.unexpected('"=>" and the value of the entry');
  const ellipsis = reader.peek();
  const group = reader.accept("...");
  if (group && close === "]") throw new ExpressionError("only a for in { } can group with ...", ellipsis.start);
  const condition = reader.peek().text === "if" ? conditionOf(reader) : undefined;
  reader.expect(close, "at the end of the for");
  return reader.made({
    kind: "for",
    ...names,
    source,
    ...(second === undefined ? { body: first } : { key: first, body: second }),
    ...(condition === undefined ? {} : { condition }),
    group,
    offset,
  });
}

function conditionOf(reader: Reader): Expression {
  reader.take();
  return reader.expression();
}
