/**
 * A change that the API has no call for: it is refused, or the object is replaced, as `replace_on_change` says. And what a
 * replacement takes the place of: Terraform does not pass that to its create.
 */
import type { Kind, ReadSettings, Remote } from "../../../core/kinds/kind.ts";
import { attributesOf, policyOf } from "../../../core/lifecycle/index.ts";
import {
  type AttributePath,
  type Diagnostic,
  hasUnknown,
  type JsonObject,
  type ResourceState,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { declaredIn, labelOf, type Mark, nameOf, type Replaced, recordedAs, shownValue } from "./attribute-mapping.ts";
import { checkOrder } from "./order-name.ts";
import type { ProviderScope } from "./provider-scope.ts";

interface PlannedReplacement {
  readonly requiresReplace: readonly AttributePath[];
  readonly diagnostics: readonly Diagnostic[];
  /** The planned attributes, when it is recreated. */
  readonly result?: ValueObject;
}

/**
 * An immutable change refuses the plan, unless `replace_on_change` says that the object is to be recreated: a new order
 * with an invoice of its own, under a name of its own, while deletion_policy says what becomes of the old one.
 */
export function planReplacement(
  kind: Kind,
  question: {
    readonly prior: JsonObject;
    readonly config: ValueObject;
    readonly mark: Mark;
    readonly diagnostics: readonly Diagnostic[];
    readonly session: ProviderSession;
  },
): PlannedReplacement {
  const { prior, config, mark, diagnostics, session } = question;
  const refused = diagnostics.filter(({ code }) => code === "plan.immutable");
  const sameThing = kind.creation === "blind" && kind.naturalKey(prior) === kind.naturalKey(declaredIn(kind, config));
  // A domain that is registered cannot be registered once more with other years.
  if (refused.length === 0 || config.replace_on_change !== true || sameThing) {
    return { requiresReplace: [], diagnostics };
  }
  const others = diagnostics.filter(({ code }) => code !== "plan.immutable");
  const declared = declaredIn(kind, config);
  const replacing = replacedObject(kind, { ...prior, id: String(prior.id) }, mark, session.settings);
  const order = checkOrder(kind, declared, { replacing }, session);
  const kept = replacing.prevented ? [prevented(kind, replacing.id)] : [];
  return {
    requiresReplace: refused.flatMap(({ attribute }) => (attribute === undefined ? [] : [attribute])),
    diagnostics: [...others, ...order, ...kept, ...(prior.deletion_policy === "suspend" ? [suspendedFirst(kind)] : [])],
    result: anewAs(kind, declared),
  };
}

/** Everything as declared; what the API gives is unknown. */
function anewAs(kind: Kind, declared: ValueObject): ValueObject {
  const values = attributesOf(kind).map(([name, , meta]): [string, Value] => [
    name,
    declared[name] ?? meta.default ?? (meta.computed ? UNKNOWN : null),
  ]);
  return Object.fromEntries(values);
}

/** What a create needs to know of the object that it takes the place of. */
export function replacedObject(
  kind: Kind,
  prior: JsonObject & { readonly id: string },
  { made }: Mark,
  settings: ReadSettings,
): Replaced {
  const name = made ?? nameOf(kind, prior);
  const gone = kind.phase?.(prior, settings) === "gone";
  const held = kind.removal === "policy" && policyOf(prior) === "prevent" && !gone;
  return { id: prior.id, ...(name !== undefined && { name }), ...(held && { prevented: true }) };
}

export function prevented(kind: Kind, id: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.prevented",
    summary: `${kind.noun} ${id} may not be replaced: its deletion_policy is "prevent"`,
    detail: `The API cannot delete a ${kind.noun}: Terraform would no longer manage the old one, and it would go on.`,
    remedies: [
      `Set \`deletion_policy = "forget"\`${kind.suspendSteps === undefined ? "" : ' (or "suspend")'}, apply, then make the change.`,
    ],
    attribute: ["deletion_policy"],
  };
}

/** Terraform destroys first, and no host sells the same name twice at a time. */
function suspendedFirst(kind: Kind): Diagnostic {
  return {
    severity: "warning",
    code: "plan.prevented",
    summary: `The old ${kind.noun} is suspended before the new one is ordered`,
    detail: `Should the order be refused (a coupon that is not valid, a plan that is not sold), nothing stands in its place until an order goes through.`,
    remedies: ['With `deletion_policy = "forget"` the old one goes on until you end it in the dashboard.'],
  };
}

/**
 * Which live objects a create may take the place of although they look like it: the create of a replacement does not
 * learn from Terraform what it replaces. Noted in the journal, under types of their own, for the place that Terraform works on.
 */

const released = (kind: Kind) => `${kind.type} released`;
const replacing = (kind: Kind) => `${kind.type} replacing`;

/** Terraform let go of an object: should the order that follows be refused, a later run may repeat it. */
export function markReleased(kind: Kind, object: ResourceState, scope: ProviderScope): void {
  const { journal, place } = scope.session;
  const { id } = object.attributes;
  scope.markReleased(kind, object.attributes);
  if (kind.creation === "keyed" && typeof id === "string") journal.put(released(kind), id, { ...object, place });
}

/** Whether this configuration let go of a live object, be it in an earlier run, and the declared one has another name. */
export function wasReleased(kind: Kind, config: ValueObject, remote: Remote, scope: ProviderScope): boolean {
  if (scope.isReleased(kind, { ...remote.attributes, id: remote.id })) return true;
  if (config.replace_on_change !== true) return false;
  const { journal, place } = scope.session;
  const note = journal.get(released(kind), remote.id);
  return note !== undefined && note.place === place && nameOf(kind, note.attributes) !== nameOf(kind, config);
}

/**
 * A create is planned in the place of an object: with create_before_destroy it is applied, by a process of its own, while
 * the old one stands. What is noted holds for this run of Terraform alone.
 */
export function noteReplacing(
  kind: Kind,
  name: string | undefined,
  old: Replaced | undefined,
  session: ProviderSession,
): void {
  if (name === undefined || old === undefined) return;
  // One name is one order; of what can be deleted there may be two of a name for a moment.
  const makesRoom = kind.creation === "keyed" ? old.name !== name : kind.removal === "delete";
  if (!makesRoom) return;
  const { journal, place, self } = session;
  journal.put(replacing(kind), name, { ...recordedAs(kind, { id: old.id }, {}), place, owner: self.parent });
}

/** Whether a live object is the one in whose place the create of this name was planned, by the same run of Terraform. */
export function isToReplace(kind: Kind, name: string | undefined, remote: Remote, { session }: ProviderScope): boolean {
  const note = name === undefined ? undefined : session.journal.get(replacing(kind), name);
  return note?.attributes.id === remote.id && note.place === session.place && note.owner === session.self.parent;
}

/** It is there. */
export function dropReplacing(kind: Kind, name: string | undefined, session: ProviderSession): void {
  if (name !== undefined) session.journal.remove(replacing(kind), name);
}

/** What the state has again (by an import) was not let go of. */
export function unmarkReleased(kind: Kind, { id }: JsonObject, session: ProviderSession): void {
  if (kind.creation === "keyed" && typeof id === "string") session.journal.remove(released(kind), id);
}

/**
 * What cannot be said of an object any more that this provider has made, because it is known what it was made with: an order
 * keeps its name, by which the API knows it (§4), and what was not given then is not given by writing it down now. Of an
 * object that was imported neither is known, and the declaration is believed.
 */
export function immutableSinceCreate(
  kind: Kind,
  prior: JsonObject,
  { mark: { made }, declared, gone }: { readonly mark: Mark; readonly declared: ValueObject; readonly gone: boolean },
): Diagnostic[] {
  if (made === undefined || gone) return [];
  const what = labelOf(kind, prior);
  const late = attributesOf(kind).filter(([name, , { change }]) => {
    const value: Value = declared[name] ?? null;
    return change === "immutable" && prior[name] == null && value !== null && !hasUnknown(value);
  });
  return [
    ...(isRenamed(kind, made, prior, declared) ? [renamed(what, made)] : []),
    ...late.map(
      ([name]): Diagnostic => ({
        severity: "error",
        code: "plan.immutable",
        summary: `${name} of ${what} cannot be changed`,
        detail: `It was made without one, and would become ${shownValue(kind, name, declared[name] ?? null)}. The API has no call that changes the ${name} of a ${kind.noun}.`,
        remedies: ["Take it out of the configuration."],
        attribute: [name],
      }),
    ),
  ];
}

/** While the name of the order is not known it may yet be the same. */
function isRenamed(kind: Kind, made: string, prior: JsonObject, declared: ValueObject): boolean {
  if ((declared.reference ?? null) === (prior.reference ?? null)) return false;
  const name = nameOf(kind, declared);
  return name !== undefined && name !== made;
}

function renamed(what: string, made: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.immutable",
    summary: `reference of ${what} cannot be changed`,
    detail: `It was ordered under the name ${JSON.stringify(made)}, and the API knows the order by it. A second order with that name would be answered with this one.`,
    remedies: ["Put the old one back into the configuration."],
    attribute: ["reference"],
  };
}
