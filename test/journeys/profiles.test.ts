/**
 * The command line with servers that fill the gaps of the specification differently: the first apply and the data
 * sources under each set of values, a missing service, and the request limit. `test/servers` runs a whole project
 * against random servers.
 */
import { describe, expect, it } from "vitest";
import { PROFILE_SETS, PROFILE_SWITCHES } from "../../src/sandbox/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { pairwise } from "../support/pairwise.ts";
import { ask, begin, order } from "../support/profile-life.ts";

describe("the first apply, and data sources", { timeout: 60_000 }, () => {
  const shown = async (profile: string) => {
    const project = await begin(profile);
    return [await order(project), await ask(project)];
  };
  let usual: ReturnType<typeof shown> | undefined;

  it.each(Object.keys(PROFILE_SETS))("record and show the same with the set %s", async (name) => {
    usual ??= shown("laravel");
    expect(await shown(`${name},weather=calm`)).toEqual(await usual);
  });
});

describe("a service that is gone, with its grants", () => {
  it.each(sampled(PROFILE_SWITCHES.error_bodies, 2))(
    "is reported, and nothing is ordered, with 404s that are %s",
    async (error_bodies) => {
      const project = await begin({ error_bodies });
      await order(project);
      const [site] = project.control.list("services").filter(({ domain }) => domain === "www.acme.example");
      project.control.remove("services", site?.id ?? 0);
      const { diagnostics, changes, conditions } = await project.plan();
      expect(conditions?.map(({ condition, address }) => `${condition} ${address}`)).toEqual([
        "gone hosting_service.www",
      ]);
      expect(diagnostics.map(({ code, address }) => `${code} ${address}`)).toEqual([
        'apply.skipped hosting_grant.www["dev@acme.example"]',
        'apply.skipped hosting_grant.www["guest@acme.example"]',
      ]);
      expect(changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);
      // hostform ignores an HTML page with status 404, because the list still contains the service.
      const box = project.control
        .list("services")
        .find(({ plan_id, customer_id }) => plan_id === 31 && customer_id === 1);
      const page = { body: "<!DOCTYPE html><title>404 Not Found</title>", headers: { "content-type": "text/html" } };
      project.control.addFault({ path: `/services/${box?.id}`, phase: "before", status: 404, times: 9, ...page });
      expect((await project.run("services", String(box?.id))).code).toBe(1);
      expect((await project.plan()).diagnostics).toEqual(diagnostics);
    },
  );
});

describe("a minute that somebody else used up", () => {
  const { retry_after, rate_headers, too_many, rate } = PROFILE_SWITCHES;
  it.each(sampled(pairwise({ retry_after, rate_headers, too_many, rate }), 2))(
    "is waited for, and nothing is lost ($retry_after, $rate_headers, $too_many, $rate)",
    async (profile) => {
      const project = await begin(profile, { rateLimit: 8 });
      await order(project);
      // hostform waits because of the response headers or because of a refusal.
      expect(project.clock.slept).toBeGreaterThan(50_000);
    },
  );
});
