/**
 * Changes, deletes and adds records for the control, without the token, rate limit and permissions of an API request. Checks
 * only that the data stays valid. Also defines the accessible collections.
 */
import { TERM_MONTHS } from "../money.ts";
import { notFound, Refusal, requireKnown, unprocessable } from "../refusal.ts";
import { addAccount, addWebhook } from "../routes/accounts.ts";
import { addMigrationRequest, readMigrationRequest } from "../routes/migration-requests.ts";
import { addGrant } from "../routes/services.ts";
import { customerBy, type ForAccount } from "../seed.ts";
import {
  ABILITIES,
  type Ability,
  type Account,
  type Collections,
  type Coupon,
  type Grant,
  OPEN_COLLECTIONS,
  PRODUCT_TYPES,
  type ProductType,
  type Token,
  type Webhook,
} from "../store/records.ts";
import { checkSound, isNullable } from "../store/sound.ts";
import { nextSecret, type Store, type Table } from "../store/store.ts";
import type { World } from "../world.ts";

export type OpenCollection = (typeof OPEN_COLLECTIONS)[number];

/**
 * Returns the collection.
 * @throws Refusal 404, with the names of the collections
 */
export function openCollection(name: string): OpenCollection {
  const found = OPEN_COLLECTIONS.find((one) => one === name);
  if (found !== undefined) return found;
  throw new Refusal(404, `There is no collection "${name}". The collections are ${OPEN_COLLECTIONS.join(", ")}.`);
}

export function openTable<K extends OpenCollection>(store: Store, collection: K): Table<Collections[K]> {
  // TypeScript cannot call a union of tables. The name determines the type of the records.
  return store.table(openCollection(collection)) as unknown as Table<Collections[K]>;
}

/** Changes fields of a record. A new value must have the type of the old value, or be null if the field is nullable. */
export function changeRecord<K extends OpenCollection>(
  store: Store,
  collection: K,
  id: number,
  fields: Partial<Collections[K]>,
): Collections[K] {
  const table = openTable(store, collection);
  const record = table.get(id);
  if (record === undefined) throw notFound(`record in ${collection} with the id`, id);
  const known = record as unknown as Record<string, unknown>;
  requireKnown(`A record in ${collection}`, fields, Object.keys(known));
  for (const [name, value] of Object.entries(fields)) {
    if (name === "id") throw unprocessable("The id of a record cannot be changed.");
    const before = known[name];
    const nullable = isNullable(collection, name);
    if (!(value === null ? nullable : before === null || kindOf(value) === kindOf(before))) {
      throw unprocessable(`The field "${name}" must be a ${kindOf(before)}, not a ${kindOf(value)}.`);
    }
    checkSound(collection, name, value);
  }
  return structuredClone(table.update(id, fields));
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

/** Deletes a record and its dependent records. */
export function removeRecord(store: Store, collection: OpenCollection, id: number): void {
  const table = openTable(store, collection);
  if (table.get(id) === undefined) throw notFound(`record in ${collection} with the id`, id);
  table.remove(id);
  if (collection !== "services") return;
  for (const grant of store.table("grants").filter((one) => one.service_id === id))
    store.table("grants").remove(grant.id);
  for (const job of store.table("jobs").filter((one) => one.order_id === id)) store.table("jobs").remove(job.id);
  store.table("billing").remove(id);
}

/** Fields of the records that the control can create. */
export interface NewRecord {
  grants: Pick<Grant, "service_id" | "email" | "permission"> & { expires_at?: string | null };
  webhooks: Pick<Webhook, "url" | "events"> & ForAccount;
  accounts: Partial<Omit<Account, "id" | "created_at" | "customer_id">> & { name: string } & ForAccount;
  migration_requests: { domain: string; order_id?: number | null; [answer: string]: unknown } & ForAccount;
  tokens: { name: string; abilities: Ability[]; service_ids?: number[] | null } & ForAccount;
  /** By default, a coupon is valid for all products and terms. */
  coupons: { code: string; percent: number; product_types?: ProductType[]; terms?: number[] };
}

/** Functions that create a record, by collection. */
export const MAKERS: { [K in keyof NewRecord]: (world: World, fields: NewRecord[K]) => Collections[K] } = {
  grants: (world, { service_id, ...fields }) => {
    if (world.store.table("services").get(service_id) === undefined) throw notFound("service", service_id);
    return addGrant(world, service_id, fields);
  },
  webhooks: (world, { account, ...fields }) => addWebhook(world, customerBy(world, account).id, fields),
  accounts: (world, { account, ...fields }) => addAccount(world, customerBy(world, account).id, fields),
  migration_requests: (world, { account, ...fields }) => {
    const isThere = (orderId: number): boolean => world.store.table("services").get(orderId) !== undefined;
    const wanted = readMigrationRequest(fields, (id) => (isThere(id) ? undefined : `There is no service ${id}.`));
    return addMigrationRequest(world, wanted, customerBy(world, account).id);
  },
  tokens: makeToken,
  coupons: makeCoupon,
};

/**
 * Returns the collection if the control can create its records.
 * @throws Refusal 405
 */
export function creatable(collection: OpenCollection): keyof NewRecord {
  if (Object.hasOwn(MAKERS, collection)) return collection as keyof NewRecord;
  throw new Refusal(
    405,
    `The control cannot create ${collection}. It can create services, ${Object.keys(MAKERS).join(", ")}.`,
  );
}

/** Creates a token of the account's first user. Its abilities must be among the user's permissions (§5.3). */
function makeToken(world: World, fields: NewRecord["tokens"]): Token {
  const { store, settings } = world;
  const owner = customerBy(world, fields.account);
  const user = store.table("users").find((one) => one.customer_id === owner.id);
  if (user === undefined) throw unprocessable(`The customer account ${owner.name} has no user to issue a token.`);
  const { name, abilities, service_ids = null } = fields;
  if (typeof name !== "string" || !/^[a-z0-9-]{1,60}$/.test(name)) {
    throw unprocessable("The name of a token consists of small letters, digits and hyphens.");
  }
  // The log identifies tokens by name.
  if (store.table("tokens").find((one) => one.name === name)) {
    throw unprocessable(`A token named "${name}" already exists.`);
  }
  if (!Array.isArray(abilities) || abilities.length === 0) {
    throw unprocessable(`A token needs at least one of the abilities ${ABILITIES.join(", ")}.`);
  }
  const denied = abilities.find((one) => !user.permissions.includes(one));
  if (denied !== undefined) {
    throw unprocessable(`The user ${user.name} does not have the "${denied}" permission, so no token can have it.`);
  }
  const foreign = service_ids?.find((id) => store.table("services").get(id)?.customer_id !== owner.id);
  if (foreign !== undefined) {
    throw unprocessable(`Service ${foreign} does not belong to the customer account ${owner.name}.`);
  }
  return store.table("tokens").put({
    id: world.store.next("tokens", 1),
    customer_id: owner.id,
    user_id: user.id,
    name,
    value: `sandbox-${name}-token-${nextSecret(store, settings.seed, "token").slice(0, 6)}`,
    abilities: [...abilities],
    service_ids: service_ids === null ? null : [...service_ids],
  });
}

function makeCoupon(world: World, fields: NewRecord["coupons"]): Coupon {
  const { code, percent, product_types = [...PRODUCT_TYPES], terms = [...TERM_MONTHS] } = fields;
  const sound =
    typeof code === "string" &&
    code !== "" &&
    typeof percent === "number" &&
    percent >= 0 &&
    percent <= 100 &&
    Array.isArray(product_types) &&
    product_types.every((type) => PRODUCT_TYPES.includes(type)) &&
    Array.isArray(terms) &&
    terms.every((term) => TERM_MONTHS.includes(term));
  if (!sound) {
    throw unprocessable("A coupon has a code, a percent from 0 to 100, and lists of product_types and terms.");
  }
  const id = world.store.next("coupons", 101);
  return world.store.table("coupons").put({ id, code, percent, product_types, terms, active: true });
}
