import { evaluate, isSecret, type Typed, toValue } from "../../core/expression/index.ts";
import { ExpressionError, hasUnknown, UNKNOWN, type Value } from "../../core/model/index.ts";
import { valueSpan } from "../source/tree.ts";
import { type Compiled, reportExpression } from "./compile.ts";
import type { Draft, Repetition } from "./draft.ts";
import type { Expansion, Root } from "./expansion.ts";
import { nodeOf } from "./graph.ts";
import type { Declared } from "./references.ts";
import { rootsOf } from "./roots.ts";
import type { Surroundings } from "./surroundings.ts";

/** More resources than one project can reasonably have: at 60 requests a minute, applying them takes most of a day. */
export const MOST_INSTANCES = 20_000;

/**
 * The instances of a resource or a data source. `count` and `for_each` have to be known without asking the account: what is
 * ordered must not depend on what was ordered.
 */
export function expand(draft: Draft, surroundings: Surroundings, declared: Declared): Expansion {
  const unclear = (form: Expansion["form"], roots: readonly Root[] = []): Expansion => ({
    draft,
    form,
    keys: [],
    roots,
    unclear: true,
  });
  const { count, forEach } = draft;
  const form = count !== undefined ? "count" : forEach !== undefined ? "each" : "single";
  const repetition = count ?? forEach;
  if (repetition === undefined) return { draft, form, keys: [], roots: [], unclear: false };
  const { compiled } = repetition;
  if (compiled === undefined) return unclear(form);
  const roots = compiled.traversals.flatMap((traversal) => rootsOf(surroundings, traversal));
  // In a circle, which is reported: what it hangs on is not known yet.
  if (compiled.traversals.some((traversal) => isOpen(nodeOf(traversal), surroundings, declared)))
    return unclear(form, roots);
  const ephemeral = compiled.traversals.find(({ root, steps: [name] }) =>
    isEphemeral(root, String(name), surroundings),
  );
  if (ephemeral !== undefined) {
    refuse(
      repetition,
      draft,
      declared,
      `\`${repetition.entry.key}\` cannot depend on ${ephemeral.text}, which is ephemeral`,
    );
    return unclear(form, roots);
  }
  const typed = repeated(repetition, compiled, draft, surroundings, declared);
  // What is unknown because of a mistake elsewhere is no mistake here.
  if (typed === undefined || (isUnclear(typed, roots, compiled, surroundings) && declared.diags.any))
    return unclear(form, roots);
  if (form === "count") {
    const keys = countOf(typed, repetition, draft, roots, declared);
    return keys === undefined ? unclear(form, roots) : { draft, form, keys, roots, unclear: false };
  }
  const elements = elementsOf(typed, repetition, draft, roots, declared);
  if (elements === undefined) return unclear(form, roots);
  const over = overOf(compiled, declared);
  const keys = [...elements.keys()];
  return { draft, form, keys, elements, ...(over !== undefined && { over }), roots, unclear: false };
}

function isUnclear(
  { content }: Typed,
  roots: readonly Root[],
  { traversals }: Compiled,
  { locals, expansions }: Surroundings,
) {
  if (content !== UNKNOWN) return false;
  const broken = traversals.some(({ root, steps: [name] }) => root === "local" && !locals.get(String(name))?.compiled);
  return broken || roots.some(({ address }) => expansions.get(address)?.unclear === true);
}

function isOpen(node: string | undefined, { locals, expansions }: Surroundings, { drafts, module }: Declared): boolean {
  if (node === undefined) return false;
  if (node.startsWith("local.")) return module.locals.has(node.slice(6)) && !locals.has(node.slice(6));
  return drafts.has(node) && !expansions.has(node);
}

/** Whether a name may only go where nothing is recorded. */
export function isEphemeral(root: string, name: string, { variables, locals }: Surroundings): boolean {
  if (root === "var") return variables.get(name)?.ephemeral === true;
  return root === "local" && locals.get(name)?.ephemeral === true;
}

function repeated(
  { entry }: Repetition,
  { expression, tree }: Compiled,
  { base }: Draft,
  surroundings: Surroundings,
  { diags }: Declared,
): Typed | undefined {
  try {
    return evaluate(expression, surroundings.names());
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, tree, diags, { address: base, attribute: [entry.key] });
    return undefined;
  }
}

function refuse({ entry }: Repetition, { base }: Draft, { diags }: Declared, summary: string, fix?: string): undefined {
  diags.add(valueSpan(entry), "config.expression", summary, {
    address: base,
    attribute: [entry.key],
    fix: fix ?? FORMS[entry.key] ?? "Correct the value.",
  });
}

const FORMS: Readonly<Record<string, string>> = {
  count: "Give a whole number, or an expression for one.",
  for_each: 'Give an object, or a set of texts: `"${toset(["a", "b"])}"`.',
};

/** Says what an unknown `count` or `for_each` hangs on; nothing when that is only the trace of another mistake. */
function refuseUnknown(repetition: Repetition, draft: Draft, roots: readonly Root[], declared: Declared): undefined {
  const [root] = roots;
  const { key } = repetition.entry;
  if (root === undefined) {
    if (declared.diags.any) return undefined;
    const summary = `\`${key}\` depends on what another stack puts out, which is known only after that is applied`;
    return refuse(repetition, draft, declared, summary, "Apply the other stack first.");
  }
  const summary = `\`${key}\` depends on ${root.text}, which is known only after apply`;
  return refuse(
    repetition,
    draft,
    declared,
    summary,
    "Use what stands in the stack itself: how many there are must not hang on the account.",
  );
}

function countOf(
  typed: Typed,
  repetition: Repetition,
  draft: Draft,
  roots: readonly Root[],
  declared: Declared,
): number[] | undefined {
  if (typed.content === UNKNOWN) return refuseUnknown(repetition, draft, roots, declared);
  const value = plain(typed);
  const count = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) {
    return refuse(repetition, draft, declared, "`count` must be a whole number that is not negative");
  }
  if (count > MOST_INSTANCES) return tooMany(repetition, draft, declared);
  return Array.from({ length: count }, (_, index) => index);
}

function tooMany(repetition: Repetition, { base }: Draft, { diags }: Declared): undefined {
  diags.add(valueSpan(repetition.entry), "config.too_large", `${base} has more than ${MOST_INSTANCES} instances`, {
    address: base,
    fix: "Divide the stack into several.",
  });
}

function elementsOf(
  typed: Typed,
  repetition: Repetition,
  draft: Draft,
  roots: readonly Root[],
  declared: Declared,
): ReadonlyMap<string, Typed> | undefined {
  const { type, content } = typed;
  if (content === UNKNOWN) return refuseUnknown(repetition, draft, roots, declared);
  const isSet = typeof type === "object" && "set" in type;
  if (typed.secret || (isSet && isSecret(typed))) {
    const fix = "The keys stand in addresses, which everybody sees: iterate over something that is no secret.";
    return refuse(repetition, draft, declared, "`for_each` cannot be a secret", fix);
  }
  const elements = content instanceof Map ? content : isSet && Array.isArray(content) ? keyed(content) : undefined;
  if (elements === "unknown") return refuseUnknown(repetition, draft, roots, declared);
  if (elements === undefined || elements === "other") {
    return refuse(repetition, draft, declared, "`for_each` must be an object, a map, or a set of texts");
  }
  if (elements.size > MOST_INSTANCES) return tooMany(repetition, draft, declared);
  return elements;
}

function keyed(items: readonly Typed[]): ReadonlyMap<string, Typed> | "unknown" | "other" {
  if (items.some(({ content }) => content === UNKNOWN)) return "unknown";
  if (items.some(({ content }) => typeof content !== "string")) return "other";
  return new Map(items.map((item) => [String(item.content), item]));
}

function plain(typed: Typed): Value {
  try {
    const value = toValue(typed);
    return hasUnknown(value) ? null : value;
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

/** The resource that `for_each` is, as it is: then each instance hangs on the one with its key alone. */
function overOf({ json, traversals }: Compiled, { drafts }: Declared): string | undefined {
  const [only, ...others] = traversals;
  if (only === undefined || others.length > 0 || typeof json !== "string") return undefined;
  if (/^\$\{\s*([^\s]+)\s*\}$/.exec(json)?.[1] !== only.text) return undefined;
  const node = nodeOf(only);
  const whole = only.steps.length === (only.root === "data" ? 2 : 1);
  return node !== undefined && whole && drafts.get(node)?.forEach !== undefined ? node : undefined;
}
