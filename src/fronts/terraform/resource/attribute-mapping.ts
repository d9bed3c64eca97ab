/**
 * How the values that Terraform has of a resource, its attributes and its private mark, and those of the lifecycle become each
 * other.
 */
import { type Kind, kinds, namedByDomain } from "../../../core/kinds/index.ts";
import { attributesOf, sensitiveNames } from "../../../core/lifecycle/index.ts";
import {
  equal,
  fail,
  hasUnknown,
  isObject,
  type JsonObject,
  PENDING_CREATE,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { schemaOf } from "../schema/of-kind.ts";

/**
 * A kind as Terraform's users meet it. Terraform sends no address: an order is named by its `reference` or, without one,
 * by what distinguishes it from others (the domain); what has neither needs one.
 */
export function terraformKind(type: string): Kind {
  return named.get(type) ?? fail("internal", `This provider has no resource ${type}`);
}

const named = new Map([...kinds.values()].map((kind) => [kind.type, namedByDomain(kind)]));

/** What the object is called in messages: Terraform itself adds the address. */
export function labelOf(kind: Kind, attributes: ValueObject): string {
  const name = ["domain", "reference", "email", "url", "name", "id"].find(
    (each) => typeof attributes[each] === "string",
  );
  return name === undefined ? `this ${kind.noun}` : `${kind.noun} ${String(attributes[name])}`;
}

/** What the journal knows the object by, with its parent; undefined when nothing distinguishes it from others (yet). */
export function nameOf(kind: Kind, attributes: ValueObject): string | undefined {
  const name = kind.creation === "keyed" ? kind.orderReference?.(attributes) : kind.naturalKey(attributes);
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  return name === undefined || parent === undefined ? name : `${String(parent)} ${name}`;
}

/** The declared attributes of the kind: those that are given, without what only Terraform has (`timeouts`). */
export function declaredIn(kind: Kind, config: ValueObject): ValueObject {
  const given = attributesOf(kind).filter(([name]) => config[name] !== null && config[name] !== undefined);
  return Object.fromEntries(given.map(([name]) => [name, config[name] as Value]));
}

/** A recorded object as the lifecycle takes it. */
export function recordedAs(kind: Kind, state: JsonObject, mark: PrivateMark): ResourceState {
  return {
    address: labelOf(kind, state),
    provider: "default",
    schemaVersion: kind.schemaVersion,
    attributes: Object.fromEntries(attributesOf(kind).map(([name]) => [name, state[name] ?? null])),
    sensitive: sensitiveNames(kind),
    private: mark,
    dependencies: [],
  };
}

/** Attributes of the kind, with those that only Terraform has taken from `source`. */
export function withProviderAttributes(kind: Kind, attributes: ValueObject, source: ValueObject): ValueObject {
  const own = new Set(attributesOf(kind).map(([name]) => name));
  return { ...Object.fromEntries(Object.entries(source).filter(([name]) => !own.has(name))), ...attributes };
}

/**
 * Planned values as Terraform accepts them: what is declared stands in the plan as it is declared, or as it was before
 * where that means the same. @returns the names of attributes that had to be put back to the declaration.
 */
export function conform(
  kind: Kind,
  planned: ValueObject,
  { config, prior }: { readonly config: ValueObject; readonly prior: JsonObject | null },
): { readonly values: ValueObject; readonly overruled: readonly string[] } {
  const values: Record<string, Value> = { ...planned };
  const overruled: string[] = [];
  for (const [name, , meta] of attributesOf(kind)) {
    const declared: Value = config[name] ?? null;
    const now: Value = values[name] ?? null;
    const before: Value = prior?.[name] ?? null;
    const kept = before !== null && equal(now, before);
    if (meta.writeOnly) values[name] = null;
    else if (declared !== null && !equal(now, declared) && !kept) {
      values[name] = declared;
      if (!hasUnknown(declared)) overruled.push(name);
    } else if (declared === null && now !== null && !schemaOf(kind).attributes[name]?.computed) {
      // What was declared once, and what nothing but a declaration gives: the coupon of an order that was placed with it.
      values[name] = null;
    }
  }
  return { values, overruled };
}

/**
 * Attributes whose values no message repeats: secrets, and what is free in its form. What the user has marked as sensitive
 * Terraform keeps out of its own output, but not out of diagnostics, and the provider does not learn of it.
 */
export function hiddenNames(kind: Kind): string[] {
  const { attributes } = schemaOf(kind);
  return Object.entries(attributes).flatMap(([name, { type, sensitive }]) =>
    sensitive || typeof type === "object" || name === "coupon_code" ? [name] : [],
  );
}

/** A value for a message. */
export function shownValue(kind: Kind, name: string, value: Value): string {
  return hiddenNames(kind).includes(name) ? "(not shown)" : JSON.stringify(value);
}

/** An object in whose place another is to be made. */
export interface Replaced {
  readonly id: string;
  /** The name of its order. */
  readonly name?: string;
  /** Its deletion_policy does not let go of it. */
  readonly prevented?: true;
}

/**
 * What Terraform keeps for the provider beside the attributes (`private`): the lifecycle's mark, in the form in which
 * hostform's own state has it, so that a state passes from one to the other.
 */
export interface Mark extends PrivateMark {
  /** Of what the provider has made: the name that it was made under (of an order, that of its Idempotency-Key). */
  readonly made?: string;
  /** The host whose ids are meant ({@link ProviderSession.host}). */
  readonly host?: string;
  /** Its one-time secret did not come with its creation: Terraform has it marked as tainted, unless its user took that back. */
  readonly lost?: true;
  /** In a plan only: the object that a create would take the place of, if this becomes a replacement. */
  readonly replacing?: Replaced;
}

/** Attributes as the core takes them: a pending create has no id. */
export const withoutPendingId = <T extends ValueObject>(attributes: T): T =>
  attributes.id === PENDING_CREATE ? { ...attributes, id: null } : attributes;

/** The same for Terraform. */
export const withPendingId = <T extends ValueObject>(attributes: T, { pending }: PrivateMark): T =>
  pending !== undefined && attributes.id == null ? { ...attributes, id: PENDING_CREATE } : attributes;

export function decodeMark(bytes: Uint8Array): Mark {
  if (bytes.length === 0) return {};
  try {
    const mark: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(mark)) return mark as Mark;
  } catch {
    // Said below.
  }
  return fail("state.unreadable", "What the provider keeps of this resource in the state is damaged", {
    detail: "The field `private` of the instance should be a JSON object that the provider wrote.",
    remedies: [
      "Restore the state from a backup, or take the resource out with `terraform state rm` and import it again.",
    ],
  });
}

export function encodeMark(mark: Mark): Uint8Array {
  const entries = Object.entries(mark).filter(([, value]) => value !== undefined);
  return entries.length === 0
    ? new Uint8Array()
    : new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
}
