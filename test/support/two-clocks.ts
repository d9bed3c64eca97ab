/** A machine whose two clocks move apart, and a host that answers over no network: when each request is written is known exactly. */
import type { HttpDispatcher } from "../../src/core/api/index.ts";
import type { Clock } from "../../src/core/model/index.ts";
import { START } from "./clock.ts";

/** The watchdog of a request in these tests: no time passes it. */
export const WATCHDOG_MS = 3_155_760;

export class TwoClocks implements Clock {
  #wall = START;
  #mono = 5_000_000;
  #wokeAt = Number.NEGATIVE_INFINITY;
  /** Time that passed, whatever the clocks show, in milliseconds. */
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

  /** The process is stopped, and wakes. */
  freeze(ms: number): void {
    this.stop(ms);
    this.#wokeAt = this.#mono;
  }

  /** The process waits: both clocks go on. */
  stop(ms: number): void {
    this.passed += ms;
    this.#wall += ms;
    this.#mono += ms;
  }

  /** The machine sleeps: the monotonic clock stands still. */
  suspend(ms: number): void {
    this.passed += ms;
    this.#wall += ms;
  }

  /** Time passes, and the wall clock is set back by as much. */
  hold(ms: number): void {
    this.passed += ms;
    this.#mono += ms;
  }

  /** The wall clock is set. */
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

/** An answer; `lost`: the connection ends without one; `refused`: there is no connection. */
export type HostAnswer =
  | { readonly status: number; readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "lost"
  | "refused";

export interface WrittenRequest {
  readonly method: string;
  readonly path: string;
}

/**
 * Connections to a host that is a function.
 * @param connect is called for each request before its connection is open. @param answer is called with each written request.
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
