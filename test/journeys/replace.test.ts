/** `--replace ADDRESS` replaces a resource that can be created and deleted, for example a webhook for a new secret. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const DECLARED = {
  project: "acme",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": "view" } },
  },
  webhooks: {
    paid: { url: "https://hooks.example/paid", events: ["invoice.paid"], secret_output: { file: "secret" } },
    other: { url: "https://hooks.example/other", events: ["invoice.paid"] },
  },
  client_accounts: { alpha: { name: "Alpha", deletion_policy: "forget" } },
};
const GRANT = 'hosting_grant.www["dev@acme.example"]';

async function applied() {
  const project = await startProject({ declare: DECLARED });
  await project.apply();
  project.sent();
  const secret = () => readFile(path.join(project.dir, "secret"), "utf8");
  return { project, secret };
}

describe("apply --replace", () => {
  it("rotates the secret of a webhook without a gap: the new one is created before the old one is deleted", async () => {
    const { project, secret } = await applied();
    const [before, old] = [project.control.list("webhooks"), await secret()];
    const ran = await project.run("apply", "--auto-approve", "--replace", "hosting_webhook.paid");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("replaced on purpose");
    expect(project.changesSent().map((line) => line.split(" ")[0])).toEqual(["POST", "DELETE"]);
    const after = project.control.list("webhooks");
    expect(after).toHaveLength(2);
    const [kept, made] = ["other", "paid"].map((name) => after.find(({ url }) => url.endsWith(name)));
    expect(before).toContainEqual(kept);
    expect(before.map(({ id }) => id)).not.toContain(made?.id);
    expect(await secret()).not.toBe(old);
    expect((await secret()).trim()).toBe(made?.secret);
    await project.expectNoChanges();
  });

  it("revokes a grant and grants it again, and replaces several at once", async () => {
    const { project } = await applied();
    const ids = () => [...project.control.list("grants"), ...project.control.list("webhooks")].map(({ id }) => id);
    const before = ids();
    const flags = [GRANT, "hosting_webhook.paid", "hosting_webhook.other"].flatMap((one) => ["--replace", one]);
    await project.apply(...flags);
    expect(ids()).toHaveLength(3);
    expect(ids().filter((id) => before.includes(id))).toEqual([]);
    await project.expectNoChanges();
  });

  it("is kept by a saved plan, and shown by its reports", async () => {
    const { project } = await applied();
    const planned = await project.run("plan", "--replace", "hosting_webhook.other", "--out", "acme.plan");
    expect(planned.code, planned.text).toBe(0);
    expect(planned.out).toContain("Plan: 1 to add, 0 to change, 1 to destroy");
    const json = await project.run("plan", "--json", "--replace", "hosting_webhook.other");
    expect(JSON.parse(json.out).resource_changes).toContainEqual(
      expect.objectContaining({ address: "hosting_webhook.other", action_reason: "replace_by_request" }),
    );
    project.sent();
    const ran = await project.run("apply", "acme.plan", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(project.changesSent()).toHaveLength(2);
  });

  it.each([
    ["--replace", "hosting_service.www", "the API cannot delete a service"],
    ["--reorder", "hosting_service.www", "its service still exists"],
  ])("%s %s is an error before anything is sent", async (flag, address, why) => {
    const { project } = await applied();
    const ran = await project.run("apply", "--auto-approve", flag, address);
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text).toContain(why);
    expect(ran.text).toContain("[plan.unfit]");
    expect(project.changesSent()).toEqual([]);
  });

  it("of what is not in the account, or not in the plan, is an error", async () => {
    const { project } = await applied();
    const [{ id } = { id: 0 }] = project.control.list("webhooks");
    project.control.remove("webhooks", id);
    const ran = await project.run("plan", "--replace", "hosting_webhook.paid", "--target", "hosting_webhook.other");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text).toContain("the plan has no existing webhook at this address");
    const unknown = await project.run("plan", "--replace", "hosting_webhook.pai");
    expect(unknown.err).toContain("Did you mean");
  });
});

it("a replacement whose answer was lost and whose edit is reverted is finished first; the next apply goes back", async () => {
  const hook = (name: string) => ({
    project: "acme",
    webhooks: { paid: { url: `https://hooks.example/${name}`, events: ["invoice.paid"] } },
  });
  const project = await startProject({ declare: hook("one") });
  await project.apply();
  const shown = () => project.control.list("webhooks").map(({ url }) => url.slice(-3));
  await project.declare(hook("two"));
  project.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true, times: 9 });
  expect((await project.run("apply", "--auto-approve")).code).toBe(1);
  project.control.clearFaults();
  await project.declare(hook("one"));
  project.clock.advance(300_000);
  await project.apply();
  expect(shown()).toEqual(["two"]);
  await project.apply();
  expect(shown()).toEqual(["one"]);
  await project.expectNoChanges();
});
