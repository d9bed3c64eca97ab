import { describe, expect, it } from "vitest";
import { claimOf, scopeOf, unclaim } from "../../../../../src/fronts/terraform/resource/provider-scope.ts";
import { liveService, remote } from "../../../../support/subjects.ts";
import { surroundings } from "./front.ts";

describe("reading side by side", () => {
  it.each([
    [1, true],
    [2, true],
    [3, false],
    [10, false],
  ])("%i that are asked for at once are read one by one: %s", async (count, alone) => {
    const { front, kind } = surroundings("hosting_service");
    const asked = Array.from({ length: count }, () => front.collections.isAlone(kind, undefined));
    expect(await Promise.all(asked)).toEqual(asked.map(() => alone));
  });

  it("counts each collection separately, and all requests for it since the process began", async () => {
    const { front, kind } = surroundings("hosting_service");
    expect(await front.collections.isAlone(kind, undefined)).toBe(true);
    expect(await front.collections.isAlone(kind, "7")).toBe(true);
    expect(await front.collections.isAlone(kind, undefined)).toBe(true);
    expect(await front.collections.isAlone(kind, undefined)).toBe(false);
    expect(await front.collections.isAlone(kind, "7")).toBe(true);
  });

  it("waits for others only where there is a GET of one object", async () => {
    const webhooks = surroundings("hosting_webhook");
    expect(await webhooks.front.collections.isAlone(webhooks.kind, undefined)).toBe(false);
    expect(webhooks.clock.slept).toBe(0);
    const services = surroundings("hosting_service");
    await services.front.collections.isAlone(services.kind, undefined);
    expect(services.clock.slept).toBeGreaterThan(0);
    expect(services.clock.slept).toBeLessThan(100);
  });

  it("reads every object individually when that is switched off, and is one for a session", async () => {
    const { kind, session } = surroundings("hosting_webhook");
    const front = scopeOf(session, { HOSTFORM_TERRAFORM_COALESCE: "0" });
    expect(await front.collections.isAlone(kind, undefined)).toBe(true);
    expect(scopeOf(session, {})).toBe(front);
  });

  it("lists a collection again for data sources, once after each change", async () => {
    const { front, kind, fake } = surroundings("hosting_service", { objects: [remote(liveService)] });
    const look = async () => {
      front.collections.upToDate(kind, undefined);
      await front.account.list(kind);
    };
    await look();
    await look();
    expect(fake.asked).toEqual(["list"]);
    front.collections.changed(kind, undefined);
    await look();
    await look();
    expect(fake.asked).toEqual(["list", "list"]);
  });
});

describe("the name of a thing that is to be made", () => {
  const acme = { domain: "www.acme.example", reference: "www" };

  it("is one resource's, until nothing came of it", () => {
    const { front, kind } = surroundings("hosting_service");
    expect(claimOf(kind, "www", acme, front)).toBeUndefined();
    expect(claimOf(kind, "www", { reference: "www" }, front)).toBe("service www.acme.example");
    unclaim(kind, "www", acme, front);
    expect(claimOf(kind, "www", { reference: "www" }, front)).toBeUndefined();
  });

  it("is taken together with the domain: two references of one domain are one thing", () => {
    const { front, kind } = surroundings("hosting_service");
    claimOf(kind, "www", acme, front);
    expect(claimOf(kind, "shop", { ...acme, reference: "shop" }, front)).toBe("service www.acme.example");
    // The name was not kept by the one that was refused.
    expect(claimOf(kind, "shop", { domain: "shop.acme.example", reference: "shop" }, front)).toBeUndefined();
  });

  it("is nobody's where there is none, and differs by parent and by kind", () => {
    const { front, kind } = surroundings("hosting_service");
    const { kind: grant } = surroundings("hosting_grant");
    expect(claimOf(kind, undefined, {}, front)).toBeUndefined();
    expect(claimOf(kind, undefined, {}, front)).toBeUndefined();
    const share = (service_id: string) => ({ service_id, email: "dev@acme.example" });
    expect(claimOf(grant, "1 dev@acme.example", share("1"), front)).toBeUndefined();
    expect(claimOf(grant, "2 dev@acme.example", share("2"), front)).toBeUndefined();
    expect(front.claim(kind, "1 dev@acme.example", "service x")).toBeUndefined();
  });
});

describe("an object that an answer names", () => {
  it("is taken once", () => {
    const { front, kind } = surroundings("hosting_service");
    expect(front.take(kind, "1001", "service a")).toBeUndefined();
    expect(front.take(kind, "1001", "service b")).toBe("service a");
  });

  it("is not taken from the state, nor what Terraform has just let go of", () => {
    const { front, kind } = surroundings("hosting_service");
    front.hold(kind, { reference: "www", id: "1001" });
    front.release(kind, "1002");
    expect(front.take(kind, "1001", "service a")).toContain("this state");
    expect(front.take(kind, "1002", "service a")).toContain("make room");
  });
});

describe("what the state holds", () => {
  it("is known by name and by id", () => {
    const { front, kind } = surroundings("hosting_service");
    expect(front.holdsNone(kind)).toBe(true);
    front.hold(kind, { reference: "www", id: "1001" });
    front.hold(kind, { id: "1002" });
    expect(front.heldAs(kind, "www")).toBe("1001");
    expect(front.heldAs(kind, "box")).toBeUndefined();
    expect(front.holdsNone(kind)).toBe(false);
    expect(front.holdsNone(surroundings("hosting_webhook").kind)).toBe(true);
  });

  it("may be in doubt: it has a name then, and no id", () => {
    const { front, kind } = surroundings("hosting_service");
    front.hold(kind, { reference: "www", id: null });
    front.hold(kind, { id: null });
    expect(front.hasPending(kind, "www")).toBe(true);
    expect(front.hasPending(kind, "box")).toBe(false);
    expect(front.hasPending(kind, undefined)).toBe(false);
    expect(front.heldAs(kind, "www")).toBeUndefined();
  });

  it.each([
    ["imported and held", true, true, true],
    ["imported alone", true, false, false],
    ["held alone", false, true, false],
  ])("under two addresses: %s", (_, imported, held, double) => {
    const { front, kind } = surroundings("hosting_service");
    if (imported) front.importing(kind, "1001");
    if (held) front.hold(kind, { id: "1001" });
    expect(front.isDouble(kind, "1001")).toBe(double);
  });
});
