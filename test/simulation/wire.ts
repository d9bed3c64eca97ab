/** A request at the server. `body` is JSON text. */
export interface Arrival {
  /** Name of the process that sent the request. */
  readonly from: string;
  readonly method: string;
  /** Path below /api/v1, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string | undefined;
  readonly key: string | undefined;
}

/** A response. `after` is the time that the server needs, in milliseconds. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly after?: number;
}

export const NOT_FOUND: Answer = { status: 404, body: { message: "Not found." } };
export const ok = (data: unknown): Answer => ({ status: 200, body: { data } });
export const made = (data: unknown): Answer => ({ status: 201, body: { data } });
export const objectOf = ({ body }: Arrival): object =>
  body === undefined || body === "" ? {} : (JSON.parse(body) as object);

/** Returns a page of a list (§4 Pagination). */
export function pageOf<T extends object>(
  items: readonly T[],
  json: (item: T) => object,
  query: URLSearchParams,
  most: number,
): Answer {
  const size = Math.min(Number(query.get("per_page") ?? 25), most);
  const page = Number(query.get("page") ?? 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  return {
    status: 200,
    body: {
      data: items.slice((page - 1) * size, page * size).map(json),
      links: { next: page < last ? `?page=${page + 1}` : null },
      meta: { current_page: page, last_page: last, per_page: size, total: items.length },
    },
  };
}

/** Rate limit of 60 requests a minute for the token (§8). Other clients of the token reduce the number. */
export class Throttle {
  readonly #most: number;
  #requests: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns an error for a request above the limit, or undefined. */
  refuse(now: number): Answer | undefined {
    this.#requests = this.#requests.filter((at) => at > now - 60_000);
    const [oldest] = this.#requests;
    if (this.#requests.length < this.#most || oldest === undefined) {
      this.#requests.push(now);
      return undefined;
    }
    const seconds = Math.ceil((oldest + 60_000 - now) / 1000);
    return { status: 429, headers: { "retry-after": String(seconds) }, body: { message: "Too many requests." } };
  }
}
