import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, takeFileLock } from "../../../../src/core/local/index.ts";
import { createStateFileLock } from "../../../../src/core/record/index.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, manualClock } from "./builders.ts";

const request = { command: "apply", timeoutMs: 0 };
const terraformNotice =
  '{"ID":"t-1","Operation":"OperationTypeApply","Who":"bo@host","Created":"2026-01-02T03:04:00Z"}';

describe("the lock of a state file", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "hostform-lock-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const notice = () => join(folder, ".hosting.tfstate.lock.info");
  const lockFile = () => join(folder, ".hosting.tfstate.lock");
  const uuid = countingUuids();
  const lockOf = (user: string, clock = manualClock(), pid = 4711) =>
    createStateFileLock(join(folder, "hosting.tfstate"), { clock, uuid, contender: { pid, user, host: "ci-1" } });

  test("names its holder while held, and leaves no files after the release", async () => {
    const held = await lockOf("ana").acquire({ ...request, command: "plan" });
    held.verify();
    expect(JSON.parse(readFileSync(notice(), "utf8"))).toMatchObject({ Operation: "plan", Who: "ana@ci-1", Pid: 4711 });
    expect(readdirSync(folder).sort()).toEqual([".hosting.tfstate.lock", ".hosting.tfstate.lock.info"]);
    await held.release();
    await held.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("reports holder, start time and next step to a second process", async () => {
    const { pid } = process;
    const held = await lockOf("ana", undefined, pid).acquire(request);
    const diagnostic = await diagnosticOf(() => lockOf("bo").acquire(request));
    const who = `process ${pid} (apply), ana@ci-1, since 2026-01-02T03:04:05.000Z (0 s ago)`;
    const end = new RegExp(`--lock-timeout.*\`kill -CONT ${pid}\`.*\`kill -KILL ${pid}\`.*force-unlock`);
    expect(diagnostic).toMatchObject({
      code: "state.locked",
      detail: expect.stringContaining(who),
      remedies: saying(expect.stringMatching(end)),
    });
    held.verify();
    await held.release();
  });

  test.each([
    ["of another machine", { Who: "ana@ci-2", Pid: process.pid }],
    ["whose machine only ends as this one does", { Who: "ana@other-ci-1", Pid: process.pid }],
    ["with the number of no process of this machine", { Who: "ana@ci-1", Pid: 2 ** 31 }],
    ["with a number that no process can have", { Who: "ana@ci-1", Pid: 2 ** 53 }],
    ["with the number of every process", { Who: "ana@ci-1", Pid: -1 }],
    ["with the number of the own group", { Who: "ana@ci-1", Pid: 0 }],
    ["with a number that is none", { Who: "ana@ci-1", Pid: 1.5 }],
    ["with a text as its number", { Who: "ana@ci-1", Pid: "4711; reboot" }],
  ])("names no command that ends a holder %s", async (_, changed) => {
    const held = await lockOf("ana").acquire(request);
    writeFileSync(notice(), JSON.stringify({ ...JSON.parse(readFileSync(notice(), "utf8")), ...changed }));
    const diagnostic = await diagnosticOf(() => lockOf("bo").acquire(request));
    expect(diagnostic).toMatchObject({ code: "state.locked", detail: expect.stringContaining(changed.Who) });
    expect(JSON.stringify(diagnostic)).not.toMatch(/kill|reboot/);
    await held.release();
  });

  test("waits for the timeout on the injected clock", async () => {
    const held = await lockOf("ana").acquire(request);
    let slept = 0;
    const clock = manualClock(() => void slept++);
    const start = clock.now();
    await diagnosticOf(() => lockOf("bo", clock).acquire({ ...request, timeoutMs: 300_000 }));
    expect(clock.now() - start).toBe(300_000);
    expect(slept).toBeLessThan(320);
    await held.release();
  });

  test("goes to the waiting process after its release", async () => {
    const first = await lockOf("ana").acquire(request);
    const clock = manualClock(() => first.release());
    const second = await lockOf("bo", clock).acquire({ ...request, timeoutMs: 1000 });
    second.verify();
    await second.release();
  });

  test("stops waiting at the signal", async () => {
    const held = await lockOf("ana").acquire(request);
    const stop = new AbortController();
    const clock = manualClock(() => stop.abort(new Error("Ctrl-C")));
    const waiting = lockOf("bo", clock).acquire({ ...request, timeoutMs: 60_000, signal: stop.signal });
    await expect(waiting).rejects.toThrow("Ctrl-C");
    await held.release();
  });

  test("files of a dead holder are no lock", async () => {
    writeFileSync(lockFile(), "");
    writeFileSync(notice(), '{"ID":"dead","Operation":"apply","Who":"ana@ci-1","Pid":1}');
    const held = await lockOf("bo").acquire(request);
    held.verify();
    await held.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  /** Returns a hot SQLite journal that names a file to delete. */
  const journalNaming = (victim: string) => {
    const magic = Buffer.from("d9d505f920a163d7", "hex");
    const numbers = (...all: number[]) =>
      Buffer.concat(all.map((one) => Buffer.from(Uint32Array.of(one).buffer).swap32()));
    const name = Buffer.from(victim);
    const head = Buffer.concat([magic, numbers(0, 1234, 2, 512, 4096)]);
    const tail = [
      numbers(0x40000000 / 4096 + 1),
      name,
      numbers(
        name.length,
        name.reduce((a, b) => a + b, 0),
      ),
      magic,
    ];
    return Buffer.concat([head, Buffer.alloc(512 - head.length), ...tail]);
  };
  const database = (version = 1) => {
    const made = join(folder, "made.db");
    const opened = openDatabase(made);
    opened.exec("CREATE TABLE t (a)");
    opened.close();
    const bytes = readFileSync(made);
    rmSync(made);
    bytes[18] = version;
    return bytes;
  };
  const victim = () => join(folder, "victim");

  test.each<[string, () => void]>([
    [
      "a database whose journal names a file to delete",
      () => {
        writeFileSync(lockFile(), database());
        writeFileSync(`${lockFile()}-journal`, journalNaming(victim()));
      },
    ],
    [
      "a database that SQLite takes for read-only, so that its lock excludes nobody",
      () => writeFileSync(lockFile(), database(3)),
    ],
    ["a text", () => writeFileSync(lockFile(), "x")],
    ["a link to a file", () => symlinkSync(victim(), lockFile())],
    ["a link to nothing", () => symlinkSync(join(folder, "new"), lockFile())],
    ["a folder", () => mkdirSync(lockFile())],
    ["a pipe", () => execFileSync("mkfifo", [lockFile()])],
    ["an empty file with a journal", () => writeFileSync(`${lockFile()}-journal`, journalNaming(victim()))],
    ["an empty file with a write-ahead log", () => writeFileSync(`${lockFile()}-wal`, "x")],
    ["an empty file with shared memory", () => symlinkSync("nowhere", `${lockFile()}-shm`)],
  ])("%s in its place is refused, and nothing is opened, made or removed", async (_, put) => {
    writeFileSync(victim(), "precious");
    put();
    const before = readdirSync(folder);
    const diagnostics = [
      await diagnosticOf(() => lockOf("bo").acquire(request)),
      await diagnosticOf(() => lockOf("bo").takeOver()),
    ];
    for (const diagnostic of diagnostics)
      expect(diagnostic).toMatchObject({ code: "state.lock_file", detail: expect.stringContaining(lockFile()) });
    expect(readdirSync(folder)).toEqual(before);
    expect(readFileSync(victim(), "utf8")).toBe("precious");
  });

  test.each<[string, () => void]>([
    ["a pipe", () => execFileSync("mkfifo", [notice()])],
    ["a link", () => symlinkSync(victim(), notice())],
  ])("%s in place of the notice is no notice, and is not read", async (_, put) => {
    writeFileSync(victim(), terraformNotice);
    put();
    await (await lockOf("bo").acquire(request)).release();
    expect(readFileSync(victim(), "utf8")).toBe(terraformNotice);
  });

  test.each([
    ["removed", false],
    ["replaced", true],
  ])("a lock file that was %s is a lost lock", async (_reason, replaced) => {
    const held = await lockOf("ana").acquire(request);
    rmSync(lockFile());
    if (replaced) writeFileSync(lockFile(), "");
    expect(await diagnosticOf(() => held.verify())).toMatchObject({ code: "state.lost_lock" });
    await held.release();
    // The former holder must not remove the lock file of the present holder.
    expect(existsSync(lockFile())).toBe(replaced);
  });

  test("updates the time of its notice while its holder writes, at most once a second", async () => {
    const clock = manualClock();
    const held = await lockOf("ana", clock).acquire(request);
    const began = statSync(notice()).mtimeMs;
    held.verify();
    expect(statSync(notice()).mtimeMs).toBe(began);
    await clock.sleep(30_000);
    held.verify();
    await clock.sleep(7_000);
    expect(await diagnosticOf(() => lockOf("bo", clock).acquire(request))).toMatchObject({
      detail: expect.stringMatching(/\(37 s ago\), last alive 7 s ago\.$/),
    });
    const { holder } = await lockOf("bo", clock).takeOver();
    expect(holder?.lastAlive).toBe("2026-01-02T03:04:35.000Z");
  });

  test("stays held without its notice", async () => {
    const held = await lockOf("ana").acquire(request);
    rmSync(notice());
    held.verify();
    await held.release();
  });

  describe("taken over", () => {
    test("from a live holder: the holder detects it, and its end does not affect the new holder", async () => {
      const old = await lockOf("ana").acquire(request);
      expect(await lockOf("bo").takeOver()).toMatchObject({ alive: true, holder: { who: "ana@ci-1", pid: 4711 } });
      expect(readdirSync(folder)).toEqual([]);
      expect(await diagnosticOf(() => old.verify())).toMatchObject({ code: "state.lost_lock" });
      await old.release();
    });

    test("from a dead holder: only its files are removed", async () => {
      writeFileSync(lockFile(), "");
      writeFileSync(notice(), '{"ID":"dead","Operation":"apply","Who":"ana@ci-1","Pid":1}');
      expect(await lockOf("bo").takeOver()).toMatchObject({ alive: false, holder: { id: "dead" } });
      expect(readdirSync(folder)).toEqual([]);
    });
  });

  describe("beside Terraform", () => {
    test("respects Terraform's notice until its removal", async () => {
      writeFileSync(notice(), terraformNotice);
      expect(await diagnosticOf(() => lockOf("bo").acquire(request))).toMatchObject({
        code: "state.locked",
        summary: expect.stringContaining("Terraform"),
        remedies: saying(expect.stringContaining("force-unlock")),
      });
      expect(readFileSync(notice(), "utf8")).toBe(terraformNotice);
      const clock = manualClock(() => rmSync(notice(), { force: true }));
      await (await lockOf("bo", clock).acquire({ ...request, timeoutMs: 1000 })).release();
    });

    test("stops if Terraform starts while hostform holds the lock, and keeps Terraform's notice", async () => {
      const held = await lockOf("ana").acquire(request);
      writeFileSync(notice(), terraformNotice);
      expect(await diagnosticOf(() => held.verify())).toMatchObject({
        code: "state.lost_lock",
        detail: expect.stringContaining("bo@host"),
      });
      await held.release();
      expect(readdirSync(folder)).toEqual([".hosting.tfstate.lock.info"]);
    });

    test("force-unlock removes the notice of a dead Terraform process", async () => {
      writeFileSync(notice(), terraformNotice);
      expect(await lockOf("bo").takeOver()).toMatchObject({ holder: { id: "t-1" } });
      expect(existsSync(notice())).toBe(false);
    });
  });

  describe("a file that changes under a contender", () => {
    // The former holder releases the lock, which removes the file, between the opening and the locking of the file.
    const openAfter = (event: () => void) => (path: string) => {
      const database = openDatabase(path);
      event();
      return database;
    };

    test.each([
      ["removed", false],
      ["removed and created again by a third", true],
    ])("%s: the contender holds what nobody looks at, and does not take it for the lock", (_reason, again) => {
      const interfere = () => {
        rmSync(lockFile());
        if (again) writeFileSync(lockFile(), "");
      };
      expect(takeFileLock(lockFile(), openAfter(interfere))).toBeUndefined();
      expect(existsSync(lockFile())).toBe(again);
      takeFileLock(lockFile())?.free();
      expect(existsSync(lockFile())).toBe(false);
    });

    test("is freed even if the file becomes unreadable while locked", () => {
      const lock = takeFileLock(lockFile());
      rmSync(lockFile());
      symlinkSync(lockFile(), lockFile());
      expect(() => lock?.free()).toThrow(/ELOOP/);
      rmSync(lockFile());
      const next = takeFileLock(lockFile());
      expect(next?.isCurrent()).toBe(true);
      next?.free();
    });
  });
});
