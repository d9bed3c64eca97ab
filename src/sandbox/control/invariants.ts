/** Checks the received requests against the rules for clients. */

import type { RequestEntry } from "../http/journal.ts";
import { matches, patternOf } from "../operations.ts";
import { keptDomain } from "../routes/fields.ts";
import { canonical } from "../snapshot.ts";

/**
 * - `key_reused`: two different orders had the same Idempotency-Key. Only the first can be placed (§4).
 * - `over_rate`: a token received more responses than the limit (§8) within 60 seconds.
 * - `ordered_twice`: the same order for one domain was placed again while the first service existed, under another key or
 *   under a key that the host had forgotten.
 * - `order_repeated`: an order without a domain was placed again under another key, or a different order for a domain was
 *   placed while the first service existed. Both may be intended.
 * - `domain_sent_twice`: a registration was sent again although the first request may have succeeded. Registrations have no
 *   key (§4).
 */
type InvariantRule = "key_reused" | "over_rate" | "ordered_twice" | "order_repeated" | "domain_sent_twice";

export interface BrokenInvariant {
  rule: InvariantRule;
  /** Sentence without tokens and complete bodies. */
  message: string;
  /** Ids of the affected requests. */
  requests: number[];
}

export interface InvariantReport {
  /** Number of checked requests. */
  checked: number;
  broken: BrokenInvariant[];
  /** Findings that may be intended. */
  doubtful: BrokenInvariant[];
}

const MINUTE_MS = 60_000;

/** Checks the requests. `limit` is the maximum number of requests per minute and token, 0 for no limit. */
export function checkInvariants(entries: readonly RequestEntry[], limit: number): InvariantReport {
  const orders = entries.filter((entry) => is("orderService", entry) && entry.token !== null);
  const repeated = [...orderedAgain(orders), ...repeatedOrders(orders), ...orderedBeside(orders)];
  return {
    checked: entries.length,
    broken: [
      ...reusedKeys(orders),
      ...overRate(entries, limit),
      ...repeated.filter(({ rule }) => rule === "ordered_twice"),
      ...domainsSentTwice(entries.filter((entry) => is("registerDomain", entry))),
    ],
    doubtful: repeated.filter(({ rule }) => rule === "order_repeated"),
  };
}

function is(operation: string, { method, path }: RequestEntry): boolean {
  return matches(patternOf(operation), method, path);
}

/** Returns true unless a 4xx response proves that the request had no effect. */
function mayHaveDone({ status }: RequestEntry): boolean {
  return status === null || status < 400 || status >= 500;
}

function fromFirstDone(group: readonly RequestEntry[]): readonly RequestEntry[] {
  const first = group.findIndex(mayHaveDone);
  return first < 0 ? [] : group.slice(first);
}

function reusedKeys(orders: readonly RequestEntry[]): BrokenInvariant[] {
  const keyed = orders.filter(({ idempotency_key }) => idempotency_key !== null);
  // A key belongs to the account, whatever the token.
  return grouped(keyed, ({ account, idempotency_key }) => `${account} ${idempotency_key}`).flatMap((group) => {
    // After a rejected order, the key is free for a corrected order.
    const [done, ...later] = fromFirstDone(group);
    const other = later.find((entry) => done !== undefined && canonical(entry.body) !== canonical(done.body));
    if (done === undefined || other === undefined) return [];
    const message = `The Idempotency-Key "${done.idempotency_key}" was sent with two different orders: only the first can be placed.`;
    return [{ rule: "key_reused", message, requests: [done.id, other.id] }];
  });
}

function overRate(entries: readonly RequestEntry[], limit: number): BrokenInvariant[] {
  if (limit === 0) return [];
  const answered = entries.filter(({ token, status }) => token !== null && status !== 429);
  return [...Map.groupBy(answered, ({ token }) => token)].flatMap(([token, group]) => {
    const inTime = group.map((entry) => ({ entry, at: Date.parse(entry.at) })).sort((a, b) => a.at - b.at);
    let worst: { from: number; to: number } = { from: 0, to: -1 };
    for (let from = 0, to = 0; to < inTime.length; to += 1) {
      while ((inTime[to]?.at ?? 0) - (inTime[from]?.at ?? 0) >= MINUTE_MS) from += 1;
      if (to - from > worst.to - worst.from) worst = { from, to };
    }
    const minute = inTime.slice(worst.from, worst.to + 1).map(({ entry }) => entry);
    if (minute.length <= limit) return [];
    const message = `The token "${token}" had ${minute.length} requests answered in the 60 seconds from ${minute[0]?.at}; the limit is ${limit}.`;
    return [{ rule: "over_rate", message, requests: minute.map(({ id }) => id) }];
  });
}

/** Returns placed orders with the same key. The later orders were sent after the host had forgotten the key (§8 Gaps). */
function orderedAgain(orders: readonly RequestEntry[]): BrokenInvariant[] {
  const placed = orders.filter(({ ordered }) => ordered !== null);
  return grouped(placed, ({ account, idempotency_key }) => `${account} ${idempotency_key}`).flatMap((group) => {
    if (group.length < 2) return [];
    const made = group.map(({ ordered }) => ordered?.id).join(", ");
    const message = `The order under the Idempotency-Key "${group[0]?.idempotency_key}" was placed ${group.length} times, as ${made}: the repetition came after the key had expired.`;
    return [{ rule: "ordered_twice" as const, message, requests: group.map(({ id }) => id) }];
  });
}

/** Returns the content of an order in a normalized format. */
function wish(body: unknown): string {
  const { plan_id, currency, domain, term } = Object(body) as Record<string, unknown>;
  return canonical({
    plan_id: `${plan_id}`,
    currency,
    domain: keptDomain(`${domain ?? ""}`),
    term: `${term ?? 1}`,
  });
}

/** Returns true if the later of two orders for a domain was placed after the earlier service had ended. */
function isAfterEnd(earlier: RequestEntry, later: RequestEntry): boolean {
  const { ordered } = earlier;
  return ordered !== null && later.ordered !== null && !later.ordered.beside.includes(ordered.id);
}

/** Returns orders with the same content and different keys that were placed, or may have been placed. */
function repeatedOrders(orders: readonly RequestEntry[]): BrokenInvariant[] {
  // A placed order counts even if its response was lost.
  const done = orders.filter((one) => one.idempotency_key !== null && (one.ordered !== null || mayHaveDone(one)));
  return grouped(done, ({ account, body }) => `${account} ${wish(body)}`).flatMap((all) => {
    const isDouble = (earlier: RequestEntry, later: RequestEntry): boolean =>
      earlier.idempotency_key !== later.idempotency_key &&
      !(domainIn(later.body) !== undefined && isAfterEnd(earlier, later));
    const group = all.filter((one, at) =>
      all.some((other, place) => (place < at ? isDouble(other, one) : isDouble(one, other))),
    );
    const keys = new Set(group.map(({ idempotency_key }) => idempotency_key));
    if (keys.size < 2) return [];
    const domain = domainIn(group[0]?.body);
    const what = domain === undefined ? "The same order without a domain" : `The same order for ${domain}`;
    const message = `${what} was placed under ${keys.size} different Idempotency-Keys.`;
    return [
      {
        rule: domain === undefined ? "order_repeated" : "ordered_twice",
        message: domain === undefined ? `${message} Check whether that is intended.` : message,
        requests: group.map(({ id }) => id),
      },
    ];
  });
}

/** Returns pairs of different orders for one domain. The later order was placed while the earlier service existed. */
function orderedBeside(orders: readonly RequestEntry[]): BrokenInvariant[] {
  return orders.flatMap((later) => {
    const { ordered, account, body } = later;
    const isThere = (one: RequestEntry): boolean =>
      one.ordered !== null && one.account === account && (ordered?.beside.includes(one.ordered.id) ?? false);
    const other = orders.find((one) => isThere(one) && wish(one.body) !== wish(body));
    if (other === undefined) return [];
    const message = `Another service for ${domainIn(body)} was ordered while the first one existed. Check whether that is intended.`;
    return [{ rule: "order_repeated" as const, message, requests: [other.id, later.id] }];
  });
}

function domainsSentTwice(registrations: readonly RequestEntry[]): BrokenInvariant[] {
  const named = registrations.filter(({ token, body }) => token !== null && domainIn(body) !== undefined);
  return grouped(named, ({ account, body }) => `${account} ${keptDomain(domainIn(body) ?? "")}`).flatMap((group) => {
    const rest = fromFirstDone(group);
    if (rest.length < 2) return [];
    const message = `The registration of ${domainIn(rest[0]?.body)} was sent again after one that succeeded or may have succeeded.`;
    return [{ rule: "domain_sent_twice", message, requests: rest.map(({ id }) => id) }];
  });
}

function grouped(entries: readonly RequestEntry[], by: (entry: RequestEntry) => string): RequestEntry[][] {
  return [...Map.groupBy(entries, by).values()];
}

function domainIn(body: unknown): string | undefined {
  const { domain } = (body ?? {}) as { readonly domain?: unknown };
  return typeof domain === "string" && domain !== "" ? domain : undefined;
}
