// Retry policy alone: number of attempts, waits, and the final result.
import { describe, expect, it } from "vitest";
import type { EndpointName } from "../../../../src/core/api/endpoints.ts";
import type { ApiAnswer, ApiRequest } from "../../../../src/core/api/exchange.ts";
import { FailedAttempt } from "../../../../src/core/api/failed-attempt.ts";
import { type RetryOptions, retry } from "../../../../src/core/api/retry.ts";
import { FakeClock } from "./support.ts";

const ENDPOINT: Record<string, EndpointName> = {
  safe: "getService",
  keyed: "createService",
  idempotent: "deleteWebhook",
  once: "suspendService",
};
const START = new FakeClock().now();
const OK: ApiAnswer = { status: 200, json: { data: 1 } };

type Details = Partial<ConstructorParameters<typeof FailedAttempt>[1]>;
const failed = (details: Details = {}, endpoint: EndpointName = "getService") =>
  new FailedAttempt(endpoint, { code: "api.server", summary: "failed", reached: "maybe", transient: true, ...details });

const request = (kind: string, over: Partial<ApiRequest> = {}): ApiRequest => ({
  endpoint: ENDPOINT[kind] ?? "getService",
  method: "GET",
  path: "/",
  headers: {},
  secrets: [],
  attempt: 0,
  waitedMs: 0,
  left: 0,
  ...over,
});

/** Runs calls with these outcomes in order. The last outcome repeats. */
async function run(
  kind: string,
  outcomes: readonly (Details | ApiAnswer)[],
  over: Partial<RetryOptions & ApiRequest> = {},
) {
  const clock = new FakeClock();
  const attempts: number[] = [];
  const { maxAttempts = 4, random = () => 1, ...more } = over;
  const handler = retry({ clock, random, maxAttempts }, async ({ attempt, endpoint }) => {
    attempts.push(attempt);
    const outcome = outcomes[Math.min(attempts.length, outcomes.length) - 1];
    if (outcome !== undefined && "json" in outcome) return outcome;
    throw failed(outcome, endpoint);
  });
  const result = await handler(request(kind, more)).then(
    (answer) => ({ answer, error: undefined }),
    (error: unknown) => ({ answer: undefined, error: error as FailedAttempt }),
  );
  return { ...result, attempts, waits: clock.waits };
}

const refused: Details = { status: 429, code: "api.rate_limited", reached: "no" };
const inFlight: Details = { status: 409, code: "api.conflict", reached: "answered" };

describe("the number of attempts and the waits between them", () => {
  it.each<[string, string, readonly (Details | ApiAnswer)[], Partial<RetryOptions>, waits: readonly number[]]>([
    ["failures double the wait, up to the last attempt", "safe", [{}], {}, [500, 1000, 2000]],
    ["up to 20 seconds", "safe", [{}], { maxAttempts: 9 }, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]],
    ["one attempt is one attempt", "safe", [{}], { maxAttempts: 1 }, []],
    [
      "a part of it by chance, in whole milliseconds",
      "safe",
      [{}],
      { maxAttempts: 3, random: () => 0.3333 },
      [167, 334],
    ],
    ["by chance not at all", "safe", [{}, OK], { random: () => 0 }, [0]],
    ["at least what the server asks for", "safe", [{ waitMs: 7000 }, OK], {}, [7000]],
    ["at least the backoff, whatever less the server asks for", "safe", [{ waitMs: 100 }, OK], {}, [500]],
    ["two minutes, if the server asks for them", "safe", [{ waitMs: 120_000 }, OK], {}, [120_000]],
    ["but no longer", "safe", [{ waitMs: 120_001 }], {}, []],
    ["five minutes in all", "safe", [{ waitMs: 100_000 }], { maxAttempts: 9 }, [100_000, 100_000, 100_000]],
    [
      "and not a millisecond more",
      "safe",
      [{ waitMs: 1 }, { waitMs: 119_000 }, { waitMs: 119_000 }, { waitMs: 61_501 }],
      { maxAttempts: 9 },
      [500, 119_000, 119_000],
    ],
    [
      "a refusal by the rate limit is the limiter's to wait for, seven times",
      "safe",
      [refused],
      { maxAttempts: 1 },
      [0, 0, 0, 0, 0, 0, 0],
    ],
    ["and is no failure: those are counted apart", "safe", [refused, {}, refused, {}], { maxAttempts: 2 }, [0, 500, 0]],
    [
      "a key in flight is waited for seven times, longer each time",
      "keyed",
      [inFlight],
      { maxAttempts: 1 },
      [1000, 2000, 4000, 8000, 16_000, 20_000, 20_000],
    ],
    [
      "as long as the server asks, where it does",
      "keyed",
      [{ ...inFlight, waitMs: 3000 }, { ...inFlight, waitMs: 0 }, OK],
      {},
      [3000, 0],
    ],
    ["but not longer than two minutes", "keyed", [{ ...inFlight, waitMs: 120_001 }], {}, []],
    ["what is not transient is not repeated", "safe", [{ transient: false }], {}, []],
    ["what may be carried out only once is not repeated when it may have been", "once", [{ reached: "maybe" }], {}, []],
    ["nor when it was answered", "once", [{ reached: "answered" }], {}, []],
    ["but is when it never left", "once", [{ reached: "no" }, OK], {}, [500]],
  ])("%s", async (_, kind, outcomes, over, waits) => {
    const found = await run(kind, outcomes, over);
    expect(found.waits).toEqual(waits);
    expect(found.attempts, "counted from 1").toEqual(Array.from({ length: waits.length + 1 }, (_, at) => at + 1));
  });

  it("returns the response unchanged", async () => {
    expect((await run("safe", [{}, OK])).answer).toBe(OK);
  });

  it("passes on all other options of the request", async () => {
    const seen: ApiRequest[] = [];
    const sent = request("keyed", { body: "{}", headers: { a: "b" }, path: "/services" });
    await retry({ clock: new FakeClock(), random: () => 1, maxAttempts: 1 }, async (one) => {
      seen.push(one);
      return OK;
    })(sent);
    expect(seen).toMatchObject([{ ...sent, attempt: 1 }]);
  });

  it("passes on an error that is no failure of a request", async () => {
    const broken = new Error("a mistake of ours");
    const handler = retry({ clock: new FakeClock(), random: () => 1, maxAttempts: 4 }, async () => {
      throw broken;
    });
    await expect(handler(request("safe"))).rejects.toBe(broken);
  });
});

describe("an order is repeated only while the host certainly stores its key", () => {
  const lost: Details = { reached: "maybe" };
  const many = { maxAttempts: 9 };
  it.each<[string, string, readonly Details[], Parameters<typeof run>[2], readonly number[]]>([
    ["for five seconds by default", "keyed", [lost], many, [500, 1000, 2000]],
    ["up to their last millisecond", "keyed", [{ ...lost, waitMs: 4999 }, { transient: false }], {}, [4999]],
    ["and not when they are over, as the host forgets the key then", "keyed", [{ ...lost, waitMs: 5000 }], {}, []],
    ["as long as the host is said to remember it", "keyed", [lost], { ...many, repeatWithinMs: 1501 }, [500, 1000]],
    ["and no longer than that", "keyed", [lost], { ...many, repeatWithinMs: 1500 }, [500]],
    ["not after the moment until which it may leave", "keyed", [lost], { ...many, notAfter: START + 700 }, [500]],
    [
      "which counts for what certainly never left as well, when it leaves",
      "keyed",
      [{ reached: "no" }],
      { maxAttempts: 6, notAfter: START + 700 },
      [500, 1000, 2000, 4000, 8000],
    ],
    [
      "without an end, while nothing has left",
      "keyed",
      [{ reached: "no" }],
      { maxAttempts: 6 },
      [500, 1000, 2000, 4000, 8000],
    ],
    ["from the first that may have arrived", "keyed", [{ reached: "no" }, lost], many, [500, 1000, 2000]],
    [
      "which is about orders: a DELETE may be repeated later",
      "idempotent",
      [lost],
      { maxAttempts: 6 },
      [500, 1000, 2000, 4000, 8000],
    ],
    [
      "and a GET, whatever it may not pass",
      "safe",
      [lost],
      { maxAttempts: 4, notAfter: START + 700 },
      [500, 1000, 2000],
    ],
  ])("%s", async (_, kind, outcomes, over, waits) => {
    const found = await run(kind, outcomes, over);
    expect(found.waits).toEqual(waits);
    expect(found.error).toBeDefined();
  });

  it("counted from the time of sending, and not from the start of the wait", async () => {
    const clock = new FakeClock();
    let attempts = 0;
    const handler = retry({ clock, random: () => 1, maxAttempts: 4 }, async ({ endpoint, onLeave }) => {
      attempts += 1;
      clock.advance(4_800);
      onLeave?.();
      throw failed({ reached: "maybe" }, endpoint);
    });
    await handler(request("keyed")).catch(() => undefined);
    expect(attempts, "4.8 s in line, and again 0.5 s after it left; by then it is too late").toBe(2);
  });

  it("passes on the time until which the request may be sent", async () => {
    const clock = new FakeClock();
    const until: (number | undefined)[] = [];
    const handler = retry({ clock, random: () => 1, maxAttempts: 3 }, async ({ endpoint, notAfter }) => {
      until.push(notAfter);
      throw failed({ reached: "maybe" }, endpoint);
    });
    await handler(request("keyed", { repeatWithinMs: 4000 })).catch(() => undefined);
    expect(until).toEqual([undefined, START + 3999, START + 3999]);
  });

  it("counted from the first attempt that may have succeeded; an unsent attempt does not count", async () => {
    const clock = new FakeClock();
    const calls: { at: number; until: number | undefined }[] = [];
    const handler = retry({ clock, random: () => 1, maxAttempts: 3 }, async ({ endpoint, notAfter }) => {
      calls.push({ at: clock.now(), until: notAfter });
      throw failed({ reached: calls.length === 1 ? "no" : "maybe" }, endpoint);
    });
    await handler(request("keyed", { repeatWithinMs: 4000 })).catch(() => undefined);
    expect(calls.map(({ until }) => until)).toEqual([undefined, undefined, (calls[1]?.at ?? 0) + 3999]);
  });
});

describe("a request that waited too long for the rate limit", () => {
  const late: Details = { code: "api.too_late", reached: "no", transient: false, summary: "not sent any more" };
  it.each<[string, string, readonly Details[], summary: RegExp, reached: string]>([
    ["is not sent", "keyed", [late], /not sent any more/, "no"],
    ["is not sent after an attempt that did not leave, either", "keyed", [{ reached: "no" }, late], /any more/, "no"],
    [
      "may have been ordered by an earlier attempt: the key is too old",
      "keyed",
      [{}, late],
      /Idempotency-Key may have expired/,
      "maybe",
    ],
    ["may have been removed by an earlier attempt: there is no key", "idempotent", [{}, late], /any more/, "maybe"],
  ])("%s", async (_, kind, outcomes, summary, reached) => {
    const { error } = await run(kind, outcomes);
    expect(error).toMatchObject({
      reached,
      diagnostics: [{ code: "api.too_late", summary: expect.stringMatching(summary) }],
    });
  });
});

describe("the final result of a request", () => {
  it.each<[string, string, readonly Details[], string]>([
    ["a single failure as it was", "safe", [{ reached: "answered", transient: false }], "answered"],
    ["one that never left as that", "keyed", [{ reached: "no" }, { reached: "no" }], "no"],
    [
      "an order may have been carried out by an earlier attempt",
      "keyed",
      [{ reached: "maybe" }, { reached: "no" }],
      "maybe",
    ],
    [
      "also when the last one is refused",
      "keyed",
      [{ reached: "maybe" }, { reached: "answered", transient: false }],
      "maybe",
    ],
    [
      "and when it was clear in between",
      "keyed",
      [{ reached: "maybe" }, { reached: "no" }, { reached: "answered", transient: false }],
      "maybe",
    ],
    [
      "what only reads cannot have changed anything",
      "safe",
      [{ reached: "maybe" }, { reached: "answered", transient: false }],
      "answered",
    ],
    [
      "a refusal by the rate limit is a clear one",
      "once",
      [refused, { reached: "answered", transient: false }],
      "answered",
    ],
  ])("%s", async (_, kind, outcomes, reached) => {
    expect((await run(kind, outcomes)).error).toMatchObject({ reached });
  });
});

describe("a DELETE that an earlier attempt may have executed", () => {
  const missing: Details = { code: "api.not_found", status: 404, reached: "answered", transient: false };

  it.each<[string, string, readonly Details[], boolean]>([
    ["is done when the object is not there any more", "idempotent", [{ reached: "maybe" }, missing], true],
    ["is not when no attempt before can have done it", "idempotent", [{ reached: "no" }, missing], false],
    ["is not at the first attempt: it never was there", "idempotent", [missing], false],
    ["is not by another refusal", "idempotent", [{ reached: "maybe" }, { ...missing, code: "api.forbidden" }], false],
    ["is about DELETE only", "keyed", [{ reached: "maybe" }, missing], false],
  ])("%s", async (_, kind, outcomes, done) => {
    const { answer, error } = await run(kind, outcomes);
    expect(answer).toEqual(done ? { status: 204, json: undefined } : undefined);
    expect(error === undefined).toBe(done);
  });
});

describe("an abort between two attempts", () => {
  it.each<[string, string, Details, string, "signal" | "stop"]>([
    ["cancels what certainly did not happen", "keyed", { reached: "no" }, "no", "signal"],
    ["says that it may have happened", "keyed", { reached: "maybe" }, "maybe", "signal"],
    ["of a read changes nothing", "safe", { reached: "maybe" }, "no", "stop"],
    ["by the first Ctrl-C as well", "keyed", { reached: "maybe" }, "maybe", "stop"],
  ])("%s", async (_, kind, details, reached, by) => {
    const gate = new AbortController();
    const clock = new FakeClock();
    let attempts = 0;
    const handler = retry({ clock, random: () => 1, maxAttempts: 4 }, async ({ endpoint }) => {
      attempts += 1;
      gate.abort(new Error("stop"));
      throw failed(details, endpoint);
    });
    const error = await handler(request(kind, { [by]: gate.signal })).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ reached, diagnostics: [{ code: "api.cancelled" }] });
    expect(attempts).toBe(1);
  });
});
