/**
 * Counts the requests and the time of a run. The clock is simulated, and the host allows 60 requests a minute
 * (docs/performance.md).
 */
import { describe, expect, it } from "vitest";
import { CountedAccount } from "./account.ts";

describe("adopted grants", () => {
  it("are read once for each service, with an adoption by id and by e-mail address", async () => {
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
  it("of a thousand services need one request each and at most two polls of the list: at most 18.5 minutes at 60 requests a minute", async () => {
    const account = new CountedAccount(1_000, { jobMs: [1_000, 20_000] });
    await account.adopt();
    const { requests, total, seconds } = await account.apply(account.declared(1_000, { suspended: true }));
    expect(requests["POST /services/:/suspend"]).toBe(1_000);
    // One reading of the list for the plan, and two polls.
    expect(total).toBeLessThanOrEqual(1_000 + 3 * 10);
    expect(seconds).toBeLessThanOrEqual(18.5 * 60);
  }, 120_000);

  it("of five services in an account of a thousand are polled by five GETs, not by ten pages", async () => {
    const account = new CountedAccount(1_000);
    await account.adopt(5);
    const { requests } = await account.apply(account.declared(5, { suspended: true }));
    expect(requests).toEqual({ "GET /services": 10, "GET /services/:": 5, "POST /services/:/suspend": 5 });
  });

  it("are polled only up to the page with the last suspended service, and within the request budget", async () => {
    const account = new CountedAccount(1_000, { jobMs: [60_000, 60_000], newestFirst: false });
    await account.adopt(50);
    const { requests, seconds } = await account.apply(account.declared(50, { suspended: true }));
    // The plan reads ten pages. The first page contains all fifty services.
    expect(requests["GET /services"]).toBeLessThanOrEqual(10 + 10);
    expect(seconds).toBeLessThanOrEqual(150);
  });
});
