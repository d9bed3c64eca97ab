/**
 * A Terraform configuration as a value, before it is written in one of its two notations (`hcl.ts`, `tf-json.ts`). Texts
 * in it are literal: whatever means something to Terraform (`${`, quotes) is escaped by the notation, never by who makes
 * the document.
 */
export interface TfDocument {
  /** Lines for people at the top. */
  readonly comments: readonly string[];
  readonly blocks: readonly TfBlock[];
}

/** `resource "hosting_service" "acme" { … }`. */
export interface TfBlock {
  readonly block: string;
  readonly labels: readonly string[];
  /** Lines for people: before the block in HCL, in its `//` in JSON. */
  readonly comments?: readonly string[];
  /** Groups of items, set apart by an empty line. */
  readonly body: readonly (readonly TfItem[])[];
}

export type TfItem = TfAttribute | TfBlock;

export interface TfAttribute {
  readonly name: string;
  readonly value: TfValue;
  readonly comments?: readonly string[];
}

export type TfValue = null | boolean | number | string | TfCode | TfName | TfTemplate | TfMap | readonly TfValue[];

/** An expression in Terraform's language: `hosting_service.acme.id`, `var.HOOK_PATH`. */
export interface TfCode {
  readonly code: string;
}

/** What is not evaluated, but names something: the `to` of an import, an item of `depends_on`, a type. */
export interface TfName {
  readonly refer: string;
}

/** Literal texts and expressions in turn, which together are one text. */
export interface TfTemplate {
  readonly template: readonly (string | TfCode)[];
}

/** The keys are literal. */
export interface TfMap {
  readonly map: readonly (readonly [key: string, value: TfValue])[];
}

export function isBlock(item: TfItem): item is TfBlock {
  return "block" in item;
}

/**
 * A literal text inside a template. `${` and `%{` are doubled; where more signs stand before them, or an expression
 * follows, which of them belong together would be unclear, so that those stand as expressions of their own.
 * @param text already escaped for the notation around it. @param open true when an expression follows.
 */
export function literalPart(text: string, open = false): string {
  const marked = text.replace(/([$%]*)([$%])\{/g, (_, before: string, sign: string) => {
    return `${alone(before)}${sign}${sign}{`;
  });
  return open ? marked.replace(/[$%]+$/, alone) : marked;
}

/** Each sign as an expression: `${"$"}`. */
const alone = (signs: string) => [...signs].map((sign) => `\${"${sign}"}`).join("");

/** The same template with neighbouring texts joined, so that what stands at the end of one is seen from the next. */
export function joinedParts({ template }: TfTemplate): (string | TfCode)[] {
  const parts: (string | TfCode)[] = [];
  for (const part of template) {
    const last = parts.at(-1);
    if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
    else parts.push(part);
  }
  return parts;
}

/** A text as a quoted literal of Terraform's language, on one line. What is invisible, or acts on a terminal, is escaped. */
export function quotedLiteral(text: string): string {
  return `"${literalPart(escapedText(text))}"`;
}

// The class of escape.ts, and for the same reason: what cannot be seen must not be there unseen.
const UNSAFE = /["\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const SHORT: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The characters of a text as they stand between quotes. A lone surrogate, which no file of Terraform's can hold, becomes U+FFFD. */
export function escapedText(text: string): string {
  return text.toWellFormed().replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return (
      SHORT[character] ??
      (code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`)
    );
  });
}
