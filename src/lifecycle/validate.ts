import type { z } from "zod";
import type { Kind } from "../kinds/kind.ts";
import { type Diagnostic, hasUnknown, type Value, type ValueObject } from "../model/index.ts";
import { attributesOf } from "./attributes.ts";

/**
 * Checks the declared attributes of one resource, whose templates are evaluated and may be unknown. Unknown values pass;
 * they are checked again when they are known.
 * @returns the values in their normal form (a number for an id becomes a string) and everything that is wrong.
 */
export function validate(
  kind: Kind,
  config: ValueObject,
  address: string,
): { values: ValueObject; diagnostics: Diagnostic[] } {
  const values: Record<string, Value> = {};
  const diagnostics: Diagnostic[] = [];
  for (const [name, type, meta] of attributesOf(kind)) {
    if (meta.change === undefined) continue;
    const value = config[name];
    if (value !== undefined && value !== null && hasUnknown(value)) {
      values[name] = value;
      continue;
    }
    const result = type.safeParse(value ?? undefined);
    if (result.success) {
      if (result.data !== undefined) values[name] = result.data as Value;
    } else if (value === undefined || value === null) {
      diagnostics.push({
        severity: "error",
        code: "config.missing_attribute",
        summary: `${kind.noun} needs ${name}`,
        detail: meta.description,
        fix: `Add \`${name}\`${meta.example === undefined ? "" : `, for example \`${name}: ${JSON.stringify(meta.example)}\``}.`,
        address,
        attribute: [name],
      });
    } else {
      for (const issue of result.error.issues)
        diagnostics.push(invalid(address, name, meta.sensitive ? undefined : value, issue));
    }
  }
  if (diagnostics.length === 0) {
    diagnostics.push(...(kind.check?.(values) ?? []).map((diagnostic) => ({ address, ...diagnostic })));
  }
  return { values, diagnostics };
}

/** @param value undefined for secrets, which no message repeats. */
function invalid(address: string, name: string, value: Value | undefined, issue: z.core.$ZodIssue): Diagnostic {
  const path = [name, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  return {
    severity: "error",
    code: "config.invalid_value",
    summary: `${path.join(".")}: ${sentence(issue)}`,
    ...(value !== undefined && { detail: `The value is ${shown(value, issue.path)}.` }),
    address,
    attribute: path,
  };
}

/** Zod's words, without their label; alternatives as a list. */
function sentence({ code, message }: z.core.$ZodIssue): string {
  const words = message.replace(/^Invalid (input|option): /, "");
  return code === "invalid_value" ? words.replaceAll("|", ", ") : words;
}

/** The value at fault, for the message; long ones are cut. */
function shown(value: Value, path: readonly PropertyKey[]): string {
  let part: unknown = value;
  for (const step of path)
    part = typeof part === "object" && part !== null ? (part as Record<PropertyKey, unknown>)[step] : part;
  const text = part === undefined ? "missing" : (JSON.stringify(part) ?? String(part));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
