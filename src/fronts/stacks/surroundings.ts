import {
  compileJson,
  type Expression,
  evaluate,
  fromValue,
  isTemplate,
  type Names,
  type Traversal,
  type Typed,
} from "../../core/expression/index.ts";
import { placed } from "../../core/expression/refusal.ts";
import { ExpressionError, isObject, type Json, type Scope, UNKNOWN, type Value } from "../../core/model/index.ts";
import type { Compiled } from "./compile.ts";
import { addressesOf, addressOf, type Expansion, hasKey, type Instance } from "./expansion.ts";
import { REMOTE_STATE } from "./module.ts";
import { instancesOf, objectOf } from "./recorded.ts";
import type { Known, Local } from "./roots.ts";
import { type SiblingStates, Siblings } from "./siblings.ts";
import { MISSING, type Variable } from "./variables.ts";

/** No names but those that a stack has by itself: what resources are, a scope tells. */
const NOTHING_KNOWN: Scope = { resource: () => UNKNOWN, env: () => undefined };

interface Memo {
  readonly value: Typed;
  /** What the scope said of the resources that went into it. */
  readonly read: ReadonlyMap<string, Value | undefined>;
}

/** What the names of a stack mean. Filled in the order in which they hang on each other. */
export class Surroundings implements Known {
  readonly variables: ReadonlyMap<string, Variable>;
  readonly locals = new Map<string, Local>();
  readonly expansions = new Map<string, Expansion>();
  readonly #siblings: Siblings;
  readonly #memos = new WeakMap<Scope, Map<string, Memo>>();

  constructor(variables: ReadonlyMap<string, Variable>, siblings: SiblingStates) {
    this.variables = variables;
    this.#siblings = new Siblings(siblings);
  }

  /** The names as an instance sees them. @param scope absent: nothing is known of any resource. */
  names(instance?: Instance, scope: Scope = NOTHING_KNOWN): Names {
    return { resolve: (traversal) => this.#resolve(traversal, instance, scope) };
  }

  #resolve(
    traversal: Traversal,
    instance: Instance | undefined,
    scope: Scope,
  ): { value: Typed; used: number } | undefined {
    const { root, steps, text } = traversal;
    const [first, second] = steps;
    if (root === "var" && typeof first === "string") {
      const variable = this.variables.get(first);
      return variable && { value: variable.value, used: 1 };
    }
    if (root === "local" && typeof first === "string") {
      return this.locals.has(first) ? { value: this.#local(first, scope), used: 1 } : undefined;
    }
    if (root === "each") return this.#each(instance, steps, text, scope);
    if (root === "count" && first === "index") {
      if (typeof instance?.key !== "number")
        throw new ExpressionError(`${text} means something only beside \`count\``, 0);
      return { value: fromValue(instance.key), used: 1 };
    }
    // Terraform runs in the folder of the stack, and calls it so.
    if (root === "path" && (first === "module" || first === "root")) return { value: fromValue("."), used: 1 };
    if (root === "terraform" && first === "workspace") return { value: fromValue("default"), used: 1 };
    if (root === "data" && first === REMOTE_STATE) return this.#siblings.resolve(String(second), steps.slice(2), text);
    if (root === "data") return this.#resource(`data.${String(first)}.${String(second)}`, steps.slice(2), 2, scope);
    return this.#resource(`${root}.${String(first)}`, steps.slice(1), 1, scope);
  }

  #each(instance: Instance | undefined, steps: Traversal["steps"], text: string, scope: Scope) {
    if (typeof instance?.key !== "string")
      throw new ExpressionError(`${text} means something only beside \`for_each\``, 0);
    const { expansion, key } = instance;
    if (steps[0] === "key") return { value: fromValue(key), used: 1 };
    if (steps[0] !== "value") return undefined;
    if (expansion.over !== undefined) {
      const over = this.expansions.get(expansion.over);
      return { value: over === undefined ? MISSING : instanceValue(over, key, scope), used: 1 };
    }
    const known = expansion.elements?.get(key) ?? MISSING;
    const compiled = expansion.draft.forEach?.compiled;
    if (scope === NOTHING_KNOWN || expansion.roots.length === 0 || compiled === undefined)
      return { value: known, used: 1 };
    const own = elementOf(compiled, key);
    if (own !== undefined) return { value: evaluate(own, this.names(undefined, scope)), used: 1 };
    const { content } = evaluate(compiled.expression, this.names(undefined, scope));
    return { value: (content instanceof Map ? content.get(key) : undefined) ?? known, used: 1 };
  }

  #resource(base: string, steps: Traversal["steps"], used: number, scope: Scope) {
    const expansion = this.expansions.get(base);
    if (expansion === undefined) return undefined;
    if (expansion.unclear) return { value: MISSING, used };
    if (expansion.form === "single") return { value: instanceValue(expansion, undefined, scope), used };
    const [key] = steps;
    if (key !== undefined && hasKey(expansion, key))
      return { value: instanceValue(expansion, key, scope), used: used + 1 };
    const all = expansion.keys.map((one) => [one, instanceValue(expansion, one, scope)] as const);
    return { value: instancesOf(all, expansion.form === "each"), used };
  }

  /**
   * A local in a scope. What it hangs on is evaluated before it, one after the other: a chain of locals may be long. It is
   * evaluated once for each scope, and again when that says something else of what went into it.
   */
  #local(name: string, scope: Scope): Typed {
    const local = this.locals.get(name);
    if (local === undefined) return MISSING;
    if (local.roots.length === 0 || local.compiled === undefined || scope === NOTHING_KNOWN) return local.value;
    const memos = this.#memos.get(scope) ?? new Map<string, Memo>();
    this.#memos.set(scope, memos);
    const waiting = [name];
    for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
      const open = this.#openNeeds(top, scope, memos);
      if (open.length > 0) waiting.push(...open);
      else {
        if (!this.#holds(memos.get(top), scope)) memos.set(top, this.#evaluated(top, scope));
        waiting.pop();
      }
    }
    return memos.get(name)?.value ?? MISSING;
  }

  #openNeeds(name: string, scope: Scope, memos: ReadonlyMap<string, Memo>): string[] {
    if (this.#holds(memos.get(name), scope)) return [];
    const names = this.locals.get(name)?.compiled?.traversals.filter(({ root }) => root === "local") ?? [];
    return names.flatMap(({ steps: [needed] }) => {
      const local = this.locals.get(String(needed));
      if (local === undefined || local.roots.length === 0 || local.compiled === undefined) return [];
      return this.#holds(memos.get(String(needed)), scope) ? [] : [String(needed)];
    });
  }

  #holds(memo: Memo | undefined, scope: Scope): boolean {
    if (memo === undefined) return false;
    for (const [address, value] of memo.read) if (scope.resource(address) !== value) return false;
    return true;
  }

  #evaluated(name: string, scope: Scope): Memo {
    const local = this.locals.get(name);
    if (local?.compiled === undefined) return { value: MISSING, read: new Map() };
    const read = new Map<string, Value | undefined>();
    for (const address of new Set(local.roots.map((root) => root.address))) {
      const expansion = this.expansions.get(address);
      const addresses = expansion === undefined || expansion.form === "single" ? [address] : addressesOf(expansion);
      for (const one of addresses) read.set(one, scope.resource(one));
    }
    try {
      return { value: evaluate(local.compiled.expression, this.names(undefined, scope)), read };
    } catch (error) {
      if (error instanceof ExpressionError)
        throw placed(error, { message: `local.${name}: ${error.message}`, offset: 0, path: [] });
      throw error;
    }
  }
}

const elements = new WeakMap<Compiled, Map<string, Expression>>();

/** The expression of one element of a `for_each` that is written as an object; the others need not be evaluated for it. */
function elementOf(compiled: Compiled, key: string): Expression | undefined {
  const { json } = compiled;
  if (!isObject(json) || !Object.hasOwn(json, key) || Object.keys(json).some(isTemplate)) return undefined;
  const known = elements.get(compiled) ?? new Map<string, Expression>();
  elements.set(compiled, known);
  const own = known.get(key) ?? compileJson(json[key] as Json);
  known.set(key, own);
  return own;
}

/** @throws ExpressionError when the scope has no such resource. */
function instanceValue(expansion: Expansion, key: string | number | undefined, scope: Scope): Typed {
  const address = addressOf(expansion, key);
  const value = scope.resource(address);
  if (value === undefined) throw new ExpressionError(`nothing is known of ${address}`, 0);
  return objectOf(expansion.draft.schema, value, scope.secrets?.(address));
}
