import { describe, expect, it } from "vitest";
import { UNKNOWN } from "../../../../../src/core/model/index.ts";
import { openAccount, reportedBy, validated } from "../account.ts";

const first = {
  id: "1001",
  domain: "customer-one.example",
  plan: "Shared Plus",
  plan_id: null,
  product_type: "shared",
  status: "active",
  phase: "live",
  provisioning_status: "provisioned",
  billing_cycle: "monthly",
  currency: "USD",
  price: 900,
  price_text: null,
  next_due_date: "2026-11-22",
  created_at: "2026-08-22T10:00:00+00:00",
};

describe("hosting_service", () => {
  it("returns one by id, with one request of its own", async () => {
    const account = await openAccount({ config: { money_scale: 2 }, token: "customer" });
    expect(await account.read("hosting_service", { id: "1001" })).toEqual({ ...first, price_text: "9.00 USD" });
    expect(account.sent()).toEqual(["GET /services/1001"]);
  });

  it("returns many by id from one list", async () => {
    const account = await openAccount();
    const ids = account.control.seedServices({ count: 12 }).map(({ id }) => String(id));
    const found = await Promise.all(ids.map((id) => account.read("hosting_service", { id })));
    expect(found.map(({ id }) => id)).toEqual(ids);
    expect(account.sent()).toEqual(["GET /services"]);
  });

  it("returns one by domain, however it is written, and keeps the given spelling", async () => {
    const account = await openAccount({ token: "customer" });
    const domain = "Customer-One.EXAMPLE.";
    expect(await account.read("hosting_service", { domain })).toEqual({ ...first, domain });
  });

  it("passes over a service that has ended when its domain was ordered again", async () => {
    const account = await openAccount();
    const [old, present] = account.control.seedServices({ count: 2 });
    account.control.change("services", old?.id ?? 0, { domain: present?.domain ?? "", status: "terminated" });
    const domain = String(present?.domain);
    expect(await account.read("hosting_service", { domain })).toMatchObject({ id: String(present?.id), phase: "live" });
    account.control.change("services", present?.id ?? 0, { domain: "other.example" });
    account.session.account.refresh();
    expect(await account.read("hosting_service", { domain })).toMatchObject({ id: String(old?.id), phase: "gone" });
  });

  it("is an error at the attribute when there is none, or more than one", async () => {
    const account = await openAccount();
    const [one, two] = account.control.seedServices({ count: 2 });
    account.control.change("services", two?.id ?? 0, { domain: one?.domain ?? "" });
    const failed = async (given: object) =>
      reportedBy((await account.tryRead("hosting_service", { ...given })).diagnostics);
    expect(await failed({ id: "9" })).toEqual(["error at id: There is no service 9"]);
    expect(await failed({ domain: "x.example" })).toEqual([
      'error at domain: There is no service of the domain "x.example"',
    ]);
    expect(await failed({ domain: one?.domain })).toEqual([
      `error at domain: There is more than one service of the domain "${one?.domain}"`,
    ]);
    const { diagnostics } = await account.tryRead("hosting_service", { domain: String(one?.domain) });
    expect(diagnostics[0]?.detail).toBe(
      `Found: ${one?.id} (active), ${two?.id} (active).\n\nSet the \`id\` of the one you mean.`,
    );
  });

  it("is checked again once what was unknown is known", async () => {
    const account = await openAccount();
    const { state, diagnostics } = await account.tryRead("hosting_service", {});
    expect(state).toBeNull();
    expect(reportedBy(diagnostics)).toEqual(["error: `id` or `domain` is required"]);
    expect(account.sent()).toEqual([]);
  });
});

describe("hosting_services", () => {
  it("returns all, or those that match every filter", async () => {
    const account = await openAccount({ token: "customer" });
    const [ended] = account.control.seedServices({ account: "customer", plan_id: 11 });
    account.control.change("services", ended?.id ?? 0, { status: "terminated" });
    const ids = async (given: object) => {
      const { services } = await account.read("hosting_services", { ...given });
      return (services as { id: string }[]).map(({ id }) => id);
    };
    const all = ["1001", "1002", String(ended?.id)];
    expect((await ids({})).sort()).toEqual(all);
    expect((await ids({ phase: "live" })).sort()).toEqual(["1001", "1002"]);
    expect(await ids({ phase: "gone" })).toEqual([String(ended?.id)]);
    expect(await ids({ plan: "vps 1" })).toEqual(["1002"]);
    expect(await ids({ product_type: "VPS" })).toEqual(["1002"]);
    expect(await ids({ domain: "CUSTOMER-ONE.example" })).toEqual(["1001"]);
    expect(await ids({ domain: "customer-one.example", phase: "gone" })).toEqual([]);
    expect(await ids({ domain: "*-ONE.example" })).toEqual(["1001"]);
    expect(await ids({ domain: "*.customer-one.example" })).toEqual([]);
    expect(await ids({ status: "TERMINATED" })).toEqual([String(ended?.id)]);
    expect(await ids({ billing_cycle: "yearly" })).toEqual([]);
    expect(await ids({ currency: "usd", phase: "live", plan: "shared plus" })).toEqual(["1001"]);
    // One listing serves every read.
    expect(account.sent()).toEqual(["GET /services"]);
  });

  it("knows which phases there are", async () => {
    expect(await validated("hosting_services", { phase: "active" })).toEqual([
      'error at phase: There is no phase "active"',
    ]);
    expect(await validated("hosting_services", { phase: UNKNOWN })).toEqual([]);
  });
});
