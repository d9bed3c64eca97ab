/** Validates declared attributes. Also explains validation errors of the API. */
import type * as z from "zod";
import { type AttributeMeta, isFreeMap } from "../kinds/attribute.ts";
import type { Kind } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  type AttributePath,
  type Diagnostic,
  equal,
  escapeLine,
  expectation,
  type HostformError,
  hasUnknown,
  isObject,
  type JsonObject,
  openUrl,
  shorten,
  split,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { attributesOf, checkOfNone } from "./attributes.ts";

/**
 * Checks the evaluated attributes of one resource. Unknown values pass, and are checked again once known.
 * @returns the normalized values (a numeric id becomes a string) and all mistakes.
 */
export function validate(
  kind: Kind,
  config: ValueObject,
  address: string,
): { values: ValueObject; diagnostics: Diagnostic[] } {
  const values: Record<string, Value> = {};
  const diagnostics: Diagnostic[] = [];
  for (const { name, type, meta } of attributesOf(kind)) {
    if (meta.change === undefined) continue;
    const value = config[name] ?? null;
    const wrong = (issue: z.core.$ZodIssue) => invalid(address, name, meta.sensitive ? undefined : value, issue);
    if (hasUnknown(value)) {
      values[name] = value;
      diagnostics.push(...[...knownIssues(type, value), ...repeated(meta, value)].map(wrong));
      continue;
    }
    const result = value === null ? checkOfNone(type) : type.safeParse(value);
    if (result.success) {
      if (result.data !== undefined) values[name] = result.data as Value;
      diagnostics.push(...repeated(meta, value).map(wrong));
    } else if (value === null) {
      const { description, example } = meta;
      const about = { address, attribute: [name], noun: kind.noun, name, description, example };
      diagnostics.push(problem("config.missing_attribute", about));
    } else diagnostics.push(...result.error.issues.map(wrong));
  }
  if (diagnostics.length === 0) {
    diagnostics.push(...(kind.check?.(values) ?? []).map((diagnostic) => ({ address, ...diagnostic })));
  }
  return { values, diagnostics };
}

/** Returns mistakes in the known parts of a value. Skips mistakes that may disappear when unknown parts are known. */
function knownIssues(type: z.ZodType, value: Value): z.core.$ZodIssue[] {
  if (value === UNKNOWN) return [];
  const issues = type.safeParse(split(value).known).error?.issues ?? [];
  return issues.filter(({ path }) => !hasUnknown((partOf(value, path) ?? null) as Value));
}

/** Returns duplicate elements of a set. In Terraform, Terraform itself removes them. */
function repeated({ set }: AttributeMeta, value: Value): z.core.$ZodIssue[] {
  if (!set || !Array.isArray(value)) return [];
  return value.flatMap((input, at) => {
    const isFirst = input === UNKNOWN || value.findIndex((other) => equal(other, input)) === at;
    return isFirst ? [] : [{ code: "custom" as const, path: [at], message: "declared twice", input }];
  });
}

/** Returns the error about an invalid value. @param value Undefined for secrets. */
function invalid(address: string, name: string, value: Value | undefined, issue: z.core.$ZodIssue): Diagnostic {
  const path = [name, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  return problem("config.invalid_value", {
    address,
    attribute: path,
    path: path.join("."),
    expected: expectation(issue),
    value: value === undefined ? undefined : shown(value, issue.path),
    literal: literalOf(issue, partOf(value, issue.path)),
  });
}

const MEANT: Readonly<Record<string, boolean>> = {
  yes: true,
  on: true,
  true: true,
  no: false,
  off: false,
  false: false,
};

/**
 * Returns the literal that should replace a string, if a boolean or number is expected.
 * @param text Undefined for a secret.
 */
function literalOf(issue: z.core.$ZodIssue, text: unknown): string | undefined {
  if (issue.code !== "invalid_type" || (text !== undefined && typeof text !== "string")) return undefined;
  if (issue.expected === "boolean") {
    const meant = MEANT[text?.toLowerCase() ?? ""];
    return meant === undefined ? "`true` or `false`" : `\`${meant}\``;
  }
  if (!["number", "int"].includes(issue.expected)) return undefined;
  return /^-?\d+(?:\.\d+)?$/.test(text ?? "") ? `\`${Number(text)}\`` : "a number in decimal digits";
}

/** Returns a value for messages: URLs without credentials, and objects without null attributes, which Terraform adds. */
function inTheOpen(_: string, value: unknown): unknown {
  if (typeof value === "string") return openUrl(value);
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null)) : value;
}

function partOf(value: unknown, path: readonly PropertyKey[]): unknown {
  let part = value;
  for (const step of path) part = (part as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return part;
}

/** Returns the invalid value for the message, shortened to 80 characters. */
function shown(value: Value, path: readonly PropertyKey[]): string {
  const part = partOf(value, path);
  const text = part === undefined ? "missing" : escapeLine(JSON.stringify(part, inTheOpen));
  return shorten(text, 80);
}

/**
 * Adds the resource's address to the diagnostics of a failure. Each field error of the API (§7, 422) becomes a diagnostic of
 * its attribute.
 * @param declared Declared attributes, to find fields of free maps.
 */
export function explain(kind: Kind, address: string, declared: JsonObject, error: HostformError): Diagnostic[] {
  if (!(error instanceof ApiError) || Object.keys(error.fieldErrors).length === 0)
    return error.diagnostics.map((diagnostic) => ({ address, ...diagnostic }));
  const { endpoint, fieldErrors } = error;
  return error.diagnostics.flatMap(({ code, remedies }) =>
    Object.entries(fieldErrors).map(([field, messages]): Diagnostic => {
      const attribute = attributeOf(kind, declared, field);
      // For these kinds, no endpoint returns an object that an earlier run created.
      const id = kind.creation === "blind" ? kind.naturalKey({ [field]: declared[field] ?? null }) : undefined;
      const path = attribute?.join(".") ?? field;
      const about = { address, endpoint, noun: kind.noun, path, refusal: messages.join(" "), created: id };
      const refused = problem("api.validation/field", { ...about, field, attribute });
      return { ...refused, code, ...(attribute === undefined && remedies && { remedies }) };
    }),
  );
}

/** Returns the attribute of a dotted field such as `registrant_contact.email`, or of a field that came from a free map. */
function attributeOf(kind: Kind, declared: JsonObject, field: string): AttributePath | undefined {
  const path = field.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [name] = path;
  if (typeof name !== "string") return undefined;
  if (Object.hasOwn(kind.attributes.shape, name)) return path;
  const map = attributesOf(kind).find(({ name: attribute, type }) => {
    const value = declared[attribute];
    return isFreeMap(type) && isObject(value) && Object.hasOwn(value, name);
  });
  return map && [map.name, ...path];
}
