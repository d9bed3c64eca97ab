/** Listings: page by page, to the end and not beyond (§4 Pagination). */

import type { ApiRecord } from "./decoder.ts";
import type { RecordEndpoint, RecordOf } from "./endpoints.ts";
import { changing, noList } from "./failed-attempt.ts";
import { HostLists } from "./host-lists.ts";
import { type ListingOptions, type Mode, Reading, type ReadOptions, rowOf } from "./list-reading.ts";

/** A listing. Iterate to read page by page, or call `.all()`. Each iteration starts again. */
export interface Listing<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

/**
 * Creates a listing that pages lazily (§4 Pagination). The listing increments `page` and never follows a URL from the server. It yields
 * an object once, even if the object moves to the next page meanwhile.
 *
 * 1. It reads from page 1, or from page 0 if the host is known to count from 0.
 * 2. It ends at the server's last page. Without page metadata, it ends at an empty page, a 404 after known rows, a repeated page, or a
 *    page shorter than the page size in force. If the server does not state that size, the length of the first page counts: the
 *    server may have reduced `per_page`.
 * 3. Without proof that page 1 is the first page, or with evidence against it, it also requests page 0.
 * 4. It repeats a reading that contradicts itself, because the list may change meanwhile. A list that must be whole is read until its
 *    windows overlap ({@link continues}), or two readings are equal.
 *
 * A contradiction that the next reading repeats, four different readings, or more than `maxPages` pages are api.pagination: objects of
 * unread rows might be ordered again. A response without a list is api.inconclusive, unless a list with rows has its form, or the
 * caller accepts a missing list ({@link ReadOptions.onNoList}).
 */
export function createListing<E extends RecordEndpoint>({
  host = new HostLists(),
  ...given
}: Omit<ListingOptions<E>, "host"> & { readonly host?: HostLists }): Listing<RecordOf<E>> {
  const options = { ...given, host };
  return {
    [Symbol.asyncIterator]: () => walk(options) as AsyncGenerator<RecordOf<E>>,
    async all() {
      const records: ApiRecord[] = [];
      for await (const record of walk({ ...options, onRead: options.onRead ?? (() => undefined) }))
        records.push(record);
      return records as RecordOf<E>[];
    },
  };
}

/** Maximum number of readings of a list, in windows and in pages. */
const MOST_READINGS = { windows: 2, pages: 4 };

async function* walk(options: ListingOptions): AsyncGenerator<ApiRecord> {
  const { endpoint, host, whole = false, onRead, onNoList, onBadRow, readAnother } = options;
  const yielded = new Set<string>();
  const count = { windows: 0, pages: 0 };
  let pages = 0;
  let before: string | undefined;
  let contradiction: string | undefined;
  let mode: Mode = whole && host.hasWindows !== false ? "windows" : "pages";
  for (;;) {
    // After a contradiction, no page is fetched ahead.
    const reading = new Reading(contradiction === undefined ? options : { ...options, onRead: undefined }, mode);
    for await (const record of reading.read()) {
      const row = rowOf(endpoint, record);
      if (yielded.has(row)) continue;
      yielded.add(row);
      const failure = reading.unreadable.get(record.id);
      if (failure === undefined) yield record;
      else onBadRow?.(failure);
    }
    pages += Math.max(1, reading.pages);
    count[mode] += 1;
    const { problem, instead, rows, isWhole } = reading;
    if (mode === "windows" && !isWhole && (reading.pages > 1 || reading.isUnfit)) {
      if (problem !== undefined || reading.isUnfit || count.windows === MOST_READINGS.windows) mode = "pages";
      continue;
    }
    if (problem !== undefined) {
      // If the next reading repeats the contradiction, the host is at fault. Otherwise the account changes during the readings.
      const again = JSON.stringify([problem.message, rows]);
      if (contradiction === again || !reading.mayHaveChanged) throw problem;
      if (count[mode] === MOST_READINGS.pages) throw changing(endpoint, count[mode]);
      contradiction = again;
      continue;
    }
    if (instead !== undefined && !(await host.hasForm(instead.form, readAnother))) {
      const failure = noList(endpoint, instead.came);
      if (onNoList === undefined || !reading.isEmpty) throw failure;
      onNoList(failure);
      return onRead?.({ isWhole: false, pages });
    }
    const isSame = before === rows;
    if (isWhole || isSame || !whole) return onRead?.({ isWhole: isWhole || isSame, pages });
    if (count.pages === MOST_READINGS.pages) throw changing(endpoint, count.pages);
    before = rows;
  }
}
