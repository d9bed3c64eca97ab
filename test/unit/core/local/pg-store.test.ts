/** A store in PostgreSQL where connections break, backups are restored, and machines differ. The contract is in account-store.test.ts. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  connectTo,
  type Database,
  type LeavingCreate,
  type PgStore,
  parsePgServer,
  type Turn,
} from "../../../../src/core/local/index.ts";
import { MIGRATIONS, prepareTables } from "../../../../src/core/local/pg-schema.ts";
import { type Clock, systemClock } from "../../../../src/core/model/index.ts";
import { testClock } from "../../../support/clock.ts";
import { describeWith } from "../../../support/needing.ts";
import { openPgStore, type PgStoreParts } from "../../../support/pg-stores.ts";
import { type Postgres, startPostgres } from "../../../support/postgres.ts";
import { POSTGRES } from "../../../support/programs.ts";
import { startTcpProxy, type TcpProxy } from "../../../support/tcp-proxy.ts";
import { diagnosticOf } from "../record/builders.ts";

const RUN = { project: "acme", place: "state 1" };
const intent = (more: Partial<LeavingCreate> = {}): LeavingCreate => ({
  ...{ id: "1", place: "state 1", thing: "www", at: Date.UTC(2026, 10, 21) },
  ...more,
});

describeWith(POSTGRES)("a store in PostgreSQL", () => {
  let postgres: Postgres;
  let connection = "";
  let origin = "";
  beforeAll(async () => {
    postgres = await startPostgres();
    connection = await postgres.database();
  }, 60_000);
  afterAll(() => postgres?.stop());
  beforeEach(() => {
    origin = randomUUID();
  });

  const query = (sql: string, values?: unknown[]) => postgres.query(connection, sql, values);
  const open = (parts: Partial<PgStoreParts> = {}, at = connection): PgStore =>
    openPgStore(at, { origin, account: `a of ${origin}`, clock: systemClock, ...parts });
  const through = (proxy: TcpProxy) => connection.replace(`:${postgres.port}/`, `:${proxy.port}/`);

  /** Ends all sessions of stores at the server. */
  const endSessions = () =>
    query("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'hostform test'");
  /** Takes the create lock and keeps it. */
  const hold = (store: PgStore) =>
    new Promise<{ readonly turn: Turn; readonly end: () => Promise<void> }>((resolve) => {
      const { promise, resolve: free } = Promise.withResolvers<void>();
      const ended = store.withTurn(RUN, (turn) => {
        resolve({
          turn,
          end: () => {
            free();
            return ended;
          },
        });
        return promise;
      });
    });
  const intents = () => query("SELECT id, state FROM hostform.intents WHERE origin = $1 ORDER BY serial", [origin]);

  describe("after a commit whose acknowledgement is lost", () => {
    it("has recorded a create once", async () => {
      const proxy = await startTcpProxy(postgres.port);
      const store = open({}, through(proxy));
      await store.withTurn(RUN, async (turn) => {
        proxy.swallowAnswerTo("COMMIT");
        await store.leave(turn, intent());
        expect(await intents()).toEqual([{ id: "1", state: "open" }]);
        await store.answer(intent());
      });
      expect(await intents()).toEqual([{ id: "1", state: "answered" }]);
    });

    it("has counted a request once", async () => {
      const proxy = await startTcpProxy(postgres.port);
      const { requests } = open({}, through(proxy));
      await requests.reserve(Date.now(), 60);
      proxy.swallowAnswerTo("UPDATE hostform.windows");
      expect(await requests.reserve(Date.now(), 60)).toMatchObject({ waitMs: 0, left: 58 });
      expect(await requests.reserve(Date.now(), 60)).toMatchObject({ waitMs: 0, left: 57 });
    });

    it("recognizes its own notes that had to be absent", async () => {
      const proxy = await startTcpProxy(postgres.port);
      const store = open({}, through(proxy));
      await store.count();
      proxy.swallowAnswerTo("COMMIT");
      const note = { list: "l", name: "n", value: 1 };
      expect(await store.note([note], { when: "absent" })).toEqual([]);
      expect(await store.note([note], { when: "absent" })).toEqual([note]);
    });

    it("has ended the create lock", async () => {
      const proxy = await startTcpProxy(postgres.port);
      const store = open({}, through(proxy));
      await store.withTurn(RUN, async () => proxy.swallowAnswerTo("COMMIT"));
      await open().withTurn(RUN, async ({ epoch }) => expect(epoch).toBe(2));
    });
  });

  describe("after the end of its session", () => {
    it("reconnects without a warning, and keeps the create lock that nobody took", async () => {
      const onLost = vi.fn();
      const store = open({ onLost });
      await store.withTurn(RUN, async (turn) => {
        await endSessions();
        await store.leave(turn, intent());
        await store.answer(intent());
      });
      expect(await intents()).toEqual([{ id: "1", state: "answered" }]);
      expect(onLost).not.toHaveBeenCalled();
    });

    it("loses the create lock at once to a process that waits, and its open create is unknown", async () => {
      let session: Database | undefined;
      const killed = open({ through: (database) => (session = database) });
      const held = await hold(killed);
      await killed.leave(held.turn, intent());
      const other = open();
      await other.count();
      session?.abort();
      const since = performance.now();
      await other.withTurn(RUN, async (turn) => {
        expect(performance.now() - since).toBeLessThan(5_000);
        expect(turn).toMatchObject({ epoch: held.turn.epoch + 1, isTakenOver: false });
        expect(await other.newest({ thing: "www" })).toMatchObject({ state: "unknown" });
        await expect(killed.leave(held.turn, intent({ id: "2" }))).rejects.toMatchObject({
          diagnostics: [{ code: "store.turn_lost" }],
        });
      });
      await held.end();
    });

    it("waits for the others to reconnect before it takes a create lock, because a restart ends all sessions", async () => {
      const [a, b] = [open(), open()];
      const held = await hold(a);
      await b.count();
      await endSessions();
      let isTaken = false;
      const waiting = b.withTurn(RUN, async () => {
        isTaken = true;
      });
      await setTimeout(1_500);
      expect(isTaken).toBe(false);
      await a.leave(held.turn, intent());
      await held.end();
      await waiting;
    });
  });

  it("waits for an unreachable database with one warning, then sends nothing, and goes on when the database is back", async () => {
    const proxy = await startTcpProxy(postgres.port);
    const onLost = vi.fn();
    const clock = testClock();
    const store = open({ clock, onLost }, through(proxy));
    await store.requests.reserve(clock.now(), 60);
    proxy.open(false);
    const failure = await diagnosticOf(() => store.requests.reserve(clock.now(), 60));
    expect(failure).toMatchObject({
      code: "store.unreachable",
      detail: expect.stringMatching(/^db\.example:5432\/hostform: .*waited for 60 s/),
    });
    expect(JSON.stringify(failure)).not.toContain("canary");
    const since = clock.monotonic();
    expect(await store.refusals(), "one cause has one message").toEqual([failure]);
    expect(clock.monotonic() - since, "a second wait would be in vain").toBeLessThan(1_000);
    expect(onLost).toHaveBeenCalledOnce();
    proxy.open(true);
    expect(await store.refusals()).toEqual([]);
    expect(await store.requests.reserve(clock.now(), 60)).toMatchObject({ waitMs: 0 });
  });

  it("waits for an unreachable database although a heartbeat, which never waits, has failed", async () => {
    const proxy = await startTcpProxy(postgres.port);
    const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal) };
    const store = open({ clock }, through(proxy));
    const held = await hold(store);
    proxy.open(false);
    await setTimeout(300);
    const recorded = store.leave(held.turn, intent());
    await setTimeout(200);
    proxy.open(true);
    await recorded;
    expect(await intents()).toEqual([{ id: "1", state: "open" }]);
    await held.end();
  });

  it("names no seconds if it may not wait", async () => {
    const proxy = await startTcpProxy(postgres.port);
    proxy.open(false);
    const failure = await diagnosticOf(() => open({ waitMs: 0 }, through(proxy)).requests.reserve(Date.now(), 60));
    expect(failure).toMatchObject({ code: "store.unreachable", detail: expect.not.stringContaining("waited") });
  });

  describe("beside another version", () => {
    const migrate = async (at: string, minVersion: number, sql: string) => {
      const database = await connectTo(parsePgServer({ PG_CONN_STR: at }, ""), "newer");
      await prepareTables(database, "db", [...MIGRATIONS, { minVersion, sql }]);
      await database.end();
    };

    it("goes on if the newer tables permit it", async () => {
      const at = await postgres.database();
      const store = open({}, at);
      await store.count();
      await migrate(at, 1, "ALTER TABLE hostform.notes ADD COLUMN more text");
      await store.note([{ list: "l", name: "n", value: 1 }]);
      const [meta] = await postgres.query(at, "SELECT * FROM hostform.meta");
      expect(meta).toEqual({ version: 2, min_version: 1 });
      expect(await open({}, at).notes("l")).toHaveLength(1);
    });

    it("refuses newer tables, also in an open session", async () => {
      const at = await postgres.database();
      const store = open({}, at);
      await store.count();
      await migrate(at, 2, "ALTER TABLE hostform.notes RENAME TO facts");
      for (const one of [store, open({}, at)])
        expect(await diagnosticOf(() => one.note([{ list: "l", name: "n", value: 1 }]))).toMatchObject({
          code: "store.newer",
          summary: expect.stringContaining("db.example:5432/hostform"),
        });
    });

    it("creates the tables once in several processes", async () => {
      const at = await postgres.database();
      const counts = await Promise.all([1, 2, 3, 4].map(() => open({}, at).count()));
      expect(counts).toEqual([0, 0, 0, 0]);
    });
  });

  describe("in a restored backup", () => {
    const restore = async (serial: number, isCut = true) => {
      await query("DELETE FROM hostform.intents WHERE origin = $1 AND serial > $2", [origin, serial]);
      await query("UPDATE hostform.origins SET serial = $2 WHERE origin = $1", [origin, serial]);
      if (isCut) await endSessions();
    };

    it.each([
      ["with a new session", true],
      ["behind an open session", false],
    ])("makes all tokens wait for the lists, and reports it once, %s", async (_, isCut) => {
      const onRestored = vi.fn();
      const store = open({ onRestored });
      for (const id of ["1", "2"])
        await store.withTurn(RUN, async (turn) => {
          await store.leave(turn, intent({ id }));
          await store.answer(intent({ id }));
        });
      const count = await store.count();
      await restore(2, isCut);
      expect(await store.count()).toBeGreaterThan(count);
      const other = open({ account: "another token" });
      for (const one of [store, other])
        await one.withTurn(RUN, async (turn) => {
          expect(await one.newest({ state: "unknown" })).toMatchObject({ isOwn: false });
          expect(turn.isNewerThan(count)).toBe(true);
        });
      expect(onRestored).toHaveBeenCalledOnce();
    });

    it.each<[string, (at: string) => Promise<() => Promise<unknown>>]>([
      ["a dump", (at) => postgres.backup(at)],
      [
        "another timeline",
        async (at) => () =>
          postgres.query(at, "UPDATE hostform.origins SET incarnation = replace(incarnation, ' ', ' 9')"),
      ],
    ])(
      "of %s, a process that knows no earlier one makes all tokens wait for the lists, and reports it once",
      async (_, backup) => {
        const at = await postgres.database();
        const onRestored = vi.fn();
        const first = open({}, at);
        await first.count();
        const restore = await backup(at);
        await first.withTurn(RUN, async (turn) => {
          await first.leave(turn, intent());
          await first.answer(intent());
        });
        const count = await first.count();
        await first.close();
        await restore();
        for (const account of ["one token", "another token"]) {
          const one = open({ account, onRestored }, at);
          expect(await one.count()).toBeGreaterThan(0);
          await one.withTurn(RUN, async () => {
            const found = await one.newest({ state: "unknown" });
            expect(found).toMatchObject({ isOwn: false });
            expect(found?.at).toBeGreaterThan(Date.now() - 60_000);
          });
        }
        expect(onRestored).toHaveBeenCalledOnce();
        expect(count).toBeGreaterThan(0);
      },
    );

    it("is not assumed if the server forbids some roles to read its identity", async () => {
      const onRestored = vi.fn();
      const forbidding = (database: Database): Database => ({
        ...database,
        lost: undefined,
        query: async (sql, values) => {
          if (sql.includes("pg_control_system")) throw Object.assign(new Error("denied"), { code: "42501" });
          return database.query(sql, values);
        },
      });
      for (const through of [forbidding, undefined, forbidding, undefined])
        expect(await open({ onRestored, ...(through && { through }) }).count()).toBe(0);
      expect(onRestored).not.toHaveBeenCalled();
    });

    it("keeps the requests that a process remembers", async () => {
      const onRestored = vi.fn();
      const store = open({ onRestored });
      const account = `a of ${origin}`;
      await store.requests.reserve(Date.now(), 60);
      const [before] = await query("SELECT record, version FROM hostform.windows WHERE account = $1", [account]);
      await store.requests.reserve(Date.now(), 60);
      await query("UPDATE hostform.windows SET record = $2, version = $3 WHERE account = $1", [
        account,
        before?.record,
        before?.version,
      ]);
      expect(await store.requests.reserve(Date.now(), 60)).toMatchObject({ left: 57 });
      expect(onRestored).toHaveBeenCalledOnce();
    });
  });

  it("refuses a pooler that changes sessions", async () => {
    const server = parsePgServer({ PG_CONN_STR: connection }, "");
    const second = await connectTo(server, "second");
    let statements = 0;
    const pooled = (first: Database): Database => ({
      ...first,
      lost: undefined,
      // The pooler changes the session after the connection is prepared.
      query: (...given) => (++statements > 8 ? second : first).query(...given),
    });
    await open().count();
    const store = open({ through: pooled });
    await store.count();
    statements = 8;
    expect(await diagnosticOf(() => store.withTurn(RUN, async () => {}))).toMatchObject({
      code: "store.unreachable",
      summary: expect.stringContaining("pooler"),
    });
    await second.end();
  });

  it("counts the requests of machines whose clocks differ by five minutes", async () => {
    const ahead = (ms: number): Clock => ({ ...systemClock, now: () => Date.now() + ms });
    const clocks = [ahead(0), ahead(300_000), ahead(-300_000)];
    const stores = clocks.map((clock) => ({ clock, requests: open({ clock }).requests }));
    for (let nth = 0; nth < 20; nth++)
      for (const { clock, requests } of stores) {
        expect(await requests.reserve(clock.now(), 60)).toMatchObject({ waitMs: 0 });
        await requests.accept({ now: clock.now(), sentAt: clock.now(), limit: 60 });
      }
    for (const { clock, requests } of stores) {
      const { waitMs, why } = await requests.reserve(clock.now(), 60);
      expect(waitMs).toBeGreaterThan(30_000);
      expect(waitMs).toBeLessThanOrEqual(61_000);
      expect(why).toMatchObject({ cause: "budget", own: 20, others: 40 });
    }
    const [row] = await query("SELECT record FROM hostform.windows WHERE account = $1", [`a of ${origin}`]);
    const { bookings } = JSON.parse(String(row?.record));
    // The offsets of the clocks are measured to a millisecond, so an answer may miss its booking.
    expect(bookings.filter(([, , answer]: string[]) => answer === "taken").length).toBeGreaterThan(54);
  });

  it("finds each row of 100,000 creates, notes and holdings by an index", async () => {
    await open().count();
    await query(
      `INSERT INTO hostform.intents SELECT $1, n, n::text, 'a of ' || $1, 'other', 1, 'p' || n % 100, 't' || n,
        CASE WHEN n % 10 = 0 THEN 'l' || n END, n, CASE WHEN n % 1000 = 0 THEN 'unknown' ELSE 'answered' END
        FROM generate_series(1, 100000) AS n`,
      [origin],
    );
    await query("UPDATE hostform.origins SET serial = 100000 WHERE origin = $1", [origin]);
    await query(
      "INSERT INTO hostform.notes SELECT $1, 'l' || n % 1000, n::text, 0, '1', '' FROM generate_series(1, 100000) AS n",
      [origin],
    );
    await query(
      "INSERT INTO hostform.holdings SELECT $1, 'p' || n % 1000, n::text, '[]', NULL, true, 0, 0 FROM generate_series(1, 100000) AS n",
      [origin],
    );
    await query("INSERT INTO hostform.places SELECT $1, 'p' || n, 'p', 0 FROM generate_series(0, 999) AS n", [origin]);
    await query("ANALYZE hostform.intents, hostform.notes, hostform.holdings, hostform.places");
    const statements: [sql: string, values: readonly unknown[]][] = [];
    const seen = (database: Database): Database => ({
      ...database,
      get lost() {
        return database.lost;
      },
      query: (sql, values = []) => {
        if (/^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)/.test(sql) && sql.includes("hostform."))
          statements.push([sql, values]);
        return database.query(sql, values);
      },
    });
    const store = open({ through: seen });
    await store.withTurn(RUN, async (turn) => {
      for (const of of [
        { thing: "www" },
        { likeness: "l" },
        { state: "unknown" },
        { thing: "x", after: 5, notOf: "s" },
      ] as const)
        await store.newest(of);
      await store.leave(turn, intent({ likeness: "l" }));
      await store.answer(intent());
    });
    const note = { list: "l1", name: "1", value: 1 };
    await store.note([note], { when: "absent" });
    await store.note([note]);
    await store.notes("l1");
    await store.notes("l1", "1");
    await store.forget([note]);
    const held = { type: "t", parent: "", id: "1", instances: 1 };
    await store.see({ mark: "p1", label: "p" }, "run", [held]);
    await store.release("p1", [held]);
    await store.endRun("p1", "run", Date.now());
    await store.holdings({ place: "p1" });
    await store.requests.reserve(Date.now(), 60);
    const slow: string[] = [];
    for (const [sql, values] of statements) {
      const plan = JSON.stringify(await query(`EXPLAIN (FORMAT JSON) ${sql}`, [...values]));
      if (/"Node Type":"Seq Scan"[^{]*"Relation Name":"(?:intents|notes|holdings)"/.test(plan)) slow.push(sql);
    }
    expect(statements.length).toBeGreaterThan(20);
    expect(slow).toEqual([]);
  });
});
