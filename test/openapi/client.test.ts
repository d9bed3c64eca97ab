/**
 * Runs the command line against a sandbox behind a proxy that validates requests and responses against the document.
 */
import { afterEach, describe, expect, it } from "vitest";
import { PROFILE_SETS, type Profile } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { operationsOf, readDocument } from "../support/openapi/document.ts";
import { startValidatingProxy, type ValidatingProxy } from "../support/openapi/proxy.ts";
import { type Project, startProject } from "../support/project.ts";
import { registration } from "../support/registration.ts";
import { shipped } from "../support/shipped.ts";

const { HostingClient } = await shipped("client.js");

const proxies: ValidatingProxy[] = [];

afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", term: 12 };
const GRANTS = {
  "dev@acme.example": "manage",
  "guest@acme.example": { permission: "view", expires_at: "2027-06-30T00:00:00Z" },
};

/** A declaration with each kind of resource and each attribute of these kinds. */
const DECLARATION = {
  project: "proxied",
  services: {
    www: {
      ...SITE,
      coupon_code: "YEAR20",
      suspended: false,
      password: "${env.WWW_PASSWORD}",
      password_version: 1,
      deletion_policy: "suspend",
      grants: GRANTS,
    },
    box: { plan_id: 31, currency: "USD", password_version: 1, deletion_policy: "suspend" },
  },
  webhooks: { billing: { url: "https://hooks.acme.example/hosting", events: ["invoice.paid", "invoice.created"] } },
  client_accounts: {
    acme: {
      name: "Acme",
      company_name: "Acme LLC",
      company_number: "1",
      vat_number: "GE1",
      currency: "GEL",
      deletion_policy: "forget",
    },
  },
  migration_requests: {
    www: {
      domain: "www.acme.example",
      order_id: "${hosting_service.www.id}",
      questions: { source: "cpanel", scope: "mail and files" },
      deletion_policy: "forget",
    },
  },
  domains: {
    acme: { ...registration("acme.example"), deletion_policy: "forget" },
  },
};

/**
 * The changed declaration: one service is suspended, one grant is removed, and a grant, a password and a webhook
 * differ.
 */
const CHANGED = {
  ...DECLARATION,
  services: {
    www: {
      ...DECLARATION.services.www,
      suspended: true,
      password_version: 2,
      grants: { "dev@acme.example": "view" },
    },
    box: { ...DECLARATION.services.box, password_version: 2 },
  },
  webhooks: { billing: { url: "https://hooks.acme.example/other", events: ["service.suspended"] } },
};

async function proxied(profile: Partial<Profile>): Promise<{ project: Project; proxy: ValidatingProxy }> {
  const project = await startProject({ sandbox: { profile }, env: { WWW_PASSWORD: "correct horse battery" } });
  const proxy = await startValidatingProxy(project.sandbox.url, completeProfile(profile));
  proxies.push(proxy);
  project.env.HOSTING_BASE_URL = proxy.url;
  return { project, proxy };
}

async function well(project: Project, ...args: string[]): Promise<void> {
  const ran = await project.run(...args);
  expect([args.join(" "), ran.code, ran.text]).toEqual([args.join(" "), 0, ran.text]);
}

/**
 * Creates, drifts, changes and reverts the declared objects, runs the read commands, loses the state, imports 2
 * objects and destroys one service.
 */
async function live(project: Project): Promise<void> {
  await project.declare(DECLARATION);
  await project.apply();
  await project.expectNoChanges();
  const id = String((await project.recorded("hosting_service.www"))?.attributes.id);
  project.control.change("services", Number(id), { status: "suspended" });
  await project.apply();
  project.control.change("services", Number(id), { status: "suspended" });
  await well(project, "watch", "--max-runs", "1", "--auto-approve");
  await project.expectNoChanges();
  await project.declare(CHANGED);
  await project.apply();
  await project.expectNoChanges();
  for (const looking of ["plans", "services", "invoices", "webhooks", "accounts", "migrations"])
    await well(project, looking);
  await well(project, "services", id);
  await well(project, "invoices", String(project.control.list("invoices").at(-1)?.id));
  const migration = (await project.recorded("hosting_migration_request.www"))?.attributes.id;
  await well(project, "migrations", String(migration));
  await well(project, "grants", id);
  await well(project, "domains", "check", "acme.example", "free.example");
  await well(project, "domains", "check", "alone.example");
  await project.declare(DECLARATION);
  await project.apply();
  await well(project, "sso", "hosting_service.www");
  await well(project, "password", "hosting_service.box");
  await project.loseState();
  await well(project, "import", "hosting_service.www", id);
  await well(project, "import", 'hosting_grant.www["dev@acme.example"]', "dev@acme.example");
  await well(project, "destroy", "--auto-approve", "--target", "hosting_service.www");
}

describe("the client through a validating proxy", () => {
  it.each([
    ["the usual server", {}],
    ["the contrary one", PROFILE_SETS.contrary],
    ["the minimal one", PROFILE_SETS.minimal],
  ])("violates nothing in a whole life with %s, and neither does the server", async (_, profile) => {
    const { project, proxy } = await proxied(profile);
    await live(project);
    // The command line never sends the POST form of the domain check.
    const client = new HostingClient({ baseUrl: proxy.url, token: project.sandbox.tokens.agency });
    await client.domains.checkByPost(["acme.example", "free.example"]);
    await client.close();
    expect(proxy.violations).toEqual([]);
    const unused = operationsOf(readDocument()).filter(({ operation }) => !proxy.operations.has(operation.operationId));
    expect(unused.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  it("requests the pages of a list in order", async () => {
    const { project, proxy } = await proxied({ envelope: "data_only" });
    project.control.seedServices({ count: 230 });
    await well(project, "services");
    expect(proxy.violations).toEqual([]);
    expect(proxy.operations.get("listServices")).toBeGreaterThanOrEqual(3);
  });

  it("examines a host with documented requests", async () => {
    const { project, proxy } = await proxied({});
    const ran = await project.run("doctor", "--base-url", proxy.url);
    expect([ran.code, ran.err]).toEqual([0, ran.err]);
    expect(proxy.violations).toEqual([]);
    expect(proxy.operations.size).toBeGreaterThan(5);
  });

  it("sends only documented requests while other requests fail", async () => {
    const { project, proxy } = await proxied({});
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true });
    project.control.addFault({ method: "GET", path: "/services", phase: "before", status: 503 });
    project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", status: 500 });
    await project.declare({ project: "proxied", services: { www: SITE }, webhooks: DECLARATION.webhooks });
    // Run the changes one after the other: the clock advances while the webhook waits, and an order is retried only
    // within seconds.
    await project.apply("--parallelism", "1");
    expect(proxy.violations).toEqual([]);
    expect(project.control.list("services").filter(({ domain }) => domain === SITE.domain)).toHaveLength(1);
  });

  it("the proxy reports an error in a request and in a response", async () => {
    const { project, proxy } = await proxied({});
    const authorization = `Bearer ${project.sandbox.tokens.agency}`;
    await fetch(`${proxy.url}/api/v1/services?per_page=500`, {
      headers: { authorization, accept: "application/json" },
    });
    project.control.addFault({ path: "/plans", phase: "after", status: 200, body: { data: {} } });
    await fetch(`${proxy.url}/api/v1/plans`, { headers: { authorization, accept: "application/json" } });
    expect(proxy.violations).toEqual([
      "GET /api/v1/services → 200: the request: the query parameter per_page is above 100",
      "GET /api/v1/plans → 200: body.data must be array",
    ]);
  });
});
