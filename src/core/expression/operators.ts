import { convert } from "./convert.ts";
import { equals } from "./equality.ts";
import { add, compare, type Decimal, divide, dividesEvenly, multiply, negate, remainder, subtract } from "./number.ts";
import { Refusal } from "./refusal.ts";
import { attempt, mistaken, type Run } from "./run.ts";
import type { Binary, Expression, Operator, Unary } from "./syntax.ts";
import { bool, isKnown, isSecret, number, secretIf, unknown } from "./typed.ts";
import type { Typed } from "./value.ts";

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
