import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";
import { ENDING_LISTS, profileOfRun, startSandbox } from "../support/sandbox.ts";

/** Returns the names of the tokens in these requests, from the sandbox's log. */
const tokensOf = (requests: readonly { token: string | null; method: string }[], method?: string) => [
  ...new Set(requests.filter((entry) => method === undefined || entry.method === method).map(({ token }) => token)),
];

const TWO = (beta: object) => ({
  project: "two",
  providers: { default: {}, beta },
  services: {
    mine: { plan_id: 11, currency: "USD", domain: "mine.example" },
    theirs: {
      plan_id: 11,
      currency: "USD",
      domain: "theirs.example",
      provider: "beta",
      grants: { "dev@acme.example": "view" },
    },
  },
});

describe("two accounts in one project", () => {
  it("on one host each use their own token", async () => {
    const project = await startProject({ declare: TWO({ token_env: "BETA_TOKEN" }) });
    project.env.BETA_TOKEN = project.sandbox.tokens.customer;
    await project.apply();
    const requests = project.control.requests();
    expect(tokensOf(requests).sort()).toEqual(["agency", "customer"]);
    const orders = project.control.list("services").filter(({ domain }) => /^(mine|theirs)\./.test(domain ?? ""));
    expect(orders.map(({ domain, customer_id }) => [domain, customer_id]).sort()).toEqual([
      ["mine.example", 1],
      ["theirs.example", 2],
    ]);
    expect(project.control.requests().find(({ path }) => path.endsWith("/grants"))?.token).toBe("customer");
    await project.expectNoChanges();
    expect((await project.recorded("hosting_service.theirs"))?.provider).toBe("beta");
  });

  it("on two hosts each have their own budget", async () => {
    // These values keep the request count stable: hostform reads an order once more if its timestamp is only a date.
    const pinned = { envelope: ENDING_LISTS, timestamps: ["offset", "micros_z"] } as const;
    const project = await startProject({ sandbox: { rateLimit: 6 }, pinned });
    const usual = { clock: project.clock, autoPay: true, provisioningSeconds: 0, ...profileOfRun(pinned) };
    const other = await startSandbox({ ...usual, rateLimit: 6 });
    try {
      project.env.BETA_TOKEN = other.tokens.agency;
      // Without this setting, the plan warns that a token goes to another origin than HOSTING_BASE_URL.
      project.env.HOSTFORM_ALLOWED_ORIGINS = `${project.sandbox.url},${other.url}`;
      await project.declare(TWO({ base_url: other.url, token_env: "BETA_TOKEN" }));
      await project.apply();
      expect(project.control.list("services").map(({ domain }) => domain)).toContain("mine.example");
      expect(other.control.list("services").map(({ domain }) => domain)).toContain("theirs.example");
      expect(other.control.list("services").map(({ domain }) => domain)).not.toContain("mine.example");
      const sent = [project, other].map(({ control }) => control.requests().length);
      expect(Math.max(...sent)).toBeLessThanOrEqual(6);
      // The two hosts together received more requests than one budget allows, and no request waited.
      expect(sent.reduce((sum, count) => sum + count)).toBeGreaterThan(6);
      expect(project.clock.slept).toBe(0);
      await project.expectNoChanges();
    } finally {
      await other.close();
    }
  });

  it("cannot hand a resource from one to the other", async () => {
    const project = await startProject({ declare: TWO({ token_env: "BETA_TOKEN" }) });
    project.env.BETA_TOKEN = project.sandbox.tokens.customer;
    await project.apply();
    project.sent();
    const moved = TWO({ token_env: "BETA_TOKEN" });
    moved.services.theirs.provider = "default";
    await project.declare(moved);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("hosting_service.theirs cannot move from provider beta to default");
    expect(project.changesSent()).toEqual([]);
  });

  it("of which one has no token stop before anything is sent", async () => {
    const project = await startProject({ declare: TWO({ token_env: "BETA_TOKEN" }) });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("BETA_TOKEN is not set");
    expect(ran.err).toMatch(/hosting\.yaml:\d+:\d+/);
    expect(project.sent()).toEqual([]);
  });
});
