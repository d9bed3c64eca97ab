/** Plans: "list orderable plans" (§1). */
import { page, type Endpoint } from "../http/endpoint.ts";

const DEFAULT_PAGE = 50;

export const planEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/plans",
    ability: "view",
    answer: (call) => {
      const { store } = call.world;
      const { customer } = call;
      // Those that an order would not be refused for: active, of an active product.
      const orderable = store
        .table("plans")
        .filter((plan) => plan.active && store.table("products").get(plan.product_id)?.active === true);
      return page(call, "plans", orderable, (record) => ({ kind: "plan", record, customer }), DEFAULT_PAGE);
    },
  },
];
