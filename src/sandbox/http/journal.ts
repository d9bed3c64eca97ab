/** Log entry of an API request. It contains the name of a token, never its value. */
export interface RequestEntry {
  id: number;
  /** Time of the sandbox's clock (ISO 8601). */
  at: string;
  method: string;
  path: string;
  query: Record<string, string[]>;
  /** Name of the token. Null for a missing or unknown token. */
  token: string | null;
  /** Id of the token's account, or null. */
  account: number | null;
  idempotency_key: string | null;
  /** JSON value of the body, its text if it is not JSON, or null. */
  body: unknown;
  /** Status of the response. Null before the response, and if the connection was closed without one. */
  status: number | null;
  /** Id of the injected fault, or null. */
  fault: number | null;
  /** The new order, even if its response was lost. Null if the request created no order. */
  ordered: Ordered | null;
}

export interface Ordered {
  /** Id of the service or domain order. */
  id: number;
  /** Ids of the account's live and pending services for the same domain, at the time of the order. */
  beside: number[];
}

/** Maximum number of entries. The oldest are dropped. */
const KEPT_ENTRIES = 10_000;

export class Journal {
  #entries: RequestEntry[] = [];
  #last = 0;

  /** Adds an entry. The caller sets its status and fault later. */
  begin(entry: Omit<RequestEntry, "id" | "status" | "fault" | "ordered">): RequestEntry {
    this.#last += 1;
    const begun = { id: this.#last, ...entry, status: null, fault: null, ordered: null };
    this.#entries.push(begun);
    if (this.#entries.length > KEPT_ENTRIES * 2) this.#entries = this.#entries.slice(-KEPT_ENTRIES);
    return begun;
  }

  /** Returns copies of the entries, oldest first. */
  entries(): RequestEntry[] {
    return structuredClone(this.#entries.slice(-KEPT_ENTRIES));
  }

  clear(): void {
    this.#entries = [];
  }
}
