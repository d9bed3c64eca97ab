import { caughtToken } from "./caught-token.ts";
import { guarded } from "./guarded.ts";
import { Parser } from "./parser.ts";
import type { Expression } from "./syntax.ts";
import { melded, readParts } from "./template-parts.ts";
import { templateOf } from "./template-tree.ts";
import { text as textOf } from "./typed.ts";

/** True when a string has something to evaluate or to unescape. */
export function isTemplate(text: string): boolean {
  return text.includes("${") || text.includes("%{");
}

/**
 * A string of JSON syntax. One that is a single `${…}` keeps the type of what stands in it.
 * @throws ExpressionError
 */
export function parseTemplate(text: string): Expression {
  caughtToken(text, 0);
  // Terraform takes a mark of byte order for no part of the text.
  if (!isTemplate(text)) return { kind: "literal", value: textOf(text.replace(/^\ufeff/, "")), offset: 0 };
  return guarded(() => {
    const parser = new Parser(text);
    if (text.startsWith("\ufeff")) parser.at = 1;
    return templateOf(parser, melded(readParts(parser, false, 0)), 0);
  });
}
