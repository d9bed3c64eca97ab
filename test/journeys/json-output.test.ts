/** Runs each command with `--json`. The support module checks each document with its schema. */
import { cp, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { signatureOf } from "../../src/webhooks/index.ts";
import { CHECKED, DEFINITIONS } from "../support/output-schema.ts";
import { type Project, startProject } from "../support/project.ts";

/** Definitions that other suites check. These commands run until a signal, or need a database or a second process. */
const ELSEWHERE = ["fleet-check", "notify-test", "sandbox", "sandbox-redeliver", "state-migrate", "webhooks-listen"];

const KEY = Buffer.alloc(32, 1).toString("base64");
const SECRET = "whsec_0123456789abcdef0123456789abcdef";
const BODY = JSON.stringify({ event: "invoice.paid", timestamp: "2026-11-22T08:05:24Z", data: { invoice: { id: 1 } } });

const DECLARED = `project: acme
templates:
  site:
    parameters: { domain: }
    plan_id: 11
    currency: USD
    domain: www.\${domain}
    client: \${name}
    grants: { dev@agency.example: manage }
    deletion_policy: forget
services:
  acme: { template: site, with: { domain: acme.example } }
  shop: { template: site, with: { domain: shop.example } }
webhooks:
  hook: { url: "https://hooks.acme.example/in", events: [invoice.paid] }
outputs:
  id: \${hosting_service.acme.id}
`;

/** Runs a command with `--json`, and expects its exit code. */
async function run(project: Project, ...args: string[]): Promise<string> {
  const ran = await project.run(...args, "--json");
  expect(ran.code, `${args.join(" ")}: ${ran.text}`).toBe(0);
  return ran.out;
}

it("each command prints documents that match its schema", async () => {
  // Other suites of this process also check documents.
  CHECKED.clear();
  const project = await startProject();
  const { control, dir, env } = project;
  env.HOSTING_SANDBOX_CONTROL_URL = project.sandbox.controlUrl;
  const at = (...words: string[]) => run(project, ...words);

  await at("init", "--project", "acme", "--base-url", project.sandbox.url);
  await at("schema", "editor.json");
  await at("version");
  await project.declare(DECLARED);
  await at("validate");
  await at("fmt");
  await at("plan", "--out", "acme.plan");
  await at("show", "acme.plan");
  await at("rehearse", "acme.plan", "--months", "1");
  await at("apply", "acme.plan");
  await at("plan", "--out", "same.plan");
  const messages = (await at("apply", "same.plan")).trim().split("\n");
  const types = messages.map((line) => JSON.parse(line)).map(({ type, changes }) => changes?.operation ?? type);
  expect(types).toEqual(["version", "plan", "outputs", "apply"]);
  await at("watch", "--max-runs", "1");
  await at("plan", "--replace", "hosting_webhook.hook", "--target", "hosting_webhook.hook");
  project.clock.advance(60_000);
  await at("show");
  await at("status");
  await at("audit");
  await at("doctor");
  await at("export");
  await at("export", "--out", "hosting.tf");
  await at("terraform", "install", "--mirror", "mirror");
  await at("output");
  await at("output", "id");
  await at("resolve");
  await at("history");

  for (const words of [["plans"], ["services"], ["invoices"], ["webhooks"], ["accounts"], ["migrations"]])
    await at(...words);
  await at("grants", "hosting_service.acme");
  await at("domains", "check", "free.example");
  env.PASSWORD = "correct horse battery";
  await at("password", "hosting_service.acme", "--password-env", "PASSWORD");
  await at("sso", "hosting_service.acme");
  await writeFile(path.join(dir, "body.json"), BODY);
  env.HOOK = SECRET;
  await at("webhooks", "verify", "body.json", "--secret-env", "HOOK", "--signature", signatureOf(BODY, SECRET));
  const invoice = control.list("invoices").find(({ customer_id }) => customer_id === 1);
  await at("sandbox", "trigger", "invoice.paid", "--invoice", String(invoice?.id));
  await at("sandbox", "deliveries");

  const edits = [
    ["suspend", "www.acme.example"],
    ["unsuspend", "www.acme.example"],
    ["remove", "hosting_webhook.hook"],
    ["rename", "hosting_webhook.hook", "billing"],
    ["hand-over", "shop"],
    ["add", "new.example", "--template", "site"],
    ["revoke", "dev@agency.example"],
    ["accept", "hosting_webhook.hook"],
  ];
  for (const words of edits) await at("edit", ...words, "--dry-run");
  await at("project", "split", "client:shop", "other");
  await at("project", "join", "other");
  await cp(path.resolve("examples/policies"), path.join(dir, "policies"), { recursive: true });
  await at("policy", "test", "policies/agency/cases.yaml");

  await at("state", "list");
  await at("state", "show", "hosting_webhook.hook", "--reveal");
  await at("state", "mv", "hosting_service.acme", "hosting_service.moved");
  await at("state", "mv", "hosting_service.moved", "hosting_service.acme");
  const webhook = JSON.parse(await at("state", "list")).find(({ address }: { address: string }) =>
    /webhook/.test(address),
  );
  await at("state", "rm", "hosting_webhook.hook");
  await at("import", "hosting_webhook.hook", webhook.id);
  await writeFile(path.join(dir, "copy.tfstate"), (await project.stateText()) ?? "");
  await at("state", "push", "copy.tfstate", "--force");
  await at("force-unlock", "--yes");
  env.HOSTFORM_STATE_KEY = KEY;
  await at("state", "encrypt");
  env.HOSTFORM_STATE_NEW_KEY = Buffer.alloc(32, 2).toString("base64");
  await at("state", "rotate-key");
  env.HOSTFORM_STATE_KEY = env.HOSTFORM_STATE_NEW_KEY;
  await at("state", "decrypt");
  for (const name of ["HOSTFORM_STATE_KEY", "HOSTFORM_STATE_NEW_KEY"]) delete env[name];
  await at("history", "prune", "--before", "2026-01-01");

  await at("mandate", "key", "ana.pem");
  env.HOSTFORM_MANDATE_KEY_FILE = "ana.pem";
  await at("mandate", "create", "acme.plan", "--out", "acme.mandate");
  await at("mandate", "revoke", "acme.mandate");
  await at("mandate", "list");
  await at("mandate", "receipts");

  await project.declare({ fleet: "agency", projects: [{ path: "." }] }, "fleet.yaml");
  await at("fleet", "plan");
  await at("fleet", "status");
  await at("fleet", "apply", "--auto-approve");
  await at("adopt", "--dry-run");
  await at("destroy", "--auto-approve", "--allow-removals");
  expect((await project.run("plan", "--file", "none.yaml", "--json")).code).toBe(1);

  const documented = [...DEFINITIONS].filter((name) => /^[a-z-]+$/.test(name));
  expect(documented.filter((name) => !CHECKED.has(name)).sort()).toEqual(ELSEWHERE);
});
