/**
 * Fills a sandbox with the account of a host. In: its records as the API shows them. Out: the store, with the same ids and the
 * billing steps, jobs and sequences that follow from the records.
 */
import { DAY_MS } from "./clock.ts";
import type { OpenCollection } from "./control/records.ts";
import { enqueue } from "./lifecycle/services.ts";
import { GIVEN_UP_DAYS, isOver, planStep, rescheduleBilling } from "./lifecycle/terms.ts";
import { TERM_MONTHS } from "./money.ts";
import { SandboxOptionError } from "./refusal.ts";
import { webhookSecret } from "./routes/accounts.ts";
import { markFilled, plantToken } from "./seed.ts";
import { type RecordKind, readId, recordId } from "./shape/items.ts";
import { type ImportedAccount, type Invoice, PRODUCT_TYPES, type Service } from "./store/records.ts";
import { checkSound, isCount } from "./store/sound.ts";
import type { Table } from "./store/store.ts";
import type { World } from "./world.ts";

const CUSTOMER = 1;

/** Fills an empty store. Must run inside a transaction. @throws SandboxOptionError for an unusable record */
export function plantAccount(world: World, account: ImportedAccount): void {
  const { store, clock } = world;
  markFilled(world);
  clock.place(Date.parse(account.at), false);
  const { track, tier, abilities, service_ids } = account;
  const customer = store.table("customers").put({ id: CUSTOMER, name: "agency", track, tier });
  plantToken(world, 1, customer, "agency", abilities, service_ids);
  plantToken(world, 3, customer, "viewer", ["view"], service_ids);
  plantPlans(world, account);
  type Row = { id: number };
  const add = (collection: OpenCollection, rows: readonly Row[], more: object = { customer_id: CUSTOMER }): void => {
    for (const row of rows.toSorted((a, b) => a.id - b.id))
      (store.table(collection) as Table<Row>).put(sound(collection, { ...row, ...more }));
  };
  add(
    "services",
    account.services.map(({ anchor_day: _day, renews: _renews, queued: _queued, ...service }) => service),
  );
  add("invoices", account.invoices);
  add("domains", account.domains);
  add("grants", numbered(world, "grant", account.grants), {});
  add("accounts", numbered(world, "account", account.accounts));
  const requests = numbered(world, "migration_request", account.migration_requests);
  add("migration_requests", requests, { customer_id: CUSTOMER, credentials: null });
  for (const hook of numbered(world, "webhook", account.webhooks))
    add("webhooks", [hook], { customer_id: CUSTOMER, secret: webhookSecret(world) });
  continueSequences(world, account);
  const bills = Map.groupBy(store.table("invoices").all(), ({ order_id }) => order_id);
  const { jobSeconds, provisioningSeconds } = world.settings;
  for (const { id, renews = true, queued, anchor_day } of account.services) {
    const service = store.table("services").get(id);
    if (service === undefined || isOver(service)) continue;
    if (queued !== undefined) enqueue(world, queued, id, jobSeconds);
    if (service.provisioning_status === "provisioning") enqueue(world, "provision", id, provisioningSeconds);
    if (renews) resumeBilling(world, service, bills.get(id) ?? []);
    if (renews && anchor_day !== undefined) store.table("billing").update(id, { anchor_day });
  }
  for (const { id, status } of account.domains) {
    const isPaid = bills.get(id)?.some((bill) => bill.status === "paid") ?? false;
    if (status === "pending" && isPaid) enqueue(world, "register", id, provisioningSeconds);
  }
  world.agenda.forget();
}

/** Adds the plans, and one product for each type. A plan that the host no longer sells stays inactive. */
function plantPlans({ store }: World, { plans, coupons }: ImportedAccount): void {
  const types = [...new Set(plans.map(({ product_type }) => product_type))];
  for (const [at, product_type] of types.entries())
    store.table("products").put({ id: at + 1, name: product_type, product_type, active: true });
  for (const plan of plans) {
    store.table("plans").put(sound("plans", { ...plan, product_id: types.indexOf(plan.product_type) + 1 }));
  }
  const valid = { percent: 0, product_types: [...new Set([...PRODUCT_TYPES, ...types])], terms: [...TERM_MONTHS] };
  for (const [at, code] of coupons.entries()) store.table("coupons").put({ id: at + 1, code, ...valid, active: true });
}

/** Fields whose values a host may choose freely. */
const FREE = ["currency", "term", "events", "next_due_date", "provisioning_status", "permission"];

function sound<T extends { id: number }>(collection: string, record: T): T {
  const problem = (why: string) =>
    new SandboxOptionError(`A record in ${collection} of the account cannot be used: ${why}`, "account");
  if (!isCount(record.id)) throw problem(`its id is ${JSON.stringify(record.id)}, not a number.`);
  for (const [name, value] of Object.entries(record)) {
    if (FREE.includes(name)) continue;
    try {
      checkSound(collection, name, value);
    } catch (error) {
      throw problem(error instanceof Error ? error.message : String(error));
    }
  }
  return structuredClone(record);
}

/** First ids of new records, as in a seeded sandbox. */
const FIRST = { grant: 301, webhook: 201, account: 401, migration_request: 501 } as const;

/**
 * Numbers records by their age. An id in the sandbox's own format is its number, so that no new record gets it. Any other id
 * is stored beside a new number.
 */
function numbered<T extends { id: string; created_at: string }>(
  { store, settings: { profile } }: World,
  kind: RecordKind,
  records: readonly T[],
): (Omit<T, "id"> & { id: number; host_id?: string })[] {
  const own = records.map(({ id }) => {
    const number = readId(kind, id, profile);
    return number !== undefined && String(recordId(kind, { id: number }, profile)) === id ? number : undefined;
  });
  let last = Math.max(FIRST[kind] - 1, ...own.map((number) => number ?? 0));
  const rows = records
    .map((record, at) => ({ record, own: own[at] }))
    .sort((a, b) => (a.record.created_at < b.record.created_at ? -1 : 1));
  const found = rows.map(({ record: { id, ...rest }, own: number }) => {
    if (number !== undefined) return { ...rest, id: number };
    last += 1;
    return { ...rest, id: last, host_id: id };
  });
  store.table("counters").put({ id: `${kind}s`, value: last });
  return found;
}

/** Continues the numbers of orders and invoices after those of the host. */
function continueSequences({ store }: World, { services, domains, invoices }: ImportedAccount): void {
  const set = (id: string, numbers: readonly number[]): void => {
    const [first = 0, ...rest] = numbers;
    if (numbers.length > 0) store.table("counters").put({ id, value: rest.reduce((a, b) => Math.max(a, b), first) });
  };
  set("orders", [...[...services, ...domains].map(({ id }) => id), ...invoices.map(({ order_id }) => order_id)]);
  set(
    "invoices",
    invoices.map(({ id }) => id),
  );
  const years = Map.groupBy(invoices, ({ invoice_number }) => /\b\d{4}\b/.exec(invoice_number)?.[0]);
  for (const [year, of] of years)
    set(
      `invoice_number:${year}`,
      of.map(({ invoice_number }) => Number(/(\d{1,9})$/.exec(invoice_number)?.[1] ?? 0)),
    );
}

/** Plans the next step of a service from its newest invoice, as `lifecycle/billing.ts` does. */
function resumeBilling(world: World, service: Service, bills: readonly Invoice[]): void {
  const now = world.clock.now();
  const ends = Date.parse(service.next_due_date);
  const isPending = service.status === "pending";
  const bill = bills.at(-1);
  // A cancelled invoice pays no term.
  const isOwed = bill?.status === "unpaid" || (bill?.status === "cancelled" && (isPending || ends <= now));
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
