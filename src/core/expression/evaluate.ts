import { VALUES } from "../messages/expressions.ts";
import { didYouMean, ExpressionError, type Origin } from "../model/index.ts";
import { uniform } from "./conversion.ts";
import { ErrorCollector, EvalContext } from "./eval-context.ts";
import { callFunction, FUNCTION_NAMES, KNOWN_ELSEWHERE, ONLY_IN_OPENTOFU } from "./functions/index.ts";
import { type BigFloat, isWhole, toIndex } from "./number.ts";
import { binary, conditional, joinOf, keyOf, objectOf, templateOf, unary } from "./operators.ts";
import { attempt, guarded, placed, Refusal } from "./refusal.ts";
import type { Expression, NodeOf } from "./syntax.ts";
import {
  bool,
  elementsOf,
  entriesOf,
  isKnown,
  isWhollyKnown,
  list,
  type Names,
  object,
  originOf,
  secretIf,
  type Traversal,
  type TraversalStep,
  type Type,
  type Typed,
  text,
  tuple,
  unknown,
  whole,
} from "./typed-value.ts";
import { attributeType, elementType, isPrimitive, isSequence, shapeOf, tupleTypes, typeName } from "./types.ts";

// Evaluates the syntax tree: nodes by kind, function calls, attributes, indexes, splats and `for`.

/** Maximum number of evaluated nodes. A node in a loop counts once per element. */
const MOST_NODES = 3_000_000;

/**
 * Evaluates an expression as Terraform does, including unknown parts and secret marks.
 * @throws ExpressionError with the position, if the expression is invalid or unsupported.
 */
export function evaluate(expression: Expression, names: Names): Typed {
  const errors = new ErrorCollector();
  let left = MOST_NODES;
  const budgeted = (node: Expression, context: EvalContext): Typed => {
    left -= 1;
    if (left < 0) throw new Refusal(VALUES.too_long, node.offset);
    return nodeValue(node, context);
  };
  const context = new EvalContext(budgeted, { names, bound: new Map(), item: undefined, errors, discreet: false });
  const value = guarded(() => context.value(expression));
  if (errors.first !== undefined) throw errors.first;
  return value;
}

function nodeValue(node: Expression, context: EvalContext): Typed {
  switch (node.kind) {
    case "literal":
      return node.value;
    case "name":
      return nameOf(context, node);
    case "access": {
      const source = context.sound(node.source);
      return source === undefined ? unknown("any") : descend(context, source, node.steps, node.offset);
    }
    case "index": {
      const source = context.sound(node.source);
      if (source === undefined) return unknown("any");
      const key = context.sound(node.key);
      return key === undefined ? unknown("any") : at(context, source, key, node.key.offset);
    }
    case "item":
      return context.item ?? unknown("any");
    case "parentheses":
      return context.value(node.inner);
    case "placed":
      return placedOf(context, node);
    case "tuple":
      return tuple(node.items.map((item) => context.value(item)));
    case "object":
      return objectOf(context, node);
    case "for":
      return forOf(context, node);
    case "splat":
      return splat(context, node);
    case "conditional":
      return conditional(context, node);
    case "binary":
      return binary(context, node);
    case "unary":
      return unary(context, node);
    case "call":
      return callOf(context, node);
    case "template":
      return templateOf(context, node);
    case "join":
      return joinOf(context, node);
  }
}

function nameOf(context: EvalContext, { root, steps, text, offset }: NodeOf<"name">): Typed {
  const local = context.bound.get(root);
  if (local !== undefined) return descend(context, local, steps, offset);
  const found = resolved(context, { root, steps, text, offset });
  if (found === undefined) throw new Refusal(VALUES.unknown_name(text), offset);
  return descend(context, found.value, steps.slice(found.used), offset);
}

/** Resolves a name. Terraform checks names before it evaluates, so `try` must not hide a wrong name. */
function resolved({ names }: EvalContext, traversal: Traversal): ReturnType<Names["resolve"]> {
  return attempt(
    () => names.resolve(traversal),
    ({ message, offset, path }) => {
      throw new Refusal(message, offset, path);
    },
  );
}

function placedOf(context: EvalContext, { path, inner }: NodeOf<"placed">): Typed {
  const place = (error: ExpressionError) => (error.path.length === 0 ? placed(error, { path }) : error);
  const errors = new ErrorCollector();
  try {
    return context.with({ errors }).value(inner);
  } catch (error) {
    throw error instanceof ExpressionError ? place(error) : error;
  } finally {
    if (errors.first !== undefined) context.errors.add(place(errors.first));
  }
}

function callOf(context: EvalContext, node: NodeOf<"call">): Typed {
  // In Terraform, `core::` is an optional prefix of functions.
  const name = node.name.replace(/^core::/, "");
  if (name === "try") return tryOf(context, node);
  if (name === "can") return canOf(context, node);
  const args = argumentsOf(context, node);
  if (args === undefined) return unknown("any");
  return context.attempt(node.offset, `${name}: `, () => result(context, name, args)) ?? unknown("any");
}

function result(context: EvalContext, name: string, args: readonly Typed[]): Typed {
  const value = name.includes("::") ? context.names.call?.(name, args) : callFunction(name, args);
  if (value !== undefined) return value;
  if (KNOWN_ELSEWHERE.has(name)) throw new Refusal(VALUES.elsewhere);
  if (ONLY_IN_OPENTOFU.has(name)) throw new Refusal(VALUES.opentofu);
  const near = didYouMean(name, [...FUNCTION_NAMES, ...KNOWN_ELSEWHERE, "try", "can"]);
  throw new Refusal(VALUES.no_function(near));
}

/** Evaluates the arguments. Undefined after an error, or if their number is unknown. */
function argumentsOf(context: EvalContext, node: NodeOf<"call">): readonly Typed[] | undefined {
  const before = context.errors.count;
  const args = node.args.map((arg) => context.value(arg));
  const last = args.at(-1);
  const expanded = node.expand && last !== undefined ? elementsFor(context, node, last) : [];
  if (context.errors.count > before || expanded === undefined) return undefined;
  return node.expand ? [...args.slice(0, -1), ...expanded] : args;
}

function elementsFor(context: EvalContext, node: NodeOf<"call">, last: Typed): readonly Typed[] | undefined {
  const offset = node.args.at(-1)?.offset ?? node.offset;
  if (last.content === null) context.error(VALUES.iterate_null, offset);
  else if (!isSequence(last.type) && last.type !== "any")
    context.error(VALUES.other_type("list", typeName(last.type)), offset);
  else if (isKnown(last)) return elementsOf(last).map((item) => secretIf(item, last.secret));
  return undefined;
}

/**
 * Returns the first argument without an error. If this argument has unknown parts, the result is unknown, because the
 * argument may still fail later.
 */
function tryOf(context: EvalContext, node: NodeOf<"call">): Typed {
  for (const arg of node.args) {
    const { value, errors } = context.apart(arg);
    if (errors.count === 0) return isWhollyKnown(value) ? value : secretIf(unknown("any"), originOf(value));
  }
  return context.error(VALUES.no_success, node.offset);
}

function canOf(context: EvalContext, node: NodeOf<"call">): Typed {
  const [arg, ...others] = node.args;
  if (arg === undefined || others.length > 0 || node.expand) return context.error(VALUES.can, node.offset);
  const { value, errors } = context.apart(arg);
  if (errors.count > 0) return bool(false);
  return isWhollyKnown(value) ? bool(true) : unknown("bool");
}

const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u;

/** Follows static steps. Stops at the first error. */
function descend(context: EvalContext, value: Typed, steps: readonly TraversalStep[], offset: number): Typed {
  let result = value;
  const before = context.errors.count;
  for (const step of steps) {
    result = at(context, result, typeof step === "number" ? whole(step) : text(step), offset);
    if (context.errors.count > before) return result;
  }
  return result;
}

/** Evaluates `collection[key]` and `collection.name`, with Terraform's rules for null and unknown values. */
function at(context: EvalContext, collection: Typed, key: Typed, offset: number): Typed {
  const { type, content } = collection;
  if (content === null) return context.error(VALUES.null_source(describe(key)), offset);
  if (key.content === null) return context.error(VALUES.null_index, offset);
  const found = (item: Typed) => secretIf(item, collection.secret, key.secret);
  if (type === "any" || key.type === "any") return found(unknown("any"));

  const shape = shapeOf(type);
  if (shape === "set") return context.error(VALUES.set_index, offset);
  if (isPrimitive(type)) return context.error(VALUES.primitive_index(typeName(type)), offset);
  const isName =
    key.secret === undefined && isKnown(key) && key.type === "string" && IDENTIFIER.test(String(key.content));
  if (isName && isSequence(type)) {
    const hint = shapeOf(elementType(type)) === "object" ? ", or use [*] for all elements" : "";
    return context.error(VALUES.list_name(describe(key), hint), offset);
  }

  const what = VALUES.index(shape === "object" ? "attribute" : "element");
  const index = context.converted(key, isSequence(type) ? "number" : "string", offset, what);
  if (index === undefined) return unknown("any");
  if (!isKnown(index)) return found(unknown(elementType(type)));
  if (isSequence(type)) return elementAt(context, collection, index.content as BigFloat, offset, found);

  const name = String(index.content);
  const expected = shape === "map" ? elementType(type) : attributeType(type, name);
  const item = content instanceof Map ? (content.get(name) as Typed | undefined) : expected && unknown(expected);
  if (item !== undefined) return found(item);
  return context.error(VALUES.no_key(shape, describe(key)), offset);
}

function elementAt(
  context: EvalContext,
  collection: Typed,
  index: BigFloat,
  offset: number,
  found: (item: Typed) => Typed,
): Typed {
  const { type } = collection;
  const place = toIndex(index);
  if (!isWhole(index) || (place !== undefined && place < 0)) return context.error(VALUES.whole_index, offset);
  if (shapeOf(type) === "list" && !isKnown(collection)) return found(unknown(elementType(type)));
  const items = isKnown(collection) ? elementsOf(collection) : tupleTypes(type).map(unknown);
  const item = place === undefined ? undefined : items[place];
  if (item !== undefined) return found(item);
  return context.error(VALUES.no_element, offset);
}

/** Describes a key in messages. Hides a secret key. */
function describe(key: Typed): string {
  if (key.secret || !isKnown(key)) return "such key";
  if (key.type === "string")
    return IDENTIFIER.test(String(key.content)) ? `attribute ${String(key.content)}` : "such key";
  return "such index";
}

/** Evaluates `source[*]each`. A single value is like a list with one element, and null like an empty list. */
function splat(context: EvalContext, node: NodeOf<"splat">): Typed {
  const source = context.sound(node.source);
  if (source === undefined) return unknown("any");
  const shape = shapeOf(source.type);
  const single = !isSequence(source.type);
  if (source.content === null) {
    if (single) return secretIf(tuple([]), source.secret);
    return context.error(VALUES.iterate_null, node.source.offset);
  }
  if (source.type === "any") return secretIf(unknown("any"), source.secret);
  const parts = context.through(source);
  const each = (item: Typed) => parts.with({ item }).value(node.each);
  if (single) {
    const result = each(source);
    // The unknown value may be null. The result would then be an empty list.
    return secretIf(isKnown(source) ? tuple([result]) : unknown("any"), source.secret);
  }
  if (!isKnown(source)) return secretIf(unknown(resultType(source.type, each)), source.secret);

  const before = context.errors.count;
  const items = elementsOf(source).map(each);
  // Like Terraform, continue with an unknown value of the result's type.
  if (context.errors.count > before)
    return unknown(resultType(source.type, (item) => parts.apart(node.each, { item }).value));
  if (shape === "tuple") return secretIf(tuple(items), source.secret);
  if (items.length === 0) return secretIf(list(elementType(resultType(source.type, each)), []), source.secret);
  const elements = uniform(items);
  if (elements === undefined) return context.error(VALUES.splat_types, node.offset);
  return secretIf(list(...elements), source.secret);
}

/** Returns the type of the result. Depends only on the type of the source. */
function resultType(type: Type, each: (item: Typed) => Typed): Type {
  const of = (element: Type) => each(unknown(element)).type;
  return shapeOf(type) === "tuple" ? { tuple: tupleTypes(type).map(of) } : { list: of(elementType(type)) };
}

/** Evaluates `for` to a tuple or object. Unknown elements, conditions or keys make the result unknown. */
function forOf(context: EvalContext, node: NodeOf<"for">): Typed {
  const source = context.value(node.source);
  const { offset } = node.source;
  if (source.content === null) return context.error(VALUES.iterate_null, offset);
  if (source.type === "any") return secretIf(unknown("any"), source.secret);
  if (isPrimitive(source.type)) return context.error(VALUES.other_type("list", typeName(source.type)), offset);

  const marks: (Origin | undefined)[] = [source.secret];
  const parts = context.through(source);
  // Terraform requires a condition that converts to bool, even if there are no elements.
  const tried = bind(parts, node, unknown("any"), unknown("any"));
  if (node.condition !== undefined && decided(tried, node.condition, marks) === undefined) return unknown("any");
  if (!isKnown(source)) return secretIf(unknown("any"), ...marks);

  const result: Result = { known: true, items: [], groups: new Map() };
  for (const [key, value] of pairsOf(source)) {
    const inner = bind(parts, node, key, value);
    const decision = node.condition === undefined ? bool(true) : decided(inner, node.condition, marks);
    if (decision === undefined || !isKnown(decision)) result.known = false;
    else if (decision.content === true) add(inner, node, result, marks);
  }
  if (!result.known) return secretIf(unknown("any"), ...marks);
  if (node.key === undefined) return secretIf(tuple(result.items), ...marks);
  const grouped = [...result.groups].flatMap(([name, values]) =>
    (node.group ? [tuple(values)] : values).map((value) => [name, value] as const),
  );
  return secretIf(object(grouped), ...marks);
}

interface Result {
  known: boolean;
  readonly items: Typed[];
  readonly groups: Map<string, Typed[]>;
}

/** Evaluates the condition for one element. Undefined after an error. */
function decided(context: EvalContext, node: Expression, marks: (Origin | undefined)[]): Typed | undefined {
  const condition = context.sound(node);
  if (condition === undefined) return undefined;
  marks.push(condition.secret);
  if (condition.content !== null) return context.converted(condition, "bool", node.offset, VALUES.condition);
  context.error(VALUES.null_condition, node.offset);
  return undefined;
}

function add(context: EvalContext, node: NodeOf<"for">, result: Result, marks: (Origin | undefined)[]): void {
  if (node.key === undefined) {
    result.items.push(context.value(node.body));
    return;
  }
  const key = keyOf(context, node.key);
  marks.push(key?.secret);
  if (key === undefined || !isKnown(key)) {
    result.known = false;
    return;
  }
  const name = String(key.content);
  const value = context.value(node.body);
  const group = result.groups.get(name);
  if (group === undefined) result.groups.set(name, [value]);
  else if (node.group) group.push(value);
  else {
    const which = key.secret ? "the same key" : `the key ${JSON.stringify(name)}`;
    context.error(VALUES.for_key(which), node.key.offset);
  }
}

function bind(context: EvalContext, { keyName, valueName }: NodeOf<"for">, key: Typed, value: Typed): EvalContext {
  const bound = new Map(context.bound);
  if (keyName !== undefined) bound.set(keyName, key);
  bound.set(valueName, value);
  return context.with({ bound });
}

/** Returns the elements with their keys. The key of a list is the index; a set uses each element as its own key. */
function pairsOf(source: Typed): readonly (readonly [Typed, Typed])[] {
  if (source.content instanceof Map) return entriesOf(source).map(([key, item]) => [text(key), item]);
  const isSet = shapeOf(source.type) === "set";
  return elementsOf(source).map((item, i) => [isSet ? item : whole(i), item]);
}
