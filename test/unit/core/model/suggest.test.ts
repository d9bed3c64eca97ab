import { describe, expect, it } from "vitest";
import { didYouMean, nearest } from "../../../../src/core/model/index.ts";

const NAMES = ["plan_id", "currency", "domain", "term", "deletion_policy"];

describe("nearest", () => {
  it.each([
    ["plan", undefined, "three letters short of plan_id is too far"],
    ["planid", "plan_id", "a letter left out"],
    ["paln_id", "plan_id", "two letters swapped count once"],
    ["Currency", "currency", "case means nothing"],
    ["domian", "domain", "swapped"],
    ["terms", "term", "a letter more"],
    ["delete_policy", "deletion_policy", "in a long word more may differ"],
    ["zebra", undefined, "nothing is near"],
    ["", undefined, "nothing was written"],
  ])("of %j is %j: %s", (word, expected, _why) => {
    expect(nearest(word, NAMES)).toBe(expected);
  });
});

describe("didYouMean", () => {
  it("ends a sentence with a suggestion, or returns an empty text", () => {
    expect(didYouMean("planid", NAMES)).toBe(' Did you mean "plan_id"?');
    expect(didYouMean("zebra", NAMES)).toBe("");
  });
});
