/** The rules for grants (§4). */
import type { Grant } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { type Body, Fields } from "./fields.ts";
import { isEmail } from "./syntax.ts";

/**
 * A grant: one per address and service. One that has expired does not stand in the way of a new one.
 * Whether expires_at is required is not specified: absent and null mean that the grant does not expire.
 */
export function readGrant(
  store: Store,
  serviceId: number,
  body: Body,
  now: number,
): Pick<Grant, "email" | "permission" | "expires_at"> {
  const fields = new Fields(body);
  const email = fields.matching("email", isEmail, "a valid email address", { required: true });
  const permission = fields.oneOf("permission", ["view", "manage"] as const, { required: true });
  const expires_at = fields.futureInstant("expires_at", now) ?? null;
  const held = email === undefined ? undefined : findGrant(store, serviceId, email);
  if (held !== undefined && !isExpired(held, now)) {
    fields.refuse("email", "The email already has a grant on this service.");
  }
  return fields.complete({ email, permission, expires_at });
}

/** The grant of an address on a service, however its letters are cased. */
export function findGrant(store: Store, serviceId: number, email: string): Grant | undefined {
  const wanted = email.toLowerCase();
  return store.table("grants").find((one) => one.service_id === serviceId && one.email.toLowerCase() === wanted);
}

function isExpired(grant: Grant, now: number): boolean {
  return grant.expires_at !== null && Date.parse(grant.expires_at) <= now;
}
