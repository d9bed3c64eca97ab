/** Profiles of the test runs: random profiles reach every value, and a pinned switch keeps its value. */
import { describe, expect, it } from "vitest";
import { completeProfile, PROFILE_SWITCHES } from "../../../src/sandbox/profile/profile.ts";
import { drawnProfile } from "../../support/drawn-profile.ts";
import { profileOfRun } from "../../support/sandbox.ts";

describe("a random profile", () => {
  const many = Array.from({ length: 200 }, (_, at) => drawnProfile(7, `test ${at}`));

  it.each(Object.entries(PROFILE_SWITCHES))(
    "reaches every value of %s, but has no background faults and no lag",
    (name, values) => {
      const met = new Set(many.map((profile) => profile[name as keyof typeof profile] as string));
      expect(met).toEqual(new Set(name === "weather" ? ["calm"] : name === "list_lag" ? ["none"] : values));
    },
  );

  it("depends only on the seed and the text", () => {
    expect(drawnProfile(7, "test 3")).toEqual(many[3]);
    expect(drawnProfile(8, "test 3")).not.toEqual(many[3]);
  });
});

describe("a pinned switch", () => {
  it("uses its first value if the run has none of its values, and other switches stay unchanged", () => {
    const { profile } = profileOfRun({ plan: ["prices", "id"], status: ["words", "lower"] });
    expect(profile).toEqual({ ...completeProfile(), plan: "prices", status: "lower" });
  });
});
