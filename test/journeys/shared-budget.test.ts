import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const BUDGET = 10;
const COMMANDS = 24;

const declare = {
  project: "acme",
  providers: { default: { requests_per_minute: BUDGET } },
  services: { site: { plan_id: 11, currency: "USD", domain: "acme.example" } },
};

/**
 * Runs commands with one token: at first as many at once as the budget allows, then one after another. The clock of
 * these tests jumps during a request. Returns how often the host refused.
 */
async function refusals(project: Project): Promise<number> {
  const one = async () => expect(await project.run("services")).toMatchObject({ code: 0, err: "" });
  await Promise.all(Array.from({ length: BUDGET }, one));
  for (let at = 0; at < COMMANDS - BUDGET; at++) await one();
  const requests = project.control.requests();
  expect(requests.filter(({ status }) => status === 200).length).toBe(COMMANDS);
  return requests.filter(({ status }) => status === 429).length;
}

describe("the request budget", () => {
  it("is one of all commands with the same token, one after another and at once", async () => {
    const project = await startProject({ declare, sandbox: { rateLimit: BUDGET } });
    project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "state-home");
    expect(await refusals(project)).toBe(0);
    expect(project.clock.slept).toBeGreaterThan(2 * 60_000);
    expect(readdirSync(path.join(project.dir, "state-home")).filter((name) => name.endsWith(".store"))).toHaveLength(1);
  });

  it("is one of each process when it is switched off: the host refuses, and nothing is written", async () => {
    const project = await startProject({ declare, sandbox: { rateLimit: BUDGET } });
    const home = path.join(project.dir, "home");
    Object.assign(project.env, { HOSTFORM_STATE_HOME: home, HOME: home, HOSTFORM_LEDGER: "memory" });
    expect(await refusals(project)).toBeGreaterThan(0);
    expect(readdirSync(project.dir)).toEqual(["hosting.yaml"]);
  });

  it("is multiplied by HOSTFORM_BUDGET_SHARE", async () => {
    const project = await startProject({ declare, sandbox: { rateLimit: BUDGET } });
    project.env.HOSTFORM_BUDGET_SHARE = "0.2";
    const share = BUDGET / 5;
    expect((await project.run("services", "--verbose")).err).toContain(`(${share - 1} of ${share} left)`);
  });

  it.each(["0", "1.5", "half", "-0.5", ""])("is not used by a share of %j", async (share) => {
    const project = await startProject({ declare });
    project.env.HOSTFORM_BUDGET_SHARE = share;
    const { code, err } = await project.run("services");
    expect([code, err]).toEqual([1, expect.stringContaining("HOSTFORM_BUDGET_SHARE is not a number from 0 to 1")]);
    expect(project.sent()).toEqual([]);
  });

  it("is that of the process alone, with one warning, when the folder cannot be used", async () => {
    const project = await startProject({ declare, sandbox: { rateLimit: BUDGET } });
    const file = path.join(project.dir, "file");
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    project.env.HOSTFORM_STATE_HOME = path.join(file, "hostform");
    const { code, err } = await project.run("plan");
    expect(code).toBe(0);
    expect(err.match(/Warning: The rate limit is not shared with other processes \[provider\.ledger\]/g)).toHaveLength(
      1,
    );
    expect(err).toContain("HOSTFORM_STORE=memory");
    const asJson = await project.run("plan", "--json");
    expect(() => JSON.parse(asJson.out)).not.toThrow();
    expect((await project.run("plan", "--quiet")).err).toContain("provider.ledger");
    project.env.HOSTFORM_LEDGER = "memory";
    expect((await project.run("plan")).err).not.toContain("Warning");
  });
});
