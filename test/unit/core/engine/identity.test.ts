// Two addresses for one object: the plan fails before a duplicate create, and before one address deletes the other's
// object.
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

import { kindOf, recorded, stateOf } from "../../../support/subjects.ts";

const change = (address: string, over: Partial<Change>): Change =>
  ({ address, type: address.split(".")[0], provider: "default", actions: ["no-op"], before: null, ...over }) as Change;

const create = (address: string, after: JsonObject, over: Partial<Change> = {}) =>
  change(address, { actions: ["create"], after, after_unknown: {}, ...over });

/** Returns each diagnostic as one line: severity, code, address, summary. */
const named = (found: ReturnType<typeof doubles>) =>
  found.map(({ severity, code, address, summary }) => `${severity} ${code} ${address}: ${summary}`);

const grant = (name: string, service_id: string, over: Partial<Change> = {}) =>
  create(`hosting_grant.${name}`, { service_id, email: "dev@acme.example" }, over);
const domain = (name: string, over: Partial<Change> = {}) =>
  create(`hosting_domain.${name}`, { domain: "acme.example" }, over);

describe("two creates of one object", () => {
  it.each<[string, readonly Change[], readonly string[]]>([
    [
      "on a service that is not known yet may be on two",
      [
        grant("a", "", { after_unknown: { service_id: true } }),
        grant("b", "", { after_unknown: { service_id: true } }),
      ],
      [],
    ],
    ["of an unknown kind are not judged", [create("other.a", { domain: "x" }), create("other.b", { domain: "x" })], []],
  ])("%s", (_, changes, expected) => {
    expect(named(doubles(changes, kinds, stateOf()))).toEqual(expected);
  });

  const acme = recorded("hosting_domain.old", { domain: "acme.example" });
  it.each<[string, readonly Change[], readonly ResourceState[], readonly string[]]>([
    ["records of kinds that are not there any more say nothing", [domain("new")], [{ ...acme, address: "gone.x" }], []],
  ])("%s", (_, changes, state, expected) => {
    const known = new Map([...kinds].map(([type, kind]) => [type, kind]));
    expect(named(doubles(changes, known, stateOf(...state)))).toEqual(expected);
  });
});

describe("an identity in the state", () => {
  const live = { id: "301", service_id: "1001", email: "dev@acme.example" };
  const one = recorded("hosting_grant.a", live);

  it("contains the object and the natural key of its attributes; a resource of an unknown kind has neither", () => {
    const kind = kindOf("hosting_grant");
    expect(objectIn(one, kinds)).toBe(objectKey("default", kind, live));
    expect(thingIn(one, kinds)).toBe(thingKey("default", kind, live));
    for (const address of ["gone.c", "?"])
      expect([objectIn({ ...one, address }, kinds), thingIn({ ...one, address }, kinds)]).toEqual([
        undefined,
        undefined,
      ]);
  });

  it("contains the objects whose ids are in the state, each in its account", () => {
    const unmade = recorded("hosting_grant.b", { ...live, id: null });
    const ownerOf = ownerIn(stateOf(one, unmade, { ...one, address: "gone.c" }), kinds);
    const object = { id: "301", attributes: live };
    expect(ownerOf("default", kindOf("hosting_grant"), object)).toBe("hosting_grant.a");
    expect(ownerOf("beta", kindOf("hosting_grant"), object)).toBeUndefined();
    expect(ownerOf("default", kindOf("hosting_grant"), { ...object, id: "302" })).toBeUndefined();
  });
});

describe("siblings: other pending creates that may have created the found object", () => {
  const pending = { pending: { since: "2026-11-21T10:00:00Z", operation: "createGrant" } } as ResourceState["private"];
  const of = (address: string, over: Partial<ResourceState> = {}) =>
    ({ ...recorded("hosting_grant.x", {}), address, private: pending, ...over }) as PendingCreate;

  it.each([["not of another account", of("hosting_grant.b", { provider: "beta" }), false]])("%s", (_, one, counts) => {
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
      "are the fault of the one that adopts, in whatever order they stand",
      [webhook("a", "7", adopted), webhook("b", "7")],
      [],
      [shared("a", "b")],
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
      "are refused where the other one is recorded and not part of the plan",
      [webhook("a", "7")],
      [record("out")],
      [shared("a", "out")],
    ],
    ["which is no matter for what is forgotten", [webhook("a", "7", { removal: "forget" })], [record("out")], []],
    [
      "a kind that is not there has none",
      [change("other.a", { before: { id: "7" } }), change("other.b", { before: { id: "7" } })],
      [],
      [],
    ],
  ])("%s", (_, changes, state, expected) => {
    expect(named(sharedObjects(changes, kinds, stateOf(...state)))).toEqual(expected);
  });
});
