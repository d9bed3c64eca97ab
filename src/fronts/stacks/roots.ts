import type { Traversal, Typed } from "../../core/expression/index.ts";
import { isObject, type Json } from "../../core/model/index.ts";
import type { Compiled } from "./compile.ts";
import { addressOf, type Expansion, hasKey, type Instance, type Root } from "./expansion.ts";

/** A local with what it hangs on, through other locals as well. */
export interface Local {
  readonly compiled: Compiled | undefined;
  readonly roots: readonly Root[];
  /** May only go where nothing is recorded: an ephemeral variable goes into it. */
  readonly ephemeral: boolean;
  /** As far as it is known without any resource. */
  readonly value: Typed;
}

/** What is known of the names of a stack. */
export interface Known {
  readonly locals: ReadonlyMap<string, Local>;
  readonly expansions: ReadonlyMap<string, Expansion>;
}

/** Locals that stand for parts of others are followed no further than this. */
const MOST_STEPS = 100;

/** What a name hangs on, through locals and `each`. */
export function rootsOf(known: Known, { root, steps, text }: Traversal, instance?: Instance): readonly Root[] {
  const [first, second] = steps;
  if (root === "local") return rootsOfLocal(known, String(first), steps.slice(1), 0);
  if (root === "each")
    return first === "value" && instance !== undefined ? rootsOfElement(known, instance, steps, text) : [];
  const data = root === "data";
  const base = data ? `data.${String(first)}.${String(second)}` : `${root}.${String(first)}`;
  const expansion = known.expansions.get(base);
  if (expansion === undefined) return [];
  const rest = steps.slice(data ? 2 : 1);
  const [key, ...path] = rest;
  if (expansion.form === "single") return [{ address: base, path: rest, text }];
  if (key !== undefined && hasKey(expansion, key)) return [{ address: addressOf(expansion, key), path, text }];
  return [{ address: base, path: [], text }];
}

function rootsOfLocal(known: Known, name: string, path: readonly (string | number)[], depth: number): readonly Root[] {
  const local = known.locals.get(name);
  if (local === undefined || local.roots.length === 0) return [];
  if (local.compiled === undefined || path.length === 0 || depth > MOST_STEPS) return local.roots;
  return rootsAt(known, local.compiled, path, depth + 1);
}

/** What `each.value` hangs on. */
function rootsOfElement(
  known: Known,
  { expansion, key }: Instance,
  steps: Traversal["steps"],
  text: string,
): readonly Root[] {
  if (key === undefined) return [];
  if (expansion.over === undefined) {
    const compiled = expansion.draft.forEach?.compiled;
    if (expansion.roots.length === 0 || compiled === undefined) return expansion.roots;
    return rootsAt(known, compiled, [key, ...steps.slice(1)], 0);
  }
  const over = known.expansions.get(expansion.over);
  return over === undefined ? [] : [{ address: addressOf(over, key), path: steps.slice(1), text }];
}

/** What a part of a declared value hangs on: that of the objects it is written in which the path leads to. */
function rootsAt(known: Known, compiled: Compiled, path: readonly (string | number)[], depth: number): readonly Root[] {
  let at: Json | undefined = compiled.json;
  let walked = 0;
  for (const step of path) {
    const inner: unknown =
      isObject(at) && Object.hasOwn(at, step) ? at[step] : Array.isArray(at) ? at[Number(step)] : undefined;
    if (inner === undefined) break;
    at = inner as Json;
    walked += 1;
  }
  const within = compiled.traversals.filter((each) => path.slice(0, walked).every((step, i) => each.path[i] === step));
  const [only, ...others] = within;
  const rest = path.slice(walked);
  if (only?.root === "local" && others.length === 0 && at === `\${${only.text}}`) {
    return rootsOfLocal(known, String(only.steps[0]), [...only.steps.slice(1), ...rest], depth);
  }
  return within.flatMap((each) => rootsOf(known, each));
}
