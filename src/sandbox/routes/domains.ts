/** Domains: availability and registration. */
import { requireUnrestricted } from "../http/endpoint.ts";
import type { Call, Endpoint } from "../http/endpoint.ts";
import type { Reply } from "../shape/items.ts";
import { raiseInvoice } from "../lifecycle/billing.ts";
import { invalid } from "../refusal.ts";
import { isAvailable, readDomainOrder, readNames } from "../rules/domain-order.ts";

function check(call: Call, names: readonly unknown[], field: string): Reply {
  const available = (domain: string): boolean => isAvailable(call.world.store, domain);
  const results = readNames(names, field).map((domain) => ({ domain, available: available(domain) }));
  return { form: "checked", results };
}

/** `?domain=a`, `?domain=a,b`, `?domain[]=a&domain[]=b`, `?domains[]=…`: the parameters are not specified (§4 Gaps). */
function namesInQuery(call: Call): { names: string[]; field: string } {
  for (const parameter of ["domains[]", "domains", "domain[]", "domain"]) {
    const values = call.query[parameter];
    if (values === undefined) continue;
    const names = values.flatMap((value) => value.split(",")).map((name) => name.trim());
    const given = names.filter((name) => name !== "");
    if (given.length > 0) return { names: given, field: given.length > 1 ? "domains" : "domain" };
  }
  return { names: [], field: "domain" };
}

function checkPosted(call: Call): Reply {
  const { domain, domains } = call.body;
  if (domains === undefined) return check(call, domain === undefined || domain === null ? [] : [domain], "domain");
  if (!Array.isArray(domains)) throw invalid({ domains: ["The domains field must be an array."] });
  return check(call, domains, "domains");
}

function register(call: Call): Reply {
  const { world, customer } = call;
  requireUnrestricted(call.token);
  const placed = readDomainOrder(world.store, call.body, world.settings.profile);
  const order = world.store.table("domains").put({
    id: world.store.next("orders", 1001),
    customer_id: customer.id,
    ...placed,
    status: "pending",
    created_at: world.clock.instant(),
  });
  const invoice = raiseInvoice(world, {
    customer_id: customer.id,
    order_id: order.id,
    currency: order.currency,
    subtotal: order.price,
    // The Manage discount is per plan (§1), and a domain has no plan.
    total: order.price,
  });
  return {
    form: "ordered",
    item: { kind: "domain", record: world.store.table("domains").get(order.id) ?? order },
    invoice,
  };
}

export const domainEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/domains/check",
    ability: "view",
    answer: (call) => {
      const { names, field } = namesInQuery(call);
      return check(call, names, field);
    },
  },
  { method: "POST", path: "/domains/check", ability: "view", answer: checkPosted },
  { method: "POST", path: "/domains", ability: "technical", answer: register },
];
