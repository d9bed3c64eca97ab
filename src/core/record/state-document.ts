// Text of a state file (Terraform's format 4) and its document: resources, outputs and the unchanged remainder.
import { raise } from "../messages/index.ts";
import {
  equal,
  isObject,
  type OutputState,
  PENDING_CREATE,
  parseAddress,
  type ResourceState,
  type State,
} from "../model/index.ts";
import {
  addressOf,
  DEFAULT_REGISTRY,
  decodeInstance,
  encodeInstance,
  formatProvider,
  isManageable,
  isTainted,
  parseProvider,
} from "./instance.ts";
import {
  canonical,
  FORMAT_VERSION,
  type InstanceJson,
  order,
  parseStateFile,
  plainNumbers,
  printJson,
  type ResourceJson,
  type StateFileJson,
} from "./state-json.ts";

/** Terraform version in new files. It is old, because Terraform rejects files of newer versions. */
const TERRAFORM_VERSION = "1.5.0";

/** State and the remainder of its file. An immutable value. */
export interface StateDocument {
  readonly state: State;
  readonly remainder: Remainder;
}

/** Content that hostform keeps unchanged: check results, resources of other providers, data, modules, deposed objects. */
interface Remainder {
  /** Top-level fields without `resources`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Resource entries with their unmanaged instances. */
  readonly resources: readonly ResourceJson[];
  /** Entry of each managed resource in the file, by address. A new object at the same address has no entry. */
  readonly originals: ReadonlyMap<string, Original>;
  /** Registry of our provider in this file: of Terraform, of OpenTofu, or private. */
  readonly registry: string;
}

interface Original {
  readonly resource: ResourceJson;
  readonly instance: InstanceJson;
}

/** Returns the document of a new project: serial 0, and no lineage until the first write. */
export function emptyDocument(): StateDocument {
  return {
    state: { lineage: "", serial: 0, resources: new Map() },
    remainder: { fields: {}, resources: [], originals: new Map(), registry: DEFAULT_REGISTRY },
  };
}

/**
 * Decodes a state file (format 4) of any program.
 * @param source origin of the text, for messages.
 * @throws HostformError `state.unreadable`, `state.newer`, `state.foreign`.
 */
export function decodeState(text: string, source: string): StateDocument {
  const { resources: entries, ...fields } = parseStateFile(text, source);
  const found: [string, ResourceState][] = [];
  const originals = new Map<string, Original>();
  const rest: ResourceJson[] = [];
  let registry: string | undefined;
  for (const resource of entries ?? []) {
    const unmanaged: InstanceJson[] = [];
    registry ??= parseProvider(resource.provider)?.registry;
    for (const instance of resource.instances) {
      if (!isManageable(resource, instance)) {
        unmanaged.push(instance);
        continue;
      }
      const decoded = decodeInstance(resource, instance, source);
      const { address } = decoded;
      if (originals.has(address)) raise("state.unreadable/twice", { address, source });
      found.push([address, decoded]);
      originals.set(address, { resource, instance });
    }
    if (unmanaged.length > 0 || resource.instances.length === 0) rest.push({ ...resource, instances: unmanaged });
  }
  const resources = new Map(found.sort(([a], [b]) => order(a, b)));
  const named = Object.entries(isObject(fields.outputs) ? fields.outputs : {});
  const outputs = inOrder(named.map(([name, output]) => [name, decodeOutput(output)]));
  return {
    state: { lineage: fields.lineage, serial: fields.serial, resources, ...(outputs && { outputs }) },
    remainder: { fields, resources: rest, originals, registry: registry ?? DEFAULT_REGISTRY },
  };
}

/** Encodes a document in the format of Terraform. Equal documents have equal bytes. */
export function encodeState({ state, remainder }: StateDocument): string {
  const { fields } = remainder;
  const known: Record<keyof StateFileJson, unknown> = {
    version: FORMAT_VERSION,
    terraform_version: fields.terraform_version ?? TERRAFORM_VERSION,
    serial: state.serial,
    lineage: state.lineage,
    outputs: encodeOutputs(state.outputs, fields.outputs ?? {}),
    resources: encodeResources(state, remainder),
    check_results: fields.check_results ?? null,
  };
  // Known fields in Terraform's order, then the other fields.
  return printJson({ ...known, ...fields, ...known });
}

function encodeResources(state: State, remainder: Remainder): ResourceJson[] {
  const entries = new Map<string, ResourceJson>();
  const add = (resource: ResourceJson, instances: readonly InstanceJson[]) => {
    // The parts of the key are in Terraform's order of sorting. No part contains NUL.
    const id = [resource.module ?? "", resource.mode, resource.type, resource.name, resource.provider].join("\0");
    const entry = entries.get(id) ?? { ...resource, instances: [] };
    entries.set(id, { ...entry, instances: [...entry.instances, ...instances] });
  };
  for (const resource of remainder.resources) add(resource, resource.instances);
  for (const resource of state.resources.values()) {
    const original = originalOf(resource, remainder);
    add(headOf(resource, original, remainder.registry), [encodeInstance(resource, original?.instance)]);
  }
  return [...entries]
    .sort(([a], [b]) => order(a, b))
    .map(([, entry]) => ({ ...entry, instances: entry.instances.toSorted(byKey) }));
}

function headOf(resource: ResourceState, original: Original | undefined, registry: string): ResourceJson {
  const address = parseAddress(resource.address);
  if (address === undefined) throw new TypeError(`not an address: ${resource.address}`);
  const source = original === undefined ? undefined : parseProvider(original.resource.provider);
  return {
    ...original?.resource,
    mode: "managed",
    type: address.type,
    name: address.name,
    provider: formatProvider(source?.registry ?? registry, resource.provider),
    instances: [],
  };
}

/** Compares instances in Terraform's order: without a key, number keys, string keys; the current object before deposed objects. */
function byKey(a: InstanceJson, b: InstanceJson): number {
  const rank = { undefined: 0, number: 1, string: 2 };
  const [x, y] = [a.index_key, b.index_key];
  return (
    rank[typeof x as keyof typeof rank] - rank[typeof y as keyof typeof rank] ||
    (typeof x === "number" && typeof y === "number" ? x - y : order(String(x), String(y))) ||
    order(a.deposed ?? "", b.deposed ?? "")
  );
}

/**
 * Returns the entry of a resource's object in the file. An entry with another id belongs to another object, and its marks do not apply.
 * The entry of a pending create belongs to the created object.
 */
function originalOf(resource: ResourceState, remainder: Remainder): Original | undefined {
  const original = remainder.originals.get(resource.address);
  const id = canonical(original?.instance.attributes?.id ?? null);
  const isSame = id === PENDING_CREATE || equal(id, resource.attributes.id ?? null);
  return original !== undefined && isSame ? original : undefined;
}

/** Returns the addresses that Terraform tainted, without pending creates of hostform. */
export function taintedAddresses({ state, remainder }: StateDocument): string[] {
  const tainted = (resource: ResourceState) => isTainted(originalOf(resource, remainder)?.instance);
  return [...state.resources.values()].filter(tainted).map(({ address }) => address);
}

/** Returns the addresses of unmanaged entries. Deposed objects have their key. */
export function unmanagedAddresses({ remainder }: StateDocument): string[] {
  return remainder.resources
    .flatMap((resource) =>
      resource.instances.map((instance) => {
        const address = addressOf(resource, instance);
        return instance.deposed === undefined ? address : `${address} (deposed object ${instance.deposed})`;
      }),
    )
    .sort(order);
}

type Outputs = ReadonlyMap<string, OutputState>;

/**
 * Encodes outputs in the format of Terraform.
 * @param original outputs in the file. Unchanged outputs keep their bytes, with all digits. Malformed entries stay unchanged.
 */
function encodeOutputs(outputs: Outputs = new Map(), original: unknown = {}): unknown {
  if (!isObject(original)) return outputs.size === 0 ? original : encodeOutputs(outputs);
  const foreign = Object.entries(original).filter(
    ([name, found]) => !outputs.has(name) && decodeOutput(found) === undefined,
  );
  const ours = [...outputs].map(([name, output]): [string, unknown] => {
    const before = Object.hasOwn(original, name) ? original[name] : undefined;
    const { value, type, sensitive } = output;
    const after = { value: plainNumbers(value), type, ...(sensitive && { sensitive }) };
    return [name, equal(decodeOutput(before), output) ? before : after];
  });
  return Object.fromEntries([...foreign, ...ours].sort(([a], [b]) => order(a, b)));
}

/** Returns outputs in canonical order and form. Null outputs are dropped. */
export function normalizedOutputs(outputs: Outputs): Outputs | undefined {
  return inOrder(
    [...outputs].map(([name, { value, type, sensitive }]) => [
      name,
      value === null ? undefined : { value: canonical(value), type: canonical(type), sensitive },
    ]),
  );
}

/** Decodes an output. Undefined for a malformed output. */
function decodeOutput(found: unknown): OutputState | undefined {
  if (!isObject(found) || found.value === undefined || found.type === undefined) return undefined;
  return { value: canonical(found.value), type: canonical(found.type), sensitive: found.sensitive === true };
}

function inOrder(entries: readonly (readonly [string, OutputState | undefined])[]): Outputs | undefined {
  const present = entries.filter((entry): entry is [string, OutputState] => entry[1] !== undefined);
  return present.length === 0 ? undefined : new Map(present.sort(([a], [b]) => order(a, b)));
}
