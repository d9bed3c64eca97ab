import type { Kind } from "../kinds/kind.ts";
import type { JsonObject, ValueObject } from "../model/index.ts";
import { parentOf } from "./attributes.ts";

/**
 * Which resource has what of an account: an object ({@link objectKey}), or a thing that is yet to be made ({@link thingKey}).
 * An owner is whatever a front knows its resources by; two are the same when they are equal (`===`).
 */
export class Ownership<Owner> {
  /** Lists: almost each has one entry, and a run may have a hundred thousand of them. */
  readonly #owners = new Map<string, Owner[]>();
  readonly #keys = new Map<Owner, string[]>();

  /**
   * Claims all of it for a resource, or nothing where something of it belongs to another one.
   * @param keys undefined: what nothing distinguishes from others belongs to no one.
   * @returns that other one.
   */
  claim(owner: Owner, ...keys: readonly (string | undefined)[]): Owner | undefined {
    for (const key of keys) {
      const other = this.ownerOf(key, owner);
      if (other !== undefined) return other;
    }
    for (const key of keys) this.add(owner, key);
    return undefined;
  }

  /** What is recorded belongs to its resource; a damaged state may record one object for two of them. */
  add(owner: Owner, key: string | undefined): void {
    if (key === undefined) return;
    insert(this.#owners, key, owner);
    insert(this.#keys, owner, key);
  }

  /** The first resource that has it. @param but a resource that does not count. */
  ownerOf(key: string | undefined, but?: Owner): Owner | undefined {
    for (const owner of this.#owners.get(key ?? "") ?? []) if (owner !== but) return owner;
    return undefined;
  }

  /** Whether a resource has it, be it with others. */
  has(owner: Owner, key: string | undefined): boolean {
    return this.#owners.get(key ?? "")?.includes(owner) === true;
  }

  /** A resource no longer has this, or anything at all when no keys are given. */
  release(owner: Owner, ...keys: readonly (string | undefined)[]): void {
    for (const key of keys.length > 0 ? keys : [...(this.#keys.get(owner) ?? [])]) {
      remove(this.#owners, key ?? "", owner);
      remove(this.#keys, owner, key ?? "");
    }
  }
}

function insert<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else if (!list.includes(value)) list.push(value);
}

function remove<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const left = lists.get(key)?.filter((one) => one !== value) ?? [];
  if (left.length > 0) lists.set(key, left);
  else lists.delete(key);
}

/** What makes two resources the same object: its account, its kind, its parent and its id. Undefined while there is no id. */
export function objectKey(provider: string, kind: Kind, attributes: JsonObject): string | undefined {
  const { id } = attributes;
  return typeof id === "string" ? keyOf("object", provider, kind, attributes, id) : undefined;
}

/** What makes two creates the same thing: its account, its kind, its parent and its natural key. Undefined while one is unknown. */
export function thingKey(provider: string, kind: Kind, attributes: ValueObject): string | undefined {
  const key = kind.naturalKey(attributes);
  if (key === undefined || (kind.parent !== undefined && parentOf(kind, attributes) === undefined)) return undefined;
  return keyOf("thing", provider, kind, attributes, key);
}

const keyOf = (what: string, provider: string, kind: Kind, attributes: ValueObject, name: string) =>
  JSON.stringify([what, provider, kind.type, parentOf(kind, attributes) ?? null, name]);
