/**
 * `kill -9` of Terraform and its provider before each of their effects, in every command of every kind: each request,
 * each journal entry, each secret output, and each record of Terraform. New processes then repeat the command.
 * Nothing is created twice, no object is tainted, and no secret is lost on the same machine. On another machine
 * without the store, an error that offers an import is acceptable.
 */
import { describe, expect, it } from "vitest";
import { type Kind, kinds } from "../../src/core/kinds/index.ts";
import { LONG, sampled } from "../reliability/support/long.ts";
import { Life } from "../support/terraform-core-process.ts";
import { begin, type Course, coursesOf, expectSettled } from "./terraform-courses.ts";
import { type Remains, untilSettled } from "./terraform-recovery.ts";

/** Data that remains after a killed command. */
const AFTERMATHS: readonly (Remains & { what: string; state: boolean; hours?: number })[] = [
  { what: "", store: true, state: true },
  // Longer than hostform trusts the key of an order.
  { what: ", an hour later", store: true, state: true, hours: 1 },
  // Terraform pushes a remote state at intervals: a kill loses the latest records.
  { what: ", the state not pushed", store: true, state: false },
  { what: ", on another machine", store: false, state: true },
  { what: ", on another machine, the state not pushed", store: false, state: false },
];

/**
 * Selects the effects for `npm test`. Right after the kill: every fourth effect of a create, and every twelfth effect and the last
 * effect of other commands. In a later aftermath: one effect.
 */
const killsOf = (effects: readonly string[], aftermath: number, creates: boolean, turn: number) => {
  const last = effects.length - 1;
  const isTaken = (at: number) => {
    if (aftermath > 0) return at === (aftermath + turn) % effects.length;
    return at === last || at % (creates ? 4 : 12) === turn % (creates ? 4 : 12);
  };
  return [...effects.entries()].filter(([at]) => LONG || isTaken(at));
};

/** Counts the commands. The number of a command selects the effect to interrupt. */
let commands = 0;

/** Returns the effects of an undisturbed command. Fails if the command fails. */
async function undisturbed(kind: Kind, course: Course): Promise<readonly string[]> {
  const subject = await begin(kind, course);
  const life = new Life();
  await subject.apply(course.declared(subject), { ...course.options, life });
  const effects = [...life.effects];
  await expectSettled(subject, course);
  return effects;
}

describe.each([...kinds.values()])("$type", (kind) => {
  describe.each(coursesOf(kind))("$name", (course) => {
    const turn = commands++;
    let counted: Promise<readonly string[]> | undefined;
    const ofCourse = () => {
      counted ??= undisturbed(kind, course);
      return counted;
    };

    // A lost store matters only for creates: later runs then find objects only in the account.
    const creates = course.name.startsWith("create");
    const aftermaths = creates ? AFTERMATHS : [...AFTERMATHS.slice(0, 1), ...sampled(AFTERMATHS.slice(1, 3), 2, turn)];
    it.each(LONG ? AFTERMATHS : aftermaths)("killed before any effect$what", async (aftermath) => {
      const effects = await ofCourse();
      const failures: string[] = [];
      for (const [at, effect] of killsOf(effects, AFTERMATHS.indexOf(aftermath), creates, turn)) {
        const subject = await begin(kind, course);
        const before = subject.core.state;
        const life = new Life(at + 1);
        const outcome = await subject.core.run(course.declared(subject), { ...course.options, life });
        expect(outcome.killed).toBe(true);
        if (!aftermath.state) subject.core.restore(before);
        if (!aftermath.store) subject.machine.loseStore();
        subject.machine.clock.advance((aftermath.hours ?? 0) * 3_600_000);
        subject.sent();
        try {
          await untilSettled(subject, course, aftermath);
          // The last effect was carried out and recorded, so nothing remains to send.
          const isDone = at === effects.length - 1 && aftermath.store && course.options === undefined;
          if (isDone) expect(subject.changesSent()).toEqual([]);
          // If the new object was created first and no record of it remains, one of the two objects stays.
          const alien = course.createFirst && !aftermath.store ? 1 : 0;
          await expectSettled(subject, course, { secrets: aftermath.store, alien });
        } catch (error) {
          failures.push(`${effect}: ${error instanceof Error ? error.message : error}`);
        }
      }
      expect(failures).toEqual([]);
    });

    // Kills each command twice. A short run omits these tests instead of skipping them.
    if (!LONG) return;
    it("killed before any effect, and again", async () => {
      const effects = await ofCourse();
      const failures: string[] = [];
      for (const [at] of effects.entries()) {
        for (let second = 1; ; second++) {
          const subject = await begin(kind, course);
          await subject.core.run(course.declared(subject), { ...course.options, life: new Life(at + 1) });
          const life = new Life(second);
          await subject.core.run(course.declared(subject), { ...course.options, life });
          try {
            await untilSettled(subject, course, { store: true });
            await expectSettled(subject, course);
          } catch (error) {
            failures.push(`${effects[at]}; ${life.effects.at(-1)}: ${error instanceof Error ? error.message : error}`);
          }
          if (!life.over) break;
        }
      }
      expect(failures).toEqual([]);
    });
  });
});
