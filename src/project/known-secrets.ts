import { scopeOf } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import { attributesOf, sensitiveNames } from "../core/lifecycle/index.ts";
import {
  type Desired,
  ExpressionError,
  type Json,
  type Origin,
  type OutputState,
  openUrl,
  type Plan,
  type ResourceState,
  split,
  UNKNOWN,
} from "../core/model/index.ts";
import { type Field, learnVariable, type Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";

/** Announces what a declaration names of secrets: tokens of its accounts, passwords, and what its expressions make of sensitive values. */
export function learnDeclared(
  redaction: Redaction,
  { providers, resources, data = [] }: Pick<Desired, "providers" | "resources" | "data">,
  env: ProjectSource["env"],
): void {
  const scope = scopeOf(() => UNKNOWN, env);
  for (const { tokenEnv } of providers.values()) if (tokenEnv !== undefined) learnVariable(redaction, env, tokenEnv);
  for (const { sources = new Map() } of resources)
    for (const source of sources.values()) if ("env" in source) learnVariable(redaction, env, source.env);
  for (const one of [...resources, ...data]) {
    for (const name of Object.keys(one.config)) {
      const origin = one.originOf?.(name, scope);
      if (origin === undefined) continue;
      if (origin.open?.includes("?")) redaction.expose(pathOf(origin.open));
      try {
        learnPart(redaction, origin, split(one.evaluate(name, scope)).known);
      } catch (error) {
        // An expression without a value shows nothing.
        if (!(error instanceof ExpressionError)) throw error;
      }
    }
  }
}

/** Announces the sensitive values of a plan, as they were observed and as they will be. */
export function learnPlan(redaction: Redaction, { changes, outputs = [] }: Pick<Plan, "changes" | "outputs">): void {
  // One that is declared as sensitive and holds none may be a domain, which is to be seen where it is ordered.
  for (const { origin, before, after } of outputs)
    if (origin !== undefined) learnPart(redaction, origin, before, after);
  for (const { address, before, after, sensitive, origins = {} } of changes)
    for (const name of sensitive)
      learnPart(redaction, origins[name] ?? { from: [`${address}.${name}`] }, before?.[name], after?.[name]);
}

/** Announces the outputs that somebody has declared as sensitive. CDKTF declares all that stacks share so. */
export function learnOutputs(redaction: Redaction, outputs: ReadonlyMap<string, OutputState>): void {
  for (const [name, { value, sensitive }] of outputs)
    if (sensitive && !name.startsWith("cross-stack-output-")) redaction.learn(`output.${name}`, textsIn(value));
}

/** Announces the secrets of a recorded resource. */
export function learnResource(redaction: Redaction, resource: ResourceState): void {
  const { address, attributes, private: mark } = resource;
  for (const name of secretNames(resource))
    learnPart(redaction, { from: [`${address}.${name}`] }, attributes[name], mark.deposed?.[name]);
}

/** The attributes of a resource that hold secrets: those of its kind, and those that something sensitive flowed into. */
export function secretNames({ address, sensitive }: ResourceState): ReadonlySet<string> {
  const kind = kinds.get(address.slice(0, address.indexOf(".")));
  return new Set([...(kind === undefined ? [] : sensitiveNames(kind)), ...sensitive]);
}

/** A URL as messages show it, without its query. */
const pathOf = (url: string): string => openUrl(url).split("?")[0] ?? "";

/**
 * Messages show a URL without its query: of one that is sensitive before it, this is a secret, too. The state does not know how far
 * a URL is open: the declaration, which is read before, has exposed what approvers must see of it.
 */
function learnPart(redaction: Redaction, { from, open = "" }: Origin, ...values: readonly (Json | undefined)[]): void {
  for (const text of values.flatMap((value) => (value === undefined ? [] : textsIn(value)))) {
    const isInPath = openUrl(text) !== text && !open.includes("?") && !redaction.isExposed(pathOf(text));
    redaction.learn(from.join(", "), text, isInPath ? pathOf(text) : undefined);
  }
}

/** Returns the values that approvers decide by: addresses, and the decisive attributes that are not sensitive. */
export function fieldsOf({ changes }: Pick<Plan, "changes">): Field[] {
  return changes.flatMap(({ address, type, before, after, sensitive }): Field[] => {
    const kind = kinds.get(type);
    const attributes = kind === undefined ? [] : attributesOf(kind);
    const values = attributes.flatMap(({ name, meta }) => {
      if (!meta.decisive || sensitive.includes(name)) return [];
      const texts = [before?.[name], after?.[name]].flatMap((value) => textsIn(value ?? null));
      return texts.map((text): Field => [`${name} of ${address}`, text]);
    });
    return [["The address of a resource", address], ...values];
  });
}

/** The texts in a value. */
export function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value as object).flatMap(textsIn) : [];
}
