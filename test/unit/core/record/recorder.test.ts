// The disk after one failed write of a recorder. Each case fails alone, in addition to the crashes at any operation.
import { describe, expect, test } from "vitest";
import { decodeState } from "../../../../src/core/record/index.ts";
import { diagnosticOf, resource } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";
import { idsOn, journalPath, openOn, placeOn, readOn, statePath, storeAt } from "./journal-harness.ts";

const A = "hosting_service.a";
const B = "hosting_service.b";
const fails = (disk: FakeDisk, ...operations: string[]) => {
  for (const operation of operations) disk.failures.push({ operation, code: "EIO" });
};

describe("a journal whose first line fails", () => {
  test.each(["create", "write", "sync"])(
    "holds nothing, is not named, and goes with the next write (%s)",
    async (step) => {
      const disk = new FakeDisk();
      const state = await openOn(disk);
      fails(disk, `${step} ${journalPath}`);
      const diagnostic = await diagnosticOf(() => state.put(resource(A, "1")));
      expect(diagnostic?.detail).toMatch(
        /^\/project\/hosting\.tfstate: EIO.*\nNot in the state: hosting_service\.a \(id 1\)\.$/,
      );
      expect(diagnostic?.detail).not.toContain("Earlier changes");
      await state.put(resource(B, "2"));
      expect([disk.text(journalPath), await idsOn(disk)]).toEqual([undefined, { [A]: "1", [B]: "2" }]);
      expect((await readOn(disk)).warnings).toEqual([]);
    },
  );
});

describe("a journal after a failed line", () => {
  test("gets no further lines, and its earlier lines are read if the state cannot be written either", async () => {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource(A, "1"));
    // A part of the line was written.
    fails(disk, `write ${journalPath}`, "rename /project/.hosting");
    await diagnosticOf(() => state.put(resource(B, "2")));
    const diagnostic = await diagnosticOf(() => state.put(resource(B, "2b")));
    expect(diagnostic?.detail).toMatch(/Not in the state: hosting_service\.b \(id 2b\)\.\nEarlier changes are in/);
    expect(await idsOn(disk)).toEqual({ [A]: "1" });
    await state.close();
    expect([disk.text(journalPath), await idsOn(disk)]).toEqual([undefined, { [A]: "1", [B]: "2b" }]);
  });

  test("accepts each announced state, because a failed write may have reached the disk", async () => {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource(A, "1"));
    // The rename of the new state succeeds, and the sync of the folder then fails.
    disk.before = (operation) => {
      if (operation.startsWith("syncFolder") && disk.operations.at(-1)?.endsWith(` ${statePath}`))
        fails(disk, operation);
    };
    await diagnosticOf(() => state.move([{ from: A, to: B }]));
    disk.before = (operation) => {
      // The next attempt has recorded what it writes, and is killed before the rename.
      if (operation.endsWith(`.tmp ${statePath}`)) throw new Error("killed");
    };
    await state.put(resource(A, "2")).catch(() => undefined);
    expect(await idsOn(disk)).toEqual({ [B]: "1" });
  });
});

describe("a run killed during a fold loses no recorded change", () => {
  const killed = (disk: FakeDisk, isIt: (operation: string) => boolean) => {
    disk.before = (operation) => {
      if (isIt(operation)) throw new Error("killed");
    };
  };

  test.each([
    ["the journal is an earlier run's", (disk: FakeDisk) => openOn(disk)],
    ["a line of its own journal failed", undefined],
  ])("when the state is there and the journal not gone, and %s", async (_, next) => {
    const disk = new FakeDisk();
    const first = await openOn(disk);
    await first.put(resource(A, "1"));
    if (next === undefined) {
      fails(disk, `sync ${journalPath}`);
      await diagnosticOf(() => first.put(resource(B, "2")));
    }
    const state = (await next?.(disk)) ?? first;
    killed(disk, (operation) => operation === `remove ${journalPath}`);
    await state.put(resource(B, "2")).catch(() => undefined);
    expect(await idsOn(disk)).toMatchObject({ [A]: "1" });
    expect((await readOn(disk)).recovered).toEqual([]);
  });
});

test("an unreadable journal prevents the opening of the state", async () => {
  const disk = new FakeDisk();
  await (await openOn(disk)).put(resource(A, "1"));
  for (const open of [readOn, openOn]) {
    fails(disk, `read ${journalPath}`);
    expect(await diagnosticOf(() => open(disk))).toMatchObject({
      code: "state.journal",
      summary: "The journal of the state cannot be read",
      detail: expect.stringContaining(`${journalPath}: EIO`),
    });
  }
});

test("no file stays open after the end, whatever operation fails", async () => {
  for (const operation of ["create", "write", "sync", "rename", "remove", "syncFolder"]) {
    for (let skipped = 0; skipped < 6; skipped++) {
      const disk = new FakeDisk();
      const state = await openOn(disk);
      let due = skipped;
      disk.before = (each) => {
        if (each.startsWith(`${operation} `) && due-- === 0) fails(disk, operation);
      };
      for (const id of ["1", "2"]) await state.put(resource(A, id)).catch(() => undefined);
      await state.close().catch(() => undefined);
      expect(disk.openFiles, `${operation} fails after ${skipped}`).toBe(0);
    }
  }
});

test("a backend without a journal keeps an unwritable state as the next state", async () => {
  const disk = new FakeDisk();
  const kept: string[] = [];
  const { text, lock } = placeOn(disk, (own) => ({
    text: Object.assign(own, { keep: async (given: string) => void kept.push(given) }),
  }));
  const state = await storeAt({ text, lock }).open({ command: "apply", timeoutMs: 0, write: true });
  await state.put(resource(A, "1"));
  fails(disk, "rename", "rename");
  await diagnosticOf(() => state.put(resource(B, "2")));
  expect(kept).toEqual([]);
  await diagnosticOf(() => state.close());
  const [before, after] = [disk.text(statePath) ?? "", ...kept].map((each) => decodeState(each, "kept").state);
  expect(kept).toHaveLength(1);
  expect([after?.lineage, after?.serial]).toEqual([before?.lineage, 2]);
  expect([...(after?.resources.keys() ?? [])]).toEqual([A, B]);
});
