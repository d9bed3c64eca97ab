import { bare, elementsOf, isSecret, list, nullOf, text } from "../typed.ts";
import { attributeTypes } from "../types.ts";
import type { Type, Typed } from "../value.ts";

/** Stands for an argument that is not there, which the count of the arguments excludes. */
export const NOTHING: Typed = nullOf("any");

/** The content of a text that is known and not null, as it is after the check of the arguments. */
export function textOf({ content }: Typed): string {
  return typeof content === "string" ? content : "";
}

export const texts = (content: readonly string[]): Typed => list("string", content.map(text));

/** The types of an object's attributes, by name. */
export function attributesOf(type: Type): ReadonlyMap<string, Type> {
  return new Map(Object.entries(attributeTypes(type)));
}

/** Without any mark, however deep. */
export function withoutSecrets(typed: Typed): Typed {
  if (!isSecret(typed)) return typed;
  const { type, content } = bare(typed);
  if (content instanceof Map)
    return { type, content: new Map([...content].map(([key, item]) => [key, withoutSecrets(item)])) };
  return { type, content: Array.isArray(content) ? elementsOf(typed).map(withoutSecrets) : content };
}
