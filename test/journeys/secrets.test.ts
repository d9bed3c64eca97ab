import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const SECRET_ATTRIBUTE = "${hosting_webhook.billing.secret}";
const declaration = (questions: object) => ({
  project: "secrets",
  webhooks: { billing: { url: "https://hooks.acme.example", events: ["invoice.paid"] } },
  migration_requests: { acme: { domain: "acme.example", questions, deletion_policy: "forget" } },
});

describe("a secret that flows into an attribute of another resource", () => {
  it("is sent, recorded as secret, and shown nowhere", async () => {
    const project = await startProject({ declare: declaration({ source: "ftp", callback_key: SECRET_ATTRIBUTE }) });
    const applied = await project.run("apply", "--auto-approve");
    expect(applied.code).toBe(0);
    const secret = String((await project.recorded("hosting_webhook.billing"))?.attributes.secret);
    expect(secret.length).toBeGreaterThan(10);
    const request = project.control
      .requests()
      .find(({ method, path }) => method === "POST" && path.endsWith("/migration-requests"));
    expect(JSON.stringify(request?.body)).toContain(secret);
    expect((await project.recorded("hosting_migration_request.acme"))?.sensitive).toEqual(["questions"]);

    const shown = [applied.text];
    const show = async (...args: string[]) => shown.push((await project.run(...args)).text);
    await show("plan");
    await show("plan", "--json");
    await show("state", "show", "hosting_migration_request.acme");
    await show("state", "show", "hosting_migration_request.acme", "--json");
    // A declaration without the secret: the message does not repeat the former secret.
    await project.declare(declaration({ source: "ftp" }));
    await show("plan");
    expect(shown.at(-1)).toContain("plan.immutable");
    await show("plan", "--json");
    await project.declare({ ...declaration({}), migration_requests: {} });
    await show("plan");
    await show("apply", "--auto-approve");
    for (const text of shown) expect(text).not.toContain(secret);
    expect(shown.join("")).toContain("(sensitive value)");
  });

  it("is not repeated by the message that it does not fit", async () => {
    const project = await startProject({ declare: declaration({ source: "ftp" }) });
    await project.apply();
    const secret = String((await project.recorded("hosting_webhook.billing"))?.attributes.secret);
    await project.declare({
      ...declaration({ source: "ftp" }),
      services: { a: { plan_id: 11, currency: "USD", domain: SECRET_ATTRIBUTE } },
    });
    const ran = await project.run("plan");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("comes from a sensitive source: hosting_webhook.billing.secret [config.sensitive]");
    expect(ran.text).not.toContain(secret);
  });
});
