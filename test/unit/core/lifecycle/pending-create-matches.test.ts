// Servers without a name: live servers that may be the declared server, and live servers of other resources.
import { describe, expect, it } from "vitest";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import type { PendingCreate } from "../../../../src/core/lifecycle/pending-create.ts";
import { lookalikesOf, type Others, renamedFrom } from "../../../../src/core/lifecycle/read.ts";
import type { JsonObject } from "../../../../src/core/model/index.ts";
import { kindOf, recorded, remote } from "../../../support/subjects.ts";

/** Two services with the same plan match. If both have a name, the names decide. */
const kind: Kind = {
  ...kindOf("hosting_service"),
  mayMatch: ({ plan_id }, live) => plan_id === live.plan_id,
};
const server = (id: string, plan_id = 11, over: JsonObject = {}, phase: Remote["phase"] = "live") =>
  remote({ id, plan_id, domain: null, ...over }, phase);
const sibling = (name: string, known: string[] = [], plan_id = 11): PendingCreate =>
  recorded(
    `hosting_service.${name}`,
    { plan_id, domain: null },
    {
      private: { pending: { since: "2026-11-21T10:00:00Z", operation: "createService", known } },
    },
  ) as PendingCreate;

const ids = (objects: readonly Remote[], others: Others = {}, config: JsonObject = { plan_id: 11, domain: null }) =>
  lookalikesOf(kind, config, objects, [], others).map(({ id }) => id);
const held = (...by: [id: string, address: string][]) => ({ ownerOf: ({ id }: Remote) => new Map(by).get(id) });

describe("candidates for the declared server", () => {
  it.each<[string, readonly Remote[], Others, string[]]>([
    ["what nobody holds", [server("1"), server("2")], {}, ["1", "2"]],
    ["not what another address holds", [server("1"), server("2")], held(["1", "hosting_service.b"]), ["2"]],
    [
      "but what is held by an address that is no longer declared",
      [server("1"), server("2")],
      {
        ...held(["1", "hosting_service.old"], ["2", "hosting_service.b"]),
        isLeaving: (address) => address.endsWith("old"),
      },
      ["1"],
    ],
    [
      "not what nobody holds a second time, where every address is leaving",
      [server("1")],
      { isLeaving: () => true },
      ["1"],
    ],
    ["not what is gone", [server("1", 11, {}, "gone")], {}, []],
    ["not what a sibling's create may have made", [server("1")], { siblings: [sibling("b")] }, []],
    ["which it cannot when it was there before", [server("1")], { siblings: [sibling("b", ["1"])] }, ["1"]],
    ["nor when it is of another plan", [server("1")], { siblings: [sibling("b", [], 12)] }, ["1"]],
    [
      "all of them when there are more than siblings",
      [server("1"), server("2")],
      { siblings: [sibling("b")] },
      ["1", "2"],
    ],
  ])("%s", (_, objects, others, expected) => expect(ids(objects, others)).toEqual(expected));

  it("exclude a service with its name, which is the declared server itself", () => {
    const named = server("1", 11, { domain: "a.example" });
    expect(ids([named], {}, { plan_id: 11, domain: "a.example" })).toEqual([]);
    expect(ids([named], {}, { plan_id: 11, domain: "b.example" })).toEqual(["1"]);
  });
});

describe("a create of an address that is no longer declared", () => {
  const abandoned = [sibling("other", [], 12), sibling("old")];

  it("may have created the declared server under its old name", () => {
    expect(renamedFrom(kind, { plan_id: 11, domain: null }, [], { abandoned })).toBe("hosting_service.old");
    expect(renamedFrom(kind, { plan_id: 13, domain: null }, [], { abandoned })).toBeUndefined();
    expect(renamedFrom(kind, { plan_id: 11, domain: null }, [], {})).toBeUndefined();
  });

  it("is no candidate if the declared server has its own name", () => {
    expect(renamedFrom(kind, { plan_id: 11, domain: "a.example" }, [], { abandoned })).toBeUndefined();
  });
});
