import { ExpressionError } from "../model/index.ts";
import { type Decimal, formatNumber, parseNumber } from "./number.ts";
import { bool, number, text } from "./typed.ts";
import type { Type, Typed } from "./value.ts";

/** What converts a text, number or bool to another of them; a text to anything else only where that may fail. */
export function primitive(from: Type, to: Type, unsafe: boolean): ((value: Typed) => Typed) | undefined {
  if (to === "string") {
    return ({ content }) => text(typeof content === "boolean" ? String(content) : formatNumber(content as Decimal));
  }
  if (from !== "string" || !unsafe) return undefined;
  return to === "number" ? textToNumber : textToBool;
}

function textToNumber({ content }: Typed): Typed {
  const parsed = parseNumber(String(content));
  if (parsed === undefined) throw new ExpressionError("a number is required", 0);
  return number(parsed);
}

function textToBool({ content }: Typed): Typed {
  if (content === "true" || content === "1") return bool(true);
  if (content === "false" || content === "0") return bool(false);
  const lower = String(content).toLowerCase();
  const hint = lower === "true" || lower === "false" ? `; to convert from string, use lowercase "${lower}"` : "";
  throw new ExpressionError(`a bool is required${hint}`, 0);
}
