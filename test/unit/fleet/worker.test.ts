import { describe, expect, it } from "vitest";
import { pauseOf, waitsFor } from "../../../src/fleet/worker.ts";

const MINUTE = 60_000;

/** Projects in waves. `x#1` is in the repository `x`. */
const rosterOf = (...waves: string[][]) => {
  const seated = waves.map((names) =>
    names.map((name) => ({
      name,
      entry: name.includes("#") ? { git: `https://git.example/${name.split("#")[0]}` } : { path: name },
    })),
  );
  return { waves: seated, seats: new Map(seated.flat().map((seat) => [seat.name, seat])), version: "v2" };
};
const good = (project: string, more: { version?: string; isGood?: boolean; commit?: string; files?: string } = {}) => {
  const { version = "v2", isGood = true, commit = null, files: declaration = "files" } = more;
  return { project, version, isGood, report: { commit, declaration } as never };
};
const unchanged = async () => "files";

describe("a project of a later wave", () => {
  const roster = rosterOf(["a", "b"], ["c"], ["d"]);
  it.each([
    ["nothing if it is in the first wave", "b", [], undefined],
    ["the first wave before its checks", "c", [], "wave 1"],
    ["the first wave while one of its projects fails", "c", [good("a"), good("b", { isGood: false })], "wave 1"],
    [
      "the first wave while a good check is one of an earlier fleet.yaml",
      "c",
      [good("a"), good("b", { version: "v1" })],
      "wave 1",
    ],
    ["nothing after good checks of all projects", "c", [good("a"), good("b")], undefined],
    ["the second wave after the first", "d", [good("a"), good("b")], "wave 2"],
  ])("waits for %s", async (_, name, recorded, expected) => {
    expect(await waitsFor(roster, { name, commit: null }, recorded, unchanged)).toBe(expected);
  });

  it.each([
    ["whose files changed after its check", [good("a"), good("b", { files: "earlier files" })], unchanged],
    ["whose declaration now has errors", [good("a"), good("b")], async () => undefined],
    [
      "whose check recorded no digest",
      [{ ...good("a"), report: { commit: null } as never }, good("b")],
      async () => undefined,
    ],
  ])("waits for an earlier project %s", async (_, recorded, digestOf) => {
    expect(await waitsFor(roster, { name: "c", commit: null }, recorded, digestOf)).toBe("wave 1");
  });

  it("waits for the same commit of a project in its repository, and for any commit of another repository", async () => {
    const shared = rosterOf(["x#1", "y#1"], ["x#2"]);
    const recorded = [good("x#1", { commit: "old" }), good("y#1", { commit: "other" })];
    const none = async () => undefined;
    expect(await waitsFor(shared, { name: "x#2", commit: "new" }, recorded, none)).toBe("wave 1");
    expect(await waitsFor(shared, { name: "x#2", commit: "old" }, recorded, none)).toBeUndefined();
  });
});

describe("the pause of a project", () => {
  it.each([
    [10 * MINUTE, 0, 8 * MINUTE],
    [10 * MINUTE, 1, 8 * MINUTE],
    [10 * MINUTE, 2, 16 * MINUTE],
    [10 * MINUTE, 40, 60 * MINUTE],
    [600 * MINUTE, 3, 480 * MINUTE],
  ])("of %d ms after %d failures of the host is %d ms", (interval, failures, expected) => {
    expect(pauseOf(interval, failures)).toBe(expected);
  });
});
