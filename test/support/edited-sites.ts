/** A declaration that commands edit: three clients with one template, and a webhook. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Project, startProject } from "./project.ts";

export const SITES = `# All sites.
project: agency

defaults:
  services: { currency: USD, deletion_policy: suspend }

templates:
  site:
    parameters:
      domain:
    plan_id: 11
    domain: \${domain}
    grants:
      dev@agency.example: manage

services:
  acme: { template: site, with: { domain: acme.example }, client: acme }
  # Pays late.
  bakery:
    template: site
    with:
      domain: bakery.example # main
    client: bakery
  cafe: { template: site, with: { domain: cafe.example }, client: cafe }
`;
const HOOKS = `webhooks:
  billing:
    url: https://hooks.agency.example/in
    events: [invoice.created]
`;

/** Returns the text of a file. */
export const text = (project: Project, file = "hosting.yaml") => readFile(path.join(project.dir, file), "utf8");

/** Starts an applied project with paid invoices. */
export async function applied(sandbox = {}, env = {}): Promise<Project> {
  const project = await startProject({ declare: SITES, sandbox, env });
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
  await project.declare(HOOKS, "hooks.hosting.yaml");
  await project.run("apply", "--auto-approve", "--no-wait");
  for (const { id, status } of project.control.list("invoices"))
    if (status === "unpaid") project.control.payInvoice(id);
  project.clock.advance(60_000);
  await project.apply();
  project.changesSent();
  return project;
}
