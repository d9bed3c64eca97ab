/** What the dashboard does to a migration request and the API does not (§1): credentials, and the final submission. */

import { Refusal, notFound } from "../refusal.ts";
import type { Credentials, MigrationRequest } from "../store/records.ts";
import type { Store } from "../store/store.ts";

function draftOf(store: Store, id: number): MigrationRequest {
  const request = store.table("migration_requests").get(id);
  if (request === undefined) throw notFound("migration request", id);
  if (request.status === "draft") return request;
  throw new Refusal(422, `Migration request ${id} is ${request.status}: it can no longer be changed.`);
}

/** How the old host is entered. Set again, it is replaced. */
export function setCredentials(store: Store, id: number, given: Credentials): MigrationRequest {
  draftOf(store, id);
  const errors: Record<string, string[]> = {};
  for (const name of ["host", "username", "password"] as const) {
    if (typeof given[name] !== "string" || given[name].trim() === "") errors[name] = [`The ${name} field is required.`];
  }
  if (Object.keys(errors).length > 0)
    throw new Refusal(422, "Credentials are a host, a username and a password.", { errors });
  const { host, username, password } = given;
  return store.table("migration_requests").update(id, { credentials: { host, username, password } });
}

/** The final submission: from then on it is the host's turn. */
export function submit(store: Store, id: number): MigrationRequest {
  if (draftOf(store, id).credentials === null) {
    throw new Refusal(422, `Migration request ${id} has no credentials yet: set them first.`);
  }
  return store.table("migration_requests").update(id, { status: "submitted" });
}

/** The host has moved the site. The credentials are forgotten. */
export function complete(store: Store, id: number): MigrationRequest {
  const request = store.table("migration_requests").get(id);
  if (request === undefined) throw notFound("migration request", id);
  if (request.status !== "submitted")
    throw new Refusal(422, `Migration request ${id} is ${request.status}, not submitted.`);
  return store.table("migration_requests").update(id, { status: "completed", credentials: null });
}
