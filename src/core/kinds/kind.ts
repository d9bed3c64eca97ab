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

/** Settings of a provider that affect how kinds interpret responses. */
export interface ReadSettings extends PhaseWords {
  /** Lifetime of an Idempotency-Key at the host, in milliseconds. */
  readonly keyLifetimeMs?: number;
  /** Decimal places of amounts (`money_scale`). An amount that contradicts the scale is an error. */
  readonly moneyScale?: number | undefined;
  /** Longest time until lists contain a new object, in milliseconds. */
  readonly listLagMs?: number;
}

/** Client and settings with which a kind reads the account. */
export interface ReadContext extends ListOptions {
  readonly client: Reader;
  readonly settings: ReadSettings;
}

/** An object of the account. */
export interface Remote extends Pick<Life, "end" | "off"> {
  readonly id: string;
  /** Attributes in the response. Missing attributes are undefined. */
  readonly attributes: JsonObject;
  /** Phase of the object. `gone`: the object has ended. `unknown`: hostform never changes the object. */
  readonly phase: Phase;
}

/** Content of a response. */
interface Accepted {
  readonly attributes: JsonObject;
  readonly warning?: Diagnostic;
}

/** One request of a change, and the function that interprets its response. */
export interface ChangeStep<E extends MutationName = MutationName> {
  /** Name of the step in progress lines, for example "suspending". */
  readonly name: string;
  readonly mutation: Mutation<E>;
  /** Interprets the response: returns attributes, and a warning. With an error, the change stays incomplete. */
  accept(answer: Answers[E]): Accepted & {
    /**
     * Result if the response was empty for the first time, because its content may be lost. The next apply sends the request
     * once more.
     */
    readonly once?: Accepted;
  };
  /** Phase at the end of a queued job (§3). Undefined if the step ends with the response. */
  readonly toward?: "live" | "suspended";
}

/** Result of a create request. If `id` is null, hostform searches for the object by its natural key. */
export interface Created {
  readonly id: string | null;
  readonly attributes: JsonObject;
  readonly invoice: Invoice | null;
  /** Phase of the new object. Default: live. */
  readonly phase?: Phase;
  /** True if the API repeated the response to an earlier order. hostform then adopts the object without changes. */
  readonly replayed?: boolean;
  /** True if the object looks older than the order. It may be the object of an earlier order, and may no longer exist. */
  readonly mayBeGone?: true;
  /** True if the response does not identify the object. Its id may be the id of a job. */
  readonly unclear?: true;
  /** Warning or error about the response. With an error, such as a missing one-time secret, the change stays incomplete. */
  readonly warning?: Diagnostic;
}

/** Class of a create request. Determines what hostform does after a lost response. */
export type Creation =
  | "keyed" // hostform may repeat the request with the same Idempotency-Key and bytes
  | "listable" // the list shows whether the object exists
  | "blind"; // no list contains the object: hostform never repeats the request automatically

/** Values of deletion_policy for objects without a DELETE endpoint. */
export type RemovalPolicy = "prevent" | "forget" | "suspend";

/**
 * The contract of each kind. Kinds are objects without state. They convert API records to attributes, and attributes to
 * requests. Only the lifecycle sends changing requests.
 *
 * `list` and `get` only read. `create`, `update`, `remove` and `suspendSteps` return requests as values and must be pure: the
 * same attributes give the same bytes. `created` and `ChangeStep.accept` must accept an empty response.
 */
export interface Kind<E extends MutationName = MutationName> {
  /** Terraform resource type, for example `hosting_service`. */
  readonly type: string;
  /** Section of the YAML declaration, for example `services`. */
  readonly section: string;
  /** Noun for sentences: "service", "webhook". */
  readonly noun: string;
  /** Words and attributes that reports use to describe resources of the kind. */
  readonly words: Omit<KindWords, "noun" | "plural">;
  /** One sentence for lists of kinds. */
  readonly summary: string;
  /** Markdown for the reference page: semantics, changes in place, and removal. */
  readonly description: string;
  /** Description for Terraform's reference page. Undefined if `description` is also correct there. */
  readonly hcl?: string;
  /** Example for the reference page: the YAML of one resource in its section. */
  readonly example: string;
  /** Attributes, each created with `attribute(…)`. Must contain `id`. */
  readonly attributes: z.ZodObject;
  /** Version of the attributes in the state. Increases if their meaning changes. */
  readonly schemaVersion: number;
  /** Place inside the block of another kind: its section, and the attributes for the block's key and for the parent. */
  readonly nested?: {
    readonly in: string;
    readonly section: string;
    readonly keyAttribute: string;
    readonly parentAttribute: string;
    /** Attribute that a single word instead of a map sets. */
    readonly shorthand?: string;
  };

  readonly creation: Creation;
  /** Order of a replacement. Undefined if no attribute is replaceable. */
  readonly replacement?: "create-first" | "delete-first";
  /** `delete`: the API has DELETE. `policy`: it does not, so `deletion_policy` applies. */
  readonly removal: "delete" | "policy";
  /** Attribute with the id of the parent object (grants: `service_id`). */
  readonly parent?: string;

  /** Checks rules that concern several attributes. Runs after each attribute was validated. Values may be unknown. */
  check?(config: ValueObject): Diagnostic[];
  /**
   * Checks the declared attributes against the existing object or the ordered hosting plan, before any request is sent.
   * @param live Attributes of the object. Undefined for a new object.
   */
  validateAgainstLive?(config: ValueObject, live: JsonObject | undefined, plans: readonly PlanRecord[]): Diagnostic[];
  /**
   * Attributes that the list of hosting plans completes. `attribute`: number of the hosting plan, which the API may omit.
   * `name`: attribute with the name of the hosting plan.
   */
  readonly fromCatalogue?: {
    readonly attribute: string;
    readonly name: string;
    /** Returns the numbers of the hosting plans with this name. */
    numbersOf(plans: readonly PlanRecord[], name: unknown): readonly number[];
  };
  /** Returns the reason why the object must not be created, such as an expired grant. Undefined if there is none. */
  expired?(config: ValueObject, now: number): string | undefined;

  /** Ability that the list requires. Default: `view` (§4). */
  readonly listAbility?: "technical";
  /** Ability that changes require. Default: `technical` (§4). */
  readonly changeAbility?: "billing";
  /** Lists the objects: all, or those of one parent. Undefined if the API has no list. */
  list?(context: ReadContext, parent: string | undefined): AsyncIterable<Remote>;
  /** Reads one object by id. Undefined if the API has no GET. @throws ApiError 404. */
  get?(context: ReadContext, id: string): Promise<Remote>;
  /**
   * Returns the natural key in declared or live attributes. Objects with equal natural keys are the same object. Undefined if
   * unknown.
   */
  naturalKey(attributes: ValueObject): string | undefined;
  /** Attributes of the natural key that every object has. If a live object lacks one, its natural key is unreadable. */
  readonly identity?: readonly string[];
  /**
   * Returns true if a live object may be the declared object although the natural keys differ: a service without a domain, or
   * a name that the host shortened. Also true if this is unknown.
   */
  mayMatch?(config: ValueObject, live: ValueObject, plans: readonly PlanRecord[]): boolean;
  /**
   * Returns a key for orders without a natural key. Two orders with equal keys could each explain the same object. Required
   * by `mayMatch`.
   */
  likeness?(config: ValueObject): string;
  /** Returns false if two objects differ although their natural keys are equal. */
  sameIdentity?(config: ValueObject, live: ValueObject): boolean;

  /** Returns the create request. @param key Idempotency-Key of `keyed` kinds. */
  create(planned: JsonObject, key: string | undefined): Mutation<E>;
  /** Interprets the response to the create request. */
  created(answer: Answers[E], planned: JsonObject, settings: ReadSettings): Created;
  /**
   * Returns the stable name of an order within the project, for `keyed` kinds. Undefined if the order is named by its
   * address.
   */
  orderReference?(config: ValueObject): string | undefined;

  /** Returns the requests that change `prior` to `planned` in place. `config` contains write-only values. */
  update?(prior: JsonObject, planned: JsonObject, config: JsonObject): ChangeStep[];
  /** Returns the phase of an object. Undefined if all objects of the kind are live. */
  phase?(attributes: ValueObject, settings: ReadSettings): Phase;
  /**
   * Returns the in-place attributes that the API cannot change in this phase, such as a password before the service is live.
   */
  deferred?(phase: Phase): readonly string[];
  /**
   * Returns the computed attributes that are unknown after a change of `attribute`.
   * @param before Current attributes. Default: any.
   */
  invalidates?(attribute: string, before?: JsonObject): readonly string[];
  /** Returns the delete request. */
  remove?(attributes: JsonObject): Mutation;
  /** Returns the requests of `deletion_policy: suspend`. They run before the resource leaves the state. */
  suspendSteps?(attributes: JsonObject): ChangeStep[];

  /** Returns true if an event of the API (§6) concerns the object with these attributes. `watch` then reads this object. */
  isNamedBy?(event: EventSubject, attributes: JsonObject): boolean;
  /**
   * Returns the price of an order from the list of hosting plans, for paid kinds.
   * @param isOrdered True if the order was sent earlier.
   */
  quote?(
    planned: ValueObject,
    plans: readonly PlanRecord[],
    isOrdered?: boolean,
  ): { quote: Quote; diagnostic?: Diagnostic };
}

/** Name and ids in an event. hostform reads everything else from the API. */
export interface EventSubject {
  /** Name of the event (§6). */
  readonly event: string;
  /** Id of the service. For events about invoices: the order of the invoice. */
  readonly service: string | undefined;
  readonly invoice: string | undefined;
}

/** Returns true if an attribute equals the id in an event. */
export const holdsId = (value: Json | undefined, id: string | undefined): boolean => id !== undefined && value === id;

/** Returns the attributes that identify an object for people and in lists. */
export const identityOf = ({ identity, words }: Pick<Kind, "identity" | "words">): readonly string[] =>
  identity ?? [words.name];

/** Returns the words that a change of this kind stores for reports. */
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
 * Interprets the response to a create request of a free kind.
 * @param field Field that is in every response that contains the object.
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

/** Returns those of the named attributes that have a value. */
export const presentIn = (attributes: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (attributes[name] == null ? [] : [[name, attributes[name]]])));

/** Returns true if a live object and a declared resource have the same natural key. */
export function matches(kind: Kind, config: ValueObject, live: ValueObject): boolean {
  const key = naturalKeyOf(kind, config);
  return key !== undefined && key === naturalKeyOf(kind, live) && (kind.sameIdentity?.(config, live) ?? true);
}

const naturalKeys = new WeakMap<Kind, WeakMap<ValueObject, { readonly key: string | undefined }>>();

/** Returns the cached natural key: each declared resource is compared with all live objects. */
function naturalKeyOf(kind: Kind, attributes: ValueObject): string | undefined {
  const known = naturalKeys.get(kind) ?? new WeakMap<ValueObject, { readonly key: string | undefined }>();
  naturalKeys.set(kind, known);
  const entry = known.get(attributes) ?? { key: kind.naturalKey(attributes) };
  known.set(attributes, entry);
  return entry.key;
}

/**
 * Returns the kind for Terraform, where resource addresses are unknown. The domain then names an order without `reference`.
 */
export function namedByDomain(kind: Kind): Kind {
  if (kind.creation !== "keyed") return kind;
  return {
    ...kind,
    orderReference: (config) =>
      config.reference === UNKNOWN ? undefined : (kind.orderReference?.(config) ?? kind.naturalKey(config)),
  };
}

/** Returns the import id of an object. If the kind has a parent: `PARENT/ID`, where the first `/` ends the parent's id. */
export function importIdOf(kind: Kind, id: string, attributes: ValueObject): string {
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  if (parent === undefined || parent === null) return id;
  return `${String(parent).replace(/[%/]/g, encodeURIComponent)}/${id}`;
}

/**
 * Splits an import id. An object id may contain `/`, so only a known parent id is split off.
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

/**
 * Returns the listed object with this id, or else all objects with this domain, e-mail address, URL or name. Ended objects, which hosts
 * may keep, are last.
 */
export function namedIn(kind: Kind, listed: ReadonlyMap<string, Remote>, name: string): readonly Remote[] {
  const own = listed.get(name);
  if (own !== undefined) return [own];
  const named = [...listed.values()].filter(({ attributes }) => {
    const key = kind.naturalKey(attributes);
    return key !== undefined && key === kind.naturalKey({ ...attributes, [kind.words.name]: name });
  });
  return named.sort((a, b) => Number(a.phase === "gone") - Number(b.phase === "gone"));
}

/** Returns a context whose requests also end if `signal` is aborted. */
export function endingWith(context: ReadContext, signal: AbortSignal | undefined): ReadContext {
  const { signal: own = signal } = context;
  return signal === undefined || own === undefined ? context : { ...context, signal: AbortSignal.any([own, signal]) };
}

/**
 * Reads a list: all objects, or those of one parent, by id. Empty if the API has no list or the parent no longer exists.
 * @param isLast Returns true if reading may stop after this object.
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
    // A parent that no longer exists has no children. Without a parent, a 404 is an error.
    if (parent !== undefined && saysNotFound(error) && (await isWithout(context, parent))) return new Map();
    throw error instanceof HostformError ? error : new Error(`listing ${kind.type}`, { cause: error });
  }
  return found;
}

/** Returns true if the service does not exist or has ended. Only services are parents (§4). */
async function isWithout(context: ReadContext, serviceId: string): Promise<boolean> {
  const { client, signal } = context;
  for await (const record of client.services.list({ signal, whole: true }))
    if (record.id === serviceId) return lifeOf(record, context, LIVES.services).phase === "gone";
  return true;
}

/** Returns true if a read failed because the list requires another ability than `view`. */
export function isBeyondView({ listAbility }: Kind, error: unknown): error is HostformError {
  return (
    listAbility !== undefined &&
    error instanceof HostformError &&
    error.diagnostics.every(({ code }) => code === "api.forbidden")
  );
}
