import type * as z from "zod";
import type { Answers, ApiRecord, ListOptions, Mutation, MutationName, PlanRecord, Reader } from "../api/index.ts";
import {
  type Diagnostic,
  HostformError,
  type Invoice,
  type Json,
  type JsonObject,
  type KindWords,
  type Phase,
  type Quote,
  saysNotFound,
  UNKNOWN,
  type ValueObject,
} from "../model/index.ts";
import type { AttributeMeta } from "./attribute.ts";
import { LIVES, type Life, lifeOf, type PhaseWords } from "./life.ts";

/** Settings of a provider that kinds need to read responses of the host. */
export interface ReadSettings extends PhaseWords {
  /** Retention of an Idempotency-Key, in milliseconds. */
  readonly keyLifetimeMs?: number;
  /** Decimal places of amounts. An amount of the host that contradicts this scale is an error. */
  readonly moneyScale?: number | undefined;
  /** Maximum time in milliseconds until a list shows a new object. */
  readonly listLagMs?: number;
}

/** Client and settings with which a kind reads the account. */
export interface ReadContext extends ListOptions {
  readonly client: Reader;
  readonly settings: ReadSettings;
}

/** An object of the account, as a kind reads it. */
export interface Remote extends Pick<Life, "end" | "off"> {
  readonly id: string;
  /** Attributes that the API returned. Attributes that the API never returns are undefined. */
  readonly attributes: JsonObject;
  /** Phase of the object. `gone` means deleted. An object in the phase `unknown` is never changed. */
  readonly phase: Phase;
}

/** Content of a response. */
interface Accepted {
  readonly attributes: JsonObject;
  readonly warning?: Diagnostic;
}

/** One request of a change, and the function that interprets its response. */
export interface ChangeStep<E extends MutationName = MutationName> {
  /** Name of the step in progress lines: "suspending". */
  readonly name: string;
  readonly mutation: Mutation<E>;
  /** Returns the attributes of the response, and a warning. An error ends the change as not completed. */
  accept(answer: Answers[E]): Accepted & {
    /** Result of the first empty response, whose content may have been lost. The next apply repeats the request once. */
    readonly once?: Accepted;
  };
  /** Phase that shows the end of a queued job (§3). Undefined if the response ends the step. */
  readonly toward?: "live" | "suspended";
}

/** Object of a create request. If the response has no `id`, hostform looks up the object by its natural key. */
export interface Created {
  readonly id: string | null;
  readonly attributes: JsonObject;
  readonly invoice: Invoice | null;
  /** Phase of the new object, for kinds with phases. Default: live. */
  readonly phase?: Phase;
  /** True if the API repeated the response of an earlier order. The object is then adopted, and not changed. */
  readonly replayed?: boolean;
  /** True if the object is older than the order. An earlier order may have created it, and it may no longer exist. */
  readonly mayBeGone?: true;
  /** True if the successful response shows at most an id, which may be the id of a job. */
  readonly unclear?: true;
  /** Warning or error about the response. An error, such as a missing one-time secret, ends the change as not completed. */
  readonly warning?: Diagnostic;
}

/** Class of a create request: the possible reaction to a lost response. */
export type Creation =
  | "keyed" // hostform may repeat the request with the same Idempotency-Key and bytes
  | "listable" // the list shows whether the object exists
  | "blind"; // nothing shows the object: hostform never repeats the request automatically

/** Values of deletion_policy for objects without a DELETE endpoint. */
export type RemovalPolicy = "prevent" | "forget" | "suspend";

/**
 * The contract of each kind. Kinds are stateless objects. They convert API records to attributes, and attributes to requests.
 * Only the lifecycle sends changing requests, after it has recorded them.
 *
 * The contract: `list` and `get` only read. `create`, `update`, `remove` and `suspendSteps` return requests as values and
 * must be pure: the same attributes give the same bytes. `created` and
 * `ChangeStep.accept` must accept an empty response.
 */
export interface Kind<E extends MutationName = MutationName> {
  /** Terraform resource type, for example `hosting_service`. */
  readonly type: string;
  /** Section of the YAML declaration, for example `services`. */
  readonly section: string;
  /** Noun for sentences: "service", "webhook". */
  readonly noun: string;
  /** Words and attributes with which reports describe the resources. */
  readonly words: Omit<KindWords, "noun" | "plural">;
  /** One sentence for lists of kinds. */
  readonly summary: string;
  /** Markdown for the reference page: semantics, changes in place, and removal. */
  readonly description: string;
  /** Description for Terraform's reference page. Undefined if the description for YAML is also correct in Terraform. */
  readonly hcl?: string;
  /** Example for the reference page: the YAML of one resource in its section. */
  readonly example: string;
  /** Attributes, each made with `attribute(…)`. Must contain `id`. */
  readonly attributes: z.ZodObject;
  /** Version of the attributes in the state. Increases when their meaning changes. */
  readonly schemaVersion: number;
  /** Place of a kind inside the block of another kind: the section, and the attributes for the block's key and parent. */
  readonly nested?: {
    readonly in: string;
    readonly section: string;
    readonly keyAttribute: string;
    readonly parentAttribute: string;
    /** Attribute that a single word sets, instead of a map. */
    readonly shorthand?: string;
  };

  readonly creation: Creation;
  /** Order of a replacement. Undefined if no attribute is replaceable. */
  readonly replacement?: "create-first" | "delete-first";
  /** `delete`: the API can delete the object. `policy`: the API cannot, so deletion_policy applies. */
  readonly removal: "delete" | "policy";
  /** Attribute with the id of the parent object (grants: `service_id`). Undefined if the kind has no parent. */
  readonly parent?: string;

  /** Checks rules across attributes, after each attribute was checked alone. Values are evaluated, and may be unknown. */
  check?(config: ValueObject): Diagnostic[];
  /**
   * Checks the declared values against the existing object, or against the ordered hosting plan, before any request is sent.
   * @param live attributes of the object. Undefined for a new object.
   */
  validateAgainstLive?(config: ValueObject, live: JsonObject | undefined, plans: readonly PlanRecord[]): Diagnostic[];
  /**
   * Attributes that the list of hosting plans completes. `attribute`: the number of the hosting plan, which the API may omit.
   * `name`: the attribute with the name of the hosting plan.
   */
  readonly fromCatalogue?: {
    readonly attribute: string;
    readonly name: string;
    /** Returns the numbers of the hosting plans with this name. */
    numbersOf(plans: readonly PlanRecord[], name: unknown): readonly number[];
  };
  /** Returns the reason not to create an object, such as an expired grant. Undefined if it can be created. */
  expired?(config: ValueObject, now: number): string | undefined;

  /** Ability that the list requires, if it is not `view` (§4). A token with `view` only then cannot read the kind. */
  readonly listAbility?: "technical";
  /** Ability that changes require, if it is not `technical` (§4). */
  readonly changeAbility?: "billing";
  /** Lists the objects, of one parent if the kind has a parent. Undefined if the API cannot list the kind. */
  list?(context: ReadContext, parent: string | undefined): AsyncIterable<Remote>;
  /** Reads one object by id. Undefined if only the list shows objects. @throws ApiError 404. */
  get?(context: ReadContext, id: string): Promise<Remote>;
  /**
   * Returns the natural key of declared or live attributes. Two objects with the same key are the same object. Undefined if the
   * key is unknown.
   */
  naturalKey(attributes: ValueObject): string | undefined;
  /** Attributes of the natural key that each object has. An object without them is unreadable. */
  readonly identity?: readonly string[];
  /**
   * Returns true if a live object may be the declared resource without an equal natural key: a service without a domain, or a
   * name that the host shortened. Also returns true if that is unknown.
   */
  mayMatch?(config: ValueObject, live: ValueObject, plans: readonly PlanRecord[]): boolean;
  /** Returns an equal string for two orders without a natural key if one object may belong to either order. Required by `mayMatch`. */
  likeness?(config: ValueObject): string;
  /** Returns false if two attribute sets with the same natural key belong to different objects. */
  sameIdentity?(config: ValueObject, live: ValueObject): boolean;

  /** Returns the create request. @param key Idempotency-Key of `keyed` kinds. */
  create(planned: JsonObject, key: string | undefined): Mutation<E>;
  /** Interprets the response to the create request. */
  created(answer: Answers[E], planned: JsonObject, settings: ReadSettings): Created;
  /** Returns the stable name of an order within the project, for `keyed` kinds. Undefined if the address is the name. */
  orderReference?(config: ValueObject): string | undefined;

  /** Returns the requests that change `prior` to `planned` in place. `config` has the write-only values. */
  update?(prior: JsonObject, planned: JsonObject, config: JsonObject): ChangeStep[];
  /** Returns the phase of an object. Undefined if objects of the kind are always live. */
  phase?(attributes: ValueObject, settings: ReadSettings): Phase;
  /** Returns the in-place attributes that cannot change in this phase, such as a password before the service is live. */
  deferred?(phase: Phase): readonly string[];
  /** Returns the computed attributes whose value is unknown after a change of `attribute`. @param before present attributes. Default: any. */
  invalidates?(attribute: string, before?: JsonObject): readonly string[];
  /** Returns the delete request. */
  remove?(attributes: JsonObject): Mutation;
  /** Returns the requests of deletion_policy `suspend`, which are sent before the object leaves the state. */
  suspendSteps?(attributes: JsonObject): ChangeStep[];

  /** Returns true if an event of the API (§6) concerns a resource with these attributes. `watch` then reads the resource. */
  isNamedBy?(event: EventSubject, attributes: JsonObject): boolean;
  /** Returns the price of an order from the list of hosting plans, for paid kinds. @param isOrdered true if the order was sent before. */
  quote?(
    planned: ValueObject,
    plans: readonly PlanRecord[],
    isOrdered?: boolean,
  ): { quote: Quote; diagnostic?: Diagnostic };
}

/** Name and ids of an event. hostform reads all other content from the API. */
export interface EventSubject {
  /** Name of the event (§6). */
  readonly event: string;
  /** Id of the service. For an invoice event, the order of the invoice. */
  readonly service: string | undefined;
  readonly invoice: string | undefined;
}

/** Returns true if an attribute equals the id of an event. */
export const holdsId = (value: Json | undefined, id: string | undefined): boolean => id !== undefined && value === id;

/** Returns the attributes that distinguish two objects for people and in lists. */
export const identityOf = ({ identity, words }: Pick<Kind, "identity" | "words">): readonly string[] =>
  identity ?? [words.name];

/** Returns the words of a kind for a change. */
export const wordsOf = ({ noun, section, words }: Kind): KindWords => ({
  noun,
  plural: section.replaceAll("_", " "),
  ...words,
});

/** An attribute of a kind, with its metadata. */
export interface AttributeEntry {
  readonly name: string;
  readonly type: z.ZodType;
  readonly meta: AttributeMeta;
}

export type Kinds = ReadonlyMap<string, Kind>;

/**
 * Returns the object of a create response, for a free kind.
 * @param field a field that each response with the object has.
 */
export function createdFrom<R extends ApiRecord>(
  record: R | null,
  read: (record: R) => Remote,
  field: keyof R,
): Created {
  return {
    id: record?.id ?? null,
    attributes: record === null ? {} : read(record).attributes,
    invoice: null,
    ...(record?.[field] == null && { unclear: true as const }),
  };
}

/** Returns the attributes with these names that have a value. */
export const presentIn = (attributes: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (attributes[name] == null ? [] : [[name, attributes[name]]])));

/** Returns true if a live object and a declared resource have the same natural key. */
export function matches(kind: Kind, config: ValueObject, live: ValueObject): boolean {
  const key = naturalKeyOf(kind, config);
  return key !== undefined && key === naturalKeyOf(kind, live) && (kind.sameIdentity?.(config, live) ?? true);
}

const naturalKeys = new WeakMap<Kind, WeakMap<ValueObject, { readonly key: string | undefined }>>();

/** Returns the cached natural key. Each declared resource is compared with all live objects, so each key is computed once. */
function naturalKeyOf(kind: Kind, attributes: ValueObject): string | undefined {
  const known = naturalKeys.get(kind) ?? new WeakMap<ValueObject, { readonly key: string | undefined }>();
  naturalKeys.set(kind, known);
  const entry = known.get(attributes) ?? { key: kind.naturalKey(attributes) };
  known.set(attributes, entry);
  return entry.key;
}

/**
 * Returns the kind for Terraform, where the resource address is unknown. The natural key (the domain) names an order without
 * `reference`.
 */
export function namedByDomain(kind: Kind): Kind {
  if (kind.creation !== "keyed") return kind;
  return {
    ...kind,
    orderReference: (config) =>
      config.reference === UNKNOWN ? undefined : (kind.orderReference?.(config) ?? kind.naturalKey(config)),
  };
}

/** Returns the import id of an object: `PARENT/ID` for a kind with a parent. The first `/` ends the id of the parent. */
export function importIdOf(kind: Kind, id: string, attributes: ValueObject): string {
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  if (parent === undefined || parent === null) return id;
  return `${String(parent).replace(/[%/]/g, encodeURIComponent)}/${id}`;
}

/**
 * Returns the ids in an import id. An object id may also contain `/`, so the import id must begin with a known parent id.
 * @param parent id of the declared parent. Undefined if unknown.
 */
export function namedBy(
  kind: Pick<Kind, "parent">,
  importId: string,
  parent?: string,
): { readonly id: string; readonly parent?: string | undefined } {
  const [, before = "", id] = (kind.parent !== undefined && /^([^/]+)\/(.+)$/s.exec(importId)) || [];
  const given = before.replace(/%(?:25|2f)/gi, decodeURIComponent);
  const isBoth = id !== undefined && (parent === undefined || parent === given);
  return isBoth ? { id, parent: given } : { id: importId, parent };
}

/** Returns a context whose reads also end if `signal` aborts. */
export function endingWith(context: ReadContext, signal: AbortSignal | undefined): ReadContext {
  const { signal: own = signal } = context;
  return signal === undefined || own === undefined ? context : { ...context, signal: AbortSignal.any([own, signal]) };
}

/**
 * Returns the objects of a list by id, of one parent if the kind has a parent. Empty if the kind has no list, or if the parent no
 * longer exists. @param isLast returns true to end the read after this object.
 */
export async function collect(
  kind: Kind,
  context: ReadContext,
  parent: string | undefined,
  isLast: (remote: Remote) => boolean = () => false,
): Promise<ReadonlyMap<string, Remote>> {
  const found = new Map<string, Remote>();
  if (kind.list === undefined) return found;
  try {
    for await (const remote of kind.list(context, parent)) {
      found.set(remote.id, remote);
      if (isLast(remote)) break;
    }
  } catch (error) {
    // A parent that no longer exists has no objects. For a kind without a parent, 404 is an error.
    if (parent !== undefined && saysNotFound(error) && (await isWithout(context, parent))) return new Map();
    throw error instanceof HostformError ? error : new Error(`listing ${kind.type}`, { cause: error });
  }
  return found;
}

/** Returns true if the service does not exist, or is listed as deleted. Services are the only parents (§4). */
async function isWithout(context: ReadContext, serviceId: string): Promise<boolean> {
  const { client, signal } = context;
  for await (const record of client.services.list({ signal, whole: true }))
    if (record.id === serviceId) return lifeOf(record, context, LIVES.services).phase === "gone";
  return true;
}

/** Returns true if a read failed because the kind requires more than the ability `view`. */
export function isBeyondView({ listAbility }: Kind, error: unknown): error is HostformError {
  return (
    listAbility !== undefined &&
    error instanceof HostformError &&
    error.diagnostics.every(({ code }) => code === "api.forbidden")
  );
}
