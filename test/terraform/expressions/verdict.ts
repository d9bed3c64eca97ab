/** What hostform says of a string of JSON syntax, in the form in which Terraform's answers are compared. */
import { evaluate, parseTemplate, Refusal, type Typed } from "../../../src/core/expression/index.ts";
import { ExpressionError, type Json } from "../../../src/core/model/index.ts";
import { namesOf } from "./names.ts";
import type { Answer, Answers } from "./oracle.ts";
import { secretParts, typeText, writtenTyped } from "./plain.ts";

const validated = namesOf("validated");
const planned = namesOf("planned");
const applied = namesOf("applied");

/** Its values before and after the apply. @throws what the evaluation throws */
export function ourAnswer(text: string): Answer {
  const expression = parseTemplate(text);
  const before = evaluate(expression, planned);
  const after = evaluate(expression, applied);
  return {
    planned: writtenTyped(before),
    secret: secretParts(before),
    value: writtenTyped(after),
    type: typeOf(after),
  };
}

/** Terraform writes no type for an output that is null. */
const typeOf = (typed: Typed): string => (typed.content === null ? '"dynamic"' : typeText(typed));

/** The same, or how it was refused. @throws what no expression may throw */
export function ourVerdict(
  text: string,
): Answer | { readonly refused: "mistake" | "unsupported"; readonly why: string } {
  try {
    return ourAnswer(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { refused: error instanceof Refusal ? "unsupported" : "mistake", why: error.message };
  }
}

/**
 * How our answer to an expression differs from Terraform's in a way that it must not; undefined when it does not. A refusal of
 * what is not supported is allowed always, a mistake only where Terraform finds one too. Unknown may be what Terraform knows
 * before the apply (it follows more closely what an unknown value can become), secret may be more than what it marks.
 */
export function difference(text: string, theirs: Answers[number]): string | undefined {
  const ours = ourVerdict(text);
  if ("refused" in ours)
    return ours.refused === "unsupported" || "error" in theirs
      ? undefined
      : `hostform refuses it (${ours.why}), Terraform computes ${theirs.value}`;
  if ("error" in theirs && refusedByTypes(text, theirs.error)) return undefined;
  if ("error" in theirs) return `hostform computes ${ours.value}, Terraform refuses it: ${theirs.error}`;
  if (ours.value !== theirs.value) return `value: hostform ${ours.value}, Terraform ${theirs.value}`;
  if (ours.type !== theirs.type) return `type: hostform ${ours.type}, Terraform ${theirs.type}`;
  if (!mayBecome(ours.planned, theirs.planned)) return `planned: hostform ${ours.planned}, Terraform ${theirs.planned}`;
  if (!covers(ours.secret, theirs.secret))
    return `secret: hostform ${JSON.stringify(ours.secret)}, Terraform ${JSON.stringify(theirs.secret)}`;
  return undefined;
}

/** Terraform looks at everything without the values of variables first, and then takes types for different that are not. */
function refusedByTypes(text: string, error: string): boolean {
  if (error.startsWith("Inconsistent conditional result types")) return true;
  try {
    evaluate(parseTemplate(text), validated);
    return false;
  } catch {
    return true;
  }
}

/** Whether the second value is the first with some of its unknown parts known. None of the texts has a `?` of its own. */
function mayBecome(ours: string, theirs: string): boolean {
  const parts = ours.split("?").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]+")}$`).test(theirs);
}

function covers(ours: Json, theirs: Json): boolean {
  if (ours === true || theirs === false) return true;
  if (theirs === true || typeof ours !== "object" || ours === null) return false;
  return Object.entries(theirs as { readonly [key: string]: Json }).every(([key, mask]) =>
    covers((ours as { readonly [key: string]: Json })[key] ?? false, mask),
  );
}
