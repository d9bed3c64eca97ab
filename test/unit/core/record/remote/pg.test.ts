import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  connectTo,
  type Database,
  interruptibly,
  nameOfServer,
  parsePgServer,
} from "../../../../../src/core/local/index.ts";
import type { Clock } from "../../../../../src/core/model/index.ts";
import { createPgBackend, createStateStore, type StateStore } from "../../../../../src/core/record/index.ts";
import { creationKeysOf, ownKeyOf, refuseQuery } from "../../../../../src/core/record/remote/pg-lock.ts";
import { testClock } from "../../../../support/clock.ts";
import { describeWith } from "../../../../support/needing.ts";
import { type Postgres, startPostgres } from "../../../../support/postgres.ts";
import { POSTGRES } from "../../../../support/programs.ts";
import { saying } from "../../../../support/remedies.ts";
import { countingUuids, diagnosticOf, resource } from "../builders.ts";

const request = { command: "apply", timeoutMs: 0 };
const SERVICE = "hosting_service.a";
const SCHEMA = "terraform_remote_state";
/** Keys of the locks under which Terraform, and OpenTofu for the table `states` of this schema, create a state. */
const CREATION = [-1, -3_797_183_428];
const ownKey = (workspace: string, table = "states") => Number(ownKeyOf({ schema: SCHEMA, table, workspace }));

interface Parts {
  readonly connection?: string;
  readonly workspace?: string;
  readonly table?: string;
  readonly pid?: number;
  readonly clock?: Clock;
  /** Called with each new session. */
  readonly onConnect?: (database: Database) => void;
}

test("OpenTofu's lock of creation is made of schema and table", () => {
  expect(creationKeysOf({ schema: SCHEMA, table: "states" })).toEqual(["-1", "-3797183428"]);
  expect(creationKeysOf({ schema: "büro", table: "zustände" })).toEqual(["-1", "-3055721963"]);
});

test.each([
  ["read", "Grant the role USAGE on the schema and SELECT on the table."],
  ["written", "Grant the role all rights on the schema, table and sequence."],
] as const)("a denied query names the rights with which the state can be %s", async (doing, fix) => {
  const denied = Object.assign(new Error("permission denied"), { code: "42501" });
  const work = async () => refuseQuery("workspace default", doing, {} as Database, denied);
  await expect(work()).rejects.toMatchObject({
    diagnostics: [{ code: "state.backend", remedies: [expect.stringContaining(fix)] }],
  });
});

describeWith(POSTGRES)("a state in PostgreSQL", () => {
  let postgres: Postgres;
  let connection = "";
  beforeAll(async () => {
    postgres = await startPostgres();
    connection = await postgres.database();
  }, 60_000);
  afterAll(() => postgres?.stop());
  beforeEach(async () => {
    // An emptied database equals a new database, and is ten times as fast.
    await postgres.query(
      connection,
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
         DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE; DROP SEQUENCE IF EXISTS public.global_states_id_seq`,
    );
  });

  const storeAt = (parts: Parts = {}): StateStore => {
    const server = parsePgServer({ PG_CONN_STR: parts.connection ?? connection }, "nobody");
    const place = () =>
      createPgBackend({
        connect: async (name) => {
          const database = await connectTo(server, name);
          parts.onConnect?.(database);
          return database;
        },
        server: nameOfServer(server),
        schema: SCHEMA,
        table: parts.table ?? "states",
        index: "states_by_name",
        workspace: parts.workspace ?? "default",
        clock: parts.clock ?? testClock(),
        contender: { pid: parts.pid ?? 4711, user: "nino", host: "ci-1" },
      });
    return createStateStore(async () => place(), countingUuids());
  };

  const open = (parts: Parts = {}) => storeAt(parts).open({ ...request, write: true });

  const write = async (parts: Parts, ...ids: string[]) => {
    const state = await open(parts);
    for (const id of ids) await state.put(resource(SERVICE, id));
    await state.close();
  };

  const rows = () => postgres.query(connection, `SELECT id, name, data FROM ${SCHEMA}.states ORDER BY name`);

  const locks = async () =>
    (
      await postgres.query(
        connection,
        `SELECT ((classid::bigint << 32) | objid::bigint)::text AS key FROM pg_locks
         WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )
    )
      .map(({ key }) => Number(key))
      .sort((a, b) => b - a);

  test("each change is the whole state in its row, made where Terraform makes it", async () => {
    await write({}, "1", "2");
    await write({ workspace: "acme" }, "3");
    const found = await rows();
    expect(found.map(({ id, name }) => [id, name])).toEqual([
      ["2", "acme"],
      ["1", "default"],
    ]);
    expect(JSON.parse(String(found[1]?.data))).toMatchObject({ version: 4, serial: 2 });
    const indexes = await postgres.query(connection, `SELECT indexname FROM pg_indexes WHERE schemaname = '${SCHEMA}'`);
    expect(indexes.map(({ indexname }) => indexname).sort()).toEqual([
      "states_by_name",
      "states_name_key",
      "states_pkey",
    ]);
    expect(await locks()).toEqual([]);
    expect((await storeAt().open({ ...request, write: false })).state.resources.get(SERVICE)?.attributes.id).toBe("2");
  });

  test("what is only read is not made", async () => {
    expect(await storeAt().pull()).toBeUndefined();
    const schemas = await postgres.query(connection, "SELECT FROM pg_namespace WHERE nspname = $1", [SCHEMA]);
    expect(schemas).toEqual([]);
  });

  test("two programs that make the layout at once both find it", async () => {
    const names = ["a", "b", "c", "d"];
    const states = await Promise.all(names.map((workspace) => open({ workspace })));
    for (const [at, state] of states.entries()) await state.put(resource(SERVICE, String(at)));
    for (const state of states) await state.close();
    expect((await rows()).map(({ name }) => name)).toEqual(names);
  });

  test("holds the lock of creation until the first write, and that of the row from then on", async () => {
    const state = await open();
    expect(await locks()).toEqual([...CREATION, ownKey("default")]);
    await state.put(resource(SERVICE, "1"));
    expect(await locks()).toEqual([1]);
    await state.put(resource(SERVICE, "2"));
    await state.close();
    expect(await locks()).toEqual([]);
    const again = await open();
    expect(await locks()).toEqual([1]);
    await again.close();
  });

  test.each(["no row", "a row"])("a second run is refused with the name of the holder (%s)", async (before) => {
    if (before === "a row") await write({}, "1");
    const first = await open({ pid: 12 });
    const diagnostic = await diagnosticOf(() => open({ pid: 13 }));
    expect(diagnostic).toMatchObject({
      code: "state.locked",
      detail: expect.stringMatching(
        /Held by process 12 \(apply\), nino@ci-1 \(role hostform, database session \d+ from 127.0.0.1\), since 20\d\d-.*Z/,
      ),
      remedies: saying(expect.stringContaining("--lock-timeout")),
    });
    await first.close();
    await write({}, "2");
  });

  test("a session of another program is described as far as it can be", async () => {
    await write({}, "1");
    const server = parsePgServer({ PG_CONN_STR: connection }, "nobody");
    const other = await connectTo(server, "");
    await other.query("SELECT pg_advisory_lock(1)");
    const diagnostic = await diagnosticOf(() => open());
    expect(diagnostic?.detail).toMatch(/Held by another program \(role hostform, database session \d+ from 127/);
    await other.end();
  });

  test("new states are created side by side, each once, beside a run on a row that exists", async () => {
    await write({}, "1");
    const [one, two] = [await open({ workspace: "one" }), await open({ workspace: "two" })];
    const third = await open();
    await third.put(resource(SERVICE, "2"));
    await third.close();
    // The message of a second run names the holder of its own workspace, not the holder of the other workspace.
    const diagnostic = await diagnosticOf(() => open({ workspace: "two", pid: 99 }));
    expect(diagnostic?.code).toBe("state.locked");
    await two.put(resource(SERVICE, "4"));
    await one.put(resource(SERVICE, "3"));
    expect(await diagnosticOf(() => open({ workspace: "one" })), "by the lock of its row").toMatchObject({
      code: "state.locked",
    });
    await one.close();
    await two.close();
    expect(await locks()).toEqual([]);
    expect((await rows()).map(({ name }) => name)).toEqual(["default", "one", "two"]);
  });

  test("Terraform finds a state that is being created locked, and no force-unlock ends another new state's run", async () => {
    const other = await open({ workspace: "other" });
    const terraform = await connectTo(parsePgServer({ PG_CONN_STR: connection }, "nobody"), "terraform");
    const [row] = await terraform.query("SELECT pg_try_advisory_lock(-1) AS mine");
    expect(row?.mine).toBe(false);
    await terraform.end();
    expect(await storeAt({ workspace: "new" }).forceUnlock()).toMatchObject({ holder: undefined });
    await other.put(resource(SERVICE, "1"));
    await other.close();
  });

  test.each([
    ["Terraform", "-1"],
    ["OpenTofu", "-3797183428"],
  ])("is locked for %s while that creates a state", async (_, key) => {
    for (const before of ["no row", "a row"]) {
      if (before === "a row") await write({}, "1");
      const other = await connectTo(parsePgServer({ PG_CONN_STR: connection }, "nobody"), "other");
      await other.query("SELECT pg_advisory_lock($1::bigint)", [key]);
      expect(await diagnosticOf(() => open()), before).toMatchObject({
        code: "state.locked",
        detail: expect.stringContaining('"other"'),
      });
      expect(await locks(), "nothing else is held").toEqual([Number(key)]);
      await other.end();
    }
  });

  test("is in the table and index that the user names", async () => {
    await write({ table: "zustände" }, "1");
    const other = await open({ table: "zustände", workspace: "new" });
    const [, key] = creationKeysOf({ schema: SCHEMA, table: "zustände" });
    expect(await locks()).toEqual([-1, Number(key), ownKey("new", "zustände")]);
    await other.close();
    const indexes = await postgres.query(
      connection,
      `SELECT tablename FROM pg_indexes WHERE indexname = 'states_by_name'`,
    );
    expect(indexes).toEqual([{ tablename: "zustände" }]);
  });

  test("a query that hangs is left by the signal at once, and the session is over", async () => {
    const server = parsePgServer({ PG_CONN_STR: connection }, "nobody");
    const database = await connectTo(server, "hangs");
    const stop = new AbortController();
    const query = interruptibly(database, stop.signal, async () => {
      const asked = database.query("SELECT pg_sleep(600)");
      stop.abort(new Error("Ctrl-C"));
      return asked;
    });
    await expect(query).rejects.toThrow("Ctrl-C");
    expect(database.lost).toBeDefined();
    await database.end();
  });

  test("who waits holds nothing meanwhile, and goes on when it is free", async () => {
    await write({}, "1");
    const other = await connectTo(parsePgServer({ PG_CONN_STR: connection }, "nobody"), "other");
    await other.query("SELECT pg_advisory_lock(-1)");
    const meanwhile: unknown[] = [];
    const clock: Clock = {
      ...testClock(),
      sleep: async () => {
        meanwhile.push(await locks());
        await other.end();
      },
    };
    const state = await storeAt({ clock }).open({ ...request, timeoutMs: 60_000, write: true });
    expect(meanwhile).toEqual([[-1]]);
    expect(await locks()).toEqual([1]);
    await state.close();
  });

  test("waiting ends with the signal, and the session with it", async () => {
    const other = await open();
    const stop = new AbortController();
    const clock: Clock = { ...testClock(), sleep: async () => stop.abort(new Error("stopped")) };
    const opening = storeAt({ clock }).open({ ...request, timeoutMs: 60_000, write: true, signal: stop.signal });
    await expect(opening).rejects.toThrow("stopped");
    await other.close();
    expect(await locks()).toEqual([]);
  });

  test("the states of two workspaces do not keep each other", async () => {
    await write({}, "1");
    await write({ workspace: "acme" }, "1");
    const [one, two] = [await open(), await open({ workspace: "acme" })];
    await Promise.all([one.put(resource(SERVICE, "2")), two.put(resource(SERVICE, "3"))]);
    await one.close();
    await two.close();
    expect((await rows()).map(({ data }) => JSON.parse(String(data)).serial)).toEqual([2, 2]);
  });

  describe("a session that is lost", () => {
    const endSessions = () =>
      postgres.query(
        connection,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'hostform %' AND datname = current_database()",
      );

    test("loses the lock: the next write is refused, and says what is not recorded", async () => {
      await write({}, "1");
      const state = await open();
      await endSessions();
      const diagnostic = await diagnosticOf(() => state.put(resource(SERVICE, "2")));
      expect(diagnostic).toMatchObject({
        code: "state.lost_lock",
        detail: expect.stringContaining("Not in the state: hosting_service.a (id 2)"),
      });
      await write({}, "3");
      expect((await diagnosticOf(() => state.close()))?.code).toBe("state.lost_lock");
      expect(JSON.parse(String((await rows())[0]?.data)).resources[0].instances[0].attributes.id).toBe("3");
    });

    test("before its first write leaves no row", async () => {
      const state = await open();
      await endSessions();
      expect((await diagnosticOf(() => state.put(resource(SERVICE, "1"))))?.code).toBe("state.lost_lock");
      expect(await rows()).toEqual([]);
      await diagnosticOf(() => state.close());
    });
  });

  test("a lock that the session does not hold any more is seen by the write itself", async () => {
    await write({}, "1");
    let session: Database | undefined;
    const state = await open({ onConnect: (database) => (session = database) });
    await session?.query("SELECT pg_advisory_unlock_all()");
    expect(await diagnosticOf(() => state.put(resource(SERVICE, "2")))).toMatchObject({
      code: "state.lost_lock",
      detail: expect.stringContaining("pooler"),
    });
    await diagnosticOf(() => state.close());
  });

  test("a lock is proved by the server; a session that ended is seen here", async () => {
    let session: Database | undefined;
    const state = await open({ onConnect: (database) => (session = database) });
    await state.proveLock();
    await state.put(resource(SERVICE, "1"));
    await state.proveLock();
    await session?.query("SELECT pg_advisory_unlock_all()");
    expect(state.lostLock()).toBeUndefined();
    expect(await diagnosticOf(() => state.proveLock())).toMatchObject({
      code: "state.lost_lock",
      detail: expect.stringContaining("pooler"),
    });
    await state.close();
    const other = await open({ onConnect: (database) => (session = database) });
    session?.abort();
    expect(await diagnosticOf(() => other.proveLock())).toMatchObject({ code: "state.lost_lock" });
    expect(other.lostLock()).toMatchObject({ diagnostics: [{ code: "state.lost_lock" }] });
    await other.close();
  });

  test.each([
    ["another's write", `UPDATE ${SCHEMA}.states SET data = data || ' '`],
    ["the removal of the row", `DELETE FROM ${SCHEMA}.states`],
  ])("%s in between, without the lock, is not overwritten", async (_, sql) => {
    await write({}, "1");
    const state = await open();
    await postgres.query(connection, sql);
    const before = await rows();
    expect(await diagnosticOf(() => state.put(resource(SERVICE, "2")))).toMatchObject({
      code: "state.lost_lock",
      detail: expect.stringContaining("-lock=false"),
    });
    await diagnosticOf(() => state.close());
    expect(await rows()).toEqual(before);
  });

  test("force-unlock ends the session that holds the lock", async () => {
    await write({}, "1");
    const state = await open({ pid: 12 });
    const { holder } = await storeAt().forceUnlock();
    expect(holder).toMatchObject({ pid: 12, command: "apply" });
    expect(Date.parse(holder?.lastAlive ?? "")).toBeGreaterThanOrEqual(Date.parse(holder?.since ?? ""));
    await write({}, "2");
    expect((await diagnosticOf(() => state.put(resource(SERVICE, "3"))))?.code).toBe("state.lost_lock");
    await diagnosticOf(() => state.close());
    expect(await storeAt().forceUnlock()).toMatchObject({ holder: undefined, alive: undefined });
  });

  test("force-unlock of another session than the one that holds it ends none", async () => {
    const state = await open();
    const diagnostic = await diagnosticOf(() => storeAt().forceUnlock("1"));
    expect(diagnostic).toMatchObject({ code: "state.locked", summary: expect.stringMatching(/the ID 1$/) });
    await state.put(resource(SERVICE, "1"));
    await state.close();
  });

  describe("another role", () => {
    const asReader = () => connection.replace(/\/\/[^@]*@/, "//reader:reader@");
    beforeAll(async () => {
      await postgres.query(connection, "CREATE ROLE reader LOGIN PASSWORD 'reader'");
    });

    test("without rights gets an error that names them", async () => {
      await write({}, "1");
      const diagnostic = await diagnosticOf(() => storeAt({ connection: asReader() }).pull());
      expect(diagnostic).toMatchObject({
        code: "state.backend",
        detail: expect.stringContaining("permission denied for schema"),
        remedies: saying(expect.stringContaining("rights")),
      });
    });

    test("with rights on what exists needs none to make it, and may not end another's session", async () => {
      await write({}, "1");
      const granted = `GRANT USAGE ON SCHEMA ${SCHEMA} TO reader; GRANT SELECT, INSERT, UPDATE ON ${SCHEMA}.states TO reader`;
      await postgres.query(connection, granted);
      await write({ connection: asReader() }, "2");
      const state = await open();
      const diagnostic = await diagnosticOf(() => storeAt({ connection: asReader() }).forceUnlock());
      expect(diagnostic).toMatchObject({
        code: "state.backend",
        remedies: saying(expect.stringMatching(/SELECT pg_terminate_backend\(\d+\)/)),
      });
      await state.close();
    });
  });

  describe("access", () => {
    test.each([
      [
        "a wrong password",
        (text: string) => text.replace(/:[^:@]*@/, ":wrong-password@"),
        /rejects the login/,
        /pg_hba/,
      ],
      ["no password", (text: string) => text.replace(/:[^:@]*@/, "@"), /rejects the login/, /pg_hba/],
      [
        "a database that does not exist",
        (text: string) => text.replace(/states_\d+/, "none"),
        /does not exist/,
        /Create it.*PG_CONN_STR/,
      ],
      ["nobody at the port", (text: string) => text.replace(/:\d+\//, ":1/"), /cannot be reached/, /network/],
      [
        "no TLS at the server",
        (text: string) => text.replace("?sslmode=disable", ""),
        /cannot be reached/,
        /sslmode=disable/,
      ],
    ])("%s", async (_, change, summary, fix) => {
      const diagnostic = await diagnosticOf(() => storeAt({ connection: change(connection) }).pull());
      expect(diagnostic).toMatchObject({
        code: "state.backend",
        summary: expect.stringMatching(summary),
        remedies: saying(expect.stringMatching(fix)),
      });
      expect(JSON.stringify(diagnostic)).not.toMatch(/wrong-password|canary/);
    });
  });
});

describe("without the package pg", () => {
  test("it says how to install it", async () => {
    const server = parsePgServer({ PG_CONN_STR: "postgres://u:p@127.0.0.1/d" }, "nobody");
    const missing = () =>
      Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
    expect(await diagnosticOf(() => connectTo(server, "test", { from: missing }))).toMatchObject({
      code: "state.backend",
      summary: "PostgreSQL requires the npm package pg",
      remedies: saying(expect.stringContaining("Install the npm package pg")),
    });
  });
});
