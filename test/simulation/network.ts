import { Dispatcher } from "undici";
import type { Chance } from "./chance.ts";
import type { Life } from "./life.ts";
import type { Server } from "./server.ts";
import type { Answer, Arrival } from "./wire.ts";
import type { World } from "./world.ts";

/** What may become of a request. Where the name does not say it, the server has acted. */
export type Mishap =
  | "refused" // no connection
  | "lost-before" // the connection breaks before the server has it
  | "lost-after" // the connection breaks before the answer
  | "silent-before" // nothing ever comes
  | "silent-after"
  | "late" // the answer comes after up to a minute and a half
  | "cut" // the body ends in the middle, with the connection
  | "short" // the body ends in the middle, in good order
  | "throttled" // 429, before the server has acted
  | "error-before" // 500, 502, 503, or a page of a proxy
  | "error-after"
  | "denied-before" // a refusal that is not the API's own, of a request that it never got
  | "denied-after" // the same in place of the answer: the server has acted
  | "page" // a page of a proxy in place of the API, with status 200: the server knows nothing
  | "hollow" // a GET is answered with a success that shows nothing: 202, 206, `null`, `{}`
  | "shifted"; // the first row of a list ends after the first page was read: each other row moves up

/** How likely each is, out of 1; what is left goes well. */
export type Mishaps = Readonly<Partial<Record<Mishap, number>>>;

export const CALM: Mishaps = {};

/** A request on its way. */
interface Flight {
  /** It never arrives. */
  lose(): void;
}

/** What the wire shows its observer: each sending of which the sender cannot know that nothing came of it. */
export type OnSend = (arrival: Arrival) => void;

/** The network between one process and the server: an undici dispatcher without a socket. */
export class SimulatedNetwork extends Dispatcher {
  readonly #world: World;
  readonly #server: Server;
  readonly #life: Life;
  readonly #mishaps: Mishaps;
  readonly #onSend: OnSend;
  /** Aborted by Ctrl-C: nothing is to leave after that. */
  stop: AbortSignal | undefined;
  /** Requests that left and have not arrived. */
  readonly #flights = new Set<Flight>();

  constructor(world: World, server: Server, life: Life, mishaps: Mishaps, onSend: OnSend) {
    super();
    this.#world = world;
    this.#server = server;
    this.#life = life;
    this.#mishaps = mishaps;
    this.#onSend = onSend;
    // What is on the wire when its sender dies may still arrive.
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

  /** From here on the sender does not know the result. */
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

  /** The answer, or what comes in place of it, is on its way back. */
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

  /** What was on its way when the lock was lost may leave; nothing later. */
  #accuseOfLostLock({ from, method }: Arrival, name: string): void {
    const { lostLockAt = Number.POSITIVE_INFINITY } = this.#life;
    if (method !== "GET" && this.#world.now > lostLockAt + FENCE_MS)
      this.#world.breaches.push(`${from} sent ${name} after its lock was taken over`);
  }

  /** What the sender gets to hear; undefined when nothing ever comes. */
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

/** From the record of a request to its leaving, at most: docs/reliability.md. */
const FENCE_MS = 5_000;

/** The server has not got the request, and the sender cannot know that. */
const UNKNOWING: ReadonlySet<Mishap> = new Set([
  "lost-before",
  "silent-before",
  "error-before",
  "denied-before",
  "page",
]);

/** The longest that a request is on its way. What arrives later than this may be made twice: see docs/limitations.md. */
const LONGEST_WAY_MS = 4_500;

const HTML = { "content-type": "text/html" };
const TROUBLE: readonly [Answer, ...Answer[]] = [
  { status: 500, body: { message: "Server Error" } },
  { status: 502, headers: HTML, body: "<html><body><h1>502 Bad Gateway</h1></body></html>" },
  { status: 503, headers: { "retry-after": "3" }, body: { message: "Service Unavailable" } },
  { status: 503, body: "" },
];

/** Successes that prove nothing. */
const HOLLOW: readonly [Answer, ...Answer[]] = [
  { status: 200, body: null },
  { status: 200, body: {} },
  { status: 202, body: {} },
  { status: 204, body: undefined },
  { status: 206, headers: { "content-range": "items 0-0/31" }, body: [] },
  { status: 207, body: [] },
];

/** What proxies and gateways answer in place of the API: no refusal of its own (§7), whatever the status says. */
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

/** One request and its answer, in undici's terms. */
class Exchange {
  /** An answer came whole, or there will be none. */
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

  /** The body ends before its end. */
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
