import { fail, isObject, PENDING_CREATE, type PrivateMark, type ValueObject } from "../../../core/model/index.ts";
import type { Session } from "../contract.ts";

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
  /** The host whose ids are meant ({@link Session.host}). */
  readonly host?: string;
  /** Its one-time secret did not come with its creation: Terraform has it marked as tainted, unless its user took that back. */
  readonly lost?: true;
  /** In a plan only: the object that a create would take the place of, if this becomes a replacement. */
  readonly replacing?: Replaced;
}

/** Attributes as the core takes them: what is in doubt has no id. */
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
  const told = Object.entries(mark).filter(([, value]) => value !== undefined);
  return told.length === 0 ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(Object.fromEntries(told)));
}
