import {
  attempt,
  compileJson,
  convert,
  type Expression,
  evaluate,
  fromValue,
  isTemplate,
  type Names,
  type PlacedTraversal,
  type Type,
  type Typed,
  toValue,
  traversalsOf,
  typeOfAttribute,
} from "../../core/expression/index.ts";
import {
  type Attribute,
  type AttributePath,
  ExpressionError,
  isNested,
  isObject,
  type Json,
  type Origins,
  type Schema,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../core/model/index.ts";
import { asSentence, type DiagnosticCollector, type Remark } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { locate, stringOf, type Tree, toJson, treeAt } from "../source/tree.ts";
import { problem } from "./messages.ts";

/**
 * Compiles and evaluates the values of a stack, and converts them to the types of their schemas. Reports errors at their
 * locations.
 */

/** A declared value, compiled. */
export interface Compiled {
  readonly tree: Tree;
  readonly json: Json;
  readonly expression: Expression;
  /** Names in the value. */
  readonly traversals: readonly PlacedTraversal[];
}

/** Value after a reported error. */
export const MISSING: Typed = { type: "any", content: UNKNOWN };

/** Compiles a value. @returns undefined after a reported error. */
export function compile(tree: Tree, diags: DiagnosticCollector, remark: Remark = {}): Compiled | undefined {
  const json = toJson(tree);
  return reporting(tree, diags, remark, () => {
    const expression = compileJson(json);
    return { tree, json, expression, traversals: traversalsOf(expression) };
  });
}

/** Evaluates a value. @returns undefined after a reported error. */
export function evaluated(
  { expression, tree }: Compiled,
  names: Names,
  diags: DiagnosticCollector,
  remark: Remark = {},
): Typed | undefined {
  return reporting(tree, diags, remark, () => evaluate(expression, names));
}

/** Runs a computation. Reports an ExpressionError at its location in the tree and returns undefined. */
export function reporting<T>(tree: Tree, diags: DiagnosticCollector, remark: Remark, compute: () => T): T | undefined {
  return attempt(compute, (error) => {
    reportExpression(error, tree, diags, remark);
    return undefined;
  });
}

/** Converts a value to a type. Null if this is impossible. */
export function plainValue(typed: Typed, type: Type = typed.type): Value {
  return attempt(
    () => toValue(convert(typed, type)),
    () => null,
  );
}

/** Reports an error in an expression at its location. */
export function reportExpression(
  { message, path, offset }: ExpressionError,
  tree: Tree,
  diags: DiagnosticCollector,
  remark: Remark = {},
): void {
  const { attribute, address, isHidden = false } = remark;
  const value = stringOf(treeAt(tree, path));
  const given = {
    summary: attribute === undefined ? asSentence(message) : `${attribute[0]}: ${message}`,
    // A string without an expression may be a secret, so do not print it.
    expression: value === undefined || !isTemplate(value) ? undefined : value,
    isHidden,
    address,
    attribute: attribute && [...attribute, ...path],
  };
  diags.add(spanIn(tree, path, offset), problem("config.expression/stack", given));
}

/** Returns the location of a part of a string. @param length Length of the part, if known. */
export function spanIn(tree: Tree, path: AttributePath, offset: number, length = 1): Span {
  const span = locate(tree, path);
  const { source, start, end } = span;
  if (source.text[start] !== '"') return span;
  const from = Math.min(offsetInText(span, offset), end - 1);
  return source.span(from, Math.min(Math.max(offsetInText(span, offset + length), from + 1), end));
}

/**
 * Converts an offset in a string's value to an offset in the source text, where escapes are longer.
 * @param offset Offset in the value, in UTF-16 units.
 */
function offsetInText({ source, start, end }: Span, offset: number): number {
  let at = start + 1;
  for (let passed = 0; passed < offset && at < end - 1; passed++) {
    if (source.text[at] !== "\\") at += 1;
    else at += source.text[at + 1] === "u" ? 6 : 2;
  }
  return at;
}

/** Returns the type to which declared values are converted. All attributes of nested objects are optional. */
function constraintOf(type: Attribute["type"]): Type {
  if (!isNested(type)) return typeOfAttribute(type);
  const parts = Object.entries(type.attributes).map(([name, part]) => [name, constraintOf(part.type)] as const);
  const optional = Object.fromEntries(parts.map(([name]) => [name, undefined]));
  const nested: Type = { object: Object.fromEntries(parts), optional };
  return type.nesting === "list" ? { list: nested } : nested;
}

const constraints = new WeakMap<Attribute, Type>();

/**
 * Converts an evaluated value for an attribute: to its type (`"11"` to 11), sets to lists, nested objects without null
 * attributes.
 * @throws ExpressionError if this is impossible.
 */
export function attributeValue(typed: Typed, attribute: Attribute): Value {
  const constraint = constraints.get(attribute) ?? constraintOf(attribute.type);
  constraints.set(attribute, constraint);
  const value = toValue(convert(typed, constraint));
  return isNested(attribute.type) ? withoutNulls(value) : value;
}

function withoutNulls(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const given = Object.entries(value as ValueObject).filter(([, part]) => part !== null);
  return Object.fromEntries(given.map(([name, part]) => [name, withoutNulls(part)]));
}

/** Cached values of one schema: `unknown` by address, `known` by plain value. */
interface SchemaMemory {
  readonly unknown: Map<string, Typed>;
  readonly known: WeakMap<object, Typed>;
}

const memories = new WeakMap<Schema, SchemaMemory>();

/**
 * Returns a resource or data source for expressions: an object with all attributes of the schema. Missing values are null.
 * Sensitive attributes are secret.
 * @param base Address without instance key, for the origins of secrets.
 * @param origins Further secret attributes.
 * @throws ExpressionError if a value does not have the type of its attribute.
 */
export function schemaObject(schema: Schema, value: Value, base: string, origins: Origins = {}): Typed {
  const typed = ofSchema(schema, value, base);
  const marked = Object.keys(origins).filter((name) => schema.attributes[name]?.sensitive !== true);
  if (marked.length === 0 || !(typed.content instanceof Map)) return typed;
  const content = new Map(typed.content as ReadonlyMap<string, Typed>);
  for (const name of marked) {
    const attribute = content.get(name);
    if (attribute !== undefined) content.set(name, { ...attribute, secret: origins[name] });
  }
  return { ...typed, content };
}

function ofSchema(schema: Schema, value: Value, base: string): Typed {
  const memory = memories.get(schema) ?? { unknown: new Map(), known: new WeakMap() };
  memories.set(schema, memory);
  if (isObject(value)) {
    const typed = memory.known.get(value) ?? typedObject(schema, base, (name) => (value as ValueObject)[name] ?? null);
    memory.known.set(value, typed);
    return typed;
  }
  const unknown = memory.unknown.get(base) ?? typedObject(schema, base, () => UNKNOWN);
  memory.unknown.set(base, unknown);
  return value === UNKNOWN ? unknown : { ...unknown, content: null };
}

function typedObject({ attributes }: Schema, base: string, read: (name: string) => Value): Typed {
  const types: Record<string, Type> = {};
  const content = new Map<string, Typed>();
  for (const [name, attribute] of Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))) {
    types[name] = typeOfAttribute(attribute.type);
    // The state never contains write-only values.
    const value = attribute.writeOnly ? null : read(name);
    const typed = typedAttribute(name, value, attribute.type);
    content.set(name, attribute.sensitive ? { ...typed, secret: { from: [`${base}.${name}`] } } : typed);
  }
  return { type: { object: types }, content };
}

function typedAttribute(name: string, value: Value, type: Attribute["type"]): Typed {
  if (value === UNKNOWN) return { type: typeOfAttribute(type), content: UNKNOWN };
  const read = () => fromValue(value, constraintOf(type));
  return attempt(read, ({ message }) => {
    throw new ExpressionError(`${name} has the wrong type: ${message}`);
  });
}
