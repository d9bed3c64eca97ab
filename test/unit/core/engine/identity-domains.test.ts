/** Warnings and errors of a plan about objects that exist twice, or would exist twice. */
import { describe, expect, it } from "vitest";
import { doubles, ownedTwice } from "../../../../src/core/engine/identity.ts";
import { plan } from "../../../../src/core/engine/index.ts";
import { kinds, wordsOf } from "../../../../src/core/kinds/index.ts";
import type { Remote } from "../../../../src/core/kinds/kind.ts";
import type { Change, JsonObject, Phase } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import {
  complete,
  declared,
  desiredOf,
  kindOf,
  liveService,
  recorded,
  remote,
  stateOf,
} from "../../../support/subjects.ts";

const kind = kindOf("hosting_service");
const live = (id: string, domain: string | null, phase: Phase = "live"): Remote =>
  remote({ ...liveService, id, domain }, phase);
const listing = (...objects: Remote[]) => [{ provider: "default", type: "hosting_service", objects }];

const change = (over: Partial<Change>): Change => ({
  address: "hosting_service.www",
  type: "hosting_service",
  words: wordsOf(kind),
  provider: "default",
  actions: ["no-op"],
  before: complete(kind, liveService),
  after: null,
  after_unknown: {},
  sensitive: [],
  config: null,
  reasons: [],
  deferred: [],
  private: {},
  dependsOn: [],
  requests: 0,
  ...over,
});

describe("two services with one domain", () => {
  const owned = [change({})];
  it.each<[string, Remote[], string[]]>([
    [
      "are warned of, whatever the case of the domain",
      [live("1001", "www.acme.example"), live("1007", "WWW.acme.example")],
      ["1001, 1007"],
    ],
    [
      "one of them suspended: too",
      [live("1001", "www.acme.example"), live("1007", "www.acme.example", "suspended")],
      ["1001, 1007"],
    ],
    [
      "one of them not paid yet: too, before it is",
      [live("1001", "www.acme.example", "pending"), live("1007", "www.acme.example")],
      ["1001, 1007"],
    ],
    ["one of them gone: not", [live("1001", "www.acme.example"), live("1007", "www.acme.example", "gone")], []],
    [
      "of others are theirs",
      [live("1001", "a.example"), live("1007", "www.acme.example"), live("1008", "www.acme.example")],
      [],
    ],
    ["without a domain are not the same", [live("1001", null), live("1007", null)], []],
  ])("%s", (_, objects, ids) => {
    const found = ownedTwice(owned, kinds, listing(...objects));
    expect(found.map(({ summary }) => summary)).toEqual(
      ids.map((each) => `www.acme.example is the domain of ${each.split(", ").length} services: ${each}`),
    );
    for (const diagnostic of found)
      expect(diagnostic).toMatchObject({ severity: "warning", code: "account.double", address: "hosting_service.www" });
  });

  it("are reported once if both are managed, and not for another account", () => {
    const both = [live("1001", "www.acme.example"), live("1007", "www.acme.example")];
    const other = change({ address: "hosting_service.other", before: complete(kind, { ...liveService, id: "1007" }) });
    expect(ownedTwice([change({}), other], kinds, listing(...both))).toHaveLength(1);
    expect(ownedTwice([change({ provider: "beta" })], kinds, listing(...both))).toEqual([]);
    expect(ownedTwice([change({ type: "hosting_webhook" })], kinds, listing(...both))).toEqual([]);
    expect(ownedTwice([change({})], kinds, [{ provider: "default", type: "hosting_grant", objects: both }])).toEqual(
      [],
    );
  });
});

describe("a duplicate create", () => {
  const order = (address: string, more: Partial<Change> = {}) =>
    change({
      address,
      actions: ["create"],
      before: null,
      after: complete(kind, { domain: "www.acme.example" }),
      ...more,
    });
  const domain = (address: string): Change => ({
    ...order(address),
    type: "hosting_domain",
    after: complete(kindOf("hosting_domain"), { domain: "acme.example" }),
  });
  const codes = (changes: readonly Change[], ...held: JsonObject[]) => {
    const state = stateOf(...held.map((attributes, at) => recorded(`hosting_domain.old${at}`, attributes)));
    return doubles(changes, kinds, state).map(({ code, address, summary }) => [code, address, summary]);
  };

  it("is rejected at each address but the first", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => order(`hosting_service.${name}`));
    if (!a || !b || !c) throw new Error("three orders");
    expect(codes([a, b, c])).toEqual([
      ["config.duplicate", "hosting_service.b", "hosting_service.b and hosting_service.a declare the same service"],
      ["config.duplicate", "hosting_service.c", "hosting_service.c and hosting_service.a declare the same service"],
    ]);
  });

  it("excludes kept and replaced objects, objects of another account, and unknown values", () => {
    const a = order("hosting_service.a");
    const b = order("hosting_service.b");
    expect(codes([a, { ...b, actions: ["no-op"] }])).toEqual([]);
    expect(codes([a, { ...b, actions: ["create", "delete"] }])).toEqual([]);
    expect(codes([a, { ...b, provider: "beta" }])).toEqual([]);
    expect(codes([a, { ...b, after: { ...b.after, domain: null }, after_unknown: { domain: true } }])).toEqual([]);
  });

  it("includes a recorded object of another address if the API cannot read the object", () => {
    const held = { id: "1", domain: "acme.example" };
    expect(codes([domain("hosting_domain.new")], held)).toEqual([
      [
        "plan.exists",
        "hosting_domain.new",
        "hosting_domain.new is the same domain as hosting_domain.old0 in the state",
      ],
    ]);
    expect(codes([domain("hosting_domain.old0")], held)).toEqual([]);
    expect(codes([domain("hosting_domain.new")], { id: "2", domain: "other.example" })).toEqual([]);
  });
});

it("the plan reports the warning at the position of the declaration", () => {
  const www = declared(
    "hosting_service.www",
    { plan_id: 11, currency: "USD", domain: "www.acme.example" },
    { locate: () => ({ file: "hosting.yaml", line: 3, column: 1, endLine: 3, endColumn: 4 }) },
  );
  const attributes = complete(kind, { ...liveService, plan_id: 11, deletion_policy: "prevent" });
  const { diagnostics, changes } = plan({
    desired: desiredOf(www),
    state: stateOf(recorded("hosting_service.www", attributes)),
    observed: {
      observations: new Map([["hosting_service.www", { status: "present", attributes, phase: "live" }]]),
      plans: new Map(),
      listings: listing(live("1001", "www.acme.example"), live("1007", "www.acme.example")),
    },
    kinds,
    env: {},
    mode: "apply",
    reorder: new Set(),
    now: START,
    readRequests: 1,
  });
  expect(diagnostics).toMatchObject([{ code: "account.double", range: { file: "hosting.yaml", line: 3 } }]);
  expect(changes.map(({ actions }) => actions)).toEqual([["no-op"]]);
});
