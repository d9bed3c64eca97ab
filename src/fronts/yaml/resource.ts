import { hasReferences, parseReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { attempt, formatAddress, parseAddress } from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector, reportComputed } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, isGiven, type MapTree, type SpannedName, stringOf, textOf, valueSpan } from "../source/tree.ts";
import { TEMPLATE_KEYS } from "./expand.ts";
import { problem } from "./messages.ts";
import { isSecretSource } from "./settings.ts";

/** Reads the blocks of resources and their nested resources. */

/** A declared resource, before its references are checked. */
export interface ResourceDraft {
  readonly address: string;
  readonly kind: Kind;
  /** Key of the resource in the declaration. */
  readonly keySpan: Span;
  /** Attributes without the reserved keys. */
  readonly attributes: ReadonlyMap<string, Entry>;
  /** Attributes with a secret source, by name. */
  readonly sources: ReadonlyMap<string, Entry>;
  readonly provider: SpannedName | undefined;
  readonly dependsOn: readonly SpannedName[];
  readonly importId: string | undefined;
  /** Client of the resource. A nested resource has the client of the outer resource. */
  readonly client: string | undefined;
  /** False if only the address could be read. */
  readonly readable: boolean;
}

/** The document that contains a resource's block. */
interface DocumentContext {
  readonly nested: NestedKinds;
  readonly diags: DiagnosticCollector;
  /** Provider of blocks without `provider`: the `provider` of the document. */
  readonly provider: SpannedName | undefined;
}

/** Nested kinds by section, such as `grants` in a service. */
type NestedKinds = ReadonlyMap<string, Kind>;

export const nestedIn = ({ type }: Kind, kinds: Kinds): NestedKinds =>
  new Map([...kinds.values()].flatMap((one) => (one.nested?.in === type ? [[one.nested.section, one] as const] : [])));

/** Keys of a block that are not attributes. */
const RESERVED: readonly string[] = ["provider", "client", "depends_on", "import", ...TEMPLATE_KEYS];

/** Keys of a nested block that are not attributes. Provider and client are those of the outer block. */
const RESERVED_IN_NESTED: readonly string[] = ["depends_on", "import"];

/** Reads the block `NAME: {…}`: the resource and its nested resources. Checks names and structure, not values. */
export function readResource(entry: Entry, kind: Kind, context: DocumentContext): ResourceDraft[] {
  const { nested, diags, provider } = context;
  const { key: name, keySpan, value: body } = entry;
  const hint = "; a domain can be written as acme-example";
  if (!checkName(name, keySpan, kind.noun, diags, hint)) return [];
  const address = formatAddress({ type: kind.type, name });
  const empty = emptyDraft(address, kind, keySpan, provider);
  if (body.form !== "map") {
    diags.add(valueSpan(entry), problem("config.structure/resource", { noun: kind.noun, name, address }));
    return [empty];
  }
  const draft = readBody(empty, body, RESERVED, [...nested.keys()], diags);
  const inner = [...nested].flatMap(([section, of]) => readNested(body.entries.get(section), of, draft, diags));
  return [draft, ...inner];
}

/** Returns a draft with only an address, so that references to the resource cause no further errors. */
function emptyDraft(address: string, kind: Kind, keySpan: Span, provider: SpannedName | undefined): ResourceDraft {
  return {
    address,
    kind,
    keySpan,
    attributes: new Map(),
    sources: new Map(),
    provider,
    dependsOn: [],
    importId: undefined,
    client: undefined,
    readable: false,
  };
}

/**
 * Reads the attributes and reserved keys of a block.
 * @param sections Keys of nested sections, which are read elsewhere.
 */
function readBody(
  empty: ResourceDraft,
  body: MapTree,
  reserved: readonly string[],
  sections: readonly string[],
  diags: DiagnosticCollector,
): ResourceDraft {
  const { address, kind } = empty;
  const declarable = () => Object.keys(kind.attributes.shape).filter((name) => !isComputed(kind, name));
  const attributes = new Map<string, Entry>();
  const misspelt = new Map<string, Entry>();
  for (const entry of body.entries.values()) {
    const { key } = entry;
    if (reserved.includes(key) || sections.includes(key)) continue;
    if (!Object.hasOwn(kind.attributes.shape, key)) {
      const known = [...declarable(), ...sections, ...reserved];
      const near = diags.nearest(key, known);
      if (near !== undefined) misspelt.set(near, entry);
      diags.add(entry.keySpan, problem("config.unknown_key/attribute", { noun: kind.noun, key, near, known, address }));
    } else if (isComputed(kind, key)) reportComputed(key, entry.keySpan, declarable(), address, diags);
    else attributes.set(key, entry);
  }
  // Use a misspelt attribute as the suggested one, so that this is not also reported as missing.
  for (const [meant, entry] of misspelt) {
    if (!attributes.has(meant) && declarable().includes(meant)) attributes.set(meant, entry);
  }
  const sources = new Map<string, Entry>();
  for (const [name, entry] of attributes) if (isSecretSource(kind, name, entry.value)) sources.set(name, entry);
  for (const name of sources.keys()) attributes.delete(name);
  const named = reserved.includes("provider") ? readProviderName(body.entries.get("provider"), diags) : undefined;
  return {
    ...empty,
    attributes,
    sources,
    provider: named ?? empty.provider,
    dependsOn: readDependsOn(body.entries.get("depends_on"), address, diags),
    importId: readImport(body.entries.get("import"), address, diags),
    client: reserved.includes("client") ? readClient(body.entries.get("client"), address, diags) : empty.client,
    readable: true,
  };
}

/** Returns true if only the API sets the attribute. */
function isComputed(kind: Kind, name: string): boolean {
  const type = kind.attributes.shape[name];
  return type !== undefined && metaOf(type).change === undefined;
}

export function readProviderName(entry: Entry | undefined, diags: DiagnosticCollector): SpannedName | undefined {
  if (entry === undefined) return undefined;
  const span = valueSpan(entry);
  const name = stringOf(entry.value);
  if (name !== undefined) return { name, span };
  return diags.add(span, problem("config.structure/provider"));
}

function readDependsOn(entry: Entry | undefined, address: string, diags: DiagnosticCollector): SpannedName[] {
  if (entry === undefined) return [];
  if (entry.value.form !== "list") {
    diags.add(valueSpan(entry), problem("config.structure/depends_on", { address }));
    return [];
  }
  return entry.value.items.flatMap((item) => {
    const name = stringOf(item);
    if (name !== undefined) return [{ name, span: item.span }];
    diags.add(item.span, problem("config.structure/dependency", { address }));
    return [];
  });
}

/** Returns the id of an object to adopt. Undefined without one, or after a reported error. */
export function readImport(
  entry: Entry | undefined,
  address: string | undefined,
  diags: DiagnosticCollector,
): string | undefined {
  if (entry === undefined) return undefined;
  const text = entry.value.form === "leaf" && typeof entry.value.value === "boolean" ? undefined : textOf(entry.value);
  const parts = attempt(
    () => parseReferences(text ?? ""),
    () => [],
  );
  const id = parts.every((part) => typeof part === "string") ? parts.join("") : "";
  if (id !== "") return id;
  return diags.add(valueSpan(entry), problem("config.structure/import", { address }));
}

const LONGEST_CLIENT = 100;

function readClient(entry: Entry | undefined, address: string, diags: DiagnosticCollector): string | undefined {
  if (entry === undefined) return undefined;
  const name = textOf(entry.value);
  if (name !== undefined && name !== "" && name.length <= LONGEST_CLIENT && !hasReferences(name)) return name;
  return diags.add(valueSpan(entry), problem("config.structure/client", { most: LONGEST_CLIENT, address }));
}

/**
 * Reads a nested section (`grants:` of a service). Each entry becomes an instance of the nested kind,
 * `hosting_grant.acme["dev@acme.example"]`. Its attributes include the key of the entry and a reference to the parent.
 */
function readNested(
  section: Entry | undefined,
  kind: Kind,
  parent: ResourceDraft,
  diags: DiagnosticCollector,
): ResourceDraft[] {
  const { nested } = kind;
  if (!isGiven(section) || nested === undefined) return [];
  const { value: tree, key } = section;
  if (tree.form === "map") {
    return [...tree.entries.values()].flatMap((entry) => readInstance(entry, kind, nested, parent, diags) ?? []);
  }
  diags.add(
    valueSpan(section),
    problem("config.structure/nested_map", { key, keyAttribute: nested.keyAttribute, address: parent.address }),
  );
  return [];
}

function readInstance(
  entry: Entry,
  kind: Kind,
  nested: NonNullable<Kind["nested"]>,
  parent: ResourceDraft,
  diags: DiagnosticCollector,
): ResourceDraft | undefined {
  const { keySpan } = entry;
  const { keyAttribute, parentAttribute, shorthand } = nested;
  if (hasReferences(entry.key)) {
    return diags.add(keySpan, problem("config.expression/nested_key", { noun: kind.noun, keyAttribute }));
  }
  const name = parseAddress(parent.address)?.name ?? "";
  const address = formatAddress({ type: kind.type, name, key: entry.key });
  const empty = { ...emptyDraft(address, kind, keySpan, parent.provider), client: parent.client };
  const body = blockOf(entry, shorthand);
  if (body === undefined) {
    const word = shorthand === undefined ? "" : ` or a single word, the ${shorthand}`;
    diags.add(
      valueSpan(entry),
      problem("config.structure/instance", { noun: kind.noun, key: entry.key, word, address }),
    );
    return empty;
  }
  const implied = new Map<string, Entry>();
  for (const [own, value, from] of [
    [keyAttribute, entry.key, "the key of the block"],
    [parentAttribute, `\${${parent.address}.id}`, "the block around it"],
  ] as const) {
    implied.set(own, { key: own, keySpan, value: { form: "leaf", value, span: keySpan } });
    const twice = body.entries.get(own);
    if (twice === undefined) continue;
    diags.add(twice.keySpan, problem("config.structure/implied", { own, section: nested.section, from, address }));
  }
  const draft = readBody(empty, body, RESERVED_IN_NESTED, [], diags);
  return { ...draft, attributes: new Map([...implied, ...[...draft.attributes].filter(([key]) => !implied.has(key))]) };
}

/** Returns the map of a nested block. A single word stands for one attribute of the kind. */
function blockOf({ keySpan, value: tree }: Entry, shorthand: string | undefined): MapTree | undefined {
  if (tree.form === "map") return tree;
  if (shorthand === undefined || stringOf(tree) === undefined) return undefined;
  return { form: "map", entries: new Map([[shorthand, { key: shorthand, keySpan, value: tree }]]), span: tree.span };
}
