import { describe, expect, it } from "vitest";
import { Contact } from "../../../src/project/watch/contact.ts";

/** A check: its time in seconds, the codes of its errors, and true if it reached its end. */
type Check = readonly [at: number, codes: readonly string[], isOver: boolean];

/**
 * Processes checks.
 * @returns the reports of an end, and true if the token is rejected.
 */
function after(checks: readonly Check[], overdueAt: readonly number[] = []) {
  const contact = new Contact(60_000);
  const reports: (number | undefined)[] = [];
  for (const [at, codes, isOver] of checks) {
    for (const time of overdueAt.filter((one) => one <= at)) contact.overdue(time * 1000);
    reports.push(contact.learn(codes, isOver, at * 1000));
  }
  return { contact, reports };
}

const AWAY = ["api.unreachable"];
const NO = ["api.unauthenticated"];

describe("a rejected token", () => {
  it.each<[string, readonly Check[], boolean]>([
    [
      "three failed checks",
      [
        [0, NO, false],
        [1, NO, false],
        [2, NO, false],
      ],
      true,
    ],
    [
      "three checks of which one has a plan",
      [
        [0, NO, false],
        [1, NO, true],
        [2, NO, false],
      ],
      true,
    ],
    [
      "two checks",
      [
        [0, NO, false],
        [1, NO, false],
      ],
      false,
    ],
    [
      "a success between",
      [
        [0, NO, false],
        [1, NO, false],
        [2, [], true],
        [3, NO, false],
      ],
      false,
    ],
    [
      "an outage between, which shows nothing",
      [
        [0, NO, false],
        [1, NO, false],
        [2, AWAY, false],
        [3, NO, false],
      ],
      true,
    ],
    [
      "three outages",
      [
        [0, AWAY, false],
        [1, AWAY, false],
        [2, AWAY, false],
      ],
      false,
    ],
    [
      "three checks without a permission",
      [
        [0, ["api.forbidden"], true],
        [1, ["api.forbidden"], true],
        [2, ["api.forbidden"], true],
      ],
      false,
    ],
  ])("%s", (_, checks, isRejected) => {
    expect(after(checks).contact.isRejected).toBe(isRejected);
  });
});

describe("an outage", () => {
  it("is overdue once, from the first failed check on", () => {
    const { contact } = after([
      [0, [], true],
      [10, AWAY, false],
      [40, ["api.server"], false],
    ]);
    expect(contact.overdue(69_999)).toBeUndefined();
    expect(contact.overdue(70_000)).toBe(60_000);
    expect(contact.overdue(90_000)).toBeUndefined();
  });

  it.each<[string, readonly Check[], readonly (number | undefined)[]]>([
    [
      "a success reports its length",
      [
        [0, AWAY, false],
        [90, [], true],
      ],
      [undefined, 90_000],
    ],
    [
      "a rejected token is a response",
      [
        [0, AWAY, false],
        [90, NO, false],
      ],
      [undefined, 90_000],
    ],
    [
      "a locked state shows nothing",
      [
        [0, AWAY, false],
        [90, ["state.locked"], false],
        [95, [], true],
      ],
      [undefined, undefined, 95_000],
    ],
    [
      "the second outage counts from its own start",
      [
        [0, AWAY, false],
        [90, [], true],
        [100, AWAY, false],
        [110, [], true],
      ],
      [undefined, 90_000, undefined, undefined],
    ],
  ])("%s", (_, checks, reports) => {
    expect(after(checks, [60]).reports).toEqual(reports);
  });

  it("has no report of its end if it was never overdue", () => {
    expect(
      after([
        [0, AWAY, false],
        [90, [], true],
      ]).reports,
    ).toEqual([undefined, undefined]);
  });
});
