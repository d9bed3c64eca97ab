import nock from "nock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { type ClientOptions, HostingClient, type RequestEvent } from "../../../../src/core/api/index.ts";
import { ApiError, type Clock } from "../../../../src/core/model/index.ts";
import { fixOf } from "../../../support/remedies.ts";

// Loading nock intercepts the network of the whole process, and other test files need the real network.
nock.restore();

export const ORIGIN = "https://api.hosting.example";
export const TOKEN = "7|canary-token-Zq81xYp4";

/**
 * Clock that advances as soon as every caller waits, so tests take no real time. A wait of TIME_LIMIT (the time
 * limit of a request) ends only by `advance`.
 */
export class FakeClock implements Clock {
  /** All waits except waits of TIME_LIMIT, in ms. */
  readonly waits: number[] = [];
  #now = Date.UTC(2026, 10, 21, 10, 0, 0);
  #waiters: { at: number; patient: boolean; resolve: () => void }[] = [];

  monotonic(): number {
    return this.#now;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const waiter = { at: this.#now + ms, patient: ms === TIME_LIMIT, resolve };
      this.#waiters.push(waiter);
      const stop = () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      if (waiter.patient) return;
      this.waits.push(ms);
      setImmediate(() => this.#moveTo(this.#next()));
    });
  }

  advance(ms: number): void {
    this.#moveTo(this.#now + ms);
  }

  #next(): number {
    return Math.min(...this.#waiters.filter(({ patient }) => !patient).map(({ at }) => at));
  }

  #moveTo(time: number): void {
    if (Number.isFinite(time)) this.#now = Math.max(this.#now, time);
    const due = this.#waiters.filter(({ at }) => at <= this.#now);
    this.#waiters = this.#waiters.filter(({ at }) => at > this.#now);
    for (const { resolve } of due) resolve();
  }
}

/** Time limit of a request in these tests, in ms. This wait ends only by `advance`. */
export const TIME_LIMIT = 199_999;

export interface Setup {
  readonly client: HostingClient;
  readonly clock: FakeClock;
  readonly events: RequestEvent[];
}

/**
 * Creates a client with a fake clock, the longest backoff (random = 1) and no proxies. Closes the client after the
 * test.
 */
export function setUp(options: Partial<ClientOptions> = {}): Setup {
  const clock = new FakeClock();
  const events: RequestEvent[] = [];
  const client = new HostingClient({
    baseUrl: ORIGIN,
    token: TOKEN,
    clock,
    random: () => 1,
    env: {},
    timeoutMs: TIME_LIMIT,
    onRequest: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, clock, events };
}

/** Scope of nock for the API's base URL. */
export const api = () => nock(`${ORIGIN}/api/v1`);

/** Returns the ApiError of a call. Fails the test if the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw error;
  return error;
}

/** Returns every text of an error, joined by line breaks. */
export function textOf(error: ApiError): string {
  const fields = Object.entries(error.fieldErrors).flat(2);
  const parts = error.diagnostics.flatMap((one) => [one.summary, one.detail, fixOf(one)]);
  return [error.message, error.serverMessage, error.endpoint, ...parts, ...fields].filter(Boolean).join("\n");
}

/**
 * Uses nock for all tests of a file: blocks the real network, and fails on an unused interceptor or an unmatched
 * request.
 */
export function useNock(): void {
  const unmatched: string[] = [];
  const note = (request: { method?: string; path?: string }) => unmatched.push(`${request.method} ${request.path}`);
  beforeAll(() => nock.activate());
  afterAll(() => nock.restore());
  beforeEach(() => {
    unmatched.length = 0;
    nock.disableNetConnect();
    nock.emitter.on("no match", note);
  });
  afterEach(() => {
    nock.emitter.off("no match", note);
    const unused = nock.pendingMocks();
    nock.cleanAll();
    expect({ unmatched, unused }).toEqual({ unmatched: [], unused: [] });
  });
}

export const service = (more: object = {}) => ({
  id: 7,
  plan: "Shared S",
  product_type: "shared",
  status: "active",
  domain: "acme.example",
  billing_cycle: "monthly",
  currency: "USD",
  price: 900,
  next_due_date: "2026-12-21",
  provisioning_status: "provisioned",
  created_at: "2026-11-21T10:00:00+00:00",
  ...more,
});

export const invoice = (more: object = {}) => ({
  id: 31,
  invoice_number: "INV-2026-0031",
  status: "unpaid",
  currency: "USD",
  subtotal: 900,
  total: 810,
  due_date: "2026-11-28",
  paid_at: null,
  order_id: 7,
  ...more,
});
