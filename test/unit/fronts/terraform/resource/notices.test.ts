import { describe, expect, it } from "vitest";
import type { Applied } from "../../../../../src/core/lifecycle/index.ts";
import { PENDING_CREATE, type ValueObject } from "../../../../../src/core/model/index.ts";
import { nameOf, terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { heldByOther, notices, refersToPending, waits } from "../../../../../src/fronts/terraform/resource/notices.ts";
import { codesOf, fakeScope } from "./fake-scope.ts";

const service = terraformKind("hosting_service");
const applied = (over: Partial<Applied>): Applied => ({ attributes: {}, diagnostics: [], ...over });
const invoice = { id: "9", number: "INV-9", total: 500, currency: "USD", paid: false } as Applied["invoice"];

describe("the diagnostics of an apply", () => {
  it.each<[string, Partial<Applied>, string[]]>([
    ["is nothing when all is done", {}, []],
    ["is nothing while what is paid is provisioned", { awaiting: "provisioning" }, []],
    ["is that a job is queued", { awaiting: "job" }, ["warning apply.waiting"]],
    ["is that an invoice waits", { awaiting: "payment" }, ["warning apply.waiting"]],
  ])("%s", (_, over, says) => {
    expect(codesOf(notices(service, applied(over)))).toEqual(says);
  });

  it("contain the invoice and its amount in the scale of the provider", () => {
    const [first] = notices(service, applied({ awaiting: "payment", ...(invoice && { invoice }) }));
    expect(first?.detail).toContain("INV-9 of 500 (USD, API's unit) was raised");
    const [scaled] = notices(service, applied({ awaiting: "payment", ...(invoice && { invoice }) }), 2);
    expect(scaled?.detail).toBe("Invoice INV-9 of 5.00 USD was raised.");
    const [unnamed] = notices(service, applied({ awaiting: "payment" }));
    expect(unnamed?.detail).toBe("The answer names no invoice.");
    const nameless = { ...invoice, id: null, number: null, total: 500, currency: "USD" } as never;
    const [amount] = notices(service, applied({ awaiting: "payment", invoice: nameless }), 2);
    expect(amount?.detail).toBe("An invoice of 5.00 USD was raised.");
  });

  it("omit attributes of a queued job, because the job has its own warning", () => {
    const job = { since: "2026-11-21T10:00:00Z", toward: "suspended", before: "active" } as const;
    for (const isLive of [true, false]) {
      expect(waits(service, { waiting: ["suspended"], job }, isLive)).toEqual([]);
      const [other] = waits(service, { waiting: ["suspended", "password_version"], job }, isLive);
      expect(other?.summary).toContain("password_version");
      expect(other?.summary).not.toContain("suspended");
    }
  });
});

describe("a resource that refers to a pending create", () => {
  it.each<[string, ValueObject, string[][]]>([
    ["alone", { service_id: PENDING_CREATE, email: "a@b.example" }, [["service_id"]]],
    ["within a text", { domain: `x-${PENDING_CREATE}.example` }, [["domain"]]],
    ["within a map", { questions: { service: PENDING_CREATE } }, [["questions"]]],
    ["not at all", { service_id: "1001" }, []],
  ])("%s", (_, declared, attributes) => {
    const found = refersToPending(declared, terraformKind("hosting_grant"));
    expect(found.map(({ attribute }) => attribute)).toEqual(attributes);
    for (const each of found) expect(codesOf([each])).toEqual(["error plan.pending"]);
  });
});

describe("a name that the state already contains", () => {
  it.each([
    ["is another order", "hosting_service", {}, ["error config.duplicate"]],
    ["is free for what takes its object's place", "hosting_service", { replacing: { id: "1001" } }, []],
    [
      "is not free for what takes another's place",
      "hosting_service",
      { replacing: { id: "1002" } },
      ["error config.duplicate"],
    ],
    ["is never free of a registration", "hosting_domain", { replacing: { id: "1001" } }, ["error config.duplicate"]],
    ["means nothing where the account shows what there is", "hosting_webhook", {}, []],
  ])("%s (%s)", (_, type, mark, says) => {
    const { kind, front } = fakeScope(type);
    const held = { id: "1001", domain: "www.example", url: "https://www.example", events: [] };
    front.addRecorded(kind, held);
    expect(codesOf(heldByOther(kind, nameOf(kind, held) ?? "", mark, front))).toEqual(says);
    expect(heldByOther(kind, "other", mark, front)).toEqual([]);
  });
});
