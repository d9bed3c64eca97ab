/**
 * A machine with two independent clocks, and a host without a network. The tests know exactly when each request is
 * written.
 */
import type { HttpDispatcher } from "../../src/core/api/index.ts";
import type { Clock } from "../../src/core/model/index.ts";
import { START } from "./clock.ts";

/** Length of the request watchdog in these tests. It never expires. */
export const WATCHDOG_MS = 3_155_760;

export class TwoClocks implements Clock {
  #wall = START;
  #mono = 5_000_000;
  #wokeAt = Number.NEGATIVE_INFINITY;
  /** Elapsed real time in milliseconds, independent of the clocks. */
  passed = 0;

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#mono;
  }

  wokeAt(): number {
    return this.#wokeAt;
  }

  /** Stops the process, then wakes it. */
  freeze(ms: number): void {
    this.stop(ms);
    this.#wokeAt = this.#mono;
  }

  /** Lets both clocks run while the process waits. */
  stop(ms: number): void {
    this.passed += ms;
    this.#wall += ms;
    this.#mono += ms;
  }

  /** Suspends the machine: the monotonic clock stops. */
  suspend(ms: number): void {
    this.passed += ms;
    this.#wall += ms;
  }

  /** Lets time pass, and sets the wall clock back by the same time. */
  hold(ms: number): void {
    this.passed += ms;
    this.#mono += ms;
  }

  /** Sets the wall clock. */
  step(ms: number): void {
    this.#wall += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      if (ms === WATCHDOG_MS) return;
      setImmediate(() => {
        if (signal?.aborted) return;
        this.stop(Math.max(0, ms));
        resolve();
      });
    });
  }
}

/** A response. `lost`: the connection ends without a response. `refused`: no connection is established. */
export type HostAnswer =
  | { readonly status: number; readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "lost"
  | "refused";

export interface WrittenRequest {
  readonly method: string;
  readonly path: string;
}

/**
 * Returns connections to a simulated host.
 * @param connect Called for each request before its connection is established.
 * @param answer Called with each written request.
 */
export function hostOf(connect: () => void, answer: (request: WrittenRequest) => HostAnswer): HttpDispatcher {
  const dispatch = (request: WrittenRequest, handler: Handler): boolean => {
    setImmediate(() => {
      connect();
      const controller = new Controller(handler);
      handler.onRequestStart(controller, {});
      if (controller.isAborted) return;
      const given = answer(request);
      if (given === "lost") return handler.onResponseError(controller, reset("ECONNRESET"));
      if (given === "refused") return handler.onResponseError(controller, reset("ECONNREFUSED"));
      const { status, json, headers = {} } = given;
      handler.onResponseStart(controller, status, { "content-type": "application/json", ...headers }, "");
      handler.onResponseData(controller, Buffer.from(json === undefined ? "" : JSON.stringify(json)));
      handler.onResponseEnd(controller, {});
    });
    return true;
  };
  return { dispatch } as unknown as HttpDispatcher;
}

interface Handler {
  onRequestStart(controller: Controller, context: object): void;
  onResponseStart(controller: Controller, status: number, headers: object, message: string): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(controller: Controller, trailers: object): void;
  onResponseError(controller: Controller, error: Error): void;
}

class Controller {
  isAborted = false;
  readonly #handler: Handler;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  abort(reason: Error): void {
    this.isAborted = true;
    this.#handler.onResponseError(this, reason);
  }
}

const reset = (code: string) => Object.assign(new Error(code), { code });
