import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { type Diagnostic, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { newConnection } from "../../../../../src/fronts/terraform/calls/call.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { recordedAs } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { COUNTABLE, fillAgency } from "../../../../support/agency.ts";
import { temporaryFolder } from "../../../../support/folder.ts";
import { excuseViolations, profileOfRun } from "../../../../support/sandbox.ts";
import { type ListBlock, type Query, queryList, validateList } from "../../../../support/terraform-core-query.ts";
import { type AccountOptions, type OpenAccount, openAccount, openSessionOn } from "../account.ts";

const LISTED = [...kinds.values()].filter(({ list }) => list !== undefined).map(({ type }) => type);

/** An account whose lists need exactly one request for each page. */
const opened = (options: AccountOptions = {}) =>
  openAccount({ ...options, sandbox: { ...profileOfRun(COUNTABLE), ...options.sandbox } });

const names = ({ objects }: Query) => objects.map(({ name }) => name);
const reported = ({ said }: Pick<Query, "said">) =>
  said.map(({ severity, summary, attribute }) => `${severity} ${attribute.join(".")}: ${summary}`);

async function found(account: OpenAccount, type: string, config: ValueObject, block: ListBlock = {}) {
  const query = await queryList(account.connection, type, { ...block, config });
  expect(reported(query)).toEqual([]);
  return names(query);
}

describe("list resources", () => {
  it("exist for each kind that the API lists, with a filter for the name and for unmanaged objects", () => {
    expect([...catalogue.lists.keys()]).toEqual(LISTED);
    expect(LISTED).not.toContain("hosting_domain");
    const filters = [...catalogue.lists].map(([type, { attributes }]) => [type, Object.keys(attributes)]);
    expect(Object.fromEntries(filters)).toEqual({
      hosting_service: ["domain", "phase", "status", "plan", "unmanaged"],
      hosting_grant: ["email", "permission", "service_id", "domain", "max_requests", "unmanaged"],
      hosting_webhook: ["url", "unmanaged"],
      hosting_client_account: ["name", "unmanaged"],
      hosting_migration_request: ["domain", "status", "unmanaged"],
    });
  });

  it("list services by ascending id with one request, for several blocks at the same time", async () => {
    const account = await opened();
    fillAgency(account.control, { services: 12 });
    account.sent();
    const [all, some] = await Promise.all([
      queryList(account.connection, "hosting_service"),
      queryList(account.connection, "hosting_service", { config: { domain: "SITE-0000?.*" } }),
    ]);
    const ids = all.objects.map(({ identity }) => Number(identity.id));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect([all.objects.length, some.objects.length]).toEqual([12, 9]);
    expect(names(some)[0]).toBe(`site-00001.example (service ${ids[0]}, live)`);
    expect(account.sent()).toEqual(["GET /services"]);
  });

  it("filter services by phase, status, plan and a domain in either form of its international name", async () => {
    const account = await opened();
    const [one, two, three] = account.control.seedServices({ count: 3 });
    account.control.change("services", one?.id ?? 0, { domain: "www.xn--bcher-kva.example" });
    account.control.change("services", two?.id ?? 0, { status: "suspended", domain: "shop.acme.example" });
    account.control.change("services", three?.id ?? 0, { status: "terminated" });
    const list = (config: ValueObject) => found(account, "hosting_service", config);
    const [first, second] = [
      `www.bücher.example (www.xn--bcher-kva.example) (service ${one?.id}, live)`,
      `shop.acme.example (service ${two?.id}, suspended)`,
    ];
    expect(await list({})).toEqual([first, second]);
    expect(await list({ domain: "*.BÜCHER.example" })).toEqual([first]);
    expect(await list({ domain: "*.xn--bcher-kva.*" })).toEqual([first]);
    expect(await list({ domain: "acme.example" })).toEqual([]);
    expect(await list({ phase: "suspended" })).toEqual([second]);
    expect(await list({ status: "SUSPENDED" })).toEqual([second]);
    expect(await list({ plan: "shared start", phase: "live" })).toEqual([first]);
    const query = await queryList(account.connection, "hosting_service", { config: { plan: "no such plan" } });
    expect(reported(query)).toEqual(["warning : There is no service with the plan no such plan"]);
    expect(await list({ plan: "shared start", phase: "pending" })).toEqual([]);
  });

  it("escape controls in names that the host returns, and hide secret parts of URLs", async () => {
    const account = await opened();
    excuseViolations(account.sandbox, "A domain with controls is no domain.");
    const [one] = account.control.seedServices({ count: 1 });
    account.control.change("services", one?.id ?? 0, { domain: "a\u001b[2Jb\u202e.example\n::error::x" });
    account.control.create("webhooks", { url: "https://me:pw@hooks.example/x?token=abc", events: ["invoice.paid"] });
    expect(await found(account, "hosting_service", {})).toEqual([
      `a\\u001b[2Jb\\u202e.example\\n::error::x (service ${one?.id}, live)`,
    ]);
    const [webhook] = await found(account, "hosting_webhook", {});
    expect(webhook).toMatch(/^https:\/\/…@hooks\.example\/x\?… \(webhook \d+\)$/);
  });

  it("return the objects of each kind as an import would have them, with one more request for the plans", async () => {
    const account = await opened({ config: { money_scale: 2 } });
    fillAgency(account.control, { services: 3, webhooks: 1, accounts: 1 });
    account.control.create("migration_requests", { domain: "old.example" });
    account.sent();
    const all = await Promise.all(LISTED.map((type) => queryList(account.connection, type, { include: true })));
    expect(Object.fromEntries(all.map(({ objects }, at) => [LISTED[at], objects.length]))).toEqual({
      hosting_service: 3,
      hosting_grant: 5,
      hosting_webhook: 1,
      hosting_client_account: 1,
      hosting_migration_request: 1,
    });
    expect(all[LISTED.indexOf("hosting_service")]?.objects[0]?.state).toMatchObject({
      plan_id: 11,
      price_text: "5.00 USD",
      suspended: null,
      deletion_policy: "prevent",
    });
    expect(all.flatMap((query) => reported(query))).toEqual([]);
    const sent = account.sent().toSorted();
    expect(sent.filter((request) => !request.endsWith("/grants"))).toEqual([
      "GET /accounts",
      "GET /migration-requests",
      "GET /plans",
      "GET /services",
      "GET /webhooks",
    ]);
    expect(sent).toHaveLength(8);
  });

  it("read the grants of one service with one request, and the grants of selected services within max_requests", async () => {
    const account = await opened();
    fillAgency(account.control, { services: 12 });
    account.sent();
    const [id] = account.control.list("services").flatMap((one) => (one.customer_id === 1 ? [String(one.id)] : []));
    expect(await found(account, "hosting_grant", { service_id: id ?? "" })).toEqual([
      expect.stringMatching(`^dev@agency\\.example \\(grant \\d+, service ${id}, manage\\)$`),
      expect.stringMatching(`^owner-0@client\\.example \\(grant \\d+, service ${id}, view\\)$`),
    ]);
    expect(account.sent()).toEqual([`GET /services/${id}/grants`]);
    const owners = { domain: "*1?.example", email: "owner-*", permission: "view" };
    expect(await found(account, "hosting_grant", owners)).toEqual([
      expect.stringMatching(/^owner-10@client\.example \(grant \d+, site-00011\.example, service \d+, view\)$/),
    ]);
    expect(account.sent()).toHaveLength(4);
    const refused = await queryList(account.connection, "hosting_grant", { config: { max_requests: 11 } });
    expect(reported(refused)).toEqual(["error : The grants of 12 services take 12 requests; max_requests allows 11"]);
    expect(account.sent()).toEqual([]);
    const absent = await queryList(account.connection, "hosting_grant", { config: { service_id: "9999" } });
    expect(reported(absent)).toEqual(["warning : There is no service 9999"]);
    const [bare] = account.control.seedServices({ count: 1 });
    expect(await found(account, "hosting_grant", { service_id: String(bare?.id) })).toEqual([]);
  });

  it("find only objects that no known state contains with unmanaged", async () => {
    const account = await opened();
    const [one, two, three, four] = account.control.seedServices({ count: 4 });
    const kind = kinds.get("hosting_service") ?? expect.fail("no kind");
    const home = temporaryFolder();
    const process = (place: string) =>
      openSessionOn(account.sandbox, account.session.clock, {
        env: { HOSTFORM_PLACE: place, HOSTFORM_STATE_HOME: home },
      });
    for (const [place, service] of [
      ["here", one],
      ["elsewhere", two],
    ] as const) {
      const { holdings } = (await process(place)).session;
      holdings.add(kind, { id: String(service?.id), domain: String(service?.domain) }, {});
      await holdings.flush();
    }
    const here = await process("here");
    // The response about the fourth service was lost, so the state contains a pending create.
    const attributes = { id: null, domain: String(four?.domain).toUpperCase() };
    await here.session.entries.put("hosting_service", String(four?.domain), {
      ...recordedAs(kind, attributes, { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } }),
    });
    expect(await found(here, "hosting_service", { unmanaged: false })).toHaveLength(4);
    expect(await found(here, "hosting_service", { unmanaged: true })).toEqual([
      `site-00003.example (service ${three?.id}, live)`,
    ]);
  });
});

describe("the limit of a list", () => {
  it("is reported with the number of matching objects, and no object after it is sent", async () => {
    const account = await opened();
    account.control.seedServices({ count: 12 });
    const query = await queryList(account.connection, "hosting_service", { limit: 5 });
    expect([query.objects.length, query.unread]).toEqual([5, 0]);
    expect(reported(query)).toEqual(["warning : The list ends after 5 services: 12 match"]);
    const first = await queryList(account.connection, "hosting_service", { limit: 1 });
    expect(reported(first)).toEqual(["warning : The list ends after 1 service: 12 match"]);
    expect(query.said[0]?.detail).toContain("Set `limit = 12` in the `list` block");
    for (const limit of [12, 13])
      expect(await queryList(account.connection, "hosting_service", { limit })).toMatchObject({ said: [], unread: 0 });
  });

  it("ends the requests for grants, and 0 sends none", async () => {
    const account = await opened();
    fillAgency(account.control, { services: 12 });
    account.sent();
    const query = await queryList(account.connection, "hosting_grant", { limit: 2 });
    expect(reported(query)).toEqual(["warning : The list ends after 2 grants: more grants match"]);
    // The second service shows that more grants match.
    expect(account.sent().filter((request) => request.endsWith("/grants"))).toHaveLength(2);
    expect((await queryList(account.connection, "hosting_webhook", { limit: 0 })).objects).toEqual([]);
    expect(account.sent()).toEqual([]);
  });
});

describe("a list that is cancelled", () => {
  it("sends no further request and no further object", async () => {
    const account = await opened();
    fillAgency(account.control, { services: 12 });
    account.sent();
    const query = await queryList(account.connection, "hosting_grant", { onObject: () => false });
    expect(query.unread).toBe(0);
    expect(account.sent().filter((request) => request.endsWith("/grants"))).toHaveLength(1);
  });

  it("prepares the next object only when Terraform has read the last, with 5,000 rows", async () => {
    const account = await opened();
    account.control.seedServices({ count: 5_000 });
    let reading = 0;
    let most = 0;
    const query = await queryList(account.connection, "hosting_service", {
      limit: 10_000,
      include: true,
      onObject: async () => {
        most = Math.max(most, ++reading);
        if (reading % 500 === 0) await delay(0);
        reading--;
        return true;
      },
    });
    expect([query.objects.length, most]).toEqual([5_000, 1]);
    expect(account.sent()).toHaveLength(51);
  });
});

describe("a list that cannot be read in full", () => {
  it("is an error if a page fails", async () => {
    const account = await opened();
    account.control.seedServices({ count: 250 });
    account.control.addFault({ path: "/services", phase: "before", status: 503, nth: 3, times: 20 });
    const query = await queryList(account.connection, "hosting_service", { limit: 1_000 });
    expect(query.objects).toEqual([]);
    expect(reported(query)).toEqual([expect.stringMatching(/^error : .*503/)]);
  });

  it("is an error if its pages contain fewer rows than the host reports", async () => {
    const account = await opened();
    account.control.seedServices({ count: 3 });
    const [one] = account.control.list("services");
    const body = { data: [{ ...one, id: 1 }], meta: { total: 3, current_page: 1, last_page: 1, per_page: 100 } };
    account.control.addFault({ path: "/services", phase: "before", status: 200, body, times: 50 });
    const query = await queryList(account.connection, "hosting_service");
    expect(query.objects).toEqual([]);
    expect(reported(query)).toEqual([expect.stringMatching(/^error : /)]);
  });

  it("has a warning if a row is unreadable", async () => {
    const account = await opened();
    const row = { id: 1, domain: "a.example", plan: "Shared Start", status: "active", price: 500, currency: "USD" };
    const body = { data: [row, { ...row, id: null }] };
    account.control.addFault({ path: "/services", phase: "before", status: 200, body, times: 50 });
    const connection = { ...account.connection, warnings: account.warnings as Diagnostic[] };
    const query = await queryList(connection, "hosting_service");
    expect(query.objects).toHaveLength(1);
    expect(reported(query)).toEqual([expect.stringMatching(/^warning : An entry in the response/)]);
  });

  it("has a warning for each service that hides its grants until it is live, and an error for other failures", async () => {
    const account = await opened();
    const [one, two] = account.control.seedServices({ count: 2 });
    account.control.create("grants", { service_id: two?.id ?? 0, email: "a@b.example", permission: "view" });
    account.control.change("services", one?.id ?? 0, { status: "pending" });
    const path = `/services/${one?.id}/grants`;
    account.control.addFault({ path, phase: "before", status: 409, body: { message: "Not yet." }, times: 50 });
    const query = await queryList(account.connection, "hosting_grant");
    expect(query.objects).toHaveLength(1);
    expect(reported(query)).toEqual([`warning : The list lacks the grants of service ${one?.id}`]);

    account.control.change("services", one?.id ?? 0, { status: "active" });
    account.session.account.refresh();
    const failed = await queryList(account.connection, "hosting_grant");
    expect(failed.objects).toEqual([]);
    expect(reported(failed)).toEqual([expect.stringMatching(/^error : /)]);
  });

  it("is an error if the token lacks the ability, or the provider's configuration is unknown", async () => {
    const account = await opened({ token: "viewer" });
    const query = await queryList(account.connection, "hosting_webhook");
    expect(reported(query)).toEqual([expect.stringMatching(/^error : .*403|^error : .*technical/)]);
    const none = newConnection({ env: {}, log: () => undefined });
    expect(reported(await queryList(none, "hosting_webhook"))).toEqual([expect.stringMatching(/^error : /)]);
  });
});

describe("the validation of a list block", () => {
  it("rejects an unknown word and an empty text, and accepts unknown values", async () => {
    const problems = async (type: string, config: ValueObject) => reported({ said: await validateList(type, config) });
    expect(await problems("hosting_service", { phase: "gone" })).toEqual([
      'error config.phase: There is no phase "gone"',
    ]);
    expect(await problems("hosting_grant", { permission: "own" })).toEqual([
      'error config.permission: There is no permission "own"',
    ]);
    expect(await problems("hosting_service", { domain: "" })).toEqual([
      'error config.domain: domain: expected a value, found ""',
    ]);
    const unknown: ValueObject = { phase: UNKNOWN, domain: UNKNOWN, unmanaged: UNKNOWN };
    expect(await problems("hosting_service", unknown)).toEqual([]);
  });
});
