import { Dispatcher } from "undici";
import type { Chance } from "./chance.ts";
import type { Life } from "./life.ts";
import type { Server } from "./server.ts";
import type { Answer, Arrival } from "./wire.ts";
import type { World } from "./world.ts";

/** Faults of a request. Unless a comment states otherwise, the server handled the request. */
export type Mishap =
  | "refused" // no connection
  | "lost-before" // the connection breaks before the request arrives
  | "lost-after" // the connection breaks before the response arrives
  | "silent-before" // neither the request nor a response arrives
  | "silent-after" // no response arrives
  | "late" // the response arrives up to 90 seconds late
  | "cut" // the body is incomplete, and the connection breaks
  | "short" // the body is incomplete, and the response ends normally
  | "throttled" // 429; the server does not handle the request
  | "error-before" // 500, 502, 503, or a page of a proxy; the server does not handle the request
  | "error-after" // the same responses
  | "denied-before" // an error of a proxy; the request never reaches the server
  | "denied-after" // an error of a proxy replaces the response
  | "page" // a page of a proxy with status 200; the request never reaches the server
  | "hollow" // a GET receives a success without content: 202, 206, `null`, `{}`
  | "shifted"; // the first item of a list ends after the first page is read, so that each other item moves up

/** Probability of each fault, from 0 to 1. The remaining requests succeed. */
export type Mishaps = Readonly<Partial<Record<Mishap, number>>>;

export const CALM: Mishaps = {};

/** A request in transit. */
interface Flight {
  /** Drops the request, which then never arrives. */
  lose(): void;
}

/** Called for each sent request whose sender cannot know that it had no effect. */
export type OnSend = (arrival: Arrival) => void;

/** Network between one process and the server: an undici dispatcher without a socket. */
export class SimulatedNetwork extends Dispatcher {
  readonly #world: World;
  readonly #server: Server;
  readonly #life: Life;
  readonly #mishaps: Mishaps;
  readonly #onSend: OnSend;
  /** Aborted by Ctrl-C. No request may be sent afterwards. */
  stop: AbortSignal | undefined;
  /** Sent requests that have not arrived. */
  readonly #flights = new Set<Flight>();

  constructor(world: World, server: Server, life: Life, mishaps: Mishaps, onSend: OnSend) {
    super();
    this.#world = world;
    this.#server = server;
    this.#life = life;
    this.#mishaps = mishaps;
    this.#onSend = onSend;
    // Requests of a dead process may still arrive.
    life.atDeath(() => {
      for (const flight of this.#flights) if (this.#world.chance.once(0.5)) flight.lose();
      this.#flights.clear();
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const exchange = new Exchange(options, handler);
    this.#life.sending(options.method, "before");
    this.#life.onAwake(() => exchange.begin(() => this.#send(exchange)));
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }

  #send(exchange: Exchange): void {
    const { chance } = this.#world;
    const arrival: Arrival = { ...exchange.request, from: this.#life.name };
    const name = `${arrival.method} ${arrival.path}`;
    if (this.stop?.aborted) this.#world.breaches.push(`${arrival.from} sent ${name} after Ctrl-C`);
    const mishap = this.#mishap();
    const leave = () => this.#leave(exchange, arrival, name, mishap);
    if (!this.#life.step(`sends ${name}${mishap === undefined ? "" : ` (${mishap})`}`, leave)) return;
    this.#life.sending(arrival.method, "after");
    this.#accuseOfLostLock(arrival, name);
    if (mishap === "refused" || mishap === "throttled") {
      this.#world.after(chance.real() * 100, () => this.#return(exchange, name, mishap, undefined));
    } else leave();
  }

  /** Sends the request. From here on, the sender does not know the result. */
  #leave(exchange: Exchange, arrival: Arrival, name: string, mishap: Mishap | undefined): void {
    const { chance } = this.#world;
    if (mishap !== undefined && UNKNOWING.has(mishap)) {
      this.#onSend(arrival);
      this.#world.after(chance.real() * 300, () => this.#return(exchange, name, mishap, undefined));
      return;
    }
    const way = chance.once(0.05) ? chance.real() * LONGEST_WAY_MS : 5 + chance.real() * 150;
    const cancel = this.#world.after(way, () => {
      this.#flights.delete(flight);
      const refusal = this.#server.throttle.refuse(this.#world.now);
      if (refusal === undefined) this.#onSend(arrival);
      const handled = () => (mishap === "shifted" ? this.#server.shift(arrival) : this.#server.handle(arrival));
      const answer = this.#server.dated(refusal ?? handled());
      this.#world.note(`server ${name} of ${arrival.from} -> ${answer.status}`);
      const back = (answer.after ?? 0) + 5 + chance.real() * 150;
      this.#world.after(back, () => this.#return(exchange, name, mishap, answer));
    });
    const flight: Flight = {
      lose: () => {
        cancel();
        this.#onSend(arrival);
      },
    };
    this.#flights.add(flight);
  }

  /** Sends the response, or its replacement, back to the process. */
  #return(exchange: Exchange, name: string, mishap: Mishap | undefined, answer: Answer | undefined): void {
    const hear = this.#heard(exchange, mishap, answer);
    if (hear === undefined) return;
    const arrive = (heard: () => void) => {
      if (!exchange.over && this.#life.step(`hears of ${name}`)) heard();
    };
    const whole = () => {
      this.#countCutReset(exchange.request.path, mishap);
      hear();
    };
    const lost = () => exchange.break("ECONNRESET");
    const deliver = () => {
      this.#life.onArrival(
        () => arrive(whole),
        () => arrive(lost),
      );
    };
    if (mishap === "late") this.#world.after(this.#world.chance.whole(1_000, 90_000), deliver);
    else deliver();
  }

  /** Reports a write request after the loss of the lock. Requests sent within FENCE_MS are allowed. */
  #accuseOfLostLock({ from, method }: Arrival, name: string): void {
    const { lostLockAt = Number.POSITIVE_INFINITY } = this.#life;
    if (method !== "GET" && this.#world.now > lostLockAt + FENCE_MS)
      this.#world.breaches.push(`${from} sent ${name} after its lock was taken over`);
  }

  /** Returns the callback that delivers the outcome to the sender, or undefined if the sender never receives one. */
  #heard(exchange: Exchange, mishap: Mishap | undefined, answer: Answer | undefined): (() => void) | undefined {
    const { chance } = this.#world;
    switch (mishap) {
      case "refused":
        return () => exchange.break("ECONNREFUSED", "connect");
      case "lost-before":
      case "lost-after":
        return () => exchange.break(chance.oneOf(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]));
      case "silent-before":
      case "silent-after":
        return undefined;
      case "throttled":
        return () =>
          exchange.answer({ status: 429, headers: chance.once(0.5) ? { "retry-after": "2" } : {}, body: "" });
      case "error-before":
      case "error-after":
        return () => exchange.answer(chance.oneOf(TROUBLE));
      case "denied-before":
      case "denied-after":
        return () => exchange.answer(denial(chance));
      case "page":
        return () => exchange.answer({ status: 200, headers: HTML, body: "<!doctype html><title>Sign in</title>" });
      case "cut":
      case "short":
        return answer && (() => exchange.cut(answer, chance.real(), mishap === "cut"));
      case "hollow": {
        const isRead = exchange.request.method === "GET" && answer?.status === 200;
        return answer && (() => exchange.answer(isRead ? chance.oneOf(HOLLOW) : answer));
      }
      default:
        return answer && (() => exchange.answer(answer));
    }
  }

  #countCutReset(path: string, mishap: Mishap | undefined): void {
    const id = /^\/services\/(\d+)\/password$/.exec(path)?.[1];
    if (id === undefined) return;
    const { cutResets } = this.#world;
    if (mishap === "short") cutResets.set(id, (cutResets.get(id) ?? 0) + 1);
    else if (mishap === undefined || mishap === "late") cutResets.delete(id);
  }

  #mishap(): Mishap | undefined {
    let left = this.#world.chance.real();
    for (const [mishap, probability] of Object.entries(this.#mishaps)) {
      left -= probability;
      if (left < 0) return mishap as Mishap;
    }
    return undefined;
  }
}

/** Maximum time from the record of a request to its sending, in milliseconds: docs/reliability.md. */
const FENCE_MS = 5_000;

/** Faults with which the server never receives the request, and the sender cannot know that. */
const UNKNOWING: ReadonlySet<Mishap> = new Set([
  "lost-before",
  "silent-before",
  "error-before",
  "denied-before",
  "page",
]);

/**
 * Maximum time of a request in transit, in milliseconds. A request that arrives later may create an object twice: see
 * docs/limitations.md.
 */
const LONGEST_WAY_MS = 4_500;

const HTML = { "content-type": "text/html" };
const TROUBLE: readonly [Answer, ...Answer[]] = [
  { status: 500, body: { message: "Server Error" } },
  { status: 502, headers: HTML, body: "<html><body><h1>502 Bad Gateway</h1></body></html>" },
  { status: 503, headers: { "retry-after": "3" }, body: { message: "Service Unavailable" } },
  { status: 503, body: "" },
];

/** Successful responses that prove nothing. */
const HOLLOW: readonly [Answer, ...Answer[]] = [
  { status: 200, body: null },
  { status: 200, body: {} },
  { status: 202, body: {} },
  { status: 204, body: undefined },
  { status: 206, headers: { "content-range": "items 0-0/31" }, body: [] },
  { status: 207, body: [] },
];

/**
 * Returns a response of a proxy or gateway in place of the API. With any status, it is not an error of the API (§7).
 */
function denial(chance: Chance): Answer {
  const status = chance.oneOf([400, 401, 403, 405, 406, 409, 413, 415, 418, 421, 426, 429, 451, 499]);
  const bodies: readonly [Answer["body"], ...Answer["body"][]] = [
    `<html><body><h1>${status} Refused</h1></body></html>`,
    "Refused.",
    "",
  ];
  const html = { status, headers: HTML, body: chance.oneOf(bodies) };
  return chance.once(0.2) ? { status: 409, body: { message: "Conflict." } } : html;
}

/** One request and its response, in the terms of undici. */
class Exchange {
  /** True if a complete response arrived, or none will arrive. */
  over = false;
  readonly request: Omit<Arrival, "from">;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller: Dispatcher.DispatchController;

  constructor(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
    const url = new URL(options.path, "http://simulation");
    const headers = new Headers(options.headers as Record<string, string>);
    this.request = {
      method: options.method,
      path: url.pathname.replace(/^\/api\/v1/, ""),
      query: url.searchParams,
      body: typeof options.body === "string" ? options.body : undefined,
      key: headers.get("idempotency-key") ?? undefined,
    };
    this.#controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      rawTrailers: null,
      abort: (reason: Error) => this.#fail(reason),
      pause: () => undefined,
      resume: () => undefined,
    } as unknown as Dispatcher.DispatchController;
  }

  begin(send: () => void): void {
    this.#handler.onRequestStart?.(this.#controller, {});
    if (!this.over) send();
  }

  answer(answer: Answer): void {
    this.#start(answer);
    const text = textOf(answer);
    if (text !== "") this.#handler.onResponseData?.(this.#controller, Buffer.from(text));
    this.#end();
  }

  /** Delivers an incomplete body. */
  cut(answer: Answer, share: number, breaks: boolean): void {
    const text = textOf(answer);
    if (text !== "") {
      this.#start(answer);
      const part = text.slice(0, Math.floor(share * text.length));
      if (part !== "") this.#handler.onResponseData?.(this.#controller, Buffer.from(part));
    }
    if (breaks || text === "") this.break("UND_ERR_SOCKET");
    else this.#end();
  }

  break(code: string, syscall?: string): void {
    this.#fail(Object.assign(new Error(`${code}: simulated`), { code, ...(syscall && { syscall }) }));
  }

  #end(): void {
    this.over = true;
    this.#handler.onResponseEnd?.(this.#controller, {});
  }

  #start({ status, headers = {} }: Answer): void {
    const all = { "content-type": "application/json", ...headers };
    this.#handler.onResponseStart?.(this.#controller, status, all, "");
  }

  #fail(error: Error): void {
    if (this.over) return;
    this.over = true;
    this.#handler.onResponseError?.(this.#controller, error);
  }
}

const textOf = ({ body }: Answer) => (body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
