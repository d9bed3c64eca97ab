import { hasReferences, parseReferences } from "../../core/expression/references.ts";
import { ExpressionError, type Reference } from "../../core/model/index.ts";
import type { Mistakes, Remark } from "./mistakes.ts";
import type { Span } from "./source.ts";
import { type Leaf, templateSpans } from "./tree.ts";

/** The environment by name; undefined when a variable is not set. */
export interface Environment {
  (name: string): string | undefined;
  /** Whether a variable is kept from the declaration, set or not. Default: none is. */
  readonly refuses?: ((name: string) => boolean) | undefined;
}

/** A reference to a resource, with the place of its `${…}`. */
export interface PlacedReference {
  readonly reference: Reference & { to: "resource" };
  readonly span: Span;
}

/**
 * The references of one string to resources; undefined when its template cannot be read or evaluated, which is reported at its
 * column. Variables of the environment are checked here (not set is a mistake, empty is not), references to
 * resources by who knows the resources.
 */
export function readTemplate(
  leaf: Leaf,
  env: Environment,
  mistakes: Mistakes,
  remark: Remark = {},
): readonly PlacedReference[] | undefined {
  const text = leaf.value;
  if (typeof text !== "string" || !hasReferences(text)) return [];
  const spanAt = templateSpans(leaf);
  const found: PlacedReference[] = [];
  let unset = false;
  try {
    for (const part of parseReferences(text)) {
      if (typeof part === "string") continue;
      const span = spanAt(part.offset);
      if (part.to === "resource") found.push({ reference: part, span });
      else if (env.refuses?.(part.name) === true) {
        unset = true;
        mistakes.add(span, "trust.untrusted", `The untrusted declaration reads the environment variable ${part.name}`, {
          ...remark,
          fix: "Write the value itself. If anyone may see the variable, add its name to HOSTFORM_ENV_ALLOW.",
        });
      } else if (env(part.name) === undefined) {
        unset = true;
        mistakes.add(span, "config.environment", `The environment variable ${part.name} is not set`, remark);
      }
    }
    return unset ? undefined : found;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    mistakes.add(spanAt(error.offset), "config.expression", sentence(error.message), {
      fix: "Write `${hosting_service.NAME.id}` or `${env.NAME}`; a literal `${` is written `$${`.",
      ...remark,
    });
    return undefined;
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
