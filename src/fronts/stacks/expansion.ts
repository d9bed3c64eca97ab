import type { Typed } from "../../core/expression/index.ts";
import { formatAddress } from "../../core/model/index.ts";
import type { Draft } from "./draft.ts";

/** A part of a resource or a data source that a value hangs on. */
export interface Root {
  /** With a key where one instance is meant; otherwise all of them. */
  readonly address: string;
  /** Within the instance; empty for the whole, and where not one instance is meant. */
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** The instances of a resource or a data source. */
export interface Expansion {
  readonly draft: Draft;
  readonly form: "single" | "count" | "each";
  readonly keys: readonly (string | number)[];
  /** Of `for_each`: `each.value` by key, as far as it is known without any resource. */
  readonly elements?: ReadonlyMap<string, Typed>;
  /** Of `for_each` over a resource as it is: the address of that, without a key. */
  readonly over?: string;
  /** What `for_each` or `count` hang on. */
  readonly roots: readonly Root[];
  /** A mistake, which is reported, leaves it open which instances there are. */
  readonly unclear: boolean;
}

/** One instance, as its own attributes see it. */
export interface Instance {
  readonly expansion: Expansion;
  readonly key: string | number | undefined;
}

/** The address of an instance. */
export function addressOf({ draft: { base } }: Expansion, key: string | number | undefined): string {
  if (key === undefined) return base;
  const data = base.startsWith("data.");
  const [type = "", name = ""] = (data ? base.slice(5) : base).split(".");
  return `${data ? "data." : ""}${formatAddress({ type, name, key })}`;
}

/** The addresses of all instances. */
export function addressesOf(expansion: Expansion): string[] {
  return expansion.keys.map((key) => addressOf(expansion, key));
}

const keySets = new WeakMap<Expansion, ReadonlySet<string | number>>();

/** Whether there is an instance with this key. */
export function hasKey(expansion: Expansion, key: string | number): boolean {
  const known = keySets.get(expansion) ?? new Set(expansion.keys);
  keySets.set(expansion, known);
  return known.has(key);
}
