import type { RecordEndpoint } from "./endpoints.ts";
import type { ListPage } from "./envelope.ts";

/** §4 Pagination: the smallest page size in force that a host may choose. */
const LEAST_DEFAULT = 25;

/**
 * Habits of a host's lists, as a client learns them: §4 Pagination leaves much open, and has one envelope for all lists. Shared by
 * the listings of a client.
 */
export class HostLists {
  /**
   * The host returned exactly the window of rows that was asked for, which begins with a row of the window before; false: it
   * ignores the page size that was asked for. Undefined: unknown.
   */
  hasWindows: boolean | undefined;
  /** The host returned other rows for another page; false: it ignores the number of the page. Undefined: unknown. */
  hasPages: boolean | undefined;
  /** The number of the first page: most hosts count from 1, some from 0. The first finding stays. Undefined: unknown. */
  first: 0 | 1 | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #forms = new Set<string>();
  #compared: Promise<unknown> | undefined;
  /** The most rows that one page had, by endpoint. */
  readonly #most = new Map<RecordEndpoint, number>();

  /** Learns from a page with rows. */
  learnPage(endpoint: RecordEndpoint, { form, items }: ListPage): void {
    if (items.length === 0) return;
    this.#forms.add(form);
    this.#most.set(endpoint, Math.max(items.length, this.#most.get(endpoint) ?? 0));
  }

  /**
   * Returns true if a page with so many rows must be the last one: the same collection, or one of another parent, had more rows
   * on one page. For another endpoint that holds below 25 rows, the smallest page size that §4 lets a host choose.
   */
  isShort(endpoint: RecordEndpoint, rows: number): boolean {
    if (rows < (this.#most.get(endpoint) ?? 0)) return true;
    return rows < LEAST_DEFAULT && [...this.#most.values()].some((most) => rows < most);
  }

  /**
   * Returns true if a list with rows has this form. @param another reads a page of another collection, where no list with
   * rows had the form so far; once for a client.
   */
  async hasForm(form: string, another: (() => Promise<unknown>) | undefined): Promise<boolean> {
    if (!this.#forms.has(form) && another !== undefined) {
      this.#compared ??= another().catch(() => undefined);
      await this.#compared;
    }
    return this.#forms.has(form);
  }

  /** Runs one check after the other: of several listings that need it, the first one asks and the others know. */
  inTurn<T>(check: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(check);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
