import { attempt, Mistakes, mistaken, type Run } from "./context.ts";
import { conversion, convert, unify } from "./conversion.ts";
import { equals } from "./equality.ts";
import { add, compare, type Decimal, divide, dividesEvenly, multiply, negate, remainder, subtract } from "./number.ts";
import { Refusal } from "./refusal.ts";
import type { Binary, Conditional, Expression, Join, ObjectNode, Operator, Template, Tuple, Unary } from "./syntax.ts";
import { sameType, typeName } from "./types.ts";
import {
  bare,
  bool,
  elementsOf,
  isKnown,
  isSecret,
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

const LOGIC: readonly Operator[] = ["||", "&&"];
const EQUALITY: readonly Operator[] = ["==", "!="];
const ORDER: readonly Operator[] = [">", ">=", "<", "<="];

/** Both sides are evaluated, whatever the first one is. @param whole the fraction of a quotient does not matter */
export function binary(run: Run, node: Binary, whole = false): Typed {
  const { operator } = node;
  if (EQUALITY.includes(operator)) return equality(run, node);
  const wanted = LOGIC.includes(operator) ? "bool" : "number";
  const result = LOGIC.includes(operator) || ORDER.includes(operator) ? "bool" : "number";
  const before = run.mistakes.count;
  const left = operand(run, node.left, wanted, "left");
  const right = operand(run, node.right, wanted, "right");
  if (left === undefined || right === undefined || run.mistakes.count > before) return unknown(result);
  const secret = [left.secret, right.secret];
  if (left.content === null || right.content === null)
    return mistaken(run, `an operand of ${operator} is null`, node.offset, result);
  if (!isKnown(left) || !isKnown(right)) return secretIf(unknown(result), ...secret);
  if (wanted === "bool") {
    const both = [left.content === true, right.content === true];
    return secretIf(bool(operator === "||" ? both.includes(true) : !both.includes(false)), ...secret);
  }
  const [a, b] = [left.content as Decimal, right.content as Decimal];
  if (result === "bool") return secretIf(bool(ordered(operator, compare(a, b))), ...secret);
  const computed = attempt(run, node.offset, "", () => {
    if (operator === "/" && !whole && !hasLiteral(node) && b.digits !== 0n && !dividesEvenly(a, b))
      throw new Refusal(
        "the quotient has no end, and how Terraform rounds it depends on where the numbers come from; use floor, ceil or a whole divisor",
        0,
      );
    return arithmetic(operator, a, b);
  });
  return computed === undefined ? unknown("number") : secretIf(number(computed), ...secret);
}

function operand(run: Run, node: Expression, wanted: "bool" | "number", side: string): Typed | undefined {
  const value = run.value(node);
  return attempt(run, node.offset, `unsuitable value for the ${side} operand: `, () => convert(value, wanted));
}

function equality(run: Run, node: Binary): Typed {
  const before = run.mistakes.count;
  const left = run.value(node.left);
  const right = run.value(node.right);
  if (run.mistakes.count > before) return unknown("bool");
  const equal = equals(left, right);
  const result = equal === undefined ? unknown("bool") : bool(equal === (node.operator === "=="));
  return secretIf(result, isSecret(left), isSecret(right));
}

function ordered(operator: Operator, order: number): boolean {
  if (operator === ">") return order > 0;
  if (operator === ">=") return order >= 0;
  return operator === "<" ? order < 0 : order <= 0;
}

function arithmetic(operator: Operator, a: Decimal, b: Decimal): Decimal {
  if (operator === "+") return add(a, b);
  if (operator === "-") return subtract(a, b);
  if (operator === "*") return multiply(a, b);
  return operator === "/" ? divide(a, b) : remainder(a, b);
}

/** A number that is written has all of Terraform's 512 bits, and so has what is computed with it. Others may have fewer. */
function hasLiteral({ left, right }: Binary): boolean {
  return isLiteral(left) || isLiteral(right);
}

function isLiteral(node: Expression): boolean {
  if (node.kind === "parentheses") return isLiteral(node.inner);
  if (node.kind === "unary") return isLiteral(node.operand);
  return node.kind === "literal";
}

export function unary(run: Run, node: Unary): Typed {
  const wanted = node.operator === "-" ? "number" : "bool";
  const before = run.mistakes.count;
  const value = operand(run, node.operand, wanted, "only");
  if (value === undefined || run.mistakes.count > before) return unknown(wanted);
  if (value.content === null) return mistaken(run, `the operand of ${node.operator} is null`, node.offset, wanted);
  if (!isKnown(value)) return secretIf(unknown(wanted), value.secret);
  const result = node.operator === "-" ? number(negate(value.content as Decimal)) : bool(value.content !== true);
  return secretIf(result, value.secret);
}

/** Both branches are evaluated, for the type; mistakes count in the one that is taken alone. */
export function conditional(run: Run, node: Conditional): Typed {
  const mistakes = { yes: new Mistakes(), no: new Mistakes() };
  const yes = run.with({ mistakes: mistakes.yes }).value(node.yes);
  const no = run.with({ mistakes: mistakes.no }).value(node.no);
  const type = commonType(yes, no);
  if (type === undefined) {
    const both = `${typeName(yes.type)} and ${typeName(no.type)}`;
    return mistaken(run, `the two results of the condition have types that do not go together: ${both}`, node.offset);
  }
  const condition = run.value(node.condition);
  const { offset } = node.condition;
  if (condition.content === null) return mistaken(run, "the condition is null", offset, type);
  const secret = [condition.secret, yes.secret, no.secret];
  if (!isKnown(condition)) {
    return secretIf(undecided(yes, no, type), ...secret);
  }
  const decision = attempt(run, offset, "the condition is not a bool: ", () => convert(condition, "bool"));
  if (decision === undefined) return unknown(type);
  const taken = decision.content === true ? "yes" : "no";
  if (mistakes[taken].first !== undefined) run.mistakes.add(mistakes[taken].first);
  const result = attempt(run, node[taken].offset, "the result of the condition has the wrong type: ", () =>
    converted(bare(taken === "yes" ? yes : no), type),
  );
  return secretIf(result ?? unknown(type), ...secret);
}

/** Where it does not matter which one is taken, Terraform knows the result of nulls and numbers. */
function undecided(yes: Typed, no: Typed, type: Type): Typed {
  if (yes.content === null && no.content === null) return nullOf(type);
  return type === "number" && yes.content !== null && equals(yes, no) === true ? bare(yes) : unknown(type);
}

/** A bare null takes the type of the other one; where one type is not known, nothing is converted. */
function commonType(yes: Typed, no: Typed): Type | undefined {
  if (isBareNull(yes)) return no.type;
  if (isBareNull(no)) return yes.type;
  if (yes.type === "any" || no.type === "any") return "any";
  return unify([yes.type, no.type]);
}

function isBareNull({ type, content, secret }: Typed): boolean {
  return type === "any" && content === null && secret !== true;
}

function converted(value: Typed, type: Type): Typed {
  return sameType(value.type, type) ? value : (conversion(value.type, type)?.(value) ?? value);
}

export function tupleOf(run: Run, node: Tuple): Typed {
  return tuple(node.items.map((item) => run.value(item)));
}

/** As long as one of the keys is unknown, so is the whole. */
export function objectOf(run: Run, node: ObjectNode): Typed {
  const entries = new Map<string, Typed>();
  let known = true;
  let secret = false;
  for (const entry of node.entries) {
    const key = keyOf(run, entry.key);
    const value = run.value(entry.value);
    if (key === undefined || !isKnown(key)) known = false;
    else if (node.unique && entries.has(String(key.content)))
      mistaken(run, `the key ${JSON.stringify(key.secret ? "(secret)" : key.content)} is there twice`, entry.key);
    else entries.set(String(key.content), value);
    secret ||= key?.secret === true;
  }
  return secretIf(known ? object(entries) : unknown("any"), secret);
}

/** The key of an entry as a text; undefined when it is none, which is noted. */
export function keyOf(run: Run, node: Expression): Typed | undefined {
  const before = run.mistakes.count;
  const value = run.value(node);
  if (run.mistakes.count > before) return undefined;
  if (value.content === null) {
    mistaken(run, "a key is null", node);
    return undefined;
  }
  return attempt(run, node, "this cannot be a key: ", () => convert(value, "string"));
}

const LONGEST = 16 * 1024 * 1024;

/** The parts one after another; unknown as soon as one is. */
export function templateOf(run: Run, node: Template): Typed {
  return together(
    run,
    node.parts.map((part) => ({ value: run.value(part), offset: part.offset })),
  );
}

/** What a `%{for}` gives, one after another. */
export function joinOf(run: Run, node: Join): Typed {
  const texts = run.value(node.texts);
  if (!isKnown(texts)) return secretIf(unknown("string"), texts.secret);
  const joined = together(
    run,
    elementsOf(texts).map((value) => ({ value, offset: node.offset })),
  );
  return secretIf(joined, texts.secret);
}

function together(run: Run, parts: readonly { readonly value: Typed; readonly offset: number }[]): Typed {
  const known = parts.every(({ value }) => isKnown(value));
  const texts = parts.map(({ value, offset }) => {
    if (value.content === null) mistaken(run, "null cannot stand inside a string", offset);
    if (value.content === null || !isKnown(value)) return "";
    const converted = attempt(run, offset, "this cannot stand inside a string: ", () => convert(bare(value), "string"));
    return String(converted?.content ?? "");
  });
  if (texts.reduce((sum, one) => sum + one.length, 0) > LONGEST) throw new Refusal("the text is too long", 0);
  return secretIf(known ? text(texts.join("")) : unknown("string"), ...parts.map(({ value }) => value.secret));
}
