import { Mistakes, mistaken, type Run } from "./run.ts";
import type { Splat } from "./syntax.ts";
import { elementsOf, isKnown, list, secretIf, tuple, unknown } from "./typed.ts";
import { elementType, sameType, shapeOf, tupleTypes } from "./types.ts";
import type { Type, Typed } from "./value.ts";

/** `source[*]each`. What is no list is taken for a list of one, null for an empty one. */
export function splat(run: Run, node: Splat): Typed {
  const before = run.mistakes.count;
  const source = run.value(node.source);
  if (run.mistakes.count > before) return unknown("any");
  const shape = shapeOf(source.type);
  const single = shape !== "list" && shape !== "set" && shape !== "tuple";
  if (source.content === null) {
    if (single) return secretIf(tuple([]), source.secret);
    return mistaken(run, "[*] cannot go through a list that is null", node.source.offset);
  }
  if (source.type === "any") return secretIf(unknown("any"), source.secret);
  const each = (item: Typed) => run.with({ item }).value(node.each);
  if (single) {
    const result = each(source);
    // It may still turn out to be null, and then there is nothing.
    return secretIf(isKnown(source) ? tuple([result]) : unknown("any"), source.secret);
  }
  if (!isKnown(source)) return secretIf(unknown(resultType(source.type, each)), source.secret);
  const items = elementsOf(source).map(each);
  // Terraform goes on with an unknown value of the type that it would have.
  if (run.mistakes.count > before) return unknown(resultType(source.type, quiet(run, node)));
  if (shape === "tuple") return secretIf(tuple(items), source.secret);
  if (items.length === 0) return secretIf(list(elementType(resultType(source.type, each)), []), source.secret);
  const [first = "any"] = items.map(({ type }) => type).filter((type) => type !== "any");
  if (items.some(({ type }) => type !== "any" && !sameType(type, first)))
    return mistaken(run, "this [*] gives elements of different types; use a for expression", node.offset);
  const typed = items.map((item): Typed => (item.type === "any" ? { ...item, type: first } : item));
  return secretIf(list(first, typed), source.secret);
}

/** What is wrong with an element has been noted already. */
function quiet(run: Run, node: Splat): (item: Typed) => Typed {
  return (item) => run.with({ item, mistakes: new Mistakes() }).value(node.each);
}

/** The type of the result, as far as it follows from the type of the source. */
function resultType(type: Type, each: (item: Typed) => Typed): Type {
  const of = (element: Type) => each(unknown(element)).type;
  return shapeOf(type) === "tuple" ? { tuple: tupleTypes(type).map(of) } : { list: of(elementType(type)) };
}
