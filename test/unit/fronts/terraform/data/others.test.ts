import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { openAccount, reportedBy, validated } from "../account.ts";

describe("hosting_domain_availability", () => {
  it("reports each domain, by the name that was asked for", async () => {
    const account = await openAccount({ token: "customer" });
    const domains = ["free.example", "Taken.example", "free.example"];
    expect(await account.read("hosting_domain_availability", { domains })).toEqual({
      domains,
      available: { "free.example": true, "Taken.example": false },
      all_available: false,
    });
    expect(await account.read("hosting_domain_availability", { domains: ["a.example", "b.example"] })).toMatchObject({
      all_available: true,
    });
  });

  it("does not take an answer that it does not understand for a yes", async () => {
    const account = await openAccount();
    const body = {
      data: [
        { domain: "a.example", available: true },
        { domain: "b.example", available: "perhaps" },
      ],
    };
    account.control.addFault({ path: "/domains/check", phase: "before", status: 200, body });
    const domains = ["a.example", "b.example"];
    expect(await account.read("hosting_domain_availability", { domains })).toEqual({
      domains,
      available: { "a.example": true, "b.example": null },
      all_available: false,
    });
  });

  it("asks about nothing where nothing is given, and refuses what is no domain", async () => {
    const account = await openAccount();
    expect(await account.read("hosting_domain_availability", { domains: [] })).toEqual({
      domains: [],
      available: {},
      all_available: true,
    });
    const { diagnostics } = await account.tryRead("hosting_domain_availability", {
      domains: ["a.example.", "no domain"],
    });
    expect(reportedBy(diagnostics)).toEqual([
      'error at domains.1: "no domain" is not a domain name: it has one label, and a domain name has at least two',
    ]);
    expect(account.sent()).toEqual([]);
    expect(await validated("hosting_domain_availability", { domains: [UNKNOWN, "b_c", null] })).toEqual([
      'error at domains.1: "b_c" is not a domain name: it has one label, and a domain name has at least two',
      "error at domains.2: null is not a domain name",
    ]);
    expect(await validated("hosting_domain_availability", { domains: UNKNOWN })).toEqual([]);
  });
});

describe("hosting_grants", () => {
  it("lists with whom a service is shared", async () => {
    const account = await openAccount({ token: "customer" });
    account.control.create("grants", { service_id: 1001, email: "dev@acme.example", permission: "view" });
    expect(await account.read("hosting_grants", { service_id: "1001" })).toEqual({
      service_id: "1001",
      email: null,
      permission: null,
      grants: [
        {
          id: "301",
          email: "dev@acme.example",
          permission: "view",
          expires_at: null,
          created_at: "2026-11-21T10:00:00+00:00",
        },
      ],
    });
  });

  it("distinguishes a service that is not shared from one that does not exist", async () => {
    const account = await openAccount({ token: "customer" });
    expect(await account.read("hosting_grants", { service_id: "1002" })).toMatchObject({ grants: [] });
    const { diagnostics } = await account.tryRead("hosting_grants", { service_id: "9" });
    expect(reportedBy(diagnostics)).toEqual(["error at service_id: There is no service 9"]);
  });
});

describe("the filters of lists", () => {
  /** Returns the values of an attribute of the listed objects. */
  async function found(name: string, attribute: string, given: ValueObject) {
    const account = await openAccount({ token: name === "client_accounts" ? "agency" : "customer" });
    const { control } = account;
    control.create("grants", { service_id: 1001, email: "dev@acme.example", permission: "view" });
    control.create("grants", { service_id: 1001, email: "Boss@B\u00fccher.example", permission: "manage" });
    for (const [url, events] of [
      ["https://h.acme.example", ["invoice.paid", "invoice.created"]],
      ["https://h.acme.example/b", ["invoice.paid"]],
    ] as const)
      control.create("webhooks", { url, events: [...events], account: "customer" });
    control.create("accounts", {
      name: "Old Town Bakery",
      company_number: "405",
      currency: "GEL",
    });
    control.create("accounts", { name: "Harbor Cafe", vat_number: "GE1", currency: "USD" });
    control.create("migration_requests", { domain: "www.acme.example", order_id: 1001, account: "customer" });
    control.create("migration_requests", { domain: "m\u00fcller.example", account: "customer" });
    const state = await account.read(`hosting_${name}`, given);
    return (state[name] as JsonObject[]).map((one) => one[attribute]);
  }
  const GRANTS = ["grants", "id", { service_id: "1001" }] as const;
  const HOOKS = ["webhooks", "url", {}] as const;
  const CLIENTS = ["client_accounts", "id", {}] as const;
  const MOVES = ["migration_requests", "id", {}] as const;

  it.each<readonly [readonly [string, string, ValueObject], ValueObject, readonly string[]]>([
    [GRANTS, { email: "DEV@acme.example" }, ["301"]],
    [GRANTS, { email: "*@b\u00fccher.example" }, ["302"]],
    [GRANTS, { permission: "view" }, ["301"]],
    [GRANTS, { email: "*", permission: "manage" }, ["302"]],
    [HOOKS, { url: "https://H.acme.example:443/" }, ["https://h.acme.example"]],
    [HOOKS, { events: ["invoice.paid", "invoice.created"] }, ["https://h.acme.example"]],
    [HOOKS, { events: ["invoice.paid"] }, ["https://h.acme.example", "https://h.acme.example/b"]],
    [HOOKS, { events: ["service.expiring"] }, []],
    [CLIENTS, { name: "harbor cafe" }, ["402"]],
    [CLIENTS, { name: "*BAKERY" }, ["401"]],
    [CLIENTS, { company_number: "405" }, ["401"]],
    [CLIENTS, { vat_number: "ge1" }, ["402"]],
    [CLIENTS, { currency: "EUR" }, []],
    [MOVES, { domain: "*.acme.example" }, ["501"]],
    [MOVES, { domain: "xn--mller-kva.example" }, ["502"]],
    [MOVES, { domain: "m\u00fc*" }, ["502"]],
    [MOVES, { order_id: "1001" }, ["501"]],
  ])("%j with %j returns %j", async ([name, attribute, needed], given, expected) => {
    expect(await found(name, attribute, { ...needed, ...given })).toEqual(expected);
  });
});

describe("hosting_webhooks", () => {
  it("lists the subscriptions, never a secret", async () => {
    const account = await openAccount();
    account.control.create("webhooks", {
      url: "https://h.acme.example/x",
      events: ["invoice.paid", "invoice.created"],
    });
    const { webhooks } = await account.read("hosting_webhooks");
    expect(webhooks).toEqual([
      {
        id: "201",
        url: "https://h.acme.example/x",
        events: ["invoice.created", "invoice.paid"],
        created_at: "2026-11-21T10:00:00+00:00",
      },
    ]);
  });
});

describe("hosting_client_accounts", () => {
  it("lists the accounts of an agency", async () => {
    const account = await openAccount();
    account.control.create("accounts", { name: "Acme", vat_number: "GE1", currency: "GEL" });
    expect(await account.read("hosting_client_accounts")).toMatchObject({
      client_accounts: [
        {
          id: "401",
          name: "Acme",
          company_name: null,
          company_number: null,
          vat_number: "GE1",
          currency: "GEL",
          created_at: "2026-11-21T10:00:00+00:00",
        },
      ],
    });
  });
});

describe("hosting_migration_request and hosting_migration_requests", () => {
  const acme = {
    id: "501",
    domain: "acme.example",
    order_id: "1001",
    status: "pending",
    created_at: "2026-11-21T10:00:00+00:00",
  };

  it("return one by id, and all or those that match every filter", async () => {
    const account = await openAccount({ token: "customer" });
    const made = { domain: "acme.example", order_id: 1001, account: "customer", source: "cpanel" };
    const { status } = account.control.create("migration_requests", made);
    account.control.create("migration_requests", { domain: "other.example", account: "customer" });
    expect(await account.read("hosting_migration_request", { id: "501" })).toEqual({ ...acme, status });
    expect(await account.read("hosting_migration_requests", { domain: "ACME.example" })).toEqual({
      domain: "ACME.example",
      status: null,
      order_id: null,
      migration_requests: [{ ...acme, status }],
    });
    const ids = async (given: object) => {
      const all = (await account.read("hosting_migration_requests", { ...given })).migration_requests;
      return (all as { id: string; order_id: unknown }[]).map(({ id }) => id).sort();
    };
    expect(await ids({})).toEqual(["501", "502"]);
    expect(await ids({ status: status.toUpperCase() })).toEqual(["501", "502"]);
    expect(await ids({ status: "done" })).toEqual([]);
  });

  it("is an error at the id when there is none", async () => {
    const account = await openAccount();
    const { diagnostics } = await account.tryRead("hosting_migration_request", { id: "9" });
    expect(reportedBy(diagnostics)).toEqual(["error at id: There is no migration request 9"]);
  });
});

describe("every data source", () => {
  /** Required attributes of each data source. */
  const NEEDS: Readonly<Record<string, object>> = {
    hosting_domain_availability: { domains: ["a.example"] },
    hosting_grants: { service_id: "1001" },
    hosting_invoice: { id: "5001" },
    hosting_migration_request: { id: "501" },
    hosting_plan: { plan_id: 11 },
    hosting_service: { id: "1001" },
  };

  it.each([...catalogue.dataSources.keys()])("%s sends GETs only, and shows nothing secret", async (name) => {
    const account = await openAccount();
    account.control.seedServices({ count: 2 });
    account.control.create("webhooks", { url: "https://h.acme.example/x", events: ["invoice.paid"] });
    account.control.create("migration_requests", { domain: "acme.example" });
    const [service] = account.control.list("services").filter(({ customer_id }) => customer_id === 1);
    const [invoice] = account.control.list("invoices").filter(({ customer_id }) => customer_id === 1);
    const own = {
      hosting_service: { id: String(service?.id) },
      hosting_invoice: { id: String(invoice?.id) },
      hosting_grants: { service_id: String(service?.id) },
    };
    const state = await account.read(name, { ...NEEDS[name], ...own[name as keyof typeof own] });
    const secrets = [account.sandbox.tokens.agency, ...account.control.list("webhooks").map(({ secret }) => secret)];
    for (const secret of secrets) expect(JSON.stringify(state)).not.toContain(secret);
    expect(account.control.requests().every(({ method }) => method === "GET")).toBe(true);
  });

  it("is there for every kind that can be listed, and describes each attribute", () => {
    const listed = [...kinds.values()].filter(({ list }) => list !== undefined).map(({ type }) => `${type}s`);
    expect(listed.filter((name) => !catalogue.dataSources.has(name))).toEqual([]);
  });
});
