import { expect, test } from "vitest";
import { HostformError } from "../../../../src/core/model/index.ts";
import type { OpenState } from "../../../../src/core/record/index.ts";
import { announce, LONG } from "../../../reliability/support/long.ts";
import fc, { runs } from "../../../support/fc.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { everyLuck, FakeDisk, type Luck } from "./fake-disk.ts";
import { idsOf, idsOn, journalPath, openOn, statePath } from "./journal-harness.ts";

type Step = (state: OpenState) => Promise<unknown>;
type Ids = Record<string, unknown>;

const put =
  (name: string, id: string): Step =>
  (state) =>
    state.put(resource(`hosting_service.${name}`, id));
const remove =
  (...names: string[]): Step =>
  (state) =>
    state.remove(...names.map((name) => `hosting_service.${name}`));
const move =
  (from: string, to: string): Step =>
  (state) =>
    state.move([{ from: `hosting_service.${from}`, to: `hosting_service.${to}` }]);

const exchange =
  (one: string, other: string): Step =>
  (state) =>
    state.rearrange([
      { from: `hosting_service.${one}`, to: `hosting_service.${other}` },
      { from: `hosting_service.${other}`, to: `hosting_service.${one}` },
    ]);

/** Changes that were reported as recorded, and the changes in progress that may be recorded instead. */
interface Outcome {
  readonly reported: Ids;
  readonly underWay: Ids;
}

/** Runs sessions one after the other until the disk crashes. Any other failure fails the test. */
async function run(disk: FakeDisk, sessions: readonly (readonly Step[])[]): Promise<Outcome> {
  let reported = await idsOn(disk.afterPowerFailure({ content: "kept", names: "kept" }));
  let underWay = reported;
  try {
    for (const [index, steps] of sessions.entries()) {
      const state = await openOn(disk, countingUuids(`s${index}`));
      for (const step of steps) {
        const done = step(state);
        underWay = idsOf(state);
        await done;
        reported = underWay;
      }
      await state.close();
    }
  } catch (error) {
    if (!disk.crashed) throw error;
  }
  return { reported, underWay };
}

/**
 * Returns the ids that the next run finds after a crash. Fails unless they equal the reported ids, or those in
 * progress.
 */
async function survived(disk: FakeDisk, { reported, underWay }: Outcome, what: string): Promise<Ids> {
  const found = await idsOn(disk);
  expect([reported, underWay], what).toContainEqual(found);
  return found;
}

const history: readonly (readonly Step[])[] = [
  [put("a", "1"), put("b", "2"), remove("a")],
  [put("c", "3"), put("b", "2b")],
  [exchange("b", "c"), put("a", "4"), remove("b", "c")],
];

/** Records one more resource, then removes it in a second session. */
const recovery: readonly (readonly Step[])[] = [[put("z", "9")], [remove("z")]];

test("a crash at any operation of any history loses nothing that was reported and brings nothing back", async () => {
  for (const [nth, luck] of everyLuck.entries()) {
    // `npm test` tries each operation with half of the random results of a crash.
    for (let crashAt = LONG ? 0 : nth % 2; ; crashAt += LONG ? 1 : 2) {
      const disk = new FakeDisk();
      disk.crashAt = crashAt;
      const outcome = await run(disk, history);
      const what = `crash before ${crashAt} (${disk.operations.at(-1)}), ${JSON.stringify(luck)}`;
      const survivor = disk.afterPowerFailure(luck);
      const found = await survived(survivor, outcome, what);
      // The next runs complete the interrupted change, and leave no file of it.
      await run(survivor, recovery);
      expect(await idsOn(survivor), what).toEqual(found);
      expect([...survivor.names.keys()].filter((path) => path.endsWith(".tmp"))).toEqual([]);
      expect(survivor.text(journalPath), what).toBeUndefined();
      if (!disk.crashed) break;
    }
  }
});

/** `npm test` tries one in this number of positions of the second crash. */
const STRIDE = 5;

test("a crash at any operation of the recovery from a crash, too", async () => {
  let cases = 0;
  for (let first = 0; ; first++) {
    const disk = new FakeDisk();
    disk.crashAt = first;
    const outcome = await run(disk, history);
    if (!disk.crashed) break;
    for (let second = LONG ? 0 : first % STRIDE; ; second += LONG ? 1 : STRIDE) {
      const [luck, next] = [first, first + 5 * second].map((n) => everyLuck[n % everyLuck.length] as Luck) as [
        Luck,
        Luck,
      ];
      const survivor = disk.afterPowerFailure(luck);
      survivor.crashAt = second;
      const again = await run(survivor, recovery);
      await survived(survivor.afterPowerFailure(next), again, `crashes before ${first} and ${second}`);
      // The second run found what the first run had reported.
      expect([outcome.reported, outcome.underWay]).toContainEqual(without("z", again.reported));
      cases++;
      if (!survivor.crashed) break;
    }
  }
  announce(`journal: ${cases} crashes in the recovery from a crash`);
  expect(cases).toBeGreaterThan(LONG ? 500 : 100);
});

const without = (name: string, ids: Ids) =>
  Object.fromEntries(Object.entries(ids).filter(([address]) => address !== `hosting_service.${name}`));

const codeOf = (error: unknown) => (error instanceof HostformError ? error.diagnostics[0]?.code : String(error));

const name = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(name, fc.constantFrom("1", "2", "3")).map(([at, id]) => put(at, id)) },
  { weight: 2, arbitrary: name.map((at) => remove(at)) },
  { weight: 1, arbitrary: fc.constant(move("a", "d")) },
);
const troubled = fc.record({
  sessions: fc.array(fc.array(step, { maxLength: 5 }), { minLength: 1, maxLength: 3 }),
  failures: fc.array(fc.tuple(fc.constantFrom("write", "sync", "create", "rename", "remove"), fc.nat(3)), {
    maxLength: 3,
  }),
  crashAt: fc.nat(90),
  luck: fc.constantFrom(...everyLuck),
});

test("a disk that fails now and then and crashes in the end keeps what was reported", async () => {
  await fc.assert(
    fc.asyncProperty(troubled, async ({ sessions, failures, crashAt, luck }) => {
      const disk = new FakeDisk();
      disk.crashAt = crashAt;
      const failing = failures.map(([operation, after]) => ({ operation, after }));
      disk.before = (operation) => {
        const due = failing.find((each) => operation.startsWith(each.operation) && each.after-- === 0);
        if (due !== undefined) disk.failures.push({ operation: due.operation, code: "EIO" });
      };
      // Several changes may be in progress: a failed change stays in memory, and a later change writes it too.
      let reported: Ids = {};
      let underWay: Ids[] = [{}];
      const refusals: unknown[] = [];
      const refuse = (error: unknown): false => {
        if (!disk.crashed) refusals.push(error);
        return false;
      };
      const attempt = async (change: Promise<unknown>, now: Ids) => {
        underWay.push(now);
        const done = await change.then(
          () => true,
          (error) => refuse(error),
        );
        if (!done) return;
        reported = now;
        underWay = [];
      };
      for (const [index, steps] of sessions.entries()) {
        const state = await openOn(disk, countingUuids(`s${index}`)).catch(refuse);
        if (state === false) break;
        // If a change in progress survived, this session continues from it.
        if (underWay.length > 0) await attempt(Promise.resolve(), idsOf(state));
        for (const each of steps) {
          const change = each(state);
          await attempt(change, idsOf(state));
        }
        await attempt(state.close(), idsOf(state));
        if (disk.crashed) break;
      }
      for (const each of refusals) expect(codeOf(each)).toMatch(/^(state\.unwritable|plan\.address|usage)$/);
      expect([reported, ...underWay]).toContainEqual(await idsOn(disk.afterPowerFailure(luck)));
    }),
    { numRuns: runs(600) },
  );
});

test("a state that is there although its write failed is known to hold the journal", async () => {
  for (let later = 0; ; later++) {
    const disk = new FakeDisk();
    const state = await openOn(disk);
    await state.put(resource("hosting_service.a", "1"));
    // The rename of the new state succeeds, and the sync of the folder then fails.
    disk.before = (operation) => {
      if (operation === "syncFolder /project" && disk.operations.at(-1)?.endsWith(` ${statePath}`)) {
        disk.failures.push({ operation, code: "EIO" });
        disk.before = () => undefined;
      }
    };
    const diagnostic = await diagnosticOf(() => state.move([{ from: "hosting_service.a", to: "hosting_service.b" }]));
    expect(diagnostic).toMatchObject({ code: "state.unwritable", detail: expect.stringContaining("EIO") });
    expect(await idsOn(disk)).toEqual({ "hosting_service.b": "1" });
    // The next attempt crashes, with or without a new journal. The state is then the present state or the next one.
    disk.crashAt = disk.operations.length + later;
    await state.put(resource("hosting_service.c", "2")).catch(() => undefined);
    const kept = await idsOn(disk.afterPowerFailure({ content: "kept", names: "kept" }));
    const both = { "hosting_service.b": "1", "hosting_service.c": "2" };
    expect([{ "hosting_service.b": "1" }, both]).toContainEqual(kept);
    if (!disk.crashed) {
      expect(kept).toEqual(both);
      break;
    }
  }
});
