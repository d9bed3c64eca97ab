/** Reads a list once, from its first page to its end, in pages or in overlapping windows. */
import { ApiError } from "../model/index.ts";
import type { ApiRecord, Decoder, Fields } from "./decoder.ts";
import { decoderOf, type RecordEndpoint } from "./endpoints.ts";
import { isPromised, type ListPage, nextOf, nextSigns, promisedBy, readItem, readPage } from "./envelope.ts";
import type { ApiAnswer } from "./exchange.ts";
import { contradictory, endless, FailedAttempt, half, incomplete } from "./failed-attempt.ts";
import type { HostLists } from "./host-lists.ts";
import { beginOf, continues, type Window, windowAfter } from "./windows.ts";

/** Result of reading a list to its end. */
export interface ListReading {
  /** True if the list contains every row that existed during the whole reading: one page, overlapping windows, or two equal readings. */
  readonly isWhole: boolean;
  /** Number of received pages, at least 1. */
  readonly pages: number;
}

/** Mode of reading a list. */
export interface ReadOptions {
  /** Reads overlapping windows in place of pages, and repeats the reading until the list is complete. */
  readonly whole?: boolean | undefined;
  /** Called at the end. A caller with this option reads to the end, so the client fetches the announced pages concurrently. */
  readonly onRead?: ((reading: ListReading) => void) | undefined;
  /** Called in place of a failure if the response is not a list. The listing is then empty, but proves no absence. Absent: the listing fails. */
  readonly onNoList?: ((failure: ApiError) => void) | undefined;
  /** Maximum number of pages; beyond it, the listing fails. Default: the client's own maximum. */
  readonly mostPages?: number | undefined;
  /** Called in place of a failure for each unreadable row, which the listing omits. Absent: the listing fails. */
  readonly onBadRow?: ((failure: ApiError) => void) | undefined;
}

/** One page as received. */
export type Page = Pick<ApiAnswer, "json" | "total">;

export interface ListingOptions<E extends RecordEndpoint = RecordEndpoint> extends ReadOptions {
  readonly endpoint: E;
  /** Fetches one page by its number. */
  readonly fetchPage: (page: number, size: number) => Promise<Page>;
  readonly maxPages: number;
  /** Page size of the requests. */
  readonly pageSize: number;
  /** Known properties of the host's lists, shared by the listings of a client. */
  readonly host: HostLists;
  /** Reads a page of another collection, to learn the format of the host's lists. Absent: reads no other collection. */
  readonly readAnother?: (() => Promise<unknown>) | undefined;
}

/** Pages are disjoint. Each window begins with the last rows of the previous window. */
export type Mode = "windows" | "pages";

/** Returns the key of a row. The key is equal on every page. */
export function rowOf(endpoint: RecordEndpoint, record: ApiRecord): string {
  const { rowKey = [] }: Decoder<ApiRecord> = decoderOf(endpoint);
  if (rowKey.length === 0) return record.id;
  const fields: Fields = { ...record };
  return JSON.stringify([record.id, ...rowKey.map((name) => fields[name])]);
}

/** Statuses of the response to a request for a missing page. */
export const NO_PAGE: readonly number[] = [400, 404, 416, 422];

/** Minimum number of rows of a page that is not the last. */
const LEAST_PAGE = 10;

/** Maximum number of pages that are fetched ahead, and so the maximum number of wasted requests. */
const AHEAD = 9;

/** Reads a whole list once. */
export class Reading {
  /** Reason why the list is unreliable, after reading. */
  problem: FailedAttempt | undefined;
  /** A response that is not a list. The response counts as an empty page if a list of the host has the same format. */
  instead: { readonly form: string; readonly came: string } | undefined;
  /** Failures of unreadable rows, by id. */
  readonly unreadable = new Map<string, ApiError>();
  readonly #options: ListingOptions;
  readonly #host: HostLists;
  readonly #start: 0 | 1;
  readonly #rows = new Set<string>();
  readonly #mode: Mode;
  /** True if the host cannot return windows: it chooses the page size, or its pages are too small. */
  isUnfit = false;
  /** True while each window began with the last rows of the previous window. */
  #isLinked = true;
  /** Prefetched pages. `#promised`: number of rows that the first page announces. */
  readonly #ahead = new Map<string, Promise<Page>>();
  #promised = 0;
  /** Totals that the pages state. Undefined: a page stated fewer rows than were received. */
  #totals: number[] | undefined = [];
  /** Number of received pages. */
  pages = 0;
  #first: ListPage | undefined;
  #firstRows: ReadonlySet<string> = new Set();
  /** Error of a server that rejected the first page as nonexistent. */
  #refusal: ApiError | undefined;
  /** True if an announced page was empty or rejected. */
  #isShortened = false;
  /** True if page 0 contained rows that page 1 did not contain. */
  #hadZero = false;
  /** Last requested page or window. `#end`: index after the last row of the previous page. */
  #asked: Window;
  #end = 0;
  /** The response after the last page, if the reading requested it. */
  #afterLast: "nothing" | "repetition" | undefined;
  /** True if the server's number of pages matches page numbers from 1. */
  #fits = false;

  constructor(options: ListingOptions, mode: Mode) {
    this.#options = options;
    this.#mode = mode;
    this.#host = options.host;
    this.#start = options.host.first ?? 1;
    this.#asked = { page: 1, size: options.pageSize };
  }

  /** Returns true if the list may have changed during the reading: announced rows are missing. */
  get mayHaveChanged(): boolean {
    return this.#isShortened || this.mayHaveMoved;
  }

  /** Returns true if rows are missing. The rows may have moved to another page during the reading. */
  get mayHaveMoved(): boolean {
    return this.#total > this.#rows.size;
  }

  /** Returns true if the list contains every row that existed during the whole reading: one page, or linked windows. */
  get isWhole(): boolean {
    const isLinked = this.pages <= 1 || (this.#mode === "windows" && this.#isLinked);
    return this.problem === undefined && !this.#hadZero && !this.isUnfit && isLinked;
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Keys of all rows, in order. */
  get rows(): string {
    return JSON.stringify([...this.#rows]);
  }

  async *read(): AsyncGenerator<ApiRecord> {
    yield* this.#readOn();
    // The next reading requests page 0.
    if (this.isUnfit || !this.#isLinked) return;
    if (this.#start === 1) yield* await this.#host.inTurn(() => this.#readPageZero());
    if (this.problem === undefined && this.mayHaveMoved) {
      const detail = `The server reports ${this.#total} objects, but the pages contain ${this.#rows.size}.`;
      this.problem = incomplete(this.#options.endpoint, detail);
    }
    if (this.#hasAll && this.#rows.size > 0) this.instead = undefined;
  }

  /** The smallest stated total; 0 if no page states one. */
  get #total(): number {
    return this.#totals === undefined || this.#totals.length === 0 ? 0 : Math.min(...this.#totals);
  }

  /** Returns true if the reading received all rows of the server's total. */
  get #hasAll(): boolean {
    return this.#totals !== undefined && this.#totals.length > 0 && !this.mayHaveMoved;
  }

  /** Reads from the first page to the end. */
  async *#readOn(): AsyncGenerator<ApiRecord> {
    const { endpoint, maxPages, pageSize } = this.#options;
    let signs: readonly boolean[] = [];
    let before: readonly string[] = [];
    let same = "";
    let size: number | undefined;
    for (;;) {
      const { page: count } = this.#asked;
      const asked = this.#numberOf(this.#asked);
      if (this.pages >= maxPages) throw endless(endpoint, `The list has more than ${maxPages} pages.`);
      const page = await this.#fetch(this.#asked);
      if (page === undefined) {
        if (isPromised(signs)) this.#shorten(`The server rejected page ${asked}`);
        if (this.pages > 0) this.#afterLast = "nothing";
        break;
      }
      const { records, fresh, rows } = this.#take(page);
      this.pages += 1;
      const isFirst = this.pages === 1;
      if (isFirst) {
        this.#first = page;
        this.#firstRows = new Set(rows);
      } else if (this.#mode === "windows" && !this.#isContinued(before, page, rows)) return;
      else if (fresh.length > 0 && fresh.length === records.length) this.#host.hasPages = true;
      const promised = isPromised(signs);
      signs = nextSigns(page, { asked, pages: count, rows: this.#rows.size });
      const next = nextOf(signs);
      if (records.length === 0) {
        // If the server counts this page, an empty page is not the end of the list.
        const counted = !isFirst && (count <= (page.pages ?? 0) || (page.number ?? asked) <= (page.last ?? -1));
        if (next === "more" || counted || (next === "silent" && promised)) this.#shorten(`Page ${asked} is empty`);
        if (!isFirst) this.#afterLast = "nothing";
        break;
      }
      const all = JSON.stringify(rows.toSorted());
      if (this.#mode === "pages" && all === same) {
        this.#afterLast = "repetition";
        // Page 2 repeats page 1: the server may ignore the page number and hide all further rows.
        const ignored = this.pages === 2 && this.#start === 1 && !this.#hasAll && (await this.#ignoresPage(rows));
        if (next === "more" || ignored)
          this.problem = endless(endpoint, `Page ${asked} contains the same objects as page ${asked - 1}.`);
        break;
      }
      before = rows;
      same = all;
      if (isFirst && next === "more") this.#promised = promisedBy(page, asked, pageSize);
      this.#fits ||= page.pages === count && fresh.length > 0;
      yield* fresh;
      size = page.size ?? size ?? records.length;
      // If the first page is page 0, the server may omit the last page from its count.
      const counted = page.next.length === 0 && page.total === undefined;
      const open = this.#first?.number === 0 && counted && records.length >= pageSize;
      const isShort =
        this.#mode === "windows" && !isFirst
          ? records.length < this.#asked.size
          : records.length < size || this.#host.isShort(endpoint, records.length);
      if ((next === "end" && !open) || (next === "silent" && isShort)) break;
      this.#end = this.#endOf(this.#asked);
      const following = this.#after(this.#asked);
      // Small pages may have no window that continues them.
      this.isUnfit ||= following === undefined;
      if (following === undefined) return;
      this.#asked = following;
      this.#fetchAhead();
    }
    if (this.#hasAll && this.#rows.size > 0) this.problem = undefined;
  }

  #shorten(what: string): void {
    this.problem = half(this.#options.endpoint, what, this.#rows.size);
    this.#isShortened = true;
  }

  /** Requests only the second row, unless another list had a second page. Fewer than 10 rows are one page at any host. */
  async #ignoresPage(rows: readonly string[]): Promise<boolean> {
    const isFew = rows.length < Math.min(LEAST_PAGE, this.#options.pageSize);
    if (this.#host.hasPages || this.#host.hasWindows || isFew) return false;
    const page = await this.#fetch({ page: 2, size: 1 });
    const row = page?.items.map((item) => rowOf(this.#options.endpoint, readItem(this.#options.endpoint, item)))[0];
    this.#host.hasPages = row === undefined || row !== rows[0];
    return !this.#host.hasPages;
  }

  /** Compares a window with the previous window, and learns the host's support for windows. */
  #isContinued(before: readonly string[], { size: stated }: ListPage, rows: readonly string[]): boolean {
    const { size } = this.#asked;
    this.#isLinked = continues(before, rows, this.#end - beginOf(this.#asked));
    if (this.#isLinked) this.#host.hasWindows ??= true;
    else if (rows.length > size || (stated !== undefined && stated !== size)) {
      this.#host.hasWindows = false;
      this.isUnfit = true;
    }
    return this.#isLinked;
  }

  /** Returns the host's number of a page. */
  #numberOf({ page }: Window): number {
    return this.#start + page - 1;
  }

  /** The page size in force: the server's, or the number of rows of the first page, which is not the last page. */
  get #most(): number {
    const { items = [], size = items.length } = this.#first ?? {};
    return this.#mode === "pages" ? size : items.length;
  }

  /** Returns the window or page after a full window or page. Undefined: no window fits. */
  #after(window: Window): Window | undefined {
    if (this.#mode === "pages") return { page: window.page + 1, size: this.#options.pageSize };
    return windowAfter(this.#endOf(window), this.#most);
  }

  /** Returns the index after the last row of a full window or page. */
  #endOf({ page, size }: Window): number {
    return page === 1 || this.#mode === "pages" ? page * this.#most : page * size;
  }

  /**
   * Requests page 0 unless page 1 certainly is the first page, and returns the rows of page 0 only. Otherwise the account might seem
   * empty, or without its first rows, to a caller that creates missing objects.
   */
  async #readPageZero(): Promise<readonly ApiRecord[]> {
    const { endpoint } = this.#options;
    if (this.#isSettled()) return [];
    const contradiction = this.#contradiction();
    const known = this.#host.first === 1;
    const page = known ? undefined : await this.#fetch({ page: 0, size: this.#options.pageSize });
    if (page === undefined) {
      if (this.#refusal !== undefined) throw this.#refusal;
      if (this.#host.first === 0) this.problem = half(endpoint, "The server rejected page 0", this.#rows.size);
      this.#host.first ??= 1;
      this.problem ??= contradiction === undefined ? undefined : contradictory(endpoint, contradiction);
      return [];
    }
    const { records, fresh } = this.#take(page);
    const apart = !records.some((record) => this.#firstRows.has(rowOf(endpoint, record)));
    this.#hadZero = fresh.length > 0;
    if (this.#refusal !== undefined || (apart && fresh.length > 0)) {
      this.#host.first ??= 0;
      // If pages are numbered from 0, the page with the number of pages follows the last page. Pages 0 and 1 differ, so the server uses the number.
      if (this.#numberOf(this.#asked) === this.#first?.pages || this.#afterLast === "repetition")
        this.problem = undefined;
    } else if (!this.#hasAll) {
      if (contradiction !== undefined && this.#rows.size > 0) this.problem ??= contradictory(endpoint, contradiction);
      // Page 0 is another name of page 1, unless it is the only page and the server repeats it for every number.
      if (this.#rows.size > 0 && (apart || (await this.#hasEnd()))) this.#host.first ??= 1;
    }
    if (this.#hasAll) this.problem = undefined;
    return fresh;
  }

  /** Returns true if page 1 is certainly the first page. */
  #isSettled(): boolean {
    const page = this.#first;
    if (page === undefined || this.problem !== undefined || this.#contradiction() !== undefined) return false;
    if (this.#host.first !== undefined) return this.#host.first === 1;
    if (this.mayHaveMoved) return false;
    const { number, from, previous, first, last } = page;
    const rows = this.#rows.size > 0;
    const isFirst = first === 1 || (rows && (from === 0 || from === 1)) || (previous === false && (rows || last !== 0));
    if ((number === 1 && isFirst) || (this.#fits && this.pages > 1)) this.#host.first ??= 1;
    return isFirst || number === 0 || this.#hasAll || this.#fits;
  }

  /** Returns the evidence against page 1 as the first page. */
  #contradiction(): string | undefined {
    const { number = 1, from = 1, previous = false, first } = this.#first ?? {};
    if (this.#hasAll) return undefined;
    if (this.#rows.size > 0 && from > 1) return `The first page of the list begins with row ${from}.`;
    if (number > 1) return `The response to the request for page 1 has the page number ${number}.`;
    if (first === 0 && number !== 0)
      return "The server reports page 0 as the first page, but page 0 contains no other object.";
    return previous && number !== 0 ? "The server reports a page before page 1." : undefined;
  }

  /** Returns true if the response after the last page differs from the last page. */
  async #hasEnd(): Promise<boolean> {
    if (this.#afterLast === undefined) {
      const page = await this.#fetch({ ...this.#asked, page: this.#asked.page + 1 });
      this.#afterLast = page === undefined || page.items.length === 0 ? "nothing" : "repetition";
    }
    return this.#afterLast === "nothing";
  }

  /** Reads the rows of a page, and selects the new rows. */
  #take(page: ListPage) {
    const { endpoint, onBadRow } = this.#options;
    const unreadable = onBadRow && this.unreadable;
    const records: readonly ApiRecord[] = page.items.map((item) => readItem(endpoint, item, unreadable));
    const rows = records.map((record) => rowOf(endpoint, record));
    const fresh = records.filter((_, at) => !this.#rows.has(rows[at] ?? ""));
    for (const row of rows) this.#rows.add(row);
    this.#host.learnPage(endpoint, page);
    if (page.instead !== undefined) this.instead = { form: page.form, came: page.instead };
    if (page.total !== undefined && page.total < this.#rows.size) this.#totals = undefined;
    if (page.total !== undefined) this.#totals?.push(page.total);
    return { records, fresh, rows };
  }

  /** Fetches the announced pages while earlier pages are read. A failure is reported when its page is read. */
  #fetchAhead(): void {
    // The next window may be useless until the host is known to have windows.
    if (this.#options.onRead === undefined || (this.#mode === "windows" && !this.#host.hasWindows)) return;
    let end = this.#end;
    let window: Window | undefined = this.#asked;
    for (let count = 0; count < AHEAD && window !== undefined && end < this.#promised; count++) {
      const { page, size }: Window = window;
      if (page > this.#options.maxPages) return;
      if (!this.#ahead.has(keyOf(window))) {
        const fetched = this.#options.fetchPage(this.#numberOf(window), size);
        fetched.catch(() => undefined);
        this.#ahead.set(keyOf(window), fetched);
      }
      end = this.#endOf({ page, size });
      window = this.#after(window);
    }
  }

  /** Fetches one page; undefined if the server has no page of that number. */
  async #fetch(window: Window): Promise<ListPage | undefined> {
    const { endpoint, fetchPage, pageSize } = this.#options;
    // Page 0 is another name of page 1, or the page before page 1.
    const number = window.page === 0 ? 0 : this.#numberOf(window);
    try {
      const { json, total } = await (this.#ahead.get(keyOf(window)) ?? fetchPage(number, window.size));
      return readPage(endpoint, json, total);
    } catch (error) {
      const status = error instanceof ApiError ? (error.status ?? 0) : 0;
      // A truncated error response ends no list. A database may fail at rows before the first row.
      const isEnd = NO_PAGE.includes(status) && !(error instanceof FailedAttempt && error.transient);
      if (!isEnd && !(number === 0 && status >= 500)) throw error;
      if (number === this.#start) {
        if (this.#start === 0 || this.#host.first === 1) throw error;
        this.#refusal = error as ApiError;
      } else if (this.#refusal === undefined && (status >= 500 || (error as ApiError).serverMessage === undefined)) {
        // The response contains no message of the API, so a proxy may have failed. The first page proves that the API responds.
        await fetchPage(this.#start, pageSize);
      }
      return undefined;
    }
  }
}

const keyOf = ({ page, size }: Window) => `${page} ${size}`;
