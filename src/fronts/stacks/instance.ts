import { evaluate, isSecret, type Typed } from "../../core/expression/index.ts";
import {
  type DesiredData,
  ExpressionError,
  hasUnknown,
  type Json,
  type PlacedReference,
  type Scope,
  UNKNOWN,
  type Value,
} from "../../core/model/index.ts";
import { rangeOf } from "../source/source.ts";
import { locate, type MapTree } from "../source/tree.ts";
import { attributeValue } from "./attribute-value.ts";
import { reportExpression } from "./compile.ts";
import { type Draft, type DraftAttribute, remarkOf } from "./draft.ts";
import { isEphemeral } from "./expand.ts";
import { addressOf, type Expansion, type Instance, type Root } from "./expansion.ts";
import type { Declared } from "./references.ts";
import { rootsOf } from "./roots.ts";
import { shown } from "./shown.ts";
import type { Surroundings } from "./surroundings.ts";

/** What all instances of a draft share. */
export interface Common {
  readonly surroundings: Surroundings;
  readonly declared: Declared;
}

/** One attribute of an instance. */
interface Part {
  readonly attribute: DraftAttribute;
  /** As far as it is known without any resource. */
  readonly value: Value;
  readonly secret: boolean;
  readonly references: readonly PlacedReference[];
}

/** The instances of a resource or a data source, without what only a resource has. */
export function instancesOf(expansion: Expansion, common: Common): DesiredData[] {
  if (expansion.unclear) return [];
  const keys = expansion.form === "single" ? [undefined] : expansion.keys;
  return keys.map((key) => instanceOf({ expansion, key }, common));
}

function instanceOf(instance: Instance, common: Common): DesiredData {
  const { expansion, key } = instance;
  const { draft } = expansion;
  const { surroundings } = common;
  const address = addressOf(expansion, key);
  const parts = new Map<string, Part>();
  for (const [name, attribute] of draft.attributes) {
    const part = partOf(name, attribute, instance, common, address);
    // Null is how a condition says that an attribute is not declared.
    if (part.value !== null) parts.set(name, part);
  }
  const config = [...parts].map(([name, part]): [string, Json] => [name, shownPart(part, instance, surroundings)]);
  return {
    address,
    type: draft.type,
    provider: draft.provider?.name ?? "default",
    config: Object.fromEntries(config),
    references: [
      ...[...parts.values()].flatMap(({ references }) => references),
      ...ofRepetition(instance, surroundings),
    ],
    evaluate(name, scope) {
      const part = parts.get(name);
      if (part === undefined) return null;
      if (part.references.length === 0) return part.value;
      const typed = evaluated(part.attribute, instance, surroundings, scope);
      return typed === undefined ? UNKNOWN : attributeValue(typed, part.attribute.schema);
    },
    isSecret(name, scope) {
      const part = parts.get(name);
      if (part === undefined || part.secret || part.references.length === 0) return part?.secret === true;
      return secretIn(part.attribute, instance, surroundings, scope);
    },
    dependsOn: draft.dependsOn.map((named) => named.name),
    locate: locatorOf(draft),
  };
}

function locatorOf({ block, attributes }: Draft): DesiredData["locate"] {
  const entries = new Map([...attributes].map(([name, { entry }]) => [name, entry]));
  const tree: MapTree = { form: "map", entries, span: block.keySpan };
  return (path) => {
    const type = attributes.get(String(path[0]))?.schema.type;
    // A set is in an order of its own, not in that in which it is written.
    const ordered = typeof type !== "object" || !("set" in type);
    return rangeOf(locate(tree, ordered ? path : path.slice(0, 1)));
  };
}

function partOf(name: string, attribute: DraftAttribute, instance: Instance, common: Common, address: string): Part {
  const { surroundings, declared } = common;
  const { compiled, schema } = attribute;
  if (compiled === undefined) return { attribute, value: UNKNOWN, secret: false, references: [] };
  const references = compiled.traversals.flatMap((traversal) =>
    rootsOf(surroundings, traversal, instance).map((root) =>
      referenceTo(root, traversal.offset, [name, ...traversal.path]),
    ),
  );
  const remark = remarkOf(name, schema, address);
  const ephemeral = compiled.traversals.find(({ root, steps: [own] }) => isEphemeral(root, String(own), surroundings));
  if (ephemeral !== undefined && schema.writeOnly !== true) {
    const summary = `${name} is recorded, and ${ephemeral.text} is ephemeral: it may only go where nothing is recorded`;
    declared.diags.add(attribute.entry.keySpan, "config.expression", summary, {
      ...remark,
      fix: "Use a `sensitive` variable, or a write-only attribute.",
    });
  }
  try {
    const typed = evaluate(compiled.expression, surroundings.names(instance));
    return { attribute, value: attributeValue(typed, schema), secret: isSecret(typed), references };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, compiled.tree, declared.diags, remark);
    return { attribute, value: UNKNOWN, secret: false, references: [] };
  }
}

function evaluated(
  { compiled }: DraftAttribute,
  instance: Instance,
  surroundings: Surroundings,
  scope: Scope,
): Typed | undefined {
  return compiled && evaluate(compiled.expression, surroundings.names(instance, scope));
}

/** What cannot be evaluated has no value that could be shown. */
function secretIn(attribute: DraftAttribute, instance: Instance, surroundings: Surroundings, scope: Scope): boolean {
  try {
    const typed = evaluated(attribute, instance, surroundings, scope);
    return typed !== undefined && isSecret(typed);
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

export function referenceTo(
  { address, path, text }: Root,
  offset: number,
  at: PlacedReference["path"],
): PlacedReference {
  return { reference: { to: "resource", address, path, text, offset }, path: at };
}

/** What an instance hangs on by being there at all. */
function ofRepetition({ expansion, key }: Instance, surroundings: Surroundings): PlacedReference[] {
  const { over, roots } = expansion;
  const one = over === undefined ? undefined : surroundings.expansions.get(over);
  if (one === undefined) return roots.map((root) => referenceTo(root, 0, []));
  return [referenceTo({ address: addressOf(one, key), path: [], text: over ?? "" }, 0, [])];
}

/** An attribute for people. A secret is never written out: where it is no expression, only that it is declared. */
function shownPart({ attribute, value, secret }: Part, instance: Instance, surroundings: Surroundings): Json {
  const { compiled, entry, schema } = attribute;
  if (compiled === undefined) return null;
  const literal = compiled.traversals.length === 0;
  if (literal && (schema.writeOnly === true || schema.sensitive === true)) return true;
  if (!secret && schema.writeOnly !== true && schema.sensitive !== true && !hasUnknown(value)) return value as Json;
  return shown(entry.value, compiled, { instance, surroundings });
}
