import type { EndpointName } from "./endpoints.ts";
import { describeEndpoint } from "./endpoints.ts";
import { readPage } from "./envelope.ts";
import { FailedAttempt } from "./failure.ts";
import { type Form, readRecord } from "./forms.ts";
import { formOf, malformed } from "./malformed.ts";
import type { Listing } from "./surface.ts";

export interface ListingOptions<T> {
  readonly endpoint: EndpointName;
  readonly form: Form<T>;
  /** Fetches one page; pages count from 1. */
  readonly fetchPage: (page: number) => Promise<unknown>;
  readonly maxPages: number;
}

/**
 * A listing that pages lazily (§4 Pagination). It counts `page` up and never follows an address from the server.
 * An object that moved to the next page while paging comes once. Ends where the server says so; where
 * it says nothing, at an empty page, or at one shorter than the size in force, which is the first page's length if the
 * server does not tell it: it may have clamped `per_page`. An empty page of which the server says that it is not the last,
 * a page that repeats, or more than `maxPages`, is api.pagination.
 */
export function createListing<T extends { readonly id: string }>(options: ListingOptions<T>): Listing<T> {
  return {
    [Symbol.asyncIterator]: () => walk(options),
    async all() {
      const records: T[] = [];
      for await (const record of walk(options)) records.push(record);
      return records;
    },
  };
}

async function* walk<T extends { readonly id: string }>(options: ListingOptions<T>): AsyncGenerator<T> {
  const { endpoint, form, fetchPage, maxPages } = options;
  const seen = new Set<string>();
  let before = "";
  let received = 0;
  let sizeInForce: number | undefined;
  for (let page = 1; ; page++) {
    if (page > maxPages) throw endless(endpoint, `It has more than ${maxPages} pages.`);
    const json = await fetchPage(page);
    const { items, next, size } = readPage(endpoint, form, json, page, (count) => received + count);
    if (items.length === 0) {
      if (next === "more") throw half(endpoint, page, received);
      return;
    }
    received += items.length;
    const records = items.map((item) => take(options, item));
    const ids = JSON.stringify(records.map(({ id }) => id).sort());
    if (ids === before) throw endless(endpoint, `Page ${page} holds the same objects as page ${page - 1}.`);
    before = ids;
    for (const record of records) {
      if (seen.has(record.id)) continue;
      seen.add(record.id);
      yield record;
    }
    sizeInForce = size ?? sizeInForce ?? items.length;
    if (next === "end" || (next === "silent" && items.length < sizeInForce)) return;
  }
}

function take<T>({ endpoint, form }: ListingOptions<T>, item: unknown): T {
  const read = readRecord(form, item);
  if ("problem" in read) throw malformed(endpoint, { expected: read.problem, came: formOf(item) });
  return read.record;
}

const endless = (endpoint: EndpointName, detail: string) => broken(endpoint, "does not end or repeats itself", detail);

/** An empty page before the end: what is missing might be ordered again. */
function half(endpoint: EndpointName, page: number, received: number): FailedAttempt {
  const count = received === 1 ? "1 object" : `${received} objects`;
  const detail = `Page ${page} is empty, and the server says that there are more than the ${count} that came.`;
  return broken(endpoint, "ends before it is whole", detail);
}

function broken(endpoint: EndpointName, what: string, detail: string): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.pagination",
    summary: `The listing ${describeEndpoint(endpoint)} ${what}`,
    reached: "answered",
    detail,
    fix: "Report it to the host; hostform does not act on half a listing.",
  });
}
