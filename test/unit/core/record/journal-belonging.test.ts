import { describe, expect, test } from "vitest";
import { decodeState } from "../../../../src/core/record/index.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";
import {
  backupPath,
  idsOf,
  idsOn,
  journalPath,
  openOn,
  placeOn,
  pushOn,
  readOn,
  statePath,
  storeAt,
  storeOn,
} from "./journal-harness.ts";

const A = "hosting_service.a";
const B = "hosting_webhook.b";

/** A project whose state has one service, and a run that was killed after it recorded a webhook. Its files remain. */
async function stopped({ stateBefore = true } = {}): Promise<FakeDisk> {
  const disk = new FakeDisk();
  if (stateBefore) {
    const first = await openOn(disk, countingUuids("first"));
    await first.put(resource(A, "1"));
    await first.close();
  }
  const run = await openOn(disk, countingUuids("run"));
  await run.put(resource(B, "201", { attributes: { secret: "whsec_1" }, sensitive: ["secret"] }));
  return disk;
}

const stateOn = (disk: FakeDisk) => decodeState(disk.text(statePath) ?? "", statePath).state;
const filesOn = (disk: FakeDisk) => Object.fromEntries([...disk.names].map(([path, { text }]) => [path, text]));

describe("a journal that a stopped run left", () => {
  test("is replayed for readers and for a plan, and the files stay as they are", async () => {
    const disk = await stopped();
    const before = filesOn(disk);
    for (const open of [readOn, openOn]) {
      const state = await open(disk);
      expect([idsOf(state), state.recovered]).toEqual([{ [A]: "1", [B]: "201" }, [B]]);
      await state.close();
    }
    expect(filesOn(disk)).toEqual(before);
    expect((await readOn(new FakeDisk())).recovered).toEqual([]);
  });

  test("without any state yet, it is the state", async () => {
    const disk = await stopped({ stateBefore: false });
    const state = await readOn(disk);
    expect([idsOf(state), state.state.serial, state.state.lineage]).toEqual([{ [B]: "201" }, 0, "run-1"]);
    const next = await openOn(disk, countingUuids("next"));
    await next.put(resource(A, "1"));
    await next.close();
    expect([stateOn(disk).lineage, stateOn(disk).serial, await idsOn(disk)]).toEqual([
      "run-1",
      2,
      { [A]: "1", [B]: "201" },
    ]);
  });

  test("is folded by the first change of the next run, which has its own backup", async () => {
    const disk = await stopped();
    const next = await openOn(disk, countingUuids("next"));
    await next.put(resource("hosting_service.c", "3"));
    expect([stateOn(disk).serial, [...stateOn(disk).resources.keys()]]).toEqual([2, [A, B]]);
    await next.close();
    expect([stateOn(disk).serial, await idsOn(disk)]).toEqual([3, { [A]: "1", [B]: "201", "hosting_service.c": "3" }]);
    const backup = decodeState(disk.text(backupPath) ?? "", backupPath).state;
    expect([backup.serial, [...backup.resources.keys()]]).toEqual([2, [A, B]]);
  });

  test("is folded on demand, without any change; a second time, and where there is none, nothing is written", async () => {
    const disk = await stopped();
    const next = await openOn(disk, countingUuids("next"));
    await next.settle();
    expect([next.state.serial, stateOn(disk).serial, disk.text(journalPath)]).toEqual([2, 2, undefined]);
    expect(await idsOn(disk)).toEqual({ [A]: "1", [B]: "201" });
    const before = disk.operations.length;
    await next.settle();
    await next.close();
    expect([disk.operations.length, stateOn(disk).serial]).toEqual([before, 2]);
    await expect((await readOn(disk)).settle()).rejects.toThrow("reading only");
  });

  test("forgets what was removed: also a mark of Terraform on the object that was there before", async () => {
    const disk = await stopped();
    const tainted = (disk.text(statePath) ?? "").replace('"schema_version"', '"status": "tainted",\n"schema_version"');
    disk.put(statePath, tainted);
    disk.names.delete(journalPath);
    const run = await openOn(disk);
    expect(run.tainted).toEqual([A]);
    // The last two changes share one line of the journal.
    await Promise.all([run.put(resource(B, "2")), run.remove(A), run.put(resource(A, "1"))]);
    const recovered = await openOn(disk);
    expect([recovered.tainted, idsOf(recovered)]).toEqual([[], { [A]: "1", [B]: "2" }]);
    await run.close();
    expect((await readOn(disk)).tainted).toEqual([]);
  });

  test("is dropped when the state has it all: the run was stopped after the fold", async () => {
    const disk = await stopped();
    const copy = disk.text(journalPath) ?? "";
    const run = await openOn(disk);
    let last = copy;
    disk.before = (operation) => {
      if (operation === `remove ${journalPath}`) last = disk.text(journalPath) ?? "";
    };
    await run.put(resource("hosting_service.c", "3"));
    await run.close();
    disk.put(journalPath, last);
    const found = await readOn(disk);
    expect([Object.keys(idsOf(found)), found.recovered]).toEqual([[A, "hosting_service.c", B], []]);
    expect(disk.text(journalPath)).toBe(last);
    await (await openOn(disk)).close();
    expect(disk.text(journalPath)).toBeUndefined();
  });

  test.each([1, 2, 3])("a reader without the lock may see a fold in between (%s times)", async (count) => {
    const disk = await stopped();
    const run = await openOn(disk);
    const ready = new FakeDisk(filesOn(disk));
    await run.put(resource("hosting_service.c", "3"));
    await run.close();
    // Reads the journal before the fold, and the state after it.
    let times = 0;
    const place = placeOn(ready, (text) => ({
      text: {
        name: text.name,
        prepare: () => text.prepare(),
        write: (given, verify) => text.write(given, verify),
        read: () => {
          ready.put(statePath, disk.text(statePath) ?? "");
          if (++times === count) ready.names.delete(journalPath);
          return text.read();
        },
      },
    }));
    const state = await storeAt(place).open({ command: "read", timeoutMs: 0, write: false });
    expect(idsOf(state)).toEqual(await idsOn(disk));
    expect(times).toBe(count + 1);
  });
});

describe("a journal that belongs to another state", () => {
  const older = (disk: FakeDisk) => JSON.stringify({ ...JSON.parse(disk.text(statePath) ?? ""), serial: 0 });
  const other = (disk: FakeDisk) => JSON.stringify({ ...JSON.parse(disk.text(statePath) ?? ""), lineage: "another" });

  test.each([
    [
      "of another serial",
      (disk: FakeDisk) => disk.put(statePath, older(disk)),
      /serial 1 of lineage first-1\..*hosting\.tfstate has serial 0/,
    ],
    [
      "of another lineage",
      (disk: FakeDisk) => disk.put(statePath, other(disk)),
      /hosting\.tfstate has serial 1 of lineage another/,
    ],
    ["that is not there", (disk: FakeDisk) => disk.names.delete(statePath), /hosting\.tfstate is absent/],
  ])("%s is refused, says what it holds, and everything stays", async (_reason, replace, detail) => {
    const disk = await stopped();
    replace(disk);
    const before = filesOn(disk);
    for (const action of [() => readOn(disk), () => openOn(disk), () => storeOn(disk).pull()]) {
      const diagnostic = await diagnosticOf(action);
      expect(diagnostic).toMatchObject({
        code: "state.journal",
        detail: expect.stringMatching(detail),
        remedies: saying(
          expect.stringMatching(/Restore the state with serial 1.*hosting\.tfstate\.backup.*move .*\.journal away/),
        ),
      });
      expect(diagnostic?.detail).toContain(`The journal holds: ${B} (id 201).`);
      expect(JSON.stringify(diagnostic)).not.toContain("whsec_1");
    }
    expect(filesOn(disk)).toEqual(before);
  });

  test("a state that cannot be read is reported, with its journal", async () => {
    const disk = await stopped();
    disk.put(statePath, "");
    expect(await diagnosticOf(() => readOn(disk))).toMatchObject({
      code: "state.unreadable",
      detail: expect.stringMatching(/\n.*journal of an interrupted run continues serial 1 of lineage first-1/),
    });
  });

  test("a journal without any change belongs to every state, and goes", async () => {
    const disk = await stopped();
    disk.put(journalPath, (disk.text(journalPath) ?? "").split("\n")[0] ?? "");
    disk.put(statePath, other(disk));
    expect(await idsOn(disk)).toEqual({ [A]: "1" });
    await (await openOn(disk)).close();
    expect(disk.text(journalPath)).toBeUndefined();
  });
});

describe("pull and push beside a journal", () => {
  test("pull gives what the state will be; pushing that ends the stopped run", async () => {
    const disk = await stopped();
    const text = (await storeOn(disk).pull()) ?? "";
    const { serial, resources } = decodeState(text, "pulled").state;
    expect([serial, [...resources.keys()]]).toEqual([2, [A, B]]);
    await pushOn(disk, text);
    expect([disk.text(statePath), disk.text(journalPath)]).toEqual([text, undefined]);
  });

  test("a successor is accepted, and what the journal held is in the backup", async () => {
    const disk = await stopped();
    const pulled = (await storeOn(disk).pull()) ?? "";
    const next = pulled.replace('"serial": 2', '"serial": 3').replace('"201"', '"202"');
    await pushOn(disk, next);
    expect([disk.text(statePath), disk.text(backupPath), disk.text(journalPath)]).toEqual([next, pulled, undefined]);
  });

  test("what knows nothing of the journal is refused, and by force the journal is in the backup", async () => {
    const disk = await stopped();
    const pulled = await storeOn(disk).pull();
    const edited = (disk.text(statePath) ?? "").replace('"serial": 1', '"serial": 2');
    const before = filesOn(disk);
    expect(await diagnosticOf(() => pushOn(disk, edited))).toMatchObject({ code: "state.conflict" });
    expect(filesOn(disk)).toEqual(before);
    await pushOn(disk, edited, true);
    expect([disk.text(statePath), disk.text(backupPath), disk.text(journalPath)]).toEqual([edited, pulled, undefined]);
  });

  test.each([
    ["that was lost", (disk: FakeDisk) => disk.names.delete(statePath), false],
    [
      "that another took the place of",
      (disk: FakeDisk) => disk.put(statePath, '{"version":4,"serial":9,"lineage":"x"}'),
      true,
    ],
    ["that was emptied", (disk: FakeDisk) => disk.put(statePath, ""), true],
  ])("putting back the state of the journal, %s, makes the two one again", async (_reason, lose, force) => {
    const disk = await stopped();
    const state = disk.text(statePath) ?? "";
    lose(disk);
    await pushOn(disk, state, force);
    expect([disk.text(statePath), await idsOn(disk)]).toEqual([state, { [A]: "1", [B]: "201" }]);
  });

  test.each([true, false])("any other state is refused while the journal fits none (force: %s)", async (force) => {
    const disk = await stopped();
    disk.names.delete(statePath);
    const before = filesOn(disk);
    const given = '{"version":4,"serial":9,"lineage":"x"}';
    expect(await diagnosticOf(() => pushOn(disk, given, force))).toMatchObject({ code: "state.journal" });
    expect(filesOn(disk)).toEqual(before);
  });
});
