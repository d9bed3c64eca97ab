/**
 * Handles changes that no request makes in place: rejects them, or plans a replacement with `replace_on_change`. Finds the replaced
 * object of a create, because Terraform does not send it. Checks the names of orders.
 */
import type { Kind, ReadSettings, Remote } from "../../../core/kinds/kind.ts";
import { attributesOf, orderNameErrors, policyOf } from "../../../core/lifecycle/index.ts";
import {
  type AttributePath,
  type Diagnostic,
  hasUnknown,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Entries, Entry } from "../entries.ts";
import type { ProviderSession } from "../index.ts";
import { problem } from "../messages.ts";
import { declaredIn, labelOf, type Mark, nameOf, type Replaced, recordedAs, shownValue } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

interface PlannedReplacement {
  readonly requiresReplace: readonly AttributePath[];
  readonly diagnostics: readonly Diagnostic[];
  /** Planned attributes of a recreated object. */
  readonly result?: ValueObject;
}

/**
 * Plans an immutable change: as an error, or with `replace_on_change` as a new order. The new order has its own invoice and name, and
 * the deletion_policy applies to the old object.
 */
export function planReplacement(
  kind: Kind,
  question: {
    readonly prior: JsonObject;
    readonly config: ValueObject;
    /** Recorded object; absent if it has no id. */
    readonly replacing: Replaced | undefined;
    readonly diagnostics: readonly Diagnostic[];
    readonly session: Pick<ProviderSession, "project">;
  },
): PlannedReplacement {
  const { prior, config, replacing, diagnostics, session } = question;
  const refused = diagnostics.filter(({ code }) => code === "plan.immutable");
  const sameThing = kind.creation === "blind" && kind.naturalKey(prior) === kind.naturalKey(declaredIn(kind, config));
  // No order replaces a domain under its own name: the domain is already registered.
  if (refused.length === 0 || config.replace_on_change !== true || sameThing) {
    return { requiresReplace: [], diagnostics };
  }
  const others = diagnostics.filter(({ code }) => code !== "plan.immutable");
  const declared = declaredIn(kind, config);
  const order = checkOrder(kind, declared, replacing, session);
  const kept = replacing?.prevented ? [prevented(kind, replacing.id)] : [];
  return {
    requiresReplace: refused.flatMap(({ attribute }) => (attribute === undefined ? [] : [attribute])),
    diagnostics: [
      ...others,
      ...order,
      ...kept,
      ...(prior.deletion_policy === "suspend" ? [problem("plan.prevented/suspended_first", { noun: kind.noun })] : []),
    ],
    result: recreated(kind, declared),
  };
}

/** Returns the values of a new object: declared values, and unknown values for attributes that the API sets. */
function recreated(kind: Kind, declared: ValueObject): ValueObject {
  const values = attributesOf(kind).map(({ name, meta }): [string, Value] => [
    name,
    declared[name] ?? meta.default ?? (meta.computed ? UNKNOWN : null),
  ]);
  return Object.fromEntries(values);
}

/** Returns the object that a create replaces. */
export function replacedObject(
  kind: Kind,
  prior: JsonObject & { readonly id: string },
  { made }: Mark,
  settings: ReadSettings,
): Replaced {
  const renamed = nameOf(kind, prior);
  const name = made ?? renamed;
  const gone = kind.phase?.(prior, settings) === "gone";
  const held = kind.removal === "policy" && policyOf(prior) === "prevent" && !gone;
  return {
    id: prior.id,
    ...(name !== undefined && { name }),
    ...(renamed !== name && { renamed }),
    ...(held && { prevented: true }),
  };
}

export function prevented(kind: Kind, id: string): Diagnostic {
  const canSuspend = kind.suspendSteps !== undefined;
  return problem("plan.prevented/replacement", { noun: kind.noun, id, canSuspend, attribute: ["deletion_policy"] });
}

/** Rejects a replacement by `-replace` or of a tainted instance if the API cannot delete the old object: two objects would exist. */
export function staysBeside(kind: Kind, name: string | undefined, replacing: Replaced | undefined): Diagnostic[] {
  if (kind.creation !== "listable" || kind.removal !== "policy" || replacing === undefined) return [];
  if (replacing.name !== name) return [];
  return [problem("plan.exists/beside", { noun: kind.noun, id: replacing.id })];
}

/** Returns the type of entries about a released object, a planned replacement, or an order name with a rejected key. */
const typeOf = ({ type }: Kind, what: "released" | "replacing" | "refused") => `${type} ${what}`;

/** Records a destroyed or forgotten object: if the API rejects the replacing order, a later run may repeat that order. */
export async function markReleased(kind: Kind, object: ResourceState, scope: ProviderScope): Promise<void> {
  const { entries, place } = scope.session;
  const { id } = object.attributes;
  scope.markReleased(kind, object.attributes);
  if (kind.creation === "keyed" && typeof id === "string")
    await entries.put(typeOf(kind, "released"), id, { ...object, place });
}

/**
 * Returns a test of live objects: true if a create may replace the object. This configuration must have released the object in
 * this run or, under another name, in an earlier run; or the same Terraform run must have planned the create as its replacement.
 */
export async function replacesOf(
  kind: Kind,
  name: string | undefined,
  config: ValueObject,
  scope: ProviderScope,
): Promise<(remote: Remote) => boolean> {
  const { entries, place, self } = scope.session;
  const planned = await entries.get(typeOf(kind, "replacing"), name);
  const isOfRun = planned?.place === place && planned.owner === self.parent;
  const earlier =
    config.replace_on_change === true ? await entries.all(typeOf(kind, "released")) : new Map<string, Entry>();
  return ({ id, attributes }) => {
    if (scope.isReleased(kind, { ...attributes, id })) return true;
    if (isOfRun && planned.attributes.id === id) return true;
    const entry = earlier.get(id);
    return entry?.place === place && nameOf(kind, entry.attributes) !== nameOf(kind, config);
  };
}

/**
 * Records that a planned create replaces an object. With create_before_destroy, another process applies the create while the old
 * object exists. The entry is valid only for this run of Terraform.
 */
export async function noteReplacing(
  kind: Kind,
  name: string | undefined,
  { replacing: old, shown }: Pick<Mark, "replacing" | "shown">,
  { entries, place, self }: Pick<ProviderSession, "entries" | "place" | "self">,
): Promise<void> {
  if (name === undefined || old === undefined) return;
  // One name is one order, but two deletable objects may exist for a short time.
  const makesRoom = kind.creation === "keyed" ? old.name !== name : kind.removal === "delete";
  if (!makesRoom) return;
  await entries.put(typeOf(kind, "replacing"), name, {
    ...recordedAs(kind, { id: old.id }, { ...(shown && { shown }) }),
    place,
    owner: self.parent,
  });
}

/** Returns the recorded form of each value of the replaced object. Terraform plans a create again in its apply, without the mark. */
export async function formsOfReplaced(
  kind: Kind,
  name: string | undefined,
  { entries, place, self }: Pick<ProviderSession, "entries" | "place" | "self">,
): Promise<Pick<PrivateMark, "shown">> {
  const planned = await entries.get(typeOf(kind, "replacing"), name);
  const { shown } = planned?.place === place && planned.owner === self.parent ? planned.private : {};
  return shown === undefined ? {} : { shown };
}

/** Removes the entry that noteReplacing wrote, because the new object now exists. */
export const dropReplacing = (kind: Kind, name: string | undefined, entries: Entries): Promise<void> =>
  entries.remove(typeOf(kind, "replacing"), name);

/** Removes the record of a released object that the state contains again, because of an import. */
export async function unmarkReleased(kind: Kind, { id }: JsonObject, entries: Entries): Promise<void> {
  if (kind.creation === "keyed" && typeof id === "string") await entries.remove(typeOf(kind, "released"), id);
}

/**
 * Rejects two changes of an object that this provider created: a new name of an order, because the API identifies the order by its
 * name (§4), and a new value of an immutable attribute that the create request lacked. Accepts both for an imported object, because
 * its create request is unknown.
 */
export function immutableSinceCreate(
  kind: Kind,
  prior: JsonObject,
  { mark: { made }, declared, gone }: { readonly mark: Mark; readonly declared: ValueObject; readonly gone: boolean },
): Diagnostic[] {
  if (made === undefined || gone) return [];
  const what = labelOf(kind, prior);
  const late = attributesOf(kind).filter(({ name, meta: { change } }) => {
    const value: Value = declared[name] ?? null;
    return change === "immutable" && prior[name] == null && value !== null && !hasUnknown(value);
  });
  return [
    ...(isRenamed(kind, made, prior, declared)
      ? [problem("plan.immutable/reference", { what, name: made, attribute: ["reference"] })]
      : []),
    ...late.map(({ name }) => {
      const value = shownValue(kind, name, declared[name] ?? null);
      return problem("plan.immutable/late", { what, noun: kind.noun, name, value, attribute: [name] });
    }),
  ];
}

/** Returns true if the declared reference changes the name of an order. An unknown name does not count as a change. */
function isRenamed(kind: Kind, made: string, prior: JsonObject, declared: ValueObject): boolean {
  if ((declared.reference ?? null) === (prior.reference ?? null)) return false;
  const name = nameOf(kind, declared);
  return name !== undefined && name !== made;
}

/** Checks the project and the name of an order: the name is unique, and differs from the name of a replaced object. */
export function checkOrder(
  kind: Kind,
  declared: ValueObject,
  replacing: Replaced | undefined,
  session: Pick<ProviderSession, "project">,
): Diagnostic[] {
  if (kind.creation !== "keyed") return [];
  const found = orderNameErrors(kind, declared, session.project);
  const place = { noun: kind.noun, attribute: ["reference"] };
  const open = declared.reference === UNKNOWN || declared.domain === UNKNOWN;
  const name = nameOf(kind, declared);
  if (replacing !== undefined && name === undefined && open) {
    found.push(problem("terraform.reference/unknown", { ...place, id: replacing.id }));
  }
  if (replacing !== undefined && name !== undefined && [replacing.name, replacing.renamed].includes(name)) {
    found.push(problem("terraform.reference/same", { ...place, id: replacing.id, name }));
  }
  return found;
}

/** Records that the key of an order is used: the host may repeat the rejection for the corrected order (§4). All resources with the same project and name read this record. */
export async function noteRefused(
  kind: Kind,
  name: string,
  order: ResourceState,
  { entries, place }: Pick<ProviderSession, "entries" | "place">,
): Promise<void> {
  await entries.put(typeOf(kind, "refused"), name, { ...order, place });
}

/** Returns the generation of the next order of this name, for its mark. Undefined if no order was rejected. */
export async function generationOf(kind: Kind, name: string | undefined, entries: Entries): Promise<PrivateMark> {
  const entry = await entries.get(typeOf(kind, "refused"), name);
  return { generation: entry?.private.generation };
}
