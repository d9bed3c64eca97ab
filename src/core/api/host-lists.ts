/** Habits of a host's lists: first page, windows, page sizes and forms. */
import type { RecordEndpoint } from "./endpoints.ts";
import type { ListPage } from "./envelope.ts";

/** Minimum page size that a host may choose (§4 Pagination). */
const LEAST_DEFAULT = 25;

/**
 * Learned properties of a host's lists, shared by the listings of a client. §4 Pagination leaves these properties open, but all lists
 * have one envelope.
 */
export class HostLists {
  /**
   * True if the host returned exactly the requested window of rows, which begins with a row of the previous window. False: the host
   * ignores the requested page size. Undefined: unknown.
   */
  hasWindows: boolean | undefined;
  /** True if the host returned other rows for another page. False: the host ignores the page number. Undefined: unknown. */
  hasPages: boolean | undefined;
  /** The number of the first page: most hosts count from 1, others from 0. The first finding stays. Undefined: unknown. */
  first: 0 | 1 | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #forms = new Set<string>();
  #compared: Promise<unknown> | undefined;
  /** Maximum number of rows on one page, by endpoint. */
  readonly #most = new Map<RecordEndpoint, number>();

  /** Learns from a page with rows. */
  learnPage(endpoint: RecordEndpoint, { form, items }: ListPage): void {
    if (items.length === 0) return;
    this.#forms.add(form);
    this.#most.set(endpoint, Math.max(items.length, this.#most.get(endpoint) ?? 0));
  }

  /**
   * Returns true if a page with this number of rows must be the last page: an earlier page of this endpoint had more rows. Pages of
   * another endpoint count only for fewer than 25 rows, the minimum page size of §4.
   */
  isShort(endpoint: RecordEndpoint, rows: number): boolean {
    if (rows < (this.#most.get(endpoint) ?? 0)) return true;
    return rows < LEAST_DEFAULT && [...this.#most.values()].some((most) => rows < most);
  }

  /**
   * Returns true if an earlier list with rows had this form.
   * @param another reads a page of another collection, once for a client, if no list with rows had the form so far.
   */
  async hasForm(form: string, another: (() => Promise<unknown>) | undefined): Promise<boolean> {
    if (!this.#forms.has(form) && another !== undefined) {
      this.#compared ??= another().catch(() => undefined);
      await this.#compared;
    }
    return this.#forms.has(form);
  }

  /** Runs one check after the other: the first listing sends a request, and the others use its result. */
  inTurn<T>(check: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(check);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
