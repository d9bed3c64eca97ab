import { hasReferences, parseReferences } from "../../core/expression/references.ts";
import { type AttributePath, isObject, type Json, parseAddress, type Reference } from "../../core/model/index.ts";
import { quotedLiteral, renderValue, type TfCode, type TfTemplate, type TfValue } from "../../report/index.ts";
import type { Variables } from "./variables.ts";

export type Attributes = import("../../core/model/schema.ts").Attributes;
type Type = Attributes[string]["type"];

/** A reference of one resource to another, and the place in its attributes where it stands. */
export interface Use {
  readonly reference: Reference & { readonly to: "resource" };
  readonly path: AttributePath;
}

/** What values are turned into Terraform's language with. */
export interface Writing {
  readonly variables: Variables;
  /** The attributes of a resource type, as the provider knows them; undefined for a type that is none of ours. */
  attributesOf(type: string): Attributes | undefined;
  /** Called with each reference to another resource. */
  onUse(use: Use): void;
}

interface Place {
  readonly path: AttributePath;
  /** It is write-only: what it takes from the environment is a secret. */
  readonly secret: boolean;
}

/**
 * A declared value as Terraform would have it written: templates as expressions, everything else literal and in the type
 * that the provider's schema gives, so that the value comes out as in YAML. What is null is left out of maps.
 */
export function tfValue(value: Json, type: Type, place: Place, writing: Writing): TfValue {
  if (typeof value === "string" && hasReferences(value)) return written(value, place, writing);
  const { path } = place;
  if (Array.isArray(value)) {
    const element = elementOf(type);
    return value.map((item, index) => tfValue(item, element, { ...place, path: [...path, index] }, writing));
  }
  if (isObject(value)) {
    const given = Object.entries(value).filter(([, part]) => part !== null) as [string, Json][];
    const map = given.map(([key, part]): [string, TfValue] => {
      const inner = { ...place, path: [...path, key] };
      if (isMap(type)) return [key, mapText(part, inner, writing)];
      return [key, tfValue(part, partOf(type, key), inner, writing)];
    });
    return { map };
  }
  return type === "string" && value !== null ? String(value) : (value as Exclude<typeof value, object>);
}

const isMap = (type: Type) => typeof type === "object" && "map" in type;

function elementOf(type: Type): Type {
  if (typeof type === "object" && "set" in type) return type.set;
  return typeof type === "object" && "list" in type ? type.list : "string";
}

const partOf = (type: Type, name: string): Type =>
  typeof type === "object" && "nesting" in type ? (type.attributes[name]?.type ?? "string") : "string";

/** A value of a free map: a list or an object there is JSON text, as hostform sends it. */
function mapText(value: Json, place: Place, writing: Writing): TfValue {
  if (typeof value !== "object" || value === null) return tfValue(value, "string", place, writing);
  const template = jsonParts(value, place, writing);
  return template.every((part) => typeof part === "string") ? template.join("") : { template };
}

/** JSON text in which the templates are expressions: `jsonencode` puts them in quotes, or not, as their type wants. */
function jsonParts(value: Json, place: Place, writing: Writing): TfTemplate["template"] {
  const inner = (part: Json, step: string | number) =>
    jsonParts(part, { ...place, path: [...place.path, step] }, writing);
  if (typeof value === "string" && hasReferences(value)) {
    const part = written(value, place, writing);
    return [typeof part === "string" ? JSON.stringify(part) : { code: `jsonencode(${renderValue(part)})` }];
  }
  if (Array.isArray(value)) {
    return ["[", ...value.flatMap((item, index) => [index > 0 ? "," : "", ...inner(item, index)]), "]"];
  }
  if (!isObject(value)) return [JSON.stringify(value)];
  const parts = Object.entries(value).flatMap(([key, part], index) => [
    `${index > 0 ? "," : ""}${JSON.stringify(key)}:`,
    ...inner(part as Json, key),
  ]);
  return ["{", ...parts, "}"];
}

/** A template: a text without references is literal, a reference alone keeps its type. */
function written(text: string, { path, secret }: Place, writing: Writing): string | TfCode | TfTemplate {
  const { variables } = writing;
  const template = parseReferences(text).map((part) => {
    if (typeof part === "string") return part;
    if (part.to === "env")
      return secret ? variables.secret({ env: part.name }, part.name) : variables.ordinary(part.name);
    writing.onUse({ reference: part, path });
    return { code: referenceCode(part, writing) };
  });
  const [only] = template;
  return template.length === 1 && only !== undefined ? only : { template };
}

/** `hosting_grant.acme["dev@acme.example"].id`; an item of a set by way of a list, which alone is counted. */
function referenceCode({ address, path }: Use["reference"], writing: Writing): string {
  const [name = "", ...more] = path;
  const type = writing.attributesOf(parseAddress(address)?.type ?? "")?.[name]?.type;
  const start = `${addressCode(address)}.${name}`;
  const counted = typeof type === "object" && "set" in type && typeof more[0] === "number";
  return (counted ? `tolist(${start})` : start) + more.map((step) => stepCode(step)).join("");
}

/** An address as an expression: its key is a text of Terraform's language. */
export function addressCode(address: string): string {
  const parts = parseAddress(address);
  if (parts === undefined) throw new Error(`${address} is no address`);
  return `${parts.type}.${parts.name}${parts.key === undefined ? "" : keyCode(parts.key)}`;
}

const stepCode = (step: string | number) =>
  typeof step === "string" && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) ? `.${step}` : keyCode(step);

const keyCode = (key: string | number) => `[${typeof key === "number" ? key : quotedLiteral(key)}]`;
