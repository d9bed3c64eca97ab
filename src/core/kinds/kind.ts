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

/** Settings of a provider by which kinds read a host's answers. */
export interface ReadSettings extends PhaseWords {
  /** Retention of an Idempotency-Key, in milliseconds. */
  readonly keyLifetimeMs?: number;
  /** Digits after the decimal point of amounts: an amount of the host that contradicts it is refused. */
  readonly moneyScale?: number | undefined;
  /** Longest time that a list lacks a new object, in milliseconds. */
  readonly listLagMs?: number;
}

/** Access of a kind to the account. */
export interface ReadContext extends ListOptions {
  readonly client: Reader;
  readonly settings: ReadSettings;
}

/** An object of the account as a kind reads it. */
export interface Remote extends Pick<Life, "end" | "off"> {
  readonly id: string;
  /** The kind's attributes that the API returned; those it never returns are absent. */
  readonly attributes: JsonObject;
  /** `gone` is as good as absent; `unknown` is never acted upon. */
  readonly phase: Phase;
}

/** Content of an answer. */
interface Accepted {
  readonly attributes: JsonObject;
  readonly warning?: Diagnostic;
}

/** One request of a change, as a value, with what its answer means. */
export interface ChangeStep<E extends MutationName = MutationName> {
  /** Shown while it runs: "suspending". */
  readonly name: string;
  readonly mutation: Mutation<E>;
  /** The attributes that the answer shows, and a warning; an error ends the change as not completed. */
  accept(answer: Answers[E]): Accepted & {
    /** For an empty answer, whose content may have been lost: what holds the first time. The next apply sends it once more. */
    readonly once?: Accepted;
  };
  /** For queued jobs (§3): the phase of the object that shows that the job is done. Absent: done with the answer. */
  readonly toward?: "live" | "suspended";
}

/** The object that a create made. `id` null: the answer named none (an empty body); it is looked up by its natural key. */
export interface Created {
  readonly id: string | null;
  readonly attributes: JsonObject;
  readonly invoice: Invoice | null;
  /** For kinds with phases: what the new object shows. Default: live. */
  readonly phase?: Phase;
  /** The answer was that of an earlier order: the object is adopted, and not changed. */
  readonly replayed?: boolean;
  /** The object looks too old to be new: the answer may be that of an order from long ago, whose object is gone. */
  readonly mayBeGone?: true;
  /** The answer is a success, but shows no more of an object than perhaps an id, which may be that of a job. */
  readonly unclear?: true;
  /** An error, of a missing one-time secret for example, ends the change as not completed. */
  readonly warning?: Diagnostic;
}

/** The class of a create: what may be done after a lost answer. */
export type Creation =
  | "keyed" // the same Idempotency-Key and bytes may be sent again
  | "listable" // the collection shows whether it happened
  | "blind"; // nothing shows it: it is never sent again automatically

/** The policies for removing what has no DELETE. */
export type RemovalPolicy = "prevent" | "forget" | "suspend";

/**
 * The contract of every kind. Kinds are plain objects without state of their own: they turn records into attributes and
 * attributes into requests; they never send anything that changes something (the lifecycle does, after writing it down).
 *
 * The contract: `list` and `get` only read. `create`, `update`, `remove` and `suspendSteps` return requests as values and
 * must be pure: the same attributes give the same bytes. `created` and
 * `ChangeStep.accept` must cope with an empty answer.
 */
export interface Kind<E extends MutationName = MutationName> {
  /** Terraform's resource type: `hosting_service`. */
  readonly type: string;
  /** The section of the YAML declaration: `services`. */
  readonly section: string;
  /** "service", "webhook": for sentences. */
  readonly noun: string;
  /** Words and attributes by which reports describe its resources. */
  readonly words: Omit<KindWords, "noun" | "plural">;
  /** One sentence for lists of kinds. */
  readonly summary: string;
  /** Markdown for the reference page: semantics, what changes in place, what removal means. */
  readonly description: string;
  /** The description for Terraform's reference page, where the one for YAML would mislead. */
  readonly hcl?: string;
  /** A declaration for the reference page: the YAML of one resource of the section. */
  readonly example: string;
  /** The attributes; each written with `attribute(…)`. Must contain `id`. */
  readonly attributes: z.ZodObject;
  /** Grows when the meaning of recorded attributes changes. */
  readonly schemaVersion: number;
  /** For kinds declared inside another kind's block: the section key there, and what the block's key and parent become. */
  readonly nested?: {
    readonly in: string;
    readonly section: string;
    readonly keyAttribute: string;
    readonly parentAttribute: string;
    /** The attribute that a single word means in place of a map. */
    readonly shorthand?: string;
  };

  readonly creation: Creation;
  /** Order of a replacement; absent: no attribute is replaceable. */
  readonly replacement?: "create-first" | "delete-first";
  /** `delete`: the API removes it. `policy`: it cannot; the attribute deletion_policy decides. */
  readonly removal: "delete" | "policy";
  /** The attribute that holds the id of the object whose collection this one is in (grants: `service_id`). */
  readonly parent?: string;

  /** Rules across attributes. Called with evaluated, possibly unknown values, after each attribute was checked alone. */
  check?(config: ValueObject): Diagnostic[];
  /**
   * Rules between what is declared and what the object is, or will be by the plan that is ordered: checked before anything is
   * ordered or sent. @param live attributes of the object; undefined for a new one.
   */
  validateAgainstLive?(config: ValueObject, live: JsonObject | undefined, plans: readonly PlanRecord[]): Diagnostic[];
  /**
   * What the list of plans adds to a live object. `attribute`: the number of the plan, which an object may not show. `name`: the
   * attribute that shows the name of the plan.
   */
  readonly fromCatalogue?: {
    readonly attribute: string;
    readonly name: string;
    /** Returns the numbers of the plans with this name. */
    numbersOf(plans: readonly PlanRecord[], name: unknown): readonly number[];
  };
  /** A reason not to create (an expired grant), or undefined. */
  expired?(config: ValueObject, now: number): string | undefined;

  /** The ability that the list needs, where that is not `view` (§4): a token that only views cannot read the kind. */
  readonly listAbility?: "technical";
  /** The ability that its changes need, where that is not `technical` (§4). */
  readonly changeAbility?: "billing";
  /** Lists the collection (of one parent, where the kind has one). Absent: the API has no way to read the kind. */
  list?(context: ReadContext, parent: string | undefined): AsyncIterable<Remote>;
  /** Reads one object by id. Absent: only the listing shows it. @throws ApiError 404. */
  get?(context: ReadContext, id: string): Promise<Remote>;
  /**
   * What distinguishes the object from others of its collection, from declared or live attributes: two with the same key
   * are the same thing. Undefined while it is not known.
   */
  naturalKey(attributes: ValueObject): string | undefined;
  /** The attributes that the natural key is made of and that every object has: one that shows none of it cannot be read. */
  readonly identity?: readonly string[];
  /**
   * Returns true if a live object may be the declared one although no natural key says so: a server without a domain, a name that the
   * host has cut. True when that is not known.
   */
  mayMatch?(config: ValueObject, live: ValueObject, plans: readonly PlanRecord[]): boolean;
  /** Goes with `mayMatch`: the same for two orders without a natural key when the object of one may be that of the other. */
  likeness?(config: ValueObject): string;
  /** A further condition on two attribute sets with the same natural key. */
  sameIdentity?(config: ValueObject, live: ValueObject): boolean;

  /** The request that creates the object. @param key for `keyed` kinds. */
  create(planned: JsonObject, key: string | undefined): Mutation<E>;
  /** Interprets the answer to the create. */
  created(answer: Answers[E], planned: JsonObject, settings: ReadSettings): Created;
  /** For `keyed` kinds: the stable name of the order within the project, when it is not the address. */
  orderReference?(config: ValueObject): string | undefined;

  /** The requests that turn `prior` into `planned` in place; write-only values stand in `config`. */
  update?(prior: JsonObject, planned: JsonObject, config: JsonObject): ChangeStep[];
  /** The phase that an object with these attributes is in. Absent: always live. */
  phase?(attributes: ValueObject, settings: ReadSettings): Phase;
  /** Returns the in-place attributes that cannot change yet in this phase (a password before the service exists). */
  deferred?(phase: Phase): readonly string[];
  /** Computed attributes whose value is unknown after a change of `attribute`. @param before what it is now; default: anything. */
  invalidates?(attribute: string, before?: JsonObject): readonly string[];
  /** The request that removes it. */
  remove?(attributes: JsonObject): Mutation;
  /** For deletion_policy `suspend`: the requests before it is forgotten. */
  suspendSteps?(attributes: JsonObject): ChangeStep[];

  /** Returns true if an event of the API (§6) is about a resource with these attributes: `watch` then reads the resource. */
  isNamedBy?(event: EventSubject, attributes: JsonObject): boolean;
  /** For what is paid: the price of an order, from the API's list of plans. @param isOrdered the order was sent before. */
  quote?(
    planned: ValueObject,
    plans: readonly PlanRecord[],
    isOrdered?: boolean,
  ): { quote: Quote; diagnostic?: Diagnostic };
}

/** The event's name and the ids in it. All other content is read from the API. */
export interface EventSubject {
  /** Its name (§6). */
  readonly event: string;
  /** The id of a service: the order of an invoice. */
  readonly service: string | undefined;
  readonly invoice: string | undefined;
}

/** Returns true if an attribute holds the id that an event names. */
export const holdsId = (value: Json | undefined, id: string | undefined): boolean => id !== undefined && value === id;

/** The attributes by which people and lists distinguish two objects. */
export const identityOf = ({ identity, words }: Pick<Kind, "identity" | "words">): readonly string[] =>
  identity ?? [words.name];

/** The words of a kind, as a change holds them. */
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
 * What the answer to the create of an unpaid kind shows.
 * @param field a field that every answer which shows the object has.
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

/** The attributes of these names that have a value. */
export const presentIn = (attributes: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (attributes[name] == null ? [] : [[name, attributes[name]]])));

/** Returns true if a live object is the declared one by natural key (for adoption, and after a lost answer). */
export function matches(kind: Kind, config: ValueObject, live: ValueObject): boolean {
  const key = naturalKeyOf(kind, config);
  return key !== undefined && key === naturalKeyOf(kind, live) && (kind.sameIdentity?.(config, live) ?? true);
}

const naturalKeys = new WeakMap<Kind, WeakMap<ValueObject, { readonly key: string | undefined }>>();

/** Each create is compared with all live objects: folding a domain once for each object, not for each pair. */
function naturalKeyOf(kind: Kind, attributes: ValueObject): string | undefined {
  const known = naturalKeys.get(kind) ?? new WeakMap<ValueObject, { readonly key: string | undefined }>();
  naturalKeys.set(kind, known);
  const entry = known.get(attributes) ?? { key: kind.naturalKey(attributes) };
  known.set(attributes, entry);
  return entry.key;
}

/**
 * The kind where the address of a resource is not known (in Terraform): an order without `reference` is named by its
 * natural key, the domain.
 */
export function namedByDomain(kind: Kind): Kind {
  if (kind.creation !== "keyed") return kind;
  return {
    ...kind,
    orderReference: (config) =>
      config.reference === UNKNOWN ? undefined : (kind.orderReference?.(config) ?? kind.naturalKey(config)),
  };
}

/** The id by which an object is imported: of what is in a parent's collection, that of both. Ids are opaque; the first `/` ends the parent's. */
export function importIdOf(kind: Kind, id: string, attributes: ValueObject): string {
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  if (parent === undefined || parent === null) return id;
  return `${String(parent).replace(/[%/]/g, encodeURIComponent)}/${id}`;
}

/**
 * The object that an import id names. An id alone may hold `/` as well, so it names both only if it begins with the known parent.
 * @param parent id of the declared parent; undefined if it is not known.
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

/** The context of reads that end with a signal as well. */
export function endingWith(context: ReadContext, signal: AbortSignal | undefined): ReadContext {
  const { signal: own = signal } = context;
  return signal === undefined || own === undefined ? context : { ...context, signal: AbortSignal.any([own, signal]) };
}

/**
 * A collection (of one parent, for kinds that have one), by id. Empty when the kind cannot be listed, or the parent is gone.
 * @param isLast returns true if nothing more is wanted after this one.
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
    // The collection of a parent that is gone is empty; a flat collection that is not found is an error.
    if (parent !== undefined && saysNotFound(error) && (await isWithout(context, parent))) return new Map();
    throw error instanceof HostformError ? error : new Error(`listing ${kind.type}`, { cause: error });
  }
  return found;
}

/** Returns true if the account has no such service, or its row has ended: the only kind of parent (§4: grants of a service). */
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
