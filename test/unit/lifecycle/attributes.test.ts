import { describe, expect, it } from "vitest";
import { refreshed } from "../../../src/lifecycle/index.ts";
import { complete, kindOf, liveGrant, liveService, liveWebhook, remote } from "../../support/subjects.ts";

const service = kindOf("hosting_service");
const grant = kindOf("hosting_grant");
const webhook = kindOf("hosting_webhook");

describe("what is recorded, refreshed by what is live", () => {
  it("keeps the recorded notation of what means the same", () => {
    const recorded = complete(grant, { ...liveGrant, email: "Dev@Acme.example", expires_at: "2027-01-31" });
    const live = remote({ ...liveGrant, email: "dev@acme.example", expires_at: "2027-01-31T00:00:00.000000Z" });
    expect(refreshed(grant, recorded, live)).toEqual(recorded);
    const hook = complete(webhook, { ...liveWebhook, events: ["a", "b"] });
    expect(refreshed(webhook, hook, remote({ ...liveWebhook, events: ["b", "a"] })).events).toEqual(["a", "b"]);
  });

  it("takes what means something else", () => {
    const recorded = complete(grant, { ...liveGrant, expires_at: "2027-01-31" });
    expect(refreshed(grant, recorded, remote({ ...liveGrant, expires_at: null })).expires_at).toBeNull();
    expect(refreshed(grant, recorded, remote({ ...liveGrant, permission: "manage" })).permission).toBe("manage");
  });

  it("keeps what the API never tells, even when it says something of that name", () => {
    const recorded = complete(webhook, { ...liveWebhook, secret: "whsec_1" });
    expect(refreshed(webhook, recorded, remote({ ...liveWebhook, secret: "" })).secret).toBe("whsec_1");
    const ordered = complete(service, { ...liveService, invoice_id: "5001", plan_id: 11 });
    expect(refreshed(service, ordered, remote(liveService))).toMatchObject({ invoice_id: "5001", plan_id: 11 });
  });

  it.each([
    ["hosting_grant", { ...liveGrant }, "permission", null],
    ["hosting_grant", { ...liveGrant }, "email", null],
    ["hosting_webhook", { ...liveWebhook }, "events", []],
    ["hosting_webhook", { ...liveWebhook }, "url", null],
    ["hosting_service", { ...liveService }, "currency", null],
  ])(
    "of a %s with %j keeps %s, without which there is none, when the server says %j",
    (type, attributes, name, told) => {
      const recorded = complete(kindOf(type), attributes);
      expect(refreshed(kindOf(type), recorded, remote({ ...attributes, [name]: told }))).toEqual(recorded);
    },
  );

  it("believes the server that there is none of what there may be none of", () => {
    const told = refreshed(
      service,
      complete(service, liveService),
      remote({ ...liveService, next_due_date: null, status: null }),
    );
    expect(told).toMatchObject({ next_due_date: null, status: null });
  });

  it("takes silence about what cannot change for silence", () => {
    const told = refreshed(service, complete(service, liveService), remote({ ...liveService, domain: null }));
    expect(told.domain).toBe(liveService.domain);
  });

  it("believes the billing cycle of a service that is adopted, and not against the term of the order", () => {
    expect(refreshed(service, undefined, remote({ ...liveService, term: 3 })).term).toBe(3);
    expect(
      refreshed(service, complete(service, { ...liveService, term: 12 }), remote({ ...liveService, term: 1 })).term,
    ).toBe(12);
  });

  it("never holds what is write-only", () => {
    const recorded = complete(service, { ...liveService, password: "left by an older version" });
    expect(
      refreshed(service, recorded, remote({ ...liveService, password: "told by a strange server" })).password,
    ).toBeNull();
  });

  it("has every attribute of the kind, and no other", () => {
    const values = refreshed(service, undefined, remote({ ...liveService, something_new: 1 }));
    expect(Object.keys(values).sort()).toEqual(Object.keys(service.attributes.shape).sort());
    expect(values).toMatchObject({ plan_id: null, reference: null, domain: "www.acme.example" });
  });

  it("believes the id of the live object", () => {
    expect(
      refreshed(service, complete(service, { ...liveService, id: "1001" }), { ...remote(liveService), id: "1002" }).id,
    ).toBe("1002");
  });
});
