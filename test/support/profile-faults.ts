/**
 * The same life where requests fail by chance: before anything is done, or after all of it. Commands may have to be run
 * again, and what nobody can know (whether a domain was registered) is settled as a person would who looks at the
 * dashboard. What must come out does not change: everything once, and no secret lost.
 */
import { expect } from "vitest";
import type { Profile } from "../../src/sandbox/index.ts";
import { begin, SECOND, SHOP } from "./profile-life.ts";
import type { Project } from "./project.ts";

/** A command that fails again and again although nothing but background faults is wrong has a defect. */
const MOST_RUNS = 12;

const own = <T extends { readonly customer_id: number }>(records: readonly T[]): T[] =>
  records.filter(({ customer_id }) => customer_id === 1);

/** Runs a command until it ends well. */
async function insist(project: Project, ...args: string[]): Promise<void> {
  const said: string[] = [];
  for (let run = 1; run <= MOST_RUNS; run += 1) {
    const ran = await project.run(...args);
    if (ran.code === 0) return;
    said.push(ran.err);
    await settle(project);
  }
  expect.fail(`${args.join(" ")} did not end well in ${MOST_RUNS} runs:\n${said.join("\n---\n")}`);
}

/** Nothing but the dashboard shows whether a domain was registered: the user looks there and says so. */
async function settle(project: Project): Promise<void> {
  const domain = await project.recorded("hosting_domain.acme");
  if (domain?.private.pending === undefined) return;
  const [made] = own(project.control.list("domains"));
  const verdict = made === undefined ? ["--absent"] : ["--adopt", String(made.id)];
  const ran = await project.run("resolve", "hosting_domain.acme", ...verdict);
  expect(ran.code, ran.text).toBe(0);
}

/** There is one of everything that was declared, and each one-time secret is known. */
async function check(
  project: Project,
  wanted: { services: number; grants: string[]; events: string[] },
): Promise<void> {
  const { control } = project;
  expect(own(control.list("services"))).toHaveLength(wanted.services);
  const orders = [...own(control.list("services")), ...own(control.list("domains"))];
  expect(orders).toHaveLength(wanted.services + 1);
  expect(own(control.list("invoices"))).toHaveLength(orders.length);
  expect(control.list("accounts")).toHaveLength(1);
  expect(control.list("migration_requests")).toHaveLength(1);
  expect(control.list("grants").map(({ email }) => email)).toEqual(expect.arrayContaining(wanted.grants));
  expect(control.list("grants")).toHaveLength(wanted.grants.length);
  const [hook, ...others] = control.list("webhooks");
  expect([hook?.events, others]).toEqual([wanted.events, []]);
  expect((await project.recorded("hosting_webhook.billing"))?.attributes.secret).toBe(hook?.secret);
  expect((await project.recorded("hosting_service.box"))?.attributes.generated_password).toMatch(/.{8,}/);
  const recorded = await project.state();
  for (const { private: mark } of recorded.resources.values()) {
    // A suspension that was declared is no change that is left to do.
    const { created: _, suspended: __, account: ___, ...open } = mark;
    expect(open).toEqual({});
  }
  await project.expectNoChanges();
}

/** @param seed of the faults. */
export async function liveWithFaults(profile: Profile, seed: string): Promise<void> {
  const project = await begin(profile, { seed });
  const { control } = project;
  await insist(project, "apply", "--auto-approve");
  await check(project, {
    services: 2,
    grants: ["dev@acme.example", "guest@acme.example"],
    events: ["invoice.paid", "invoice.created"],
  });
  const second = { grants: ["dev@acme.example"], events: ["service.suspended"] };
  await project.declare(SECOND);
  await insist(project, "apply", "--auto-approve", "--allow-removals");
  await check(project, { services: 2, ...second });
  await project.declare(SHOP);
  await insist(project, "apply", "--auto-approve");
  await check(project, { services: 3, ...second });
  expect(own(control.list("services")).map(({ status }) => status)).toEqual(["active", "active", "active"]);
  await insist(project, "destroy", "--auto-approve");
  expect([control.list("grants"), control.list("webhooks")]).toEqual([[], []]);
  // That there were faults at all.
  expect(control.requests().filter(({ fault }) => fault === 0).length).toBeGreaterThan(0);
}
