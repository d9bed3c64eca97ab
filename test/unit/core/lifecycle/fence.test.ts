// Delayed requests of changes: no request is sent more than five seconds after its record, whatever delays the run.
import { describe, expect, it } from "vitest";
import type { Ledger, Mutation } from "../../../../src/core/api/index.ts";
import { HostingClient } from "../../../../src/core/api/index.ts";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { MOST_LATE } from "../../../../src/core/lifecycle/context.ts";
import { RecordFence } from "../../../../src/core/lifecycle/fence.ts";
import { perform } from "../../../../src/core/lifecycle/perform.ts";
import {
  type Change,
  elapsedMs,
  HostformError,
  isGap,
  type JsonObject,
  momentOf,
  type PrivateMark,
} from "../../../../src/core/model/index.ts";
import { type Context, changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import { fc } from "../../../support/fc.ts";
import {
  failure,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveService,
  liveWebhook,
  recorded,
  remote,
} from "../../../support/subjects.ts";
import { type HostAnswer, hostOf, TwoClocks, WATCHDOG_MS } from "../../../support/two-clocks.ts";

const HOUR = 3_600_000;

const late = () => {
  throw failure("no", undefined, "api.late");
};

describe("the time since a moment on both clocks", () => {
  const after = (happens: (clock: TwoClocks) => void) => {
    const clock = new TwoClocks();
    const since = momentOf(clock);
    happens(clock);
    return [elapsedMs(since, clock), isGap(since, clock)];
  };

  it.each<[string, (clock: TwoClocks) => void, number, boolean]>([
    ["is what both clocks show", (clock) => clock.stop(7_000), 7_000, false],
    ["is that of the wall clock after a sleep of the machine", (clock) => clock.suspend(7_000), 7_000, true],
    ["is that of the monotonic clock while the other is held", (clock) => clock.hold(7_000), 7_000, true],
    ["is endless if the wall clock was set back", (clock) => clock.step(-1), Number.POSITIVE_INFINITY, false],
    ["has a gap if the process was stopped", (clock) => clock.freeze(7_000), 7_000, true],
    ["is 5 s without a gap", (clock) => clock.suspend(5_000), 5_000, false],
  ])("%s", (_, happens, elapsed, gap) => {
    expect(after(happens)).toEqual([elapsed, gap]);
  });

  it("begins with the record: a disk that needs five seconds for it leaves no time", async () => {
    const clock = new TwoClocks();
    const fence = new RecordFence(
      clock,
      async () => clock.stop(5_000),
      () => false,
    );
    expect(fence.leftMs(), "without a record").toBe(0);
    await fence.renew();
    expect(fence.leftMs()).toBe(0);
  });
});

const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const CREATES: Readonly<Record<string, [config: JsonObject, answer: unknown]>> = {
  hosting_webhook: [HOOK, { ...liveWebhook, secret: "whsec", raw: {} }],
  hosting_service: [
    { plan_id: 11, currency: "USD", domain: "www.acme.example" },
    { service: { ...liveService, raw: {} }, invoice: null },
  ],
  hosting_domain: [
    { domain: "acme.example", years: 1, currency: "USD", nameserver_mode: "default", registrant_contact: {} },
    { id: "5", status: "pending", invoice: null, raw: { domain: "acme.example" } },
  ],
};

/** Applies a change whose first `lates` requests are too late. */
async function run(
  type: string,
  over: Partial<Change> & { readonly config?: JsonObject; readonly lates?: number; readonly context?: Context } = {},
  answer: (mutation: Mutation, nth: number) => unknown = () => CREATES[type]?.[1],
) {
  const { lates = 1, context: more, config = CREATES[type]?.[0] ?? {}, ...changed } = over;
  const before = over.before === undefined || over.before === null ? [] : [remote(over.before)];
  const fake = fakeAccount(kindOf(type), ...before);
  fake.isWhole = true;
  fake.plans = [{ id: "11" }];
  const events: string[] = [];
  const writer = fakeWriter((mutation, nth) => {
    events.push(nth <= lates ? "late" : mutation.endpoint);
    return nth <= lates ? late() : answer(mutation, nth - lates);
  });
  const reserve = writer.reserve.bind(writer);
  Object.assign(writer, {
    reserve: async (...given: Parameters<typeof reserve>) => {
      events.push("reserved");
      return reserve(...given);
    },
  });
  const { context, records } = fakeRun(fake.account, writer, more);
  const end = await outcomeOf(fake.kind, changeOf(type, config, changed), context);
  const marks = records.map((one): PrivateMark | "dropped" => (one === "dropped" ? one : one.private));
  const codes = end instanceof HostformError ? end.diagnostics.map(({ code }) => code) : "done";
  return { codes, events, marks, records, asked: fake.asked, fate: context.fate, fake };
}

describe.each(Object.keys(CREATES))("a create of %s that was not sent in time", (type) => {
  it("is withdrawn, waits for the rate limit without the create lock, reads the lists again, and is sent with a new record", async () => {
    const { codes, events, marks, asked, fate } = await run(type);
    expect(codes).toBe("done");
    expect(events.filter((one) => one !== "reserved")).toHaveLength(2);
    const pending = marks.flatMap((mark) => (mark !== "dropped" && mark.pending !== undefined ? [mark.pending] : []));
    expect(marks[1], "nothing is left of the request that did not leave").toBe("dropped");
    expect(pending.map(({ fenced }) => fenced)).toEqual([true, true]);
    expect(new Set(pending.map(({ id }) => id)).size, "each is a request of its own").toBe(2);
    const lists = asked.filter((one) => one === "list").length;
    expect(lists).toBe(kindOf(type).list === undefined ? 0 : 2);
    expect([fate.requests, fate.hasEffect]).toEqual(["answered", true]);
  });

  it(`is dropped after ${MOST_LATE} attempts, and leaves no record`, async () => {
    const { codes, marks, fate } = await run(type, { lates: MOST_LATE });
    expect([codes, marks.at(-1), fate.requests, fate.hasEffect]).toEqual([["api.late"], "dropped", "nothing", false]);
    expect(marks.filter((mark) => mark !== "dropped")).toHaveLength(MOST_LATE);
  });
});

describe("a create that is late", () => {
  it("keeps its replaced object in the state", async () => {
    const old = { ...liveWebhook, id: "200" };
    const { codes, marks } = await run("hosting_webhook", {
      actions: ["create", "delete"],
      before: old,
      config: { ...HOOK, events: ["service.suspended"] },
    });
    const pending = marks.flatMap((mark) => (mark !== "dropped" && mark.pending !== undefined ? [mark] : []));
    expect(codes).toBe("done");
    expect(pending.map(({ deposed }) => deposed?.id)).toEqual(["200", "200"]);
  });

  it("is rejected if its object appeared in the list in the meantime", async () => {
    const fake = fakeAccount(kindOf("hosting_webhook"));
    fake.isWhole = true;
    const writer = fakeWriter(() => {
      fake.objects.set("9", remote({ ...liveWebhook, id: "9" }));
      return late();
    });
    const { context, records } = fakeRun(fake.account, writer);
    const end = await outcomeOf(fake.kind, changeOf("hosting_webhook", HOOK), context);
    expect(end).toMatchObject({ diagnostics: [{ code: "plan.exists" }] });
    expect([writer.sent.length, records.at(-1)]).toEqual([1, "dropped"]);
  });

  it("as a retry keeps the earlier attempt and its fence in the state", async () => {
    const since = "2026-11-21T09:00:00.000Z";
    const pending = { since, operation: "createWebhook", body: HOOK, knowsAll: true, fenced: true } as const;
    const prior = recorded("hosting_webhook.acme", { ...HOOK, id: null }, { private: { pending } });
    const { codes, marks, events } = await run("hosting_webhook", { private: { pending }, context: { prior } });
    expect(codes).toBe("done");
    const resent = marks.map((mark) =>
      mark === "dropped" ? mark : mark.pending?.resent !== undefined || !mark.pending,
    );
    expect(resent, "recorded, taken back, recorded, answered").toEqual([true, false, true, true]);
    expect(events.filter((one) => one !== "reserved")).toEqual(["late", "createWebhook"]);
  });

  it("names the rejection that made it late, if it is late too often", async () => {
    const cause = failure("no", 429, "api.rate_limited");
    const answer = () => {
      throw Object.assign(failure("no", undefined, "api.late"), { cause });
    };
    const { codes, events } = await run("hosting_webhook", { lates: 0 }, answer);
    expect([codes, events.filter((one) => one !== "reserved").length]).toEqual([["api.rate_limited"], MOST_LATE]);
  });

  it("reads all lists again if the machine slept since the last create", async () => {
    const clock = new TwoClocks();
    const looks = async (happens: () => void) => {
      const fake = fakeAccount(kindOf("hosting_webhook"));
      fake.isWhole = true;
      const lists: number[] = [];
      for (const url of ["https://a.example", "https://b.example"]) {
        const writer = fakeWriter(() => ({ ...liveWebhook, url, secret: "whsec", raw: {} }));
        const { context } = fakeRun(fake.account, writer, { clock });
        await outcomeOf(fake.kind, changeOf("hosting_webhook", { ...HOOK, url }), context);
        lists.push(fake.asked.length);
        happens();
      }
      return lists;
    };
    expect(await looks(() => clock.stop(3_600_000))).toEqual([1, 1]);
    expect(await looks(() => clock.suspend(3_600_000))).toEqual([1, 2]);
    expect(await looks(() => clock.freeze(3_600_000))).toEqual([1, 2]);
  });

  it.each(["hosting_webhook"])(
    "reads the lists of %s again if the process was stopped between them and the record",
    async (type) => {
      const clock = new TwoClocks();
      const fake = fakeAccount(kindOf(type));
      fake.isWhole = true;
      fake.plans = [{ id: "11" }];
      const [config = {}] = CREATES[type] ?? [];
      const writer = fakeWriter(() => CREATES[type]?.[1]);
      const reserve = writer.reserve.bind(writer);
      let reserved = 0;
      Object.assign(writer, {
        reserve: async (...given: Parameters<typeof reserve>) => {
          if (++reserved === 1) {
            clock.freeze(45_000);
            fake.objects.set("9", remote({ ...(type === "hosting_webhook" ? liveWebhook : liveService), id: "9" }));
          }
          return reserve(...given);
        },
      });
      const { context, records } = fakeRun(fake.account, writer, { clock });
      const end = await outcomeOf(fake.kind, changeOf(type, config), context);
      expect(end).toMatchObject({ diagnostics: [{ code: "plan.exists" }] });
      expect([writer.sent.length, records.length]).toEqual([0, 0]);
    },
  );
});

describe("a create of an earlier run, after its list is read", () => {
  const since = new Date(START - 600_000).toISOString();
  const pending = { since, operation: "createWebhook", body: HOOK, knowsAll: true, fenced: true } as const;

  async function settle(onList: (clock: TwoClocks, nth: number) => void, context: Context = {}) {
    const clock = new TwoClocks();
    const of = kindOf("hosting_webhook");
    const fake = fakeAccount(of);
    fake.isWhole = true;
    fake.now = () => clock.now();
    const events: string[] = [];
    let lists = 0;
    const kind: Kind = {
      ...fake.kind,
      async *list(...given) {
        onList(clock, ++lists);
        events.push("list");
        yield* fake.kind.list?.(...given) ?? [];
      },
    };
    const writer = fakeWriter(() => {
      events.push("sent");
      return CREATES.hosting_webhook?.[1];
    });
    const prior = recorded("hosting_webhook.acme", { ...HOOK, id: null }, { private: { pending } });
    const proveLock = async () => void events.push("lock proved");
    const { context: made } = fakeRun(fake.account, writer, { clock, prior, proveLock, ...context });
    const end = await outcomeOf(kind, changeOf("hosting_webhook", HOOK, { private: { pending } }), made);
    return { events, end: end instanceof HostformError ? end.diagnostics[0]?.code : "done" };
  }

  it("is decided after the lock of the state is proved", async () => {
    expect(await settle(() => {})).toEqual({ events: ["list", "lock proved", "sent"], end: "done" });
  });

  it("is checked again if the machine slept in the meantime", async () => {
    const { events } = await settle((clock, nth) => clock.suspend(nth === 1 ? 3_600_000 : 0));
    expect(events).toEqual(["list", "lock proved", "list", "lock proved", "sent"]);
  });

  it("is left to the run that holds the lock by then: nothing is sent", async () => {
    const lost = new HostformError([{ severity: "error", code: "state.lost_lock", summary: "lost", remedies: [] }]);
    let isLost = false;
    const proveLock = async () => {
      isLost = true;
      throw lost;
    };
    const { events, end } = await settle(() => {}, { proveLock, lostLock: () => (isLost ? lost : undefined) });
    expect([events, end]).toEqual([["list"], "state.lost_lock"]);
  });

  it("is not decided while the server of the state does not respond", async () => {
    const refused = new HostformError([{ severity: "error", code: "state.backend", summary: "down", remedies: [] }]);
    const { events, end } = await settle(() => {}, { proveLock: () => Promise.reject(refused) });
    expect([events, end]).toEqual([["list"], "state.backend"]);
  });

  it("is checked again with the create lock if the lock came more than five seconds later", async () => {
    let clock: TwoClocks | undefined;
    const isLate = async (of: TwoClocks) => {
      clock = of;
    };
    const { events } = await settle((of) => void isLate(of), {
      // The run waited for the rate limit.
      proveLock: async () => clock?.stop(6_000),
    });
    expect(events).toEqual(["list", "list", "sent"]);
  });
});

describe("any other request that was not sent in time", () => {
  const service = { ...liveService, domain: "www.acme.example" };
  const cases: [string, string, Partial<Change> & { config?: JsonObject }, string][] = [
    [
      "a deletion",
      "hosting_webhook",
      { actions: ["delete"], removal: "delete", before: liveWebhook, after: null },
      "deleteWebhook",
    ],
    [
      "a suspension",
      "hosting_service",
      { actions: ["update"], before: service, config: { ...CREATES.hosting_service?.[0], suspended: true } },
      "suspendService",
    ],
    [
      "a lifted suspension",
      "hosting_service",
      {
        actions: ["update"],
        before: { ...service, status: "suspended", suspended: true },
        config: { ...CREATES.hosting_service?.[0], suspended: false },
      },
      "unsuspendService",
    ],
    [
      "a new password",
      "hosting_service",
      {
        actions: ["update"],
        before: { ...service, password_version: 1 },
        config: { ...CREATES.hosting_service?.[0], password: "correct horse", password_version: 2 },
      },
      "resetPassword",
    ],
  ];

  it.each(cases)("%s is recorded again, and sent", async (_, type, change, endpoint) => {
    const { events, marks, codes } = await run(type, change, () => null);
    expect(events.slice(0, 4)).toEqual(["reserved", "late", "reserved", endpoint]);
    const attempts = marks.slice(0, 3).map((mark) => (mark === "dropped" ? mark : mark.attempt));
    const attempt = { operation: endpoint, fenced: true };
    expect(attempts, "recorded, taken back, recorded").toEqual([
      expect.objectContaining(attempt),
      undefined,
      expect.objectContaining(attempt),
    ]);
    expect(codes).toBe("done");
  });

  it.each(cases)("%s is reported as not sent after eight attempts", async (_, type, change) => {
    const { events, marks, codes, fate } = await run(type, { ...change, lates: MOST_LATE });
    expect(codes).toEqual(["api.late"]);
    expect(events.filter((one) => one === "late")).toHaveLength(MOST_LATE);
    expect(marks.at(-1), "no attempt is left on record").not.toHaveProperty("attempt");
    expect([fate.requests, fate.hasEffect]).toEqual(["nothing", false]);
  });

  it("is not sent if its next record shows that the lock is lost", async () => {
    let records = 0;
    const save = async () => {
      if (++records === 2)
        throw new HostformError([{ severity: "error", code: "state.lost_lock", summary: "lost", remedies: [] }]);
    };
    const [, type, change] = cases[0] ?? [];
    const { codes, events } = await run(String(type), { ...change, context: { save } as Context });
    expect([codes, events.filter((one) => one === "late").length]).toEqual([["state.lost_lock"], 1]);
  });
});

describe("an attempt of a request", () => {
  const HOST = { baseUrl: "https://api.hosting.example", token: "t", env: {}, timeoutMs: WATCHDOG_MS };
  const MUTATIONS: readonly Mutation[] = [
    { endpoint: "createWebhook", body: HOOK },
    { endpoint: "createService", body: { plan_id: 11 }, idempotencyKey: "k" },
    { endpoint: "deleteWebhook", params: { id: "7" } },
    { endpoint: "suspendService", params: { id: "7" } },
    { endpoint: "resetPassword", params: { id: "7" }, body: { password: "correct horse" } },
  ];
  const span = fc.constantFrom(0, 0, 0, 1, 900, 2_500, 4_999, 5_000, 5_001, 30_000, 3_600_000);
  const pause = fc.tuple(fc.boolean(), span);
  const answer = fc.oneof(
    fc.constant<HostAnswer>({ status: 200, json: { data: { id: 7, status: "pending", url: HOOK.url, secret: "s" } } }),
    fc.constantFrom(1, 3, 20).map(
      (seconds): HostAnswer => ({
        status: 429,
        json: { message: "wait" },
        headers: { "retry-after": String(seconds) },
      }),
    ),
    fc.constant<HostAnswer>({ status: 503, json: { message: "later" } }),
    fc.constantFrom<HostAnswer[]>("lost", "refused"),
  );
  const drawn = fc.record({
    mutation: fc.constantFrom(...MUTATIONS),
    pauses: fc.array(pause, { minLength: 1, maxLength: 24 }),
    // One of the two clocks misses time, always the same clock. The other clock counts all time.
    missed: fc.constantFrom<("suspend" | "hold")[]>("suspend", "hold"),
    answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
    limits: fc.array(fc.constantFrom(0, 0, 700, 4_000, 6_000), { maxLength: 6 }),
    isCreate: fc.boolean(),
  });
  type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

  async function play({ mutation, pauses, missed, answers, limits, isCreate }: Drawn, isFenced = true) {
    const clock = new TwoClocks();
    let at = 0;
    const happens = () => {
      const [isShown, ms] = pauses[at++ % pauses.length] ?? [true, 0];
      // After these pauses, time no longer jumps, so each run ends.
      if (at <= 3 * pauses.length) clock[isShown ? "stop" : missed](ms);
    };
    /** Start of the last record. `ages` is the age of this record at each write, in milliseconds. */
    let recordedAt = Number.NaN;
    const ages: number[] = [];
    let written = 0;
    const host = hostOf(happens, () => {
      ages.push(clock.passed - recordedAt);
      const given = answers[written++] ?? answers[0] ?? "lost";
      happens();
      return given;
    });
    const ledger: Ledger = {
      reserve: async () => {
        happens();
        return { waitMs: limits.pop() ?? 0, left: 1 };
      },
      accept: async () => {},
      refuse: async () => {},
    };
    const client = new HostingClient({ ...HOST, clock, random: () => 1, dispatcher: host, ledger });
    const { context } = fakeRun(fakeAccount(kindOf("hosting_webhook")).account, client, { clock });
    const writer = { ...context.writer, reserve: client.reserve.bind(client), request: client.request.bind(client) };
    const unfenced: typeof writer = {
      ...writer,
      request: (one, { fence: _, ...options } = {}) => client.request(one, options),
    };
    const end = await perform(
      { ...context, writer: isFenced ? writer : unfenced },
      {
        mutation,
        repeatWithinMs: 86_400_000,
        ...(isCreate && { crowded: () => "crowded" }),
        record: async () => {
          recordedAt = clock.passed;
          happens();
        },
        answered: async () => "answered",
      },
    ).catch((error: unknown) => {
      if (error instanceof HostformError) return String(error.diagnostics[0]?.code);
      throw error;
    });
    await client.close();
    return { ages, end };
  }

  it("is never written later than five seconds after its record, whatever delays it", async () => {
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(drawn, async (one) => {
        const { ages, end } = await play(one);
        ends.add(end);
        expect(ages.filter((age) => !(age <= 5_000))).toEqual([]);
      }),
      { numRuns: 300 },
    );
    expect(ends, "the runs end in each way").toEqual(new Set([...ends, "answered", "api.late", "api.unreachable"]));
  });

  it("is written later without the fence", async () => {
    const found = await fc.check(
      fc.asyncProperty(drawn, async (one) => (await play(one, false)).ages.every((age) => age <= 5_000)),
      { numRuns: 300 },
    );
    expect(found.failed).toBe(true);
  });
});

describe("a create whose response is lost", () => {
  /**
   * Returns the time until the create is sent again, in milliseconds.
   * @param set Changes the wall clock before the list is read.
   */
  async function resentAfter(set: (clock: TwoClocks) => void): Promise<number> {
    const clock = new TwoClocks();
    const fake = fakeAccount(kindOf("hosting_webhook"));
    fake.isWhole = true;
    fake.now = () => clock.now();
    const sent: number[] = [];
    const writer = fakeWriter((_, nth) => {
      sent.push(clock.passed);
      if (nth > 1) return CREATES.hosting_webhook?.[1];
      set(clock);
      throw failure("maybe");
    });
    const pause = async (ms: number) => clock.stop(ms);
    const { context } = fakeRun(fake.account, writer, { clock, pause });
    await outcomeOf(fake.kind, changeOf("hosting_webhook", HOOK), context);
    const [first = 0, second = Number.NaN] = sent;
    return second - first;
  }

  it.each<[string, (clock: TwoClocks) => void]>([
    ["the wall clock is set forward by two days", (clock) => clock.step(48 * HOUR)],
  ])("is sent again when lists must show its object: %s", async (_, set) => {
    const after = await resentAfter(set);
    expect(after).toBeGreaterThanOrEqual(80_000);
    expect(after).toBeLessThan(180_000);
  });
});
