import { describe, expect, test } from "vitest";
import { fail } from "../../../../src/core/model/index.ts";
import { createFileStore, decodeState } from "../../../../src/core/record/index.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { FakeDisk, freeLock } from "./fake-disk.ts";

const path = "/project/hosting.tfstate";
const journal = `${path}.journal`;
const request = { command: "apply", timeoutMs: 0 };

const storeOn = (disk: FakeDisk) => createFileStore({ path, disk, uuid: countingUuids(), lock: freeLock });
const opened = (disk: FakeDisk) => storeOn(disk).open({ ...request, write: true });
/** Returns the content of the state file. */
const onDisk = (disk: FakeDisk) => decodeState(disk.text(path) ?? "", path).state;
/** Returns the state as a reader finds it, including the journal. */
const found = async (disk: FakeDisk) => (await storeOn(disk).open({ ...request, write: false })).state;
const afterTheWorst = (disk: FakeDisk) => found(disk.afterPowerFailure({ content: "lost", names: "lost" }));
const renames = (disk: FakeDisk) =>
  disk.operations.filter((each) => /^rename .* \/project\/hosting.tfstate$/.test(each));
const lines = (disk: FakeDisk) => disk.operations.filter((each) => each === `sync ${journal}`).length - 1;

describe("an open state", () => {
  test("is empty without a put, and writes no file", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    expect(state.state).toEqual({ lineage: "", serial: 0, resources: new Map() });
    await state.remove("hosting_service.absent");
    await state.close();
    expect(disk.names.size).toBe(0);
  });

  test("syncs the unsynced change of a killed run before it reports an equal change as durable", async () => {
    const disk = new FakeDisk();
    const killed = await opened(disk);
    await killed.put(resource("hosting_service.a", "1"));
    disk.before = (operation) => {
      // Killed during the sync: the next process can read the written bytes, but a power failure loses them.
      if (operation.startsWith("sync")) throw new Error("killed");
    };
    await killed.put(resource("hosting_service.b", "2")).catch(() => undefined);
    disk.before = () => undefined;
    const next = await opened(disk);
    expect(next.recovered).toContain("hosting_service.b");
    await next.put(resource("hosting_service.b", "2"));
    expect((await afterTheWorst(disk)).resources.get("hosting_service.b")?.attributes.id).toBe("2");
  });

  test("is durable when put resolves; each run increments the serial and keeps the lineage", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    const seen = [];
    for (const id of ["1", "2", "3"]) {
      await state.put(resource(`hosting_service.s${id}`, id));
      const { lineage, serial, resources } = await afterTheWorst(disk);
      seen.push({ lineage, serial, size: resources.size });
    }
    const { lineage } = state.state;
    expect(lineage).toMatch(/^uuid-/);
    expect(seen).toEqual([1, 2, 3].map((size) => ({ lineage, serial: 0, size })));
    await state.close();
    expect([onDisk(disk).lineage, onDisk(disk).serial, onDisk(disk).resources.size]).toEqual([lineage, 1, 3]);
    const next = await opened(disk);
    await next.put(resource("hosting_service.s4", "4"));
    await next.close();
    expect([onDisk(disk).lineage, onDisk(disk).serial]).toEqual([lineage, 2]);
  });

  test("writes nothing for a put without a difference", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    await state.put(resource("hosting_service.a", "1", { attributes: { b: 1, a: [1, { y: 1, x: 2 }] } }));
    await state.put(resource("hosting_service.a", "1", { attributes: { a: [1, { x: 2, y: 1 }], b: 1 } }));
    expect([lines(disk), state.state.serial]).toEqual([1, 0]);
    await state.close();
    expect([state.state.serial, onDisk(disk).serial, renames(disk).length]).toEqual([1, 1, 1]);
  });

  test("simultaneous changes share writes, and each is durable when it resolves", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    const addresses = Array.from({ length: 50 }, (_, i) => `hosting_service.s${i}`);
    await Promise.all(
      addresses.map(async (address) => {
        await state.put(resource(address, address));
        expect((await afterTheWorst(disk)).resources.has(address)).toBe(true);
      }),
    );
    expect((await found(disk)).resources.size).toBe(50);
    expect(lines(disk)).toBe(2);
  });

  test("a put equal to an unfinished write waits for this write", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    const first = state.put(resource("hosting_service.a", "1"));
    await state.put(resource("hosting_service.a", "1"));
    expect((await afterTheWorst(disk)).resources.size).toBe(1);
    await first;
    expect(lines(disk)).toBe(1);
  });

  test("removes and moves durably; a move writes the whole state at once", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    await state.put(resource("hosting_service.a", "1"));
    await state.put(resource("hosting_webhook.h", "2"));
    const step = { from: "hosting_service.a", to: "hosting_service.b" };
    expect(await state.move([step])).toEqual([step]);
    const back = { from: step.to, to: "hosting_service.c" };
    const occupied = { from: "hosting_service.c", to: "hosting_webhook.h" };
    expect((await diagnosticOf(() => state.move([back, occupied])))?.code).toBe("usage");
    expect([...state.state.resources.keys()], "all of the moves or none").toContain(step.to);
    expect([...onDisk(disk).resources.keys()]).toEqual(["hosting_service.b", "hosting_webhook.h"]);
    expect(disk.text(journal)).toBeUndefined();
    await state.remove("hosting_service.b", "hosting_webhook.h");
    expect((await afterTheWorst(disk)).resources.size).toBe(0);
    await state.close();
    expect([onDisk(disk).resources.size, onDisk(disk).serial]).toEqual([0, 2]);
  });

  test("exchanges addresses in one write, and references follow", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    await state.put(resource("hosting_service.a", "1"));
    await state.put(resource("hosting_service.b", "2"));
    await state.put(resource("hosting_service.old", "3"));
    await state.put({
      ...resource("hosting_grant.g", "4"),
      dependencies: ["hosting_service.a", "hosting_service.old"],
    });
    await state.rearrange([
      { from: "hosting_service.a", to: "hosting_service.b" },
      { from: "hosting_service.b", to: "hosting_service.a" },
      { from: "hosting_service.old", to: "hosting_service.new" },
    ]);
    const { resources } = await afterTheWorst(disk);
    expect([...resources].map(([address, { attributes }]) => [address, attributes.id])).toEqual([
      ["hosting_grant.g", "4"],
      ["hosting_service.a", "2"],
      ["hosting_service.b", "1"],
      ["hosting_service.new", "3"],
    ]);
    expect(resources.get("hosting_grant.g")?.dependencies).toEqual(["hosting_service.a", "hosting_service.new"]);
    await state.close();
  });

  test("takes no lock and rejects changes if it is opened for reading", async () => {
    const lock = () => ({ ...freeLock(), acquire: () => Promise.reject(new Error("asked for the lock")) });
    const store = createFileStore({ path, disk: new FakeDisk(), uuid: countingUuids(), lock });
    const state = await store.open({ ...request, write: false });
    await expect(state.put(resource("hosting_service.a", "1"))).rejects.toThrow("reading only");
    await state.close();
  });

  test("rejects changes after close; a second close does nothing", async () => {
    const state = await opened(new FakeDisk());
    await state.close();
    await state.close();
    await expect(state.put(resource("hosting_service.a", "1"))).rejects.toThrow("closed");
  });
});

describe("a failed write", () => {
  test("reports the unrecorded changes, and the next write records them", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    await state.put(resource("hosting_webhook.old", "7"));
    // The first error is for the journal's line, and the second for the state that hostform writes in its place.
    disk.failures.push({ operation: "write", code: "ENOSPC" }, { operation: "write", code: "ENOSPC" });
    await diagnosticOf(() => state.remove("hosting_webhook.old"));
    const diagnostic = await diagnosticOf(() => state.put(resource("hosting_service.a", "42")));
    expect(diagnostic).toMatchObject({ code: "state.unwritable", detail: expect.stringContaining("ENOSPC") });
    expect(diagnostic?.detail).toContain(
      "Not in the state: hosting_service.a (id 42), the removal of hosting_webhook.old.",
    );
    expect([...(await found(disk)).resources.keys()]).toEqual(["hosting_webhook.old"]);
    await state.put(resource("hosting_service.b", "43"));
    expect([...onDisk(disk).resources.keys()]).toEqual(["hosting_service.a", "hosting_service.b"]);
  });

  test("does not fail later changes", async () => {
    const disk = new FakeDisk();
    const state = await opened(disk);
    disk.failures.push({ operation: "sync", code: "EIO" });
    const results = await Promise.allSettled([
      state.put(resource("hosting_service.a", "1")),
      state.put(resource("hosting_service.b", "2")),
    ]);
    expect(results.map((each) => each.status)).toEqual(["rejected", "fulfilled"]);
    expect((await found(disk)).resources.size).toBe(2);
  });

  test("checks the lock at the server, and reports the unrecorded changes if the lock is lost", async () => {
    const disk = new FakeDisk();
    let shows = true;
    let proves = true;
    const lost = (holds: boolean) => void (holds || fail("state.lost_lock", "The lock was taken over"));
    const held = { verify: () => lost(shows), prove: async () => lost(proves), release: () => undefined };
    const lock = () => ({ ...freeLock(), acquire: async () => held });
    const state = await createFileStore({ path, disk, uuid: countingUuids(), lock }).open({ ...request, write: true });
    const pending = { since: "2026-01-01T00:00:00Z", operation: "createWebhook" };
    await state.put(resource("hosting_webhook.b", null, { private: { pending } }));
    await state.proveLock();
    expect(state.lostLock()).toBeUndefined();
    proves = false;
    expect(await diagnosticOf(() => state.proveLock())).toMatchObject({ code: "state.lost_lock" });
    expect(state.lostLock(), "this shows only to the server").toBeUndefined();
    shows = false;
    expect(state.lostLock()).toMatchObject({ diagnostics: [{ code: "state.lost_lock" }] });
    expect(await diagnosticOf(() => state.put(resource("hosting_service.a", "42")))).toMatchObject({
      detail: expect.stringContaining("Not in the state: hosting_service.a (id 42)."),
    });
    expect(await diagnosticOf(() => state.remove("hosting_webhook.b"))).toMatchObject({
      detail: expect.stringContaining("hosting_service.a (id 42), hosting_webhook.b (not created)."),
    });
    await diagnosticOf(() => state.close());
    expect(state.lostLock(), "a closed state has no lock to lose").toBeUndefined();
  });

  test("a lock lost during a write of the whole state fails the write, because the new holder may have read the earlier state", async () => {
    const disk = new FakeDisk();
    let isLost = false;
    const verify = () => void (isLost && fail("state.lost_lock", "The lock was taken over"));
    const lock = () => ({ ...freeLock(), acquire: async () => ({ verify, release: () => undefined }) });
    const state = await createFileStore({ path, disk, uuid: countingUuids(), lock, whole: true }).open({
      ...request,
      write: true,
    });
    disk.before = (operation) => {
      if (operation.startsWith("rename ")) isLost = true;
    };
    expect(await diagnosticOf(() => state.put(resource("hosting_service.a", "42")))).toMatchObject({
      code: "state.lost_lock",
    });
    await diagnosticOf(() => state.close());
  });

  test("a lost lock reports the unrecorded changes, and the lock is still released", async () => {
    const disk = new FakeDisk();
    let released = 0;
    const lock = () => ({
      ...freeLock(),
      acquire: async () => ({ verify: () => undefined, release: () => void released++ }),
    });
    const state = await createFileStore({ path, disk, uuid: countingUuids(), lock }).open({ ...request, write: true });
    disk.before = (operation) => {
      if (operation.startsWith("sync ")) disk.put(path, "another program's");
    };
    const diagnostic = await diagnosticOf(() => state.put(resource("hosting_service.a", "42")));
    expect(diagnostic).toMatchObject({
      code: "state.lost_lock",
      detail: expect.stringContaining(
        "the last read or write of this run.\nNot in the state: hosting_service.a (id 42).",
      ),
    });
    expect(await diagnosticOf(() => state.close())).toMatchObject({ code: "state.lost_lock" });
    await state.close();
    expect([disk.text(path), released]).toEqual(["another program's", 1]);
  });
});
