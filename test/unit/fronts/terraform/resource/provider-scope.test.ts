import { describe, expect, it } from "vitest";
import { scopeOf } from "../../../../../src/fronts/terraform/resource/provider-scope.ts";
import { liveService, remote } from "../../../../support/subjects.ts";
import { fakeScope } from "./fake-scope.ts";

describe("reading side by side", () => {
  it.each([
    [1, true],
    [2, true],
    [3, false],
    [10, false],
  ])("%i that are asked for at once are read one by one: %s", async (count, alone) => {
    const { front, kind } = fakeScope("hosting_service");
    const asked = Array.from({ length: count }, () => front.collections.isAlone(kind, undefined));
    expect(await Promise.all(asked)).toEqual(asked.map(() => alone));
  });

  it("counts each collection separately, and all requests for it since the process began", async () => {
    const { front, kind } = fakeScope("hosting_service");
    expect(await front.collections.isAlone(kind, undefined)).toBe(true);
    expect(await front.collections.isAlone(kind, "7")).toBe(true);
    expect(await front.collections.isAlone(kind, undefined)).toBe(true);
    expect(await front.collections.isAlone(kind, undefined)).toBe(false);
    expect(await front.collections.isAlone(kind, "7")).toBe(true);
  });

  it("waits for others only where there is a GET of one object", async () => {
    const webhooks = fakeScope("hosting_webhook");
    expect(await webhooks.front.collections.isAlone(webhooks.kind, undefined)).toBe(false);
    expect(webhooks.clock.slept).toBe(0);
    const services = fakeScope("hosting_service");
    await services.front.collections.isAlone(services.kind, undefined);
    expect(services.clock.slept).toBeGreaterThan(0);
    expect(services.clock.slept).toBeLessThan(100);
  });

  it("reads every object individually when that is switched off, and is one for a session", async () => {
    const { kind, session } = fakeScope("hosting_webhook", { coalesce: false });
    const front = scopeOf(session, { HOSTFORM_TERRAFORM_COALESCE: "0" });
    expect(await front.collections.isAlone(kind, undefined)).toBe(true);
    expect(scopeOf(session, {})).toBe(front);
  });

  it("lists a collection again for data sources, once after each change", async () => {
    const { front, kind, fake } = fakeScope("hosting_service", { objects: [remote(liveService)] });
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
  const first = { label: "the first" };
  const second = { label: "the second" };

  it("is one resource's, until nothing came of it", () => {
    const { front, kind } = fakeScope("hosting_service");
    expect(front.claim(first, kind, "www", acme)).toBeUndefined();
    expect(front.claim(second, kind, "www", { reference: "www" })).toBe("the first");
    expect(front.claim({ ...first }, kind, "www", {}), "another call, of the same label").toBe("the first");
    front.release(kind, "www", acme);
    expect(front.claim(second, kind, "www", acme)).toBeUndefined();
  });

  it("is taken together with the domain: two references of one domain are one thing", () => {
    const { front, kind } = fakeScope("hosting_service");
    front.claim(first, kind, "www", acme);
    expect(front.claim(second, kind, "shop", { ...acme, reference: "shop" })).toBe("the first");
    // The name was not kept by the one that was refused.
    expect(front.claim({ label: "a third" }, kind, "shop", { domain: "shop.acme.example" })).toBeUndefined();
  });

  it("is not the domain of another one", () => {
    const { front, kind } = fakeScope("hosting_service");
    front.claim(first, kind, "shop.acme.example", acme);
    expect(front.claim(second, kind, "shop", { domain: "shop.acme.example" })).toBeUndefined();
  });

  it("is nobody's where there is none, and differs by parent and by kind", () => {
    const { front, kind } = fakeScope("hosting_service");
    const { kind: grant } = fakeScope("hosting_grant");
    expect(front.claim(first, kind, undefined, {})).toBeUndefined();
    expect(front.claim(second, kind, undefined, {})).toBeUndefined();
    const share = (service_id: string) => ({ service_id, email: "dev@acme.example" });
    expect(front.claim(first, grant, "1 dev@acme.example", share("1"))).toBeUndefined();
    expect(front.claim(second, grant, "2 dev@acme.example", share("2"))).toBeUndefined();
    expect(front.claim(second, kind, "1 dev@acme.example", {})).toBeUndefined();
  });

  it("is planned once, and claimed again by the apply", () => {
    const { front, kind } = fakeScope("hosting_service");
    expect(front.claimPlanned(first, kind, "www")).toBeUndefined();
    expect(front.claimPlanned(second, kind, "www")).toBe("the first");
    expect(front.claim(second, kind, "www", acme)).toBeUndefined();
  });
});

describe("an object that an answer names", () => {
  const owner = { label: "service a" };

  it("is claimed by one resource", () => {
    const { front, kind } = fakeScope("hosting_service");
    expect(front.claimObject(owner, kind, { id: "1001" })).toBeUndefined();
    expect(front.claimObject(owner, kind, { id: "1001" })).toBeUndefined();
    expect(front.claimObject({ label: "service b" }, kind, { id: "1001" })).toBe("service a");
  });

  it("may have the id of one of another parent", () => {
    const { front, kind } = fakeScope("hosting_grant");
    front.addRecorded(kind, { id: "7", service_id: "1", email: "dev@acme.example" });
    expect(front.claimObject(owner, kind, { id: "7", service_id: "1" })).toContain("this state");
    expect(front.claimObject(owner, kind, { id: "7", service_id: "2" })).toBeUndefined();
    expect(front.ownerOf(kind, { id: "7", service_id: "3" })).toBeUndefined();
  });

  it("is not one of the state, nor what Terraform has just released", () => {
    const { front, kind } = fakeScope("hosting_service");
    front.addRecorded(kind, { reference: "www", id: "1001" });
    front.addRecorded(kind, { reference: "box", id: "1002" });
    front.markReleased(kind, { id: "1002" });
    expect(front.claimObject(owner, kind, { id: "1001" })).toContain("this state");
    expect(front.claimObject(owner, kind, { id: "1002" })).toContain("the object that it replaces");
  });
});

describe("what the state has", () => {
  it("is known by name and by id", () => {
    const { front, kind } = fakeScope("hosting_service");
    expect(front.hasRecorded(kind)).toBe(false);
    front.addRecorded(kind, { reference: "www", id: "1001" });
    front.addRecorded(kind, { id: "1002" });
    expect(front.recordedId(kind, "www")).toBe("1001");
    expect(front.recordedId(kind, "box")).toBeUndefined();
    expect(front.hasRecorded(kind)).toBe(true);
    expect(front.hasRecorded(fakeScope("hosting_webhook").kind)).toBe(false);
  });

  it("may be a pending create: it has a name then, and no id", () => {
    const { front, kind } = fakeScope("hosting_service");
    front.addRecorded(kind, { reference: "www", id: null });
    front.addRecorded(kind, { id: null });
    expect(front.hasPending(kind, "www")).toBe(true);
    expect(front.hasPending(kind, "box")).toBe(false);
    expect(front.hasPending(kind, undefined)).toBe(false);
    expect(front.recordedId(kind, "www")).toBeUndefined();
    expect(front.hasRecorded(kind)).toBe(false);
  });

  it.each([
    ["imported and recorded", true, true, true],
    ["imported alone", true, false, false],
    ["recorded alone", false, true, false],
  ])("under two addresses: %s", (_, imported, isRecorded, double) => {
    const { front, kind } = fakeScope("hosting_service");
    if (imported) front.noteImported(kind, { id: "1001" });
    if (isRecorded) front.addRecorded(kind, { id: "1001" });
    expect(front.isDouble(kind, { id: "1001" })).toBe(double);
  });
});
