import { keyOf } from "./constructors.ts";
import { convert } from "./convert.ts";
import { attempt, mistaken, type Run } from "./run.ts";
import type { For } from "./syntax.ts";
import { elementsOf, entriesOf, isKnown, object, secretIf, text, tuple, unknown, whole } from "./typed.ts";
import { isPrimitive, shapeOf, typeName } from "./types.ts";
import type { Typed } from "./value.ts";

/**
 * A tuple or an object of what the body gives for each element. Where it is unknown which elements there are, which are
 * let through or what a key is, the whole is.
 */
export function forOf(run: Run, node: For): Typed {
  const source = run.value(node.source);
  const { offset } = node.source;
  if (source.content === null) return mistaken(run, "what the for goes through is null", offset);
  if (source.type === "any") return secretIf(unknown("any"), source.secret);
  if (isPrimitive(source.type)) return mistaken(run, `a for cannot go through a ${typeName(source.type)}`, offset);
  const marks = [source.secret];
  if (!suits(run, node, marks)) return unknown("any");
  if (!isKnown(source)) return secretIf(unknown("any"), ...marks);
  const result = { known: true, items: [] as Typed[], groups: new Map<string, Typed[]>() };
  for (const [key, value] of pairsOf(source)) {
    const inner = bind(run, node, key, value);
    const through = includes(inner, node, marks);
    if (through === undefined) result.known = false;
    else if (through) add(inner, node, result, marks);
  }
  if (!result.known) return secretIf(unknown("any"), ...marks);
  return secretIf(node.key === undefined ? tuple(result.items) : objectFrom(node, result.groups), ...marks);
}

interface Result {
  known: boolean;
  readonly items: Typed[];
  readonly groups: Map<string, Typed[]>;
}

function add(run: Run, node: For, result: Result, marks: (boolean | undefined)[]): void {
  if (node.key === undefined) {
    result.items.push(run.value(node.body));
    return;
  }
  const key = keyOf(run, node.key);
  marks.push(key?.secret);
  if (key === undefined || !isKnown(key)) {
    result.known = false;
    return;
  }
  const name = String(key.content);
  const value = run.value(node.body);
  const group = result.groups.get(name);
  if (group === undefined) result.groups.set(name, [value]);
  else if (node.group) group.push(value);
  else {
    const which = key.secret ? "the same key" : `the key ${JSON.stringify(name)}`;
    mistaken(run, `two elements give ${which}; write ... after the value to group them`, node.key.offset);
  }
}

function objectFrom(node: For, groups: ReadonlyMap<string, readonly Typed[]>): Typed {
  return object(
    [...groups].flatMap(([key, values]) =>
      (node.group ? [tuple(values)] : values.slice(0, 1)).map((one) => [key, one] as const),
    ),
  );
}

/** Before the first element, and even when there is none: whether the condition can be a bool at all. */
function suits(run: Run, node: For, marks: (boolean | undefined)[]): boolean {
  if (node.condition === undefined) return true;
  const inner = bind(run, node, unknown("any"), unknown("any"));
  const before = run.mistakes.count;
  const condition = inner.value(node.condition);
  marks.push(condition.secret);
  if (condition.content === null) mistaken(run, "the condition of the for is null", node.condition.offset);
  else
    attempt(run, node.condition.offset, "the condition of the for is not a bool: ", () => convert(condition, "bool"));
  return run.mistakes.count === before;
}

/** Whether an element is let through; undefined as long as that is not known, or because of a mistake. */
function includes(run: Run, node: For, marks: (boolean | undefined)[]): boolean | undefined {
  if (node.condition === undefined) return true;
  const { offset } = node.condition;
  const before = run.mistakes.count;
  const condition = run.value(node.condition);
  marks.push(condition.secret);
  if (condition.content === null) mistaken(run, "the condition of the for is null", offset);
  const decision = attempt(run, offset, "the condition of the for is not a bool: ", () => convert(condition, "bool"));
  if (run.mistakes.count > before || decision === undefined || !isKnown(decision)) return undefined;
  return decision.content === true;
}

function bind(run: Run, { keyName, valueName }: For, key: Typed, value: Typed): Run {
  const bound = new Map(run.bound);
  if (keyName !== undefined) bound.set(keyName, key);
  bound.set(valueName, value);
  return run.with({ bound });
}

/** The elements with their keys: indexes, texts, or of a set the elements themselves. */
function pairsOf(source: Typed): readonly (readonly [Typed, Typed])[] {
  if (source.content instanceof Map) return entriesOf(source).map(([key, item]) => [text(key), item]);
  const isSet = shapeOf(source.type) === "set";
  return elementsOf(source).map((item, i) => [isSet ? item : whole(i), item]);
}
