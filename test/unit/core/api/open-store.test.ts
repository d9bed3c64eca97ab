/** Store of a token at its URL: path, permissions, and the warning if the folder is unusable. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openStore, type StoreOptions } from "../../../../src/core/api/open-store.ts";
import { MemoryStore, PgStore, SqliteStore } from "../../../../src/core/local/index.ts";
import { type Diagnostic, HostformError } from "../../../../src/core/model/index.ts";
import { testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { diagnosticOf } from "../record/builders.ts";
import { ORIGIN, TOKEN } from "./support.ts";

const START = Date.UTC(2026, 10, 21, 10);
/** Id of a user without files. */
const NOBODY = 65_534;

const ledgerFor = (options: StoreOptions) => openStore(options).requests;

describe("with an unusable folder, requests are counted in this process, with one warning:", () => {
  it.skipIf(process.platform === "win32")("the folder is not writable", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o500);
    if (process.getuid?.() === 0) {
      // The superuser can write to every folder.
      chownSync(folder, NOBODY, NOBODY);
      process.seteuid?.(NOBODY);
      onTestFinished(() => process.seteuid?.(0));
    }
    const warnings: Diagnostic[] = [];
    const env = { HOSTFORM_STATE_HOME: path.join(folder, "hostform") };
    const ledger = ledgerFor({ baseUrl: ORIGIN, token: TOKEN, env, onWarning: (warning) => warnings.push(warning) });
    expect(await ledger.reserve(START, 60)).toMatchObject({ waitMs: 0, left: 59 });
    expect(warnings.map(({ detail }) => detail)).toEqual([expect.stringContaining("EACCES")]);
  });

  it.each([
    ["there is no home folder", () => ({}), /no home folder is known/],
    [
      "there is a file where the folder should be",
      () => {
        const file = path.join(temporaryFolder(), "file");
        writeFileSync(file, "");
        return { HOSTFORM_STATE_HOME: path.join(file, "hostform") };
      },
      /ENOTDIR/,
    ],
  ])("%s", async (_, env, words) => {
    const warnings: Diagnostic[] = [];
    const ledger = ledgerFor({
      baseUrl: ORIGIN,
      token: TOKEN,
      env: env(),
      onWarning: (warning) => warnings.push(warning),
    });
    expect(warnings, "nothing is tried before the first request").toEqual([]);
    expect(await ledger.reserve(START, 2)).toMatchObject({ waitMs: 0, left: 1 });
    await ledger.accept({ now: START, sentAt: START, limit: 2, budget: { remaining: 1, until: START + 1 } });
    expect(await ledger.reserve(START, 2)).toMatchObject({ waitMs: 0, left: 0 });
    expect(warnings).toMatchObject([
      { severity: "warning", code: "provider.ledger", detail: expect.stringMatching(words) },
    ]);
    expect(JSON.stringify(warnings)).not.toContain(TOKEN);
  });
});

describe.skipIf(process.platform === "win32")("a state folder that other users can access", () => {
  const NOTE = { list: "l", name: "n", value: "whsec_of-a-webhook" };
  const inHome = (home: string) => {
    const store = openStore({ baseUrl: ORIGIN, token: TOKEN, env: { HOSTFORM_STATE_HOME: home } });
    onTestFinished(() => store.close());
    return store;
  };
  const refusal = async (step: () => unknown) => {
    const error = await Promise.resolve()
      .then(step)
      .then(
        () => undefined,
        (thrown) => thrown,
      );
    expect(error).toBeInstanceOf(HostformError);
    return (error as HostformError).diagnostics[0];
  };

  it.each<[why: string, reason: string, prepare: (home: string, away: string) => unknown]>([
    ["others may read it", "others may read or write it", (home) => mkdirSync(home, 0o755)],
    ["others may write it", "others may read or write it", (home) => [mkdirSync(home), chmodSync(home, 0o772)]],
    ["it is a link to another folder", "it is a link", (home, away) => symlinkSync(away, home)],
    ["it is a link to nothing", "it is a link", (home, away) => symlinkSync(path.join(away, "new"), home)],
    [
      "another user owns it",
      "another user owns it",
      (home) => [mkdirSync(home, 0o700), chownSync(home, NOBODY, NOBODY)],
    ],
  ])("is an error with a fix if %s, and nothing is written", async (why, reason, prepare) => {
    if (why.startsWith("another user") && process.getuid?.() !== 0) return;
    const [home, away] = [path.join(temporaryFolder(), "home"), temporaryFolder()];
    prepare(home, away);
    const said = await refusal(() => inHome(home));
    expect(said).toMatchObject({ code: "store.unsafe", summary: `${home} is not used: ${reason}` });
    expect(JSON.stringify(said?.remedies)).toMatch(/mode to 700.*HOSTFORM_STATE_HOME/);
    expect(readdirSync(away)).toEqual([]);
  });

  it("contains no store that is a link, so no secret is written to another file", async () => {
    const [home, away] = [path.join(temporaryFolder(), "home"), temporaryFolder()];
    await inHome(home).note([NOTE]);
    const [name = ""] = readdirSync(home).filter((one) => one.endsWith(".store"));
    const victim = path.join(away, "victim");
    for (const content of ["", undefined, "precious"]) {
      for (const one of readdirSync(home)) rmSync(path.join(home, one), { recursive: true });
      if (content !== undefined) writeFileSync(victim, content, { mode: 0o600 });
      symlinkSync(victim, path.join(home, name));
      expect(await refusal(() => inHome(home).note([NOTE]))).toMatchObject({ code: "store.unsafe" });
      expect(await refusal(() => inHome(home).withTurn({ project: "p", place: "x" }, async () => {}))).toMatchObject({
        code: "store.unsafe",
      });
      if (content !== undefined) expect(readFileSync(victim, "utf8")).toBe(content);
      rmSync(victim, { force: true });
      expect(readdirSync(away)).toEqual([]);
    }
  });

  it("contains no store that others may read", async () => {
    const home = path.join(temporaryFolder(), "home");
    await inHome(home).note([NOTE]);
    for (const name of readdirSync(home).filter((one) => one.endsWith(".store")))
      chmodSync(path.join(home, name), 0o644);
    expect(await refusal(() => inHome(home).note([NOTE]))).toMatchObject({ code: "store.unsafe" });
  });
});

describe("the ledger of an account", () => {
  const inFolder = (more: Partial<StoreOptions> = {}, folder = temporaryFolder()) => {
    const env = { HOSTFORM_STATE_HOME: folder, ...more.env };
    const store = openStore({ baseUrl: ORIGIN, token: TOKEN, ...more, env });
    onTestFinished(() => store.close());
    return { folder, ledger: store.requests, store };
  };
  const files = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".store"));

  it("is one file for all notations of its URL and all tokens, and another file for another origin", async () => {
    const { folder, ledger } = inFolder();
    await ledger.reserve(START, 60);
    for (const baseUrl of [`${ORIGIN}/`, `${ORIGIN}/api/v1`, `${ORIGIN.toUpperCase()}/api/v1/`])
      await inFolder({ baseUrl }, folder).ledger.reserve(START, 60);
    expect(files(folder)).toHaveLength(1);
    const { left } = await inFolder({ token: `${TOKEN}x` }, folder).ledger.reserve(START, 60);
    expect(left, "another token has a budget of its own").toBe(59);
    expect(files(folder)).toHaveLength(1);
    await inFolder({ baseUrl: "https://other.example" }, folder).ledger.reserve(START, 60);
    expect(files(folder)).toHaveLength(2);
  });

  it("has a name and content that reveal no part of the token, and only its owner can read it", async () => {
    const { folder, ledger } = inFolder();
    await ledger.reserve(START, 60);
    const [file = ""] = files(folder);
    expect(file).toMatch(/^[0-9a-f]{32}\.store$/);
    const secret = TOKEN.split("|")[1] ?? "";
    for (const name of readdirSync(folder))
      expect(name + readFileSync(path.join(folder, name), "latin1")).not.toContain(secret);
    if (process.platform !== "win32") expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it.each<[string, string, Record<string, string>]>([
    ["it is wanted", ORIGIN, { HOSTFORM_STORE: "memory" }],
    ["it is wanted by the earlier name", ORIGIN, { HOSTFORM_LEDGER: "memory" }],
    ["it is wanted for a server on this machine", "http://127.0.0.1:4711", { HOSTFORM_LEDGER: "memory" }],
    ["the server is on this machine and no home is known", "http://127.0.0.1:4711", { HOME: "", LOCALAPPDATA: "" }],
  ])("is in memory if %s, and nothing is written", async (_, baseUrl, env) => {
    const folder = temporaryFolder();
    const store = openStore({ baseUrl, token: TOKEN, env: { HOME: folder, LOCALAPPDATA: folder, ...env } });
    expect(store).toBeInstanceOf(MemoryStore);
    if (env.HOME === undefined) expect(store.habits, "each run learns the habits of the host again").toBeUndefined();
    await store.requests.reserve(START, 60);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ["banana", "has an unknown value"],
    // A CI job without its secret must not count and create alone.
    ["", "is set, but empty"],
    [" \n", "is set, but empty"],
  ])("is rejected if HOSTFORM_STORE is %j, for every server", async (HOSTFORM_STORE, words) => {
    const env = { HOSTFORM_STORE, HOSTFORM_LEDGER: "memory", HOSTFORM_STATE_HOME: temporaryFolder() };
    for (const baseUrl of [ORIGIN, "http://127.0.0.1:4711"])
      expect(await diagnosticOf(() => openStore({ baseUrl, token: TOKEN, env }))).toMatchObject({
        code: "config.invalid_value",
        summary: `The environment variable HOSTFORM_STORE ${words}`,
        remedies: [expect.stringContaining("to local (a file of this machine)")],
      });
  });

  describe("in PostgreSQL", () => {
    const PG = "postgres://nino:canary@db.example/hostform";
    const open = (env: Record<string, string>, more: Partial<StoreOptions> = {}) =>
      openStore({ baseUrl: ORIGIN, token: TOKEN, env: { HOSTFORM_STATE_HOME: temporaryFolder(), ...env }, ...more });

    it.each<[string, Record<string, string>, Partial<StoreOptions>]>([
      ["HOSTFORM_STORE is an address", { HOSTFORM_STORE: PG }, {}],
      ["HOSTFORM_STORE has pairs", { HOSTFORM_STORE: "host=db.example dbname=hostform" }, {}],
      ["the state is there", { PG_CONN_STR: PG }, { isBesideState: true }],
      [
        "the API is on this machine, and HOSTFORM_STORE is set",
        { HOSTFORM_STORE: PG },
        { baseUrl: "http://127.0.0.1:1" },
      ],
    ])("is chosen if %s", (_, env, more) => {
      expect(open(env, more)).toBeInstanceOf(PgStore);
    });

    it.each<[string, Record<string, string>, Partial<StoreOptions>]>([
      ["HOSTFORM_STORE is local", { PG_CONN_STR: PG, HOSTFORM_STORE: "local" }, { isBesideState: true }],
      ["the state is elsewhere", { PG_CONN_STR: PG }, {}],
      [
        "the API is on this machine",
        { PG_CONN_STR: PG, HOSTFORM_STATE_HOME: "", HOME: "/home/nobody" },
        { isBesideState: true, baseUrl: "http://127.0.0.1:1" },
      ],
    ])("is not chosen if %s", (_, env, more) => {
      expect(open(env, more)).toBeInstanceOf(SqliteStore);
    });

    it.each<[string, Record<string, string>, string]>([
      ["an unverified server", { HOSTFORM_STORE: `${PG}?sslmode=require` }, "config.invalid_value"],
      ["an unknown port", { HOSTFORM_STORE: "host=h port=none" }, "config.invalid_value"],
      ["another origin", { HOSTFORM_STORE: PG, HOSTFORM_ALLOWED_ORIGINS: ORIGIN }, "trust.origin"],
    ])("is rejected for %s, without its password", async (_, env, code) => {
      const failed = await diagnosticOf(() => open(env));
      expect(failed).toMatchObject({ code });
      expect(JSON.stringify(failed)).not.toContain("canary");
    });
  });

  it("is in a folder of its own for a server on this machine, without a warning if the folder is unusable", async () => {
    const home = temporaryFolder();
    const warnings: Diagnostic[] = [];
    const shared = (env: Record<string, string>) => {
      const onWarning = (warning: Diagnostic) => warnings.push(warning);
      const store = openStore({ baseUrl: "http://127.0.0.1:4711", token: TOKEN, env, onWarning });
      onTestFinished(() => store.close());
      return store.requests;
    };
    for (let i = 0; i < 2; i++) await shared({ XDG_STATE_HOME: home, LOCALAPPDATA: home }).reserve(START, 60);
    expect(files(path.join(home, "hostform", "loopback"))).toHaveLength(1);
    const file = path.join(home, "file");
    writeFileSync(file, "");
    expect(await shared({ XDG_STATE_HOME: file, LOCALAPPDATA: file }).reserve(START, 60)).toMatchObject({ waitMs: 0 });
    expect(warnings).toEqual([]);
  });

  it("removes files that were unused for 90 days, and keeps all others", async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    const days = Date.now() / 1000 - 91 * 86_400;
    const place = (name: string, old: boolean) => {
      writeFileSync(path.join(folder, name), "");
      if (old) utimesSync(path.join(folder, name), days, days);
    };
    place("old.store.damaged", true);
    place("old.store", true);
    place("old.store-wal", true);
    place("used.store", true);
    place("used.store-wal", false);
    place("recent.store", false);
    place("other.journal", true);
    await inFolder({}, folder).ledger.reserve(START, 60);
    expect(readdirSync(folder).filter((name) => !/^[0-9a-f]{32}\./.test(name))).toEqual([
      "other.journal",
      "recent.store",
      "used.store",
      "used.store-wal",
    ]);
  });

  it("removes no file if the clock is far ahead", async () => {
    const folder = temporaryFolder();
    await inFolder({ baseUrl: "https://old.example" }, folder).ledger.reserve(START, 60);
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 900 * 86_400_000);
    await inFolder({}, folder).ledger.reserve(START, 60);
    expect(files(folder)).toHaveLength(2);
  });
});

describe("the create lock of an account", () => {
  it("that another process holds is reported with the process, project and time", async () => {
    const clock = testClock();
    const warnings: Diagnostic[] = [];
    const env = { HOSTFORM_STATE_HOME: temporaryFolder() };
    const onWarning = (warning: Diagnostic) => warnings.push(warning);
    const [one, other] = [1, 2].map(() => openStore({ baseUrl: ORIGIN, token: TOKEN, env, clock, onWarning }));
    onTestFinished(async () => void (await Promise.all([one?.close(), other?.close()])));
    const waiting: unknown[] = [];
    await other?.withTurn({ project: "shop", place: "" }, async () => {
      waiting.push(one?.withTurn({ project: "acme", place: "" }, async () => {}));
      for (let i = 0; i < 600; i++) await clock.sleep(10);
    });
    await Promise.all(waiting);
    expect(warnings).toMatchObject([
      {
        code: "store.waiting",
        summary: expect.stringContaining(
          `waits for process ${process.pid} (project shop), which has held the create lock since 2026-11-21T10:00:00`,
        ),
      },
    ]);
  });
});
