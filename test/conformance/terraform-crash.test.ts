/**
 * `kill -9` of Terraform and its provider before each of their effects, in every command of every kind: what is sent, what
 * becomes an entry, what is written out, what Terraform records. Then the same command again by new processes.
 * Nothing is made twice, no object is tainted, no secret is lost. On the machine of before; and on another one, without
 * store, where an error that offers an import is good enough.
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
  // Longer than the key of an order is trusted.
  { what: ", an hour later", store: true, state: true, hours: 1 },
  // A remote state is pushed now and then: what was recorded last is lost with the process.
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

/** Returns the effects of a command that nothing happens to; it ends well. */
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

    // Without the store the account is all there is: that is about what is made.
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
          // All was done and noted: there is nothing to be sent any more.
          const isDone = at === effects.length - 1 && aftermath.store && course.options === undefined;
          if (isDone) expect(subject.changesSent()).toEqual([]);
          // Where the new object was made first and nothing remembers it, one of the two stays.
          const alien = course.createFirst && !aftermath.store ? 1 : 0;
          await expectSettled(subject, course, { secrets: aftermath.store, alien });
        } catch (error) {
          failures.push(`${effect}: ${error instanceof Error ? error.message : error}`);
        }
      }
      expect(failures).toEqual([]);
    });

    // The square of the kills: not generated, rather than skipped, in a short run.
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
