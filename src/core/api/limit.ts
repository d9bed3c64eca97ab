import type { Clock } from "../model/index.ts";
import { describeEndpoint } from "./endpoints.ts";
import { beforeLeaving, type Handler, type Reply } from "./exchange.ts";
import { cancelled, FailedAttempt, tooLate } from "./failure.ts";
import { type Limiter, PauseTooLong } from "./limiter.ts";

/** §8: lets a request through when the token's budget allows, and learns from each answer. */
export function limit({ limiter, clock }: { limiter: Limiter; clock: Clock }, next: Handler<Reply>): Handler<Reply> {
  return async (request) => {
    let turn: { waitedMs: number; left: number };
    try {
      turn = await limiter.acquire(beforeLeaving(request));
    } catch (error) {
      if (beforeLeaving(request)?.aborted) throw cancelled(request.endpoint, "no");
      if (!(error instanceof PauseTooLong)) throw error;
      throw new FailedAttempt(request.endpoint, {
        code: "api.rate_limited",
        summary: `The API asks for a pause of ${Math.ceil(error.waitMs / 1000)} seconds`,
        reached: "no",
        status: 429,
        detail: `${describeEndpoint(request.endpoint)} was not sent.`,
        fix: "Run the command again after that time.",
      });
    }
    const sentAt = clock.now();
    // The wait for the turn counts, and so do the pauses between attempts.
    if (request.notAfter !== undefined && sentAt > request.notAfter) throw tooLate(request.endpoint);
    request.onLeave?.();
    const reply = await next({ ...request, ...turn });
    // An answer that came is never lost to a failure of the book-keeping, which the next request meets anyway.
    await limiter.learn(reply, sentAt).catch(() => {});
    return reply;
  };
}
