import { hasReferences, parseReferences } from "../../core/expression/references.ts";
import { compareText } from "../../core/expression/value.ts";
import { metaOf, typeOf } from "../../core/kinds/attribute.ts";
import {
  type Attribute,
  type AttributePath,
  hasUnknown,
  isNested,
  isObject,
  type Json,
  type OutputValue,
  typeJson,
  type Value,
} from "../../core/model/index.ts";
import type { Tree } from "../source/tree.ts";
import type { Known } from "./references.ts";

/**
 * Terraform's type of a declared value: of a reference that stands alone that of its attribute, so that Terraform, with the
 * same state, finds what it would have written itself. Undefined parts show by their value.
 */
export function declaredType(tree: Tree, known: Pick<Known, "drafts">): Json {
  if (tree.form === "list") return ["tuple", tree.items.map((item) => declaredType(item, known))];
  if (tree.form === "map") {
    const parts = [...tree.entries].map(([key, { value }]): [string, Json] => [key, declaredType(value, known)]);
    return ["object", Object.fromEntries(parts)];
  }
  const { value } = tree;
  return (typeof value === "string" ? referredType(value, known) : undefined) ?? inferredType(value);
}

/**
 * A value in the form that its type has in a state: a set in Terraform's order, every attribute of an object. Where it does
 * not fit, which no state could be read with, its type is the one that it shows.
 */
export function conforming(value: Value, type: Json): Pick<OutputValue, "value" | "type"> {
  if (hasUnknown(value)) return { value, type };
  const formed = inForm(value as Json, type);
  return formed === undefined ? { value, type: inferredType(value as Json) } : { value: formed, type };
}

/** What a text refers to, when it is a reference and nothing else. */
function referredType(text: string, { drafts }: Pick<Known, "drafts">): Json | undefined {
  const [only, ...more] = hasReferences(text) ? partsOf(text) : [];
  if (only === undefined || typeof only === "string" || more.length > 0 || only.to === "env") return undefined;
  const draft = drafts.get(only.address);
  const [name, ...path] = only.path;
  if (draft === undefined || typeof name !== "string" || !Object.hasOwn(draft.kind.attributes.shape, name))
    return undefined;
  const attribute = draft.kind.attributes.shape[name];
  const type = attribute && typeAt(typeOf(attribute, metaOf(attribute).set === true), path);
  return type && typeJson(type);
}

/** One that cannot be read is told elsewhere. */
function partsOf(text: string): ReturnType<typeof parseReferences> {
  try {
    return parseReferences(text);
  } catch {
    return [];
  }
}

function typeAt(type: Attribute["type"], [step, ...rest]: AttributePath): Attribute["type"] | undefined {
  if (step === undefined) return type;
  if (typeof type === "string") return undefined;
  if (isNested(type)) {
    if (type.nesting === "list") return typeAt({ ...type, nesting: "single" }, rest);
    const part = Object.hasOwn(type.attributes, step) ? type.attributes[step] : undefined;
    return part && typeAt(part.type, rest);
  }
  return typeAt("list" in type ? type.list : "set" in type ? type.set : type.map, rest);
}

function inferredType(value: Json): Json {
  if (Array.isArray(value)) return ["tuple", value.map(inferredType)];
  if (isObject(value)) {
    const parts = Object.entries(value).map(([key, part]): [string, Json] => [key, inferredType(part as Json)]);
    return ["object", Object.fromEntries(parts)];
  }
  return value === null
    ? "dynamic"
    : typeof value === "boolean"
      ? "bool"
      : typeof value === "number"
        ? "number"
        : "string";
}

/** Undefined for a value that is not of the type. */
function inForm(value: Json, type: Json): Json | undefined {
  if (value === null) return null;
  if (!Array.isArray(type)) return inferredType(value) === type ? value : undefined;
  const [form, of] = type as readonly Json[] as readonly [string, Json];
  if (form === "list" || form === "set" || form === "tuple") {
    if (!Array.isArray(value) || (form === "tuple" && (of as readonly Json[]).length !== value.length))
      return undefined;
    const items = value.map((item, i) => inForm(item, form === "tuple" ? ((of as readonly Json[])[i] ?? null) : of));
    if (!items.every((item) => item !== undefined)) return undefined;
    return form === "set" ? inOrder(items) : items;
  }
  if (!isObject(value)) return undefined;
  const given = value as { readonly [key: string]: Json };
  const types = of as { readonly [key: string]: Json };
  if (form === "object" && Object.keys(given).some((key) => !Object.hasOwn(types, key))) return undefined;
  const keys = Object.keys(form === "object" ? types : given);
  const parts = keys.map((key) => {
    const part = Object.hasOwn(given, key) ? (given[key] ?? null) : null;
    return [key, inForm(part, form === "object" ? (types[key] ?? null) : of)] as const;
  });
  return parts.every((part): part is [string, Json] => part[1] !== undefined) ? Object.fromEntries(parts) : undefined;
}

/** Terraform's order of a set of texts is that of their bytes; one of numbers, by size. */
function inOrder(items: readonly Json[]): Json {
  const unique = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
  return unique.sort((a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : compareText(String(a), String(b)),
  );
}
