import type { Dispatcher } from "undici";
import type { Clock } from "../model/index.ts";
import { authorize } from "./authorize.ts";
import type { Answer, Handler } from "./exchange.ts";
import { type HostClock, readHostTime } from "./host-clock.ts";
import { limit } from "./limit.ts";
import type { Limiter } from "./limiter.ts";
import { observe, type RequestEvent } from "./observe.ts";
import type { Redact } from "./redact.ts";
import { retry } from "./retry.ts";
import { send } from "./send.ts";
import { understand } from "./understand.ts";

export interface ChainOptions {
  readonly baseUrl: URL;
  readonly token: string;
  readonly userAgent: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limiter: Limiter;
  readonly hostClock: HostClock;
  readonly redact: Redact;
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly maxResponseBytes: number;
  readonly onRequest: (event: RequestEvent) => void;
}

/**
 * The way of every request, from the outside in; this is the one place that knows the order.
 *
 * 1. retry       decides on typed failures, so it stands outside of what makes them; each attempt passes all below.
 * 2. understand  status -> typed failure, body -> JSON: a cut or unreadable body is a failure that 1 may repeat.
 * 3. limit       every attempt waits for its turn, and 429 and the rate headers are seen before they become failures.
 * 4. observe     tells of each HTTP request: timed without the wait for the turn, never shown the token.
 * 5. readHostTime learns the host's time from the answer.
 * 6. authorize   adds the token last.
 * 7. send        the wire: time and size limits.
 *
 * Reading records out of the JSON comes after the chain: it depends on what was asked, and a shape that is not
 * understood does not get better by repetition.
 */
export function buildChain(options: ChainOptions): Handler<Answer> {
  const wire = readHostTime(options, authorize(options, send(options)));
  return retry(options, understand(options, limit(options, observe(options, wire))));
}
