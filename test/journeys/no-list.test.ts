// Answers in place of a list or an object that prove nothing: what exists is neither made a second time nor given up.
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const DECLARED = {
  project: "proof",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": "view" } },
  },
  webhooks: { hook: { url: "https://hooks.acme.example", events: ["invoice.paid"] } },
  client_accounts: { nino: { name: "Nino" } },
  migration_requests: { move: { domain: "old.acme.example" } },
};

const ANSWERS: [status: number, body: unknown, headers?: Record<string, string>][] = [
  ...[201, 202, 203, 206, 207].map((status): [number, unknown] => [status, []]),
  [202, {}],
  [206, [], { "content-range": "items 0-0/31" }],
  [200, { data: null }],
  [200, {}],
];

const LISTS = ["/services", "/services/:id/grants", "/webhooks", "/accounts", "/migration-requests"];

/** An account that holds what is declared, and the faults that hide a part of it. */
async function hidden(paths: readonly string[], status: number, body: unknown) {
  const project = await startProject({
    declare: DECLARED,
    pinned: { envelope: ["laravel"], empty_list: ["array"] },
  });
  await project.apply();
  for (const path of paths)
    project.control.addFault({ method: "GET", path, phase: "before", status, body: body as never, times: 99 });
  project.sent();
  return project;
}

describe.each(ANSWERS)("status %i with %j", (status, body) => {
  it("is no proof that any kind is absent after the state was lost: nothing is made, and the message names status and endpoint", async () => {
    for (const path of LISTS) {
      const project = await hidden([path], status, body);
      if (path.includes("grants")) await project.run("state", "rm", 'hosting_grant.www["dev@acme.example"]');
      else await project.loseState();
      project.control.advanceClock({ days: 2 });
      const { code, text: err } = await project.run("apply", "--auto-approve");
      expect(code, path).toBe(1);
      expect(project.changesSent(), path).toEqual([]);
      expect(err, path).toContain("api.inconclusive");
      expect(err, path).toContain(`GET /api/v1${path.replace(":id", "{id}")}`);
      expect(err, path).toContain(`status ${status}`);
    }
  });

  it("is no proof that a recorded object is gone: the state keeps it", async () => {
    const project = await hidden([...LISTS, "/services/:id", "/migration-requests/:id"], status, body);
    const addresses = ["hosting_service.www", "hosting_webhook.hook", "hosting_client_account.nino"];
    const before = await Promise.all(addresses.map((address) => project.recorded(address)));
    for (const args of [["plan"], ["apply", "--auto-approve"], ["destroy", "--auto-approve", "--allow-removals"]])
      expect((await project.run(...args)).code, args.join(" ")).toBe(1);
    expect(project.changesSent()).toEqual([]);
    expect(await Promise.all(addresses.map((address) => project.recorded(address)))).toEqual(before);
  });

  it("is no empty account for adopt", async () => {
    const project = await hidden(["/services"], status, body);
    const other = await project.beside({ project: "beside" });
    const { code, text } = await other.run("adopt");
    expect(code).toBe(1);
    expect(text).toContain("api.inconclusive");
    expect(text).not.toContain("account is empty");
  });
});

it("adopt leaves out a collection that the host answers with no list, and says so", async () => {
  const project = await hidden(["/webhooks"], 200, {});
  const other = await project.beside({ project: "beside" });
  const { code, text } = await other.run("adopt", "--auto-approve");
  expect(text).toContain("The webhooks: the host answered with something that is no list.");
  expect(code).toBe(0);
});

it("null is an empty list where the plans come as a bare array", async () => {
  const project = await startProject({
    declare: DECLARED,
    pinned: { envelope: ["array"], empty_list: ["null"] },
  });
  await project.apply();
  expect(project.control.list("services").filter(({ domain }) => domain === "www.acme.example")).toHaveLength(1);
  await project.expectNoChanges();
});
