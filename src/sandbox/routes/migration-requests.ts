/** Migration requests: queued here; credentials and submission belong to the dashboard (§1). */
import { covers, requireCovered, requireOwn } from "../http/endpoint.ts";
import { idParam, page, type Call, type Endpoint } from "../http/endpoint.ts";
import type { Reply, Sent } from "../shape/items.ts";
import { notFound } from "../refusal.ts";
import { readMigrationRequest } from "../rules/migration-request.ts";
import type { MigrationRequest } from "../store/records.ts";

const sent = (record: MigrationRequest): Sent => ({ kind: "migration_request", record });

function create(call: Call): Reply {
  const { store, clock } = call.world;
  const wanted = readMigrationRequest(call.body, (orderId) => {
    const service = store.table("services").get(orderId);
    if (service?.customer_id !== call.customer.id) return "The selected order id is not an order of this account.";
    requireCovered(call.token, orderId);
    return undefined;
  });
  const record = store.table("migration_requests").put({
    id: store.next("migration_requests", 501),
    customer_id: call.customer.id,
    ...wanted,
    status: "draft",
    credentials: null,
    created_at: clock.instant(),
  });
  return { form: "one", status: 201, item: sent(record) };
}

function view(call: Call): Reply {
  const id = idParam(call, "id", "migration request");
  const record = call.world.store.table("migration_requests").get(id);
  if (record === undefined) throw notFound("migration request", id);
  requireOwn(call.token, record, "migration request");
  if (record.order_id !== null) requireCovered(call.token, record.order_id);
  return { form: "one", status: 200, item: sent(record) };
}

export const migrationRequestEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/migration-requests",
    ability: "view",
    answer: (call) => {
      // Bound to a service outside the token's restriction, a request is outside it too (§5.4).
      const visible = (one: MigrationRequest): boolean =>
        one.customer_id === call.customer.id && (one.order_id === null || covers(call.token, one.order_id));
      return page(call, "migration_requests", call.world.store.table("migration_requests").filter(visible), sent);
    },
  },
  { method: "POST", path: "/migration-requests", ability: "technical", answer: create },
  { method: "GET", path: "/migration-requests/:id", ability: "view", answer: view },
];
