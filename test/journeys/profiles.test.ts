import { describe, expect, it } from "vitest";
import { PROFILE_SWITCHES, type Profile } from "../../src/sandbox/index.ts";
import { type Project, startProject } from "../support/project.ts";
import { instantOf, phaseOfStatus } from "./reading.ts";

/** Something of everything: two products, a queued job, a generated password, a secret, references, a free map. */
const DECLARATION = `
project: profiles
services:
  www:
    plan_id: 11
    currency: USD
    domain: www.acme.example
    term: 12
    suspended: true
    password: \${env.WWW_PASSWORD}
    password_version: 1
    grants:
      dev@acme.example: manage
      guest@acme.example: {permission: view, expires_at: 2027-06-30T00:00:00Z}
  box:
    plan_id: 31
    currency: USD
    password_version: 1
webhooks:
  billing:
    url: https://hooks.acme.example/hosting
    events: [invoice.paid, invoice.created]
client_accounts:
  acme: {name: Acme, company_name: Acme LLC, currency: GEL}
migration_requests:
  www:
    domain: www.acme.example
    order_id: \${hosting_service.www.id}
    questions: {source: cpanel}
domains:
  acme:
    domain: acme.example
    years: 1
    currency: USD
    nameserver_mode: default
    registrant_contact:
      {first_name: Ana, last_name: Acme, email: ana@acme.example, phone: "+995 555 000000", address: 1 Rustaveli Ave, city: Tbilisi, postcode: "0108", country: GE}
`;

const settings = Object.entries(PROFILE_SWITCHES).flatMap(([name, values]) =>
  values.map((value) => ({ name: name as keyof Profile, value: value as string })),
);

/** What was recorded, in a notation of ours: what only the server's notation makes different is the same here. */
async function recorded(project: Project): Promise<object> {
  const { resources } = await project.state();
  return Object.fromEntries(
    [...resources.values()].map(({ address, attributes, private: mark, provider, sensitive }) => {
      const { status, provisioning_status, created_at, price, invoice_total, expires_at, ...rest } = attributes;
      const phases = [status, provisioning_status].map(phaseOfStatus);
      // Another scale is another number, never scaled silently; that there is one is the same.
      const told = [price, invoice_total].map((amount) => (amount === null ? null : typeof amount));
      const days = [created_at, expires_at].map(instantOf);
      return [address, { ...rest, phases, told, days, mark, provider, sensitive }];
    }),
  );
}

async function run(profile: Partial<Profile>): Promise<{ project: Project; result: object }> {
  const project = await startProject({
    declare: DECLARATION,
    sandbox: { profile, rateLimit: 60 },
    env: { WWW_PASSWORD: "correct horse battery" },
  });
  // One after the other, so that ids and secrets come in the same order each time.
  await project.apply("--parallelism", "1");
  return { project, result: await recorded(project) };
}

describe("however the server fills the gaps of the specification", () => {
  const usual = run({}).then(async ({ result }) => result);

  it.each(settings)("$name=$value gives the same result, and the second plan is empty", async ({ name, value }) => {
    const { project, result } = await run({ [name]: value });
    expect(result).toEqual(await usual);
    expect(Object.keys(result)).toHaveLength(8);
    await project.expectNoChanges();
    await project.apply();
    expect(project.control.list("services").filter(({ customer_id }) => customer_id === 1)).toHaveLength(2);
  });

  it("all of the unlikely ones together do", async () => {
    const { project, result } = await run({
      envelope: "array",
      status: "upper_snake",
      ids: "string",
      bodies: "empty204",
      rate_headers: "none",
      retry_after: "none",
      creation: "invoice_wrapped",
      unwrapped: "yes",
      timestamps: "micros_z",
      money: "major",
    });
    expect(result).toEqual(await usual);
    await project.expectNoChanges();
  });

  const refusals = PROFILE_SWITCHES.retry_after.flatMap((retry_after) =>
    PROFILE_SWITCHES.rate_headers.map((rate_headers) => ({ retry_after, rate_headers })),
  );
  it.each(refusals)(
    "waits and goes on when somebody else used the minute up ($retry_after, $rate_headers)",
    async (profile) => {
      const project = await startProject({
        declare: DECLARATION,
        sandbox: { profile, rateLimit: 8 },
        env: { WWW_PASSWORD: "correct horse battery" },
      });
      await project.apply("--parallelism", "1");
      expect(Object.keys(await recorded(project))).toEqual(Object.keys(await usual));
      // Told by headers beforehand, or learned by being refused: either way it waited for another minute.
      expect(project.clock.slept).toBeGreaterThan(50_000);
    },
  );
});
