import type { Kind } from "../kinds/kind.ts";
import { validate } from "../lifecycle/index.ts";
import {
  type DesiredResource,
  type Diagnostic,
  ExpressionError,
  located,
  type Scope,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A scope in which the resources are those of `lookup`; an address that it does not have is unknown.
 * @param secrets the attributes of a resource into which a secret went.
 */
export function scopeOf(
  lookup: (address: string) => Value | undefined,
  env: Environment,
  secrets: (address: string) => readonly string[] | undefined = () => undefined,
): Scope {
  return {
    resource: (address) => lookup(address) ?? UNKNOWN,
    env: (name) => env[name],
    secrets: (address) => secrets(address) ?? [],
  };
}

/** The declared attributes with their templates evaluated and checked; every diagnostic knows its place. */
export function resolveConfig(
  kind: Kind,
  resource: DesiredResource,
  scope: Scope,
): { config: ValueObject; diagnostics: Diagnostic[] } {
  const evaluated: Record<string, Value> = {};
  const diagnostics: Diagnostic[] = [];
  for (const name of Object.keys(resource.config)) {
    try {
      evaluated[name] = resource.evaluate(name, scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      evaluated[name] = UNKNOWN;
      const { address } = resource;
      diagnostics.push({
        severity: "error",
        code: "config.expression",
        summary: `${name}: ${error.message}`,
        address,
        attribute: [name],
      });
    }
  }
  // Declared, but read only when a request needs it.
  for (const name of resource.sources?.keys() ?? []) evaluated[name] = UNKNOWN;
  const checked = validate(kind, evaluated, resource.address);
  diagnostics.push(...checked.diagnostics.map((diagnostic) => discreet(diagnostic, resource, scope)));
  return {
    config: checked.values,
    diagnostics: diagnostics.map((diagnostic) => located(diagnostic, resource.locate(diagnostic.attribute ?? []))),
  };
}

/** A value that came out of an expression may be a secret: the message names the expression instead. */
function discreet(diagnostic: Diagnostic, resource: DesiredResource, scope: Scope): Diagnostic {
  const [attribute] = diagnostic.attribute ?? [];
  if (diagnostic.code !== "config.invalid_value") return diagnostic;
  if (resource.isSecret?.(String(attribute), scope))
    return { ...diagnostic, detail: "The value is not shown: a secret went into it." };
  const from = resource.references.find(({ path: [name] }) => name === attribute);
  if (from === undefined) return diagnostic;
  return { ...diagnostic, detail: `The value comes from \${${from.reference.text}}.` };
}
