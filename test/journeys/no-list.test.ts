// Responses in place of a list or an object that prove nothing: hostform neither creates an existing object again nor
// gives it up.
import { describe, expect, it } from "vitest";
import { sampled } from "../reliability/support/long.ts";
import { hide, NO_LISTS, type NoList } from "../support/no-lists.ts";
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

const LISTS = ["/services", "/services/:id/grants", "/webhooks", "/accounts", "/migration-requests"];

/** An account that holds the declared objects, and faults that hide a part of it. */
async function hidden(paths: readonly string[], answer: NoList) {
  const project = await startProject({
    declare: DECLARED,
    pinned: { envelope: ["laravel"], empty_list: ["array"] },
  });
  await project.apply();
  hide(project.control, paths, answer);
  project.sent();
  return project;
}

const ANSWERS = sampled(NO_LISTS, 2).map((answer, nth) => [...answer, nth] as const);

describe.each(ANSWERS)("status %i with %j", (status, body, headers, nth) => {
  const answer: NoList = [status, body, headers];
  it("is no proof that any kind is absent after the state was lost: nothing is made, and the message names status and endpoint", async () => {
    for (const path of sampled(LISTS, 3, nth)) {
      const project = await hidden([path], answer);
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
    const project = await hidden([...LISTS, "/services/:id", "/migration-requests/:id"], answer);
    const addresses = ["hosting_service.www", "hosting_webhook.hook", "hosting_client_account.nino"];
    const before = await Promise.all(addresses.map((address) => project.recorded(address)));
    for (const args of [["plan"], ["apply", "--auto-approve"], ["destroy", "--auto-approve", "--allow-removals"]])
      expect((await project.run(...args)).code, args.join(" ")).toBe(1);
    expect(project.changesSent()).toEqual([]);
    expect(await Promise.all(addresses.map((address) => project.recorded(address)))).toEqual(before);
  });

  it("is no empty account for adopt", async () => {
    const project = await hidden(["/services"], answer);
    const other = await project.beside({ project: "beside" });
    const { code, text } = await other.run("adopt");
    expect(code).toBe(1);
    expect(text).toContain("api.inconclusive");
    expect(text).not.toContain("account is empty");
  });
});

it("adopt leaves out a collection that the host answers with no list, and says so", async () => {
  const project = await hidden(["/webhooks"], [200, {}, undefined]);
  const other = await project.beside({ project: "beside" });
  const { code, text } = await other.run("adopt", "--auto-approve");
  expect(text).toContain("The webhooks: the response of the host is not a list.");
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

const BODIES = [
  [{}, 0],
  [null, 1],
  [{ data: null }, 2],
] as const;
describe.each(sampled(BODIES, 3))("a plan that creates nothing, at a host that answers %j for a list", (body, nth) => {
  const warning = (path: string) => `GET /api/v1${path} returned no list, so this run could not check its objects`;

  it("keeps recorded objects as they were recorded, and one warning names each list", async () => {
    const project = await hidden(["/webhooks", "/accounts", "/services/:id/grants"], [200, body, undefined]);
    const { changes, diagnostics, drift } = await project.plan();
    expect(changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);
    expect(drift).toEqual([]);
    expect(diagnostics.map(({ code, summary, severity }) => [severity, code, summary]).toSorted()).toEqual(
      ["/accounts", "/services/{id}/grants", "/webhooks"].map((path) => ["warning", "api.no_list", warning(path)]),
    );
    const { code, text } = await project.run("apply", "--auto-approve");
    expect(code).toBe(0);
    expect(text).toContain("hosting_webhook.hook could not be checked: the plan uses the state.");
    expect(project.changesSent()).toEqual([]);
  });

  it("reads objects one by one where the API has a GET", async () => {
    const project = await hidden(["/services", "/migration-requests"], [200, body, undefined]);
    const { changes, diagnostics } = await project.plan();
    expect(changes.filter(({ actions, unchecked }) => actions[0] !== "no-op" || unchecked)).toEqual([]);
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  it("stops if an object that is gone by its GET would be created again", async () => {
    const project = await hidden(["/services", "/migration-requests"], [200, body, undefined]);
    const [service] = project.control.list("services").filter(({ domain }) => domain === "www.acme.example");
    project.control.remove("services", service?.id ?? 0);
    expect((await project.run("plan")).text).toContain("1 declared object no longer exists.");
    expect((await project.run("plan", "--reorder", "hosting_service.www")).text).toContain("api.inconclusive");
    for (const { id } of project.control.list("migration_requests")) project.control.remove("migration_requests", id);
    expect((await project.run("apply", "--auto-approve")).text).toContain(
      "The response to GET /api/v1/migration-requests has status 200 and an empty object.",
    );
    expect(project.changesSent()).toEqual([]);
  });

  it.each([
    [
      "creates another one",
      { hook: DECLARED.webhooks.hook, second: { url: "https://b.example/", events: ["invoice.paid"] } },
    ],
    ["replaces one", { hook: { ...DECLARED.webhooks.hook, events: ["service.provisioned"] } }],
  ])("stops if it %s", async (_, webhooks) => {
    const project = await hidden(["/webhooks"], [200, body, undefined]);
    await project.declare({ ...DECLARED, webhooks });
    for (const args of [["plan"], ["apply", "--auto-approve"]]) {
      const { code, text } = await project.run(...args);
      expect(code).toBe(1);
      expect(text).toContain("api.inconclusive");
      expect(text).toContain("GET /api/v1/webhooks");
    }
    expect(project.changesSent()).toEqual([]);
  });

  it.each(["exists", "was deleted"])("destroys an object that %s", async (how) => {
    const project = await hidden(["/webhooks"], [200, body, undefined]);
    for (const { id } of how === "exists" ? [] : project.control.list("webhooks"))
      project.control.remove("webhooks", id);
    await project.run("destroy", "--auto-approve", "--allow-removals");
    expect(project.control.list("webhooks")).toEqual([]);
    expect(await project.recorded("hosting_webhook.hook")).toBeUndefined();
  });

  const listings = [
    ["plans", "/plans"],
    ["services", "/services"],
    ["invoices", "/invoices"],
    ["webhooks", "/webhooks"],
    ["accounts", "/accounts"],
    ["migrations", "/migration-requests"],
  ] as const;
  it.each(sampled(listings, 3, nth))("shows an empty list with one warning: hostform %s", async (name, path) => {
    const project = await hidden([path, "/plans"], [200, body, undefined]);
    const { code, text } = await project.run(name);
    expect(code).toBe(0);
    expect(text.split(warning(path))).toHaveLength(2);
    expect(JSON.parse((await project.run(name, "--json")).out)).toEqual([]);
  });
});
