import type { Unknown } from "../model/index.ts";
import type { Decimal } from "./number.ts";

/** A type of Terraform's language. `any` is the type of a null or unknown value of which nothing more is known. */
export type Type =
  | "string"
  | "number"
  | "bool"
  | "any"
  | { readonly list: Type }
  | { readonly set: Type }
  | { readonly map: Type }
  | { readonly tuple: readonly Type[] }
  | {
      readonly object: Readonly<Record<string, Type>>;
      /** Of a type constraint alone: attributes that may be left out, with their default. */
      readonly optional?: Readonly<Record<string, Typed | undefined>>;
    };

/**
 * A value with its type, as Terraform's language has it. Immutable. What holds for all of them:
 * - the elements of a list, a set or a map have exactly its element type; those of a tuple or an object each its own;
 * - the elements of a set are unique and in Terraform's order (numbers by size, texts by their UTF-8 bytes);
 * - the entries of a map or an object are in the order of their keys' UTF-8 bytes;
 * - a text is in Unicode's normal form C.
 */
export interface Typed {
  readonly type: Type;
  readonly content: Content;
  /** Secret: whatever is made from it is, too. Of a collection: its form as well (its elements may be secret by themselves). */
  readonly secret?: true;
}

export type Content = null | Unknown | string | boolean | Decimal | readonly Typed[] | ReadonlyMap<string, Typed>;

/** A step of a traversal that is known without evaluating: `.id`, `[0]`, `["key"]`. */
export type Step = string | number;

/** A name of the surroundings with the static steps that follow it: `hosting_service.acme[0].id`. */
export interface Traversal {
  /** `var`, `local`, `each`, `count`, `data`, `path`, `terraform`, or a resource type. */
  readonly root: string;
  /** As far as they are known without evaluating. */
  readonly steps: readonly Step[];
  /** As written. */
  readonly text: string;
  /** Where it begins in the string. */
  readonly offset: number;
}

/** What names mean where an expression is evaluated. */
export interface Names {
  /**
   * The value of a name. @returns with it, how many of the steps are in it already; undefined: there is no such name.
   * @throws ExpressionError with what is wrong with it.
   */
  resolve(traversal: Traversal): { readonly value: Typed; readonly used: number } | undefined;
  /** The value of a function of a provider (`provider::hosting::webhook_signature`); undefined: there is no such function. */
  call?(name: string, args: readonly Typed[]): Typed | undefined;
}
