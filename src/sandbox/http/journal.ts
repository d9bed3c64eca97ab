/** Entry in the log of received API requests. It never contains a token, only the token's name. */
export interface RequestEntry {
  id: number;
  /** Time of the request by the sandbox's clock (ISO 8601). */
  at: string;
  method: string;
  path: string;
  query: Record<string, string[]>;
  /** Name of the token. Null if the request has no token or an unknown token. */
  token: string | null;
  /** Id of the token's account, or null. */
  account: number | null;
  idempotency_key: string | null;
  /** The JSON value of the body, the text if it is not JSON, or null. */
  body: unknown;
  /** Status of the response. Null while the request is in progress, and if the connection was cut before any response. */
  status: number | null;
  /** Id of the injected fault, or null. */
  fault: number | null;
  /** The new order, even if the response was lost. Null if the request ordered nothing, or repeated an earlier request. */
  ordered: Ordered | null;
}

export interface Ordered {
  /** Id of the service or the domain. */
  id: number;
  /** Services of the account for the same domain that were live or pending at the time of the order. */
  beside: number[];
}

/** Maximum number of entries. Older entries are dropped, so that a long-running sandbox does not grow indefinitely. */
const KEPT_ENTRIES = 10_000;

export class Journal {
  #entries: RequestEntry[] = [];
  #last = 0;

  /** Adds an entry. The response is added later. */
  begin(entry: Omit<RequestEntry, "id" | "status" | "fault" | "ordered">): RequestEntry {
    this.#last += 1;
    const begun = { id: this.#last, ...entry, status: null, fault: null, ordered: null };
    this.#entries.push(begun);
    if (this.#entries.length > KEPT_ENTRIES * 2) this.#entries = this.#entries.slice(-KEPT_ENTRIES);
    return begun;
  }

  /** Returns copies of the stored entries, oldest first. */
  entries(): RequestEntry[] {
    return structuredClone(this.#entries.slice(-KEPT_ENTRIES));
  }

  clear(): void {
    this.#entries = [];
  }
}
