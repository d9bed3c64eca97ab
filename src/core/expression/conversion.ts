import { VALUES } from "../messages/expressions.ts";
import { ExactNumber, ExpressionError, exactNumber, isObject, isUnknown, UNKNOWN, type Value } from "../model/index.ts";
import { set } from "./equality.ts";
import { type BigFloat, formatNumber, literalNumber, parseNumber, plannedText, storedNumber } from "./number.ts";
import { attempt, guarded, Refusal, replacingErrors } from "./refusal.ts";
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
} from "./typed-value.ts";
import {
  attributesOf,
  attributeType,
  elementType,
  isPrimitive,
  isSequence,
  optionalOf,
  partsOf,
  replaceAny,
  sameType,
  shapeOf,
  tupleTypes,
  typeName,
  unifyBy,
  withoutOptional,
} from "./types.ts";

// Converts values to other types as Terraform's `cty` does, and to and from plain JSON.

/**
 * Converts a value to a type, as Terraform converts arguments, attributes and variables: "11" to 11, a tuple to a list.
 * Attributes that the type lacks are dropped. Missing optional attributes get their default. Unknown values stay unknown, and
 * null stays null.
 * @throws ExpressionError if the value cannot be converted.
 */
export function convert(typed: Typed, type: Type): Typed {
  if (sameType(typed.type, withoutOptional(type))) return typed;
  const given = withDefaults(typed, type);
  if (sameType(given.type, withoutOptional(type))) return given;
  const found = conversion(given.type, type);
  if (found === undefined) throw new ExpressionError(mismatch(given.type, type));
  return found(given);
}

/** Like {@link convert}. Replaces the thrown error, unless it is a {@link Refusal}. */
export function convertOr(typed: Typed, type: Type, replace: (error: ExpressionError) => Error): Typed {
  return replacingErrors(() => convert(typed, type), replace);
}

/** Returns the error message for an impossible type conversion. */
function mismatch(given: Type, wanted: Type): string {
  if (shapeOf(wanted) !== "object" || shapeOf(given) !== "object")
    return VALUES.other_type(typeName(wanted), typeName(given));
  const own = attributesOf(given);
  const [first, ...more] = [...attributesOf(wanted).keys()].filter((name) => !own.has(name));
  if (first === undefined) return VALUES.part_type;
  return more.length === 0 ? VALUES.required(first) : VALUES.attributes([first, ...more]);
}

/** Returns true if at least one value of a type can be converted to the other type. */
export function canConvert(from: Type, to: Type): boolean {
  return sameType(from, withoutOptional(to)) || conversion(from, to) !== undefined;
}

/** Returns the type to which all types can be converted. Undefined if none exists. */
export function unify(types: readonly Type[]): Type | undefined {
  return unifyBy((from, to) => conversion(from, to) !== undefined, types);
}

/** Converts values of one type to another. @throws ExpressionError if a value cannot be converted. */
type Conversion = (value: Typed) => Typed;

/**
 * Returns the conversion from one type to another, as in `cty`. It may fail for some values (string to number, map to
 * object). Undefined if no value can be converted.
 */
function conversion(from: Type, to: Type): Conversion | undefined {
  if (sameType(from, to)) return same;
  // A value of type `any` is null or unknown.
  const convertKnown = to === "any" || from === "any" ? same : find(from, to);
  if (convertKnown === undefined) return undefined;
  return (value) => {
    if (to === "any") return value;
    const open = () => replaceAny(value.type, withoutOptional(to), unify);
    if (!isKnown(value)) return secretIf(unknown(open()), value.secret);
    if (value.content === null) return secretIf(nullOf(open()), value.secret);
    if (value.secret === undefined) return convertKnown(value);
    // The message must reveal nothing of a secret, not even the keys of a map.
    const hidden = () => new ExpressionError(VALUES.hidden(typeName(to)));
    return replacingErrors(() => secretIf(convertKnown(bare(value)), value.secret), hidden);
  };
}

const same: Conversion = (value) => value;

function find(from: Type, to: Type): Conversion | undefined {
  if (isPrimitive(from) && isPrimitive(to)) return primitive(from, to);
  const given = shapeOf(from);
  switch (shapeOf(to)) {
    case "list":
    case "set":
      if (given === "tuple") return fromTuple(tupleTypes(from), to);
      return given === "set" || given === "list" ? fromSequence(elementType(from), to) : undefined;
    case "map":
      if (given === "map") return mapToMap(elementType(from), elementType(to));
      return given === "object" ? objectToMap(attributesOf(from), elementType(to)) : undefined;
    case "tuple":
      return given === "tuple" ? tupleToTuple(tupleTypes(from), tupleTypes(to)) : undefined;
    case "object":
      if (given === "object") return toObject(attributesOf(from), to);
      return given === "map" ? toObject(elementType(from), to) : undefined;
    default:
      return undefined;
  }
}

/** Returns the conversion between strings, numbers and bools. */
function primitive(from: Type, to: Type): Conversion | undefined {
  if (to === "string")
    return ({ content }) => text(typeof content === "boolean" ? String(content) : formatNumber(content as BigFloat));
  if (from !== "string") return undefined;
  return to === "number" ? textToNumber : textToBool;
}

function textToNumber({ content }: Typed): Typed {
  const parsed = parseNumber(String(content));
  if (parsed === undefined) throw new ExpressionError(VALUES.number);
  return number(parsed);
}

function textToBool({ content }: Typed): Typed {
  if (content === "true" || content === "1") return bool(true);
  if (content === "false" || content === "0") return bool(false);
  throw new ExpressionError(VALUES.bool(String(content).toLowerCase()));
}

/** Conversions of a value's parts, by index or name. */
type Conversions<Place> = (place: Place) => Conversion;

/** Returns the conversion of each part. Undefined if one part cannot be converted. */
function each<Place>(
  types: Iterable<readonly [Place, Type]>,
  wanted: (place: Place) => Type,
): Conversions<Place> | undefined {
  const found = new Map<Place, Conversion>();
  for (const [place, type] of types) {
    const one = conversion(type, wanted(place));
    if (one === undefined) return undefined;
    found.set(place, one);
  }
  return (place) => found.get(place) ?? same;
}

/** Returns the converted elements of a list, set or tuple. */
function items(value: Typed, part: Conversions<number>): readonly Typed[] {
  return elementsOf(value).map((item, i) => within(VALUES.element(i), () => part(i)(item)));
}

function fromTuple(types: readonly Type[], to: Type): Conversion | undefined {
  const build = shapeOf(to) === "set" ? set : list;
  if (types.length === 0) return () => build(withoutOptional(elementType(to)), []);
  const element = elementFor(elementType(to), types);
  if (element === undefined || (element === "any" && types.some((type) => type !== "any"))) return undefined;
  const parts = each(types.entries(), () => element);
  return parts && ((value) => build(...alike(items(value, parts), "list")));
}

/** Returns the element type to convert to. `any` stands for the common type of the elements. */
const elementFor = (wanted: Type, types: readonly Type[]) => (wanted === "any" ? unify(types) : wanted);

function fromSequence(from: Type, to: Type): Conversion | undefined {
  const wanted = elementType(to);
  const part = conversion(from, wanted);
  if (part === undefined) return undefined;
  const isSet = shapeOf(to) === "set";
  const build = isSet ? set : list;
  return (value) => {
    // Unknown elements may be equal, so the size of the set is unknown.
    if (!isSet && shapeOf(value.type) === "set" && elementsOf(value).length > 1 && !isWhollyKnown(value))
      return unknown({ list: from });
    const converted = items(value, () => part);
    if (converted.length === 0) return build(wanted === "any" ? from : withoutOptional(wanted), []);
    return build(...alike(converted, isSet ? "set" : "list"));
  };
}

function tupleToTuple(from: readonly Type[], to: readonly Type[]): Conversion | undefined {
  const parts = from.length === to.length ? each(from.entries(), (i) => to[i] ?? "any") : undefined;
  return parts && ((value) => tuple(items(value, parts)));
}

function mapToMap(from: Type, to: Type): Conversion | undefined {
  const part = conversion(from, to);
  return part && ((value) => toMap(value, () => part, to === "any" ? from : to));
}

function objectToMap(types: ReadonlyMap<string, Type>, to: Type): Conversion | undefined {
  if (types.size === 0) return () => map(withoutOptional(to), []);
  const element = elementFor(to, [...types.values()]);
  const parts = element && each(types, () => element);
  return parts && ((value) => toMap(value, parts, element));
}

function toMap(value: Typed, part: Conversions<string>, element: Type): Typed {
  const entries = entriesOf(value).map(([name, item]) => {
    return [name, within(VALUES.element(name), () => part(name)(item))] as const;
  });
  return entries.length === 0 ? map(withoutOptional(element), []) : mapOf(entries);
}

/** Returns the conversion to an object. @param given Types of an object's attributes, or the element type of a map. */
function toObject(given: ReadonlyMap<string, Type> | Type, to: Type): Conversion | undefined {
  const ofObject = given instanceof Map;
  const wanted = attributesOf(to);
  const parts = new Map<string, Conversion>();
  for (const [name, type] of wanted) {
    const from: Type | undefined = ofObject ? given.get(name) : (given as Type);
    const part = from && conversion(from, type);
    if (part !== undefined) parts.set(name, part);
    // A missing attribute needs no conversion. In a map, the attribute may be missing.
    else if (!isOptional(to, name) || (ofObject && from !== undefined)) return undefined;
  }
  return (value) => {
    const entries = new Map(entriesOf(value));
    return object(
      [...wanted].map(([name, type]) => {
        const item = entries.get(name);
        if (item === undefined && isOptional(to, name)) return [name, nullOf(withoutOptional(type))];
        if (item === undefined) throw new ExpressionError(VALUES.required(name));
        const part = parts.get(name);
        if (part === undefined) throw new ExpressionError(VALUES.required_attribute(name, typeName(type)));
        return [name, within(VALUES.attribute(name), () => part(item))];
      }),
    );
  };
}

const isOptional = (type: Type, name: string) => Object.hasOwn(optionalOf(type), name);

/** Converts the values to a common type. @param what Name of the collection for the message. */
function alike(values: readonly Typed[], what: string): [Type, readonly Typed[]] {
  const fitting = uniform(values);
  if (fitting !== undefined) return fitting;
  const types = values.map(({ type }) => type);
  const common = unify(types);
  const parts = common && each(types.entries(), () => common);
  // If the common type contains `any`, the converted values may still have different types.
  const made = parts && uniform(values.map((value, i) => parts(i)(value)));
  if (made === undefined) throw new ExpressionError(VALUES.mixed_types(what));
  return made;
}

/** Returns a map whose values are converted to a common type. */
function mapOf(entries: readonly (readonly [string, Typed])[]): Typed {
  const [element, values] = alike(
    entries.map(([, value]) => value),
    "map",
  );
  return map(
    element,
    entries.map(([name, value], i) => [name, values[i] ?? value]),
  );
}

/**
 * Returns the values with their common type. Untyped null and unknown values get this type. Undefined if the types differ.
 */
export function uniform(items: readonly Typed[]): [Type, readonly Typed[]] | undefined {
  const [first = "any"] = items.map(({ type }) => type).filter((type) => type !== "any");
  if (items.some(({ type }) => type !== "any" && !sameType(type, first))) return undefined;
  return [first, items.map((item) => (item.type === "any" ? { ...item, type: first } : item))];
}

/** Runs `run`. Adds the name of the part to its errors. */
function within<T>(part: string, run: () => T): T {
  return attempt(run, (error) => {
    throw Object.assign(error, { message: VALUES.inside(part, error.message) });
  });
}

/** Returns the value with defaults for missing or null optional attributes. */
function withDefaults(value: Typed, type: Type): Typed {
  if (!hasDefaults(type) || !isKnown(value) || value.content === null) return value;
  if (isSequence(value.type)) return secretIf(sequence(value, type), value.secret);
  return value.content instanceof Map ? secretIf(mapping(value, type), value.secret) : value;
}

function sequence(value: Typed, type: Type): Typed {
  const values = elementsOf(value).map((item, i) => withDefaults(item, partOf(type, i)));
  const shape = shapeOf(value.type);
  if (values.length === 0) return value;
  if (shape === "tuple" || unify(values.map((item) => item.type)) === undefined) return tuple(values);
  return shape === "set" ? set(...alike(values, shape)) : list(...alike(values, shape));
}

function mapping(value: Typed, type: Type): Typed {
  const entries = new Map(entriesOf(value).map(([key, item]) => [key, withDefaults(item, partOf(type, key))]));
  for (const [name, preset] of Object.entries(optionalOf(type))) {
    const given = entries.get(name);
    if (preset !== undefined && (given === undefined || given.content === null))
      entries.set(name, withDefaults(preset, partOf(type, name)));
  }
  const types = Array.from(entries.values(), (item) => item.type);
  return shapeOf(value.type) === "object" || unify(types) === undefined ? object(entries) : mapOf([...entries]);
}

/** Returns the type constraint of one part. */
function partOf(type: Type, key: string | number): Type {
  if (shapeOf(type) === "tuple") return tupleTypes(type)[Number(key)] ?? "any";
  return shapeOf(type) === "object" ? (attributeType(type, String(key)) ?? "any") : elementType(type);
}

function hasDefaults(type: Type): boolean {
  return Object.values(optionalOf(type)).some((preset) => preset !== undefined) || partsOf(type).some(hasDefaults);
}

/** Maximum number of parts. Locals that contain another local twice could otherwise exhaust the memory. */
const MOST_PARTS = 2_000_000;

/**
 * Returns a typed value for a JSON value. Converts it to `type` if given. Otherwise, lists become tuples.
 * @throws ExpressionError if the value cannot be converted.
 */
export function fromValue(value: Value, type?: Type): Typed {
  const typed = guarded(() => untyped(value));
  return type === undefined ? typed : convert(typed, type);
}

/** Returns the value as Terraform reads it back from a plan file. */
export function stored(typed: Typed): Typed {
  const { type, content } = typed;
  if (content instanceof Map)
    return { ...typed, content: new Map([...content].map(([key, item]) => [key, stored(item)])) };
  if (Array.isArray(content)) return { ...typed, content: elementsOf(typed).map(stored) };
  return type === "number" && isObject(content)
    ? { ...typed, content: storedNumber(content as unknown as BigFloat) }
    : typed;
}

function untyped(value: Value): Typed {
  if (isUnknown(value)) return unknown("any");
  if (value === null) return nullOf("any");
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(storedNumber(literalNumber(value)));
  if (value instanceof ExactNumber) return number(literalNumber(value));
  if (typeof value === "boolean") return bool(value);
  if (Array.isArray(value)) return tuple((value as readonly Value[]).map(untyped));
  return object(Object.entries(value).map(([key, item]) => [key, untyped(item as Value)]));
}

/**
 * Returns the plain JSON value. Sets become lists, unknown parts become UNKNOWN.
 * @param inFull True to keep all digits of a long number, as in outputs.
 * @throws ExpressionError if a number is not exact as a JSON number, or the value is too large.
 */
export function toValue(typed: Typed, inFull = false): Value {
  let parts = 0;
  const plain = (part: Typed, secret: boolean): Value => {
    const hidden = secret || part.secret !== undefined;
    parts += 1;
    if (parts > MOST_PARTS) throw new Refusal(VALUES.too_large);
    const { content } = part;
    if (isUnknown(content)) return UNKNOWN;
    if (content instanceof Map)
      return Object.fromEntries([...content].map(([key, item]) => [key, plain(item, hidden)]));
    if (Array.isArray(content)) return elementsOf(part).map((item) => plain(item, hidden));
    if (!isObject(content)) return content as null | boolean | string;
    const exact = exactNumber(plannedText(content as unknown as BigFloat));
    if (!inFull && typeof exact !== "number") {
      throw new ExpressionError(VALUES.digits(hidden ? "" : String(exact)));
    }
    return exact as unknown as Value;
  };
  return guarded(() => plain(typed, false));
}
