import { expect, test } from "vitest";
import type { OpenState } from "../../../src/record/index.ts";
import fc from "../../support/fc.ts";
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
  (name: string): Step =>
  (state) =>
    state.remove(`hosting_service.${name}`);
const move =
  (from: string, to: string): Step =>
  (state) =>
    state.move(`hosting_service.${from}`, `hosting_service.${to}`);

/** What was reported as recorded, and what may be there instead because it was under way. */
interface Outcome {
  readonly reported: Ids;
  readonly underWay: Ids;
}

/** Runs sessions one after the other until the disk crashes. Any other failure is an error of the test. */
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

/** What the next run finds after a crash; fails the test when that is not all that was reported and no more. */
async function survived(disk: FakeDisk, { reported, underWay }: Outcome, what: string): Promise<Ids> {
  const found = await idsOn(disk);
  expect([reported, underWay], what).toContainEqual(found);
  return found;
}

const history: readonly (readonly Step[])[] = [
  [put("a", "1"), put("b", "2"), remove("a")],
  [put("c", "3"), put("b", "2b")],
  [move("c", "d"), put("a", "4"), remove("b", "d")],
].map((steps) => steps.flat());

/** Records one thing more in two sessions and ends both. */
const recovery: readonly (readonly Step[])[] = [[put("z", "9")], [remove("z")]];

test("a crash at any operation of any history loses nothing that was reported and brings nothing back", async () => {
  for (const luck of everyLuck) {
    for (let crashAt = 0; ; crashAt++) {
      const disk = new FakeDisk();
      disk.crashAt = crashAt;
      const outcome = await run(disk, history);
      const what = `crash before ${crashAt} (${disk.operations.at(-1)}), ${JSON.stringify(luck)}`;
      const survivor = disk.afterPowerFailure(luck);
      const found = await survived(survivor, outcome, what);
      // Whatever it was, the next runs end it, and nothing is left of it.
      await run(survivor, recovery);
      expect(await idsOn(survivor), what).toEqual(found);
      expect([...survivor.names.keys()].filter((name) => name.endsWith(".tmp"))).toEqual([]);
      if (found !== undefined && Object.keys(found).length > 0) expect(survivor.text(journalPath)).toBeUndefined();
      if (!disk.crashed) break;
    }
  }
});

test("a crash at any operation of the recovery from a crash, too", async () => {
  let cases = 0;
  for (let first = 0; ; first++) {
    const disk = new FakeDisk();
    disk.crashAt = first;
    const outcome = await run(disk, history);
    if (!disk.crashed) break;
    for (let second = 0; ; second++) {
      const [luck, next] = [first, first + 5 * second].map((n) => everyLuck[n % everyLuck.length] as Luck) as [Luck, Luck];
      const survivor = disk.afterPowerFailure(luck);
      survivor.crashAt = second;
      const again = await run(survivor, recovery);
      await survived(survivor.afterPowerFailure(next), again, `crashes before ${first} and ${second}`);
      // What the second run found was what the first had reported.
      expect([outcome.reported, outcome.underWay]).toContainEqual(without("z", again.reported));
      cases++;
      if (!survivor.crashed) break;
    }
  }
  expect(cases).toBeGreaterThan(500);
});

const without = (name: string, ids: Ids) =>
  Object.fromEntries(Object.entries(ids).filter(([address]) => address !== `hosting_service.${name}`));

const name = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(name, fc.constantFrom("1", "2", "3")).map(([at, id]) => put(at, id)) },
  { weight: 2, arbitrary: name.map(remove) },
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
      // Several things may be under way: a change that failed stays in memory, and goes out with a later one.
      let reported: Ids = {};
      let underWay: Ids[] = [{}];
      try {
        for (const steps of sessions) {
          const state = await openOn(disk);
          for (const each of steps) {
            const done = each(state).then(
              () => true,
              () => false,
            );
            const now = idsOf(state);
            underWay.push(now);
            if (await done) {
              reported = now;
              underWay = [now];
            }
            if (disk.crashed) throw new Error("crashed");
          }
          await state.close().then(
            () => {
              reported = idsOf(state);
              underWay = [reported];
            },
            () => undefined,
          );
          const left = await idsOn(disk.afterPowerFailure({ content: "kept", names: "kept" }));
          underWay.push(left);
        }
      } catch (error) {
        if (!disk.crashed && (error as Error).message !== "crashed" && !String(error).includes("state")) throw error;
      }
      expect([reported, ...underWay]).toContainEqual(await idsOn(disk.afterPowerFailure(luck)));
    }),
    { numRuns: 600 },
  );
});

test("a state whose write failed halfway and was tried again is known to be folded", async () => {
  const disk = new FakeDisk();
  const state = await openOn(disk);
  await state.put(resource("hosting_service.a", "1"));
  // The new state stands at its place, but the folder could not be synced.
  disk.before = (operation) => {
    if (operation === "syncFolder /project" && disk.operations.at(-1)?.startsWith("rename")) {
      disk.failures.push({ operation: "syncFolder", code: "EIO" });
      disk.before = () => undefined;
    }
  };
  expect(await diagnosticOf(() => state.move("hosting_service.a", "hosting_service.b"))).toMatchObject({
    code: "state.unwritable",
  });
  expect(Object.keys(await idsOn(disk))).toEqual(["hosting_service.b"]);
  // The next attempt begins with the journal; it crashes before it gets to the state.
  const at = disk.operations.length;
  for (let crashAt = at; ; crashAt++) {
    const copy = disk.afterPowerFailure({ content: "kept", names: "kept" });
    expect(Object.keys(await idsOn(copy))).toEqual(["hosting_service.b"]);
    disk.crashAt = crashAt;
    await state.put(resource("hosting_service.b", `${crashAt}`)).catch(() => undefined);
    if (!disk.crashed) break;
    disk.crashed = false;
    expect(Object.keys(await idsOn(disk.afterPowerFailure({ content: "kept", names: "kept" })))).toHaveLength(1);
  }
  expect(disk.text(statePath)).toContain("hosting_service");
});
