import { type Kinds, matches } from "../kinds/kind.ts";
import {
  type Desired,
  type DesiredResource,
  type Diagnostic,
  located,
  UNKNOWN,
  type ValueObject,
} from "../model/index.ts";
import { type Environment, resolveConfig, scopeOf } from "./evaluate.ts";
import { kindsOf } from "./kinds.ts";
import { SecretPlaces } from "./secret-places.ts";

/**
 * Checks a whole declaration without touching the account: every value, and what must be unique among resources of one
 * account (the same domain declared twice would be ordered twice; the same order reference would be one order; of two secrets
 * written to one place, one would be lost).
 */
export function validateDesired(desired: Desired, all: Kinds, env: Environment): Diagnostic[] {
  const kinds = kindsOf(desired, all);
  const diagnostics: Diagnostic[] = [];
  const scope = scopeOf(() => UNKNOWN, env);
  const byKey = new Map<string, { resource: DesiredResource; config: ValueObject }[]>();
  const byReference = new Map<string, DesiredResource>();
  const places = new SecretPlaces();
  for (const resource of desired.resources) {
    const kind = kinds.get(resource.type);
    if (kind === undefined) continue;
    const { config, diagnostics: own } = resolveConfig(kind, resource, scope);
    diagnostics.push(...own, ...places.add(resource, config));

    const reference = kind.orderReference?.(config) ?? (kind.creation === "keyed" ? resource.address : undefined);
    if (reference !== undefined) {
      const first = byReference.get(reference);
      if (first === undefined) byReference.set(reference, resource);
      else diagnostics.push(sameReference(resource, first, reference));
    }
    const natural = kind.naturalKey(config);
    if (natural === undefined) continue;
    const bucket = JSON.stringify([kind.type, resource.provider, resource.config[kind.parent ?? ""] ?? null, natural]);
    const others = byKey.get(bucket) ?? [];
    const twin = others.find((other) => matches(kind, config, other.config));
    if (twin !== undefined) diagnostics.push(sameThing(resource, twin.resource, kind.noun));
    byKey.set(bucket, [...others, { resource, config }]);
  }
  return diagnostics;
}

function sameReference(resource: DesiredResource, first: DesiredResource, reference: string): Diagnostic {
  const diagnostic: Diagnostic = {
    severity: "error",
    code: "config.duplicate",
    summary: `${resource.address} and ${first.address} have the same order reference ${JSON.stringify(reference)}`,
    detail: "The reference makes the Idempotency-Key: two orders with the same one are one order.",
    fix: "Give each its own `reference`, or none.",
    address: resource.address,
    attribute: ["reference"],
  };
  return located(diagnostic, resource.locate(["reference"]));
}

function sameThing(resource: DesiredResource, first: DesiredResource, noun: string): Diagnostic {
  const other = first.locate([]);
  const diagnostic: Diagnostic = {
    severity: "error",
    code: "config.duplicate",
    summary: `${resource.address} declares the same ${noun} as ${first.address}`,
    detail: `Both would be made, or each taken for the other.${other === undefined ? "" : ` The first is at ${other.file}:${other.line}:${other.column}.`}`,
    fix: "Remove one of the two.",
    address: resource.address,
  };
  return located(diagnostic, resource.locate([]));
}
