/**
 * Definition of endpoints, and their common parts: ids, pages and permissions (§5). Each rejection names the failed check
 * (§7).
 */
import type { OperationName, RequestPattern } from "../operations.ts";
import { firstPage, type Profile } from "../profile/profile.ts";
import { invalid, notFound, Refusal } from "../refusal.ts";
import type { Body } from "../routes/fields.ts";
import { RECORD_KINDS, type Reply, readId, type Sent } from "../shape/items.ts";
import type { Ability, Collections, Customer, Token } from "../store/records.ts";
import type { Store, Table } from "../store/store.ts";
import type { World } from "../world.ts";

/** Request that has passed authentication, the rate limit and the ability check. */
export interface Call {
  world: World;
  token: Token;
  customer: Customer;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string[]>>;
  body: Body;
}

export interface Endpoint {
  ability: Ability;
  /** True if the request needs an Idempotency-Key (§4: service creation only). */
  keyed?: boolean;
  /** Returns a successful reply. Synchronous, because it runs inside a transaction. Throws a Refusal otherwise. */
  answer(call: Call): Reply;
}

const needs =
  (ability: Ability) =>
  (answer: Endpoint["answer"]): Endpoint => ({ ability, answer });
export const view = needs("view");
export const technical = needs("technical");
export const billing = needs("billing");

/** Endpoints by operation, which determines the method and the path. */
export type Endpoints = { [O in OperationName]?: Endpoint };

export type RoutedEndpoint = Endpoint & Required<RequestPattern>;

/**
 * Returns an id of the path.
 * @throws Refusal 404 if its format differs from the ids of this kind
 */
export function idParam(call: Call, name: string, what: string): number {
  const text = call.params[name] ?? "";
  const { store, settings } = call.world;
  const kind = what.replace(" ", "_");
  const named = RECORD_KINDS.find((one) => one === kind);
  const isNamed = (one: { host_id?: string }): boolean => one.host_id === text;
  const imported = named && (store.table(`${named}s`) as Table<{ id: number; host_id?: string }>).find(isNamed);
  const id = imported?.id ?? readId(kind, text, settings.profile);
  if (id === undefined) throw new Refusal(404, `There is no ${what} ${text}.`);
  return id;
}

const LARGEST_PAGE = 100;

/** Response after the last page, by value of the rendering. */
const PAST = { empty: undefined, not_found: "missing", repeats: "repeats" } as const;
const LAG_SECONDS = { none: 0, four_seconds: 4, thirty_seconds: 30 } as const;

type Identified = { id: number };

/** Order of lists, which the specification does not define (§4 Gaps). `scattered` looks random, but never changes. */
const ORDERS: Readonly<Record<Profile["order"], (a: Identified, b: Identified) => number>> = {
  newest: (a, b) => b.id - a.id,
  oldest: (a, b) => a.id - b.id,
  scattered: (a, b) => scattered(a.id) - scattered(b.id) || a.id - b.id,
};

/** Returns a number without a visible relation to the id. */
function scattered(id: number): number {
  const mixed = Math.imul(id ^ (id >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 12)) >>> 0;
}

/**
 * Returns one page of the records, in the profile's order, by page and per_page (§4 Pagination). By default, a page has 25
 * records (plans: 50), at most 100. Larger values are not specified, and count as 100. Numbers below the first page and other
 * strings are rejected. Records newer than the profile's list lag are omitted.
 */
export function page<K extends Sent["kind"]>(
  call: Call,
  kind: K,
  records: readonly (Identified & Extract<Sent, { kind: K }>["record"])[],
  defaultSize = 25,
): Reply {
  const { profile } = call.world.settings;
  const first = firstPage(profile);
  const errors: Record<string, string[]> = {};
  const read = (parameter: string, fallback: number, least: number): number => {
    const text = call.query[parameter]?.at(-1);
    if (text === undefined || text === "") return fallback;
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    errors[parameter] = [`The ${parameter.replace("_", " ")} field must be an integer of at least ${least}.`];
    return fallback;
  };
  const asked = read("page", first, first);
  const perPage = Math.min(read("per_page", defaultSize, 1), LARGEST_PAGE);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const { rendering } = call.world.settings;
  const { past = PAST[profile.past_end], lagSeconds = LAG_SECONDS[profile.list_lag] } = rendering.lists ?? {};
  const newest = call.world.clock.now() - lagSeconds * 1000;
  // Plans have no creation time, and are never new.
  const isOld = (one: Identified): boolean => !("created_at" in one) || Date.parse(String(one.created_at)) <= newest;
  const listed = lagSeconds === 0 ? records : records.filter(isOld);
  const last = first + Math.max(1, Math.ceil(listed.length / perPage)) - 1;
  if (asked > last && past === "missing") throw new Refusal(404, `There is no page ${asked}.`);
  const number = past === "repeats" ? Math.min(asked, last) : asked;
  const start = (number - first) * perPage;
  const shown = [...listed].sort(ORDERS[profile.order]).slice(start, start + perPage);
  const items = shown.map((record) => ({ kind, record, customer: call.customer }) as unknown as Sent);
  return { form: "page", name: `${kind}s`, items, page: number, perPage, total: listed.length };
}

/** Returns the token of an `Authorization: Bearer` header. Undefined for a missing header or an unknown token. */
export function findToken(store: Store, authorization: string | undefined): Token | undefined {
  const value = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (value === undefined) return undefined;
  return store.table("tokens").find((token) => token.value === value);
}

/** Returns a unique name of a token for the log: its name, with its id if an older token has the same name. */
export function uniqueName(store: Store, { id, name }: Token): string {
  return store.table("tokens").find((token) => token.name === name)?.id === id ? name : `${name}#${id}`;
}

/** Returns 401. Its body is not specified (§7 Gaps). */
export function unauthenticated(): Refusal {
  return new Refusal(401, "Unauthenticated.", { headers: { "WWW-Authenticate": "Bearer" } });
}

/**
 * Requires that the token has the ability, and that its user still has the permission behind the ability (§5.2, §5.3).
 * @throws Refusal 403
 */
export function requireAbility(store: Store, token: Token, ability: Ability): void {
  if (!token.abilities.includes(ability)) {
    throw new Refusal(403, `This token does not have the "${ability}" ability.`);
  }
  const user = store.table("users").get(token.user_id);
  if (user === undefined || !user.permissions.includes(ability)) {
    throw new Refusal(403, `The user who issued this token does not have the "${ability}" permission.`);
  }
}

export function customerOf(store: Store, token: Token): Customer {
  const customer = store.table("customers").get(token.customer_id);
  if (customer === undefined) throw unauthenticated();
  return customer;
}

/** Returns true if the token's scope contains the order (§5.4). */
export function covers(token: Token, orderId: number): boolean {
  return token.service_ids?.includes(orderId) ?? true;
}

/**
 * Requires that the token's scope contains the order (§7: "service outside the token's restriction").
 * @throws Refusal 403
 */
export function requireCovered(token: Token, orderId: number): void {
  if (!covers(token, orderId)) {
    throw new Refusal(403, `Service ${orderId} is outside this token's restriction to certain services.`);
  }
}

/**
 * Rejects a new order with a scoped token, because a scope cannot contain it. §5.4 requires the check on "every request", and
 * does not mention new orders.
 * @throws Refusal 403
 */
export function requireUnrestricted(token: Token): void {
  if (token.service_ids !== null) {
    throw new Refusal(403, "This token is restricted to certain services, so a new order is outside its restriction.");
  }
}

export function ownRecords<K extends keyof typeof IN_PATH | "accounts">(call: Call, collection: K) {
  const kind = collection === "accounts" ? "account" : IN_PATH[collection as keyof typeof IN_PATH];
  return withEnded(call, collection, kind.replace(" ", "_") as Sent["kind"]).filter(
    (one) => one.customer_id === call.customer.id,
  );
}

/** Returns the records of a list, with deleted records if the host keeps them. */
export function withEnded<K extends keyof Collections>(
  { world: { store, settings } }: Call,
  collection: K,
  kind: Sent["kind"],
): readonly Collections[K][] {
  const table = store.table(collection) as Table<Collections[K]>;
  return [...table.all(), ...(settings.rendering.kinds?.[kind]?.ended === undefined ? [] : table.ended())];
}

/** Nouns of the records in paths, by collection. */
const IN_PATH = {
  services: "service",
  invoices: "invoice",
  webhooks: "webhook",
  migration_requests: "migration request",
} as const;

/**
 * Returns the record of the path.
 * @throws Refusal 404 for an unknown record, 403 for a record of another account or outside the token's scope
 */
export function recordInPath<K extends keyof typeof IN_PATH>(call: Call, collection: K): Collections[K] {
  const what = IN_PATH[collection];
  const id = idParam(call, "id", what);
  const record = call.world.store.table(collection).get(id) as Collections[K] | undefined;
  if (record === undefined) throw notFound(what, id);
  if (record.customer_id !== call.token.customer_id) {
    throw new Refusal(403, `This ${what} belongs to another account than this token.`);
  }
  const orderId = collection === "services" ? id : "order_id" in record ? record.order_id : null;
  if (orderId !== null) requireCovered(call.token, orderId);
  return record;
}

/**
 * Requires an account on the Manage track (§4: "Manage track only").
 * @throws Refusal 403
 */
export function requireManageTrack(customer: Customer): void {
  if (customer.track !== "manage") {
    throw new Refusal(403, "This account is not on the Manage track, which client accounts belong to.");
  }
}
