/** Listings: page by page, to the end and not beyond (§4 Pagination). */

import type { ApiRecord } from "./decoder.ts";
import type { RecordEndpoint, RecordOf } from "./endpoints.ts";
import { changing, noList } from "./failed-attempt.ts";
import { HostLists } from "./host-lists.ts";
import { type ListingOptions, type Mode, Reading, type ReadOptions, rowOf } from "./list-reading.ts";

/** A listing: iterate to page through lazily, or take `.all()`. Each iteration starts again. */
export interface Listing<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

/**
 * A listing that pages lazily (§4 Pagination). It counts `page` up and never follows an address from the server.
 * An object that moved to the next page while paging comes once.
 *
 * 1. It reads page 1 and on, or page 0 and on where the host is known to count from 0.
 * 2. It ends where the server says so. Where the server says nothing: at an empty page, a 404 after known rows, the same
 *    page again, or a page that is shorter than the size in force, which is the first page's length if the server does
 *    not name it: it may have clamped `per_page`.
 * 3. If nothing shows that page 1 is the first page, or something speaks against it, it asks for page 0 as well.
 * 4. A reading that contradicts itself is repeated: rows come, go and move while they are read. If the list must be whole, it is
 *    read until its windows overlap ({@link continues}), or two readings are equal.
 *
 * A contradiction that the next reading repeats, four readings that differ, or more than `maxPages`, is api.pagination: rows that were not seen might be ordered again. An
 * answer without a list is api.inconclusive, unless a list with rows has its form, or the caller concludes nothing from it
 * ({@link ReadOptions.onNoList}).
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

/** A list is read so many times in windows, and so many times page by page, at most. */
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
    // The pages that the first one promised did not come: nothing is fetched ahead.
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
      // The host is at fault if it answers the same again; else the account changes.
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
