import { attempt, Mistakes, mistaken, type Run } from "./context.ts";
import { convert } from "./conversion.ts";
import { type Decimal, isWhole, toIndex } from "./number.ts";
import { keyOf } from "./operators.ts";
import type { For, Splat } from "./syntax.ts";
import { attributeTypes, elementType, isPrimitive, sameType, shapeOf, tupleTypes, typeName } from "./types.ts";
import {
  elementsOf,
  entriesOf,
  isKnown,
  list,
  object,
  secretIf,
  type TraversalStep,
  type Type,
  type Typed,
  text,
  tuple,
  unknown,
  whole,
} from "./value.ts";

const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u;

/** Goes down static steps; ends at the first mistake. */
export function descend(run: Run, value: Typed, steps: readonly TraversalStep[], offset: number): Typed {
  let result = value;
  const before = run.mistakes.count;
  for (const step of steps) {
    result = at(run, result, typeof step === "number" ? whole(step) : text(step), offset);
    if (run.mistakes.count > before) return result;
  }
  return result;
}

/** `collection[key]`, and `collection.name` with the name as the key, with Terraform's rules for what is null or unknown. */
export function at(run: Run, collection: Typed, key: Typed, offset: number): Typed {
  if (collection.content === null) return mistaken(run, `this value is null: it has no ${describe(key)}`, offset);
  if (key.content === null) return mistaken(run, "the index is null", offset);
  const open = (type: Type) => secretIf(unknown(type), collection.secret, key.secret);
  if (collection.type === "any" || key.type === "any") return open("any");
  switch (shapeOf(collection.type)) {
    case "list":
    case "tuple":
      return inSequence(run, collection, key, offset, open);
    case "map":
      return inMap(run, collection, key, offset, open);
    case "object":
      return inObject(run, collection, key, offset, open);
    case "set":
      return mistaken(run, "a set has no indexes or attributes: go through it with for, or use tolist or one", offset);
    default:
      return mistaken(run, `a ${typeName(collection.type)} has no indexes or attributes`, offset);
  }
}

type Open = (type: Type) => Typed;

function inSequence(run: Run, collection: Typed, key: Typed, offset: number, open: Open): Typed {
  if (isKnown(key) && key.type === "string" && IDENTIFIER.test(String(key.content))) {
    const hint = shapeOf(elementType(collection.type)) === "object" ? "; [*] gives it of all elements" : "";
    return mistaken(
      run,
      `a list has no attribute ${String(key.content)}: name one element by its index${hint}`,
      offset,
    );
  }
  const types = shapeOf(collection.type) === "tuple" ? tupleTypes(collection.type) : undefined;
  const converted = attempt(run, offset, "the index does not name an element: ", () => convert(key, "number"));
  if (converted === undefined) return unknown("any");
  if (!isKnown(converted)) return open(types === undefined ? elementType(collection.type) : "any");
  const index = toIndex(converted.content as Decimal);
  if (!isWhole(converted.content as Decimal)) return mistaken(run, "an index is a whole number", offset);
  if (index !== undefined && index < 0) return mistaken(run, "an index is not negative", offset);
  if (types === undefined && !isKnown(collection)) return open(elementType(collection.type));
  const length = types?.length ?? elementsOf(collection).length;
  if (index === undefined || index >= length)
    return mistaken(
      run,
      length === 0 ? "there is no such element: the list is empty" : "there is no element with this index",
      offset,
    );
  const item = elementsOf(collection)[index] ?? unknown(types?.[index] ?? "any");
  return secretIf(item, collection.secret, key.secret);
}

function inMap(run: Run, collection: Typed, key: Typed, offset: number, open: Open): Typed {
  const converted = attempt(run, offset, "the index does not name an element: ", () => convert(key, "string"));
  if (converted === undefined) return unknown("any");
  if (!isKnown(converted) || !(collection.content instanceof Map)) return open(elementType(collection.type));
  const item: Typed | undefined = collection.content.get(String(converted.content));
  if (item === undefined) return mistaken(run, `the map has no element with ${describe(key)}`, offset);
  return secretIf(item, collection.secret, key.secret);
}

function inObject(run: Run, collection: Typed, key: Typed, offset: number, open: Open): Typed {
  const converted = attempt(run, offset, "the index does not name an attribute: ", () => convert(key, "string"));
  if (converted === undefined) return unknown("any");
  if (!isKnown(converted)) return open("any");
  const name = String(converted.content);
  const types = attributeTypes(collection.type);
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) return mistaken(run, `the object has no ${describe(key)}`, offset);
  const item: Typed | undefined = collection.content instanceof Map ? collection.content.get(name) : undefined;
  return item === undefined ? open(type) : secretIf(item, collection.secret, key.secret);
}

/** A secret key is not named. */
function describe(key: Typed): string {
  if (key.secret || !isKnown(key)) return "such key";
  if (key.type === "string")
    return IDENTIFIER.test(String(key.content)) ? `attribute ${String(key.content)}` : "such key";
  return "such index";
}

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
