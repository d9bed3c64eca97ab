import {
  hasReferences,
  originIn,
  partsOf,
  referencesIn,
  resolveReferences,
  type SourceOf,
} from "../../core/expression/references.ts";
import { compareText } from "../../core/expression/typed-value.ts";
import { metaOf, typeOf } from "../../core/kinds/attribute.ts";
import {
  type Attribute,
  type AttributePath,
  type Desired,
  type DesiredOutput,
  type EvalScope,
  hasUnknown,
  inferredType,
  isCredential,
  isNested,
  isObject,
  type Json,
  joinOrigins,
  type Origin,
  type OutputValue,
  type Reference,
  typeJson,
  type Value,
} from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import { typedValue } from "../source/scalars.ts";
import { rangeOf, type Span } from "../source/source.ts";
import { templateSpans } from "../source/templates.ts";
import { type Entry, isNull, type MapTree, strings, type Tree, textOf, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";
import { checkValue, type ReferenceContext } from "./references.ts";
import type { ResourceDraft } from "./resource.ts";

/** Context for reading the section `outputs`. */

interface OutputContext extends ReferenceContext, Pick<Desired, "providers" | "resources"> {
  readonly sourceOf: SourceOf;
}

/** A declared output, before the resources are known. */
interface OutputDraft {
  readonly name: string;
  readonly keySpan: Span;
  readonly value: Tree;
  readonly description?: string;
  readonly sensitive: boolean;
}

const SETTINGS = ["value", "description", "sensitive"];

/**
 * Reads the outputs of all documents: `NAME: VALUE`, or `NAME: {value: …, description: …, sensitive: true}`. Checks names,
 * structure and references. Only sensitive outputs may contain secrets.
 */
export function readOutputs(entries: readonly Entry[], context: OutputContext): DesiredOutput[] {
  return unique(entries, ({ key }) => `The output "${key}"`, context.diags)
    .flatMap((entry) => readOutput(entry, context) ?? [])
    .map((draft) => desiredOutput(draft, context));
}

function readOutput(entry: Entry, { diags }: OutputContext): OutputDraft | undefined {
  const { key: name, keySpan, value: tree } = entry;
  if (!checkName(name, keySpan, "output", diags)) return undefined;
  const settings = tree.form === "map" ? readSettings(name, tree, diags) : { value: tree, sensitive: false };
  const { value } = settings;
  if (value !== undefined && !isNull(value)) return { name, keySpan, ...settings, value };
  const span = value === undefined ? keySpan : valueSpan(entry);
  return diags.add(span, problem("config.missing_attribute/output", { name }));
}

function readSettings(name: string, { entries }: MapTree, diags: DiagnosticCollector) {
  for (const { key, keySpan } of entries.values()) {
    if (SETTINGS.includes(key)) continue;
    diags.add(keySpan, problem("config.unknown_key/output", diags.unknown(key, SETTINGS)));
  }
  const [description, sensitive] = [entries.get("description"), entries.get("sensitive")];
  const text = textOf(description?.value);
  if (description !== undefined && (text === undefined || hasReferences(text))) {
    diags.add(valueSpan(description), problem("config.structure/output_description", { name }));
  }
  const flag = sensitive?.value.form === "leaf" ? sensitive.value.value : undefined;
  if (sensitive !== undefined && typeof flag !== "boolean") {
    diags.add(valueSpan(sensitive), problem("config.structure/output_sensitive", { name }));
  }
  return {
    value: entries.get("value")?.value,
    ...(text !== undefined && { description: text }),
    sensitive: flag === true,
  };
}

function desiredOutput(draft: OutputDraft, context: OutputContext): DesiredOutput {
  const { name, keySpan, value, description, sensitive } = draft;
  refuseSecretVariables(draft, context);
  checkValue(value, context);
  const sourceOf = (reference: Reference) => originOf(reference, context, new Set());
  for (const { text, leaf } of sensitive ? [] : strings(value)) {
    for (const { reference } of referencesIn(text)) {
      if (sourceOf(reference) === undefined) continue;
      const variable = reference.to === "env" ? reference.name : undefined;
      const shown = problem("config.secret/output", { name, text: reference.text, variable });
      context.diags.add(templateSpans(leaf)(reference.offset), shown);
    }
  }
  const config = typedValue(value, undefined, { path: [name], diags: context.diags, keySpan });
  const type = declaredType(value, context);
  return {
    name,
    ...(description !== undefined && { description }),
    sensitive,
    config,
    references: referencesIn(config),
    evaluate: (scope: EvalScope): OutputValue => ({
      ...conforming(resolveReferences(config, scope), type),
      origin: originIn(config, scope, sourceOf),
    }),
    range: rangeOf(keySpan),
  };
}

/** Rejects environment variables with tokens, keys or passwords: the state contains even sensitive outputs unencrypted. */
function refuseSecretVariables({ name, value }: OutputDraft, { providers, resources, diags }: OutputContext): void {
  const tokens = [...providers.values()].map(({ tokenEnv }) => tokenEnv);
  const sources = resources.flatMap(({ sources: own }) => [...(own?.values() ?? [])]);
  const secret = new Set([...tokens, ...sources.map((source) => ("env" in source ? source.env : undefined))]);
  for (const { text, leaf } of strings(value)) {
    for (const { reference } of referencesIn(text)) {
      if (reference.to !== "env" || !(isCredential(reference.name) || secret.has(reference.name))) continue;
      diags.add(
        templateSpans(leaf)(reference.offset),
        problem("config.secret/output_variable", { name, variable: reference.name }),
      );
    }
  }
}

/**
 * Returns the origin of a sensitive reference: the attribute itself if its kind marks it as sensitive, or the sensitive
 * references in its declared value.
 */
function originOf(reference: Reference, context: OutputContext, seen: Set<string>): Origin | undefined {
  const own = context.sourceOf(reference);
  if (own !== undefined || reference.to === "env") return own;
  const {
    address,
    path: [name],
  } = reference;
  const draft = context.drafts.get(address);
  const type = typeof name === "string" && draft !== undefined ? ownAttribute(draft, name) : undefined;
  const place = `${address}.${name}`;
  if (draft === undefined || type === undefined || seen.has(place)) return undefined;
  seen.add(place);
  const declared = draft.attributes.get(String(name));
  if (declared === undefined) return undefined;
  const within = [...strings(declared.value)].flatMap(({ text }) => referencesIn(text));
  return joinOrigins(within.map((one) => originOf(one.reference, context, seen)));
}

function ownAttribute({ kind: { attributes } }: ResourceDraft, name: string) {
  return Object.hasOwn(attributes.shape, name) ? attributes.shape[name] : undefined;
}

/**
 * Returns the Terraform type of a declared value, so that the state equals Terraform's. A value that is only one reference
 * has the type of the referenced attribute. Other types are inferred.
 */
function declaredType(tree: Tree, context: OutputContext): Json {
  if (tree.form === "list") return ["tuple", tree.items.map((item) => declaredType(item, context))];
  if (tree.form === "map") {
    const parts = [...tree.entries].map(([key, { value }]): [string, Json] => [key, declaredType(value, context)]);
    return ["object", Object.fromEntries(parts)];
  }
  const { value } = tree;
  return (typeof value === "string" ? referredType(value, context) : undefined) ?? inferredType(value);
}

/**
 * Converts a value to the notation of its type in the state: a set in Terraform's order, an object with all attributes. If
 * the value contradicts the type, infers the type, because Terraform could not read the state otherwise.
 */
function conforming(value: Value, type: Json): Pick<OutputValue, "value" | "type"> {
  if (hasUnknown(value)) return { value, type };
  const formed = inForm(value as Json, type);
  return formed === undefined ? { value, type: inferredType(value as Json) } : { value: formed, type };
}

/** Returns the type of the referenced attribute if the text is only one reference. */
function referredType(text: string, { drafts }: OutputContext): Json | undefined {
  const [only, ...more] = partsOf(text);
  if (only === undefined || typeof only === "string" || more.length > 0 || only.to === "env") return undefined;
  const draft = drafts.get(only.address);
  const [name, ...path] = only.path;
  const attribute = draft !== undefined && typeof name === "string" ? ownAttribute(draft, name) : undefined;
  const type = attribute && typeAt(typeOf(attribute, metaOf(attribute).set === true), path);
  return type && typeJson(type);
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

/** Converts a value to a type. Undefined if this is impossible. */
function inForm(value: Json, type: Json): Json | undefined {
  if (value === null) return null;
  if (!Array.isArray(type)) return inferredType(value) === type ? value : undefined;
  const [form, of] = type as readonly Json[] as readonly [string, Json];
  if (form === "list" || form === "set" || form === "tuple") {
    if (!Array.isArray(value) || (form === "tuple" && (of as readonly Json[]).length !== value.length))
      return undefined;
    const items = value.map((item, i) => inForm(item, form === "tuple" ? ((of as readonly Json[])[i] ?? null) : of));
    if (!items.every((item) => item !== undefined)) return undefined;
    return form === "set" ? sortedSet(items) : items;
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

/** Sorts a set as Terraform does: strings by bytes, numbers by value. */
function sortedSet(items: readonly Json[]): Json {
  const unique = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
  return unique.sort((a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : compareText(String(a), String(b)),
  );
}
