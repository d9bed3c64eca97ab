import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const HOOK = "hosting_webhook.billing";
const hook = (url: string) => ({ project: "failures", webhooks: { billing: { url, events: ["invoice.paid"] } } });

describe("a replacement that fails half-way", () => {
  it("(new one first) remembers the old one and deletes it in the next run", async () => {
    const project = await startProject({ declare: hook("https://old.acme.example") });
    await project.apply();
    await project.declare(hook("https://new.acme.example"));
    project.control.addFault({ method: "DELETE", path: "/webhooks/:id", phase: "before", status: 403 });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(project.control.list("webhooks").map(({ url }) => url)).toEqual([
      "https://old.acme.example",
      "https://new.acme.example",
    ]);
    expect(await project.recorded(HOOK)).toMatchObject({
      attributes: { id: project.idOf("webhooks", 202) },
      private: { deposed: { id: project.idOf("webhooks", 201) } },
    });

    const change = await project.changeOf(HOOK);
    expect(change).toMatchObject({ actions: ["update"], requests: 1 });
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual(["DELETE /webhooks/201"]);
    expect((await project.recorded(HOOK))?.private).toEqual({});
    await project.expectNoChanges();
  });

  it("(new one first) and is not declared any more deletes both", async () => {
    const project = await startProject({ declare: hook("https://old.acme.example") });
    await project.apply();
    await project.declare(hook("https://new.acme.example"));
    project.control.addFault({ method: "DELETE", path: "/webhooks/:id", phase: "before", status: 403 });
    await project.run("apply", "--auto-approve");
    await project.declare({ project: "failures" });
    await project.apply("--allow-removals");
    expect(project.control.list("webhooks")).toEqual([]);
    await project.expectNoChanges();
  });

  it("(old one first) creates the new one in the next run", async () => {
    const shared = (permission: string) => ({
      project: "failures",
      services: {
        www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": permission } },
      },
    });
    const project = await startProject({ declare: shared("view") });
    await project.apply();
    await project.declare(shared("manage"));
    project.control.addFault({ method: "POST", path: "/services/:id/grants", phase: "before", status: 403 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    await project.apply();
    expect(project.control.list("grants").map(({ permission }) => permission)).toEqual(["manage"]);
    await project.expectNoChanges();
  });
});

describe("a failure", () => {
  it("of one order skips what refers to it and goes on with the rest", async () => {
    const project = await startProject({
      declare: {
        project: "failures",
        services: {
          bad: {
            plan_id: 11,
            currency: "USD",
            domain: "bad.acme.example",
            coupon_code: "NOBODY-HAS-IT",
            grants: { "dev@acme.example": "view" },
          },
          good: { plan_id: 11, currency: "USD", domain: "good.acme.example", grants: { "dev@acme.example": "view" } },
        },
      },
    });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('hosting_grant.bad["dev@acme.example"]');
    const { resources } = await project.state();
    // The state keeps only the next Idempotency-Key of the refused order.
    expect(resources.get("hosting_service.bad")).toMatchObject({
      attributes: { id: null },
      private: { generation: 2 },
    });
    expect([...resources.keys()].filter((address) => address !== "hosting_service.bad").sort()).toEqual([
      'hosting_grant.good["dev@acme.example"]',
      "hosting_service.good",
    ]);
    // The diagnostic puts the server's message about a field at that field's line.
    expect(ran.text).toContain("coupon code is not valid");
  });

  it("after the order of a service does not order it again: the password is set in the next run", async () => {
    const declare = {
      project: "failures",
      services: {
        www: {
          plan_id: 11,
          currency: "USD",
          domain: "www.acme.example",
          password: { env: "WWW_PASSWORD" },
          password_version: 1,
        },
      },
    };
    const project = await startProject({ declare, env: { WWW_PASSWORD: "correct horse battery" } });
    project.control.addFault({ method: "POST", path: "/services/:id/password", phase: "before", status: 500 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect(await project.recorded("hosting_service.www")).toMatchObject({ attributes: { id: "1003" } });
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual(["POST /services/1003/password"]);
    await project.expectNoChanges();
  });
});

describe("a state that another program writes meanwhile", () => {
  it("is reported once, with all that is not recorded, and the run ends with 1", async () => {
    const project = await startProject({ declare: hook("https://a.acme.example") });
    await project.apply();
    const more = (name: string) => ({ url: `https://${name}.acme.example`, events: ["invoice.paid"] });
    const webhooks = { billing: more("a"), one: more("one"), two: more("two") };
    await project.declare({ project: "failures", webhooks });
    const text = await project.stateText();
    project.onDelay = () => writeFile(project.statePath, `${text}\n`);
    project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", delayMs: 1 });
    const ran = await project.run("apply", "--auto-approve", "--parallelism", "1");
    expect(ran.code).toBe(1);
    expect(ran.text.match(/\[state\.lost_lock\]/g)).toHaveLength(1);
    // The other webhook was never sent.
    expect(ran.text.match(/^Not in the state: .*/gm)).toEqual([
      expect.stringMatching(/^Not in the state: hosting_webhook\.one \(id \d+\)\.$/),
    ]);
    // The output lists each webhook once. It does not mention the journal, because another run may own it.
    expect(ran.text).toContain("Sent, but the response is not in the state:\n  hosting_webhook.one\n");
    expect(ran.text).toContain("Not started:\n  hosting_webhook.two\n");
    expect(ran.text).not.toMatch(/Outcome unknown|with no known outcome|What was done is recorded|\.journal/);
  });

  it("ends the run: nothing more is sent, reads included", async () => {
    const project = await startProject({ declare: hook("https://a.acme.example") });
    await project.apply();
    const account = { name: "Ana", currency: "USD" as const };
    await project.declare({
      project: "failures",
      webhooks: { billing: { url: "https://b.acme.example", events: ["invoice.paid"] } },
      client_accounts: { ana: account, bo: { ...account, name: "Bo" } },
      services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", suspended: false } },
    });
    const text = await project.stateText();
    // A list that is older than 15 seconds is read again before a create.
    project.onDelay = async () => {
      project.clock.advance(20_000);
      await writeFile(project.statePath, `${text}\n`);
    };
    for (const path of ["/webhooks", "/accounts", "/services"])
      project.control.addFault({ method: "POST", path, phase: "before", delayMs: 1 });
    const ran = await project.run("apply", "--auto-approve", "--parallelism", "1");
    expect(ran.code).toBe(1);
    expect(ran.text.match(/\[state\.lost_lock\]/g)).toHaveLength(1);
    const sent = project.control.requests().map(({ method }) => method);
    expect(sent.slice(sent.lastIndexOf("POST") + 1)).toEqual([]);
    expect(ran.text).toMatch(/Not started:\n(?: {2}\S+\n){3}/);
  });
});

describe("what a replacement left behind", () => {
  it("is deleted too when the new one was removed elsewhere", async () => {
    for (const declared of [hook("https://new.acme.example"), { project: "failures" }]) {
      const project = await startProject({ declare: hook("https://old.acme.example") });
      await project.apply();
      await project.declare(hook("https://new.acme.example"));
      project.control.addFault({ method: "DELETE", path: "/webhooks/:id", phase: "before", status: 403 });
      await project.run("apply", "--auto-approve");
      // List lag has ended.
      project.clock.advance(60_000);
      project.control.remove("webhooks", 202);
      await project.declare(declared);
      await project.apply("--allow-removals");
      const left = "webhooks" in declared ? ["https://new.acme.example"] : [];
      expect(project.control.list("webhooks").map(({ url }) => url)).toEqual(left);
      await project.expectNoChanges();
    }
  });
});
