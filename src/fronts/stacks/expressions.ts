import {
  compileJson,
  convert,
  type Expression,
  evaluate,
  fromValue,
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
  type Schema,
  shorten,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../core/model/index.ts";
import type { DiagnosticCollector, Remark } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { locate, stringOf, type Tree, toJson } from "../source/tree.ts";

/**
 * The values of a stack: taken apart into expressions, with every mistake at its place in the text, and typed by the schema of
 * the attribute or the object that they belong to.
 */

/** A declared value that has to be evaluated. */
export interface Compiled {
  readonly tree: Tree;
  /** As it is written. */
  readonly json: Json;
  readonly expression: Expression;
  /** The names in it. */
  readonly traversals: readonly PlacedTraversal[];
}

/** The value where a mistake, which is reported, leaves none. */
export const MISSING: Typed = { type: "any", content: UNKNOWN };

/** Takes the expressions of a value apart. @returns undefined when one cannot be read, which is reported at its place. */
export function compile(tree: Tree, diags: DiagnosticCollector, remark: Remark = {}): Compiled | undefined {
  const json = toJson(tree);
  return reporting(tree, diags, remark, () => {
    const expression = compileJson(json);
    return { tree, json, expression, traversals: traversalsOf(expression) };
  });
}

/** Evaluates a value. @returns undefined after a mistake, which is reported at its place. */
export function evaluated(
  { expression, tree }: Compiled,
  names: Names,
  diags: DiagnosticCollector,
  remark: Remark = {},
): Typed | undefined {
  return reporting(tree, diags, remark, () => evaluate(expression, names));
}

/** What a computation gives; an expression at fault is reported at its place in the tree, and gives undefined. */
export function reporting<T>(tree: Tree, diags: DiagnosticCollector, remark: Remark, compute: () => T): T | undefined {
  return attempt(compute, (error) => {
    reportExpression(error, tree, diags, remark);
    return undefined;
  });
}

/** What a computation gives, or what is to stand in its place when an expression is at fault. */
export function attempt<T, U>(compute: () => T, instead: (error: ExpressionError) => U): T | U {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ExpressionError) return instead(error);
    throw error;
  }
}

/** Says at its place what is wrong with an expression. */
export function reportExpression(
  { message, path, offset }: ExpressionError,
  tree: Tree,
  diags: DiagnosticCollector,
  remark: Remark = {},
): void {
  const { attribute, ...rest } = remark;
  const summary = attribute === undefined ? capital(message) : `${attribute[0]}: ${message}`;
  diags.add(spanIn(tree, path, offset), "config.expression", summary, {
    ...expressionShown(tree, path),
    fix: "Correct the expression. What hostform does not have of the language needs Terraform.",
    ...(attribute && { attribute: [...attribute, ...path] }),
    ...rest,
  });
}

/** Begins a sentence; a name at its beginning (`uuid: …`) stays as it is written. */
const capital = (text: string) => (/^[\w.]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

/** Longer expressions are not repeated by a message. */
const LONGEST = 200;

/** The expression at fault, for the message. A text without any is not repeated: it may be a secret. */
function expressionShown(tree: Tree, path: AttributePath): { detail?: string } {
  let at: Tree | undefined = tree;
  for (const step of path)
    at = at?.form === "map" ? at.entries.get(String(step))?.value : at?.form === "list" ? at.items[Number(step)] : at;
  const value = stringOf(at);
  if (value === undefined || !/[$%]\{/.test(value)) return {};
  return { detail: `The expression is ${shorten(value, LONGEST)}` };
}

/** The place of a stretch of a text within a value. @param length of the stretch, as far as it is known. */
export function spanIn(tree: Tree, path: AttributePath, offset: number, length = 1): Span {
  const span = locate(tree, path);
  const { source, start, end } = span;
  if (source.text[start] !== '"') return span;
  const from = Math.min(offsetInText(span, offset), end - 1);
  return source.span(from, Math.min(Math.max(offsetInText(span, offset + length), from + 1), end));
}

/**
 * The place of a sign of a string's value in the text: escapes take more room there than what they stand for.
 * @param offset in the value, in UTF-16 units.
 */
function offsetInText({ source, start, end }: Span, offset: number): number {
  let at = start + 1;
  for (let passed = 0; passed < offset && at < end - 1; passed++) {
    if (source.text[at] !== "\\") at += 1;
    else at += source.text[at + 1] === "u" ? 6 : 2;
  }
  return at;
}

/** The type that a declared value is converted to: of a nested object any attribute may be left out. */
function constraintOf(type: Attribute["type"]): Type {
  if (!isNested(type)) return typeOfAttribute(type);
  const parts = Object.entries(type.attributes).map(([name, part]) => [name, constraintOf(part.type)] as const);
  const optional = Object.fromEntries(parts.map(([name]) => [name, undefined]));
  const nested: Type = { object: Object.fromEntries(parts), optional };
  return type.nesting === "list" ? { list: nested } : nested;
}

const constraints = new WeakMap<Attribute, Type>();

/**
 * An evaluated value as an attribute takes it: converted to its type (`"11"` becomes 11 for a number), a set as a list, and
 * what is null in a nested object left out, since nobody has written it.
 * @throws ExpressionError when it is not of that type.
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

/** By schema: what nothing is known of, and the values that were typed before. */
interface SchemaMemory {
  readonly unknown: Typed;
  readonly known: WeakMap<object, Typed>;
}

const memories = new WeakMap<Schema, SchemaMemory>();

/**
 * A resource or a data source as expressions see it: an object with every attribute of the schema, null where there is no
 * value. Attributes that the schema calls sensitive are secret, whatever they hold.
 * @param secrets further attributes, into which a secret went
 * @throws ExpressionError for a value that is not of its attribute's type.
 */
export function schemaObject(schema: Schema, value: Value, secrets: readonly string[] = []): Typed {
  const typed = ofSchema(schema, value);
  const marked = secrets.filter((name) => schema.attributes[name]?.sensitive !== true);
  if (marked.length === 0 || !(typed.content instanceof Map)) return typed;
  const content = new Map(typed.content as ReadonlyMap<string, Typed>);
  for (const name of marked) {
    const attribute = content.get(name);
    if (attribute !== undefined) content.set(name, { ...attribute, secret: true });
  }
  return { ...typed, content };
}

function ofSchema(schema: Schema, value: Value): Typed {
  const memory = memories.get(schema) ?? { unknown: typedObject(schema, () => UNKNOWN), known: new WeakMap() };
  memories.set(schema, memory);
  if (value === UNKNOWN) return memory.unknown;
  if (!isObject(value)) return { ...memory.unknown, content: null };
  const typed = memory.known.get(value) ?? typedObject(schema, (name) => (value as ValueObject)[name] ?? null);
  memory.known.set(value, typed);
  return typed;
}

function typedObject({ attributes }: Schema, read: (name: string) => Value): Typed {
  const types: Record<string, Type> = {};
  const content = new Map<string, Typed>();
  for (const [name, attribute] of Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))) {
    types[name] = typeOfAttribute(attribute.type);
    // Sent, never kept.
    const value = attribute.writeOnly ? null : read(name);
    const typed = typedAttribute(name, value, attribute.type);
    content.set(name, attribute.sensitive ? { ...typed, secret: true } : typed);
  }
  return { type: { object: types }, content };
}

function typedAttribute(name: string, value: Value, type: Attribute["type"]): Typed {
  if (value === UNKNOWN) return { type: typeOfAttribute(type), content: UNKNOWN };
  const read = () => fromValue(value, constraintOf(type));
  return attempt(read, ({ message }) => {
    throw new ExpressionError(`${name} is not what it should be: ${message}`, 0);
  });
}
