import { Testing } from "cdktf";
import { ClientAccount, Grant, MigrationRequest, Service } from "hostform/cdktf";
import { describe, expect, it } from "vitest";
import { agency } from "./agency.ts";
import { clients } from "./clients.ts";
import "./matchers.ts";

const app = () => Testing.app();
const stacks = agency(app());
const synthesized = (name: keyof typeof stacks) => Testing.synth(stacks[name], true);
const production = synthesized("production");
const count = (text: string, type: string) => Object.keys(JSON.parse(text).resource[type] ?? {}).length;

describe("production", () => {
  it("has an account for every client, and every site", () => {
    expect(count(production, ClientAccount.tfResourceType)).toBe(clients.length);
    const sites = clients.flatMap((client) => client.sites);
    expect(count(production, Service.tfResourceType)).toBe(sites.length);
  });

  it("suspends the sites of those who did not pay, and of nobody else", () => {
    const services: { suspended?: boolean; domain?: string }[] = Object.values(
      JSON.parse(production).resource.hosting_service,
    );
    expect(services.filter(({ suspended }) => suspended).map(({ domain }) => domain)).toEqual(["www.hazel.example"]);
  });

  it("orders a server under the path of its construct", () => {
    expect(production).toHaveResourceWithProperties(Service, {
      reference: "production/poti-port/tracking",
      plan_id: 32,
    });
  });

  it("moves what is moved from elsewhere", () => {
    expect(count(production, MigrationRequest.tfResourceType)).toBe(3);
    expect(production).toHaveResourceWithProperties(MigrationRequest, { questions: { source: "plesk" } });
  });

  it("has passwords from variables alone", () => {
    expect(production).toHaveResourceWithProperties(Service, { password: "${var.nino_password}", password_version: 1 });
    expect(JSON.parse(production).variable.nino_password).toMatchObject({ sensitive: true, ephemeral: true });
  });
});

it("staging has a copy of what is staged", () => {
  const services: { domain: string }[] = Object.values(JSON.parse(synthesized("staging")).resource.hosting_service);
  const domains = services.map(({ domain }) => domain);
  expect(domains.toSorted()).toEqual([
    "shop.acme.staging.agency.example",
    "shop.elbrus.staging.agency.example",
    "shop.imereti.staging.agency.example",
  ]);
});

it("the build server is shared across the stacks", () => {
  // A reference across stacks is made when the stack is prepared, as app.synth() does.
  const { production: stack } = agency(app());
  stack.prepareStack();
  const text = Testing.synth(stack, true);
  expect(text).toHaveResourceWithProperties(Grant, { email: "deploy-production@agency.example" });
  expect(text).toContain("cross-stack-reference-input-development");
});
