import { VALUES } from "../messages/expressions.ts";
import { joinOrigins, type Origin } from "../model/index.ts";
import { unify } from "./conversion.ts";
import { equals } from "./equality.ts";
import type { EvalContext } from "./eval-context.ts";
import { add, type BigFloat, compare, divide, multiply, negate, remainder, subtract } from "./number.ts";
import { Refusal } from "./refusal.ts";
import type { Expression, NodeOf, Operator } from "./syntax.ts";
import {
  bare,
  bool,
  elementsOf,
  isKnown,
  nullOf,
  number,
  object,
  originOf,
  secretIf,
  type Type,
  type Typed,
  text,
  unknown,
} from "./typed-value.ts";
import { typeName } from "./types.ts";

// Evaluates operators, conditions, objects and templates.

const LOGIC: readonly Operator[] = ["||", "&&"];
const EQUALITY: readonly Operator[] = ["==", "!="];
const ORDER: readonly Operator[] = [">", ">=", "<", "<="];

/**
 * Evaluates a binary operator. Both sides are always evaluated. Since Terraform 1.12, `||` and `&&` report only errors of the
 * side that decides.
 */
export function binary(context: EvalContext, node: NodeOf<"binary">): Typed {
  const { operator } = node;
  if (LOGIC.includes(operator) && context.names.language !== "1.11") return logic(context, node);
  if (EQUALITY.includes(operator)) return equality(context, node);
  const wanted = LOGIC.includes(operator) ? "bool" : "number";
  const result = LOGIC.includes(operator) || ORDER.includes(operator) ? "bool" : "number";
  const left = operand(context, node.left, wanted, "left");
  const right = operand(context, node.right, wanted, "right");
  if (left === undefined || right === undefined) return unknown(result);
  const secret = [left.secret, right.secret];
  if (left.content === null || right.content === null)
    return context.error(VALUES.null_operand(operator), node.offset, result);
  if (!isKnown(left) || !isKnown(right)) return secretIf(unknown(result), ...secret);
  if (wanted === "bool") {
    const both = [left.content === true, right.content === true];
    return secretIf(bool(operator === "||" ? both.includes(true) : !both.includes(false)), ...secret);
  }
  const [a, b] = [left.content as BigFloat, right.content as BigFloat];
  if (result === "bool") return secretIf(bool(ordered(operator, compare(a, b))), ...secret);
  const computed = context.attempt(node.offset, "", () => arithmetic(operator, a, b));
  return computed === undefined ? unknown("number") : secretIf(number(computed), ...secret);
}

/**
 * Evaluates `||` and `&&` as Terraform 1.12 does. A true side decides `||`, and a false side decides `&&`, even if the other
 * side has an error. Null counts as false if it decides; otherwise it is an error.
 */
function logic(context: EvalContext, node: NodeOf<"binary">): Typed {
  const { operator, offset } = node;
  const deciding = operator === "||";
  const [left, right] = [context.apart(node.left), context.apart(node.right)];
  const count = (...sides: readonly (typeof left)[]) => {
    for (const { errors } of sides) if (errors.first !== undefined) context.errors.add(errors.first);
  };
  const converted = (side: typeof left, at: Expression, name: string) =>
    context.converted(side.value, "bool", at.offset, VALUES.operand(name));
  const [a, b] = [converted(left, node.left, "left"), converted(right, node.right, "right")];
  if (a === undefined || b === undefined) {
    count(left, right);
    return unknown("bool");
  }
  const decided = (result: Typed, ...sides: readonly (typeof left)[]) => {
    count(...sides);
    return secretIf(result, a.secret, b.secret);
  };
  const decides = (value: Typed) => isKnown(value) && (value.content === true) === deciding;
  if (!isKnown(a) && !isKnown(b))
    return decided(unknown("bool"), ...(left.errors.first === undefined ? [] : [left, right]));
  if (decides(a)) return decided(bool(deciding), left);
  if (decides(b)) return decided(bool(deciding), right);
  if (!isKnown(a)) return decided(unknown("bool"), left);
  if (!isKnown(b)) return decided(unknown("bool"), right);
  count(left, right);
  if (a.content === null || b.content === null) return context.error(VALUES.null_operand(operator), offset, "bool");
  return secretIf(bool(!deciding), a.secret, b.secret);
}

/** Evaluates and converts an operand. Undefined after an error. */
function operand(context: EvalContext, node: Expression, wanted: "bool" | "number", side: string): Typed | undefined {
  const value = context.sound(node);
  return value && context.converted(value, wanted, node.offset, VALUES.operand(side));
}

function equality(context: EvalContext, node: NodeOf<"binary">): Typed {
  const [left, right] = [context.sound(node.left), context.sound(node.right)];
  if (left === undefined || right === undefined) return unknown("bool");
  const equal = equals(left, right);
  const result = equal === undefined ? unknown("bool") : bool(equal === (node.operator === "=="));
  return secretIf(result, originOf(left), originOf(right));
}

function ordered(operator: Operator, order: number): boolean {
  if (operator === ">") return order > 0;
  if (operator === ">=") return order >= 0;
  return operator === "<" ? order < 0 : order <= 0;
}

function arithmetic(operator: Operator, a: BigFloat, b: BigFloat): BigFloat {
  if (operator === "+") return add(a, b);
  if (operator === "-") return subtract(a, b);
  if (operator === "*") return multiply(a, b);
  return operator === "/" ? divide(a, b) : remainder(a, b);
}

export function unary(context: EvalContext, node: NodeOf<"unary">): Typed {
  const wanted = node.operator === "-" ? "number" : "bool";
  const value = operand(context, node.operand, wanted, "only");
  if (value === undefined) return unknown(wanted);
  if (value.content === null) return context.error(VALUES.null_operand(node.operator), node.offset, wanted);
  if (!isKnown(value)) return secretIf(unknown(wanted), value.secret);
  const result = node.operator === "-" ? number(negate(value.content as BigFloat)) : bool(value.content !== true);
  return secretIf(result, value.secret);
}

/** Evaluates a conditional. Both branches determine the type. Only errors of the selected branch count. */
export function conditional(context: EvalContext, node: NodeOf<"conditional">): Typed {
  const [yes, no] = [context.apart(node.yes), context.apart(node.no)];
  const type = commonType(yes.value, no.value);
  if (type === undefined) {
    const message = VALUES.branches(typeName(yes.value.type), typeName(no.value.type));
    return context.error(message, node.offset);
  }

  const condition = context.value(node.condition);
  const { offset } = node.condition;
  if (condition.content === null) return context.error(VALUES.null_condition, offset, type);
  const secret = [condition.secret, yes.value.secret, no.value.secret];
  if (!isKnown(condition)) return secretIf(undecided(yes.value, no.value, type), ...secret);
  const decision = context.converted(condition, "bool", offset, VALUES.condition);
  if (decision === undefined) return unknown(type);

  const [taken, branch] = decision.content === true ? [yes, node.yes] : [no, node.no];
  if (taken.errors.first !== undefined) context.errors.add(taken.errors.first);
  return secretIf(context.converted(taken.value, type, branch.offset, VALUES.branch) ?? unknown(type), ...secret);
}

/** Returns the result for an unknown condition. As in Terraform, it is known if both branches are null or the same number. */
function undecided(yes: Typed, no: Typed, type: Type): Typed {
  if (yes.content === null && no.content === null) return nullOf(type);
  return type === "number" && yes.content !== null && equals(yes, no) === true ? bare(yes) : unknown(type);
}

/**
 * Returns the type of a conditional. An untyped null gets the type of the other branch. If a branch has an unknown type,
 * neither is converted.
 */
function commonType(yes: Typed, no: Typed): Type | undefined {
  if (isBareNull(yes)) return no.type;
  if (isBareNull(no)) return yes.type;
  if (yes.type === "any" || no.type === "any") return "any";
  return unify([yes.type, no.type]);
}

function isBareNull({ type, content, secret }: Typed): boolean {
  return type === "any" && content === null && secret === undefined;
}

/** Evaluates an object. An unknown key makes the object unknown. */
export function objectOf(context: EvalContext, node: NodeOf<"object">): Typed {
  const entries = new Map<string, Typed>();
  let known = true;
  const secret: (Origin | undefined)[] = [];
  for (const entry of node.entries) {
    const key = keyOf(context, entry.key);
    const value = context.value(entry.value);
    if (key === undefined || !isKnown(key)) known = false;
    else if (node.unique && entries.has(String(key.content)))
      context.error(VALUES.duplicate_key(key.secret ? "(secret)" : String(key.content)), entry.key);
    else entries.set(String(key.content), value);
    secret.push(key?.secret);
  }
  return secretIf(known ? object(entries) : unknown("any"), ...secret);
}

/** Evaluates the key of an entry as a string. Undefined after a collected error. */
export function keyOf(context: EvalContext, node: Expression): Typed | undefined {
  const value = context.sound(node);
  if (value === undefined) return undefined;
  if (value.content === null) {
    context.error(VALUES.null_key, node);
    return undefined;
  }
  return context.converted(value, "string", node, VALUES.key);
}

const LONGEST = 16 * 1024 * 1024;

/** Concatenates the parts of a template. An unknown part makes the result unknown. */
export function templateOf(context: EvalContext, node: NodeOf<"template">): Typed {
  const values = node.parts.map((part) => [context.value(part), part.offset] as const);
  return together(context, values);
}

/** Concatenates the results of a `%{for}`. */
export function joinOf(context: EvalContext, node: NodeOf<"join">): Typed {
  const texts = context.value(node.texts);
  if (!isKnown(texts)) return secretIf(unknown("string"), texts.secret);
  const values = elementsOf(texts).map((value) => [value, node.offset] as const);
  return secretIf(together(context, values), texts.secret);
}

function together(context: EvalContext, values: readonly (readonly [Typed, offset: number])[]): Typed {
  const texts = values.map(([value, offset]) => {
    if (value.content === null) context.error(VALUES.null_part, offset);
    if (value.content === null || !isKnown(value)) return "";
    const converted = context.converted(value, "string", offset, VALUES.part);
    return String(converted?.content ?? "");
  });
  if (texts.reduce((sum, one) => sum + one.length, 0) > LONGEST) throw new Refusal(VALUES.text_size);
  const known = values.every(([value]) => isKnown(value));
  const origin = joinOrigins(values.map(([value]) => value.secret));
  const whole = known ? text(texts.join("")) : unknown("string");
  if (origin === undefined) return whole;
  const end = values.findIndex(([value]) => value.secret !== undefined || !isKnown(value));
  const open = texts.slice(0, end).join("") + (values[end]?.[0].secret?.open ?? "");
  return { ...whole, secret: { ...origin, ...(open !== "" && { open }) } };
}
