import { scopeOf } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import { attributesOf, sensitiveNames } from "../core/lifecycle/index.ts";
import {
  type Desired,
  type DesiredData,
  ExpressionError,
  type Json,
  type OutputState,
  type Plan,
  type ResourceState,
  SHORTEST_SECRET_PART,
  split,
  UNKNOWN,
} from "../core/model/index.ts";
import { learnToken, learnValue } from "./environment-secrets.ts";
import type { Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";

/** Announces what a declaration holds or names of secrets: tokens of its accounts, passwords written out or taken from the environment. */
export function learnDeclared(
  redaction: Redaction,
  { providers, resources, outputs = [], data = [] }: Pick<Desired, "providers" | "resources" | "outputs" | "data">,
  env: ProjectSource["env"],
): void {
  learnMarked(redaction, [...resources, ...data], env);
  for (const { sensitive, references } of outputs) {
    if (!sensitive) continue;
    for (const { reference } of references) if (reference.to === "env") learnValue(redaction, env[reference.name]);
  }
  for (const { tokenEnv } of providers.values()) if (tokenEnv !== undefined) learnToken(redaction, env[tokenEnv]);
  for (const { type, config, references, sources = new Map() } of resources) {
    for (const source of sources.values()) if ("env" in source) learnValue(redaction, env[source.env]);
    const kind = kinds.get(type);
    if (kind === undefined) continue;
    for (const { name, meta } of attributesOf(kind)) {
      const value = config[name];
      if ((!meta.sensitive && !meta.writeOnly) || value === undefined) continue;
      if (typeof value === "string" && !value.includes("${")) redaction.learn(value);
      for (const { reference, path } of references) {
        if (path[0] === name && reference.to === "env") learnValue(redaction, env[reference.name]);
      }
    }
  }
}

/** Announces what expressions make of secrets, as far as it is known before anything is read: `${upper(var.token)}`. */
function learnMarked(redaction: Redaction, declared: readonly DesiredData[], env: ProjectSource["env"]): void {
  const scope = scopeOf(() => UNKNOWN, env);
  for (const one of declared) {
    for (const name of Object.keys(one.config)) {
      if (one.originOf?.(name, scope) === undefined) continue;
      try {
        learnPart(redaction, split(one.evaluate(name, scope)).known);
      } catch (error) {
        // An expression without a value shows nothing.
        if (!(error instanceof ExpressionError)) throw error;
      }
    }
  }
}

/** Announces the sensitive values of a plan, as they were observed and as they will be. */
export function learnPlan(redaction: Redaction, { changes, outputs = [] }: Pick<Plan, "changes" | "outputs">): void {
  // The attribute of a list or map already names its secret part; the other parts may be public.
  // One that is declared as sensitive and holds none may be a domain, which is to be seen where it is ordered.
  for (const { origin, before, after } of outputs) if (origin !== undefined) redaction.learn(before, after);
  for (const { before, after, sensitive } of changes)
    for (const name of sensitive) learnPart(redaction, before?.[name], after?.[name]);
}

/** Announces the outputs that somebody has declared as sensitive. CDKTF declares all that stacks share so. */
export function learnOutputs(redaction: Redaction, outputs: ReadonlyMap<string, OutputState>): void {
  for (const [name, { value, sensitive }] of outputs)
    if (sensitive && !name.startsWith("cross-stack-output-")) redaction.learn(value);
}

/** Announces the secrets of a recorded resource. */
export function learnResource(redaction: Redaction, resource: ResourceState): void {
  const { attributes, private: mark } = resource;
  for (const name of secretsIn(resource)) learnPart(redaction, attributes[name], mark.deposed?.[name]);
}

/** The attributes of a resource that hold secrets: those of its kind, and those that a secret flowed into. */
export const secretNames = (resource: ResourceState): ReadonlySet<string> => new Set(secretsIn(resource));

function secretsIn({ address, sensitive }: ResourceState): readonly string[] {
  const kind = kinds.get(address.slice(0, address.indexOf(".")));
  const own = kind === undefined ? [] : sensitiveNames(kind);
  const more = sensitive.filter((name) => !own.includes(name));
  return more.length === 0 ? own : [...own, ...more];
}

function learnPart(redaction: Redaction, ...values: readonly (Json | undefined)[]): void {
  for (const value of values) {
    if (typeof value === "string") redaction.learn(value);
    else if (typeof value === "object" && value !== null) {
      for (const part of textsIn(value)) if (part.length >= SHORTEST_SECRET_PART) redaction.learn(part);
    }
  }
}

/** The texts in a value. */
export function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value as object).flatMap(textsIn) : [];
}
