/**
 * Loses the response of each changing request, in every way, in every command of every kind. Then repeats the command on the
 * same machine, or on another machine that has only the state. No object is created twice or tainted, and no secret is lost.
 *
 * `npm test` tries one loss of each request on one machine, and another loss of the next request. `npm run test:long losses` tries
 * all losses on both machines.
 */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { taintedObjects } from "../support/terraform-core.ts";
import { losses } from "./losses.ts";
import { begin, type Course, coursesOf, expectSettled } from "./terraform-courses.ts";
import type { Subject } from "./terraform-life.ts";
import { untilSettled } from "./terraform-recovery.ts";

/** Position of the next loss that `npm test` tries. */
let turn = 0;
const ofRequest = () => sampled(losses, losses.length, turn++);

const MACHINES = [
  { where: "on the same machine", store: true },
  { where: "on another machine", store: false },
];
let courses = 0;

const run = (subject: Subject, course: Course) => subject.core.run(course.declared(subject), course.options);

/** Returns the changing requests of a case, each with its position among the requests with its method. */
async function requestsOf(subject: Subject, course: Course): Promise<{ line: string; method: string; nth: number }[]> {
  await run(subject, course);
  const seen = new Map<string, number>();
  return subject.changesSent().map((line) => {
    const method = line.slice(0, line.indexOf(" "));
    const nth = (seen.get(method) ?? 0) + 1;
    seen.set(method, nth);
    return { line, method, nth };
  });
}

describe.each([...kinds.values()])("$type", (kind) => {
  describe.each(coursesOf(kind))("$name", (course) => {
    it.each(sampled(MACHINES, 2, courses++))("ends well $where although an answer was lost", async ({ store }) => {
      const failures: string[] = [];
      for (const { line, method, nth } of await requestsOf(await begin(kind, course), course)) {
        for (const { loss, fault } of ofRequest()) {
          const subject = await begin(kind, course);
          const { control } = subject.machine.sandbox;
          control.addFault({ method, path: "/*", nth, ...fault });
          try {
            await run(subject, course);
            expect(control.faults().map(({ fired }) => fired)).toEqual([1]);
            expect(taintedObjects(subject.core.state)).toEqual([]);
            if (!store) subject.machine.loseStore();
            await untilSettled(subject, course, { store: true });
            await expectSettled(subject, course);
          } catch (error) {
            failures.push(`${line}, ${loss}: ${error instanceof Error ? error.message : error}`);
          }
        }
      }
      expect(failures).toEqual([]);
    });
  });
});
