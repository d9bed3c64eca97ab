/**
 * Migration requests (§4). The API only creates them. Credentials and submission belong to the dashboard (§1), and so to the
 * control.
 */
import {
  covers,
  type Endpoints,
  ownRecords,
  page,
  recordInPath,
  requireCovered,
  technical,
  view,
} from "../http/endpoint.ts";
import { notFound, Refusal, unprocessable } from "../refusal.ts";
import { created, shown } from "../shape/items.ts";
import type { Credentials, MigrationRequest } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";
import { type Body, Fields } from "./fields.ts";

export const migrationRequestEndpoints = {
  listMigrationRequests: view((call) => {
    // The token's scope (§5.4) excludes the requests of other services.
    const visible = ({ order_id }: MigrationRequest): boolean => order_id === null || covers(call.token, order_id);
    return page(call, "migration_request", ownRecords(call, "migration_requests").filter(visible));
  }),
  createMigrationRequest: technical((call) => {
    const { store } = call.world;
    const wanted = readMigrationRequest(call.body, (orderId) => {
      const service = store.table("services").get(orderId);
      if (service?.customer_id !== call.customer.id) return "The selected order id is not an order of this account.";
      requireCovered(call.token, orderId);
      return undefined;
    });
    return created({ kind: "migration_request", record: addMigrationRequest(call.world, wanted, call.customer.id) });
  }),
  getMigrationRequest: view((call) =>
    shown({ kind: "migration_request", record: recordInPath(call, "migration_requests") }),
  ),
} satisfies Endpoints;

export function addMigrationRequest(
  { store, clock }: World,
  wanted: ReturnType<typeof readMigrationRequest>,
  customer_id: number,
): MigrationRequest {
  const open = { status: "draft", credentials: null, created_at: clock.instant() };
  return store
    .table("migration_requests")
    .put({ id: store.next("migration_requests", 501), customer_id, ...wanted, ...open });
}

const SOURCES = ["cpanel", "plesk", "directadmin", "wordpress", "ftp", "other"] as const;

/**
 * Fields that are not answers: the server sets them, they are stored separately, or they belong to the dashboard (§1:
 * credentials).
 */
const NOT_ANSWERS = new Set("id domain order_id status created_at customer_id credentials password".split(" "));

/**
 * Reads a migration request. The names of the source type and scope fields are not specified (§2 Gaps). Checks only `source`,
 * and stores all other fields unchanged.
 * @param orderProblem Returns the reason why the order cannot belong to the request, if there is one.
 */
export function readMigrationRequest(
  body: Body,
  orderProblem: (orderId: number) => string | undefined,
): Pick<MigrationRequest, "domain" | "order_id" | "answers"> {
  const fields = new Fields(body);
  const domain = fields.domain("domain");
  const order_id = fields.integer("order_id") ?? null;
  const problem = order_id === null ? undefined : orderProblem(order_id);
  if (problem !== undefined) fields.refuse("order_id", problem);
  fields.oneOf("source", SOURCES);
  const answers = Object.fromEntries(Object.entries(body).filter(([name]) => !NOT_ANSWERS.has(name)));
  return fields.complete({ domain, order_id, answers });
}

function requestOf(store: Store, id: number): MigrationRequest {
  const request = store.table("migration_requests").get(id);
  if (request === undefined) throw notFound("migration request", id);
  return request;
}

function draftOf(store: Store, id: number): MigrationRequest {
  const request = requestOf(store, id);
  if (request.status === "draft") return request;
  throw unprocessable(`Migration request ${id} is ${request.status}: it can no longer be changed.`);
}

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

/** Submits the request for the host to move the site. */
export function submitMigration(store: Store, id: number): MigrationRequest {
  if (draftOf(store, id).credentials === null) {
    throw unprocessable(`Migration request ${id} has no credentials. Set them first.`);
  }
  return store.table("migration_requests").update(id, { status: "submitted" });
}

/** Completes a request after the host has moved the site. Deletes the credentials. */
export function completeMigration(store: Store, id: number): MigrationRequest {
  const request = requestOf(store, id);
  if (request.status !== "submitted")
    throw unprocessable(`Migration request ${id} is ${request.status}, not submitted.`);
  return store.table("migration_requests").update(id, { status: "completed", credentials: null });
}
