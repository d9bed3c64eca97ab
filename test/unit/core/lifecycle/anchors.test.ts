import { describe, expect, it } from "vitest";
import { accountOrigin } from "../../../../src/core/api/address.ts";
import { checkGuards } from "../../../../src/core/engine/guards.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { type Account, accountMark, anchorsIn, keyOf, type Observation } from "../../../../src/core/lifecycle/index.ts";
import type { JsonObject, ResourceState } from "../../../../src/core/model/index.ts";

describe("the origin of an address", () => {
  it.each([
    ["https://api.host.example", "https://api.host.example"],
    ["https://API.host.example/api/v1/", "https://api.host.example"],
    ["https://api.host.example:8443/panel", "https://api.host.example:8443/panel"],
    ["http://127.0.0.1:4010", "http://localhost"],
    ["http://localhost:4011/api/v1", "http://localhost"],
    ["http://[::1]:4012", "http://localhost"],
  ])("of %s is %s", (address, origin) => expect(accountOrigin(address)).toBe(origin));
});

/** Creates an account after a read of its list of services: `count` services, newest first, then `more`. */
function accountWith(count: number, more: readonly JsonObject[] = []): Account {
  const day = (at: number) => new Date(Date.UTC(2026, 0, 1 + at)).toISOString();
  const made = Array.from({ length: count }, (_, at) => ({ id: String(1000 + at), created_at: day(at) })).reverse();
  const rows = [...made, ...more].map((attributes) => {
    const { id, created_at = null, phase = "live" } = attributes as Record<string, string>;
    return [id, { id, attributes: { created_at }, phase }] as const;
  });
  return { rows: new Map([["hosting_service", { objects: new Map(rows), isWhole: true }]]) } as unknown as Account;
}

describe("anchors", () => {
  it("are the 32 oldest objects, oldest first; ended objects are excluded, and objects without a creation time come last", () => {
    const ended = { id: "1", created_at: "2020-01-01T00:00:00Z", phase: "gone" };
    const anchors = anchorsIn(accountWith(40, [ended, { id: "2" }]));
    expect(anchors.map(({ id }) => id)).toEqual(Array.from({ length: 32 }, (_, at) => String(1000 + at)));
    expect(anchorsIn(accountWith(1, [ended, { id: "2" }])).map(({ id }) => id)).toEqual(["1000", "2"]);
  });

  it("are distributed among the records of a provider: eight records hold all of them, and each holds another object's anchor", () => {
    const identity = { origin: "https://api.host.example", anchors: anchorsIn(accountWith(40)) };
    const held = new Set<string>();
    const marks = Array.from({ length: 12 }, (_, at) => {
      const own = { type: "hosting_service", id: String(1000 + at) };
      const { anchors } = accountMark(identity, own, held);
      expect(anchors.map(keyOf)).not.toContain(`${own.type} ${own.id}`);
      return anchors;
    });
    expect(marks.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 1, 1, 1, 1]);
    expect(new Set(marks.slice(0, 8).flat().map(keyOf)).size).toBe(32);
  });
});

describe("the guard of missing resources", () => {
  const gone: Observation = { status: "gone", how: "no longer exists", matches: [] };
  const here: Observation = { status: "present", attributes: {}, phase: "live" };
  const found = (services: readonly Observation[], grants = 0) => {
    const record = (address: string, attributes: JsonObject) => [address, { address, attributes } as ResourceState];
    const parents = services.map((_, at) => record(`hosting_service.s${at}`, { id: String(at) }));
    const inside = Array.from({ length: grants }, (_, at) =>
      record(`hosting_grant.g${at}`, { id: `g${at}`, service_id: "0" }),
    );
    const records = new Map([...parents, ...inside] as [string, ResourceState][]);
    const observations = new Map([
      ...services.map((one, at) => [`hosting_service.s${at}`, one] as const),
      ...inside.map(([address]) => [String(address), services[0] ?? here] as const),
    ]);
    const context = { kinds, providers: new Map(), recorded: records.size, declared: records.size };
    const plan = { changes: [], mode: "apply" as const };
    const check = (allowMissing: boolean) =>
      checkGuards(plan, { allowMissing }, { ...context, records, observations }).map(({ summary }) => summary);
    expect(check(true)).toEqual([]);
    return check(false);
  };
  const of = (missing: number, all: number, how = gone) =>
    Array.from({ length: all }, (_, at) => (at < missing ? how : here));

  it.each([
    ["two of two", of(2, 2), 0, []],
    ["three of ten", of(3, 10), 0, []],
    ["three of nine", of(3, 9), 0, ["3 of 9 resources in the state (33.4%)"]],
    ["four rows that have ended", of(4, 4, { ...gone, isListed: true }), 0, []],
    ["one service with nine grants", of(1, 2), 9, []],
    ["three services of five, one with nine grants", of(3, 5), 9, ["3 of 5 resources in the state (60%)"]],
  ])("counts %s", (_, services, grants, shares) => {
    expect(found(services, grants)).toEqual(
      shares.map((share) => `The account lacks ${share}. Is this the wrong account?`),
    );
  });
});
