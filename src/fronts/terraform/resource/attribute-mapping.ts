/**
 * Maps the attributes and the private mark of Terraform to the values of the lifecycle, and back.
 */
import { type Kind, kinds, namedByDomain } from "../../../core/kinds/index.ts";
import { attributesOf, declarableOf, sensitiveNames } from "../../../core/lifecycle/index.ts";
import {
  type Attributes,
  type Diagnostic,
  equal,
  hasUnknown,
  isObject,
  type JsonObject,
  openUrl,
  PENDING_CREATE,
  type PrivateMark,
  type ResourceState,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import { problem, refuse } from "../messages.ts";
import { moneyText, PRICE_TEXT, schemaOf } from "../schema/of-kind.ts";

/**
 * Returns a kind for Terraform, which sends no address: the name of an order is its `reference` or its domain. An order
 * without a domain needs a `reference`.
 */
export function terraformKind(type: string): Kind {
  return byDomain.get(type) ?? refuse(problem("internal/absent", { what: `resource ${type}` }));
}

const byDomain = new Map([...kinds.values()].map((kind) => [kind.type, namedByDomain(kind)]));

/** Name of the object in messages. Terraform adds the address. */
export function labelOf(kind: Kind, attributes: ValueObject): string {
  const name = [kind.words.name, "reference", "id"].find((each) => typeof attributes[each] === "string");
  return name === undefined ? `this ${kind.noun}` : `${kind.noun} ${String(attributes[name])}`;
}

/** Returns for example `service 1003 (www.acme.example)`. */
export function named(kind: Kind, attributes: JsonObject): string {
  const { id } = attributes;
  const name = attributes[kind.words.name];
  return `${kind.noun} ${String(id)}${typeof name === "string" && name !== id ? ` (${openUrl(name)})` : ""}`;
}

/** Returns the name of the entry, with its parent. Undefined if no known value distinguishes the object from other objects. */
export function nameOf(kind: Kind, attributes: ValueObject): string | undefined {
  const name = kind.creation === "keyed" ? kind.orderReference?.(attributes) : kind.naturalKey(attributes);
  const parent = kind.parent === undefined ? undefined : attributes[kind.parent];
  return name === undefined || parent === undefined ? name : `${String(parent)} ${name}`;
}

/** Returns the declared attributes of the kind, without attributes of the provider (`timeouts`). */
export function declaredIn(kind: Kind, config: ValueObject): ValueObject {
  const given = attributesOf(kind).filter(({ name }) => config[name] !== null && config[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, config[name] as Value]));
}

/** Returns a recorded object for the lifecycle. */
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

/** Returns the attributes of the kind, with the provider's attributes from `source`. */
export function withProviderAttributes(kind: Kind, attributes: ValueObject, source: ValueObject): ValueObject {
  const own = new Set(attributesOf(kind).map(({ name }) => name));
  return { ...Object.fromEntries(Object.entries(source).filter(([name]) => !own.has(name))), ...attributes };
}

/**
 * Returns a resource for Terraform with the text of its price.
 * @param known the prior values for a plan, the planned values for an apply. The same price keeps its text: another `money_scale` is no
 *   change, and an apply must return what was planned.
 */
export function withPriceText<T extends ValueObject>(
  attributes: Attributes,
  values: T,
  { moneyScale }: { readonly moneyScale: number | undefined },
  known: ValueObject | null = null,
): T {
  if (attributes.price_text !== PRICE_TEXT.price_text) return values;
  const { price = null, currency = null } = values;
  const isKept =
    known !== null && known.price_text !== UNKNOWN && equal(price, known.price) && equal(currency, known.currency);
  const isLater = price === UNKNOWN || currency === UNKNOWN;
  const text = isKept ? (known.price_text ?? null) : isLater ? UNKNOWN : moneyText(price, currency, moneyScale);
  return { ...values, price_text: text };
}

/**
 * Returns planned values that Terraform accepts: the declared value, or the earlier value with the same meaning.
 * @returns also the names of the attributes that were reset to the declared value.
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
      // A removed declaration removes the value of this attribute. Example: the coupon of a placed order.
      values[name] = null;
    }
  }
  return { values, overruled };
}

/**
 * Attributes whose values appear in no message: secrets and free maps. Terraform redacts sensitive values in its own output,
 * but not in diagnostics, and does not send the sensitive mark to the provider.
 */
export function hiddenNames(kind: Kind): string[] {
  const { attributes } = schemaOf(kind);
  return Object.entries(attributes).flatMap(([name, { type, sensitive }]) =>
    sensitive || typeof type === "object" || name === "coupon_code" ? [name] : [],
  );
}

/** Formats a value for a message. */
export function shownValue(kind: Kind, name: string, value: Value): string {
  return hiddenNames(kind).includes(name) ? "(not shown)" : JSON.stringify(value);
}

/** An object that a create replaces. */
export interface Replaced {
  readonly id: string;
  /** Name of its order. */
  readonly name?: string;
  /** Name in the state, if hostform has recorded another `reference` since the order. */
  readonly renamed?: string;
  /** True if its deletion_policy is `prevent`. */
  readonly prevented?: true;
}

/**
 * Private data of a resource in Terraform (`private`): the lifecycle's mark, in the format of hostform's own state, so that
 * a state can move from Terraform to hostform and back.
 */
export interface Mark extends PrivateMark {
  /** Name of the provider's create. For an order, the Idempotency-Key is derived from this name. */
  readonly made?: string;
  /** Digest of the URL of the id's host. */
  readonly host?: string;
  /** The create returned no one-time secret. Terraform has marked the resource as tainted, unless the user untainted it. */
  readonly lost?: true;
  /** Live values of the attributes that an import withholds. These attributes are null in Terraform's state. */
  readonly undeclared?: JsonObject | undefined;
  /** Replaced object, if the plan becomes a replacement. Only in a plan. */
  readonly replacing?: Replaced;
  /** Id of the plan, which Terraform passes to the destroy. Only in a plan. */
  readonly plan?: string;
  /** Natural key and parent of a planned create. Terraform passes both to the destroy leg at the address of the create. Only in a plan. */
  readonly creates?: { readonly thing: string; readonly parent?: string | undefined };
  /** Pending create that a planned create completes. Terraform passes it to the destroy leg of the instance. Only in a plan. */
  readonly settles?: { readonly name: string | undefined; readonly mark: PrivateMark };
}

/** Answer to Terraform about an object. */
export interface Answer {
  /** Null: the object does not exist, and Terraform may create it. */
  readonly state: JsonObject | null;
  readonly mark: Mark;
  readonly diagnostics: readonly Diagnostic[];
  /** Failures that the next apply retries. Terraform receives warnings, because it would recreate the object after an error. */
  readonly waiting?: readonly Diagnostic[];
}

/** Returns attributes for the core: a pending create has no id. */
export const withoutPendingId = <T extends ValueObject>(attributes: T): T =>
  attributes.id === PENDING_CREATE ? { ...attributes, id: null } : attributes;

/** Returns attributes for Terraform. */
export const withPendingId = <T extends ValueObject>(attributes: T, { pending }: PrivateMark): T =>
  pending !== undefined && attributes.id == null ? { ...attributes, id: PENDING_CREATE } : attributes;

// An import withholds the value of an attribute if a declaration would take control of the attribute. Terraform generates
// configuration from its state, and a generated `suspended = false` would end each later suspension by the host. The attribute is
// null in the state until it is declared, and the mark contains its live value for the core.

/** Attributes that an import withholds: requests change them, and the API sets a default for them. */
export const withheldByImport = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta: { change, computed, writeOnly } }) =>
    change === "in-place" && computed && !writeOnly ? [name] : [],
  );

/**
 * Returns the configuration of an imported object: the attributes that {@link declarableOf} declares. Terraform then plans no change.
 * All other attributes are null. A warning names missing values.
 */
export function generatedConfig(kind: Kind, state: JsonObject): { config: ValueObject; diagnostics: Diagnostic[] } {
  const { config, missing, omitted } = declarableOf(kind, state);
  const none = Object.fromEntries(Object.keys(schemaOf(kind).attributes).map((name) => [name, null]));
  const why = [...missing.values(), ...omitted].join(" ");
  const names = [...missing.keys()].join(", ");
  const diagnostics =
    why === "" ? [] : [problem("config.missing_attribute/generated", { what: named(kind, state), names, why })];
  return { config: { ...none, ...config }, diagnostics };
}

/** Returns the withheld names: null in Terraform's state, and undeclared. */
export function stillWithheld(
  { undeclared = {} }: Mark,
  state: ValueObject | null,
  config: ValueObject = {},
): string[] {
  if (state === null) return [];
  return Object.keys(undeclared).filter((name) => (state[name] ?? null) === null && (config[name] ?? null) === null);
}

/** Returns an answer for Terraform, and moves the values of these names into the mark. */
export function withheld(state: JsonObject | null, mark: Mark, names: readonly string[]) {
  const { undeclared: _, ...rest } = mark;
  if (state === null || names.length === 0) return { state, mark: rest };
  const undeclared = Object.fromEntries(names.map((name) => [name, state[name] ?? null]));
  return { state: withNull(state, names), mark: { ...rest, undeclared } };
}

/** Returns a plan for Terraform. Withheld attributes stay null. */
export const withNull = <T extends ValueObject>(values: T, names: readonly string[]): T => ({
  ...values,
  ...Object.fromEntries(names.map((name) => [name, null])),
});

/** Returns a state or a plan in the core's format. */
export function withUndeclared<T extends ValueObject>(values: T, { undeclared = {} }: Mark): T {
  const given = Object.entries(undeclared).filter(([name]) => (values[name] ?? null) === null);
  return given.length === 0 ? values : { ...values, ...Object.fromEntries(given) };
}

/** Returns true for the state of a moved resource before its first refresh: it contains only the ids of its object. */
export const isUnread = (kind: Kind, { id, ...state }: JsonObject): boolean =>
  typeof id === "string" && Object.entries(state).every(([name, value]) => value === null || name === kind.parent);

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
