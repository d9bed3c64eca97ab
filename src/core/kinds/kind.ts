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

/** Provider settings that kinds use to read a host's responses. */
export interface ReadSettings extends PhaseWords {
  /** Retention of an Idempotency-Key, in milliseconds. */
  readonly keyLifetimeMs?: number;
  /** Decimal digits of amounts. Contradicting amounts of the host are rejected. */
  readonly moneyScale?: number | undefined;
  /** Longest time before lists show a new object, in milliseconds. */
  readonly listLagMs?: number;
}

/** Access of a kind to the account. */
export interface ReadContext extends ListOptions {
  readonly client: Reader;
  readonly settings: ReadSettings;
}

/** An object of the account, as its kind reads it. */
export interface Remote extends Pick<Life, "end" | "off"> {
  readonly id: string;
  /** Attributes that the API returned. Attributes that the API never returns are missing. */
  readonly attributes: JsonObject;
  /** Phase. `gone` equals absent; hostform never acts on `unknown`. */
  readonly phase: Phase;
}

/** Contents of a response. */
interface Accepted {
  readonly attributes: JsonObject;
  readonly warning?: Diagnostic;
}

/** One request of a change, as a value, and the interpretation of its response. */
export interface ChangeStep<E extends MutationName = MutationName> {
  /** Text while the request runs, for example "suspending". */
  readonly name: string;
  readonly mutation: Mutation<E>;
  /** Returns the attributes in the response, and a warning. An error ends the change as incomplete. */
  accept(answer: Answers[E]): Accepted & {
    /** Result of the first empty response, whose content may have been lost. The next apply sends the request again. */
    readonly once?: Accepted;
  };
  /** Phase that proves the end of a queued job (§3). Undefined if the response already proves it. */
  readonly toward?: "live" | "suspended";
}

/** The created object. `id` is null if the response named none (an empty body); the object is then found by its natural key. */
export interface Created {
  readonly id: string | null;
  readonly attributes: JsonObject;
  readonly invoice: Invoice | null;
  /** Phase of the new object, for kinds with phases. Default: live. */
  readonly phase?: Phase;
  /** True if the response repeats an earlier order. The object is adopted without changes. */
  readonly replayed?: boolean;
  /** True if the object looks too old to be new. The response may repeat an old order whose object no longer exists. */
  readonly mayBeGone?: true;
  /** True if a successful response contains at most an id, which may be a job id. */
  readonly unclear?: true;
  /** Warning about the response. An error, for example about a missing one-time secret, ends the change as incomplete. */
  readonly warning?: Diagnostic;
}

/** Class of a creation, which decides what is possible after a lost response. */
export type Creation =
  | "keyed" // the same Idempotency-Key and bytes may be sent again
  | "listable" // the collection shows the result
  | "blind"; // nothing shows the result; never sent again automatically

/** Policies for removing objects without a DELETE. */
export type RemovalPolicy = "prevent" | "forget" | "suspend";

/**
 * Contract of every kind. Kinds are plain objects without state. They convert API objects to attributes, and attributes to
 * requests. They never send changing requests; the lifecycle does so after saving them.
 *
 * `list` and `get` only read. `create`, `update`, `remove` and `suspendSteps` return requests as values. They must be pure: the
 * same attributes give the same bytes. `created` and `ChangeStep.accept` must handle an empty response.
 */
export interface Kind<E extends MutationName = MutationName> {
  /** Terraform resource type, for example `hosting_service`. */
  readonly type: string;
  /** Section of the YAML declaration, for example `services`. */
  readonly section: string;
  /** Noun for sentences, for example "service". */
  readonly noun: string;
  /** Words and attributes that reports use to describe its resources. */
  readonly words: Omit<KindWords, "noun" | "plural">;
  /** One sentence for lists of kinds. */
  readonly summary: string;
  /** Markdown for the reference page: meaning, in-place changes, effect of a removal. */
  readonly description: string;
  /** Description for Terraform's reference page, if the YAML description would mislead. */
  readonly hcl?: string;
  /** YAML example for the reference page: one resource of the section. */
  readonly example: string;
  /** Attributes, each created with `attribute(…)`. Must contain `id`. */
  readonly attributes: z.ZodObject;
  /** Version that grows when the meaning of saved attributes changes. */
  readonly schemaVersion: number;
  /** Nesting inside another kind's block: the section key, and the attributes set from the block's key and parent. */
  readonly nested?: {
    readonly in: string;
    readonly section: string;
    readonly keyAttribute: string;
    readonly parentAttribute: string;
    /** Attribute that a single word sets in place of a map. */
    readonly shorthand?: string;
  };

  readonly creation: Creation;
  /** Order of a replacement. Undefined if no attribute is replaceable. */
  readonly replacement?: "create-first" | "delete-first";
  /** `delete`: the API can delete the object. `policy`: it cannot, so the attribute `deletion_policy` decides. */
  readonly removal: "delete" | "policy";
  /** Attribute with the parent's id. The parent's collection contains the object (grants: `service_id`). */
  readonly parent?: string;

  /** Checks rules across attributes. Called with evaluated, possibly unknown values, after each attribute was checked. */
  check?(config: ValueObject): Diagnostic[];
  /**
   * Checks rules between the declaration and the object or its hosting plan, before anything is sent. @param live Attributes of
   * the object. Undefined for a new object.
   */
  validateAgainstLive?(config: ValueObject, live: JsonObject | undefined, plans: readonly PlanRecord[]): Diagnostic[];
  /**
   * Values that the list of hosting plans adds to a live object. `attribute`: number of the plan, which an object may lack.
   * `name`: attribute with the name of the plan.
   */
  readonly fromCatalogue?: {
    readonly attribute: string;
    readonly name: string;
    /** Returns the numbers of the hosting plans with this name. */
    numbersOf(plans: readonly PlanRecord[], name: unknown): readonly number[];
  };
  /** Returns a reason not to create the object (an expired grant). Undefined if none exists. */
  expired?(config: ValueObject, now: number): string | undefined;

  /** Ability that the list needs, if not `view` (§4). A token with only `view` cannot read the kind. */
  readonly listAbility?: "technical";
  /** Ability that changes need, if not `technical` (§4). */
  readonly changeAbility?: "billing";
  /** Lists the collection, within a parent if the kind has one. Undefined if the API cannot list the kind. */
  list?(context: ReadContext, parent: string | undefined): AsyncIterable<Remote>;
  /** Reads one object by id. Undefined if only the listing shows the object. @throws ApiError 404. */
  get?(context: ReadContext, id: string): Promise<Remote>;
  /**
   * Returns a key that distinguishes objects of a collection, from declared or live attributes. Equal keys mean the same
   * object. Undefined while unknown.
   */
  naturalKey(attributes: ValueObject): string | undefined;
  /** Attributes of the natural key that every object has. If an object shows none of them, its key is unreadable. */
  readonly identity?: readonly string[];
  /**
   * Returns true if a live object may be the declared one although no natural key proves it: a service without a domain, or a
   * shortened name. True if unknown.
   */
  mayMatch?(config: ValueObject, live: ValueObject, plans: readonly PlanRecord[]): boolean;
  /** Used with `mayMatch`. Returns equal texts for two orders without a natural key that could explain the same object. */
  likeness?(config: ValueObject): string;
  /** Checks an additional condition for attribute sets with the same natural key. */
  sameIdentity?(config: ValueObject, live: ValueObject): boolean;

  /** Returns the request that creates the object. @param key Idempotency-Key, for `keyed` kinds. */
  create(planned: JsonObject, key: string | undefined): Mutation<E>;
  /** Interprets the response to the create request. */
  created(answer: Answers[E], planned: JsonObject, settings: ReadSettings): Created;
  /** Returns the stable name of an order within the project, for `keyed` kinds. Undefined if the address is the name. */
  orderReference?(config: ValueObject): string | undefined;

  /** Returns the requests that change `prior` to `planned` in place. `config` contains write-only values. */
  update?(prior: JsonObject, planned: JsonObject, config: JsonObject): ChangeStep[];
  /** Returns the phase of an object with these attributes. Undefined if always live. */
  phase?(attributes: ValueObject, settings: ReadSettings): Phase;
  /** Returns the in-place attributes that cannot change in this phase (a password before the service exists). */
  deferred?(phase: Phase): readonly string[];
  /**
   * Returns the computed attributes whose value is unknown after a change of `attribute`. @param before Current attributes.
   * Default: any.
   */
  invalidates?(attribute: string, before?: JsonObject): readonly string[];
  /** Returns the request that deletes the object. */
  remove?(attributes: JsonObject): Mutation;
  /** Returns the requests of the `suspend` policy, sent before the object leaves the state. */
  suspendSteps?(attributes: JsonObject): ChangeStep[];

  /** Returns true if an API event (§6) concerns a resource with these attributes. `watch` then reads the resource. */
  isNamedBy?(event: EventSubject, attributes: JsonObject): boolean;
  /**
   * Returns the price of an order, from the API's list of hosting plans. For paid kinds. @param isOrdered True if the order was
   * already sent.
   */
  quote?(
    planned: ValueObject,
    plans: readonly PlanRecord[],
    isOrdered?: boolean,
  ): { quote: Quote; diagnostic?: Diagnostic };
}

/** Name and ids of an event. All other content is read from the API. */
export interface EventSubject {
  /** Name of the event (§6). */
  readonly event: string;
  /** Id of a service. For an invoice: its order. */
  readonly service: string | undefined;
  readonly invoice: string | undefined;
}

/** Returns true if an attribute contains the id of an event. */
export const holdsId = (value: Json | undefined, id: string | undefined): boolean => id !== undefined && value === id;

/** Returns the attributes that people and lists use to distinguish objects. */
export const identityOf = ({ identity, words }: Pick<Kind, "identity" | "words">): readonly string[] =>
  identity ?? [words.name];

/** Returns the words of a kind, as a change stores them. */
export const wordsOf = ({ noun, section, words }: Kind): KindWords => ({
  noun,
  plural: section.replaceAll("_", " "),
  ...words,
});

/** An attribute of a kind with its metadata. */
export interface AttributeEntry {
  readonly name: string;
  readonly type: z.ZodType;
  readonly meta: AttributeMeta;
}

export type Kinds = ReadonlyMap<string, Kind>;

/**
 * Interprets the response to the create request of a free kind.
 * @param field Field that every response with the object contains.
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

/** Returns true if a live object is the declared one by natural key (for adoption, and after a lost response). */
export function matches(kind: Kind, config: ValueObject, live: ValueObject): boolean {
  const key = naturalKeyOf(kind, config);
  return key !== undefined && key === naturalKeyOf(kind, live) && (kind.sameIdentity?.(config, live) ?? true);
}

const naturalKeys = new WeakMap<Kind, WeakMap<ValueObject, { readonly key: string | undefined }>>();

/** Caches natural keys, because each creation is compared with all live objects. */
function naturalKeyOf(kind: Kind, attributes: ValueObject): string | undefined {
  const known = naturalKeys.get(kind) ?? new WeakMap<ValueObject, { readonly key: string | undefined }>();
  naturalKeys.set(kind, known);
  const entry = known.get(attributes) ?? { key: kind.naturalKey(attributes) };
  known.set(attributes, entry);
  return entry.key;
}

/**
 * Returns the kind for Terraform, where the resource address is unknown. An order without `reference` is named by its natural
 * key, the domain.
 */
export function namedByDomain(kind: Kind): Kind {
  if (kind.creation !== "keyed") return kind;
  return {
    ...kind,
    orderReference: (config) =>
      config.reference === UNKNOWN ? undefined : (kind.orderReference?.(config) ?? kind.naturalKey(config)),
  };
}

/** Returns the import id of an object. For an object inside a parent: both ids, separated by the first `/`. Ids are opaque. */
export function importIdOf(kind: Kind, id: string, attributes: ValueObject): string {
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  if (parent === undefined || parent === null) return id;
  return `${String(parent).replace(/[%/]/g, encodeURIComponent)}/${id}`;
}

/**
 * Splits an import id. An object id may also contain `/`, so the id is split only if it begins with the known parent.
 * @param parent Id of the declared parent. Undefined if unknown.
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

/** Returns a context whose reads also end with this signal. */
export function endingWith(context: ReadContext, signal: AbortSignal | undefined): ReadContext {
  const { signal: own = signal } = context;
  return signal === undefined || own === undefined ? context : { ...context, signal: AbortSignal.any([own, signal]) };
}

/**
 * Reads a collection by id, within a parent if the kind has one. Empty if the kind cannot be listed or the parent no longer
 * exists.
 * @param isLast Returns true if no further objects are needed.
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
    // The collection of a missing parent is empty. A missing top-level collection is an error.
    if (parent !== undefined && saysNotFound(error) && (await isWithout(context, parent))) return new Map();
    throw error instanceof HostformError ? error : new Error(`listing ${kind.type}`, { cause: error });
  }
  return found;
}

/**
 * Returns true if the account has no such service, or lists the service as ended. Services are the only kind of parent (§4:
 * grants of a service).
 */
async function isWithout(context: ReadContext, serviceId: string): Promise<boolean> {
  const { client, signal } = context;
  for await (const record of client.services.list({ signal, whole: true }))
    if (record.id === serviceId) return lifeOf(record, context, LIVES.services).phase === "gone";
  return true;
}

/** Returns true if a read failed because the kind needs more than the ability `view`. */
export function isBeyondView({ listAbility }: Kind, error: unknown): error is HostformError {
  return (
    listAbility !== undefined &&
    error instanceof HostformError &&
    error.diagnostics.every(({ code }) => code === "api.forbidden")
  );
}
