/** What a route is: method, path, ability, and a function from a call to a reply. */
import { firstPage, listLagSeconds, type Profile } from "../profile/profile.ts";
import { Refusal, invalid } from "../refusal.ts";
import type { Body } from "../rules/fields.ts";
import { readId } from "../shape/notation.ts";
import type { Ability, Customer, Token } from "../store/records.ts";
import type { World } from "../world.ts";
import type { Reply, Sent } from "../shape/items.ts";

/** A request that has passed authentication, the rate limit and the ability check. */
export interface Call {
  world: World;
  token: Token;
  customer: Customer;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string[]>>;
  body: Body;
}

export interface Endpoint {
  method: "GET" | "POST" | "DELETE";
  /** Below /api/v1, with `:name` for one segment. */
  path: string;
  ability: Ability;
  /** Needs an Idempotency-Key (§4: service creation only). */
  keyed?: boolean;
  /** Runs inside a transaction, so it is synchronous; throws a Refusal for anything but success. */
  answer(call: Call): Reply;
}

/** The id in the path. One that is not written as ids of its kind are belongs to nothing: 404. */
export function idParam(call: Call, name: string, what: string): number {
  const text = call.params[name] ?? "";
  const id = readId(what.replace(" ", "_"), text, call.world.settings.profile);
  if (id === undefined) throw new Refusal(404, `There is no ${what} ${text}.`);
  return id;
}

/** Whether a record is from before that instant; those without a time of their own are. */
function isOlder(record: Identified & { created_at?: string }, instant: number): boolean {
  return record.created_at === undefined || Date.parse(record.created_at) <= instant;
}

const LARGEST_PAGE = 100;

/** What comes after the last page, in the words of a rendering. */
const PAST = { empty: undefined, not_found: "missing", repeats: "repeats" } as const;

type Identified = { id: number };

/** Sorting is not specified (§4 Gaps). What is scattered stays where it is while others come and go. */
const ORDERS: Readonly<Record<Profile["order"], (a: Identified, b: Identified) => number>> = {
  newest: (a, b) => b.id - a.id,
  oldest: (a, b) => a.id - b.id,
  scattered: (a, b) => scattered(a.id) - scattered(b.id) || a.id - b.id,
};

/** A number that follows from the id, of which no order can be seen. */
function scattered(id: number): number {
  const mixed = Math.imul(id ^ (id >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 12)) >>> 0;
}

/**
 * One page of the records, in the profile's order. §4 Pagination: page and per_page; default 25, for plans 50, maximum
 * 100. What happens beyond the maximum is not specified: it is clamped. Smaller numbers than the first and other texts
 * are refused. A record that is younger than the profile's lag is not listed yet.
 */
export function page<T extends Identified & { created_at?: string }>(
  call: Call,
  name: string,
  records: readonly T[],
  sent: (record: T) => Sent,
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
  const { past = PAST[profile.past_end], lagSeconds = listLagSeconds(profile) } = rendering.lists ?? {};
  const newest = call.world.clock.now() - lagSeconds * 1000;
  const listed = lagSeconds === 0 ? records : records.filter((one) => isOlder(one, newest));
  const last = first + Math.max(1, Math.ceil(listed.length / perPage)) - 1;
  if (asked > last && past === "missing") throw new Refusal(404, `There is no page ${asked}.`);
  const number = past === "repeats" ? Math.min(asked, last) : asked;
  const start = (number - first) * perPage;
  const items = [...listed].sort(ORDERS[profile.order]).slice(start, start + perPage);
  return { form: "page", name, items: items.map(sent), page: number, perPage, total: listed.length };
}
