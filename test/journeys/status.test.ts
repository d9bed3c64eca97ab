import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const site = (name: string, over: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.example`,
  ...over,
});

it("try", async () => {
  const project = await startProject({
    declare: {
      project: "agency",
      services: {
        a: site("a", { client: "acme", grants: { "dev@acme.example": "manage" } }),
        b: site("b", { client: "borjomi" }),
        c: site("c", { client: "acme" }),
      },
      webhooks: { hook: { url: "https://hooks.acme.example/x", events: ["invoice.paid"] } },
      domains: {
        acme: {
          domain: "acme.example",
          years: 1,
          currency: "USD",
          nameserver_mode: "default",
          registrant_contact: {
            first_name: "Ana",
            last_name: "Acme",
            email: "ana@acme.example",
            phone: "+995.322000000",
            address: "1 Rustaveli Ave",
            city: "Tbilisi",
            postcode: "0108",
            country: "GE",
          },
        },
      },
    },
    sandbox: { autoPay: true },
    env: { HOSTING_MONEY_SCALE: "2" },
  });
  await project.apply();
  project.control.seedServices({ count: 2, plan_id: 12, domain_prefix: "stray" });
  project.control.suspendService(Number((await project.recorded("hosting_service.a"))?.attributes.id));
  project.sent();
  const ran = await project.run("status");
  appendFileSync(
    "/tmp/40-a/out.txt",
    [ran.code, ran.text, project.sent().map((one) => `${one.method} ${one.path}`)].join("\n"),
  );
  for (const args of [
    ["audit", "--full"],
    ["status", "--format", "markdown"],
    ["status", "--section", "services", "--format", "csv"],
    ["status", "--target", "client:acme"],
  ]) {
    const out = await project.run(...args);
    appendFileSync("/tmp/40-a/out.txt", [args, out.code, out.text].join("\n"));
  }
});
