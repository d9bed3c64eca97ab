/** hostform's answer for a string of JSON syntax, in the form of Terraform's answers. */
import { evaluate, type Language, parseTemplate, Refusal, type Typed } from "../../../src/core/expression/index.ts";
import { ExpressionError, type Json } from "../../../src/core/model/index.ts";
import { perEngine } from "../../support/programs.ts";
import { namesOf } from "./names.ts";
import type { Answer, Answers } from "./oracle.ts";
import { secretParts, typeText, writtenTyped } from "./plain.ts";

const validated = namesOf("validated");

/** Language of the engine that runs the tests. */
export const LANGUAGE: Language = perEngine<Language>("1.11", { newer: "1.12", tofu: "1.12" });

/**
 * Returns the values before and after the apply.
 * @throws the errors of the evaluation
 */
export function ourAnswer(text: string, language?: Language): Answer {
  const expression = parseTemplate(text);
  const before = evaluate(expression, namesOf("planned", language));
  const after = evaluate(expression, namesOf("applied", language));
  return {
    planned: writtenTyped(before),
    secret: secretParts(before),
    value: writtenTyped(after),
    type: typeOf(after),
  };
}

/** Terraform writes no type for an output that is null. */
const typeOf = (typed: Typed): string => (typed.content === null ? '"dynamic"' : typeText(typed));

/**
 * Returns the answer, or the kind of the refusal.
 * @throws every unexpected error
 */
export function ourVerdict(
  text: string,
  language?: Language,
): Answer | { readonly refused: "mistake" | "unsupported"; readonly why: string } {
  try {
    return ourAnswer(text, language);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { refused: error instanceof Refusal ? "unsupported" : "mistake", why: error.message };
  }
}

/**
 * Returns a forbidden difference between hostform's answer and Terraform's, or undefined. hostform may always report
 * an expression as unsupported, and may report an error only if Terraform does. A value may be unknown although
 * Terraform knows it before the apply, because Terraform narrows unknown values further. More parts may be secret than
 * Terraform marks.
 */
export function difference(text: string, theirs: Answers[number]): string | undefined {
  const ours = ourVerdict(text, LANGUAGE);
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

/** True if the validation without variable values reports different types that are in fact equal. */
function refusedByTypes(text: string, error: string): boolean {
  if (error.startsWith("Inconsistent conditional result types")) return true;
  try {
    evaluate(parseTemplate(text), validated);
    return false;
  } catch {
    return true;
  }
}

/** True if the second text equals the first after some `?` are replaced. The test texts contain no `?` of their own. */
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
