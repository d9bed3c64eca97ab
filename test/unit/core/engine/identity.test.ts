// Two addresses and one thing: what is refused before it is made twice, or removed from under another address.
import { describe, expect, it } from "vitest";
import {
  doubles,
  objectIn,
  ownerIn,
  sharedObjects,
  siblingsOf,
  thingIn,
} from "../../../../src/core/engine/identity.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { objectKey, type PendingCreate, thingKey } from "../../../../src/core/lifecycle/index.ts";
import type { Change, JsonObject, ResourceState } from "../../../../src/core/model/index.ts";
import { fixOf } from "../../../support/remedies.ts";
import { kindOf, recorded, stateOf } from "../../../support/subjects.ts";

const change = (address: string, over: Partial<Change>): Change =>
  ({ address, type: address.split(".")[0], provider: "default", actions: ["no-op"], before: null, ...over }) as Change;

const create = (address: string, after: JsonObject, over: Partial<Change> = {}) =>
  change(address, { actions: ["create"], after, after_unknown: {}, ...over });

/** Of each diagnostic: its code, where it is, and the other address that it names. */
const named = (found: ReturnType<typeof doubles>) =>
  found.map(({ severity, code, address, summary }) => `${severity} ${code} ${address}: ${summary}`);

const service = (name: string, domain: string | null, over: Partial<Change> = {}) =>
  create(`hosting_service.${name}`, { domain }, over);
const grant = (name: string, service_id: string, over: Partial<Change> = {}) =>
  create(`hosting_grant.${name}`, { service_id, email: "dev@acme.example" }, over);
const domain = (name: string, over: Partial<Change> = {}) =>
  create(`hosting_domain.${name}`, { domain: "acme.example" }, over);

const TWICE =
  "error config.duplicate hosting_service.b: hosting_service.b and hosting_service.a declare the same service";

describe("two creates of one thing", () => {
  it.each<[string, readonly Change[], readonly string[]]>([
    ["with one domain are refused", [service("a", "x.example"), service("b", "x.example")], [TWICE]],
    [
      "each further one names the first",
      [service("a", "x.example"), service("b", "x.example"), service("c", "x.example")],
      [TWICE, TWICE.replaceAll("service.b", "service.c")],
    ],
    ["of two domains are two things", [service("a", "x.example"), service("b", "y.example")], []],
    ["without a domain cannot be the same", [service("a", null), service("b", null)], []],
    [
      "of two accounts are two things",
      [service("a", "x.example"), service("b", "x.example", { provider: "beta" })],
      [],
    ],
    [
      "of two kinds are two things",
      [create("hosting_domain.a", { domain: "x.example" }), service("b", "x.example")],
      [],
    ],
    [
      "for one address on one service are refused",
      [grant("a", "1001"), grant("b", "1001")],
      ["error config.duplicate hosting_grant.b: hosting_grant.b and hosting_grant.a declare the same grant"],
    ],
    ["for one address on two services are two grants", [grant("a", "1001"), grant("b", "1002")], []],
    [
      "on a service that is not known yet may be on two",
      [
        grant("a", "", { after_unknown: { service_id: true } }),
        grant("b", "", { after_unknown: { service_id: true } }),
      ],
      [],
    ],
    [
      "whose domain is known only after apply may have two",
      [
        service("a", null, { after_unknown: { domain: true } }),
        service("b", null, { after_unknown: { domain: true } }),
      ],
      [],
    ],
    [
      "are no creates where one of them is a replacement: the old one goes first",
      [service("a", "x.example"), service("b", "x.example", { actions: ["delete", "create"] })],
      [],
    ],
    [
      "nor where the create comes first in a replacement",
      [service("a", "x.example"), service("b", "x.example", { actions: ["create", "delete"] })],
      [],
    ],
    ["nor where nothing changes", [service("a", "x.example"), service("b", "x.example", { actions: ["no-op"] })], []],
    ["of an unknown kind are not judged", [create("other.a", { domain: "x" }), create("other.b", { domain: "x" })], []],
    [
      "that plan nothing at all are not judged",
      [service("a", "x", { after: null }), service("b", "x", { after: null })],
      [],
    ],
  ])("%s", (_, changes, expected) => {
    expect(named(doubles(changes, kinds, stateOf()))).toEqual(expected);
  });

  const acme = recorded("hosting_domain.old", { domain: "acme.example" });
  it.each<[string, readonly Change[], readonly ResourceState[], readonly string[]]>([
    [
      "a domain that the state has under another address is not registered again",
      [domain("new")],
      [acme],
      [
        "error plan.exists hosting_domain.new: hosting_domain.new is the same domain as hosting_domain.old in the state",
      ],
    ],
    ["under its own address it is the same record", [domain("old")], [acme], []],
    ["of another account it is another domain", [domain("new", { provider: "beta" })], [acme], []],
    ["another domain is another one", [domain("new")], [recorded("hosting_domain.old", { domain: "b.example" })], []],
    [
      "what a list shows is left to the list",
      [service("new", "www.acme.example")],
      [recorded("hosting_service.old", { domain: "www.acme.example" })],
      [],
    ],
    ["records of kinds that are not there any more say nothing", [domain("new")], [{ ...acme, address: "gone.x" }], []],
  ])("%s", (_, changes, state, expected) => {
    const known = new Map([...kinds].map(([type, kind]) => [type, kind]));
    expect(named(doubles(changes, known, stateOf(...state)))).toEqual(expected);
  });

  it("names the move, and never a second registration", () => {
    const [found] = doubles([domain('a["x"]')], kinds, stateOf(acme));
    expect(fixOf(found)).toBe(
      'If it was renamed: declare `moved: [{from: hosting_domain.old, to: "hosting_domain.a[\\"x\\"]"}]`. Otherwise remove hosting_domain.a["x"].',
    );
  });
});

describe("what is recorded", () => {
  const live = { id: "301", service_id: "1001", email: "dev@acme.example" };
  const one = recorded("hosting_grant.a", live);

  it("is the object and the thing of its attributes; of an unknown kind neither", () => {
    const kind = kindOf("hosting_grant");
    expect(objectIn(one, kinds)).toBe(objectKey("default", kind, live));
    expect(thingIn(one, kinds)).toBe(thingKey("default", kind, live));
    for (const address of ["gone.c", "?"])
      expect([objectIn({ ...one, address }, kinds), thingIn({ ...one, address }, kinds)]).toEqual([
        undefined,
        undefined,
      ]);
  });

  it("has the objects that it has ids of, each in its account", () => {
    const unmade = recorded("hosting_grant.b", { ...live, id: null });
    const ownerOf = ownerIn(stateOf(one, unmade, { ...one, address: "gone.c" }), kinds);
    const object = { id: "301", attributes: live };
    expect(ownerOf("default", kindOf("hosting_grant"), object)).toBe("hosting_grant.a");
    expect(ownerOf("beta", kindOf("hosting_grant"), object)).toBeUndefined();
    expect(ownerOf("default", kindOf("hosting_grant"), { ...object, id: "302" })).toBeUndefined();
  });
});

describe("siblings: other pending creates that may have made what is found", () => {
  const pending = { pending: { since: "2026-11-21T10:00:00Z", operation: "createGrant" } } as ResourceState["private"];
  const of = (address: string, over: Partial<ResourceState> = {}) =>
    ({ ...recorded("hosting_grant.x", {}), address, private: pending, ...over }) as PendingCreate;

  it.each([
    ["of the same kind and account", of("hosting_grant.b"), true],
    ["not the resource itself", of("hosting_grant.a"), false],
    ["not of another account", of("hosting_grant.b", { provider: "beta" }), false],
    ["not of another kind", of("hosting_webhook.b"), false],
    ["not of a kind whose name begins alike", of("hosting_grants.b"), false],
  ])("%s", (_, one, counts) => {
    const found = siblingsOf({ address: "hosting_grant.a", provider: "default" }, kindOf("hosting_grant"), [one]);
    expect(found.map(({ address }) => address)).toEqual(counts ? [one.address] : []);
  });
});

describe("two addresses for one object", () => {
  const webhook = (name: string, id: string, over: Partial<Change> = {}) =>
    change(`hosting_webhook.${name}`, { before: { id }, ...over });
  const shared = (of: string, other: string) =>
    `error config.duplicate hosting_webhook.${of}: hosting_webhook.${of} and hosting_webhook.${other} are the same webhook 7`;
  const adopted = { importing: { id: "7" } };
  const record = (name: string) => recorded(`hosting_webhook.${name}`, { id: "7" });

  it.each<[string, readonly Change[], readonly ResourceState[], readonly string[]]>([
    ["are refused", [webhook("a", "7"), webhook("b", "7")], [], [shared("b", "a")]],
    [
      "all of them, against the first",
      [webhook("a", "7"), webhook("b", "7"), webhook("c", "7")],
      [],
      [shared("b", "a"), shared("c", "a")],
    ],
    ["with an id each are two", [webhook("a", "7"), webhook("b", "8")], [], []],
    ["of two accounts are two", [webhook("a", "7"), webhook("b", "7", { provider: "beta" })], [], []],
    [
      "are the fault of the one that adopts, in whatever order they stand",
      [webhook("a", "7", adopted), webhook("b", "7")],
      [],
      [shared("a", "b")],
    ],
    [
      "are the fault of the one that adopts, also as the second",
      [webhook("a", "7"), webhook("b", "7", adopted)],
      [],
      [shared("b", "a")],
    ],
    [
      "are none when one of them is only forgotten",
      [webhook("a", "7", { removal: "forget" }), webhook("b", "7")],
      [],
      [],
    ],
    [
      "are none when the other is only forgotten",
      [webhook("a", "7"), webhook("b", "7", { removal: "forget" })],
      [],
      [],
    ],
    [
      "are still two when one of them is deleted",
      [webhook("a", "7"), webhook("b", "7", { removal: "delete" })],
      [],
      [shared("b", "a")],
    ],
    [
      "are refused where the other one is recorded and not part of the plan",
      [webhook("a", "7")],
      [record("out")],
      [shared("a", "out")],
    ],
    ["which is no matter for what is forgotten", [webhook("a", "7", { removal: "forget" })], [record("out")], []],
    ["the record of a planned address is that address", [webhook("a", "7")], [record("a")], []],
    [
      "what is not there has no object",
      [webhook("a", "7", { before: null }), webhook("b", "7", { before: null })],
      [],
      [],
    ],
    [
      "a kind that is not there has none",
      [change("other.a", { before: { id: "7" } }), change("other.b", { before: { id: "7" } })],
      [],
      [],
    ],
    [
      "what has no id yet has none",
      [change("hosting_webhook.a", { before: {} }), change("hosting_webhook.b", { before: {} })],
      [],
      [],
    ],
  ])("%s", (_, changes, state, expected) => {
    expect(named(sharedObjects(changes, kinds, stateOf(...state)))).toEqual(expected);
  });
});
