/** Client accounts: Manage track only (§4). */
import { requireManageTrack } from "../http/endpoint.ts";
import { page, type Call, type Endpoint } from "../http/endpoint.ts";
import type { Reply, Sent } from "../shape/items.ts";
import { Refusal } from "../refusal.ts";
import { readAccount } from "../rules/account.ts";
import { TIERS, type Account } from "../store/records.ts";

const sent = (record: Account): Sent => ({ kind: "account", record });

/** "Requires Growth partner tier or above" (§4). */
function create(call: Call): Reply {
  const { store, clock } = call.world;
  requireManageTrack(call.customer);
  const { tier } = call.customer;
  if (tier === null || TIERS.indexOf(tier) < TIERS.indexOf("growth")) {
    throw new Refusal(403, "Creating client accounts requires the Growth partner tier or above.");
  }
  const record = store.table("accounts").put({
    id: store.next("accounts", 401),
    customer_id: call.customer.id,
    ...readAccount(call.body),
    created_at: clock.instant(),
  });
  return { form: "one", status: 201, item: sent(record) };
}

export const accountEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/accounts",
    ability: "view",
    answer: (call) => {
      requireManageTrack(call.customer);
      const own = call.world.store.table("accounts").filter((one) => one.customer_id === call.customer.id);
      return page(call, "accounts", own, sent);
    },
  },
  { method: "POST", path: "/accounts", ability: "billing", answer: create },
];
