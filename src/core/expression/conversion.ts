import { ExpressionError, isObject, isUnknown, UNKNOWN, type Value } from "../model/index.ts";
import { set } from "./equality.ts";
import { type Decimal, decimalOf, formatNumber, parseNumber, toNumber } from "./number.ts";
import { guarded, Refusal } from "./refusal.ts";
import {
  attributeTypes,
  type Conversion,
  elementType,
  isPrimitive,
  replaceAny,
  sameType,
  shapeOf,
  tupleTypes,
  typeName,
  unifyBy,
  withoutOptional,
} from "./types.ts";
import {
  bare,
  bool,
  elementsOf,
  entriesOf,
  isKnown,
  isWhollyKnown,
  list,
  map,
  nullOf,
  number,
  object,
  secretIf,
  type Type,
  type Typed,
  text,
  tuple,
  unknown,
} from "./value.ts";

/**
 * The value as one of another type, as Terraform converts arguments, attributes and variables: "11" to 11, a tuple to a
 * list; attributes that the type does not have are left out, those it has as optional get their default. An unknown
 * value stays unknown and a null null. @throws ExpressionError when it cannot be
 */
export function convert(typed: Typed, type: Type): Typed {
  if (sameType(typed.type, withoutOptional(type))) return typed;
  const given = withDefaults(typed, type);
  if (sameType(given.type, withoutOptional(type))) return given;
  const found = conversion(given.type, type, true);
  if (found === undefined) throw new ExpressionError(mismatch(given.type, type), 0);
  return found(given);
}

/** What is wrong with a value of this type where another one is wanted. */
function mismatch(given: Type, wanted: Type): string {
  const name = typeName(wanted);
  const [shape, want] = [shapeOf(given), shapeOf(wanted)];
  if (want === "object" && shape === "object") {
    const attributes = Object.keys((wanted as { object: Record<string, Type> }).object);
    const own = (given as { object: Record<string, Type> }).object;
    const missing = attributes.filter((attribute) => !Object.hasOwn(own, attribute));
    if (missing.length === 1) return `attribute "${missing[0]}" is required`;
    if (missing.length > 1) return `attributes ${missing.map((attribute) => `"${attribute}"`).join(", ")} are required`;
    return "an attribute of the object is of an unsuitable type";
  }
  return `${name} required, but this is ${typeName(given)}`;
}

/** Whether values of the one type can be converted to the other, at least some of them. */
export function canConvert(from: Type, to: Type): boolean {
  return sameType(from, withoutOptional(to)) || conversion(from, to, true) !== undefined;
}

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

/** What converts a text, number or bool to another of them; a text to anything else only where that may fail. */
export function primitive(from: Type, to: Type, unsafe: boolean): ((value: Typed) => Typed) | undefined {
  if (to === "string") {
    return ({ content }) => text(typeof content === "boolean" ? String(content) : formatNumber(content as Decimal));
  }
  if (from !== "string" || !unsafe) return undefined;
  return to === "number" ? textToNumber : textToBool;
}

function textToNumber({ content }: Typed): Typed {
  const parsed = parseNumber(String(content));
  if (parsed === undefined) throw new ExpressionError("a number is required", 0);
  return number(parsed);
}

function textToBool({ content }: Typed): Typed {
  if (content === "true" || content === "1") return bool(true);
  if (content === "false" || content === "0") return bool(false);
  const lower = String(content).toLowerCase();
  const hint = lower === "true" || lower === "false" ? `; to convert from string, use lowercase "${lower}"` : "";
  throw new ExpressionError(`a bool is required${hint}`, 0);
}

/**
 * The value with the defaults of a type's optional attributes where they are left out or null; not yet converted to it.
 * What is null or unknown as a whole stays so.
 */
export function withDefaults(value: Typed, type: Type): Typed {
  if (!hasDefaults(type) || !isKnown(value) || value.content === null) return value;
  switch (shapeOf(value.type)) {
    case "list":
    case "set":
    case "tuple":
      return secretIf(sequence(value, type), value.secret);
    case "map":
    case "object":
      return secretIf(mapping(value, type), value.secret);
    default:
      return value;
  }
}

function sequence(value: Typed, type: Type): Typed {
  const items = elementsOf(value).map((item, i) => withDefaults(item, partOf(type, i)));
  const shape = shapeOf(value.type);
  if (items.length === 0) return value;
  if (shape === "tuple" || unify(items.map((item) => item.type)) === undefined) return tuple(items);
  return shape === "set" ? set(...alike(items, shape)) : list(...alike(items, shape));
}

function mapping(value: Typed, type: Type): Typed {
  const entries = new Map(entriesOf(value).map(([key, item]) => [key, withDefaults(item, partOf(type, key))]));
  const defaults = typeof type === "object" && "object" in type ? Object.entries(type.optional ?? {}) : [];
  for (const [name, preset] of defaults) {
    const given = entries.get(name);
    if (preset !== undefined && (given === undefined || given.content === null))
      entries.set(name, withDefaults(preset, partOf(type, name)));
  }
  const items = [...entries.values()];
  if (shapeOf(value.type) === "object" || unify(items.map((item) => item.type)) === undefined) return object(entries);
  const [element, same] = alike(items, "map");
  const keys = [...entries.keys()];
  return map(
    element,
    keys.flatMap((key, i) => same.slice(i, i + 1).map((item) => [key, item] as const)),
  );
}

/** The type that says what is left out of one element. */
function partOf(type: Type, key: string | number): Type {
  if (typeof type === "string") return "any";
  if ("tuple" in type) return typeof key === "number" ? (type.tuple[key] ?? "any") : "any";
  if ("object" in type)
    return typeof key === "string" && Object.hasOwn(type.object, key) ? (type.object[key] ?? "any") : "any";
  return "list" in type ? type.list : "set" in type ? type.set : type.map;
}

function hasDefaults(type: Type): boolean {
  if (typeof type === "string") return false;
  if ("tuple" in type) return type.tuple.some(hasDefaults);
  if ("object" in type)
    return (
      Object.values(type.optional ?? {}).some((preset) => preset !== undefined) ||
      Object.values(type.object).some(hasDefaults)
    );
  return hasDefaults("list" in type ? type.list : "set" in type ? type.set : type.map);
}

/** Locals that hold each other twice grow beyond any memory when they are written out. */
const MOST_PARTS = 2_000_000;

/**
 * A JSON value, unknown parts allowed: converted to the type when there is one, otherwise with tuples and objects.
 * @throws ExpressionError when it cannot be converted
 */
export function fromValue(value: Value, type?: Type): Typed {
  const typed = guarded(() => untyped(value));
  return type === undefined ? typed : convert(typed, type);
}

function untyped(value: Value): Typed {
  if (isUnknown(value)) return unknown("any");
  if (value === null) return nullOf("any");
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(decimalOf(value));
  if (typeof value === "boolean") return bool(value);
  if (Array.isArray(value)) return tuple((value as readonly Value[]).map(untyped));
  return object(Object.entries(value).map(([key, item]) => [key, untyped(item as Value)]));
}

/**
 * The plain JSON value; a set is a list, unknown parts are UNKNOWN.
 * @throws ExpressionError for a number that a JSON number would not hold exactly, and for a value beyond all bounds
 */
export function toValue(typed: Typed): Value {
  let parts = 0;
  const plain = (part: Typed): Value => {
    parts += 1;
    if (parts > MOST_PARTS) throw new Refusal("the value is too large", 0);
    const { content } = part;
    if (isUnknown(content)) return UNKNOWN;
    if (content instanceof Map) return Object.fromEntries([...content].map(([key, item]) => [key, plain(item)]));
    if (Array.isArray(content)) return elementsOf(part).map(plain);
    if (!isObject(content)) return content as null | boolean | string;
    const exact = toNumber(content as unknown as Decimal);
    if (exact === undefined) {
      const digits = formatNumber(content as unknown as Decimal);
      const shown = digits.length > 40 ? `${digits.slice(0, 40)}…` : digits;
      throw new ExpressionError(`the number ${shown} has more digits than can be kept; round it or make it a text`, 0);
    }
    return exact;
  };
  return guarded(() => plain(typed));
}
