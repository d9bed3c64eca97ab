/** Profiles of the test runs: random profiles reach every value, and a pinned switch keeps its value. */
import { describe, expect, it } from "vitest";
import { completeProfile, PROFILE_SWITCHES } from "../../../src/sandbox/profile/profile.ts";
import { drawnProfile } from "../../support/drawn-profile.ts";
import { profileOfRun } from "../../support/sandbox.ts";

describe("a profile by chance", () => {
  const many = Array.from({ length: 200 }, (_, at) => drawnProfile(7, `test ${at}`));

  it.each(Object.entries(PROFILE_SWITCHES))(
    "has any value of %s, without background faults and without lag",
    (name, values) => {
      const met = new Set(many.map((profile) => profile[name as keyof typeof profile] as string));
      expect(met).toEqual(new Set(name === "weather" ? ["calm"] : name === "list_lag" ? ["none"] : values));
    },
  );

  it("follows from the seed and the text", () => {
    expect(drawnProfile(7, "test 3")).toEqual(many[3]);
    expect(drawnProfile(8, "test 3")).not.toEqual(many[3]);
  });
});

describe("a pinned switch", () => {
  it("has the first of the values where the run has none of them, and the others are as they were", () => {
    const { profile } = profileOfRun({ plan: ["prices", "id"], status: ["words", "lower"] });
    expect(profile).toEqual({ ...completeProfile(), plan: "prices", status: "lower" });
  });
});
