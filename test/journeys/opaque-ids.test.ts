/**
 * Ids that the API does not specify are opaque: hostform keeps `/`, `:`, `@`, `?`, `#`, `%` and spaces, escapes them
 * in paths, and prints them.
 */
import { describe, expect, it } from "vitest";
import { shellWord } from "../../src/core/model/index.ts";
import { type Project, startProject } from "../support/project.ts";

const GRANT = 'hosting_grant.www["dev@acme.example"]';
const WEBHOOK = "hosting_webhook.billing";
const ACCOUNT = "hosting_client_account.alpha";
const REQUEST = "hosting_migration_request.old";

const declaration = (grant: object = { permission: "view" }) => ({
  project: "opaque",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": grant } },
  },
  webhooks: { billing: { url: "https://hooks.acme.example/", events: ["invoice.paid"] } },
  client_accounts: { alpha: { name: "Alpha" } },
  migration_requests: { old: { domain: "old.example" } },
});

/** An applied project at a host with such ids. */
async function applied(): Promise<Project> {
  const project = await startProject({ declare: declaration(), sandbox: { profile: "record_ids=opaque" } });
  await project.apply();
  await project.expectNoChanges();
  return project;
}

const idOf = async (project: Project, address: string) => String((await project.recorded(address))?.attributes.id);

describe("an opaque id", () => {
  it("is recorded and printed as it is, and escaped in the path of a request", async () => {
    const project = await applied();
    for (const address of [GRANT, WEBHOOK, ACCOUNT, REQUEST]) {
      const id = await idOf(project, address);
      expect(id).toMatch(/^\w+\/\d+:a@b\?c=d&e #f%2Fé$/);
      expect((await project.run("state", "show", address)).out).toContain(JSON.stringify(id));
    }
    const id = await idOf(project, WEBHOOK);
    await project.declare({ ...declaration(), webhooks: {} });
    project.control.clearRequests();
    await project.apply();
    expect(project.control.requests().filter(({ method }) => method === "DELETE")).toMatchObject([
      { path: `/api/v1/webhooks/${encodeURIComponent(id)}` },
    ]);
    expect(project.control.list("webhooks")).toEqual([]);
  });

  it.each([GRANT, WEBHOOK, ACCOUNT, REQUEST])(
    "of %s is imported by the command that the plan prints",
    async (address) => {
      const project = await applied();
      const id = await idOf(project, address);
      expect((await project.run("state", "rm", address)).code).toBe(0);
      const importId = address === GRANT ? `${await idOf(project, "hosting_service.www")}/${id}` : id;
      expect((await project.run("plan")).text).toContain(`hostform import '${address}' ${shellWord(importId)}`);
      expect((await project.run("import", address, importId)).code).toBe(0);
      expect(await idOf(project, address)).toBe(id);
      await project.expectNoChanges();
    },
  );

  it("of a grant may stand alone in the block of its service, and leads back from there", async () => {
    const project = await applied();
    const id = await idOf(project, GRANT);
    const service = await idOf(project, "hosting_service.www");
    for (const named of [id, `${service}/${id}`]) {
      await project.run("state", "rm", GRANT);
      await project.declare(declaration({ permission: "view", import: named }));
      const exported = await project.run("export");
      expect(exported.out).toContain(`id = ${JSON.stringify(`${service}/${id}`)}`);
      await project.apply();
      expect(await idOf(project, GRANT)).toBe(id);
      await project.expectNoChanges();
    }
    await project.run("state", "rm", GRANT);
    expect((await project.run("import", GRANT, id)).code).toBe(0);
    expect((await project.run("import", WEBHOOK, "999/1")).code).toBe(1);
    await project.run("state", "rm", GRANT);
    expect((await project.run("import", GRANT, "999/1")).text).toContain(
      `is declared with service_id ${service}, not 999`,
    );
  });

  it("stays when its address changes", async () => {
    const project = await applied();
    const id = await idOf(project, ACCOUNT);
    const moved = await project.run("state", "mv", ACCOUNT, "hosting_client_account.beta");
    expect(moved.code, moved.text).toBe(0);
    expect(await idOf(project, "hosting_client_account.beta")).toBe(id);
  });
});
