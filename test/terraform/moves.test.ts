/** `moved` blocks from resources of other providers, by the real Terraform. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const REST = "registry.terraform.io/mastercard/restapi";
const NULL = "registry.terraform.io/hashicorp/null";
const BUILTIN = "terraform.io/builtin/terraform";

interface Source {
  readonly type: string;
  readonly provider: string;
  readonly attributes: object;
  readonly status?: "tainted";
}

/** A state with one resource of another provider. Serves these providers as well: Terraform starts them, and asks them nothing. */
async function moving({ type, provider, ...instance }: Source, to: string, body: string): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  const served = JSON.parse(terraform.env.TF_REATTACH_PROVIDERS ?? "{}");
  const [own] = Object.values(served);
  // OpenTofu looks for both in its own registry.
  const sources = [REST, NULL].flatMap((source) => [source, source.replace("terraform.io", "opentofu.org")]);
  const others = Object.fromEntries(sources.map((source) => [source, own]));
  terraform.env.TF_REATTACH_PROVIDERS = JSON.stringify({ ...served, ...others });
  await terraform.write(
    JSON.stringify({
      version: 4,
      terraform_version: "1.5.0",
      serial: 1,
      lineage: "0b8c1f6e-6e0c-4e0f-9f0e-1d2c3b4a5f60",
      outputs: {},
      resources: [
        {
          mode: "managed",
          type,
          name: "old",
          provider: `provider["${provider}"]`,
          instances: [{ schema_version: 0, sensitive_attributes: [], ...instance }],
        },
      ],
    }),
    "terraform.tfstate",
  );
  await terraform.write(
    `moved {\n  from = ${type}.old\n  to = ${to}\n}\nresource "${to.replace(".", '" "')}" {\n${body}\n}\n`,
  );
  return terraform;
}

/** State of a restapi_object, as version 3 of its provider writes it. */
const rest = (path: string, id: string): Source => ({
  type: "restapi_object",
  provider: REST,
  attributes: {
    path,
    id,
    data: "{}",
    api_data: { id, status: "active" },
    api_response: JSON.stringify({ data: { id: Number(id) } }),
    create_response: null,
    read_search: null,
  },
});

const triggers = (values: object | null): Source => ({
  type: "null_resource",
  provider: NULL,
  attributes: { id: "8674665223082153551", triggers: values },
});

const data = (input: unknown, type: unknown): Source => ({
  type: "terraform_data",
  provider: BUILTIN,
  attributes: { id: "f6a0b6ba", input: { value: input, type }, output: { value: input, type }, triggers_replace: null },
});

const SITE = "hosting_service.site";
const service = (more = "") => `plan_id = 11\ncurrency = "USD"\ndomain = "moved-00001.example"\n${more}`;

describeWith(TERRAFORM)("a moved block", { timeout: 120_000 }, () => {
  it.each([
    ["restapi_object", (id: string) => rest("/api/v1/services", id)],
    ["null_resource", (id: string) => triggers({ id })],
    ["terraform_data", (id: string) => data({ id }, ["object", { id: "string" }])],
  ])("from %s adopts the service: the plan only moves it, and the next plan is empty", async (type, source) => {
    const terraform = await moving(source("1003"), SITE, service());
    terraform.control.seedServices({ domain_prefix: "moved" });
    const planned = await terraform.plan();
    expect(planned.diagnostics).toEqual([]);
    expect(planned.changes).toEqual({ [SITE]: "move" });
    const { resource_changes: changes } = await terraform.shownPlan();
    expect(changes).toMatchObject([
      { address: SITE, previous_address: `${type}.old`, change: { actions: ["no-op"], after: { id: "1003" } } },
    ]);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([]);
    expect([...terraform.state().keys()]).toEqual([SITE]);
    expect(terraform.attributes(SITE)).toMatchObject({ id: "1003", suspended: null, deletion_policy: "prevent" });
    await terraform.expectNoChanges();
  });

  it("moves a suspended service without a request, and later changes only what is declared", async () => {
    const terraform = await moving(triggers({ id: "1003" }), SITE, service());
    terraform.control.seedServices({ domain_prefix: "moved", status: "suspended" });
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.change("main.tf", (text) => text.replace("plan_id", "suspended = false\nplan_id"));
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /services/1003/unsuspend"]);
  });

  it("moves a grant from the path of its service", async () => {
    const terraform = await moving(
      rest("/api/v1/services/1003/grants", "1"),
      "hosting_grant.team",
      'service_id = "1003"\nemail = "dev@acme.example"\npermission = "view"',
    );
    const [site] = terraform.control.seedServices();
    const grant = { service_id: site?.id ?? 0, email: "dev@acme.example", permission: "view" } as const;
    const made = terraform.control.create("grants", grant);
    await terraform.change("terraform.tfstate", (text) => text.replace('"id":"1"', `"id":"${made.id}"`));
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
  });

  it.each<[string, Source, string]>([
    ["another kind", rest("/api/v1/webhooks", "1003"), "The restapi_object does not manage a service"],
    ["an object that does not exist", triggers({ id: "999999" }), "service 999999 does not exist"],
    ["no id", triggers({ always: "2026-01-01" }), "The state of null_resource does not contain the id of a service"],
  ])("of %s is refused, sends nothing and leaves the state as it is", async (_, source, summary) => {
    const terraform = await moving(source, SITE, service());
    terraform.control.seedServices({ domain_prefix: "moved" });
    const { errors } = await terraform.refused();
    expect(errors.map((one) => one.summary)).toEqual([summary]);
    expect([...terraform.state().keys()]).toEqual([`${source.type}.old`]);
  });

  it("of a tainted object orders no second service", async () => {
    const terraform = await moving({ ...triggers({ id: "1003" }), status: "tainted" }, SITE, service());
    terraform.control.seedServices({ domain_prefix: "moved" });
    await terraform.refused();
  });

  it("needs a refresh", async () => {
    const terraform = await moving(triggers({ id: "1003" }), SITE, service());
    terraform.control.seedServices({ domain_prefix: "moved" });
    const { errors } = await terraform.refused("-refresh=false");
    expect(errors.map((one) => one.summary)).toEqual([
      "service 1003 was moved from another provider, and must be read first",
    ]);
  });
});
