import type { z } from "zod";
import { hasReferences, parseReferences, resolveReferences } from "../../core/expression/references.ts";
import type { AttributeMeta } from "../../core/kinds/attribute.ts";
import { type Diagnostic, ExpressionError, type Reference, type Value } from "../../core/model/index.ts";
import { asSentence, type DiagnosticCollector, type Remark } from "./diagnostics.ts";
import { problem } from "./messages.ts";
import { typedValue } from "./scalars.ts";
import type { Span } from "./source.ts";
import type { Entry, Leaf } from "./tree.ts";

/** The environment variables that a declaration may read. */
interface EnvironmentReader {
  /** Returns the value. Undefined if the variable is not set. */
  read(name: string): string | undefined;
  /** Returns true if the declaration must not read the variable. Default: all variables are allowed. */
  readonly refuses?: ((name: string) => boolean) | undefined;
}

/** Context for reading a value. */
export interface ReadContext {
  readonly env: EnvironmentReader;
  readonly diags: DiagnosticCollector;
}

/** A reference to a resource, with its location. */
export interface TemplateReference {
  readonly reference: Reference & { to: "resource" };
  readonly span: Span;
}

/**
 * Returns the references to resources in a string. Undefined if they cannot be parsed, which is reported. Also checks
 * environment variables: an unset one is an error, an empty one is not. Callers check the references.
 */
export function templateReferences(
  leaf: Leaf,
  { env, diags }: ReadContext,
  remark: Remark = {},
): readonly TemplateReference[] | undefined {
  const text = leaf.value;
  if (typeof text !== "string" || !hasReferences(text)) return [];
  const spanAt = templateSpans(leaf);
  const found: TemplateReference[] = [];
  let failed = false;
  try {
    for (const part of parseReferences(text)) {
      if (typeof part === "string") continue;
      const span = spanAt(part.offset);
      if (part.to === "resource") found.push({ reference: part, span });
      else if (env.refuses?.(part.name) === true) {
        failed = true;
        diags.add(span, problem("trust.untrusted", { name: part.name, ...remark }));
      } else if (env.read(part.name) === undefined) {
        failed = true;
        diags.add(span, problem("config.environment", { name: part.name, ...remark }));
      }
    }
    return failed ? undefined : found;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const summary = asSentence(error.message);
    return diags.add(spanAt(error.offset), problem("config.expression/template", { summary, ...remark }));
  }
}

/**
 * Returns the mistake about a reference to an existing attribute. Undefined if there is none.
 * @param text Text of the reference.
 * @param address Address of the resource.
 * @param exported True if the resource declares a `secret_output`.
 */
export function unreferable(
  { fingerprint, writeOnly }: AttributeMeta,
  text: string,
  address: string,
  exported: boolean,
  remark: Remark = {},
): Diagnostic | undefined {
  if (writeOnly) return problem("config.reference/write_only", { text, ...remark });
  if (fingerprint === undefined || !exported) return undefined;
  return problem("config.reference/exported", { text, fingerprint, target: address, ...remark });
}

/**
 * Returns the value of a setting that a plan needs before it evaluates references. Only `${env.NAME}` is allowed.
 * @param schema Schema of all settings.
 * @param owner `backend` or `provider`.
 * @returns undefined after a reported error.
 */
export function settingValue(
  { key, keySpan, value: tree }: Entry,
  schema: z.ZodObject,
  owner: string,
  context: ReadContext,
): Value | undefined {
  if (tree.form !== "leaf" || typeof tree.value !== "string")
    return typedValue(tree, schema.shape[key], { path: [key], diags: context.diags, keySpan });
  const references = templateReferences(tree, context);
  if (references === undefined) return undefined;
  const [wrong] = references;
  if (wrong === undefined) return resolveReferences(tree.value, { env: context.env.read, resource: () => undefined });
  return context.diags.add(wrong.span, problem("config.reference/setting", { owner }));
}

/**
 * Returns the function that converts the offset of a `${…}` in a string's value to its location in the source. Value and
 * source differ in quotes, escapes and folded lines, but the nth `${` is the same. If their numbers of `${` differ, the
 * location is the complete string.
 */
export function templateSpans(leaf: Leaf): (offset: number) => Span {
  const { source, start, end } = leaf.span;
  const inText = opens(source.text.slice(start, end));
  const inValue = opens(String(leaf.value));
  const nth = new Map(inValue.map((offset, n) => [offset, n]));
  return (offset) => {
    const opening = inText[nth.get(offset) ?? -1];
    if (opening === undefined || inValue.length !== inText.length) return leaf.span;
    const from = start + opening;
    const close = source.text.indexOf("}", from);
    return { ...leaf.span, start: from, end: close < 0 || close >= end ? from + 2 : close + 1 };
  };
}

function opens(text: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf("${"); at >= 0; at = text.indexOf("${", at + 2)) found.push(at);
  return found;
}
