/**
 * Maps Terraform's values of a resource, its attributes and its private mark, to those of the lifecycle, and back.
 */
import { type Kind, kinds, namedByDomain } from "../../../core/kinds/index.ts";
import { attributesOf, sensitiveNames } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  equal,
  hasUnknown,
  isObject,
  type JsonObject,
  openUrl,
  PENDING_CREATE,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import { problem, refuse } from "../messages.ts";
import { schemaOf } from "../schema/of-kind.ts";

/**
 * A kind for Terraform, which sends no address: the name of an order is its `reference` or, without one, its domain. An order
 * that has neither needs a `reference`.
 */
export function terraformKind(type: string): Kind {
  return byDomain.get(type) ?? refuse(problem("internal/absent", { what: `resource ${type}` }));
}

const byDomain = new Map([...kinds.values()].map((kind) => [kind.type, namedByDomain(kind)]));

/** The name of the object in messages, to which Terraform adds the address. */
export function labelOf(kind: Kind, attributes: ValueObject): string {
  const name = [kind.words.name, "reference", "id"].find((each) => typeof attributes[each] === "string");
  return name === undefined ? `this ${kind.noun}` : `${kind.noun} ${String(attributes[name])}`;
}

/** `service 1003 (www.acme.example)`. */
export function named(kind: Kind, attributes: JsonObject): string {
  const { id } = attributes;
  const name = attributes[kind.words.name];
  return `${kind.noun} ${String(id)}${typeof name === "string" && name !== id ? ` (${openUrl(name)})` : ""}`;
}

/** The name of its entry, with its parent; undefined when nothing distinguishes it from others (yet). */
export function nameOf(kind: Kind, attributes: ValueObject): string | undefined {
  const name = kind.creation === "keyed" ? kind.orderReference?.(attributes) : kind.naturalKey(attributes);
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  return name === undefined || parent === undefined ? name : `${String(parent)} ${name}`;
}

/** The declared attributes of the kind, without those that only the provider has (`timeouts`). */
export function declaredIn(kind: Kind, config: ValueObject): ValueObject {
  const given = attributesOf(kind).filter(({ name }) => config[name] !== null && config[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, config[name] as Value]));
}

/** A recorded object for the lifecycle. */
export function recordedAs(kind: Kind, state: JsonObject, mark: PrivateMark): ResourceState {
  return {
    address: labelOf(kind, state),
    provider: "default",
    schemaVersion: kind.schemaVersion,
    attributes: Object.fromEntries(attributesOf(kind).map(({ name }) => [name, state[name] ?? null])),
    sensitive: sensitiveNames(kind),
    private: mark,
    dependencies: [],
  };
}

/** Attributes of the kind, with those that only the provider has from `source`. */
export function withProviderAttributes(kind: Kind, attributes: ValueObject, source: ValueObject): ValueObject {
  const own = new Set(attributesOf(kind).map(({ name }) => name));
  return { ...Object.fromEntries(Object.entries(source).filter(([name]) => !own.has(name))), ...attributes };
}

/**
 * Planned values as Terraform accepts them: a declared value as it is declared, or as it was before where both mean the same.
 * @returns also the names of attributes that had to be set back to the declared value.
 */
export function conform(
  kind: Kind,
  planned: ValueObject,
  { config, prior }: { readonly config: ValueObject; readonly prior: JsonObject | null },
): { readonly values: ValueObject; readonly overruled: readonly string[] } {
  const values: Record<string, Value> = { ...planned };
  const overruled: string[] = [];
  for (const { name, meta } of attributesOf(kind)) {
    const declared: Value = config[name] ?? null;
    const now: Value = values[name] ?? null;
    const before: Value = prior?.[name] ?? null;
    const kept = before !== null && equal(now, before);
    if (meta.writeOnly) values[name] = null;
    else if (declared !== null && !equal(now, declared) && !kept) {
      values[name] = declared;
      if (!hasUnknown(declared)) overruled.push(name);
    } else if (declared === null && now !== null && !schemaOf(kind).attributes[name]?.computed) {
      // An attribute that only a declaration sets, and that is no longer declared: the coupon of a placed order.
      values[name] = null;
    }
  }
  return { values, overruled };
}

/**
 * Attributes whose values no message repeats: secrets, and free maps. Terraform hides values that the user marked as sensitive
 * in its own output, but not in diagnostics, and does not send the mark to the provider.
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

/** An object that another one replaces. */
export interface Replaced {
  readonly id: string;
  /** The name of its order. */
  readonly name?: string;
  /** Its deletion_policy is `prevent`. */
  readonly prevented?: true;
}

/**
 * What Terraform keeps for the provider beside the attributes (`private`): the lifecycle's mark, in the form in which
 * hostform's own state has it, so that a state passes from one to the other.
 */
export interface Mark extends PrivateMark {
  /** The name under which the provider created it (of an order, that of its Idempotency-Key). */
  readonly made?: string;
  /** The host that the id belongs to (a digest of its address). */
  readonly host?: string;
  /** The create returned no one-time secret: Terraform has marked it as tainted, unless the user untainted it. */
  readonly lost?: true;
  /** Live values of the attributes that an import withholds: null in Terraform's state. */
  readonly undeclared?: JsonObject | undefined;
  /** In a plan only: the object that a create replaces, if this becomes a replacement. */
  readonly replacing?: Replaced;
  /** In a plan only: the id of the plan, which Terraform passes to the destroy. */
  readonly plan?: string;
  /** In a plan only: the thing that a planned create makes, and its parent. The destroy leg at the same address gets it. */
  readonly creates?: { readonly thing: string; readonly parent?: string | undefined };
  /** In a plan only: the pending create that a planned create settles, with its name. The destroy leg of the instance gets it. */
  readonly settles?: { readonly name: string | undefined; readonly mark: PrivateMark };
}

/** Answer to Terraform about an object. */
export interface Answer {
  /** Null: there is no object, and Terraform may create it. */
  readonly state: JsonObject | null;
  readonly mark: Mark;
  readonly diagnostics: readonly Diagnostic[];
  /** Failures after which the object waits for the next apply. Terraform gets warnings: after an error it would recreate the object. */
  readonly waiting?: readonly Diagnostic[];
}

/** Attributes for the core: a pending create has no id. */
export const withoutPendingId = <T extends ValueObject>(attributes: T): T =>
  attributes.id === PENDING_CREATE ? { ...attributes, id: null } : attributes;

/** The same for Terraform. */
export const withPendingId = <T extends ValueObject>(attributes: T, { pending }: PrivateMark): T =>
  pending !== undefined && attributes.id == null ? { ...attributes, id: PENDING_CREATE } : attributes;

// An import withholds the value of an attribute that a declaration takes control of. Terraform writes generated configuration from
// its state, and a generated `suspended = false` would end each later suspension by the host. The attribute is null in the state
// until it is declared, and the mark has its live value for the core.

/** The attributes that an import withholds: requests change them, and the API gives a value when none is declared. */
export const withheldByImport = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta: { change, computed, writeOnly } }) =>
    change === "in-place" && computed && !writeOnly ? [name] : [],
  );

/** The names that stay withheld: null in Terraform's state, and not declared. */
export function stillWithheld(
  { undeclared = {} }: Mark,
  state: ValueObject | null,
  config: ValueObject = {},
): string[] {
  if (state === null) return [];
  return Object.keys(undeclared).filter((name) => (state[name] ?? null) === null && (config[name] ?? null) === null);
}

/** An answer for Terraform: the values of these names go into the mark. */
export function withheld(state: JsonObject | null, mark: Mark, names: readonly string[]) {
  const { undeclared: _, ...rest } = mark;
  if (state === null || names.length === 0) return { state, mark: rest };
  const undeclared = Object.fromEntries(names.map((name) => [name, state[name] ?? null]));
  return { state: withNull(state, names), mark: { ...rest, undeclared } };
}

/** A plan for Terraform: what is withheld stays null. */
export const withNull = <T extends ValueObject>(values: T, names: readonly string[]): T => ({
  ...values,
  ...Object.fromEntries(names.map((name) => [name, null])),
});

/** The core's form of a state or a plan. */
export function withUndeclared<T extends ValueObject>(values: T, { undeclared = {} }: Mark): T {
  const given = Object.entries(undeclared).filter(([name]) => (values[name] ?? null) === null);
  return given.length === 0 ? values : { ...values, ...Object.fromEntries(given) };
}

export function decodeMark(bytes: Uint8Array): Mark {
  if (bytes.length === 0) return {};
  try {
    const mark: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(mark)) return mark as Mark;
  } catch {
    // Reported below.
  }
  return refuse(problem("state.unreadable/private"));
}

export function encodeMark(mark: Mark): Uint8Array {
  const entries = Object.entries(mark).filter(([, value]) => value !== undefined);
  return entries.length === 0
    ? new Uint8Array()
    : new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
}
