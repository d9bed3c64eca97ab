import { convert } from "./convert.ts";
import { Refusal } from "./refusal.ts";
import { attempt, mistaken, type Run } from "./run.ts";
import type { Join, Template } from "./syntax.ts";
import { bare, elementsOf, isKnown, secretIf, text, unknown } from "./typed.ts";
import type { Typed } from "./value.ts";

const LONGEST = 16 * 1024 * 1024;

/** The parts one after another; unknown as soon as one is. */
export function templateOf(run: Run, node: Template): Typed {
  return together(
    run,
    node.parts.map((part) => ({ value: run.value(part), offset: part.offset })),
  );
}

/** What a `%{for}` gives, one after another. */
export function joinOf(run: Run, node: Join): Typed {
  const texts = run.value(node.texts);
  if (!isKnown(texts)) return secretIf(unknown("string"), texts.secret);
  const joined = together(
    run,
    elementsOf(texts).map((value) => ({ value, offset: node.offset })),
  );
  return secretIf(joined, texts.secret);
}

function together(run: Run, parts: readonly { readonly value: Typed; readonly offset: number }[]): Typed {
  const known = parts.every(({ value }) => isKnown(value));
  const texts = parts.map(({ value, offset }) => {
    if (value.content === null) mistaken(run, "null cannot stand inside a string", offset);
    if (value.content === null || !isKnown(value)) return "";
    const converted = attempt(run, offset, "this cannot stand inside a string: ", () => convert(bare(value), "string"));
    return String(converted?.content ?? "");
  });
  if (texts.reduce((sum, one) => sum + one.length, 0) > LONGEST) throw new Refusal("the text is too long", 0);
  return secretIf(known ? text(texts.join("")) : unknown("string"), ...parts.map(({ value }) => value.secret));
}
