/** The log of the API requests received. Never holds a token, only its name. */
export interface RequestEntry {
  id: number;
  /** ISO 8601, by the sandbox's clock. */
  at: string;
  method: string;
  path: string;
  query: Record<string, string[]>;
  /** Name of the token, or null when none or an unknown one was sent. */
  token: string | null;
  /** Id of the account that the token acts for, or null. */
  account: number | null;
  idempotency_key: string | null;
  /** The JSON value sent, the text when it was not JSON, or null. */
  body: unknown;
  /** Status of the answer; null while the request is processed, and when the connection was cut before any answer. */
  status: number | null;
  /** Id of the fault that was injected, or null. */
  fault: number | null;
  /** The new order, whether or not the answer arrived; null for none, or for a repetition of an earlier request. */
  ordered: Ordered | null;
}

export interface Ordered {
  /** Id of the service or the domain. */
  id: number;
  /** Services of the account for the same domain that were live, or about to be, when it was ordered. */
  beside: number[];
}

/** Older entries are dropped, so that a long-running sandbox does not grow indefinitely. */
const KEPT_ENTRIES = 10_000;

export class Journal {
  #entries: RequestEntry[] = [];
  #last = 0;

  /** Adds an entry; the answer is filled in later. */
  begin(entry: Omit<RequestEntry, "id" | "status" | "fault" | "ordered">): RequestEntry {
    this.#last += 1;
    const begun = { id: this.#last, ...entry, status: null, fault: null, ordered: null };
    this.#entries.push(begun);
    if (this.#entries.length > KEPT_ENTRIES * 2) this.#entries = this.#entries.slice(-KEPT_ENTRIES);
    return begun;
  }

  /** Copies of the entries kept, oldest first. */
  entries(): RequestEntry[] {
    return structuredClone(this.#entries.slice(-KEPT_ENTRIES));
  }

  clear(): void {
    this.#entries = [];
  }
}
