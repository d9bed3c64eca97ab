/**
 * What a run costs in requests and time, counted on a simulated clock at a host that keeps to 60 requests a minute
 * (docs/performance.md).
 */
import { describe, expect, it } from "vitest";
import { CountedAccount } from "./account.ts";

describe("grants that are adopted", () => {
  it("are read once for each service, by whichever name they are adopted", async () => {
    const account = new CountedAccount(300);
    await account.adopt();
    const people = ["ana@acme.example", "dev@acme.example"];
    const imports = new Map<string, string>();
    const services = account.declared().map((service, at) => {
      const { id } = account.services[at] as (typeof account.services)[number];
      const shared = people.slice(0, 1 + (at % 2)).map((email) => {
        const grant = account.server.nextId();
        account.server.grants.push({
          ...{ id: grant, createdAt: account.world.now, service: id, email, permission: "view", foreign: false },
        });
        imports.set(`hosting_grant.${service.name}["${email}"]`, `${id}/${at % 3 === 0 ? grant : email}`);
        return [email, "view"];
      });
      return { ...service, grants: Object.fromEntries(shared) };
    });
    expect(imports.size).toBe(450);
    const { requests } = await account.apply(services, { imports });
    expect(requests).toEqual({ "GET /services": 3, "GET /services/:/grants": 300 });
  });
});

describe("suspensions", () => {
  it("of a thousand services take their own requests and a poll or two: at most 18.5 minutes at 60 a minute", async () => {
    const account = new CountedAccount(1_000, { jobMs: [1_000, 20_000] });
    await account.adopt();
    const { requests, total, seconds } = await account.apply(account.declared(1_000, { suspended: true }));
    expect(requests["POST /services/:/suspend"]).toBe(1_000);
    // The list for the plan, and two polls of it.
    expect(total).toBeLessThanOrEqual(1_000 + 3 * 10);
    expect(seconds).toBeLessThanOrEqual(18.5 * 60);
  }, 120_000);

  it("of five services in an account of a thousand are polled by five GETs, not by ten pages", async () => {
    const account = new CountedAccount(1_000);
    await account.adopt(5);
    const { requests } = await account.apply(account.declared(5, { suspended: true }));
    expect(requests).toEqual({ "GET /services": 10, "GET /services/:": 5, "POST /services/:/suspend": 5 });
  });

  it("are polled no further than the page of the last one, and no more often than the budget allows", async () => {
    const account = new CountedAccount(1_000, { jobMs: [60_000, 60_000], newestFirst: false });
    await account.adopt(50);
    const { requests, seconds } = await account.apply(account.declared(50, { suspended: true }));
    // Ten pages for the plan; all fifty are on the first page.
    expect(requests["GET /services"]).toBeLessThanOrEqual(10 + 10);
    expect(seconds).toBeLessThanOrEqual(150);
  });
});
