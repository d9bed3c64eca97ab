/** A project with every kind of object, for servers with any profile. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { cycleOf, instantOf, phaseOfStatus, productOf } from "../journeys/reading.ts";
import { type Project, startProject } from "./project.ts";
import { registration } from "./registration.ts";

type Document = { readonly [section: string]: unknown };

const www = {
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
};

/** Declaration with every kind: two products, a queued job, a generated password, a secret, references, a free map. */
const FIRST: Document = {
  project: "profiles",
  services: { www, box: { plan_id: 31, currency: "USD", password_version: 1 } },
  webhooks: { billing: { url: "https://hooks.acme.example/hosting", events: ["invoice.paid", "invoice.created"] } },
  client_accounts: { acme: { name: "Acme", company_name: "Acme LLC", currency: "GEL" } },
  migration_requests: {
    www: { domain: "www.acme.example", order_id: "${hosting_service.www.id}", questions: { source: "cpanel" } },
  },
  domains: { acme: registration("acme.example") },
};

/** Returns the recorded objects in a normalized form, without differences that only the profile causes. */
async function recorded(project: Project): Promise<Record<string, object>> {
  const { resources } = await project.state();
  return Object.fromEntries(
    [...resources.values()].map(({ address, attributes, private: mark, provider, sensitive }) => {
      const { status, provisioning_status: _, created_at, price, invoice_total, expires_at, ...rest } = attributes;
      // Another scale gives another number, because hostform never scales amounts silently. Compare only their types.
      const amounts = [price, invoice_total].map((amount) => (amount === null ? null : typeof amount));
      const days = [created_at, expires_at].map(instantOf);
      const words = [phaseOfStatus(status), productOf(rest.product_type), cycleOf(rest.billing_cycle)];
      const { product_type: __, billing_cycle: ___, id, ...same } = rest;
      // Ids of services are integers (§2). Ids of other records have two forms.
      const known = address.startsWith("hosting_service.") ? id : typeof id;
      // The creation time and the anchors depend on the waits for the rate limit.
      const { created: ____, account: _____, ...noted } = mark;
      return [address, { ...same, id: known, words, amounts, days, mark: noted, provider, sensitive }];
    }),
  );
}

/** `status_words` for numeric status words, in every declaration. Numbers have no recognizable meaning. */
const NUMBERS = { "0": "pending", "1": "live", "2": "suspended", "3": "gone" };

/**
 * Starts the project. The limit of 30 requests a minute is lower than the client's default, so the client must learn
 * the limit or receives a 429.
 */
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

/** Applies the changes one after the other, so that ids and secrets always have the same order. */
const apply = (project: Project, ...args: string[]) => project.apply("--parallelism", "1", ...args);

/** Creates every object, then checks that the plan has no changes. */
export async function order(project: Project): Promise<object> {
  await apply(project);
  const made = await recorded(project);
  expect(Object.keys(made)).toHaveLength(8);
  await project.expectNoChanges();
  expect(own(project.control.list("services"))).toHaveLength(2);
  return made;
}

/** A stack that only reads data sources, and outputs the account. */
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

/**
 * Checks that data sources show the same account, in hostform's words if the specification leaves the server's words
 * open.
 */
export async function ask(project: Project): Promise<object> {
  await writeFile(path.join(project.dir, "reading.tf.json"), JSON.stringify(STACK));
  await apply(project, "--stack", "reading.tf.json", "--state", "reading.tfstate");
  const read = await project.run("output", "--json", "--stack", "reading.tf.json", "--state", "reading.tfstate");
  expect(read.code, read.text).toBe(0);
  expect(JSON.parse(read.out)).toMatchObject({ plan: { value: "Shared Start" }, clients: { value: ["Acme"] } });
  return JSON.parse(read.out);
}
