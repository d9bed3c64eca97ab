/** Grants: a service shared with another user (§4). */
import { idParam, page, type Endpoint } from "../http/endpoint.ts";
import type { Sent } from "../shape/items.ts";
import { notFound } from "../refusal.ts";
import { findGrant, readGrant } from "../rules/grant.ts";
import type { Grant } from "../store/records.ts";
import { serviceOf } from "./services.ts";

const sent = (record: Grant): Sent => ({ kind: "grant", record });

export const grantEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/services/:id/grants",
    ability: "technical",
    answer: (call) => {
      const service = serviceOf(call);
      const grants = call.world.store.table("grants").filter((one) => one.service_id === service.id);
      return page(call, "grants", grants, sent);
    },
  },
  {
    method: "POST",
    path: "/services/:id/grants",
    ability: "technical",
    answer: (call) => {
      const { store, clock } = call.world;
      const service = serviceOf(call);
      const wanted = readGrant(store, service.id, call.body, clock.now());
      const expired = findGrant(store, service.id, wanted.email);
      if (expired !== undefined) store.table("grants").remove(expired.id);
      const record = store.table("grants").put({
        id: store.next("grants", 301),
        service_id: service.id,
        ...wanted,
        created_at: clock.instant(),
      });
      return { form: "one", status: 201, item: sent(record) };
    },
  },
  {
    method: "DELETE",
    path: "/services/:id/grants/:grantId",
    ability: "technical",
    answer: (call) => {
      const service = serviceOf(call);
      const id = idParam(call, "grantId", "grant");
      const grants = call.world.store.table("grants");
      if (grants.get(id)?.service_id !== service.id) throw notFound("grant", id);
      grants.remove(id);
      return { form: "done", status: 200, message: "The grant has been revoked." };
    },
  },
];
