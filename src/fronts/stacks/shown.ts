import {
  compileJson,
  evaluate,
  isSecret,
  type PlacedTraversal,
  toValue,
  traversalsOf,
} from "../../core/expression/index.ts";
import { ExpressionError, hasUnknown, type Json } from "../../core/model/index.ts";
import { type Tree, toJson } from "../source/tree.ts";
import type { Compiled } from "./compile.ts";
import { addressOf, type Instance } from "./expansion.ts";
import type { Surroundings } from "./surroundings.ts";

/** Where an attribute stands that is to be shown. */
interface Seen {
  readonly instance: Instance;
  readonly surroundings: Surroundings;
}

/**
 * A declared value as people read it, before anything is known of the account: its parts that are known, and of the
 * others the text of the expression, with what tells this instance from its neighbours written into it.
 */
export function shown(tree: Tree, compiled: Compiled, seen: Seen): Json {
  if (tree.form === "list") return tree.items.map((item) => shown(item, compiled, seen));
  if (tree.form === "map") {
    return Object.fromEntries([...tree.entries].map(([key, entry]) => [key, shown(entry.value, compiled, seen)]));
  }
  const json = toJson(tree);
  if (typeof json !== "string") return json;
  const expression = compileJson(json);
  const traversals = traversalsOf(expression);
  try {
    const typed = evaluate(expression, seen.surroundings.names(seen.instance));
    const value = toValue(typed);
    if (!isSecret(typed) && !hasUnknown(value)) return value as Json;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
  }
  return written(json, traversals, seen);
}

/** The text with `each.key`, `each.value` and `count.index` as they are for this instance. */
function written(text: string, traversals: readonly PlacedTraversal[], { instance, surroundings }: Seen): string {
  let result = "";
  let at = 0;
  for (const traversal of traversals.toSorted((a, b) => a.offset - b.offset)) {
    const own = nameFor(traversal, instance, surroundings);
    const end = traversal.offset + own.of.length;
    if (own.text === undefined || traversal.offset < at || !text.startsWith(own.of, traversal.offset)) continue;
    result += text.slice(at, traversal.offset) + own.text;
    at = end;
  }
  return result + text.slice(at);
}

function nameFor(
  { root, steps: [first] }: PlacedTraversal,
  { expansion, key }: Instance,
  { expansions }: Surroundings,
): { readonly of: string; readonly text?: string } {
  const of = `${root}.${String(first)}`;
  if (root === "count") return { of, text: String(key) };
  if (root !== "each" || typeof key !== "string") return { of };
  if (first === "key") return { of, text: JSON.stringify(key) };
  const over = expansions.get(expansion.over ?? "");
  if (over !== undefined) return { of, text: addressOf(over, key) };
  const forEach = expansion.draft.forEach?.compiled?.json;
  const whole = typeof forEach === "string" ? /^\$\{\s*([\w.-]+)\s*\}$/.exec(forEach)?.[1] : undefined;
  return { of, text: `${whole ?? "each.value"}[${JSON.stringify(key)}]` };
}
