import {
  attempt,
  compileJson,
  type Expression,
  evaluate,
  fromValue,
  isTemplate,
  type Language,
  type Names,
  nullOf,
  object,
  type PlacedTraversal,
  placed,
  type Traversal,
  type TraversalStep,
  type Typed,
  tuple,
  whole,
} from "../../core/expression/index.ts";
import { walk } from "../../core/model/graph.ts";
import {
  type EvalScope,
  ExpressionError,
  formatAddress,
  isObject,
  type Json,
  UNKNOWN,
  type Value,
} from "../../core/model/index.ts";
import type { Block } from "./blocks.ts";
import type { BlockDraft } from "./draft.ts";
import { type Compiled, MISSING, schemaObject } from "./expressions.ts";
import type { Declared } from "./references.ts";
import { REMOTE_STATE } from "./remote-states.ts";

/** A declared variable with its value. */
export interface Variable {
  readonly name: string;
  readonly block: Block;
  readonly value: Typed;
  readonly sensitive: boolean;
  /** True for an ephemeral variable. Only values that the state does not contain may use it. */
  readonly ephemeral: boolean;
  /** Origin of the value. Undefined if it is the default. */
  readonly from: string | undefined;
}

/** A local, with its direct and indirect dependencies. */
export interface Local {
  readonly compiled: Compiled | undefined;
  readonly roots: readonly Root[];
  /** True if the local depends on an ephemeral variable. Only values that the state does not contain may use it. */
  readonly ephemeral: boolean;
  /** Value while all resources are unknown. */
  readonly value: Typed;
}

/** A dependency: a part of a resource or data source. */
export interface Root {
  /** Address with instance key. Without instance key: all instances. */
  readonly address: string;
  /** Path within the instance. Empty for a complete instance, or for all instances. */
  readonly path: readonly TraversalStep[];
  readonly text: string;
}

/** The instances of a resource or a data source. */
export interface Expansion {
  readonly draft: BlockDraft;
  readonly form: "single" | "count" | "each";
  /** Instance keys. Undefined is the key of a single instance. Empty if it is disabled. */
  readonly keys: ReadonlySet<string | number | undefined>;
  /** `each.value` by key, while all resources are unknown. */
  readonly elements?: ReadonlyMap<string, Typed>;
  /** Address without instance key of the resource that `for_each` iterates over. */
  readonly over?: string;
  /** Dependencies of `for_each` or `count`. */
  readonly roots: readonly Root[];
  /** True if the instances are unknown because of a reported error. */
  readonly unclear: boolean;
}

/** One instance. Its attributes may refer to `each` and `count`. */
export interface Instance {
  readonly expansion: Expansion;
  readonly key: string | number | undefined;
  readonly address: string;
}

/** Returns the address of an instance. */
export function instanceAddress({ draft: { base } }: Expansion, key: string | number | undefined): string {
  if (key === undefined) return base;
  const data = base.startsWith("data.");
  const [type = "", name = ""] = (data ? base.slice(5) : base).split(".");
  return `${data ? "data." : ""}${formatAddress({ type, name, key })}`;
}

/** Scope in which all resources are unknown. */
const NOTHING_KNOWN: EvalScope = { resource: () => UNKNOWN, env: () => undefined };

/** Maximum number of locals in a chain in which each only selects a part of the next. */
const MOST_STEPS = 100;

interface Memo {
  readonly value: Typed;
  /** Values of the resources that the local uses, at its evaluation. */
  readonly read: ReadonlyMap<string, Value | undefined>;
}

interface Resolved {
  readonly value: Typed;
  readonly used: number;
}

/**
 * Declarations of a stack, with values and dependencies of all names. Locals and instances are added in the order of their
 * dependencies.
 */
export class StackContext implements Declared {
  readonly module: Declared["module"];
  readonly drafts: Declared["drafts"];
  readonly remoteOutputs: Declared["remoteOutputs"];
  readonly diags: Declared["diags"];
  readonly variables: ReadonlyMap<string, Variable>;
  readonly language: Language;
  readonly locals = new Map<string, Local>();
  readonly expansions = new Map<string, Expansion>();
  readonly #memos = new WeakMap<EvalScope, Map<string, Memo>>();

  constructor(
    { module, drafts, remoteOutputs, diags }: Declared,
    variables: ReadonlyMap<string, Variable>,
    language: Language,
  ) {
    this.module = module;
    this.drafts = drafts;
    this.remoteOutputs = remoteOutputs;
    this.diags = diags;
    this.variables = variables;
    this.language = language;
  }

  /** Returns the names that an instance can use. @param scope Default: all resources are unknown. */
  names(instance?: Instance, scope: EvalScope = NOTHING_KNOWN): Names {
    return { language: this.language, resolve: (traversal) => this.#resolve(traversal, instance, scope) };
  }

  /** Returns the first ephemeral name in a value. Undefined if there is none. */
  ephemeralIn({ traversals }: Compiled): PlacedTraversal | undefined {
    return traversals.find(({ root, steps: [step] }) => {
      const known = root === "var" ? this.variables : root === "local" ? this.locals : undefined;
      return known?.get(String(step))?.ephemeral === true;
    });
  }

  /** Returns the dependencies of a value. */
  rootsIn({ traversals }: Compiled): Root[] {
    return traversals.flatMap((traversal) => this.rootsOf(traversal));
  }

  /** Returns the dependencies of a name, directly and through locals or `each`. */
  rootsOf({ root, steps, text }: Traversal, instance?: Instance): readonly Root[] {
    const [first, second] = steps;
    if (root === "local") return this.#rootsOfLocal(String(first), steps.slice(1), 0);
    if (root === "each")
      return first === "value" && instance !== undefined ? this.#rootsOfElement(instance, steps.slice(1), text) : [];
    const data = root === "data";
    const base = data ? `data.${String(first)}.${String(second)}` : `${root}.${String(first)}`;
    const expansion = this.expansions.get(base);
    if (expansion === undefined) return [];
    const rest = steps.slice(data ? 2 : 1);
    const [key, ...path] = rest;
    if (expansion.form === "single") return expansion.keys.size === 0 ? [] : [{ address: base, path: rest, text }];
    if (key !== undefined && expansion.keys.has(key)) return [{ address: instanceAddress(expansion, key), path, text }];
    return [{ address: base, path: [], text }];
  }

  #rootsOfLocal(name: string, path: readonly TraversalStep[], depth: number): readonly Root[] {
    const local = this.locals.get(name);
    if (local === undefined || local.roots.length === 0) return [];
    if (local.compiled === undefined || path.length === 0 || depth > MOST_STEPS) return local.roots;
    return this.#rootsAt(local.compiled, path, depth + 1);
  }

  /** Returns the dependencies of `each.value`. */
  #rootsOfElement({ expansion, key }: Instance, path: readonly TraversalStep[], text: string): readonly Root[] {
    if (key === undefined) return [];
    if (expansion.over === undefined) {
      const compiled = expansion.draft.forEach?.compiled;
      if (expansion.roots.length === 0 || compiled === undefined) return expansion.roots;
      return this.#rootsAt(compiled, [key, ...path], 0);
    }
    const over = this.expansions.get(expansion.over);
    return over === undefined ? [] : [{ address: instanceAddress(over, key), path, text }];
  }

  /** Returns the dependencies of the part at a path, if the declaration writes the value as nested objects. */
  #rootsAt(compiled: Compiled, path: readonly TraversalStep[], depth: number): readonly Root[] {
    let at: Json | undefined = compiled.json;
    let walked = 0;
    for (const step of path) {
      const inner: unknown =
        isObject(at) && Object.hasOwn(at, step) ? at[step] : Array.isArray(at) ? at[Number(step)] : undefined;
      if (inner === undefined) break;
      at = inner as Json;
      walked += 1;
    }
    const within = compiled.traversals.filter((each) =>
      path.slice(0, walked).every((step, i) => each.path[i] === step),
    );
    const [only, ...others] = within;
    if (only?.root === "local" && others.length === 0 && at === `\${${only.text}}`) {
      return this.#rootsOfLocal(String(only.steps[0]), [...only.steps.slice(1), ...path.slice(walked)], depth);
    }
    return within.flatMap((each) => this.rootsOf(each));
  }

  #resolve({ root, steps, text }: Traversal, instance: Instance | undefined, scope: EvalScope): Resolved | undefined {
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
      if (typeof instance?.key !== "number") throw new ExpressionError(`${text} is only valid with \`count\``);
      return { value: whole(instance.key), used: 1 };
    }
    // Terraform runs in the folder of the stack, so the path is `.`.
    if (root === "path" && (first === "module" || first === "root")) return { value: fromValue("."), used: 1 };
    if (root === "terraform" && first === "workspace") return { value: fromValue("default"), used: 1 };
    if (root === "data" && first === REMOTE_STATE) return this.remoteOutputs.resolve(String(second), text);
    if (root === "data") return this.#resource(`data.${String(first)}.${String(second)}`, steps.slice(2), 2, scope);
    return this.#resource(`${root}.${String(first)}`, steps.slice(1), 1, scope);
  }

  #each(
    instance: Instance | undefined,
    [first]: Traversal["steps"],
    text: string,
    scope: EvalScope,
  ): Resolved | undefined {
    if (typeof instance?.key !== "string") throw new ExpressionError(`${text} is only valid with \`for_each\``);
    if (first === "key") return { value: fromValue(instance.key), used: 1 };
    return first === "value" ? { value: this.#element(instance.expansion, instance.key, scope), used: 1 } : undefined;
  }

  /** Returns `each.value`. */
  #element(expansion: Expansion, key: string, scope: EvalScope): Typed {
    if (expansion.over !== undefined) {
      const over = this.expansions.get(expansion.over);
      return over === undefined ? MISSING : instanceValue(over, key, scope);
    }
    const known = expansion.elements?.get(key) ?? MISSING;
    const compiled = expansion.draft.forEach?.compiled;
    if (scope === NOTHING_KNOWN || expansion.roots.length === 0 || compiled === undefined) return known;
    const own = elementOf(compiled, key);
    if (own !== undefined) return evaluate(own, this.names(undefined, scope));
    const { content } = evaluate(compiled.expression, this.names(undefined, scope));
    return (content instanceof Map ? content.get(key) : undefined) ?? known;
  }

  #resource(base: string, [key]: Traversal["steps"], used: number, scope: EvalScope): Resolved | undefined {
    const expansion = this.expansions.get(base);
    if (expansion === undefined) return undefined;
    if (expansion.unclear) return { value: MISSING, used };
    // A disabled resource is null, as in OpenTofu.
    if (expansion.keys.size === 0 && expansion.form === "single") return { value: nullOf("any"), used };
    if (expansion.form === "single") return { value: instanceValue(expansion, undefined, scope), used };
    if (key !== undefined && expansion.keys.has(key))
      return { value: instanceValue(expansion, key, scope), used: used + 1 };
    const all = Array.from(expansion.keys, (one) => [String(one), instanceValue(expansion, one, scope)] as const);
    return { value: expansion.form === "each" ? object(all) : tuple(all.map(([, value]) => value)), used };
  }

  /**
   * Returns the value of a local in a scope. Evaluates its dependencies first; in a loop, because a chain of locals may be
   * long. Caches the value until one of its resources changes.
   */
  #local(name: string, scope: EvalScope): Typed {
    const local = this.locals.get(name);
    if (local === undefined) return MISSING;
    if (!isOpen(local) || scope === NOTHING_KNOWN) return local.value;
    const memos = this.#memos.get(scope) ?? new Map<string, Memo>();
    this.#memos.set(scope, memos);
    const needs = (one: string) => {
      const known = this.locals.get(one);
      if (known === undefined || !isOpen(known) || holds(memos.get(one), scope)) return undefined;
      return known.compiled.traversals.flatMap(({ root, steps }) => (root === "local" ? [String(steps[0])] : []));
    };
    for (const one of walk([name], needs).order) memos.set(one, this.#evaluated(one, scope));
    return memos.get(name)?.value ?? MISSING;
  }

  #evaluated(name: string, scope: EvalScope): Memo {
    const local = this.locals.get(name);
    if (local?.compiled === undefined) return { value: MISSING, read: new Map() };
    const { expression } = local.compiled;
    const read = new Map<string, Value | undefined>();
    for (const address of new Set(local.roots.map((root) => root.address))) {
      const expansion = this.expansions.get(address);
      for (const key of expansion?.keys ?? [undefined]) {
        const one = expansion === undefined ? address : instanceAddress(expansion, key);
        read.set(one, scope.resource(one));
      }
    }
    const compute = () => evaluate(expression, this.names(undefined, scope));
    const value = attempt(compute, (error) => {
      throw placed(error, { message: `local.${name}: ${error.message}`, offset: 0, path: [] });
    });
    return { value, read };
  }
}

/** Returns true if the local depends on a resource. */
function isOpen(local: Local): local is Local & { readonly compiled: Compiled } {
  return local.roots.length > 0 && local.compiled !== undefined;
}

/** Returns true if the resources still have the same values. */
function holds(memo: Memo | undefined, scope: EvalScope): boolean {
  return memo !== undefined && [...memo.read].every(([address, value]) => scope.resource(address) === value);
}

const elements = new WeakMap<Compiled, Map<string, Expression>>();

/**
 * Returns the expression of one element, if `for_each` is an object with literal keys. Other elements are then not evaluated.
 */
function elementOf(compiled: Compiled, key: string): Expression | undefined {
  const { json } = compiled;
  if (!isObject(json) || !Object.hasOwn(json, key) || Object.keys(json).some(isTemplate)) return undefined;
  const known = elements.get(compiled) ?? new Map<string, Expression>();
  elements.set(compiled, known);
  const own = known.get(key) ?? compileJson(json[key] as Json);
  known.set(key, own);
  return own;
}

/** Returns the value of an instance. @throws ExpressionError if the scope lacks it. */
function instanceValue(expansion: Expansion, key: string | number | undefined, scope: EvalScope): Typed {
  const address = instanceAddress(expansion, key);
  const value = scope.resource(address);
  if (value === undefined) throw new ExpressionError(`${address} is not known`);
  const { schema, base } = expansion.draft;
  return schemaObject(schema, value, base, scope.origins?.(address));
}
