import { describe, expect, it } from "vitest";
import { attributesOf, differing, refreshed, sameValue, unreadableOf } from "../../../../src/core/lifecycle/index.ts";
import { UNKNOWN } from "../../../../src/core/model/index.ts";
import { complete, kindOf, liveGrant, liveService, liveWebhook, remote } from "../../../support/subjects.ts";

const service = kindOf("hosting_service");
const grant = kindOf("hosting_grant");
const webhook = kindOf("hosting_webhook");

describe("two values of an attribute", () => {
  it("may be equal by the kind's rule, except null and unknown values", () => {
    const meta = { description: "", same: () => true };
    const values = [null, UNKNOWN, "a", "b"] as const;
    const same = values.map((a) => values.filter((b) => sameValue(meta, a, b)));
    expect(same).toEqual([[null], [UNKNOWN], ["a", "b"], ["a", "b"]]);
  });

  it("are cached once for a kind", () => {
    const kind = { ...service };
    expect(attributesOf(kind)).toBe(attributesOf(kind));
  });
});

describe("the natural key that a live object does not show", () => {
  const url = "https://hooks.acme.example";
  const events = ["invoice.paid"];
  it.each([
    ["nothing", liveWebhook, []],
    ["its address: null", { url: null, events }, ["url"]],
    ["its address: left out", { events }, ["url"]],
    ["its events: none", { url, events: [] }, ["events"]],
    ["its address, and its events are others", { url: null, events: ["invoice.created"] }, []],
  ])("is %s", (_, live, names) => {
    expect(unreadableOf(webhook, liveWebhook, live)).toEqual(names);
  });

  it("is empty if another value proves that it is another object", () => {
    const live = { ...liveWebhook, events: [] };
    expect(unreadableOf({ ...webhook, sameIdentity: () => false }, liveWebhook, live)).toEqual([]);
    expect(unreadableOf({ ...webhook, sameIdentity: () => true }, liveWebhook, live)).toEqual(["events"]);
  });
});

describe("the differences between a live object and the order", () => {
  const planned = { plan_id: 11, currency: "USD", domain: "www.acme.example", term: 12, suspended: true };
  it.each([
    ["another plan", { plan_id: 12 }, "plan_id"],
    ["a term, which hosts write in words of their own", { term: 1 }, undefined],
    ["what can be changed", { suspended: false }, undefined],
  ])("%s", (_, live, name) => {
    expect(differing(service, planned, remote({ id: "1001", ...planned, ...live }))).toBe(name);
  });

  it("exclude values that the order did not contain", () => {
    expect(differing(service, { plan_id: 11 }, remote({ id: "1001", plan_id: 11, domain: "a.example" }))).toBe(
      undefined,
    );
  });
});

describe("recorded attributes, refreshed by live attributes", () => {
  it("keep the recorded notation of an equal value", () => {
    const recorded = complete(grant, { ...liveGrant, email: "Dev@Acme.example", expires_at: "2027-01-31" });
    const live = remote({ ...liveGrant, email: "dev@acme.example", expires_at: "2027-01-31T00:00:00.000000Z" });
    expect(refreshed(grant, recorded, live)).toEqual(recorded);
    const hook = complete(webhook, { ...liveWebhook, events: ["a", "b"] });
    expect(refreshed(webhook, hook, remote({ ...liveWebhook, events: ["b", "a"] })).events).toEqual(["a", "b"]);
  });

  it("take a different value", () => {
    const recorded = complete(grant, { ...liveGrant, expires_at: "2027-01-31" });
    expect(refreshed(grant, recorded, remote({ ...liveGrant, expires_at: null })).expires_at).toBeNull();
    expect(refreshed(grant, recorded, remote({ ...liveGrant, permission: "manage" })).permission).toBe("manage");
  });

  it("keep values that the API never returns, even if it has a field of this name", () => {
    const recorded = complete(webhook, { ...liveWebhook, secret: "whsec_1" });
    expect(refreshed(webhook, recorded, remote({ ...liveWebhook, secret: "" })).secret).toBe("whsec_1");
    const ordered = complete(service, { ...liveService, invoice_id: "5001", plan_id: 11 });
    expect(refreshed(service, ordered, remote(liveService))).toMatchObject({ invoice_id: "5001", plan_id: 11 });
  });

  it.each([["hosting_grant", { ...liveGrant }, "permission", null]])(
    "of a %s with %j keeps %s, without which there is none, when the server says %j",
    (type, attributes, name, shown) => {
      const recorded = complete(kindOf(type), attributes);
      expect(refreshed(kindOf(type), recorded, remote({ ...attributes, [name]: shown }))).toEqual(recorded);
    },
  );

  it("accept null from the server for an optional value", () => {
    const after = refreshed(
      service,
      complete(service, liveService),
      remote({ ...liveService, next_due_date: null, status: null }),
    );
    expect(after).toMatchObject({ next_due_date: null, status: null });
  });

  it("keep an immutable attribute that the server omits", () => {
    const after = refreshed(service, complete(service, liveService), remote({ ...liveService, domain: null }));
    expect(after.domain).toBe(liveService.domain);
  });

  it("use the billing cycle of an adopted service, and not against the term of the order", () => {
    expect(refreshed(service, undefined, remote({ ...liveService, term: 3 })).term).toBe(3);
    expect(
      refreshed(service, complete(service, { ...liveService, term: 12 }), remote({ ...liveService, term: 1 })).term,
    ).toBe(12);
  });

  it("never contain a write-only value", () => {
    const recorded = complete(service, { ...liveService, password: "left by an older version" });
    expect(
      refreshed(service, recorded, remote({ ...liveService, password: "shown by a strange server" })).password,
    ).toBeNull();
  });

  it("contain every attribute of the kind, and no other", () => {
    const values = refreshed(service, undefined, remote({ ...liveService, something_new: 1 }));
    expect(Object.keys(values).sort()).toEqual(Object.keys(service.attributes.shape).sort());
    expect(values).toMatchObject({ plan_id: null, reference: null, domain: "www.acme.example" });
  });
});
