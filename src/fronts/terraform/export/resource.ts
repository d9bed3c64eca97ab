import { hasReferences, parseReferences } from "../../../core/expression/references.ts";
import { importIdOf, type Kind, namedBy } from "../../../core/kinds/kind.ts";
import {
  type AttributePath,
  type DesiredResource,
  type Diagnostic,
  type DiagnosticParts,
  formatPath,
  parseAddress,
  resourceOf,
  type State,
} from "../../../core/model/index.ts";
import type { TfAttribute, TfBlock, TfItem, TfValue } from "./document.ts";
import { problem } from "./messages.ts";
import { type Attributes, addressCode, setItemWarning, tfValue, type Use, type Variables } from "./value.ts";

/** The blocks of one resource. */
export interface WrittenResource {
  readonly blocks: readonly TfBlock[];
  /** Place of the reference to each required resource, by address without a key. */
  readonly needs: ReadonlyMap<string, Diagnostic["range"]>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Writes all instances of one name as a single block.
 * @param instances at least one.
 */
export function writeResource(
  kind: Kind,
  name: string,
  instances: readonly DesiredResource[],
  context: ResourceContext,
): WrittenResource {
  const diagnostics: Diagnostic[] = [];
  const needs = new Map<string, Diagnostic["range"]>();
  const written = instances.map((resource): WrittenInstance => {
    const values = valuesOf(kind, resource, context, (use) => {
      const { address } = use.reference;
      if (!needs.has(resourceOf(address))) needs.set(resourceOf(address), resource.locate(use.path));
      diagnostics.push(...remarksOn(use, resource, name, context));
    });
    return { resource, values };
  });
  for (const { resource } of written) {
    for (const address of resource.dependsOn) needs.set(resourceOf(address), resource.locate([]));
  }
  const [first] = instances;
  const alias = first?.provider ?? "default";
  const keyed = parseAddress(first?.address ?? "")?.key !== undefined;
  const body = keyed ? forEach(kind, written) : { meta: [], attributes: attributesOfOne(kind, written, context) };
  const provider: TfItem[] = alias === "default" ? [] : [{ name: "provider", value: { code: `hosting.${alias}` } }];
  if (!context.inProject) diagnostics.push(...misplaced(written));
  const dependsOn = [...new Set(instances.flatMap((one) => one.dependsOn.map(resourceOf)))];
  const others = dependsOn.filter((address) => address !== name);
  if (others.length < dependsOn.length) diagnostics.push(dependsOnItself(name, instances));
  const block: TfBlock = {
    block: "resource",
    labels: [kind.type, parseAddress(name)?.name ?? name],
    body: [
      [...body.meta, ...provider],
      body.attributes,
      kind.replacement === "create-first" ? [CREATE_FIRST] : [],
      others.length === 0 ? [] : [{ name: "depends_on", value: others.map((code) => ({ code })) }],
    ],
  };
  return { blocks: [block, ...importBlocks(kind, instances, context)], needs, diagnostics };
}

/** Block with `create_before_destroy`, because hostform creates first by default. */
const CREATE_FIRST: TfItem = { block: "lifecycle", body: [[{ name: "create_before_destroy", value: true }]] };

function valuesOf(
  kind: Kind,
  resource: DesiredResource,
  { variables, attributesOf }: ResourceContext,
  onUse: (use: Use) => void,
): ReadonlyMap<string, TfValue> {
  const { config, sources, address } = resource;
  const base = `${parseAddress(address)?.name ?? "secret"}`;
  const values = new Map<string, TfValue>();
  for (const [name, { type, writeOnly }] of Object.entries(attributesOf(kind.type) ?? {})) {
    const value = config[name];
    const source = sources?.get(name);
    if (source !== undefined) values.set(name, variables.secret(source, `${base}_${name}`));
    else if (value !== undefined && value !== null) {
      const place = { path: [name], secret: writeOnly === true };
      values.set(name, tfValue(value, type, place, { variables, attributesOf, onUse }));
    }
  }
  return values;
}

function attributesOfOne(kind: Kind, written: readonly WrittenInstance[], context: ResourceContext): TfAttribute[] {
  return written.flatMap(({ resource, values }) => {
    const items = [...values].map(([name, value]): TfAttribute => ({ name, value }));
    return needsName(kind, resource, context) ? [...items, orderName(resource)] : items;
  });
}

/**
 * Returns true if an order needs its address as an explicit name, because Terraform does not send the address to the provider. An
 * ordered or adopted service needs no name.
 */
function needsName(kind: Kind, { address, config, importId }: DesiredResource, { state }: ResourceContext): boolean {
  if (kind.creation !== "keyed" || importId !== undefined || (config.reference ?? null) !== null) return false;
  const recorded = state.resources.get(address);
  return recorded === undefined || (recorded.attributes.id == null && recorded.private.pending === undefined);
}

const orderName = ({ address }: DesiredResource): TfAttribute => ({
  name: "reference",
  value: address,
  comments: ["Not ordered yet. This is the name that hostform orders it under."],
});

/** Returns warnings about references that differ in Terraform. */
function remarksOn({ reference, path }: Use, resource: DesiredResource, name: string, context: ResourceContext) {
  const [attribute] = reference.path;
  const target = context.attributesOf(parseAddress(reference.address)?.type ?? "")?.[String(attribute)];
  const own = context.attributesOf(resource.type)?.[String(path[0])];
  const place = placeOf(resource, path);
  const what = formatPath(path);
  const found: Diagnostic[] = [];
  if (resourceOf(reference.address) === name) {
    found.push(problem("terraform.export/itself", { what, name, text: reference.text, ...place }));
  }
  if (target?.sensitive && !own?.sensitive && !own?.writeOnly)
    found.push(problem("terraform.export/hidden", { what, ...place }));
  return [...found, ...setItemWarning(what, { reference, path }, context, place)];
}

const placeOf = (resource: DesiredResource, attribute: AttributePath): DiagnosticParts => ({
  address: resource.address,
  attribute,
  range: resource.locate(attribute),
});

function dependsOnItself(name: string, instances: readonly DesiredResource[]): Diagnostic {
  const resource = instances.find(({ dependsOn }) => dependsOn.some((address) => resourceOf(address) === name));
  return problem("terraform.export/depends_on", { name, address: resource?.address, range: resource?.locate([]) });
}

/** Returns a warning about secret places that differ if Terraform runs in another folder. */
function misplaced(written: readonly WrittenInstance[]): Diagnostic[] {
  return written.flatMap(({ resource }) => {
    const output = resource.config.secret_output;
    if (typeof output !== "object" || output === null) return [];
    const names = Object.keys(output).join(", ");
    return problem("terraform.export/place", { names, ...placeOf(resource, ["secret_output"]) });
  });
}

/**
 * Writes instances of one name as a block with `for_each`: `hosting_grant.acme["dev@acme.example"]` keeps its address. The block has
 * the attributes that all instances share from their parent block in YAML. A map by key has all other attributes.
 */
function forEach(
  kind: Kind,
  written: readonly WrittenInstance[],
): { readonly meta: readonly TfItem[]; readonly attributes: readonly TfAttribute[] } {
  const names = [...new Set(written.flatMap(({ values }) => [...values.keys()]))];
  const shared = names.filter((name) => name === kind.nested?.parentAttribute && isShared(name, written));
  const implied = names.filter((name) => name === kind.nested?.keyAttribute && isKey(name, written));
  const own = names.filter((name) => !shared.includes(name) && !implied.includes(name));
  const [only = ""] = own;
  // If the entries would have one attribute that every instance sets, its value is the entry.
  const single = own.length === 1 && everyoneHas(only, written);
  // Otherwise each entry has all attributes, because each.value needs the same attributes in every entry.
  const entry = ({ values }: WrittenInstance): TfValue =>
    single ? (values.get(only) ?? null) : { map: own.map((name) => [name, values.get(name) ?? null] as const) };
  const entries = written.map((one) => [keyOf(one), entry(one)] as const);
  const value = (name: string): TfValue => {
    if (shared.includes(name)) return written[0]?.values.get(name) ?? null;
    if (implied.includes(name)) return { code: "each.key" };
    return { code: single ? "each.value" : `each.value.${name}` };
  };
  return {
    meta: [{ name: "for_each", value: { map: entries } }],
    attributes: names.map((name) => ({ name, value: value(name) })),
  };
}

const keyOf = ({ resource }: WrittenInstance) => String(parseAddress(resource.address)?.key);

const everyoneHas = (name: string, written: readonly WrittenInstance[]) =>
  written.every(({ values }) => values.has(name));

const isKey = (name: string, written: readonly WrittenInstance[]) =>
  written.every((one) => one.values.get(name) === keyOf(one));

const isShared = (name: string, written: readonly WrittenInstance[]) =>
  new Set(written.map(({ values }) => JSON.stringify(values.get(name)))).size === 1;

/** Writes `import { to = …, id = … }` for each instance that names an existing object. Terraform ignores it for objects in its state. */
function importBlocks(
  kind: Kind,
  instances: readonly DesiredResource[],
  context: Pick<ResourceContext, "declared" | "state">,
): TfBlock[] {
  return instances.flatMap((resource) => {
    const { address, importId } = resource;
    if (importId === undefined) return [];
    const to = { name: "to", value: { code: addressCode(address) } };
    return { block: "import", body: [[to, { name: "id", value: idOf(kind, importId, resource, context) }]] };
  });
}

/** Returns the import id. The id of a grant includes its service, which is the parent block in YAML. */
function idOf(
  kind: Kind,
  importId: string,
  { config }: DesiredResource,
  { declared, state }: Pick<ResourceContext, "declared" | "state">,
): TfValue {
  const parent = kind.parent === undefined ? undefined : config[kind.parent];
  if (kind.parent === undefined || parent === undefined) return importId;
  const ofBoth = (id: string) => importIdOf(kind, namedBy(kind, importId, id).id, { [kind.parent ?? ""]: id });
  const text = String(parent);
  if (!hasReferences(text)) return ofBoth(text);
  const [reference] = parseReferences(text);
  if (typeof reference !== "object" || reference.to !== "resource") return importId;
  const { address } = reference;
  // An import id must be known at plan time.
  const known = state.resources.get(address)?.attributes.id ?? declared.get(address)?.importId;
  if (typeof known === "string") return ofBoth(known);
  if (namedBy(kind, importId).id !== importId) return importId;
  return { template: [{ code: `${addressCode(address)}.id` }, `/${importId}`] };
}

/** Context of writing a resource. */
export interface ResourceContext {
  readonly variables: Variables;
  attributesOf(type: string): Attributes | undefined;
  /** All resources of the declaration, by address. */
  readonly declared: ReadonlyMap<string, DesiredResource>;
  readonly state: State;
  /** True if Terraform runs in the project's folder, so that relative paths of secret_output have the same base. */
  readonly inProject: boolean;
}

/** One declared resource with the values of its attributes. */
interface WrittenInstance {
  readonly resource: DesiredResource;
  readonly values: ReadonlyMap<string, TfValue>;
}
