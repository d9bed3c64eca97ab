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
