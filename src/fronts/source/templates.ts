import { hasReferences, parseReferences, resolveReferences } from "../../core/expression/references.ts";
import type { AttributeMeta } from "../../core/kinds/attribute.ts";
import { ExpressionError, type Reference, type Value } from "../../core/model/index.ts";
import type { DiagnosticCollector, Remark } from "./diagnostics.ts";
import type { Span } from "./source.ts";
import { type Leaf, type Tree, toJson } from "./tree.ts";

/** The variables of the environment that a declaration may read. */
export interface EnvironmentReader {
  /** Undefined when a variable is not set. */
  read(name: string): string | undefined;
  /** Whether a variable is kept from the declaration, set or not. Default: none is. */
  readonly refuses?: ((name: string) => boolean) | undefined;
}

/** What values are read with. */
export interface ReadContext {
  readonly env: EnvironmentReader;
  readonly diags: DiagnosticCollector;
}

/** A reference to a resource, with the place of its `${…}`. */
export interface TemplateReference {
  readonly reference: Reference & { to: "resource" };
  readonly span: Span;
}

/**
 * The references of one string to resources; undefined when its template cannot be read or evaluated, which is reported at its
 * column. Variables of the environment are checked here (not set is a mistake, empty is not), references to
 * resources by those who know the resources.
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
  let unset = false;
  try {
    for (const part of parseReferences(text)) {
      if (typeof part === "string") continue;
      const span = spanAt(part.offset);
      if (part.to === "resource") found.push({ reference: part, span });
      else if (env.refuses?.(part.name) === true) {
        unset = true;
        diags.add(span, "trust.untrusted", `The untrusted declaration reads the environment variable ${part.name}`, {
          ...remark,
          fix: "Write the value itself. If anyone may see the variable, add its name to HOSTFORM_ENV_ALLOW.",
        });
      } else if (env.read(part.name) === undefined) {
        unset = true;
        diags.add(span, "config.environment", `The environment variable ${part.name} is not set`, remark);
      }
    }
    return unset ? undefined : found;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    diags.add(spanAt(error.offset), "config.expression", sentence(error.message), {
      fix: "Write `${hosting_service.NAME.id}` or `${env.NAME}`; a literal `${` is written `$${`.",
      ...remark,
    });
    return undefined;
  }
}

/**
 * Why an attribute that exists cannot be referred to; undefined when it can.
 * @param text the reference @param address of the resource @param exported whether a `secret_output` is declared there
 */
export function unreferable(
  { fingerprint, writeOnly }: AttributeMeta,
  text: string,
  address: string,
  exported: boolean,
): (Remark & { readonly summary: string }) | undefined {
  if (writeOnly) return { summary: `${text} is write-only: it is sent, never kept, and cannot be referred to` };
  if (fingerprint === undefined || !exported) return undefined;
  return {
    summary: `${text} is not kept: its secret_output takes it out of the state`,
    detail: `Once it is written, hostform knows a fingerprint of it alone (${fingerprint}).`,
    fix: `Remove the reference, or the secret_output of ${address}.`,
  };
}

/**
 * The value of a setting that is needed before anything can be planned: it may hold `${env.NAME}`, and no other reference.
 * @param owner `A backend`, for messages. @returns undefined after a mistake, which is reported.
 */
export function settingValue(tree: Tree, owner: string, context: ReadContext): Value | undefined {
  if (tree.form !== "leaf" || typeof tree.value !== "string") return toJson(tree);
  const references = templateReferences(tree, context);
  if (references === undefined) return undefined;
  const [wrong] = references;
  if (wrong === undefined) return resolveReferences(tree.value, { env: context.env.read, resource: () => undefined });
  const fix = "Only `${env.NAME}` can be used here.";
  context.diags.add(wrong.span, "config.reference", `${owner} cannot refer to a resource`, { fix });
  return undefined;
}

/**
 * The places of the `${…}` of a string, by their offset in its value. Values and their notation differ (quotes, escapes,
 * folded lines), but a `${` is written the same in all: the nth of the value is the nth of the notation. The whole
 * string when the two do not match.
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
    return source.span(from, close < 0 || close >= end ? from + 2 : close + 1);
  };
}

function opens(text: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf("${"); at >= 0; at = text.indexOf("${", at + 2)) found.push(at);
  return found;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
