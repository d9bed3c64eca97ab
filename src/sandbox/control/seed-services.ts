/** Services in bulk, as if they had been ordered and paid: without HTTP, keys and rate limit. */

import { Refusal, notFound } from "../refusal.ts";
import { takesDomain } from "../rules/service-order.ts";
import type { Service, ServiceStatus } from "../store/records.ts";
import { plantOrder } from "../store/seed.ts";
import type { World } from "../world.ts";
import { customerBy, type ForAccount } from "./create.ts";

/** Services to add in bulk. */
export interface ServiceSeed extends ForAccount {
  /** Default 1, at most 100,000. */
  count?: number;
  /** Default 11, the cheapest shared plan. */
  plan_id?: number;
  /** Domains are `<prefix>-00001.example` and so on; default "site". Plans without a domain get none. */
  domain_prefix?: string;
  /** Default "active". */
  status?: ServiceStatus;
}

const SEED_FIELDS = ["account", "count", "plan_id", "domain_prefix", "status"];
const LARGEST_SEED = 100_000;

/** Adds services with paid invoices. */
export function seedServices(world: World, seed: ServiceSeed): Service[] {
  const unknown = Object.keys(seed).find((name) => !SEED_FIELDS.includes(name));
  if (unknown !== undefined) {
    throw new Refusal(422, `Seeding knows no field "${unknown}". The fields are ${SEED_FIELDS.join(", ")}.`);
  }
  const { count = 1, plan_id = 11, domain_prefix = "site", status = "active" } = seed;
  if (!Number.isInteger(count) || count < 1 || count > LARGEST_SEED) {
    throw new Refusal(422, `count must be a whole number from 1 to ${LARGEST_SEED}.`);
  }
  const customer = customerBy(world, seed.account);
  const { store, clock } = world;
  const plan = store.table("plans").get(plan_id);
  if (plan === undefined) throw notFound("plan", plan_id);
  const made: Service[] = [];
  for (let at = 0; at < count; at += 1) {
    const number = String(store.next(`domain_prefix:${domain_prefix}`)).padStart(5, "0");
    const domain = takesDomain(plan) ? `${domain_prefix}-${number}.example` : null;
    const id = plantOrder(world, { customer, plan, domain, ordered: clock.now() });
    made.push(structuredClone(store.table("services").update(id, { status })));
  }
  return made;
}
