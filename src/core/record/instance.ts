import * as z from "zod";
import { raise } from "../messages/index.ts";
import type { AccountMark, Anchor, Intent, PrivateMark, QueuedJob, ResourceState } from "../model/index.ts";
import { equal, formatAddress, isName, PENDING_CREATE, parseAddress, parsedJson, resourceOf } from "../model/index.ts";
import { canonical, type InstanceJson, order, type ResourceJson } from "./state-json.ts";

/** Registry of a provider without a registry in its name. */
export const DEFAULT_REGISTRY = "registry.terraform.io";

const PROVIDER = /^provider\["([^"/]+)\/hostform\/hosting"\](?:\.([A-Za-z_][A-Za-z0-9_-]*))?$/;

/** Field order of Terraform. Other fields follow. */
const FIELDS = [
  "index_key",
  "status",
  "deposed",
  "schema_version",
  "attributes",
  "attributes_flat",
  "sensitive_attributes",
  "identity_schema_version",
  "identity",
  "private",
  "dependencies",
  "create_before_destroy",
];

interface ProviderName {
  readonly registry: string;
  readonly alias: string;
}

/** Parses for example `provider["registry.terraform.io/hostform/hosting"].beta` to registry and alias. Undefined for other providers. */
export function parseProvider(text: string): ProviderName | undefined {
  const [, registry, alias = "default"] = PROVIDER.exec(text) ?? [];
  return registry === undefined ? undefined : { registry, alias };
}

/** The inverse of {@link parseProvider}. */
export function formatProvider(registry: string, alias: string): string {
  return `provider["${registry}/hostform/hosting"]${alias === "default" ? "" : `.${alias}`}`;
}

/**
 * Returns true for an instance that hostform can manage: of our provider, in the root module, current, with an address. Other
 * entries (other providers, data sources, modules, deposed objects) stay unchanged.
 */
export function isManageable(resource: ResourceJson, instance: InstanceJson): boolean {
  return (
    resource.module === undefined &&
    resource.mode === "managed" &&
    parseProvider(resource.provider) !== undefined &&
    isName(resource.name) &&
    parseAddress(`${resource.type}.${resource.name}`) !== undefined &&
    instance.deposed === undefined &&
    instance.attributes != null
  );
}

/** Returns the address of an instance, with `module.m` or `data` in front. */
export function addressOf(resource: ResourceJson, instance: InstanceJson): string {
  const key = instance.index_key;
  const address = formatAddress({ type: resource.type, name: resource.name, ...(key !== undefined && { key }) });
  const mode = resource.mode === "data" ? "data." : "";
  return `${resource.module === undefined ? "" : `${resource.module}.`}${mode}${address}`;
}

/** Decodes one manageable instance. @throws HostformError `state.unreadable` if its private mark is corrupted. */
export function decodeInstance(resource: ResourceJson, instance: InstanceJson, source: string): ResourceState {
  const address = addressOf(resource, instance);
  const { waiting = [], ...mark } = decodePrivate(instance, address, source);
  const attributes = instance.attributes as ResourceState["attributes"];
  const missing = attributes.id === PENDING_CREATE ? [...waiting, "id"] : waiting;
  const notDone = missing.filter((name) => Object.hasOwn(attributes, name)).map((name) => [name, null] as const);
  return normalized({
    address,
    provider: parseProvider(resource.provider)?.alias ?? "default",
    schemaVersion: instance.schema_version,
    attributes: notDone.length === 0 ? attributes : { ...attributes, ...Object.fromEntries(notDone) },
    sensitive: sensitiveNames(instance),
    private: { ...mark, ...(instance.skip_destroy === true && { skipDestroy: true }) },
    dependencies: instance.dependencies ?? [],
  });
}

/**
 * Encodes one instance.
 * @param original entry of this object in the file. Its fields of Terraform (identity, taint, create_before_destroy,
 * other private data) are kept.
 */
export function encodeInstance(resource: ResourceState, original: InstanceJson | undefined): InstanceJson {
  const known = encoded.get(resource);
  if (known !== undefined && known.original === original) return known.instance;
  const instance = encode(resource, original);
  encoded.set(resource, { original, instance });
  return instance;
}

/** Cache of encoded instances: a stack writes its whole state after each step, and each step changes one resource. */
const encoded = new WeakMap<
  ResourceState,
  { readonly original: InstanceJson | undefined; readonly instance: InstanceJson }
>();

function encode(resource: ResourceState, original: InstanceJson | undefined): InstanceJson {
  const { address, schemaVersion, attributes, dependencies } = normalized(resource);
  const key = parseAddress(address)?.key;
  const mark = encodePrivate(resource, original);
  const isOpen = resource.private.pending !== undefined && original?.attributes?.id === PENDING_CREATE;
  // Keeps the attributes of Terraform's provider, such as `price_text`, while the object and its price are the same.
  const old = original?.attributes ?? {};
  const isSame = ["id", "price"].every((name) => equal(old[name] ?? null, attributes[name] ?? null));
  const all = isSame && original?.schema_version === schemaVersion ? { ...old, ...attributes } : attributes;
  const fields: Record<string, unknown> = {
    ...original,
    index_key: key,
    // A pending create keeps the status that Terraform's provider wrote. The status ends when the result of the create is known.
    status: isTainted(original) || isOpen ? original?.status : undefined,
    schema_version: schemaVersion,
    attributes: isOpen ? { ...attributes, id: PENDING_CREATE } : all,
    sensitive_attributes: encodeSensitive(resource.sensitive, original),
    skip_destroy: resource.private.skipDestroy,
    private: mark,
    dependencies: dependencies.length > 0 ? dependencies : undefined,
  };
  const rest = Object.keys(fields).filter((name) => !FIELDS.includes(name));
  const ordered = [...FIELDS, ...rest.sort(order)].filter((name) => fields[name] !== undefined);
  return Object.fromEntries(ordered.map((name) => [name, fields[name]])) as InstanceJson;
}

/** Returns true if Terraform, and not a pending create of hostform, tainted the instance. */
export function isTainted(instance: InstanceJson | undefined): boolean {
  return instance?.status === "tainted" && !("pending" in privateObject(instance));
}

/** Returns the canonical form of a resource: sorted lists, and dependencies without instance keys, as in Terraform. */
export function normalized(resource: ResourceState): ResourceState {
  const dependencies = resource.dependencies.map((text) =>
    text.includes("[") && parseAddress(text) !== undefined ? resourceOf(text) : text,
  );
  return {
    ...resource,
    attributes: canonical(resource.attributes) as ResourceState["attributes"],
    sensitive: inOrder(resource.sensitive),
    private: canonical(resource.private) as PrivateMark,
    dependencies: inOrder(dependencies),
  };
}

function inOrder(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort(order);
}

/** Returns the first name of each sensitive path: a nested secret makes the whole attribute secret. */
function sensitiveNames(instance: InstanceJson | undefined): string[] {
  const names = (instance?.sensitive_attributes ?? []).map((path) => path[0]?.value);
  return names.filter((name): name is string => typeof name === "string");
}

function encodeSensitive(names: readonly string[], original: InstanceJson | undefined): unknown {
  const sorted = [...new Set(names)].sort(order);
  const before = [...new Set(sensitiveNames(original))].sort(order);
  if (original?.sensitive_attributes != null && before.join("\0") === sorted.join("\0")) {
    return original.sensitive_attributes;
  }
  return sorted.map((value) => [{ type: "get_attr", value }]);
}

const intent = z.looseObject({
  id: z.string().optional(),
  since: z.string(),
  resent: z.string().optional(),
  fenced: z.literal(true).optional(),
  operation: z.string(),
  params: z.record(z.string(), z.string()).optional(),
  body: z.record(z.string(), z.unknown()).optional(),
  idempotencyKey: z.string().optional(),
  accepted: z.literal(true).optional(),
  known: z.array(z.string()).optional(),
  knowsAll: z.literal(true).optional(),
} satisfies Record<keyof Intent, z.ZodType>);

const job = z.looseObject({
  since: z.string(),
  toward: z.enum(["live", "suspended"]),
  before: z.string().nullable(),
} satisfies Record<keyof QueuedJob, z.ZodType>);

const anchor = z.looseObject({
  type: z.string(),
  id: z.string(),
  created_at: z.string().nullable(),
} satisfies Record<keyof Anchor, z.ZodType>);

const account = z.looseObject({
  origin: z.string(),
  anchors: z.array(anchor),
} satisfies Record<keyof AccountMark, z.ZodType>);

/** Schema of each field of the mark. A field that the model adds or removes does not compile without a change here. */
const markFields = {
  generation: z.number().int().min(1).optional(),
  created: z.string().optional(),
  deposed: z.record(z.string(), z.unknown()).optional(),
  shown: z.record(z.string(), z.looseObject({ times: z.number() })).optional(),
  pending: intent.optional(),
  attempt: intent.optional(),
  job: job.optional(),
  waiting: z.array(z.string()).optional(),
  account: account.optional(),
  client: z.string().optional(),
  skipDestroy: z.literal(true).optional(),
  emptied: z.string().optional(),
  suspended: z.looseObject({ since: z.string().optional(), declared: z.literal(true).optional() }).optional(),
} satisfies Record<keyof PrivateMark, z.ZodType>;

const markNames = Object.keys(markFields);
/** Private mark on disk. Unknown fields pass. */
export const privateMark = z.looseObject(markFields);

/**
 * Reads the private mark. A corrupted mark is an error, because the mark may prevent a second order of a service.
 */
function decodePrivate(instance: InstanceJson, address: string, source: string): PrivateMark {
  if (!instance.private) return {};
  const value = parsePrivate(instance.private);
  if (privateMark.safeParse(value).success) {
    const known = Object.entries(value as object).filter(([name]) => markNames.includes(name));
    return canonical(Object.fromEntries(known)) as PrivateMark;
  }
  return raise("state.unreadable/mark", { address, source });
}

function encodePrivate(resource: ResourceState, original: InstanceJson | undefined): string | undefined {
  const before = privateObject(original);
  const others = Object.entries(before).filter(([name]) => !markNames.includes(name));
  const { skipDestroy: _, ...mark } = resource.private;
  const after = canonical({ ...Object.fromEntries(others), ...mark });
  const text = JSON.stringify(after);
  if (text === "{}") return undefined;
  return original?.private && JSON.stringify(canonical(before)) === text
    ? original.private
    : Buffer.from(text, "utf8").toString("base64");
}

function privateObject(instance: InstanceJson | undefined): Record<string, unknown> {
  const value = instance?.private ? parsePrivate(instance.private) : undefined;
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function parsePrivate(base64: string): unknown {
  return parsedJson(Buffer.from(base64, "base64").toString("utf8"));
}
