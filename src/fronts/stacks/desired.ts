import {
  attempt,
  compileJson,
  evaluate,
  isSecret,
  jsonOfType,
  type Names,
  originOf,
  type PlacedTraversal,
  type Typed,
  toValue,
  traversalsOf,
} from "../../core/expression/index.ts";
import {
  type DesiredData,
  type DesiredOutput,
  type EvalScope,
  hasUnknown,
  inQuotes,
  type Json,
  type Origin,
  type OutputValue,
  type PlacedReference,
  UNKNOWN,
  type Value,
} from "../../core/model/index.ts";
import { checkName } from "../source/diagnostics.ts";
import { rangeOf } from "../source/source.ts";
import { locate, type MapTree, type Tree, valueSpan } from "../source/tree.ts";
import { type Block, checkKeys, literalFlag, literalText, literalTexts } from "./blocks.ts";
import { type BlockDraft, type DraftAttribute, remarkOf } from "./draft.ts";
import { attributeValue, type Compiled, reporting } from "./expressions.ts";
import { problem } from "./messages.ts";
import { checkDependsOn, compileNamed } from "./references.ts";
import { type Expansion, type Instance, instanceAddress, type Root, type StackContext } from "./stack-context.ts";

/** One attribute of an instance, evaluated while no resource is known. This file builds the declaration of a stack. */

interface Part {
  readonly attribute: DraftAttribute;
  /** Value while all resources are unknown. */
  readonly value: Value;
  readonly origin: Origin | undefined;
  readonly references: readonly PlacedReference[];
}

/** Returns the instances of a resource or data source. */
export function instancesOf(expansion: Expansion, context: StackContext): DesiredData[] {
  refuseReplaceOnChange(expansion.draft, context);
  return Array.from(expansion.keys, (key) =>
    instanceOf({ expansion, key, address: instanceAddress(expansion, key) }, context),
  );
}

/**
 * Rejects `replace_on_change`, which allows Terraform to order again after a change. In hostform, this needs a flag in each
 * run.
 */
function refuseReplaceOnChange({ base, replaceOnChange }: BlockDraft, context: StackContext): void {
  if (replaceOnChange?.compiled === undefined) return;
  const { compiled, schema, entry } = replaceOnChange;
  const { diags } = context;
  const remark = { address: base, attribute: ["replace_on_change"] };
  const value = reporting(compiled.tree, diags, remark, () =>
    attributeValue(evaluate(compiled.expression, context.names()), schema),
  );
  if (value === undefined || value === false || value === null) return;
  diags.add(entry.keySpan, problem("config.unsupported/replace_on_change", { base: inQuotes(base), ...remark }));
}

function instanceOf(instance: Instance, context: StackContext): DesiredData {
  const { expansion, address } = instance;
  const { draft } = expansion;
  const parts = new Map<string, Part>();
  for (const [name, attribute] of draft.attributes) {
    const part = partOf(name, attribute, instance, context);
    // Null means "not declared".
    if (part.value !== null) parts.set(name, part);
  }
  const valueIn = ({ attribute: { compiled } }: Part, scope: EvalScope): Typed | undefined =>
    compiled && evaluate(compiled.expression, context.names(instance, scope));
  return {
    address,
    type: draft.type,
    provider: draft.provider?.name ?? "default",
    config: Object.fromEntries([...parts].map(([name, part]) => [name, shownPart(part, instance, context)])),
    references: [...[...parts.values()].flatMap(({ references }) => references), ...ofRepetition(instance, context)],
    evaluate(name, scope) {
      const part = parts.get(name);
      if (part === undefined) return null;
      if (part.references.length === 0) return part.value;
      const typed = valueIn(part, scope);
      return typed === undefined ? UNKNOWN : attributeValue(typed, part.attribute.schema);
    },
    originOf(name, scope) {
      const part = parts.get(name);
      if (part === undefined || part.references.length === 0) return part?.origin;
      const compute = () => {
        const typed = valueIn(part, scope);
        return typed && originOf(typed);
      };
      // Without a value, there is nothing to hide.
      return attempt(compute, () => part.origin);
    },
    dependsOn: draft.dependsOn.map((named) => named.name),
    locate: locatorOf(draft),
  };
}

function locatorOf({ block, attributes }: BlockDraft): DesiredData["locate"] {
  const entries = new Map([...attributes].map(([name, { entry }]) => [name, entry]));
  const tree: MapTree = { form: "map", entries, span: block.keySpan };
  return (path) => {
    const type = attributes.get(String(path[0]))?.schema.type;
    // A set has another order than its declaration, so only its whole location is known.
    const ordered = typeof type !== "object" || !("set" in type);
    return rangeOf(locate(tree, ordered ? path : path.slice(0, 1)));
  };
}

function partOf(name: string, attribute: DraftAttribute, instance: Instance, context: StackContext): Part {
  const { compiled, schema, entry } = attribute;
  const broken: Part = { attribute, value: UNKNOWN, origin: undefined, references: [] };
  if (compiled === undefined) return broken;
  const { diags } = context;
  const remark = remarkOf(name, schema, instance.address);
  const ephemeral = context.ephemeralIn(compiled);
  if (ephemeral !== undefined && schema.writeOnly !== true) {
    diags.add(entry.keySpan, problem("config.expression/ephemeral", { name, text: ephemeral.text, ...remark }));
  }
  const known = reporting<Pick<Part, "value" | "origin">>(compiled.tree, diags, remark, () => {
    const typed = evaluate(compiled.expression, context.names(instance));
    return { value: attributeValue(typed, schema), origin: originOf(typed) };
  });
  if (known === undefined) return broken;
  return { attribute, ...known, references: referencesIn(compiled, context, [name], instance) };
}

/** Returns the references in a value. @param at Path of the value in the resource or output. */
function referencesIn(
  { traversals }: Compiled,
  context: StackContext,
  at: PlacedReference["path"] = [],
  instance?: Instance,
): PlacedReference[] {
  return traversals.flatMap((traversal) =>
    context.rootsOf(traversal, instance).map((root) => referenceTo(root, traversal.offset, [...at, ...traversal.path])),
  );
}

function referenceTo({ address, path, text }: Root, offset: number, at: PlacedReference["path"]): PlacedReference {
  return { reference: { to: "resource", address, path, text, offset }, path: at };
}

/** Returns the references in `count` or `for_each` of an instance. */
function ofRepetition({ expansion, key }: Instance, { expansions }: StackContext): PlacedReference[] {
  const { over, roots } = expansion;
  const one = over === undefined ? undefined : expansions.get(over);
  if (one === undefined) return roots.map((root) => referenceTo(root, 0, []));
  return [referenceTo({ address: instanceAddress(one, key), path: [], text: over ?? "" }, 0, [])];
}

/** Returns an attribute for display. A literal secret is `true`. */
function shownPart({ attribute, value, origin }: Part, instance: Instance, context: StackContext): Json {
  const { compiled, entry, schema } = attribute;
  if (compiled === undefined) return null;
  const hidden = schema.writeOnly === true || schema.sensitive === true;
  if (compiled.traversals.length === 0 && hidden) return true;
  if (origin === undefined && !hidden && !hasUnknown(value)) return value as Json;
  return shown(entry.value, instance, context);
}

/**
 * Returns a value for display before the account is read. Unknown parts are texts of expressions, with the key of this
 * instance inserted.
 */
function shown(tree: Tree, instance: Instance, context: StackContext): Json {
  if (tree.form === "list") return tree.items.map((item) => shown(item, instance, context));
  if (tree.form === "map") {
    return Object.fromEntries([...tree.entries].map(([key, entry]) => [key, shown(entry.value, instance, context)]));
  }
  if (typeof tree.value !== "string") return tree.value;
  const text = tree.value;
  const expression = compileJson(text);
  const compute = () => {
    const typed = evaluate(expression, context.names(instance));
    const value = toValue(typed);
    return isSecret(typed) || hasUnknown(value) ? undefined : (value as Json);
  };
  const value = attempt(compute, () => undefined);
  return value === undefined ? written(text, traversalsOf(expression), instance, context) : value;
}

/** Replaces `each.key`, `each.value` and `count.index` in a text with the values of this instance. */
function written(
  text: string,
  traversals: readonly PlacedTraversal[],
  instance: Instance,
  context: StackContext,
): string {
  let result = "";
  let at = 0;
  for (const traversal of traversals.toSorted((a, b) => a.offset - b.offset)) {
    const own = nameFor(traversal, instance, context);
    const end = traversal.offset + own.of.length;
    if (own.text === undefined || traversal.offset < at || !text.startsWith(own.of, traversal.offset)) continue;
    result += text.slice(at, traversal.offset) + own.text;
    at = end;
  }
  return result + text.slice(at);
}

function nameFor(
  { root, steps: [first] }: PlacedTraversal,
  { expansion, key }: Instance,
  { expansions }: StackContext,
): { readonly of: string; readonly text?: string } {
  const of = `${root}.${String(first)}`;
  if (root === "count") return { of, text: String(key) };
  if (root !== "each" || typeof key !== "string") return { of };
  if (first === "key") return { of, text: JSON.stringify(key) };
  const over = expansions.get(expansion.over ?? "");
  if (over !== undefined) return { of, text: instanceAddress(over, key) };
  const forEach = expansion.draft.forEach?.compiled?.json;
  const whole = typeof forEach === "string" ? /^\$\{\s*([\w.-]+)\s*\}$/.exec(forEach)?.[1] : undefined;
  return { of, text: `${whole ?? "each.value"}[${JSON.stringify(key)}]` };
}

/** Reads the `output` blocks. Reports errors in known values. */
export function readOutputs(context: StackContext): DesiredOutput[] {
  return [...context.module.outputs].flatMap(([name, block]) => readOutput(name, block, context) ?? []);
}

function readOutput(name: string, { body, keySpan }: Block, context: StackContext): DesiredOutput | undefined {
  const { diags } = context;
  if (!checkName(name, keySpan, "output", diags)) return undefined;
  checkKeys({ body }, "output", diags);
  const ephemeral = body.entries.get("ephemeral");
  if (literalFlag(ephemeral, diags) === true) {
    diags.add(ephemeral?.keySpan, problem("config.unsupported/ephemeral_output"));
  }
  checkDependsOn(literalTexts(body.entries.get("depends_on"), diags), `output.${name}`, context);
  const sensitive = literalFlag(body.entries.get("sensitive"), diags) ?? false;
  const description = literalText(body.entries.get("description"), diags);
  const entry = body.entries.get("value");
  if (entry === undefined) {
    return diags.add(keySpan, problem("config.missing_attribute/output", { name }));
  }
  const remark = { address: `output.${name}`, attribute: ["value"] };
  const compiled = compileNamed(entry.value, context, {}, remark);
  if (compiled === undefined) return undefined;
  const ephemeralName = context.ephemeralIn(compiled);
  if (ephemeralName !== undefined) {
    diags.add(compiled.tree.span, problem("config.expression/ephemeral_output", { name, text: ephemeralName.text }));
  } else {
    // Evaluate now, while all resources are unknown, to report errors early.
    const known = reporting<OutputValue>(compiled.tree, diags, remark, () => outputValue(compiled, context.names()));
    if (known?.origin !== undefined && !sensitive) {
      diags.add(compiled.tree.span, problem("config.secret/output", { name, text: known.origin.from.join(", ") }));
    }
  }
  return {
    name,
    ...(description !== undefined && { description }),
    sensitive,
    references: referencesIn(compiled, context),
    evaluate: (scope) => outputValue(compiled, context.names(undefined, scope)),
    range: rangeOf(valueSpan(entry)),
  };
}

function outputValue({ expression }: Compiled, names: Names): OutputValue {
  const typed = evaluate(expression, names);
  return { value: toValue(typed, true), type: jsonOfType(typed.type), origin: originOf(typed) };
}
