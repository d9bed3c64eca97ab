import { z } from "zod";
import type { Kind } from "../kinds/kind.ts";
import {
  ApiError,
  type AttributePath,
  type Diagnostic,
  type HostformError,
  isObject,
  type JsonObject,
} from "../model/index.ts";
import { attributesOf } from "./attributes.ts";

/**
 * The diagnostics of a failure, each with the resource's address. Field errors of the API (§7, 422) become one
 * diagnostic each, pointing at the attribute that they are about.
 * @param declared the attributes as declared, in which fields of free maps are looked up.
 */
export function explain(kind: Kind, address: string, declared: JsonObject, error: HostformError): Diagnostic[] {
  if (!(error instanceof ApiError) || Object.keys(error.fieldErrors).length === 0)
    return error.diagnostics.map((diagnostic) => ({ address, ...diagnostic }));
  const { endpoint, fieldErrors } = error;
  return error.diagnostics.flatMap(({ severity, code, remedies = [] }) =>
    Object.entries(fieldErrors).map(([field, messages]): Diagnostic => {
      const attribute = attributeOf(kind, declared, field);
      return {
        severity,
        code,
        summary: `The API refuses ${field}: ${messages.join(" ")}`,
        detail: `${endpoint} answered 422.`,
        remedies: attribute === undefined ? remedies : [`Correct ${attribute.join(".")}.`],
        address,
        ...(attribute && { attribute }),
      };
    }),
  );
}

/** The attribute of a dotted field: `registrant_contact.email`, or a field that was sent out of a free map. */
function attributeOf(kind: Kind, declared: JsonObject, field: string): AttributePath | undefined {
  const path = field.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [name] = path;
  if (typeof name !== "string") return undefined;
  if (Object.hasOwn(kind.attributes.shape, name)) return path;
  const map = attributesOf(kind).find(([attribute, type]) => {
    const value = declared[attribute];
    return isFreeMap(type) && isObject(value) && Object.hasOwn(value, name);
  });
  return map && [map[0], ...path];
}

function isFreeMap(type: z.ZodType): boolean {
  if (type instanceof z.ZodOptional) return isFreeMap(type.unwrap() as z.ZodType);
  return type instanceof z.ZodPipe ? isFreeMap(type.out as z.ZodType) : type instanceof z.ZodRecord;
}
