// Owners of existing objects and of objects that a run is creating. All front ends use this concept.
import { describe, expect, it } from "vitest";
import { Ownership, objectKey, thingKey } from "../../../../src/core/lifecycle/index.ts";
import { kindOf } from "../../../support/subjects.ts";

describe("the key of an object", () => {
  const live = { id: "301", service_id: "1001", email: "dev@acme.example" };
  const grants = kindOf("hosting_grant");
  it("is undefined without an id", () => {
    expect(objectKey("default", grants, { ...live, id: null })).toBeUndefined();
  });
});

describe("the key of a create", () => {
  const grants = kindOf("hosting_grant");
  const share = { service_id: "1001", email: "dev@acme.example" };
  it("is undefined while its natural key or its parent is unknown", () => {
    expect(thingKey("default", grants, { email: share.email })).toBeUndefined();
    expect(thingKey("default", kindOf("hosting_service"), { domain: null })).toBeUndefined();
  });
});

describe("ownership", () => {
  it("is claimed completely or not at all, by one owner", () => {
    const ownership = new Ownership<string>();
    expect(ownership.claim("a", "name", "domain")).toBeUndefined();
    expect(ownership.claim("a", "name")).toBeUndefined();
    expect(ownership.claim("b", "free", "domain")).toBe("a");
    expect(ownership.ownerOf("free")).toBeUndefined();
    expect(ownership.claim("b", undefined), "what nothing distinguishes").toBeUndefined();
    expect(ownership.claim("a", undefined)).toBeUndefined();
  });

  it("belongs to the first owner, unless that owner does not count", () => {
    const ownership = new Ownership<string>();
    ownership.add("a", "1001");
    ownership.add("b", "1001");
    expect([ownership.ownerOf("1001"), ownership.ownerOf("1001", "a"), ownership.ownerOf("1001", "b")]).toEqual([
      "a",
      "b",
      "a",
    ]);
    expect([ownership.has("b", "1001"), ownership.has("c", "1001")]).toEqual([true, false]);
  });

  it("ends for one key, or for all keys of an owner, and for no other owner", () => {
    const ownership = new Ownership<string>();
    ownership.add("b", "shared");
    ownership.claim("a", "1", "2");
    ownership.add("a", "shared");
    ownership.release("a", "1");
    expect([ownership.ownerOf("1"), ownership.ownerOf("2")]).toEqual([undefined, "a"]);
    ownership.release("a");
    expect([ownership.ownerOf("2"), ownership.ownerOf("shared")]).toEqual([undefined, "b"]);
    ownership.release("a");
    expect(ownership.ownerOf("shared")).toBe("b");
  });
});
