import { ExpressionError } from "../model/index.ts";
import { replaceAny } from "./any.ts";
import { primitive } from "./primitive.ts";
import { set } from "./sets.ts";
import {
  bare,
  elementsOf,
  entriesOf,
  isKnown,
  isWhollyKnown,
  list,
  map,
  nullOf,
  object,
  secretIf,
  tuple,
  unknown,
} from "./typed.ts";
import {
  attributeTypes,
  elementType,
  isPrimitive,
  sameType,
  shapeOf,
  tupleTypes,
  typeName,
  withoutOptional,
} from "./types.ts";
import { type Conversion, unifyBy } from "./unification.ts";
import type { Type, Typed } from "./value.ts";

/** The type that all of these can be converted to; undefined when there is none. See {@link unifyBy}. */
export function unify(types: readonly Type[], unsafe = true): Type | undefined {
  return unifyBy(conversion, types, unsafe);
}

/**
 * What converts values of one type to another, as `cty` does it; undefined: nothing does.
 * @param unsafe also what fails for some values: a text to a number, a map to an object
 */
export function conversion(from: Type, to: Type, unsafe: boolean): Conversion | undefined {
  const convertKnown = find(from, to, unsafe);
  if (convertKnown === undefined) return undefined;
  return (value) => {
    if (to === "any") return value;
    const open = () => replaceAny(value.type, withoutOptional(to), (types) => unify(types));
    const converted = !isKnown(value)
      ? unknown(open())
      : value.content === null
        ? nullOf(open())
        : convertKnown(bare(value));
    return secretIf(converted, value.secret);
  };
}

function find(from: Type, to: Type, unsafe: boolean): Conversion | undefined {
  if (to === "any") return (value) => value;
  // The value is null or unknown, and that is dealt with before.
  if (from === "any") return unsafe ? (value) => value : undefined;
  if (isPrimitive(from) && isPrimitive(to)) return primitive(from, to, unsafe);
  const [given, wanted] = [shapeOf(from), shapeOf(to)];
  switch (wanted) {
    case "list":
    case "set":
      if (given === "tuple") return fromTuple(tupleTypes(from), to, unsafe);
      if (given !== "set" && given !== "list") return undefined;
      // The order would be lost.
      if (wanted === "set" && given === "list" && !unsafe) return undefined;
      return fromSequence(elementType(from), to, unsafe);
    case "map":
      if (given === "map") return mapToMap(elementType(from), elementType(to), unsafe);
      return given === "object" ? objectToMap(attributeTypes(from), elementType(to), unsafe) : undefined;
    case "tuple":
      return given === "tuple" ? tupleToTuple(tupleTypes(from), tupleTypes(to), unsafe) : undefined;
    case "object":
      if (given === "object") return objectToObject(attributeTypes(from), to, unsafe);
      return given === "map" && unsafe ? mapToObject(elementType(from), to) : undefined;
    default:
      return undefined;
  }
}

/** For each type what converts it to the wanted one; undefined when one of them cannot be. */
function each(types: readonly Type[], wanted: (i: number) => Type, unsafe: boolean): Conversion[] | undefined {
  const found: Conversion[] = [];
  for (const [i, type] of types.entries()) {
    const to = wanted(i);
    const one = sameType(type, to) ? (value: Typed) => value : conversion(type, to, unsafe);
    if (one === undefined) return undefined;
    found.push(one);
  }
  return found;
}

/** An element type `any` stands for the one that suits all elements. */
function elementFor(wanted: Type, types: readonly Type[], unsafe: boolean): Type | undefined {
  return wanted === "any" ? unify(types, unsafe) : wanted;
}

function fromTuple(types: readonly Type[], to: Type, unsafe: boolean): Conversion | undefined {
  const build = shapeOf(to) === "set" ? set : list;
  if (types.length === 0) return () => build(withoutOptional(elementType(to)), []);
  const element = elementFor(elementType(to), types, unsafe);
  if (element === undefined || (element === "any" && types.some((type) => type !== "any"))) return undefined;
  const parts = each(types, () => element, unsafe);
  if (parts === undefined) return undefined;
  return (value) => {
    const items = elementsOf(value).map((item, i) => within(`element ${i}`, () => parts[i]?.(item) ?? item));
    return build(...alike(items, "list"));
  };
}

function fromSequence(from: Type, to: Type, unsafe: boolean): Conversion | undefined {
  const build = shapeOf(to) === "set" ? set : list;
  const [part] = each([from], () => elementType(to), unsafe) ?? [];
  if (part === undefined) return undefined;
  return (value) => {
    // How many there are of a set is open as long as some may turn out to be the same.
    if (
      shapeOf(to) === "list" &&
      shapeOf(value.type) === "set" &&
      elementsOf(value).length > 1 &&
      !isWhollyKnown(value)
    )
      return unknown({ list: from });
    const items = elementsOf(value).map((item, i) => within(`element ${i}`, () => part(item)));
    if (items.length === 0) return build(elementType(to) === "any" ? from : withoutOptional(elementType(to)), []);
    return build(...alike(items, shapeOf(to)));
  };
}

function mapToMap(from: Type, to: Type, unsafe: boolean): Conversion | undefined {
  const [part] = each([from], () => to, unsafe) ?? [];
  return part === undefined ? undefined : (value) => toMap(value, () => part, to === "any" ? from : to);
}

function objectToMap(types: Readonly<Record<string, Type>>, to: Type, unsafe: boolean): Conversion | undefined {
  const names = Object.keys(types);
  if (names.length === 0) return () => map(withoutOptional(to), []);
  const element = elementFor(to, Object.values(types), unsafe);
  if (element === undefined) return undefined;
  const parts = each(Object.values(types), () => element, unsafe);
  if (parts === undefined) return undefined;
  const byName = new Map(names.map((name, i) => [name, parts[i]]));
  return (value) => toMap(value, (name) => byName.get(name), element);
}

function toMap(value: Typed, part: (name: string) => Conversion | undefined, element: Type): Typed {
  const entries = entriesOf(value);
  if (entries.length === 0) return map(withoutOptional(element), []);
  const converted = entries.map(([name, item]) =>
    within(`element ${JSON.stringify(name)}`, () => part(name)?.(item) ?? item),
  );
  const [type, items] = alike(converted, "map");
  return map(
    type,
    entries.flatMap(([name], i) => items.slice(i, i + 1).map((item) => [name, item] as const)),
  );
}

function tupleToTuple(from: readonly Type[], to: readonly Type[], unsafe: boolean): Conversion | undefined {
  const parts = from.length === to.length ? each(from, (i) => to[i] ?? "any", unsafe) : undefined;
  if (parts === undefined) return undefined;
  return (value) => tuple(elementsOf(value).map((item, i) => within(`element ${i}`, () => parts[i]?.(item) ?? item)));
}

function objectToObject(from: Readonly<Record<string, Type>>, to: Type, unsafe: boolean): Conversion | undefined {
  const wanted = Object.entries(attributeTypes(to)).filter(([name]) => Object.hasOwn(from, name));
  if (Object.keys(attributeTypes(to)).some((name) => !Object.hasOwn(from, name) && !isOptional(to, name)))
    return undefined;
  const parts = each(
    wanted.map(([name]) => from[name] ?? "any"),
    (i) => wanted[i]?.[1] ?? "any",
    unsafe,
  );
  if (parts === undefined) return undefined;
  const byName = new Map(wanted.map(([name], i) => [name, parts[i]]));
  return (value) => toObject(value, to, (name) => byName.get(name));
}

function mapToObject(from: Type, to: Type): Conversion | undefined {
  const parts = new Map(
    Object.entries(attributeTypes(to)).map(([name, type]) => [name, each([from], () => type, true)?.[0]]),
  );
  if ([...parts].some(([name, part]) => part === undefined && !isOptional(to, name))) return undefined;
  return (value) => toObject(value, to, (name) => parts.get(name));
}

function toObject(value: Typed, to: Type, part: (name: string) => Conversion | undefined): Typed {
  const given = new Map(entriesOf(value));
  return object(
    Object.entries(attributeTypes(to)).map(([name, type]) => {
      const item = given.get(name);
      const convertPart = part(name);
      if (item === undefined) {
        if (isOptional(to, name)) return [name, nullOf(withoutOptional(type))];
        throw new ExpressionError(`attribute "${name}" is required`, 0);
      }
      if (convertPart === undefined) throw new ExpressionError(`attribute "${name}": ${typeName(type)} required`, 0);
      return [name, within(`attribute "${name}"`, () => convertPart(item))];
    }),
  );
}

function isOptional(type: Type, name: string): boolean {
  return (
    typeof type === "object" && "optional" in type && type.optional !== undefined && Object.hasOwn(type.optional, name)
  );
}

/** Values as elements of one collection: of one type, with the null and unknown ones of no type taking it. */
export function alike(items: readonly Typed[], what: string): [Type, readonly Typed[]] {
  const same = fitted(items);
  if (same !== undefined) return same;
  const types = items.map(({ type }) => type);
  const common = unify(types);
  const parts = common === undefined ? undefined : each(types, () => common, true);
  // A common type that has an `any` in it may still leave them different.
  const made = parts === undefined ? undefined : fitted(items.map((item, i) => parts[i]?.(item) ?? item));
  if (made === undefined) throw new ExpressionError(`element types must all match for conversion to ${what}`, 0);
  return made;
}

function fitted(items: readonly Typed[]): [Type, readonly Typed[]] | undefined {
  const [first = "any"] = items.map(({ type }) => type).filter((type) => type !== "any");
  if (items.some(({ type }) => type !== "any" && !sameType(type, first))) return undefined;
  return [first, items.map((item) => (item.type === "any" ? { ...item, type: first } : item))];
}

/** Errors of a part say which part it is. */
function within<T>(part: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw Object.assign(error, { message: `${part}: ${error.message}` });
  }
}
