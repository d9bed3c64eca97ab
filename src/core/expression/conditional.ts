import { conversion, unify } from "./conversion.ts";
import { convert } from "./convert.ts";
import { equals } from "./equality.ts";
import { attempt, Mistakes, mistaken, type Run } from "./run.ts";
import type { Conditional } from "./syntax.ts";
import { bare, isKnown, nullOf, secretIf, unknown } from "./typed.ts";
import { sameType, typeName } from "./types.ts";
import type { Type, Typed } from "./value.ts";

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
  return sameType(value.type, type) ? value : (conversion(value.type, type, true)?.(value) ?? value);
}
