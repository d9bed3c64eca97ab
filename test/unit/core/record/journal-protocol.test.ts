import { describe, expect, test } from "vitest";
import { fail } from "../../../../src/core/model/index.ts";
import { createFileStore, createStateStore, decodeState, Encryption } from "../../../../src/core/record/index.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { FakeDisk, freeLock } from "./fake-disk.ts";
import { idsOf, idsOn, journalPath, openOn, placeOn, readOn, statePath, storeOn } from "./journal-harness.ts";

const A = "hosting_service.a";
const B = "hosting_service.b";
const request = { command: "apply", timeoutMs: 0, write: true };
const stateOn = (disk: FakeDisk) => decodeState(disk.text(statePath) ?? "", statePath).state;

describe("the order of operations", () => {
  test.each(["EBUSY", "EPERM", "EACCES", "EDQUOT"])(
    "no journal is begun, so that no request leaves, when the state cannot be replaced (%s)",
    async (code) => {
      const disk = new FakeDisk();
      const first = await openOn(disk);
      await first.put(resource(A, "1"));
      await first.close();
      const before = disk.text(statePath);
      const state = await openOn(disk, countingUuids("next"));
      disk.failures.push({ operation: "rename /project/.hosting.tfstate.next-2.tmp", code });
      expect(await diagnosticOf(() => state.put(resource(B, "2")))).toMatchObject({
        code: "state.unwritable",
        detail: expect.stringContaining(code),
      });
      expect([disk.text(journalPath), disk.text(statePath)]).toEqual([undefined, before]);
    },
  );

  test.each(["before", "after"])(
    "a writer that lost its lock %s the line was written gets an error",
    async (moment) => {
      const disk = new FakeDisk();
      let lost = false;
      const lock = () => ({
        ...freeLock(),
        acquire: async () => ({
          verify: () => (lost ? fail("state.lost_lock", "The lock was taken over") : undefined),
          release: () => undefined,
        }),
      });
      const state = await createFileStore({ path: statePath, disk, uuid: countingUuids(), lock }).open(request);
      await state.put(resource(A, "1"));
      const text = disk.text(journalPath);
      if (moment === "before") lost = true;
      disk.before = (operation) => {
        if (operation === `sync ${journalPath}`) lost = true;
      };
      expect(await diagnosticOf(() => state.put(resource(B, "2")))).toMatchObject({
        code: "state.lost_lock",
        // The message names no file, because the other run may have taken over the journal too.
        detail:
          "Not in the state: hosting_service.b (id 2).\nEarlier changes are in the journal or in the state. The next run continues from there.",
      });
      expect(disk.text(journalPath) === text).toBe(moment === "before");
      // This run writes nothing more, neither the state nor its journal.
      const before = disk.text(journalPath);
      expect(await diagnosticOf(() => state.close())).toMatchObject({ code: "state.lost_lock" });
      expect([disk.text(journalPath), disk.text(statePath)]).toEqual([before, undefined]);
    },
  );

  test.each([
    ["lost its lock", (disk: FakeDisk) => void disk, true],
    ["found the state written by another program", (disk: FakeDisk) => disk.put(statePath, "another program's"), false],
  ])("a writer that %s before its first line leaves the journal that is there by now", async (_, write, takenOver) => {
    const disk = new FakeDisk();
    let lost = false;
    const verify = () => (lost ? fail("state.lost_lock", "The lock was taken over") : undefined);
    const lock = () => ({ ...freeLock(), acquire: async () => ({ verify, release: () => undefined }) });
    const state = await createFileStore({ path: statePath, disk, uuid: countingUuids(), lock }).open(request);
    lost = takenOver;
    write(disk);
    disk.put(journalPath, "another run's");
    expect(await diagnosticOf(() => state.put(resource(A, "1")))).toMatchObject({ code: "state.lost_lock" });
    expect(disk.text(journalPath)).toBe("another run's");
  });

  test("a failed replacement of a journal leaves no temporary file", async () => {
    const disk = new FakeDisk();
    await (await openOn(disk)).put(resource(A, "1"));
    const next = await openOn(disk);
    disk.failures.push({ operation: "rename", code: "EIO" });
    expect(await diagnosticOf(() => next.settle())).toMatchObject({ code: "state.unwritable" });
    expect([...disk.names.keys()]).toEqual([journalPath]);
  });

  test("a state written by another program meanwhile gets no further changes", async () => {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource(A, "1"));
    disk.put(statePath, "another program's");
    const before = disk.text(journalPath);
    expect(await diagnosticOf(() => state.put(resource(B, "2")))).toMatchObject({ code: "state.lost_lock" });
    expect(await diagnosticOf(() => state.close())).toMatchObject({ code: "state.lost_lock" });
    expect([disk.text(statePath), disk.text(journalPath)]).toEqual(["another program's", before]);
  });
});

describe("an unwritable journal", () => {
  test.each(["write", "sync"])("is replaced with a write of the whole state (%s fails)", async (operation) => {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource(A, "1"));
    disk.failures.push({ operation: `${operation} ${journalPath}`, code: "ENOSPC" });
    expect(await diagnosticOf(() => state.put(resource(B, "2")))).toMatchObject({
      code: "state.unwritable",
      detail: expect.stringMatching(/ENOSPC.*\nNot in the state: hosting_service\.b \(id 2\)\.\n/),
    });
    await state.put(resource("hosting_service.c", "3"));
    expect([Object.keys(await idsOn(disk)), disk.text(journalPath)]).toEqual([[A, B, "hosting_service.c"], undefined]);
    // After that, a new journal exists.
    await state.put(resource("hosting_service.d", "4"));
    expect([stateOn(disk).resources.size, Object.keys(await idsOn(disk)).length]).toEqual([3, 4]);
    await state.close();
    expect([stateOn(disk).serial, stateOn(disk).resources.size]).toEqual([2, 4]);
  });

  test("is written again in full after it was moved away", async () => {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource(A, "1"));
    disk.names.delete(journalPath);
    expect(await diagnosticOf(() => state.put(resource(B, "2")))).toMatchObject({
      code: "state.unwritable",
      detail: expect.stringContaining("moved, removed or written by another program"),
    });
    await state.close();
    expect(await idsOn(disk)).toEqual({ [A]: "1", [B]: "2" });
  });

  test("a failed fold names the place of the changes, and the next run has them", async () => {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource(A, "1"));
    disk.failures.push({ operation: "rename", code: "EIO" });
    const diagnostic = await diagnosticOf(() => state.close());
    expect(diagnostic).toMatchObject({
      code: "state.unwritable",
      detail: expect.stringMatching(/EIO.*\nEarlier changes are in .*hosting\.tfstate\.journal/),
    });
    expect(diagnostic?.detail).not.toContain("Not in the state");
    expect(await idsOn(disk)).toEqual({ [A]: "1" });
  });
});

describe("the journal of an encrypted state", () => {
  const key = (fill: number) =>
    new Encryption({ key: { from: "key", variable: "HOSTFORM_STATE_KEY", bytes: Buffer.alloc(32, fill) } });
  const storeWith = (disk: FakeDisk, encryption?: Encryption) =>
    createStateStore(async () => placeOn(disk), countingUuids(), encryption);
  const secret = () => resource(A, "1", { attributes: { secret: "whsec_canary", domain: "canary.example" } });

  test("contains no clear text, and is replayed and folded like any journal", async () => {
    const disk = new FakeDisk();
    const run = await storeWith(disk, key(1)).open(request);
    await run.put(secret());
    expect(disk.text(journalPath)).not.toContain("canary");
    const found = await storeWith(disk, key(1)).open({ ...request, write: false });
    expect([idsOf(found), found.recovered]).toEqual([{ [A]: "1" }, [A]]);
    const next = await storeWith(disk, key(1)).open(request);
    await next.put(resource(B, "2"));
    await next.close();
    expect([disk.text(statePath), disk.text(journalPath)]).toEqual([expect.not.stringContaining("canary"), undefined]);
    expect(idsOf(await storeWith(disk, key(1)).open({ ...request, write: false }))).toEqual({ [A]: "1", [B]: "2" });
  });

  test.each([
    ["another key", key(2)],
    ["no key", undefined],
  ])("is refused with %s", async (_reason, encryption) => {
    const disk = new FakeDisk();
    await (await storeWith(disk, key(1)).open(request)).put(secret());
    const opening = () => storeWith(disk, encryption).open(request);
    expect(await diagnosticOf(opening)).toMatchObject({ code: "state.key" });
  });

  test("is rejected for another serial, whatever its first line contains", async () => {
    const disk = new FakeDisk();
    await (await storeWith(disk, key(1)).open(request)).put(secret());
    const { chainLine, readChain, CHAIN_START } = await import("../../../../src/core/record/journal-lines.ts");
    const [head = "", line = ""] = readChain(disk.text(journalPath) ?? "").payloads;
    const forged = chainLine(CHAIN_START, head.replace('"serial":0', '"serial":1'));
    disk.put(journalPath, forged.line + chainLine(forged.sum, line).line);
    const opening = () => storeWith(disk, key(1)).open(request);
    expect(await diagnosticOf(opening)).toMatchObject({
      code: "state.journal",
      summary: expect.stringContaining("corrupted"),
    });
  });

  test("reports a changed line with the readable lines before and after it", async () => {
    const disk = new FakeDisk();
    const run = await storeWith(disk, key(1)).open(request);
    for (const [index, address] of [A, B, "hosting_service.c", "hosting_service.d"].entries())
      await run.put(resource(address, `${index}`));
    const [head, a, b = "", ...more] = (disk.text(journalPath) ?? "").split("\n");
    disk.put(journalPath, [head, a, `${b.slice(0, -9)}AAAAAAAA=`, ...more].join("\n"));
    expect(await diagnosticOf(() => storeWith(disk, key(1)).open(request))).toMatchObject({
      code: "state.journal",
      detail: expect.stringMatching(
        /Line 3 .*: hosting_service\.a \(id 0\), hosting_service\.c .*, hosting_service\.d /,
      ),
    });
  });

  test.each([0, 1])(
    "is folded before the state is encrypted, so that none stays in the clear (journal: %s)",
    async (lines) => {
      const disk = new FakeDisk();
      const first = await openOn(disk);
      await first.put(resource(B, "2"));
      await first.close();
      if (lines > 0) await (await openOn(disk)).put(secret());
      await storeWith(disk, key(1)).reseal({ to: "sealed" }, request);
      for (const { text } of disk.names.values()) expect(text).not.toContain("canary");
      expect(disk.text(journalPath)).toBeUndefined();
      const found = await storeWith(disk, key(1)).open({ ...request, write: false });
      expect(Object.keys(idsOf(found))).toEqual(lines > 0 ? [A, B] : [B]);
    },
  );
});

test("a store reopened by each operation finds the journal of the previous operation", async () => {
  const disk = new FakeDisk();
  const store = storeOn(disk);
  await (await store.open(request)).put(resource(A, "1"));
  expect((await readOn(disk)).recovered).toEqual([A]);
});
