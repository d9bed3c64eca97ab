// Maximum time between a request's record and its first byte, measured on both clocks when the client writes to the socket.
import { describe, expect, it } from "vitest";
import type { Fence, Mutation } from "../../../../src/core/api/index.ts";
import { MemoryLedger } from "../../../../src/core/api/index.ts";
import { RecordFence } from "../../../../src/core/lifecycle/fence.ts";
import type { ApiError } from "../../../../src/core/model/index.ts";
import { type HostAnswer, hostOf, TwoClocks, WATCHDOG_MS } from "../../../support/two-clocks.ts";
import { failureOf, setUp } from "./support.ts";

const HOUR = 3_600_000;
const HOOK: Mutation = { endpoint: "createWebhook", body: { url: "https://a.example", events: ["invoice.paid"] } };
const ORDER: Mutation = { endpoint: "createService", body: { plan_id: 1 }, idempotencyKey: "k" };
const DELETION: Mutation = { endpoint: "deleteWebhook", params: { id: "7" } };
const MADE = { status: 201, json: { data: { id: 7, url: "https://a.example", secret: "whsec_1" } } };
const ORDERED = { status: 201, json: { data: { id: 9, status: "pending" }, invoice: null } };
const LIMITED = (seconds: number) => ({
  status: 429,
  json: { message: "slow down" },
  headers: { "retry-after": `${seconds}` },
});

interface Case {
  readonly mutation?: Mutation;
  /** Called between the record and the reservation in the rate limit. */
  readonly beforeLimit?: (clock: TwoClocks) => void;
  /** Called while the request waits for a connection. */
  readonly whileConnecting?: (clock: TwoClocks, nth: number) => void;
  readonly onLeave?: (clock: TwoClocks) => void;
  readonly answers?: readonly HostAnswer[];
  readonly isLockLost?: () => boolean;
}

async function send({ mutation = HOOK, beforeLimit, whileConnecting, onLeave, answers = [MADE], isLockLost }: Case) {
  const clock = new TwoClocks();
  const written: number[] = [];
  let records = 0;
  let connections = 0;
  const host = hostOf(
    () => whileConnecting?.(clock, ++connections),
    () => {
      written.push(clock.passed);
      return answers[Math.min(written.length, answers.length) - 1] ?? "lost";
    },
  );
  const ledger = new MemoryLedger();
  const { client, events } = setUp({ clock, dispatcher: host, ledger, timeoutMs: WATCHDOG_MS });
  const fence: Fence = new RecordFence(clock, async () => void records++, isLockLost ?? (() => false));
  await fence.renew();
  beforeLimit?.(clock);
  const sending = client.request(mutation, { fence, repeatWithinMs: HOUR, onLeave: () => onLeave?.(clock) });
  const failure = await sending.then(
    () => undefined,
    (error: ApiError) => error,
  );
  return { written, records, failure, code: failure?.diagnostics[0]?.code, events, clock };
}

describe("a request with a record", () => {
  it("is sent within five seconds", async () => {
    const sent = await send({ whileConnecting: (clock) => clock.stop(4_999) });
    expect([sent.written, sent.failure]).toEqual([[4_999], undefined]);
  });

  it.each<[string, (clock: TwoClocks) => void]>([
    ["the process was stopped for five seconds", (clock) => clock.stop(5_000)],
    ["the machine slept for an hour, so that only the wall clock went on", (clock) => clock.suspend(HOUR)],
    ["the wall clock was set ahead by an hour", (clock) => clock.step(HOUR)],
    ["the wall clock was held, and only the monotonic clock went on", (clock) => clock.hold(5_000)],
    ["the wall clock was set back", (clock) => clock.step(-HOUR)],
    [
      "the machine slept, and the wall clock was set back further",
      (clock) => {
        clock.suspend(HOUR);
        clock.step(-2 * HOUR);
      },
    ],
  ])("is not sent if %s, at any moment", async (_, happens) => {
    for (const when of ["beforeLimit", "onLeave", "whileConnecting"] as const) {
      const { written, code, failure, records, events } = await send({ [when]: happens });
      expect([written, code, failure?.reached, records], when).toEqual([[], "api.late", "no", 1]);
      expect(events, "no request is counted").toEqual([]);
    }
  });

  it("is not sent after the lock of the state is lost", async () => {
    let isLost = false;
    const lose = () => {
      isLost = true;
    };
    const { written, code } = await send({ whileConnecting: lose, isLockLost: () => isLost });
    expect([written, code]).toEqual([[], "api.late"]);
  });

  it("is not repeated after a 429 that requests a longer pause, and its error names the 429", async () => {
    const { written, code, failure, clock } = await send({ answers: [LIMITED(20), MADE] });
    expect([written.length, code, failure?.reached]).toEqual([1, "api.late", "no"]);
    expect(failure?.cause).toMatchObject({ status: 429, diagnostics: [{ code: "api.rate_limited" }] });
    expect(clock.passed, "it does not wait for a place that it cannot use").toBeLessThan(5_000);
  });

  it("is sent at any time without a fence, as in programs that use only the client", async () => {
    const clock = new TwoClocks();
    const host = hostOf(
      () => clock.stop(HOUR),
      () => MADE,
    );
    const { client } = setUp({ clock, dispatcher: host, timeoutMs: WATCHDOG_MS });
    await expect(client.request(HOOK)).resolves.toMatchObject({ id: "7" });
  });
});

describe("a retry after a lost response", () => {
  it.each([
    ["an order within the time of its key", ORDER, ORDERED],
    ["a DELETE", DELETION, { status: 204 }],
  ] as const)("of %s is recorded again if it is late", async (_, mutation, answer) => {
    // The client sends the first attempt at once and loses its connection. The second connection takes four seconds.
    const whileConnecting = (clock: TwoClocks, nth: number) => clock.stop(nth === 1 ? 4_600 : 0);
    const { written, records, failure } = await send({ mutation, whileConnecting, answers: ["lost", answer] });
    expect([written, records, failure]).toEqual([[4_600, 5_100], 2, undefined]);
  });

  it("that is late at the socket is recorded and sent again", async () => {
    const whileConnecting = (clock: TwoClocks, nth: number) => clock.stop(nth === 2 ? 6_000 : 0);
    const { written, records, failure } = await send({
      mutation: DELETION,
      whileConnecting,
      answers: ["lost", { status: 204 }],
    });
    expect([written.length, records, failure]).toEqual([2, 2, undefined]);
  });

  it.each(["stop", "suspend"] as const)(
    "of an order is not sent after the retention of its key, even if the wall clock was set back (%s)",
    async (pause) => {
      const whileConnecting = (clock: TwoClocks, nth: number) => {
        if (nth !== 2) return;
        clock[pause](2 * HOUR);
        clock.step(-3 * HOUR);
      };
      const { written, failure } = await send({ mutation: ORDER, whileConnecting, answers: ["lost", ORDERED] });
      expect([written, failure?.reached]).toEqual([[0], "maybe"]);
    },
  );

  it("that is always late is reported with the earlier failure, because the first attempt may have succeeded", async () => {
    const whileConnecting = (clock: TwoClocks, nth: number) => clock.stop(nth === 1 ? 0 : 6_000);
    const { written, code, failure } = await send({ mutation: DELETION, whileConnecting, answers: ["lost"] });
    expect([written.length, code, failure?.reached]).toEqual([1, "api.unreachable", "maybe"]);
  });

  it("is not sent if its record fails", async () => {
    const clock = new TwoClocks();
    let written = 0;
    const host = hostOf(
      () => clock.stop(4_800),
      () => {
        written += 1;
        return "lost";
      },
    );
    const { client } = setUp({ clock, dispatcher: host, timeoutMs: WATCHDOG_MS });
    let records = 0;
    const fence = new RecordFence(
      clock,
      async () => {
        if (++records > 1) throw new Error("the disk is full");
      },
      () => false,
    );
    await fence.renew();
    await expect(client.request(DELETION, { fence })).rejects.toThrow("the disk is full");
    expect([written, records]).toEqual([1, 2]);
  });
});

it("a request is not written if its connection opens after its time limit", async () => {
  const clock = new TwoClocks();
  let written = 0;
  const host = hostOf(
    () => clock.stop(2_000),
    () => {
      written += 1;
      return MADE;
    },
  );
  const { client } = setUp({ clock, dispatcher: host, timeoutMs: WATCHDOG_MS });
  const failure = await failureOf(client.request(HOOK, { notAfter: clock.now() + 1_000 }));
  expect([written, failure.diagnostics[0]?.code, failure.reached]).toEqual([0, "api.too_late", "no"]);
});
