/**
 * Ctrl-C at any request of any plan, once or twice. The test counts each request that undici hands to its socket,
 * independently of hostform's code.
 */
import { describe, expect, it } from "vitest";
import { fc, runs } from "../support/fc.ts";
import { type Project, startProject } from "../support/project.ts";
import { anotherStop, type Moment, momentWithin, stopAt } from "../support/stopping.ts";

interface Case extends Moment {
  readonly sites: number;
  readonly servers: number;
  readonly webhooks: number;
  readonly accounts: number;
  readonly migrations: number;
  readonly domains: number;
  /** True if an earlier apply created half of the resources: the rest of the plan changes and removes. */
  readonly changing: boolean;
  readonly perMinute: number;
  readonly parallelism: number;
  /** Number of turns between the first and the second Ctrl-C; undefined: no second Ctrl-C. */
  readonly again: number | undefined;
}

const cases = fc.record({
  sites: fc.integer({ min: 0, max: 4 }),
  servers: fc.integer({ min: 0, max: 2 }),
  webhooks: fc.integer({ min: 0, max: 3 }),
  accounts: fc.integer({ min: 0, max: 2 }),
  migrations: fc.integer({ min: 0, max: 2 }),
  domains: fc.integer({ min: 0, max: 2 }),
  changing: fc.boolean(),
  perMinute: fc.integer({ min: 3, max: 60 }),
  parallelism: fc.integer({ min: 1, max: 10 }),
  ...momentWithin(30),
  again: anotherStop,
});

const contact = {
  first_name: "Ana",
  last_name: "Agency",
  email: "ana@agency.example",
  phone: "+995 555 010203",
  address: "7 Port Street",
  city: "Batumi",
  postcode: "6000",
  country: "GE",
};

const named = (count: number, make: (at: number) => object, name: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, make(at)]));

/** @param later the declaration after changes: sites suspended, webhooks replaced, grants of others. */
function declaration(drawn: Case, later: boolean): object {
  const { sites, servers, webhooks, accounts, migrations, domains, perMinute, changing } = drawn;
  const changed = changing && later;
  const half = (count: number) => (changing && !later ? Math.ceil(count / 2) : count);
  return {
    project: "stopped",
    providers: { default: { token_env: "HOSTING_TOKEN", requests_per_minute: perMinute } },
    services: {
      ...named(
        half(sites),
        (at) => ({
          plan_id: 11,
          currency: "USD",
          domain: `site${at}.acme.example`,
          ...(changed && { suspended: at % 2 === 0 }),
          grants: changed ? { "boss@acme.example": "view" } : { "dev@acme.example": "manage" },
        }),
        "site",
      ),
      ...named(half(servers), () => ({ plan_id: 31, currency: "USD" }), "box"),
    },
    webhooks: named(
      half(webhooks),
      (at) => ({ url: `https://hooks.acme.example/${changed ? "new" : "old"}/${at}`, events: ["invoice.paid"] }),
      "hook",
    ),
    client_accounts: named(half(accounts), (at) => ({ name: `Client ${at}`, currency: "USD" }), "client"),
    migration_requests: named(half(migrations), (at) => ({ domain: `old${at}.example`, questions: {} }), "move"),
    domains: named(
      half(domains),
      (at) => ({
        domain: `name${at}.example`,
        years: 1,
        currency: "USD",
        nameserver_mode: "default",
        registrant_contact: contact,
      }),
      "name",
    ),
  };
}

/** Returns the declared objects in the account, each by its identifying attributes. */
function things({ control }: Project): string[] {
  const own = <T extends { readonly customer_id: number }>(rows: readonly T[]) =>
    rows.filter(({ customer_id }) => customer_id === 1);
  return [
    ...own(control.list("services")).map(({ domain, plan_id, id }) => `service ${domain ?? `${plan_id} ${id}`}`),
    ...own(control.list("webhooks")).map(({ url }) => `webhook ${url}`),
    ...own(control.list("accounts")).map(({ name }) => `account ${name}`),
    ...own(control.list("migration_requests")).map(({ domain }) => `migration ${domain}`),
    ...own(control.list("domains")).map(({ domain }) => `domain ${domain}`),
    ...control.list("grants").map(({ service_id, email }) => `grant ${service_id} ${email}`),
  ].sort();
}

async function check(drawn: Case): Promise<void> {
  const project = await startProject();
  // A second Ctrl-C can arrive while the run still reads.
  project.onExit = () => undefined;
  const before = things(project);
  const stood = new Set(project.control.list("services").map(({ id }) => id));
  const isNew = (id: number) => !stood.has(id);
  if (drawn.changing) {
    await project.declare(declaration(drawn, false));
    await project.apply();
  }
  await project.declare(declaration(drawn, true));

  const stopping = stopAt(project.sandbox, drawn, () => project.interrupt(), drawn.again);
  const ran = await project.run("apply", "--auto-approve", "--parallelism", String(drawn.parallelism));
  await stopping.end();
  const { sent, atStop } = stopping;
  const last = sent.length;
  // No request is sent after the signal, reads included.
  if (atStop !== undefined && ran.code === 1) expect(sent.slice(atStop, last), ran.text).toEqual([]);
  expect(ran.text).not.toContain("Internal error");
  const interrupted = ran.code === 1;
  expect(interrupted, ran.text).toBe(!/Apply complete!|nothing to do|No changes/i.test(ran.out));

  // Each open create was sent. After one Ctrl-C, each sent request has its response.
  const state = await project.state();
  const open = [...state.resources.values()].filter(({ private: mark }) => mark.pending ?? mark.attempt);
  if (drawn.again === undefined) expect(open, ran.text).toEqual([]);
  for (const { address, attributes, private: mark } of open) {
    const { operation = "", body } = mark.pending ?? mark.attempt ?? {};
    const own = sent
      .slice(0, last)
      .filter(({ method, body: text }) => method !== "GET" && (body === undefined || same(text, body)));
    expect(own, `${address} ${operation} ${JSON.stringify(attributes)}`).not.toEqual([]);
    expect(ran.out).toContain(address);
  }
  const { diagnostics } = await project.plan();
  const asked = diagnostics.filter(({ code }) => code === "plan.pending" || code === "plan.lookalike");
  const unsettled = [...new Set(asked.map(({ address }) => address))];
  expect(unsettled.filter((address) => !open.some((one) => one.address === address))).toEqual([]);

  // The user settles a registration without a response, and a server, because no list distinguishes them from others.
  for (const address of unsettled) {
    const sought = open.find((one) => one.address === address)?.attributes.domain ?? null;
    const recorded = [...(await project.state()).resources.values()].map(({ attributes }) => attributes.id);
    const made =
      sought === null
        ? project.control
            .list("services")
            .find(
              ({ id, domain, plan_id }) =>
                plan_id === 31 && domain === null && isNew(id) && !recorded.includes(`${id}`),
            )
        : project.control.list("domains").find(({ domain }) => domain === sought);
    const how = made === undefined ? ["--absent"] : ["--adopt", String(made.id)];
    const settled = await project.run("resolve", String(address), ...how);
    expect(settled.code, settled.text).toBe(0);
  }
  await project.apply();
  await project.expectNoChanges();
  const after = things(project);
  const expected = [
    ...Object.keys(named(drawn.sites, () => ({}), "")).flatMap((at) => [`service site${at}.acme.example`]),
    ...Object.keys(named(drawn.webhooks, () => ({}), "")).map(
      (at) => `webhook https://hooks.acme.example/${drawn.changing ? "new" : "old"}/${at}`,
    ),
    ...Object.keys(named(drawn.accounts, () => ({}), "")).map((at) => `account Client ${at}`),
    ...Object.keys(named(drawn.migrations, () => ({}), "")).map((at) => `migration old${at}.example`),
    ...Object.keys(named(drawn.domains, () => ({}), "")).map((at) => `domain name${at}.example`),
  ].sort();
  const made = after.filter((thing) => !before.includes(thing));
  const countable = made.filter((thing) => !/^grant |^service 31 /.test(thing));
  expect(countable).toEqual(expected);
  expect(made.filter((thing) => thing.startsWith("service 31 "))).toHaveLength(drawn.servers);
  expect(made.filter((thing) => thing.startsWith("grant "))).toHaveLength(drawn.sites);
  await project.close();
}

/** True if a request had this body, regardless of the order of its keys. */
function same(text: string, body: object): boolean {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, part]) => [name, sorted(part)]),
          )
        : value;
  return (
    typeof text === "string" && text !== "" && JSON.stringify(sorted(JSON.parse(text))) === JSON.stringify(sorted(body))
  );
}

describe("Ctrl-C at any request of any plan, once or twice", () => {
  it("sends nothing that was not on a socket; the next run creates nothing twice and asks about nothing that was not sent", async () => {
    await fc.assert(fc.asyncProperty(cases, check), { numRuns: Number(process.env.HOSTFORM_RUNS ?? runs(25)) });
  }, 600_000);
});
