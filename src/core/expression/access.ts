import { convert } from "./convert.ts";
import { type Decimal, isWhole, toIndex } from "./number.ts";
import { attempt, mistaken, type Run } from "./run.ts";
import { elementsOf, isKnown, secretIf, text, unknown, whole } from "./typed.ts";
import { attributeTypes, elementType, shapeOf, tupleTypes, typeName } from "./types.ts";
import type { Step, Type, Typed } from "./value.ts";

const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u;

/** Goes down static steps; ends at the first mistake. */
export function descend(run: Run, value: Typed, steps: readonly Step[], offset: number): Typed {
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
