import type { Kind } from "../../core/kinds/kind.ts";
import { type Attribute, isNested, type Schema } from "../../core/model/index.ts";
import { type DiagnosticCollector, didYouMean } from "../source/diagnostics.ts";
import type { SpannedName } from "../source/tree.ts";
import { type Entry, toJson, valueSpan } from "../source/tree.ts";
import { argumentsOf, type Block, textsOf } from "./blocks.ts";
import { type Compiled, compile } from "./compile.ts";
import { KEYS, type Keys } from "./keys.ts";
import { type DraftLifecycle, readLifecycle } from "./lifecycle.ts";
import { PROVIDER } from "./module.ts";

/** A resource or a data source as it stands in a stack, before it is known how many instances it has. */
export interface Draft {
  /** `hosting_service.acme`, `data.hosting_plans.all`. */
  readonly base: string;
  readonly type: string;
  /** Of a resource. */
  readonly kind: Kind | undefined;
  readonly schema: Schema;
  readonly block: Block;
  readonly attributes: ReadonlyMap<string, DraftAttribute>;
  /** Whether attributes steer the provider alone: `replace_on_change`. */
  readonly replaceOnChange: DraftAttribute | undefined;
  readonly count: Repetition | undefined;
  readonly forEach: Repetition | undefined;
  readonly provider: SpannedName | undefined;
  readonly dependsOn: readonly SpannedName[];
  readonly lifecycle: DraftLifecycle | undefined;
}

export interface DraftAttribute {
  readonly entry: Entry;
  readonly schema: Attribute;
  /** Undefined after a mistake, which is reported. */
  readonly compiled: Compiled | undefined;
}

/** `count` or `for_each`; its value undefined after a mistake. */
export interface Repetition {
  readonly entry: Entry;
  readonly compiled: Compiled | undefined;
}

/** Attributes that steer Terraform's provider and concern no object. */
const FRONT = ["timeouts", "replace_on_change"] as const;

/** Reads a block of a resource (with its kind) or of a data source. What is wrong in it is reported; the rest is kept. */
export function readDraft(
  base: string,
  block: Block,
  schema: Schema,
  kind: Kind | undefined,
  diags: DiagnosticCollector,
): Draft {
  const { body } = block;
  const keys: Keys = kind === undefined ? KEYS.data : KEYS.resource;
  const attributes = new Map<string, DraftAttribute>();
  let replaceOnChange: DraftAttribute | undefined;
  for (const entry of argumentsOf(body)) {
    const { key } = entry;
    if (keys.known.includes(key)) continue;
    const fix = Object.hasOwn(keys.refused, key) ? keys.refused[key] : undefined;
    if (fix !== undefined) {
      diags.add(entry.keySpan, "config.unsupported", `\`${key}\` is not supported in a stack`, {
        address: base,
        fix,
      });
      continue;
    }
    const attribute = Object.hasOwn(schema.attributes, key) ? schema.attributes[key] : undefined;
    if (attribute === undefined) reportUnknown(entry, base, schema, kind, diags);
    else if (attribute.required !== true && attribute.optional !== true) reportGiven(entry, base, schema, diags);
    else if (isGiven(entry)) {
      const known = { entry, schema: attribute, compiled: compileAttribute(entry, attribute, base, diags) };
      if (key === "timeouts" && kind !== undefined) reportTimeouts(entry, diags);
      else if (key === "replace_on_change" && kind !== undefined) replaceOnChange = known;
      else attributes.set(key, known);
    }
  }
  const [count, forEach] = repetitionsOf(block, base, diags);
  return {
    base,
    type: block.labels[0]?.text ?? "",
    kind,
    schema,
    block,
    attributes,
    replaceOnChange,
    count,
    forEach,
    provider: readProviderName(body.entries.get("provider"), base, diags),
    dependsOn: textsOf(body.entries.get("depends_on"), diags).map(({ text: name, span }) => ({ name, span })),
    lifecycle: readLifecycle(body.entries.get("lifecycle"), base, schema, kind !== undefined, diags),
  };
}

const isGiven = ({ value }: Entry) => value.form !== "leaf" || value.value !== null;

function compileAttribute(
  entry: Entry,
  schema: Attribute,
  base: string,
  diags: DiagnosticCollector,
): Compiled | undefined {
  checkNested(entry, schema, base, diags);
  return compile(entry.value, diags, remarkOf(entry.key, schema, base));
}

/** What is said with a mistake in an attribute's expression. That of a secret is not repeated. */
export function remarkOf(name: string, { sensitive, writeOnly }: Attribute, address: string) {
  const discreet = sensitive === true || writeOnly === true;
  return {
    address,
    attribute: [name],
    ...(discreet && { detail: "The attribute is a secret; it is not repeated here." }),
  };
}

/** Terraform would pass over what a nested object does not have. */
function checkNested({ value: tree }: Entry, { type }: Attribute, address: string, diags: DiagnosticCollector): void {
  if (!isNested(type)) return;
  if (tree.form === "list" && type.nesting === "list") {
    for (const item of tree.items) {
      if (item.form === "map") checkParts([...item.entries.values()], type.attributes, address, diags);
    }
  } else if (tree.form === "map" && type.nesting === "single") {
    checkParts([...tree.entries.values()], type.attributes, address, diags);
  }
}

function checkParts(
  parts: readonly Entry[],
  known: Schema["attributes"],
  address: string,
  diags: DiagnosticCollector,
): void {
  for (const part of parts) {
    const schema = Object.hasOwn(known, part.key) ? known[part.key] : undefined;
    if (schema !== undefined) checkNested(part, schema, address, diags);
    else {
      const near = diags.nearest(part.key, Object.keys(known));
      const summary = `"${part.key.slice(0, 100)}" is not known here.${didYouMean(near)}`;
      diags.add(part.keySpan, "config.unknown_key", summary, {
        address,
        detail: `It can have ${Object.keys(known).join(", ")}.`,
      });
    }
  }
}

function reportUnknown(
  entry: Entry,
  address: string,
  schema: Schema,
  kind: Kind | undefined,
  diags: DiagnosticCollector,
): void {
  const { attributes } = schema;
  const declarable = Object.keys(attributes).filter((name) => attributes[name]?.required || attributes[name]?.optional);
  const own = declarable.filter((name) => !(FRONT as readonly string[]).includes(name));
  const near = diags.nearest(entry.key, [...declarable, ...KEYS.resource.known]);
  const noun = kind?.noun ?? "data source";
  const summary = `A ${noun} has no attribute "${entry.key.slice(0, 100)}".${didYouMean(near)}`;
  diags.add(entry.keySpan, "config.unknown_key", summary, {
    address,
    detail: own.length === 0 ? "It has none that can be declared." : `It can have ${own.join(", ")}.`,
  });
}

function reportGiven(entry: Entry, address: string, { attributes }: Schema, diags: DiagnosticCollector): void {
  const { key } = entry;
  // `plan: 11` was meant to be `plan_id`.
  const near = Object.keys(attributes).find((name) => name.startsWith(`${key}_`) && attributes[name]?.optional);
  const summary = `"${key}" is given by the API and cannot be declared.${didYouMean(near)}`.replace(/\.$/, "");
  diags.add(entry.keySpan, "config.computed", summary, {
    address,
    fix: `Remove it; elsewhere it can be used as \`\${${address}.${key}}\`.`,
  });
}

const TIMEOUTS = "`timeouts` is passed over: hostform waits as long as `--wait-timeout` says";

/** Once is enough, however many resources have one. */
function reportTimeouts({ keySpan }: Entry, diags: DiagnosticCollector): void {
  diags.warnOnce(keySpan, "config.unsupported", TIMEOUTS, { fix: "Nothing to do; Terraform goes by it." });
}

function repetitionsOf({ body }: Block, address: string, diags: DiagnosticCollector): [Repetition?, Repetition?] {
  const read = (key: "count" | "for_each"): Repetition | undefined => {
    const entry = body.entries.get(key);
    return entry && { entry, compiled: compile(entry.value, diags, { address, attribute: [key] }) };
  };
  const [count, forEach] = [read("count"), read("for_each")];
  if (count !== undefined && forEach !== undefined) {
    const fix = "Keep one of the two.";
    diags.add(forEach.entry.keySpan, "config.structure", "`count` and `for_each` exclude each other", {
      address,
      fix,
    });
    return [count, undefined];
  }
  return [count, forEach];
}

/** `hosting` -> `default`, `hosting.eu` -> `eu`. */
export function readProviderName(
  entry: Entry | undefined,
  address: string,
  diags: DiagnosticCollector,
): SpannedName | undefined {
  if (entry === undefined || !isGiven(entry)) return undefined;
  const span = valueSpan(entry);
  const name = toJson(entry.value);
  if (name === PROVIDER) return { name: "default", span };
  const [, alias] = typeof name === "string" ? (/^hosting\.([A-Za-z][A-Za-z0-9_-]*)$/.exec(name) ?? []) : [];
  if (alias !== undefined) return { name: alias, span };
  diags.add(span, "config.structure", "`provider` must name a provider of hosting", {
    address,
    fix: 'Write `"hosting"`, or `"hosting.ALIAS"` for a provider block with that alias.',
  });
  return undefined;
}
