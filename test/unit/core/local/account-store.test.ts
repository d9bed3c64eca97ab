/**
 * Contract of a store: each implementation passes the same suite. Several stores of one machine represent several
 * processes.
 */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type AccountStore,
  type LeavingCreate,
  MemoryStore,
  MemoryTables,
  SqliteStore,
  type Turn,
  type TurnHolder,
} from "../../../../src/core/local/index.ts";
import type { Clock } from "../../../../src/core/model/index.ts";
import { START, type TestClock, testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { describeWith } from "../../../support/needing.ts";
import { openPgStore } from "../../../support/pg-stores.ts";
import { type Postgres, startPostgres } from "../../../support/postgres.ts";
import { POSTGRES, type Program } from "../../../support/programs.ts";

interface Machine {
  readonly clock: TestClock;
  readonly waits: TurnHolder[];
  readonly takenOver: TurnHolder[];
  /** Resolves when the processes have had time for a few steps. */
  moment(): Promise<unknown>;
  /**
   * Opens the store of another process.
   * @param clock The clock of this process. Default: the machine's clock.
   */
  open(clock?: Clock): AccountStore;
}

let postgres: Postgres | undefined;
let connection = "";

const IMPLEMENTATIONS: readonly (readonly [name: string, machine: () => Machine, ...needs: Program[]])[] = [
  [
    "in memory",
    () => {
      const tables = new MemoryTables();
      const clock = testClock();
      const [waits, takenOver]: [TurnHolder[], TurnHolder[]] = [[], []];
      const open = (own: Clock = clock) => {
        const onWaiting = (one: TurnHolder) => void waits.push(one);
        const onTakenOver = (one: TurnHolder) => void takenOver.push(one);
        return new MemoryStore({ clock: own, tables, onWaiting, onTakenOver });
      };
      return { clock, waits, takenOver, open, moment: () => setTimeout(5) };
    },
  ],
  [
    "in a file",
    () => {
      const file = path.join(temporaryFolder(), "origin.store");
      const clock = testClock();
      const [waits, takenOver]: [TurnHolder[], TurnHolder[]] = [[], []];
      const open = (own: Clock = clock) => {
        const onWaiting = (one: TurnHolder) => void waits.push(one);
        const onTakenOver = (one: TurnHolder) => void takenOver.push(one);
        const store = new SqliteStore(() => file, { account: "a", clock: own, soonMs: 0, onWaiting, onTakenOver });
        onTestFinished(() => store.close());
        return store;
      };
      return { clock, waits, takenOver, open, moment: () => setTimeout(5) };
    },
  ],
  [
    "in PostgreSQL",
    () => {
      const clock = testClock(START, () => setTimeout(5));
      const [waits, takenOver]: [TurnHolder[], TurnHolder[]] = [[], []];
      const origin = randomUUID();
      const open = (own: Clock = clock) =>
        openPgStore(connection, {
          ...{ account: `a of ${origin}`, origin, clock: own, server: clock },
          onWaiting: (one) => void waits.push(one),
          onTakenOver: (one) => void takenOver.push(one),
        });
      return { clock, waits, takenOver, open, moment: () => setTimeout(200) };
    },
    POSTGRES,
  ],
];

const RUN = { project: "acme", place: "state 1" };
/** Time of the creates. */
const AT = Date.UTC(2026, 10, 21, 9);

const intent = (more: Partial<LeavingCreate> = {}): LeavingCreate => ({
  id: "1",
  place: "state 1",
  thing: "www",
  at: AT + 1_000,
  ...more,
});

/** The clock of a stopped process, which renews no sign of life. */
const stoppedClock = (clock: Clock): Clock => ({ ...clock, sleep: (_, signal) => rejection(signal) });

/** The clock of a process that polls about once a second, because its short sleeps take that long. */
const slowClock = (clock: Clock): Clock => ({
  ...clock,
  sleep: (ms, signal) => clock.sleep(Math.max(ms, 900), signal),
});

/**
 * Takes the turn and keeps it.
 * @returns the turn, and a function that releases it.
 */
function hold(store: AccountStore, project = "shop"): Promise<{ turn: Turn; giveBack: () => Promise<void> }> {
  return new Promise((resolve) => {
    const ended = store.withTurn({ project, place: "state 1" }, async (turn) => {
      const { promise, resolve: free } = Promise.withResolvers<void>();
      const giveBack = () => {
        free();
        return ended;
      };
      resolve({ turn, giveBack });
      await promise;
    });
  });
}

/** Sleeps until the signal aborts. */
const rejection = (signal: AbortSignal | undefined) =>
  new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

/** Creates an object in its own turn. */
async function create(
  store: AccountStore,
  one: LeavingCreate,
  end: "answer" | "unsent" | "nothing" = "answer",
): Promise<void> {
  await store.withTurn(RUN, async (turn) => {
    await store.leave(turn, one);
    if (end !== "nothing") await store[end](one);
  });
}

for (const [name, machineOf, ...needs] of IMPLEMENTATIONS)
  describeWith(...needs)(`a store ${name}`, () => {
    beforeAll(async () => {
      if (needs.length === 0) return;
      postgres = await startPostgres();
      connection = await postgres.database();
    }, 60_000);
    afterAll(async () => {
      await postgres?.stop();
      postgres = undefined;
    });

    describe("create lock", () => {
      it("runs the creates of one process simultaneously", async () => {
        const { open, moment } = machineOf();
        const store = open();
        let inside = 0;
        let most = 0;
        const one = () =>
          store.withTurn(RUN, async () => {
            inside += 1;
            most = Math.max(most, inside);
            await moment();
            inside -= 1;
          });
        await Promise.all([one(), one(), one()]);
        expect(most).toBe(3);
      });

      it("gives the lock to a waiting process before the holder takes the lock again", async () => {
        const { open, clock, moment } = machineOf();
        // The holder's pause takes as long as the steps of the waiting process.
        const sleep: Clock["sleep"] = (ms, signal) => moment().then(() => clock.sleep(ms, signal));
        const [a, b] = [open({ ...clock, sleep }), open()];
        const order: string[] = [];
        let waiting: Promise<void> = Promise.resolve();
        await a.withTurn(RUN, async () => {
          waiting = b.withTurn(RUN, async () => void order.push("b"));
          await moment();
        });
        await Promise.all([a.withTurn(RUN, async () => void order.push("a")), waiting]);
        expect(order).toEqual(["b", "a"]);
      });

      it("does not extend the pause for other processes if the clock is set back", async () => {
        const { open, clock, moment } = machineOf();
        const [a, b] = [open(), open()];
        let waiting: Promise<void> = Promise.resolve();
        await a.withTurn(RUN, async () => {
          waiting = b.withTurn(RUN, async () => {});
          await moment();
        });
        await waiting;
        clock.advance(-3_600_000);
        const { slept } = clock;
        await a.withTurn(RUN, async () => {});
        expect(clock.slept - slept).toBeLessThan(1_000);
      });

      it("gives the lock to a waiting process between many creates of another process", async () => {
        const { open, moment } = machineOf();
        const [a, b] = [open(), open()];
        let done = 0;
        let doneBefore: number | undefined;
        const ten = async () => {
          for (let nth = 0; nth < 10; nth++)
            await a.withTurn(RUN, async () => {
              await moment();
              done += 1;
            });
        };
        const hundred = Array.from({ length: 10 }, ten);
        await b.withTurn(RUN, async () => {
          doneBefore = done;
        });
        await Promise.all(hundred);
        expect(doneBefore).toBeLessThan(60);
      });

      it("reports the holder once, after five seconds of waiting", async () => {
        const { open, waits, clock, moment } = machineOf();
        const since = clock.now();
        let free = () => {};
        const holds = open().withTurn(
          { project: "shop", place: "" },
          () =>
            new Promise<void>((resolve) => {
              free = resolve;
            }),
        );
        await moment();
        const waiting = open(slowClock(clock)).withTurn(RUN, async () => {});
        while (clock.now() - since < 12_000) await setTimeout(1);
        free();
        await Promise.all([holds, waiting]);
        expect(waits).toEqual([
          expect.objectContaining({ pid: process.pid, project: "shop", since: expect.any(Number) }),
        ]);
        expect((waits[0]?.since ?? 0) - since).toBeLessThan(1_000);
      });

      it("ends the wait with the signal's reason and begins no work", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        const stop = new AbortController();
        let began = false;
        await a.withTurn(RUN, async () => {
          const waiting = b.withTurn({ ...RUN, signal: stop.signal }, async () => {
            began = true;
          });
          stop.abort(new Error("stopped"));
          await expect(waiting).rejects.toThrow("stopped");
        });
        expect(began).toBe(false);
        await a.withTurn(RUN, async () => {});
      });

      it("keeps the lock for one create if another create of the process stops waiting", async () => {
        const { open, clock } = machineOf();
        const [a, b, c] = [open(), open(), open()];
        const stop = new AbortController();
        const sleeps = vi.spyOn(clock, "sleep").mockImplementation((_, signal) => rejection(signal));
        const polls = () => sleeps.mock.calls.filter(([ms]) => ms < 5_000);
        let waiting: Promise<void> = Promise.resolve();
        await a.withTurn(RUN, async () => {
          waiting = b.withTurn({ ...RUN, signal: stop.signal }, async () => {});
          await vi.waitFor(() => expect(polls()).toHaveLength(1));
        });
        await b.withTurn(RUN, async (turn) => {
          stop.abort(new Error("stopped"));
          // A notification may have let it in before.
          await waiting.catch((error) => expect(error.message).toBe("stopped"));
          const end = new AbortController();
          const other = c.withTurn({ ...RUN, signal: end.signal }, async () =>
            expect.fail("two processes have the turn"),
          );
          await vi.waitFor(() => expect(polls()).toHaveLength(2));
          end.abort(new Error("ended"));
          await expect(other).rejects.toThrow("ended");
          await b.leave(turn, intent());
        });
      });

      it("takes the lock from a process without a heartbeat for one minute and reports it", async () => {
        const { open, clock, takenOver, waits } = machineOf();
        const frozen = open(stoppedClock(clock));
        const { turn } = await hold(frozen);
        await frozen.leave(turn, intent());
        const before = clock.monotonic();
        const other = open(slowClock(clock));
        await other.withTurn(RUN, async ({ isTakenOver, epoch }) => {
          expect(isTakenOver).toBe(true);
          expect(epoch).toBe(turn.epoch + 1);
          expect(clock.monotonic() - before).toBeGreaterThanOrEqual(60_000);
          expect(clock.monotonic() - before).toBeLessThan(62_000);
          expect(await other.newest({ thing: "www" })).toMatchObject({ state: "unknown" });
        });
        expect(takenOver).toMatchObject([{ pid: process.pid, project: "shop" }]);
        expect(waits).toHaveLength(1);
      });

      it("rejects creates of a process that lost the lock while frozen, and records its late response", async () => {
        const { open, clock } = machineOf();
        const [frozen, b, c] = [open(stoppedClock(clock)), open(slowClock(clock)), open()];
        const { turn, giveBack } = await hold(frozen);
        await frozen.leave(turn, intent());
        const held = await hold(b);
        await expect(frozen.leave(turn, intent({ id: "2" }))).rejects.toMatchObject({
          diagnostics: [{ code: "store.turn_lost" }],
        });
        await frozen.answer(intent());
        await giveBack();
        await b.leave(held.turn, intent({ id: "3", thing: "shop" }));
        await held.giveBack();
        await frozen.close();
        await c.withTurn(RUN, async () =>
          expect(await c.newest({ thing: "www" })).toMatchObject({ state: "answered" }),
        );
      });

      it("takes a lost lock again, even during an earlier create of the process", async () => {
        const { open, clock } = machineOf();
        const [frozen, b] = [open(stoppedClock(clock)), open(slowClock(clock))];
        const { turn, giveBack } = await hold(frozen);
        const held = await hold(b);
        await expect(frozen.leave(turn, intent())).rejects.toMatchObject({
          diagnostics: [{ code: "store.turn_lost" }],
        });
        await held.giveBack();
        clock.advance(1_000);
        await frozen.withTurn(RUN, async (again) => {
          expect(again.epoch).toBeGreaterThan(held.turn.epoch);
          await giveBack();
          await frozen.leave(again, intent());
        });
        await create(open(), intent({ id: "5" }));
      });

      it("never takes the lock from a live process that waits long for a response", async () => {
        const { open, clock, takenOver } = machineOf();
        const a = open();
        const { turn, giveBack } = await hold(a);
        let began = false;
        const waiting = open(slowClock(clock)).withTurn(RUN, async () => {
          began = true;
        });
        while (clock.monotonic() < 200_000) await new Promise((resolve) => setImmediate(resolve));
        expect(began).toBe(false);
        await a.leave(turn, intent());
        await giveBack();
        await waiting;
        expect(takenOver).toEqual([]);
      });

      it("counts the minute from the end of the waiting process's own freeze", async () => {
        const { open, clock } = machineOf();
        await hold(open(stoppedClock(clock)));
        const own = testClock();
        let sleeps = 0;
        const sleep: Clock["sleep"] = async (ms, signal) => {
          sleeps += 1;
          if (sleeps === 2) own.advance(59_000);
          await own.sleep(ms, signal);
        };
        await open(slowClock({ ...own, sleep })).withTurn(RUN, async () => {});
        expect(own.monotonic()).toBeGreaterThanOrEqual(60_000 + 60_000);
        expect(own.monotonic()).toBeLessThan(122_000);
      });

      it("counts the minute correctly while the wall clock is set back and forth", async () => {
        const { open, clock } = machineOf();
        await hold(open(stoppedClock(clock)));
        const own = testClock();
        let step = 3_600_000;
        const now = () => {
          step = -step;
          return own.now() + step;
        };
        await open(slowClock({ ...own, now })).withTurn(RUN, async () => {});
        expect(own.monotonic()).toBeLessThan(62_000);
      });

      it("names the holder and ends the wait after the timeout", async () => {
        const { open, clock } = machineOf();
        const since = new Date(clock.now()).toISOString();
        const { giveBack } = await hold(open());
        const before = clock.monotonic();
        const waiting = open(slowClock(clock)).withTurn({ ...RUN, timeoutMs: 18_000 }, async () =>
          expect.fail("it has no turn"),
        );
        await expect(waiting).rejects.toMatchObject({
          diagnostics: [
            {
              code: "store.turn",
              summary: `Process ${process.pid} (project shop) has held the create lock since ${since}`,
              detail: expect.stringContaining("for 18 s"),
            },
          ],
        });
        expect(clock.monotonic() - before).toBeLessThan(19_000);
        await giveBack();
        await open().withTurn(RUN, async () => {});
      });

      it("releases the lock if the work fails", async () => {
        const { open } = machineOf();
        await expect(open().withTurn(RUN, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
        await expect(open().withTurn(RUN, async () => "yes")).resolves.toBe("yes");
      });

      it("does not record a create after another process has had the lock", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        const lost = await a.withTurn(RUN, async (turn) => turn);
        await b.withTurn(RUN, async () => {});
        await expect(a.leave(lost, intent())).rejects.toMatchObject({ diagnostics: [{ code: "store.turn_lost" }] });
      });
    });

    describe("intents", () => {
      it("returns no create to its own process", async () => {
        const store = machineOf().open();
        await create(store, intent());
        await store.withTurn(RUN, async (turn) => {
          expect(turn.isNewerThan(0)).toBe(false);
          expect(await store.newest({ thing: "www" })).toBeUndefined();
        });
      });

      it("returns a create to the next process with its state and time", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent());
        await b.withTurn(RUN, async (turn) => {
          expect(turn.isNewerThan(0)).toBe(true);
          const found = await b.newest({ thing: "www", place: "state 1" });
          expect(found).toMatchObject({ at: AT + 1_000, state: "answered", isOwn: true });
          expect((await b.newest({ thing: "www", place: "state 2" }))?.isOwn).toBe(false);
          expect(await b.newest({ thing: "shop" })).toBeUndefined();
        });
      });

      it("counts a create with a response after the count", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        let count = 0;
        await a.withTurn(RUN, async (turn) => {
          await a.leave(turn, intent());
          count = await b.count();
          await a.answer(intent());
        });
        await b.withTurn(RUN, async (turn) => {
          expect(turn.isNewerThan(count)).toBe(true);
          expect(await b.newest({ after: count })).toBeDefined();
        });
        const after = await b.count();
        await b.withTurn(RUN, async (turn) => expect(turn.isNewerThan(after)).toBe(false));
      });

      it("treats lists as outdated if their count is higher than the store's count", async () => {
        await machineOf()
          .open()
          .withTurn(RUN, async (turn) => expect(turn.isNewerThan(1_000)).toBe(true));
      });

      it("removes a create that certainly created nothing", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent(), "unsent");
        await b.withTurn(RUN, async () => expect(await b.newest({})).toBeUndefined());
      });

      it("returns a create without a response as unknown to all states except its own", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent(), "nothing");
        const count = await b.count();
        await b.withTurn(RUN, async (turn) => {
          expect(turn.isNewerThan(count)).toBe(true);
          expect(await b.newest({ state: "unknown", notOf: "state 2" })).toMatchObject({
            at: AT + 1_000,
            state: "unknown",
          });
          expect(await b.newest({ state: "unknown", notOf: "state 1" })).toBeUndefined();
        });
      });

      it("never treats a create for a state without a mark as the own state's create", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent({ place: "" }), "nothing");
        await b.withTurn(RUN, async () => {
          expect(await b.newest({ state: "unknown", notOf: "" })).toBeDefined();
          expect(await b.newest({ thing: "www", place: "" })).toMatchObject({ isOwn: false });
        });
      });

      it("treats a create as the own state's create if the moved state contains its intent", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        const one = intent({ place: "state 1" });
        await create(a, one);
        await b.withTurn(RUN, async () => {
          expect(await b.newest({ thing: "www", place: "state 2", intent: one.id })).toMatchObject({ isOwn: true });
          expect(await b.newest({ thing: "www", place: "state 2", intent: "other" })).toMatchObject({ isOwn: false });
        });
      });

      it("records a response that arrives after another process has taken the lock", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent(), "nothing");
        await b.withTurn(RUN, async () => {});
        await a.answer(intent());
        await a.close();
        await b.withTurn(RUN, async () =>
          expect(await b.newest({ thing: "www" })).toMatchObject({ state: "answered" }),
        );
      });

      it("keeps a create without a response after a rejected second attempt under a later lock", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent(), "nothing");
        await create(a, intent({ at: AT + 2_000 }), "unsent");
        await b.withTurn(RUN, async () =>
          expect(await b.newest({ state: "unknown", notOf: "state 2" })).toMatchObject({ at: AT + 1_000 }),
        );
      });

      it("returns a create once although it was sent twice", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await a.withTurn(RUN, async (turn) => {
          await a.leave(turn, intent({ at: AT + 1_000 }));
          await a.leave(turn, intent({ at: AT + 2_000 }));
        });
        await a.answer(intent({ at: AT + 2_000 }));
        await a.close();
        await b.withTurn(RUN, async () => {
          expect(await b.newest({ state: "unknown" })).toBeUndefined();
          expect(await b.newest({ thing: "www" })).toMatchObject({ at: AT + 2_000 });
        });
      });

      it("returns the newest create of a likeness by another state after a count", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await create(a, intent({ id: "1", thing: "x", likeness: "vps", at: AT + 5_000 }));
        const count = await b.count();
        await create(a, intent({ id: "2", thing: "y", likeness: "vps", at: AT + 4_000 }));
        await b.withTurn(RUN, async () => {
          expect(await b.newest({ likeness: "vps", notOf: "state 2" })).toMatchObject({ at: AT + 5_000 });
          expect(await b.newest({ likeness: "vps", notOf: "state 2", after: count })).toMatchObject({ at: AT + 4_000 });
          expect(await b.newest({ likeness: "vps", notOf: "state 1" })).toBeUndefined();
          expect(await b.newest({ thing: "vps" })).toBeUndefined();
        });
      });
    });

    describe("notes", () => {
      const note = (name: string, value: unknown = {}) => ({ list: "entries", name, value: value as never });

      it("returns written notes by list and by name", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        await a.note([note("b", { n: 1 }), note("a", [2]), { list: "others", name: "a", value: 3 }]);
        expect(await b.notes("entries")).toEqual([note("a", [2]), note("b", { n: 1 })]);
        expect(await b.notes("entries", "b")).toEqual([note("b", { n: 1 })]);
        expect(await b.notes("entries", "c")).toEqual([]);
        await b.note([note("b", { n: 2 })]);
        expect(await a.notes("entries", "b")).toEqual([note("b", { n: 2 })]);
      });

      it("writes notes that must be absent only if none of them exists", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        expect(await a.note([note("a", 1)], { when: "absent" })).toEqual([]);
        expect(await b.note([note("b", 2), note("a", 2)], { when: "absent" })).toEqual([note("a", 1)]);
        expect(await b.notes("entries")).toEqual([note("a", 1)]);
      });

      it("lets only one of two processes write a note that must be absent", async () => {
        const { open } = machineOf();
        const stores = [open(), open(), open()];
        const found = await Promise.all(stores.map((store, i) => store.note([note("a", i)], { when: "absent" })));
        expect(found.filter((one) => one.length === 0)).toHaveLength(1);
      });

      it("writes notes that must be present only over existing ones", async () => {
        const store = machineOf().open();
        await store.note([note("a", 1)]);
        await store.note([note("a", 2), note("b", 2)], { when: "present" });
        expect(await store.notes("entries")).toEqual([note("a", 2)]);
      });

      it("removes notes", async () => {
        const { open } = machineOf();
        const store = open();
        await store.note([note("a"), note("b")]);
        await store.forget([note("a"), note("c")]);
        expect(await open().notes("entries")).toEqual([note("b")]);
      });
    });

    describe("holdings", () => {
      const one = { mark: "1", label: "hosting.tfstate in /srv/acme" };
      const two = { mark: "2", label: "hosting.tfstate in /srv/shop" };
      const www = { type: "hosting_service", parent: "", id: "1001", name: "www.example", instances: 1 };
      const shop = { type: "hosting_grant", parent: "1001", id: "7", address: "hosting_grant.dev", instances: 2 };

      it("returns the holdings of each state to all processes", async () => {
        const { open, clock } = machineOf();
        const [a, b] = [open(), open()];
        const at = clock.now();
        const intended = { ...www, generation: 2, intent: "i1" };
        await a.see(one, "run 1", [intended, shop]);
        await b.see(two, "run 2", [www]);
        const seen = { firstSeen: at, lastSeen: at, isFirm: true };
        expect(await b.holdings({ place: "1" })).toEqual(
          expect.arrayContaining([
            { ...shop, place: one, ...seen },
            { ...intended, place: one, ...seen },
          ]),
        );
        expect(await b.holdings({ notOf: "1" })).toEqual([{ ...www, place: two, ...seen }]);
        expect(await b.holdings({})).toHaveLength(3);
        expect(await b.holdings({ place: "3" })).toEqual([]);
      });

      it("keeps the first time, takes the newest facts, and renames a state that moved", async () => {
        const { open, clock } = machineOf();
        const store = open();
        const firstSeen = clock.now();
        await store.see(one, "run 1", [www]);
        clock.advance(5_000);
        const moved = { mark: "1", label: "hosting.tfstate in /srv/other" };
        await store.see(moved, "run 2", [{ ...www, instances: 2 }]);
        expect(await store.holdings({})).toEqual([
          { ...www, instances: 2, place: moved, firstSeen, lastSeen: clock.now(), isFirm: true },
        ]);
      });

      it("keeps the intent of an object after a run without that intent", async () => {
        const { open } = machineOf();
        const store = open();
        await store.see(one, "apply", [{ ...www, intent: "i1" }]);
        await store.see(one, "plan", [{ ...www, instances: 2 }]);
        expect(await store.holdings({})).toMatchObject([{ id: "1001", intent: "i1", instances: 2 }]);
        await store.see(one, "apply", [{ ...www, intent: "i2" }]);
        expect(await store.holdings({})).toMatchObject([{ intent: "i2", instances: 1 }]);
      });

      it("removes released objects of one state and keeps the same object of another state", async () => {
        const { open } = machineOf();
        const store = open();
        await store.see(one, "run 1", [www, shop]);
        await store.see(two, "run 2", [www]);
        await store.release("1", [www, { ...shop, id: "8" }]);
        expect(await store.holdings({})).toMatchObject([
          { id: "7", place: one },
          { id: "1001", place: two },
        ]);
      });

      it("marks objects as not firm if a run over the whole state does not find them, until a run finds them again", async () => {
        const { open, clock } = machineOf();
        const [a, b] = [open(), open()];
        const firstSeen = clock.now();
        await a.see(one, "run 1", [www, shop]);
        await a.endRun("1", "run 1", clock.now());
        clock.advance(1_000);
        await b.see(one, "run 2", [shop]);
        await b.endRun("1", "run 2", clock.now());
        const held = await a.holdings({ place: "1" });
        expect(held.find(({ id }) => id === "1001")).toMatchObject({ isFirm: false, lastSeen: firstSeen });
        expect(held.find(({ id }) => id === "7")).toMatchObject({ isFirm: true, lastSeen: clock.now() });
        clock.advance(1_000);
        await a.see(one, "run 3", [www]);
        expect((await b.holdings({})).find(({ id }) => id === "1001")).toMatchObject({
          isFirm: true,
          firstSeen,
          lastSeen: clock.now(),
        });
      });

      it("keeps objects firm that another process recorded after the beginning of the run", async () => {
        const { open, clock } = machineOf();
        const [plan, apply] = [open(), open()];
        await plan.see(one, "plan", [www]);
        const since = clock.now();
        clock.advance(1_000);
        await apply.see(one, "apply", [shop]);
        await plan.endRun("1", "plan", since);
        expect(await plan.holdings({})).toMatchObject([{ isFirm: true }, { isFirm: true }]);
      });

      it("marks an object as not firm if its process released it and did not find it again in the run", async () => {
        const { open, clock } = machineOf();
        const [a, b] = [open(), open()];
        await a.see(one, "run", [www]);
        await a.release("1", [www]);
        await b.see(one, "other", [www]);
        clock.advance(1_000);
        await a.endRun("1", "run", clock.now());
        expect(await a.holdings({})).toMatchObject([{ isFirm: false }]);
      });

      it("removes objects that no run has found for 90 days", async () => {
        const { open, clock } = machineOf();
        const store = open();
        await store.see(one, "run 1", [www, shop]);
        clock.advance(89 * 86_400_000);
        await store.see(one, "run 2", [shop]);
        clock.advance(86_400_000);
        expect(await store.holdings({})).toMatchObject([{ id: "7" }]);
        await store.close();
        expect(await open().holdings({})).toMatchObject([{ id: "7" }]);
      });

      it("keeps unchanged objects that each run finds", async () => {
        const { open, clock } = machineOf();
        const store = open();
        for (let day = 0; day < 100; day += 10) {
          await store.see(one, "run", [www]);
          clock.advance(10 * 86_400_000);
        }
        await store.close();
        expect(await open().holdings({})).toHaveLength(1);
      });
    });

    describe("requests", () => {
      it("counts the requests of all processes", async () => {
        const { open } = machineOf();
        const [a, b] = [open(), open()];
        for (let i = 0; i < 30; i++) await a.requests.reserve(i, 60);
        for (let i = 0; i < 30; i++) await b.requests.reserve(i, 60);
        expect(await a.requests.reserve(100, 60)).toMatchObject({ why: { cause: "budget", own: 30, others: 30 } });
      });
    });

    it("lowers the later times of the creates up to a count, and keeps the earlier times and the later creates", async () => {
      const { open } = machineOf();
      const [a, b] = [open(), open()];
      await create(a, intent({ id: "1", thing: "early", at: AT }));
      await create(a, intent({ id: "2", thing: "ahead", at: AT + 5_000 }));
      const count = await b.count();
      await create(a, intent({ id: "3", thing: "after", at: AT + 5_000 }));
      await b.sentBefore(AT + 1_000, count);
      await b.withTurn(RUN, async () => {
        const times = ["early", "ahead", "after"].map(async (thing) => ((await b.newest({ thing }))?.at ?? 0) - AT);
        expect(await Promise.all(times)).toEqual([0, 1_000, 5_000]);
      });
    });

    it("opens again after close", async () => {
      const { open } = machineOf();
      const store = open();
      await create(store, intent());
      await store.close();
      await store.note([{ list: "l", name: "n", value: AT }]);
      expect(await store.notes("l")).toHaveLength(1);
      expect(await store.count()).toBeGreaterThan(0);
      await store.close();
    });
  });
