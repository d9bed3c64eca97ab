import { Testing } from "cdktf";
import { Grant, HostedSite, HostingProvider, MigrationRequest, Service, Webhook } from "hostform/cdktf";
import { describe, expect, it } from "vitest";
import "./matchers.ts";
import { SiteStack } from "./site-stack.ts";

describe("the stack", () => {
  // `true`: with the validations, as `node main.ts` runs them.
  const synthesized = Testing.synth(new SiteStack(Testing.app(), "site"), true);

  it("orders the site for a year, and keeps it", () => {
    expect(synthesized).toHaveResourceWithProperties(Service, {
      domain: "www.acme.example",
      term: 12,
      deletion_policy: "prevent",
      lifecycle: { prevent_destroy: true },
    });
  });

  it("shares it with two people", () => {
    const { hosting_grant: grants } = JSON.parse(synthesized).resource;
    expect(Object.values(grants)).toHaveLength(2);
    expect(synthesized).toHaveResourceWithProperties(Grant, { email: "dev@acme.example", permission: "manage" });
  });

  it("moves no website", () => {
    expect(synthesized).not.toHaveResource(MigrationRequest);
  });

  it("keeps the signing secret out of the state, and the token out of the file", () => {
    expect(synthesized).toHaveResourceWithProperties(Webhook, {
      secret_output: { env_file: expect.objectContaining({ name: "BILLING_SECRET" }) },
    });
    expect(synthesized).toHaveProviderWithProperties(HostingProvider, { project: "acme" });
    expect(synthesized).not.toContain("token");
  });
});

it("an error names the path of its construct", () => {
  const stack = new SiteStack(Testing.app(), "site");
  new HostedSite(stack, "shop", { planId: 11, currency: "USD", domain: "acme" });
  expect(() => Testing.synth(stack, true)).toThrow('[site/shop] domain: "acme" is not a domain name');
});
