/** Listings: page by page, to the end and not beyond (§4 Pagination). */

import { ApiError } from "../model/index.ts";
import type { ApiRecord, Decoder, Fields } from "./decoder.ts";
import { decoderOf, describeEndpoint, type EndpointName, type RecordEndpoint, type RecordOf } from "./endpoints.ts";
import { type ListPage, nextOf, nextSigns, readItem, readPage } from "./envelope.ts";
import { FailedAttempt } from "./errors.ts";

/** A listing: iterate to page through lazily, or take `.all()`. Each iteration starts again. */
export interface Listing<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

interface ListingOptions<E extends RecordEndpoint = RecordEndpoint> {
  readonly endpoint: E;
  /** Fetches one page by its number. */
  readonly fetchPage: (page: number) => Promise<unknown>;
  readonly maxPages: number;
  /** How many rows are asked for a page. */
  readonly pageSize: number;
  /** What is known of the host's first page; shared by the listings of a client. */
  readonly numbering?: PageNumbering;
  /**
   * Called at the end if no row can have moved past the reading: all came in one page, or as many as every page says there are.
   * Who asks reads to the end: the pages that the first one promises are then fetched side by side.
   */
  readonly onWhole?: (() => void) | undefined;
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
 * 4. Fewer rows than every page's total are read once more: rows move while they are read.
 *
 * A contradiction that remains, or more than `maxPages`, is api.pagination: rows that were not seen might be ordered again.
 */
export function createListing<E extends RecordEndpoint>(options: ListingOptions<E>): Listing<RecordOf<E>> {
  return {
    [Symbol.asyncIterator]: () => walk(options) as AsyncGenerator<RecordOf<E>>,
    async all() {
      const records: ApiRecord[] = [];
      for await (const record of walk({ ...options, onWhole: options.onWhole ?? (() => undefined) }))
        records.push(record);
      return records as RecordOf<E>[];
    },
  };
}

async function* walk(options: ListingOptions): AsyncGenerator<ApiRecord> {
  const numbering = options.numbering ?? new PageNumbering();
  const yielded = new Set<string>();
  for (let again = false; ; again = true) {
    const reading = new Reading(options, numbering);
    for await (const record of reading.read()) {
      const row = rowOf(options.endpoint, record);
      if (yielded.has(row)) continue;
      yielded.add(row);
      yield record;
    }
    if (reading.isCertain) options.onWhole?.();
    if (reading.problem === undefined) return;
    if (again || !reading.mayHaveMoved) throw reading.problem;
  }
}

/** By what a row of a list is recognized on whatever page. */
function rowOf(endpoint: RecordEndpoint, record: ApiRecord): string {
  const { rowKey = [] }: Decoder<ApiRecord> = decoderOf(endpoint);
  if (rowKey.length === 0) return record.id;
  const fields: Fields = { ...record };
  return JSON.stringify([record.id, ...rowKey.map((name) => fields[name])]);
}

/** Statuses by which a server says that there is no such page. */
export const NO_PAGE: readonly number[] = [400, 404, 416, 422];

/** So many pages are fetched before it is their turn. A host that promises more than there are costs no more than these. */
const AHEAD = 9;

/** One reading of a whole list. */
class Reading {
  /** Why the list is not reliable, once it was read. */
  problem: FailedAttempt | undefined;
  readonly #options: ListingOptions;
  readonly #numbering: PageNumbering;
  readonly #start: 0 | 1;
  readonly #rows = new Set<string>();
  /** Pages that were asked for before it is their turn, by number, and the last number that the first page promises. */
  readonly #ahead = new Map<number, Promise<unknown>>();
  #promised = 0;
  /** The number of all rows, by every page that names one; undefined: one named fewer than there are. */
  #totals: number[] | undefined = [];
  /** Pages that came. */
  #pages = 0;
  /** The same, with page 0, and whether a row came with two of them. */
  #taken = 0;
  #isShifted = false;
  #first: ListPage | undefined;
  #firstRows: ReadonlySet<string> = new Set();
  /** The first page was refused as one that does not exist. */
  #refusal: ApiError | undefined;
  /** The number that was asked for last. */
  #asked = 0;
  /** What comes after the last page, where that was seen. */
  #afterLast: "nothing" | "repetition" | undefined;
  /** The server's number of pages fits pages that are counted from 1. */
  #fits = false;

  constructor(options: ListingOptions, numbering: PageNumbering) {
    this.#options = options;
    this.#numbering = numbering;
    this.#start = numbering.first ?? 1;
  }

  /** Rows are missing, which may have moved to another page meanwhile. */
  get mayHaveMoved(): boolean {
    return this.#total > this.#rows.size;
  }

  /** No row can have moved to a page that was read before: there was one page, or all name the number of rows that came. */
  get isCertain(): boolean {
    const { size } = this.#rows;
    const agree = this.#totals?.length === this.#taken && this.#totals.every((total) => total === size);
    return this.problem === undefined && !this.#isShifted && (this.#taken === 1 || agree);
  }

  async *read(): AsyncGenerator<ApiRecord> {
    yield* this.#readOn();
    if (this.#start === 1) yield* await this.#numbering.inTurn(() => this.#readPageZero());
    if (this.problem === undefined && this.mayHaveMoved) {
      const detail = `The server reports ${this.#total} objects, and its pages hold ${this.#rows.size}.`;
      this.problem = broken(this.#options.endpoint, "is incomplete", detail);
    }
  }

  /** The least that every page agrees upon; 0 where none says anything. */
  get #total(): number {
    return this.#totals === undefined || this.#totals.length === 0 ? 0 : Math.min(...this.#totals);
  }

  /** All rows that the server says there are were read. */
  get #isWhole(): boolean {
    return this.#totals !== undefined && this.#totals.length > 0 && !this.mayHaveMoved;
  }

  /** From the first page to the end. */
  async *#readOn(): AsyncGenerator<ApiRecord> {
    const { endpoint, maxPages, pageSize } = this.#options;
    let signs: readonly boolean[] = [];
    let before = "";
    let size: number | undefined;
    for (this.#asked = this.#start; ; this.#asked++) {
      const asked = this.#asked;
      if (this.#pages >= maxPages) throw endless(endpoint, `It has more than ${maxPages} pages.`);
      const page = await this.#fetch(asked);
      if (page === undefined) {
        if (isPromised(signs)) this.problem = half(endpoint, `Page ${asked} is refused`, this.#rows.size);
        if (this.#pages > 0) this.#afterLast = "nothing";
        break;
      }
      const { records, fresh } = this.#take(page);
      this.#pages += 1;
      const isFirst = this.#pages === 1;
      if (isFirst) {
        this.#first = page;
        this.#firstRows = new Set(records.map((record) => rowOf(endpoint, record)));
      }
      const promised = isPromised(signs);
      signs = nextSigns(page, { asked, pages: this.#pages, rows: this.#rows.size });
      const next = nextOf(signs);
      if (records.length === 0) {
        // Where the server counts this page among those that there are, it is not the one after the last.
        const counted = !isFirst && (this.#pages <= (page.pages ?? 0) || (page.number ?? asked) <= (page.last ?? -1));
        if (next === "more" || counted || (next === "silent" && promised))
          this.problem = half(endpoint, `Page ${asked} is empty`, this.#rows.size);
        if (!isFirst) this.#afterLast = "nothing";
        break;
      }
      const rows = JSON.stringify(records.map((record) => rowOf(endpoint, record)).sort());
      if (rows === before) {
        this.#afterLast = "repetition";
        // Full pages alike: the server may ignore the number of the page and hide all rows but the first ones.
        const ignored = this.#pages === 2 && records.length >= pageSize && this.#start === 1;
        if (next === "more" || ignored)
          this.problem = endless(endpoint, `Page ${asked} holds the same objects as page ${asked - 1}.`);
        break;
      }
      before = rows;
      if (isFirst && next === "more") this.#promised = Math.min(asked + maxPages - 1, lastOf(page, asked, pageSize));
      this.#fetchAhead(asked);
      this.#fits ||= page.pages === this.#pages && fresh.length > 0;
      yield* fresh;
      size = page.size ?? size ?? records.length;
      // Where the first page is page 0, it is open whether the last page is counted too.
      const counted = page.next.length === 0 && page.total === undefined;
      const open = this.#first?.number === 0 && counted && records.length >= pageSize;
      if ((next === "end" && !open) || (next === "silent" && records.length < size)) break;
    }
    if (this.#isWhole && this.#rows.size > 0) this.problem = undefined;
  }

  /**
   * Asks for page 0 unless it is certain that page 1 is the first page, and gives the rows that only page 0 has: an
   * account never looks empty, or without its first rows, to a caller that creates what is missing.
   */
  async #readPageZero(): Promise<readonly ApiRecord[]> {
    const { endpoint } = this.#options;
    if (this.#isSettled()) return [];
    const contradiction = this.#contradiction();
    const known = this.#numbering.first === 1;
    const page = known ? undefined : await this.#fetch(0);
    if (page === undefined) {
      if (this.#refusal !== undefined) throw this.#refusal;
      if (this.#numbering.first === 0) this.problem = half(endpoint, "Page 0 is refused", this.#rows.size);
      this.#numbering.learn(1);
      this.problem ??= contradiction === undefined ? undefined : broken(endpoint, "contradicts itself", contradiction);
      return [];
    }
    const { records, fresh } = this.#take(page);
    const apart = !records.some((record) => this.#firstRows.has(rowOf(endpoint, record)));
    if (this.#refusal !== undefined || (apart && fresh.length > 0)) {
      this.#numbering.learn(0);
      // Counted from 0, the page with the number of pages is the one after the last. Pages 0 and 1 differ, so none is ignored.
      if (this.#asked === this.#first?.pages || this.#afterLast === "repetition") this.problem = undefined;
    } else if (!this.#isWhole) {
      if (contradiction !== undefined && this.#rows.size > 0)
        this.problem ??= broken(endpoint, "contradicts itself", contradiction);
      // Page 0 is another name of page 1, unless it is the only page and comes again in place of those after it.
      if (this.#rows.size > 0 && (apart || (await this.#hasEnd()))) this.#numbering.learn(1);
    }
    if (this.#isWhole) this.problem = undefined;
    return fresh;
  }

  /** Whether page 1 is certainly the first page. */
  #isSettled(): boolean {
    const page = this.#first;
    if (page === undefined || this.problem !== undefined || this.#contradiction() !== undefined) return false;
    if (this.#numbering.first !== undefined) return this.#numbering.first === 1;
    if (this.mayHaveMoved) return false;
    const { number, from, previous, first, last } = page;
    const rows = this.#rows.size > 0;
    const isFirst = first === 1 || (rows && (from === 0 || from === 1)) || (previous === false && (rows || last !== 0));
    if ((number === 1 && isFirst) || (this.#fits && this.#pages > 1)) this.#numbering.learn(1);
    return isFirst || number === 0 || this.#isWhole || this.#fits;
  }

  /** What speaks against page 1 as the first page. */
  #contradiction(): string | undefined {
    const { number = 1, from = 1, previous = false, first } = this.#first ?? {};
    if (this.#isWhole) return undefined;
    if (this.#rows.size > 0 && from > 1) return `Its first page, page 1, begins with row ${from}.`;
    if (number > 1) return `The server calls page 1 page ${number}.`;
    if (first === 0 && number !== 0) return "The server says that page 0 is the first, and page 0 holds nothing else.";
    return previous && number !== 0 ? "The server says that there is a page before page 1." : undefined;
  }

  /** Whether something other than the last page comes after the last page. */
  async #hasEnd(): Promise<boolean> {
    if (this.#afterLast === undefined) {
      const page = await this.#fetch(this.#asked + 1);
      this.#afterLast = page === undefined || page.items.length === 0 ? "nothing" : "repetition";
    }
    return this.#afterLast === "nothing";
  }

  /** The rows of a page, and those of them that are new. */
  #take(page: ListPage): { readonly records: readonly ApiRecord[]; readonly fresh: readonly ApiRecord[] } {
    const { endpoint } = this.#options;
    const records: ApiRecord[] = page.items.map((item) => readItem(endpoint, item));
    const fresh = records.filter((record) => !this.#rows.has(rowOf(endpoint, record)));
    this.#taken += 1;
    this.#isShifted ||= fresh.length < records.length;
    for (const record of fresh) this.#rows.add(rowOf(endpoint, record));
    if (page.total !== undefined && page.total < this.#rows.size) this.#totals = undefined;
    if (page.total !== undefined) this.#totals?.push(page.total);
    return { records, fresh };
  }

  /** Fetches what the first page promises while the pages before are read; what fails is reported when it is its turn. */
  #fetchAhead(asked: number): void {
    if (this.#options.onWhole === undefined) return;
    for (let page = asked + 1; page <= Math.min(this.#promised, asked + AHEAD); page++) {
      if (this.#ahead.has(page)) continue;
      const fetched = this.#options.fetchPage(page);
      fetched.catch(() => undefined);
      this.#ahead.set(page, fetched);
    }
  }

  /** One page; undefined where the server says that there is none of that number. */
  async #fetch(asked: number): Promise<ListPage | undefined> {
    const { endpoint, fetchPage } = this.#options;
    try {
      return readPage(endpoint, await (this.#ahead.get(asked) ?? fetchPage(asked)));
    } catch (error) {
      const status = error instanceof ApiError ? (error.status ?? 0) : 0;
      // A database may fail at the rows before the first one.
      if (!NO_PAGE.includes(status) && !(asked === 0 && status >= 500)) throw error;
      if (asked === this.#start) {
        if (this.#start === 0 || this.#numbering.first === 1) throw error;
        this.#refusal = error as ApiError;
      } else if (this.#refusal === undefined && (status >= 500 || (error as ApiError).serverMessage === undefined)) {
        // No word of the API's own: what fails may be a proxy, for a moment. The first page shows that the API is there.
        await fetchPage(this.#start);
      }
      return undefined;
    }
  }
}

/** The number of the last page, by the least that the first one says. A total counts where the size in force is certain. */
function lastOf({ items, size, number, last, pages, total }: ListPage, asked: number, pageSize: number): number {
  const rows = size ?? (items.length >= pageSize ? items.length : undefined);
  const said = [
    ...(last === undefined ? [] : [asked + last - (number ?? asked)]),
    ...(pages === undefined ? [] : [asked + pages - 1]),
    ...(total === undefined || rows === undefined ? [] : [asked + Math.ceil(total / Math.max(1, rows)) - 1]),
  ];
  return said.length === 0 ? asked : Math.min(...said);
}

/** All signs of the last page say that there is a next one. */
const isPromised = (signs: readonly boolean[]) => signs.length > 0 && !signs.includes(false);

const endless = (endpoint: EndpointName, detail: string) => broken(endpoint, "does not end or repeats itself", detail);

/** A page is missing before the end: what it holds might be ordered again. */
function half(endpoint: EndpointName, what: string, received: number): FailedAttempt {
  const count = received === 1 ? "1 object" : `${received} objects`;
  const detail = `${what}, but the server reports more than the ${count} that came.`;
  return broken(endpoint, "is incomplete", detail);
}

function broken(endpoint: EndpointName, what: string, detail: string): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.pagination",
    summary: `The listing ${describeEndpoint(endpoint)} ${what}`,
    reached: "answered",
    detail,
    remedies: ["Report it to the host. Nothing is changed on the basis of an incomplete listing."],
  });
}

/**
 * The number of the first page of a host's lists. §4 Pagination has "page (page number)" and no more: most count from 1,
 * some from 0. Learned from answers, and shared by the listings of a client, since all lists have one envelope.
 */
export class PageNumbering {
  #first: 0 | 1 | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** Undefined: not known yet. */
  get first(): 0 | 1 | undefined {
    return this.#first;
  }

  /** The first finding stays. */
  learn(first: 0 | 1): void {
    this.#first ??= first;
  }

  /** Runs one check after the other: of several listings that need it, the first one asks and the others know. */
  inTurn<T>(check: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(check);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
