import { describe, expect, it } from "vitest";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import { JobWatch } from "../../../../src/core/lifecycle/job-watch.ts";
import type { Clock } from "../../../../src/core/model/index.ts";
import { setBackClock, testClock } from "../../../support/clock.ts";
import fc, { runs } from "../../../support/fc.ts";
import { failure, fakeAccount, kindOf, liveGrant, liveService, notFound, remote } from "../../../support/subjects.ts";

const suspended = ({ phase }: Remote) => phase === "suspended";

/** Creates a clock that advances to the end of the shortest sleep when no other task runs. `step` sets the wall clock. */
function orderedClock(): Clock & { step(ms: number): void } {
  const sleepers = new Set<{ at: number; end: () => void }>();
  let [now, wall] = [0, Date.UTC(2026, 10, 21)];
  const move = () => {
    const [next] = [...sleepers].sort((a, b) => a.at - b.at);
    if (next === undefined) return;
    sleepers.delete(next);
    now = Math.max(now, next.at);
    next.end();
  };
  return {
    now: () => wall + now,
    monotonic: () => now,
    step: (ms) => {
      wall += ms;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: now + ms, end: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => sleepers.delete(sleeper) && reject(signal.reason));
        setImmediate(() => setImmediate(move));
      }),
  };
}

/** Creates services whose suspensions complete `doneAfterMs` after their requests. */
function watched(count: number, doneAfterMs: number, timeoutMs = 300_000) {
  const clock = testClock();
  const stop = new AbortController();
  const start = clock.now();
  const fake = fakeAccount(
    kindOf("hosting_service"),
    ...Array.from({ length: count }, (_, at) => remote({ ...liveService, id: String(at) })),
  );
  // Status words, each from a time on. "active" is the only known word.
  const shows: [fromMs: number, word: string | null | undefined][] = [];
  const settle = (object: Remote): Remote => {
    const now = clock.now() - start;
    if (now >= doneAfterMs) return { ...object, phase: "suspended" };
    const shown = shows.findLast(([from]) => now >= from);
    if (shown === undefined || shown[1] === "active") return object;
    const { status: _, ...silent } = object.attributes;
    const [, word] = shown;
    return { ...object, phase: "unknown", attributes: word === undefined ? silent : { ...silent, status: word } };
  };
  const kind: Kind = {
    ...fake.kind,
    async *list(context, parent) {
      for await (const object of fake.kind.list?.(context, parent) ?? []) yield settle(object);
    },
    get: async (context, id) => {
      const found = await fake.kind.get?.(context, id);
      if (found === undefined) throw notFound();
      return settle(found);
    },
  };
  const waits: number[] = [];
  const spent: number[] = [];
  const watch = new JobWatch({
    clock,
    timeoutMs,
    stop: stop.signal,
    onWaiting: (addresses, seconds) => {
      waits.push(addresses.length);
      spent.push(seconds);
    },
  });
  const wait = (id: string) => watch.wait(fake.account, kind, "default", { address: `a.${id}`, id, done: suspended });
  return { clock, stop, start, wait, waits, spent, shows, asked: fake.asked, objects: fake.objects, kind };
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => String(at));

describe("waiting for queued jobs", () => {
  it("sends one list request per check, for a hundred jobs as for one", async () => {
    const { wait, asked, waits } = watched(100, 10_000);
    const results = await Promise.all(ids(100).map(wait));
    expect(results.every((found) => found?.phase === "suspended")).toBe(true);
    expect(new Set(asked)).toEqual(new Set(["list"]));
    expect(asked.length).toBeLessThan(10);
    expect(asked.length).toBe(waits.length);
    expect(waits[0]).toBe(100);
  });

  it("does not take longer if the clock is set back", async () => {
    const { kind } = watched(1, 60_000);
    const clock = setBackClock();
    const { account } = fakeAccount(kindOf("hosting_service"), remote({ ...liveService, id: "0" }));
    const watch = new JobWatch({ clock, timeoutMs: 7_000, stop: new AbortController().signal });
    expect(await watch.wait(account, kind, "default", { address: "a.0", id: "0", done: () => false })).toBeUndefined();
    expect(clock.monotonic()).toBeLessThan(20_000);
  });

  it("asks before each check, reports a gap since the last check, and reads nothing without permission", async () => {
    const { clock, kind, asked } = watched(1, 60_000);
    const fake = fakeAccount(kindOf("hosting_service"), remote({ ...liveService, id: "0" }));
    const gaps: boolean[] = [];
    let wokeAt = Number.NEGATIVE_INFINITY;
    const mayLook = async (isGap: boolean) => {
      gaps.push(isGap);
      // The process wakes soon after the first check.
      if (gaps.length === 1) wokeAt = clock.monotonic() + 1;
      return gaps.length < 4;
    };
    const woken = { ...clock, wokeAt: () => wokeAt };
    const watch = new JobWatch({ clock: woken, timeoutMs: 300_000, stop: new AbortController().signal, mayLook });
    const found = await watch.wait(fake.account, kind, "default", { address: "a.0", id: "0", done: () => false });
    expect(found).toBeUndefined();
    expect(gaps).toEqual([false, true, false, false]);
    expect(asked).toHaveLength(3);
  });

  it("takes as long as the job's own limit allows", async () => {
    const { clock, start, kind } = watched(1, 60_000);
    const fake = fakeAccount(kindOf("hosting_service"), remote({ ...liveService, id: "0" }));
    const watch = new JobWatch({ clock, timeoutMs: 300_000, stop: new AbortController().signal });
    const never = { address: "a.0", id: "0", done: () => false, timeoutMs: 7_000 };
    expect(await watch.wait(fake.account, kind, "default", never)).toBeUndefined();
    expect(clock.now() - start).toBe(7_000);
  });

  it("reads a single job directly", async () => {
    const { wait, asked } = watched(3, 2_000);
    expect((await wait("1"))?.id).toBe("1");
    expect(new Set(asked)).toEqual(new Set(["get 1"]));
  });

  it("grows the pauses up to ten seconds", async () => {
    const { wait, asked, clock, start } = watched(1, 60_000);
    await wait("0");
    expect(asked.length).toBeLessThan(20);
    expect(clock.now() - start).toBeLessThan(60_000 + 10_000);
  });

  it("ends at its deadline within a second, however many jobs wait and however slow the host is", async () => {
    const limits = fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(limits, fc.integer({ min: 0, max: 60_000 }), fc.boolean(), async (timeouts, answerMs, obeys) => {
        const clock = orderedClock();
        const fake = fakeAccount(
          kindOf("hosting_service"),
          ...timeouts.map((_, at) => remote({ ...liveService, id: String(at) })),
        );
        const answer = (signal?: AbortSignal) => clock.sleep(answerMs, obeys ? signal : undefined);
        const kind: Kind = {
          ...fake.kind,
          async *list(context, parent) {
            await answer(context.signal);
            yield* fake.kind.list?.(context, parent) ?? [];
          },
          get: async (context, id) => {
            await answer(context.signal);
            return (await fake.kind.get?.(context, id)) ?? Promise.reject(notFound());
          },
        };
        const watch = new JobWatch({ clock, timeoutMs: 1, stop: new AbortController().signal });
        const start = clock.monotonic();
        const waits = timeouts.map(async (timeoutMs, at) => {
          const job = { address: `a.${at}`, id: String(at), done: () => false, timeoutMs };
          expect(await watch.wait(fake.account, kind, "default", job)).toBeUndefined();
          const late = clock.monotonic() - start - timeoutMs;
          expect(late).toBeGreaterThanOrEqual(0);
          expect(late).toBeLessThan(1_000);
        });
        await Promise.all(waits);
      }),
      { numRuns: runs(200) },
    );
  });

  it("is neither ended nor extended by a step of the wall clock", async () => {
    for (const step of [-3_600_000, 3_600_000]) {
      const clock = orderedClock();
      const fake = fakeAccount(kindOf("hosting_service"), remote({ ...liveService, id: "0" }));
      const watch = new JobWatch({ clock, timeoutMs: 12_000, stop: new AbortController().signal });
      const start = clock.monotonic();
      const waiting = watch.wait(fake.account, fake.kind, "default", { address: "a.0", id: "0", done: () => false });
      clock.step(step);
      expect(await waiting).toBeUndefined();
      expect(clock.monotonic() - start).toBe(12_000);
    }
  });

  it.each([1])("ends with the object if its status stays unknown (%i)", async (count) => {
    const { wait, clock, start, shows } = watched(count, Number.POSITIVE_INFINITY);
    shows.push([1_000, "PARKED_BY_OWNER"]);
    const found = await Promise.all(ids(count).map(wait));
    expect(found.map((remote) => [remote?.phase, remote?.attributes.status])).toEqual(
      ids(count).map(() => ["unknown", "PARKED_BY_OWNER"]),
    );
    expect(clock.now() - start).toBeGreaterThanOrEqual(11_000);
    expect(clock.now() - start).toBeLessThan(30_000);
  });

  it("continues through the words of a running job, known or unknown", async () => {
    const { wait, shows } = watched(1, 40_000);
    // Each unknown word lasts less than ten seconds, or appears again after another word.
    shows.push(
      [500, "SUSPENDING_NOW"],
      [8_000, "active"],
      [16_000, "SUSPENDING_NOW"],
      [24_000, "STEP_2"],
      [32_000, "active"],
    );
    expect((await wait("0"))?.phase).toBe("suspended");
  });

  it("ends at its deadline with an unknown status", async () => {
    const { wait, shows } = watched(1, Number.POSITIVE_INFINITY, 5_000);
    shows.push([500, "ODD"]);
    expect((await wait("0"))?.attributes.status).toBe("ODD");
  });

  it.each([undefined])("treats a missing status (%j) not as an unknown status", async (none) => {
    const { wait, shows, clock, start } = watched(1, Number.POSITIVE_INFINITY);
    shows.push([500, none]);
    expect((await wait("0"))?.phase).toBe("unknown");
    expect(clock.now() - start).toBeLessThan(30_000);
  });

  it("continues through a sequence of unknown words", async () => {
    const { wait, shows } = watched(1, 40_000);
    shows.push([500, "STEP_1"], [8_000, "STEP_2"], [16_000, "STEP_3"], [24_000, "STEP_4"], [32_000, "STEP_5"]);
    expect((await wait("0"))?.phase).toBe("suspended");
  });

  it("ends after ten seconds of the same unknown word", async () => {
    const { wait, shows, clock, start, asked } = watched(1, Number.POSITIVE_INFINITY);
    // The checks are ten seconds apart by then, so two consecutive checks read this word.
    shows.push([20_000, "ODD"]);
    await wait("0");
    expect(clock.now() - start).toBeLessThan(40_000);
    expect(asked).toHaveLength(9);
  });

  it.each([1, 500])("checks once if its deadline is before the first check, and never again", async (ms) => {
    const { wait, asked, clock } = watched(1, Number.POSITIVE_INFINITY, ms);
    expect(await wait("0")).toBeUndefined();
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect(asked).toEqual(["get 0"]);
    expect(clock.slept).toBe(ms);
  });

  it("sends no further request when all jobs have ended", async () => {
    const { wait, asked } = watched(2, 0);
    await Promise.all([wait("0"), wait("1")]);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect(asked).toEqual(["list"]);
  });

  it("reads a single object directly once if it no longer exists", async () => {
    const { wait, objects, asked } = watched(1, Number.POSITIVE_INFINITY);
    objects.clear();
    await wait("0");
    expect(asked.filter((each) => each === "get 0")).toHaveLength(1);
  });

  it("reads the collection of the parent", async () => {
    const clock = testClock();
    const fake = fakeAccount(kindOf("hosting_grant"), remote({ ...liveGrant, service_id: "1" }));
    const { get: _, ...kind } = fake.kind;
    const watch = new JobWatch({ clock, timeoutMs: 1_000, stop: new AbortController().signal });
    const of = (parent: string) =>
      watch.wait(fake.account, kind, "default", { address: parent, id: "301", done: () => true }, parent);
    await Promise.all([of("1"), of("2")]);
    expect([...new Set(fake.asked)].sort()).toEqual(["list 1", "list 2"]);
  });

  it("ends at once when the run stops, and before it starts", async () => {
    const { wait, stop, asked } = watched(1, Number.POSITIVE_INFINITY);
    const waiting = wait("0");
    stop.abort();
    expect(await waiting).toBeUndefined();
    expect(await wait("0")).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("ends for a cancelled job, and continues for the others", async () => {
    const clock = testClock();
    const fake = fakeAccount(kindOf("hosting_service"), ...["0", "1"].map((id) => remote({ ...liveService, id })));
    const watch = new JobWatch({ clock, timeoutMs: 5_000, stop: new AbortController().signal });
    const own = new AbortController();
    const of = (id: string, more: { stop?: AbortSignal } = {}) =>
      watch.wait(fake.account, fake.kind, "default", { address: id, id, done: () => false, ...more });
    const [stopped, other] = [of("0", { stop: own.signal }), of("1")];
    own.abort();
    expect(await stopped).toBeUndefined();
    expect(fake.asked).toEqual([]);
    expect(await other).toBeUndefined();
    expect(new Set(fake.asked)).toEqual(new Set(["get 1"]));
    fake.asked.length = 0;
    expect(await of("0", { stop: own.signal })).toBeUndefined();
    const alone = new AbortController();
    const last = of("0", { stop: alone.signal });
    alone.abort();
    await last;
    await clock.sleep(20_000);
    expect(fake.asked).toEqual([]);
  });

  it("reports its duration in seconds", async () => {
    const { wait, clock, start, spent } = watched(1, 2_000);
    await wait("0");
    expect(spent).toEqual([0.5, 1.25, 2.375]);
    expect(clock.now() - start).toBe(2_375);
  });

  it("ends without a result when the run stops during a check, and the job continues", async () => {
    const { wait, stop, kind } = watched(2, Number.POSITIVE_INFINITY);
    (kind as { list: unknown }).list = () => {
      stop.abort();
      throw failure("no");
    };
    expect(await Promise.all([wait("0"), wait("1")])).toEqual([undefined, undefined]);
  });

  it("fails for all jobs if the account cannot be read, and may be repeated", async () => {
    const { wait, kind } = watched(2, 0);
    const list = kind.list;
    let looks = 0;
    (kind as { list: unknown }).list = () => {
      looks += 1;
      throw failure("no");
    };
    const results = await Promise.allSettled([wait("0"), wait("1")]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect(looks, "nobody waits any longer").toBe(1);
    (kind as { list: unknown }).list = list;
    expect((await Promise.all([wait("0"), wait("1")])).map((found) => found?.phase)).toEqual([
      "suspended",
      "suspended",
    ]);
  });
});
