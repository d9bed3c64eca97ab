/**
 * The project of the kill sweep: an account with something in it, then twenty changes of every sort that there is; and
 * the check that the account, the state and the declaration are one.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { derive } from "../../../src/sandbox/store/store.ts";
import type { Project } from "../../support/project.ts";
import { registration } from "../../support/registration.ts";

const hook = (name: string, ...events: string[]) => ({ url: `https://${name}.hooks.acme.example/`, events });

/** What is there before the twenty changes. */
export const BEFORE = {
  project: "agency",
  services: {
    elder: {
      plan_id: 11,
      currency: "USD",
      domain: "elder.acme.example",
      grants: { "leaves@acme.example": "view", "rises@acme.example": "view", "stays@acme.example": "view" },
    },
    quiet: { plan_id: 12, currency: "USD", domain: "quiet.acme.example" },
  },
  webhooks: {
    leaves: hook("leaves", "invoice.paid"),
    moves: hook("moves", "invoice.paid"),
    stays: hook("stays", "invoice.paid"),
  },
};

/** Twenty changes: 13 creates of all six kinds, 3 orders of servers that only their key distinguishes, 2 replacements, 2 deletions, 1 suspension. */
export const AFTER = {
  project: "agency",
  services: {
    elder: {
      ...BEFORE.services.elder,
      grants: { "joins@acme.example": "manage", "rises@acme.example": "manage", "stays@acme.example": "view" },
    },
    quiet: { ...BEFORE.services.quiet, suspended: true },
    "site-a": {
      plan_id: 11,
      currency: "USD",
      domain: "a.acme.example",
      grants: { "boss@acme.example": "view", "dev@acme.example": "manage" },
    },
    "site-b": { plan_id: 21, currency: "USD", domain: "b.acme.example", term: 12 },
    "site-c": { plan_id: 11, currency: "USD", domain: "c.acme.example", coupon_code: "WELCOME10" },
    "box-a": { plan_id: 31, currency: "USD" },
    "box-b": { plan_id: 31, currency: "USD", password_version: 1 },
    desk: { plan_id: 41, currency: "GEL" },
  },
  webhooks: {
    billing: hook("billing", "invoice.paid", "invoice.created"),
    moves: hook("moved", "invoice.paid"),
    // This one's secret goes into a file, and the state keeps a fingerprint of it.
    ops: { ...hook("ops", "service.suspended"), secret_output: { file: "ops.secret" } },
    stays: hook("stays", "invoice.paid"),
  },
  client_accounts: { north: { name: "North" }, south: { name: "South", currency: "EUR" } },
  migration_requests: {
    a: {
      domain: "a.acme.example",
      order_id: "${hosting_service.site-a.id}",
      questions: { source: "cpanel" },
      deletion_policy: "forget",
    },
  },
  domains: {
    shop: registration("shop.example"),
  },
};

export const DOMAIN = "hosting_domain.shop";

/** Everything that the account is to hold, each once, however the records are ordered and numbered. */
const WANTED = {
  services: [
    "11 a.acme.example active",
    "11 c.acme.example active",
    "11 elder.acme.example active",
    "12 quiet.acme.example suspended",
    "21 b.acme.example active",
    "31 null active",
    "31 null active",
    "41 null active",
  ],
  grants: [
    "a.acme.example boss@acme.example view",
    "a.acme.example dev@acme.example manage",
    "elder.acme.example joins@acme.example manage",
    "elder.acme.example rises@acme.example manage",
    "elder.acme.example stays@acme.example view",
  ],
  webhooks: [
    "https://billing.hooks.acme.example/ invoice.created,invoice.paid",
    "https://moved.hooks.acme.example/ invoice.paid",
    "https://ops.hooks.acme.example/ service.suspended",
    "https://stays.hooks.acme.example/ invoice.paid",
  ],
  accounts: ["North null", "South EUR"],
  migrations: ["a.acme.example for a.acme.example"],
  domains: ["shop.example"],
  /** One for each order, and none for anything else. */
  invoices: 9,
};

/** What the account holds, in the words of `WANTED`. */
export function holdings({ control }: Project): typeof WANTED {
  const services = control.list("services").filter(({ customer_id }) => customer_id === 1);
  const domainOf = (id: number | null) => String(services.find((one) => one.id === id)?.domain);
  return {
    services: services.map(({ plan_id, domain, status }) => `${plan_id} ${domain} ${status}`).sort(),
    grants: control
      .list("grants")
      .map(({ service_id, email, permission }) => `${domainOf(service_id)} ${email} ${permission}`)
      .sort(),
    webhooks: control
      .list("webhooks")
      .map(({ url, events }) => `${url} ${[...events].sort()}`)
      .sort(),
    accounts: control
      .list("accounts")
      .map(({ name, currency }) => `${name} ${currency}`)
      .sort(),
    migrations: control.list("migration_requests").map(({ domain, order_id }) => `${domain} for ${domainOf(order_id)}`),
    domains: control.list("domains").map(({ domain }) => domain),
    invoices: control.list("invoices").filter(({ customer_id }) => customer_id === 1).length,
  };
}

/** Each recorded object by its id: the id, what distinguishes it from others, and the secret if the API shows one. */
async function recordings(project: Project): Promise<string[]> {
  const { resources } = await project.state();
  return [...resources.values()].map(
    ({ address, attributes, private: { created: _, account: __, suspended: ___, ...mark } }) => {
      expect(mark, `what is left over of ${address}`).toEqual({});
      const { id, domain, email, url, name, secret } = attributes;
      const shown = address === "hosting_webhook.ops" ? inFile(project) : secret;
      return [address.split(".", 1), id, domain ?? email ?? url ?? name ?? null, shown ?? null].join(" ");
    },
  );
}

/** The secret that was written to a file, which the state is not to hold. */
const inFile = (project: Project): string => readFileSync(path.join(project.dir, "ops.secret"), "utf8").trimEnd();

function records({ control }: Project): string[] {
  const of = (kind: string, id: number, known: string | null, secret: string | null = null) =>
    [`hosting_${kind}`, id, known, secret].join(" ");
  return [
    ...control
      .list("services")
      .filter(({ customer_id }) => customer_id === 1)
      .map(({ id, domain }) => of("service", id, domain)),
    ...control.list("grants").map(({ id, email }) => of("grant", id, email)),
    ...control.list("webhooks").map(({ id, url, secret }) => of("webhook", id, url, secret)),
    ...control.list("accounts").map(({ id, name }) => of("client_account", id, name)),
    ...control.list("migration_requests").map(({ id, domain }) => of("migration_request", id, domain)),
    ...control.list("domains").map(({ id, domain }) => of("domain", id, domain)),
  ];
}

/** Nothing twice, nothing lost: account, state and declaration are one. */
export async function expectSettled(project: Project): Promise<void> {
  expect(holdings(project)).toEqual(WANTED);
  expect((await recordings(project)).sort()).toEqual(records(project).sort());
  expect(await project.stateText()).not.toContain(inFile(project));
  const password = (await project.recorded("hosting_service.box-b"))?.attributes.generated_password;
  expect(password, "the generated password").toBe(lastPassword(project));
  expect(bodiesByKey(project).filter((bodies) => bodies.size > 1)).toEqual([]);
  await project.expectNoChanges();
  expect([...project.memory().keys()].filter((name) => name.endsWith(".journal"))).toEqual([]);
}

/** The password that is in force: the last one that the sandbox handed out, which follows from its seed and their number. */
function lastPassword({ control }: Project): string {
  const handedOut = control.requests().filter(({ path, status }) => path.endsWith("/password") && status === 200);
  return `${derive("hostform", `password:${handedOut.length}`).slice(0, 18)}-Aa1`;
}

/** The different bodies that were sent under each Idempotency-Key. */
function bodiesByKey({ control }: Project): Set<string>[] {
  const bodies = new Map<string, Set<string>>();
  for (const { idempotency_key: key, body } of control.requests()) {
    if (key !== null) bodies.set(key, (bodies.get(key) ?? new Set()).add(JSON.stringify(body)));
  }
  return [...bodies.values()];
}

/** Addresses of pending creates that a user may have to resolve: what only its key distinguishes from another, or nothing shows. */
export async function pendingOnes(project: Project): Promise<string[]> {
  const resources = [...(await project.state()).resources.values()];
  return resources.flatMap(({ address, attributes, private: { pending } }) =>
    pending !== undefined &&
    (address === DOMAIN || (address.startsWith("hosting_service.") && attributes.domain === null))
      ? [address]
      : [],
  );
}

/** Settles a create without known outcome as a user does who has looked for its invoice. */
async function settle(project: Project, address: string): Promise<void> {
  const { resources } = await project.state();
  const held = new Set([...resources.values()].map(({ attributes }) => attributes.id));
  const plan = resources.get(address)?.attributes.plan_id;
  const services = project.control.list("services").filter((one) => one.customer_id === 1 && one.plan_id === plan);
  const made =
    address === DOMAIN ? project.control.list("domains") : services.filter(({ id }) => !held.has(String(id)));
  const answer = made[0] === undefined ? ["--absent"] : ["--adopt", String(made[0].id)];
  const settled = await project.run("resolve", address, ...answer);
  expect(settled.code, settled.text).toBe(0);
}

/** Applies until a run ends well, at most three times; what a run cannot settle is settled when it says so. */
export async function untilQuiet(project: Project): Promise<void> {
  for (let run = 1; ; run++) {
    const open = await pendingOnes(project);
    const ran = await project.run("apply", "--auto-approve");
    if (open.length === 0 || open.every((address) => address !== DOMAIN)) {
      if (ran.code === 0) return;
    }
    expect(ran.code, ran.err).toBe(1);
    expect(run, "runs that were needed").toBeLessThan(3);
    expect(ran.text).toContain("plan.pending");
    for (const address of await pendingOnes(project)) await settle(project, address);
  }
}
