/**
 * A host that sells another hosting plan than the ordered one, or changes it later: each plan reports it, and nothing
 * is ordered again.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { rewritingHost } from "../support/rewriting-host.ts";

const ADDRESS = "hosting_service.www";
const www = { plan_id: 11, currency: "USD", domain: "www.acme.example" };

type Service = Record<string, unknown>;

/** Returns a response with each service rewritten. */
function withServices(answer: unknown, rewrite: (service: Service) => Service): unknown {
  if (Array.isArray(answer)) return answer.map((item) => withServices(item, rewrite));
  if (typeof answer !== "object" || answer === null) return answer;
  const entries = Object.entries(answer).map(([name, value]) => [name, withServices(value, rewrite)]);
  const own = Object.fromEntries(entries);
  return Object.hasOwn(own, "provisioning_status") ? rewrite(own) : own;
}

/** A project whose host rewrites each service with `host.shows`. */
async function behind(host: { shows(service: Service, method: string): Service }, own: object = www) {
  const project = await startProject({ declare: declaring(own) });
  project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer, method) =>
    withServices(answer, (service) => host.shows(service, method)),
  );
  return project;
}

const declaring = (own: object) => ({ project: "plans", services: { www: own } });

const flat = (text: string) => text.replace(/\s+/g, " ");

/**
 * Returns the lines under "Needs attention" of a plan without changes. Fails if the plan requests the list of hosting
 * plans.
 */
async function attention(project: Project, ...args: string[]): Promise<string> {
  project.sent();
  const { code, text } = await project.run("plan", "--detailed-exitcode", ...args);
  expect(code, text).toBe(0);
  expect(project.sent().filter((line) => line.includes("/plans"))).toEqual([]);
  return flat(text);
}

/** Responses of a host that has sold "Shared Plus" (12) in place of "Shared Start" (11). */
const SOLD: readonly [what: string, shows: (service: Service, method: string) => Service, says: string][] = [
  [
    "by its name",
    (service) => ({ ...service, plan: "Shared Plus" }),
    'has the hosting plan "Shared Plus" (12); the hosting plan "Shared Start" (11) was ordered',
  ],
  [
    "by its name in other letters",
    (service) => ({ ...service, plan: "SHARED PLUS" }),
    'has the hosting plan "SHARED PLUS" (12); the hosting plan "Shared Start" (11) was ordered',
  ],
  [
    "by its name in lists alone",
    (service, method) => ({ ...service, plan: method === "GET" ? "Shared Plus" : null }),
    'has the hosting plan "Shared Plus" (12); the hosting plan "Shared Start" (11) was ordered',
  ],
  [
    "by its number",
    (service) => ({ ...service, plan: null, plan_id: 12 }),
    'has the hosting plan with plan_id 12; the hosting plan "Shared Start" (11) was ordered',
  ],
];

describe("a host that sells another plan and shows it", () => {
  it.each(SOLD)("%s is reported by the apply and by each later plan", async (what, shows, says) => {
    const project = await behind({ shows });
    const applied = await project.apply();
    // If only lists contain the evidence, the next plan finds it, with one request for the list of hosting plans.
    if (what.endsWith("alone")) await project.apply();
    else expect(flat(applied.text)).toContain(says);
    for (let look = 0; look < 2; look++) {
      expect(await attention(project)).toContain(says);
      await project.apply();
    }
    expect(project.changesSent()).toEqual([]);
    expect((await project.plan()).conditions).toMatchObject([{ address: ADDRESS, condition: "other_plan" }]);
    expect(project.control.list("services").filter(({ domain }) => domain === www.domain)).toHaveLength(1);
    await project.declare(declaring({ ...www, plan_id: 12 }));
    const followed = await project.run("plan", "--detailed-exitcode");
    expect(followed.code, followed.text).toBe(0);
    expect(followed.text).not.toContain("was ordered");
    await project.declare(declaring({ ...www, plan_id: 13 }));
    const refused = await project.run("plan");
    expect(refused.text).toContain("plan.immutable");
  });

  it.each([
    ["in its own notation", (service: Service) => ({ ...service, plan: `${service.plan} (monthly)` })],
    ["in other letters", (service: Service) => ({ ...service, plan: String(service.plan).toUpperCase() })],
    ["not at all", (service: Service) => ({ ...service, plan: null })],
  ])("is not suspected of one that shows the ordered plan %s", async (_, shows) => {
    const project = await behind({ shows });
    await project.apply();
    expect(await attention(project)).not.toContain("was ordered");
    await project.expectNoChanges();
  });
});

it("is reported for a stack as well, with what to declare in its language", async () => {
  const project = await behind({ shows: (service) => ({ ...service, plan: "Shared Plus" }) }, undefined);
  const stack = {
    terraform: { required_providers: { hosting: { source: "hostform/hosting", version: "~> 0.1" } } },
    provider: { hosting: [{ project: "plans" }] },
    resource: { hosting_service: { www } },
  };
  await writeFile(path.join(project.dir, "cdk.tf.json"), JSON.stringify(stack));
  await project.apply("--stack", "cdk.tf.json", "--state", "stack.tfstate");
  const text = await attention(project, "--stack", "cdk.tf.json", "--state", "stack.tfstate");
  expect(text).toContain('has the hosting plan "Shared Plus" (12); the hosting plan "Shared Start" (11) was ordered');
  expect(text).toContain('If the hosting plan was changed on purpose: declare `"plan_id": 12`');
});

describe("a plan that is changed after the order", () => {
  it.each([
    ["name", (service: Service) => ({ ...service, plan: "Shared Plus" })],
    ["name, of no plan in the list", (service: Service) => ({ ...service, plan: "Corporate" })],
  ])("is a condition by its %s, until it is changed back", async (_, changed) => {
    const host = { shows: (service: Service): Service => service };
    const project = await behind(host);
    await project.apply();
    await project.expectNoChanges();
    host.shows = changed;
    const planned = await project.run("plan", "--detailed-exitcode");
    expect(planned.code, planned.text).toBe(0);
    expect(flat(planned.text)).toContain('the hosting plan "Shared Start" (11) was ordered');
    await project.apply();
    expect(await attention(project)).toContain('the hosting plan "Shared Start" (11) was ordered');
    host.shows = (service) => service;
    await project.apply();
    expect(await attention(project)).not.toContain("was ordered");
  });
});

describe("an order without an answer", () => {
  const pendingBehind = async (own: object = www) => {
    const host = { shows: (service: Service): Service => ({ ...service, plan: "Shared Plus" }) };
    const project = await behind(host, own);
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 9 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    project.clock.advance(600_000);
    return project;
  };

  it("whose object is of another plan is a question without that answer, and is adopted by force as it is", async () => {
    const project = await pendingBehind();
    const [made] = project.control.list("services").filter(({ domain }) => domain === www.domain);
    const id = String(made?.id);
    const asked = await project.run("plan");
    expect(flat(asked.text)).toContain('but of another hosting plan ("Shared Plus")');
    const shown = await project.run("resolve", ADDRESS);
    expect(shown.out).toContain(": another hosting plan");
    expect(shown.out).not.toContain("--adopt ID");
    const refused = await project.run("resolve", ADDRESS, "--adopt", id);
    expect(refused.code).toBe(1);
    expect(flat(refused.err)).toContain('its plan is "Shared Plus", not "Shared Start"');
    expect(flat(refused.err)).toContain(`hostform resolve '${ADDRESS}' --adopt ${id} --force`);
    expect((await project.recorded(ADDRESS))?.private.pending).toBeDefined();
    expect((await project.run("resolve", ADDRESS, "--adopt", id, "--force")).code).toBe(0);
    expect(await attention(project)).toContain(
      'has the hosting plan "Shared Plus" (12); the hosting plan "Shared Start" (11) was ordered',
    );
    expect(project.control.list("services").filter(({ domain }) => domain === www.domain)).toHaveLength(1);
  });
});
