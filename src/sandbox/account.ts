/**
 * Fills a sandbox with the account of a host. In: its records as the API shows them. Out: the store, with the same ids and the
 * billing steps, jobs and sequences that follow from the records.
 */
import { DAY_MS } from "./clock.ts";
import type { OpenCollection } from "./control/records.ts";
import { enqueue } from "./lifecycle/services.ts";
import { GIVEN_UP_DAYS, isOver, planStep, rescheduleBilling } from "./lifecycle/terms.ts";
import { TERM_MONTHS } from "./money.ts";
import { webhookSecret } from "./routes/accounts.ts";
import { markFilled, plantToken } from "./seed.ts";
import { type RecordKind, readId } from "./shape/items.ts";
import type { ImportedAccount, Invoice, Service } from "./store/records.ts";
import { checkSound } from "./store/sound.ts";
import type { Table } from "./store/store.ts";
import type { World } from "./world.ts";

const CUSTOMER = 1;

/** Fields whose values a host may choose freely. */
const FREE = ["currency", "term", "events", "next_due_date"];

/** Fills an empty store. Must run inside a transaction. @throws Refusal (422) for an unusable record */
export function plantAccount(world: World, account: ImportedAccount): void {
  const { store, clock, settings } = world;
  const { at, isManage, abilities, service_ids, services, invoices, domains } = account;
  markFilled(world);
  clock.place(Date.parse(at), false);
  const [track, tier] = isManage ? (["manage", "growth"] as const) : (["standard", null] as const);
  const customer = store.table("customers").put({ id: CUSTOMER, name: "agency", track, tier });
  plantToken(world, 1, customer, "agency", abilities, service_ids);
  type Row = { id: number };
  const add = (collection: OpenCollection, rows: readonly Row[], more: object = { customer_id: CUSTOMER }): void => {
    for (const row of rows.toSorted((a, b) => a.id - b.id)) {
      const record = { ...row, ...more };
      for (const [name, value] of Object.entries(record)) if (!FREE.includes(name)) checkSound(collection, name, value);
      (store.table(collection) as Table<Row>).put(record);
    }
  };
  add("products", [{ id: 1 }], { name: "hosting", product_type: "shared", active: true });
  add("plans", account.plans, { product_id: 1 });
  const product_types = account.plans.map(({ product_type }) => product_type);
  const coupon = { percent: 0, product_types, terms: [...TERM_MONTHS], active: true };
  for (const [index, code] of account.coupons.entries()) store.table("coupons").put({ id: index + 1, code, ...coupon });
  const counters = store.table("counters");
  const orders = [...services.map(({ id }) => id), ...invoices.map(({ order_id }) => order_id)];
  counters.put({ id: "orders", value: Math.max(1000, ...orders) });
  counters.put({ id: "invoices", value: Math.max(5000, ...invoices.map(({ id }) => id)) });
  const plain = services.map(({ anchor_day: _day, renews: _renews, queued: _queued, ...service }) => service);
  add("services", plain);
  add("invoices", invoices);
  const registered = domains.map((one) => ({ ...one, id: one.id || store.next("orders") }));
  add("domains", registered);
  add("grants", numbered(world, "grant", account.grants), {});
  add("accounts", numbered(world, "account", account.accounts));
  const requests = numbered(world, "migration_request", account.migration_requests);
  add("migration_requests", requests, { customer_id: CUSTOMER, credentials: null });
  for (const hook of numbered(world, "webhook", account.webhooks))
    add("webhooks", [hook], { customer_id: CUSTOMER, secret: webhookSecret(world) });
  const bills = Map.groupBy(store.table("invoices").all(), ({ order_id }) => order_id);
  for (const { id, renews = true, queued, anchor_day } of services) {
    const service = store.table("services").get(id);
    if (service === undefined || isOver(service)) continue;
    if (queued !== undefined) enqueue(world, queued, id, settings.jobSeconds);
    if (service.provisioning_status === "provisioning") enqueue(world, "provision", id, settings.provisioningSeconds);
    if (renews) resumeBilling(world, service, bills.get(id) ?? []);
    if (renews && anchor_day !== undefined) store.table("billing").update(id, { anchor_day });
  }
  world.agenda.forget();
}

/** An id in the sandbox's own format is its number, so that no new record gets it. Any other id is beside a new number. */
function numbered<T extends { id: string }>({ store, settings }: World, kind: RecordKind, records: readonly T[]) {
  const sequence = `${kind}s`;
  const own = records.map(({ id }) => readId(kind, id, settings.profile));
  store.table("counters").put({ id: sequence, value: Math.max(0, ...own.map((number) => number ?? 0)) });
  return records.map(({ id, ...rest }, at) =>
    own[at] === undefined ? { ...rest, id: store.next(sequence), host_id: id } : { ...rest, id: own[at] },
  );
}

/** Plans the next step of a service from its newest invoice, as `lifecycle/billing.ts` does. */
function resumeBilling(world: World, service: Service, bills: readonly Invoice[]): void {
  const now = world.clock.now();
  const ends = Date.parse(service.next_due_date);
  const isPending = service.status === "pending";
  const bill = bills.at(-1);
  const isFirst = bills.every(({ status }) => status !== "paid");
  // A cancelled invoice pays no term.
  const isOwed = bill?.status === "unpaid" || (bill?.status === "cancelled" && (isFirst || ends <= now));
  if (bill === undefined || !isOwed) {
    rescheduleBilling(world, service);
    return;
  }
  const due = Date.parse(bill.due_date);
  // A host that waits longer than the sandbox is not predictable: the full period starts now.
  const given = (due + GIVEN_UP_DAYS * DAY_MS > now ? due : now) + GIVEN_UP_DAYS * DAY_MS;
  const by = { id: bill.id, renewal: !isPending && (bills.length > 1 || due >= ends) };
  if (isPending) planStep(world, service, "cancel", given, by);
  else if (due > now) planStep(world, service, "suspend", due, by);
  else planStep(world, service, "terminate", given, by);
}
