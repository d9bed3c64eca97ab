import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import type { JsonObject, ResourceState, ValueObject } from "../../../core/model/index.ts";
import type { Session } from "../contract.ts";
import type { ProviderScope } from "./front.ts";
import type { Replaced } from "./mark.ts";
import { nameOf, recordedAs } from "./subject.ts";

/**
 * Which live objects a create may take the place of although they look like it: Terraform does not tell the create of
 * a replacement what it replaces. Noted in the journal, under types of their own, for the place that Terraform works on.
 */

const released = (kind: Kind) => `${kind.type} released`;
const replacing = (kind: Kind) => `${kind.type} replacing`;

/** Terraform let go of an object: should the order that follows be refused, a later run may repeat it. */
export function markReleased(kind: Kind, object: ResourceState, scope: ProviderScope): void {
  const { journal, place } = scope.session;
  const { id } = object.attributes;
  scope.release(kind, id);
  if (kind.creation === "keyed" && typeof id === "string") journal.put(released(kind), id, { ...object, place });
}

/** Whether this configuration let go of a live object, be it in an earlier run, and the declared one has another name. */
export function wasReleased(kind: Kind, config: ValueObject, remote: Remote, scope: ProviderScope): boolean {
  if (scope.isReleased(kind, remote)) return true;
  if (config.replace_on_change !== true) return false;
  const { journal, place } = scope.session;
  const note = journal.get(released(kind), remote.id);
  return note !== undefined && note.place === place && nameOf(kind, note.attributes) !== nameOf(kind, config);
}

/**
 * A create is planned in the place of an object: with create_before_destroy it is applied, by a process of its own, while
 * the old one stands. What is noted holds for this run of Terraform alone.
 */
export function noteReplacing(kind: Kind, name: string | undefined, old: Replaced | undefined, session: Session): void {
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
export function dropReplacing(kind: Kind, name: string | undefined, session: Session): void {
  if (name !== undefined) session.journal.remove(replacing(kind), name);
}

/** What the state has again (by an import) was not let go of. */
export function unmarkReleased(kind: Kind, { id }: JsonObject, session: Session): void {
  if (kind.creation === "keyed" && typeof id === "string") session.journal.remove(released(kind), id);
}
