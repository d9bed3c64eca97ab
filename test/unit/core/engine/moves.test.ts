import { describe, expect, it } from "vitest";
import { moved } from "../../../../src/core/engine/index.ts";
import { composed } from "../../../../src/core/engine/moves.ts";
import { HostformError, type MovedBlock } from "../../../../src/core/model/index.ts";
import { declared, liveService, recorded, stateOf } from "../../../support/subjects.ts";

const service = (address: string) => declared(address, { plan_id: 11, currency: "USD" });
const state = (...addresses: readonly string[]) => stateOf(...addresses.map((one) => recorded(one, liveService)));
const run = (declaredOnes: readonly string[], recordedOnes: readonly string[], blocks: readonly MovedBlock[] = []) =>
  moved({ resources: declaredOnes.map(service), moved: blocks }, state(...recordedOnes));
const addresses = (result: ReturnType<typeof moved>) => [...result.state.resources.keys()].sort();

describe("moves", () => {
  it("read the record under its new address, and list the moves of records", () => {
    const result = run(
      ["hosting_service.new"],
      ["hosting_service.old"],
      [{ from: "hosting_service.old", to: "hosting_service.new" }],
    );
    expect(addresses(result)).toEqual(["hosting_service.new"]);
    expect(result.moves).toEqual([{ from: "hosting_service.old", to: "hosting_service.new" }]);
    expect(result.state.resources.get("hosting_service.new")?.address).toBe("hosting_service.new");
  });

  it("move all instances if no key is named", () => {
    const result = run(
      ['hosting_service.new["a"]', 'hosting_service.new["b"]'],
      ['hosting_service.old["a"]', 'hosting_service.old["b"]'],
      [{ from: "hosting_service.old", to: "hosting_service.new" }],
    );
    expect(addresses(result)).toEqual(['hosting_service.new["a"]', 'hosting_service.new["b"]']);
  });

  it("may form a chain, in any order", () => {
    const blocks = [
      { from: "hosting_service.b", to: "hosting_service.c" },
      { from: "hosting_service.a", to: "hosting_service.b" },
    ];
    const result = run(["hosting_service.c"], ["hosting_service.a"], blocks);
    expect(addresses(result)).toEqual(["hosting_service.c"]);
    expect(composed(result.moves)).toEqual([{ from: "hosting_service.a", to: "hosting_service.c" }]);
  });

  it("update the dependencies of other records", () => {
    const grant = recorded('hosting_grant.g["x"]', { id: "1" }, { dependencies: ["hosting_service.old"] });
    const before = stateOf(recorded("hosting_service.old", liveService), grant);
    const { state: after } = moved(
      {
        resources: [service("hosting_service.new")],
        moved: [{ from: "hosting_service.old", to: "hosting_service.new" }],
      },
      before,
    );
    expect(after.resources.get('hosting_grant.g["x"]')?.dependencies).toEqual(["hosting_service.new"]);
  });

  it("move a named instance first, and then the rest of its resource", () => {
    const blocks = [
      { from: "hosting_service.a", to: "hosting_service.b" },
      { from: 'hosting_service.a["x"]', to: 'hosting_service.c["x"]' },
    ];
    const recordedOnes = ['hosting_service.a["x"]', 'hosting_service.a["y"]'];
    expect(addresses(run([], recordedOnes, blocks))).toEqual(['hosting_service.b["y"]', 'hosting_service.c["x"]']);
  });

  it("are sorted in linear time", () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => ({
      from: `hosting_service.a${n}`,
      to: `hosting_service.a${n + 1}`,
    })).reverse();
    expect(addresses(run(["hosting_service.a20000"], ["hosting_service.a0"], chain))).toEqual([
      "hosting_service.a20000",
    ]);
  });

  // Without this move, adding `count` to a block would order a second service and delete the first.
  it("between a single resource and its first instance need no block", () => {
    expect(addresses(run(["hosting_service.a[0]", "hosting_service.a[1]"], ["hosting_service.a"]))).toEqual([
      "hosting_service.a[0]",
    ]);
    expect(addresses(run(["hosting_service.a"], ["hosting_service.a[0]", "hosting_service.a[1]"]))).toEqual([
      "hosting_service.a",
      "hosting_service.a[1]",
    ]);
    expect(run(['hosting_service.a["x"]'], ["hosting_service.a"]).moves).toEqual([]);
  });

  it("are rejected if the new address has a record, because the plan might suspend the remaining site", () => {
    const result = run(
      ["hosting_service.new"],
      ["hosting_service.old", "hosting_service.new"],
      [{ from: "hosting_service.old", to: "hosting_service.new" }],
    );
    expect(result.moves).toEqual([]);
    expect(result.diagnostics).toMatchObject([{ severity: "error", address: "hosting_service.old" }]);
  });

  it("return the same state if nothing moved", () => {
    const before = state("hosting_service.a");
    const blocks = [{ from: "hosting_service.gone", to: "hosting_service.a" }];
    expect(moved({ resources: [service("hosting_service.a")], moved: blocks }, before).state).toBe(before);
  });

  it.each([
    ["what is declared still", { from: "hosting_service.a", to: "hosting_service.b" }, ["hosting_service.a"]],
    ["another type", { from: "hosting_service.x", to: "hosting_grant.b" }, []],
  ] as const)("are rejected for %s", (_, block, declaredOnes) => {
    expect(() => run(declaredOnes, [], [block])).toThrow(HostformError);
  });

  // With either move, the plan would order the other address again, or delete it with its site.
  it("are rejected if two blocks have the same source or the same target", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => `hosting_service.${name}`) as [string, string, string];
    const fork = [
      { from: a, to: b },
      { from: a, to: c },
    ];
    expect(() => run([b, c], [a], fork)).toThrow(/have the same source/);
    const join = [
      { from: a, to: c },
      { from: b, to: c },
    ];
    expect(() => run([c], [a, b], join)).toThrow(/have the same target/);
  });

  it("are rejected in a cycle", () => {
    const blocks = [
      { from: "hosting_service.a", to: "hosting_service.b" },
      { from: "hosting_service.b", to: "hosting_service.a" },
    ];
    expect(() => run([], ["hosting_service.a"], blocks)).toThrow(/form a cycle/);
  });
});
