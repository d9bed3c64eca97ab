import { didYouMean } from "../model/index.ts";
import { callFunction, FUNCTION_NAMES, KNOWN_ELSEWHERE } from "./functions/index.ts";
import { binary } from "./operators.ts";
import { Refusal } from "./refusal.ts";
import { attempt, Mistakes, mistaken, type Run } from "./run.ts";
import type { Call, Expression } from "./syntax.ts";
import { bool, elementsOf, isKnown, isSecret, isWhollyKnown, secretIf, unknown } from "./typed.ts";
import { shapeOf, typeName } from "./types.ts";
import type { Typed } from "./value.ts";

/** Terraform knows its own functions by this prefix as well. */
const CORE = /^core::/;

export function callOf(run: Run, node: Call): Typed {
  const name = node.name.replace(CORE, "");
  if (name === "try") return tryOf(run, node);
  if (name === "can") return canOf(run, node);
  const args = argumentsOf(run, node, name);
  if (args === undefined) return unknown("any");
  return attempt(run, node.offset, `${name}: `, () => result(run, name, args)) ?? unknown("any");
}

function result(run: Run, name: string, args: readonly Typed[]): Typed {
  const value = name.includes("::") ? run.names.call?.(name, args) : callFunction(name, args);
  if (value !== undefined) return value;
  if ([...KNOWN_ELSEWHERE].includes(name))
    throw new Refusal("hostform does not support this function of Terraform; compute the value in code", 0);
  const near = didYouMean(name, [...FUNCTION_NAMES, ...KNOWN_ELSEWHERE, "try", "can"]);
  throw new Refusal(`there is no such function.${near}`, 0);
}

/** The values of the arguments; undefined when one of them is mistaken or it is not known yet how many there are. */
function argumentsOf(run: Run, node: Call, name: string): readonly Typed[] | undefined {
  const before = run.mistakes.count;
  // Whatever is rounded to a whole number may be a quotient without end.
  const whole = (name === "floor" || name === "ceil") && node.args.length === 1;
  const args = node.args.map((arg) => (whole ? quotientOf(run, arg) : run.value(arg)));
  const last = args.at(-1);
  const expanded = node.expand && last !== undefined ? elementsFor(run, node, last) : [];
  if (run.mistakes.count > before || expanded === undefined) return undefined;
  return node.expand ? [...args.slice(0, -1), ...expanded] : args;
}

function quotientOf(run: Run, node: Expression): Typed {
  if (node.kind === "parentheses") return quotientOf(run, node.inner);
  return node.kind === "binary" && node.operator === "/" ? binary(run, node, true) : run.value(node);
}

function elementsFor(run: Run, node: Call, last: Typed): readonly Typed[] | undefined {
  const offset = node.args.at(-1)?.offset ?? node.offset;
  const shape = shapeOf(last.type);
  if (last.content === null) mistaken(run, "what stands before ... is null", offset);
  else if (shape !== "list" && shape !== "set" && shape !== "tuple" && shape !== "any")
    mistaken(run, `what stands before ... is a ${typeName(last.type)}, not a list`, offset);
  else if (isKnown(last)) return elementsOf(last).map((item) => secretIf(item, last.secret));
  return undefined;
}

/** The first expression without a mistake. As long as it has unknown parts it may still have one. */
function tryOf(run: Run, node: Call): Typed {
  for (const arg of node.args) {
    const mistakes = new Mistakes();
    const value = run.with({ mistakes }).value(arg);
    if (mistakes.count === 0) return isWhollyKnown(value) ? value : secretIf(unknown("any"), isSecret(value));
  }
  return mistaken(run, "no expression of try succeeds; the last one should be a plain value", node.offset);
}

function canOf(run: Run, node: Call): Typed {
  const [arg, ...others] = node.args;
  if (arg === undefined || others.length > 0 || node.expand)
    return mistaken(run, "can takes one expression", node.offset);
  const mistakes = new Mistakes();
  const value = run.with({ mistakes }).value(arg);
  if (mistakes.count > 0) return bool(false);
  return isWhollyKnown(value) ? bool(true) : unknown("bool");
}
