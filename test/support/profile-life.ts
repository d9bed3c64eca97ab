/**
 * A life with a server that fills the gaps of the specification in some way, from the first order to the end. Each
 * chapter sees to it that what has to happen happened, and the whole gives what was recorded on the way: the same under
 * every profile, but for the notation of the server.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { cycleOf, instantOf, phaseOfStatus, productOf } from "../journeys/reading.ts";
import { type Project, type Ran, startProject } from "./project.ts";
import { registration } from "./registration.ts";

const WWW = "hosting_service.www";
const DEV = 'hosting_grant.www["dev@acme.example"]';
const HOOK = "hosting_webhook.billing";

type Document = { readonly [section: string]: unknown };

const www = (more: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: "www.acme.example",
  term: 12,
  suspended: true,
  password: { env: "WWW_PASSWORD" },
  password_version: 1,
  grants: {
    "dev@acme.example": "manage",
    "guest@acme.example": { permission: "view", expires_at: "2027-06-30T00:00:00Z" },
  },
  ...more,
});

/** Something of everything: two products, a queued job, a generated password, a secret, references, a free map. */
const FIRST: Document = {
  project: "profiles",
  services: { www: www(), box: { plan_id: 31, currency: "USD", password_version: 1 } },
  webhooks: { billing: { url: "https://hooks.acme.example/hosting", events: ["invoice.paid", "invoice.created"] } },
  client_accounts: { acme: { name: "Acme", company_name: "Acme LLC", currency: "GEL" } },
  migration_requests: {
    www: { domain: "www.acme.example", order_id: "${hosting_service.www.id}", questions: { source: "cpanel" } },
  },
  domains: { acme: registration("acme.example") },
};

/** One grant fewer, another webhook in place of the first, live again, and passwords set again. */
const SECOND: Document = {
  ...FIRST,
  services: {
    www: www({ suspended: false, password_version: 2, grants: { "dev@acme.example": "manage" } }),
    box: { plan_id: 31, currency: "USD", password_version: 2 },
  },
  webhooks: { billing: { url: "https://hooks.acme.example/hosting", events: ["service.suspended"] } },
};

const withServices = (services: object): Document => ({
  ...SECOND,
  services: { ...(SECOND.services as object), ...services },
});
const shop = { plan_id: 12, currency: "GEL", domain: "shop.acme.example" };
const SHOP = withServices({ shop });
const REFUSED = withServices({ shop, late: { ...shop, domain: "late.example", coupon_code: "BYGONE50" } });

/** What was recorded, in a notation of ours: what only the server's notation makes different is the same here. */
async function recorded(project: Project): Promise<Record<string, object>> {
  const { resources } = await project.state();
  return Object.fromEntries(
    [...resources.values()].map(({ address, attributes, private: mark, provider, sensitive }) => {
      const { status, provisioning_status: _, created_at, price, invoice_total, expires_at, ...rest } = attributes;
      // Another scale is another number, never scaled silently; that there is one is the same.
      const amounts = [price, invoice_total].map((amount) => (amount === null ? null : typeof amount));
      const days = [created_at, expires_at].map(instantOf);
      const words = [phaseOfStatus(status), productOf(rest.product_type), cycleOf(rest.billing_cycle)];
      const { product_type: __, billing_cycle: ___, id, ...same } = rest;
      // Those of services are said to be integers (§2); of the others there are two notations.
      const known = address.startsWith("hosting_service.") ? id : typeof id;
      // When it was made depends on how long a run waited for the rate limit, and so do the anchors.
      const { created: ____, account: _____, ...noted } = mark;
      return [address, { ...same, id: known, words, amounts, days, mark: noted, provider, sensitive }];
    }),
  );
}

/** What numbers mean, said in every declaration: of themselves they say nothing. */
const NUMBERS = { "0": "pending", "1": "live", "2": "suspended", "3": "gone" };

/** Starts the project that lives. Thirty a minute are fewer than the client knows of: it learns so, or is refused. */
export async function begin(
  profile: NonNullable<SandboxOptions["profile"]>,
  more: SandboxOptions = {},
): Promise<Project> {
  const numbers = ["digits", "numbers"].includes(completeProfile(profile).status);
  const worded = (document: Document) =>
    numbers ? { ...document, providers: { default: { status_words: NUMBERS } } } : document;
  const project = await startProject({
    declare: worded(FIRST),
    sandbox: { profile, rateLimit: 60, ...more },
    env: { WWW_PASSWORD: "correct horse battery" },
  });
  const declare = project.declare.bind(project);
  project.declare = (document) => declare(worded(document as Document));
  return project;
}

const own = <T extends { readonly customer_id: number }>(records: readonly T[]): T[] =>
  records.filter(({ customer_id }) => customer_id === 1);

const json = async (project: Project, ...args: string[]): Promise<Record<string, unknown>[]> => {
  const ran = await project.run(...args, "--json");
  expect(ran.code, ran.text).toBe(0);
  return JSON.parse(ran.out);
};

/** One after the other, so that ids and secrets come in the same order each time. */
const apply = (project: Project, ...args: string[]) => project.apply("--parallelism", "1", ...args);

/** Everything is made once, and then there is nothing to do. */
export async function order(project: Project): Promise<object> {
  await apply(project);
  const made = await recorded(project);
  expect(Object.keys(made)).toHaveLength(8);
  await project.expectNoChanges();
  expect(own(project.control.list("services"))).toHaveLength(2);
  return made;
}

/** What the account holds is listed, every record and its meaning. */
async function look(project: Project): Promise<object> {
  const invoices = await json(project, "invoices");
  const services = await json(project, "services");
  const domains = await json(project, "domains", "check", "free.example", "taken.example");
  const available = domains.map(({ domain, available: free }) => [domain, free]);
  expect(available).toEqual([
    ["free.example", true],
    ["taken.example", false],
  ]);
  return {
    invoices: invoices.map(({ id, order_id, paid_at }) => [id, order_id, instantOf(paid_at)]).sort(),
    services: services
      .map(({ id, status, billing_cycle }) => [id, phaseOfStatus(status), cycleOf(billing_cycle)])
      .sort(),
    plans: (await json(project, "plans")).map(({ plan_id, name }) => [plan_id, name]).sort(),
  };
}

/** A stack that only reads, and says what the account is like. */
const STACK = {
  terraform: { required_providers: { hosting: { source: "hostform/hosting", version: "~> 0.1" } } },
  provider: { hosting: [{ project: "profiles" }] },
  data: {
    hosting_service: { www: { domain: "www.acme.example" } },
    hosting_services: { all: {} },
    hosting_plan: { start: { plan_id: 11 } },
    hosting_invoices: { all: {} },
    hosting_domain_availability: { both: { domains: ["free.example", "taken.example"] } },
    hosting_grants: { www: { service_id: "${data.hosting_service.www.id}" } },
    hosting_webhooks: { all: {} },
    hosting_client_accounts: { all: {} },
    hosting_migration_requests: { all: {} },
  },
  output: {
    phases: { value: "${{for one in data.hosting_services.all.services : one.id => one.phase}}" },
    plan: { value: "${data.hosting_plan.start.name}" },
    paid: { value: "${{for one in data.hosting_invoices.all.invoices : one.id => one.paid}}" },
    free: { value: "${data.hosting_domain_availability.both.available}" },
    grants: { value: "${sort([for one in data.hosting_grants.www.grants : one.email])}" },
    events: { value: "${[for one in data.hosting_webhooks.all.webhooks : one.events]}" },
    clients: { value: "${[for one in data.hosting_client_accounts.all.client_accounts : one.name]}" },
    moving: { value: "${[for one in data.hosting_migration_requests.all.migration_requests : one.order_id]}" },
  },
};

/** Data sources show the same, in hostform's words where the server's are not specified. */
export async function ask(project: Project): Promise<object> {
  await writeFile(path.join(project.dir, "reading.tf.json"), JSON.stringify(STACK));
  await apply(project, "--stack", "reading.tf.json", "--state", "reading.tfstate");
  const read = await project.run("output", "--json", "--stack", "reading.tf.json", "--state", "reading.tfstate");
  expect(read.code, read.text).toBe(0);
  expect(JSON.parse(read.out)).toMatchObject({ plan: { value: "Shared Start" }, clients: { value: ["Acme"] } });
  return JSON.parse(read.out);
}

/** A grant is revoked, a webhook replaced and its forerunner deleted, a service restored, passwords set. */
async function change(project: Project): Promise<object> {
  await project.declare(SECOND);
  const before = await project.recorded("hosting_service.box");
  await apply(project, "--allow-removals");
  const { control } = project;
  expect(control.list("grants").map(({ email }) => email)).toEqual(["dev@acme.example"]);
  const [hook, ...others] = control.list("webhooks");
  expect([hook?.events, others]).toEqual([["service.suspended"], []]);
  // The one-time secret is the one that events are signed with; the password is another one than before.
  expect((await project.recorded(HOOK))?.attributes.secret).toBe(hook?.secret);
  const after = await project.recorded("hosting_service.box");
  expect(after?.attributes.generated_password).toMatch(/.{8,}/);
  expect(after?.attributes.generated_password).not.toBe(before?.attributes.generated_password);
  expect(own(control.list("services")).map(({ status }) => status)).toEqual(["active", "active"]);
  await project.expectNoChanges();
  return recorded(project);
}

/** What others did is noticed and put right. */
async function drift(project: Project): Promise<object> {
  const { control } = project;
  const site = own(control.list("services")).find(({ plan_id }) => plan_id === 11);
  const [grant] = control.list("grants");
  control.change("services", site?.id ?? 0, { status: "suspended" });
  control.remove("grants", grant?.id ?? 0);
  const plan = await project.plan();
  expect(plan.drift.map(({ address }) => address).sort()).toEqual([DEV, WWW]);
  await apply(project);
  expect(control.get("services", site?.id ?? 0).status).toBe("active");
  expect(control.list("grants").map(({ email }) => email)).toEqual(["dev@acme.example"]);
  await project.expectNoChanges();
  return plan.changes.map(({ address, actions }) => [address, actions]);
}

/**
 * Applies as a user does: once more where the run says so, because the order was to be sent again (an answer was lost, or
 * was a refusal that is not certainly the API's) and its turn in the rate limit came too late for its key. Nothing doubles.
 */
async function applyAgain(project: Project): Promise<Ran> {
  const { control } = project;
  for (let again = 0; ; again++) {
    const ran = await project.run("apply", "--auto-approve", "--parallelism", "1");
    project.clock.advance(60_000);
    expect(own(control.list("services")).length).toBeLessThanOrEqual(3);
    if (again === 2 || !ran.text.includes("[api.too_late]")) return ran;
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("Run the command again: it looks in the account");
  }
}

/** The answer to an order is lost: there is one service and one invoice. */
async function lose(project: Project): Promise<object> {
  const { control } = project;
  const invoices = control.list("invoices").length;
  await project.declare(SHOP);
  control.addFault({ method: "POST", path: "/services", phase: "after", drop: true });
  const ran = await applyAgain(project);
  expect(ran.code, ran.text).toBe(0);
  expect(control.faults().map(({ fired }) => fired)).toEqual([1]);
  control.clearFaults();
  expect(own(control.list("services"))).toHaveLength(3);
  expect(control.list("invoices")).toHaveLength(invoices + 1);
  await project.expectNoChanges();
  return recorded(project);
}

/** The mistake that only the server sees is reported with its line. */
async function refuse(project: Project): Promise<object> {
  const { control } = project;
  await project.declare(REFUSED);
  let ran = await applyAgain(project);
  if ((await project.recorded("hosting_service.late"))?.private.pending !== undefined) {
    // A refusal of the second sending says nothing of the first: the user looks, and says so.
    expect(ran.text).toContain("hostform resolve");
    expect((await project.run("resolve", "hosting_service.late", "--absent")).code).toBe(0);
    ran = await project.run("apply", "--auto-approve");
  }
  expect(ran.code).toBe(1);
  expect(ran.text).toContain("The coupon code is not valid");
  const at = /hosting\.yaml:(\d+)/.exec(ran.text)?.[1];
  expect(at, ran.text).toBeDefined();
  expect(own(control.list("services"))).toHaveLength(3);
  await project.declare(SHOP);
  // Of the refused order the number of its next key is left: it is forgotten, and nothing is sent for it.
  project.sent();
  await apply(project);
  expect(project.changesSent()).toEqual([]);
  await project.expectNoChanges();
  return { at };
}

/** What was forgotten is adopted by its id: nothing is created again. */
async function adopt(project: Project): Promise<object> {
  const ids = new Map<string, string>();
  for (const address of [WWW, DEV, "hosting_migration_request.www"]) {
    ids.set(address, String((await project.recorded(address))?.attributes.id));
  }
  expect((await project.run("state", "rm", ...ids.keys())).code).toBe(0);
  project.sent();
  for (const [address, id] of ids) {
    const ran = await project.run("import", address, id);
    expect(ran.code, ran.text).toBe(0);
  }
  await apply(project);
  // Only its version identifies the password, and the state has forgotten that: it may be set again, and nothing else.
  expect(project.changesSent().filter((line) => !line.endsWith("/password"))).toEqual([]);
  await project.expectNoChanges();
  return recorded(project);
}

/** A service that ended is reported, and not bought again. */
async function lack(project: Project): Promise<object> {
  const { control } = project;
  const box = own(control.list("services")).find(({ plan_id }) => plan_id === 31);
  control.remove("services", box?.id ?? 0);
  const plan = await project.plan();
  expect(plan.conditions?.map(({ condition }) => condition)).toEqual(["gone"]);
  await project.run("apply", "--auto-approve");
  expect(own(control.list("services"))).toHaveLength(2);
  return plan.changes.map(({ address, actions }) => [address, actions]);
}

/** What can be deleted is deleted, whatever else is gone already; what costs money is left alone. */
async function end(project: Project): Promise<object> {
  const { control } = project;
  project.answer = () => {
    for (const { id } of control.list("webhooks")) control.remove("webhooks", id);
    return "yes";
  };
  const ran = await project.run("destroy");
  expect(ran.code, ran.text).toBe(0);
  expect([control.list("grants"), control.list("webhooks")]).toEqual([[], []]);
  expect(own(control.list("services")).map(({ status }) => status)).toEqual(["active", "active"]);
  return recorded(project);
}

const CHAPTERS = { order, look, change, drift, lose, refuse, adopt, lack, end };

type Story = Readonly<Record<keyof typeof CHAPTERS, object>>;

/** The whole life, chapter by chapter. */
export async function live(profile: NonNullable<SandboxOptions["profile"]>): Promise<Story> {
  const project = await begin(profile);
  const story: Partial<Record<keyof Story, object>> = {};
  for (const name of Object.keys(CHAPTERS) as (keyof Story)[]) story[name] = await CHAPTERS[name](project);
  await project.close();
  return story as Story;
}
