import type { Kind } from "../../core/kinds/kind.ts";
import { type Attribute, isNested, type Lifecycle, type Schema } from "../../core/model/index.ts";
import { type DiagnosticCollector, type Remark, reportComputed } from "../source/diagnostics.ts";
import { type Entry, isGiven, type SpannedName, toJson, valueSpan } from "../source/tree.ts";
import {
  argumentsOf,
  type Block,
  checkKeys,
  KEYS,
  literalFlag,
  literalTexts,
  onlyBlock,
  refusedKey,
} from "./blocks.ts";
import { type Compiled, compile } from "./expressions.ts";
import { problem } from "./messages.ts";
import { PROVIDER } from "./module.ts";

/** Reads the blocks of resources and data sources, with `lifecycle`, before any evaluation. */

/** A declared resource or data source, before its instances are known. */
export interface BlockDraft {
  /** Address without instance key, such as `hosting_service.acme` or `data.hosting_plans.all`. */
  readonly base: string;
  readonly type: string;
  /** Kind of the resource. Undefined for a data source. */
  readonly kind: Kind | undefined;
  readonly schema: Schema;
  readonly block: Block;
  readonly attributes: ReadonlyMap<string, DraftAttribute>;
  /** `replace_on_change`, an attribute that only the Terraform provider supports. */
  readonly replaceOnChange: DraftAttribute | undefined;
  readonly count: Repetition | undefined;
  readonly forEach: Repetition | undefined;
  /** `enabled` in `lifecycle`, of OpenTofu. */
  readonly enabled: Repetition | undefined;
  readonly provider: SpannedName | undefined;
  readonly dependsOn: readonly SpannedName[];
  /** `lifecycle`. `preventDestroy` and `skipDestroy` apply even if the block has no instances. */
  readonly lifecycle: (Lifecycle & { readonly preventDestroy?: boolean; readonly skipDestroy?: boolean }) | undefined;
}

export interface DraftAttribute {
  readonly entry: Entry;
  readonly schema: Attribute;
  /** Compiled value. Undefined after a reported error. */
  readonly compiled: Compiled | undefined;
}

/** `count`, `for_each` or `enabled`. */
export interface Repetition {
  readonly entry: Entry;
  /** Compiled value. Undefined after a reported error. */
  readonly compiled: Compiled | undefined;
}

/** Attributes that configure the Terraform provider, not the object. */
const FRONT = ["timeouts", "replace_on_change"] as const;

/** Context for reading a block of a resource or data source. Only resources have a kind. */
interface DraftReading extends Pick<BlockDraft, "base" | "kind" | "schema"> {
  readonly diags: DiagnosticCollector;
}

/** Reads the block of a resource or data source. Reports invalid arguments, and keeps valid ones. */
export function readDraft(block: Block, reading: DraftReading): BlockDraft {
  const { base, kind, schema, diags } = reading;
  const { body, labels } = block;
  const keys = kind === undefined ? KEYS.data : KEYS.resource;
  const attributes = new Map<string, DraftAttribute>();
  let replaceOnChange: DraftAttribute | undefined;
  for (const entry of argumentsOf(body)) {
    const { key, keySpan } = entry;
    if (keys.known.includes(key) || refusedKey(entry, keys, diags, { address: base })) continue;
    const attribute = Object.hasOwn(schema.attributes, key) ? schema.attributes[key] : undefined;
    if (attribute === undefined) reportUnknown(entry, reading);
    else if (!isGiven(entry)) continue;
    else if (!isDeclarable(attribute)) reportComputed(key, keySpan, declarableIn(schema), base, diags);
    else {
      checkNested(entry, attribute, base, diags);
      const compiled = compile(entry.value, diags, remarkOf(key, attribute, base));
      const known = { entry, schema: attribute, compiled };
      if (key === "timeouts" && kind !== undefined) {
        // One warning for all resources.
        diags.warnOnce(keySpan, problem("config.unsupported/timeouts"));
      } else if (key === "replace_on_change" && kind !== undefined) replaceOnChange = known;
      else attributes.set(key, known);
    }
  }
  const lifecycle = onlyBlock(body.entries.get("lifecycle"), diags);
  const [count, forEach, enabled] = repetitionsOf(block, lifecycle, reading);
  return {
    base,
    type: labels[0]?.text ?? "",
    kind,
    schema,
    block,
    attributes,
    replaceOnChange,
    count,
    forEach,
    enabled,
    provider: readProviderName(body.entries.get("provider"), base, diags),
    dependsOn: literalTexts(body.entries.get("depends_on"), diags),
    lifecycle: readLifecycle(lifecycle, reading),
  };
}

/** Returns the location of an attribute for messages. Hides the expressions of secrets. */
export function remarkOf(name: string, { sensitive, writeOnly }: Attribute, address: string): Remark {
  return { address, attribute: [name], isHidden: sensitive === true || writeOnly === true };
}

/** Reports unknown attributes of nested objects. Terraform ignores them. */
function checkNested({ value: tree }: Entry, { type }: Attribute, address: string, diags: DiagnosticCollector): void {
  if (!isNested(type)) return;
  const items = tree.form === "list" && type.nesting === "list" ? tree.items : type.nesting === "single" ? [tree] : [];
  const known = Object.keys(type.attributes);
  for (const part of items.flatMap((item) => (item.form === "map" ? [...item.entries.values()] : []))) {
    const { key, keySpan } = part;
    const schema = Object.hasOwn(type.attributes, key) ? type.attributes[key] : undefined;
    if (schema !== undefined) checkNested(part, schema, address, diags);
    else diags.add(keySpan, problem("config.unknown_key/nested", { ...diags.unknown(key, known), address }));
  }
}

function reportUnknown(entry: Entry, { base: address, schema, kind, diags }: DraftReading): void {
  const declarable = declarableIn(schema);
  const own = declarable.filter((name) => !(FRONT as readonly string[]).includes(name));
  const { near } = diags.unknown(entry.key, [...declarable, ...KEYS.resource.known]);
  const given = { noun: kind?.noun ?? "data source", key: entry.key, near, own, address };
  diags.add(entry.keySpan, problem("config.unknown_key/attribute", given));
}

const isDeclarable = ({ required, optional }: Attribute) => required === true || optional === true;

const declarableIn = ({ attributes }: Schema) =>
  Object.entries(attributes).flatMap(([name, attribute]) => (isDeclarable(attribute) ? [name] : []));

function repetitionsOf({ body }: Block, lifecycle: Block | undefined, { base: address, diags }: DraftReading) {
  const read = (key: string, within: Block["body"] | undefined = body): Repetition | undefined => {
    const entry = within?.entries.get(key);
    return entry && { entry, compiled: compile(entry.value, diags, { address, attribute: [key] }) };
  };
  const all = [read("count"), read("for_each"), lifecycle && read("enabled", lifecycle.body)] as const;
  const [first, second] = all.filter((one) => one !== undefined);
  if (first === undefined || second === undefined) return all;
  diags.add(second.entry.keySpan, problem("config.structure/repetitions", { address }));
  return all.map((one) => (one === first ? one : undefined));
}

/** Converts `hosting` to `default`, and `hosting.eu` to `eu`. */
export function readProviderName(
  entry: Entry | undefined,
  address: string,
  diags: DiagnosticCollector,
): SpannedName | undefined {
  if (!isGiven(entry)) return undefined;
  const span = valueSpan(entry);
  const name = toJson(entry.value);
  if (name === PROVIDER) return { name: "default", span };
  const [, alias] = typeof name === "string" ? (/^hosting\.([A-Za-z][A-Za-z0-9_-]*)$/.exec(name) ?? []) : [];
  if (alias !== undefined) return { name: alias, span };
  return diags.add(span, problem("config.structure/provider", { address }));
}

/** Reads `lifecycle`. */
function readLifecycle(block: Block | undefined, reading: DraftReading): BlockDraft["lifecycle"] {
  const { base: address, kind, diags } = reading;
  if (block === undefined) return undefined;
  checkKeys(block, kind !== undefined ? "resource.lifecycle" : "data.lifecycle", diags, { address });
  const { entries } = block.body;
  const preventDestroy = literalFlag(entries.get("prevent_destroy"), diags);
  const createBeforeDestroy = literalFlag(entries.get("create_before_destroy"), diags);
  const skipDestroy = literalFlag(entries.get("destroy"), diags) === false;
  const ignoreChanges = readIgnored(entries.get("ignore_changes"), reading);
  return {
    ...(preventDestroy !== undefined && { preventDestroy }),
    ...(skipDestroy && { skipDestroy }),
    ...(createBeforeDestroy !== undefined && { createBeforeDestroy }),
    ...(ignoreChanges !== undefined && { ignoreChanges }),
  };
}

function readIgnored(entry: Entry | undefined, reading: DraftReading): Lifecycle["ignoreChanges"] {
  if (!isGiven(entry)) return undefined;
  const { value: tree } = entry;
  const { base: address, schema, diags } = reading;
  const known = Object.keys(schema.attributes);
  if (tree.form === "leaf" && tree.value === "all") return "all";
  if (tree.form === "leaf") {
    return diags.add(valueSpan(entry), problem("config.structure/ignore_changes", { address }));
  }
  const names = literalTexts(entry, diags).flatMap(({ name: text, span }) => {
    const [, name = text, rest = ""] = /^([A-Za-z_][A-Za-z0-9_-]*)(.*)$/s.exec(text) ?? [];
    if (!known.includes(name)) {
      diags.add(span, problem("config.unknown_key/ignore_changes", { ...diags.unknown(name, known), address }));
      return [];
    }
    if (rest !== "") {
      diags.add(span, problem("config.unsupported/ignore_part", { name, address }));
      return [];
    }
    return [name];
  });
  return names.length === 0 ? undefined : names;
}
