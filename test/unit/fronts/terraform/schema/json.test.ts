import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { catalogue, catalogueJson } from "../../../../../src/fronts/terraform/catalogue.ts";
import { PROVIDER_ADDRESS } from "../../../../../src/fronts/terraform/package.ts";

const written = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, "../../../../../schemas/provider.json"), "utf8"),
);
const provider = written.provider_schemas[PROVIDER_ADDRESS];

describe("schemas/provider.json", () => {
  it("is current", () => {
    expect(written).toEqual(JSON.parse(JSON.stringify(catalogueJson(catalogue))));
  });

  it("holds what the provider is to have", () => {
    expect(Object.keys(provider.resource_schemas)).toEqual([...kinds.keys()].sort());
    expect(Object.keys(provider.data_source_schemas)).toEqual([
      "hosting_client_accounts",
      "hosting_domain_availability",
      "hosting_grants",
      "hosting_invoice",
      "hosting_invoices",
      "hosting_migration_request",
      "hosting_migration_requests",
      "hosting_plan",
      "hosting_plans",
      "hosting_service",
      "hosting_services",
      "hosting_webhooks",
    ]);
    expect(Object.keys(provider.ephemeral_resource_schemas)).toEqual(["hosting_panel_sso"]);
    expect(provider.functions.webhook_signature).toMatchObject({
      return_type: "string",
      parameters: [
        { name: "body", type: "string" },
        { name: "secret", type: "string" },
      ],
    });
  });

  it("names no version, so that bindings made from it pin none", () => {
    expect(Object.keys(written)).toEqual(["format_version", "provider_schemas"]);
  });

  it("leaves out whatever is false, as Terraform does", () => {
    const { attributes } = provider.resource_schemas.hosting_service.block;
    expect(attributes.password).toEqual({
      type: "string",
      description: expect.stringContaining("Control-panel password"),
      description_kind: "markdown",
      optional: true,
      sensitive: true,
      write_only: true,
    });
    expect(attributes.timeouts.nested_type).toMatchObject({ nesting_mode: "single" });
    expect(attributes.timeouts).not.toHaveProperty("type");
    expect(provider.resource_schemas.hosting_webhook.block.attributes.events.type).toEqual(["set", "string"]);
  });
});
