/** `hostform resolve` in a folder in which the real Terraform runs: what the user decides is in the state, and the next apply obeys. */
import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { httpBackend, pgBackend } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES, TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform, type TerraformOptions } from "../support/terraform.ts";

let postgres: Postgres | undefined;
beforeAll(async () => {
  if (TERRAFORM.path !== undefined && POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

/** `a` reaches the host and its answer is lost; `b` never arrives. */
const GRANT = (name: string) =>
  `resource "hosting_grant" "${name}" {\n  service_id = data.hosting_services.all.services[0].id\n  email = "${name}@acme.example"\n  permission = "view"\n}\n`;
const SERVICES = `data "hosting_services" "all" {}\n`;
const SERVICE = (name: string) =>
  `resource "hosting_service" "${name}" {\n  plan_id = 11\n  currency = "USD"\n  domain = "${name}.example"\n}\n`;
const DOMAIN = (name: string) =>
  `resource "hosting_domain" "${name}" {\n  domain = "${name}-acme.com"\n  years = 1\n  currency = "USD"\n  nameserver_mode = "hosting"\n  registrant_contact = { email = "a@acme.example" }\n}\n`;

interface Kind {
  readonly type: string;
  readonly list: "grants" | "services" | "domains";
  readonly path: string;
  readonly declared: (name: string) => string;
  readonly shared: string;
}

const KINDS: readonly Kind[] = [
  { type: "hosting_grant", list: "grants", path: "/services/*/grants", declared: GRANT, shared: SERVICES },
  { type: "hosting_service", list: "services", path: "/services", declared: SERVICE, shared: "" },
  { type: "hosting_domain", list: "domains", path: "/domains", declared: DOMAIN, shared: "" },
];

/** Two creates without an outcome: `a` created its object, `b` did not. The account answers nothing more during the apply. */
async function twoPending(kind: Kind, options: TerraformOptions = {}): Promise<Terraform> {
  const terraform = await startTerraform({ rate: 100, ...options });
  terraform.control.seedServices({ count: 1 });
  await terraform.write(kind.shared + kind.declared("a"));
  terraform.control.addFault({ method: "POST", path: kind.path, phase: "after", drop: true, times: 9 });
  const first = await terraform.apply();
  expect(first.code, first.text).toBe(1);
  return terraform;
}

const addressesIn = async (terraform: Terraform) =>
  (await terraform.well("state", "list")).trim().split("\n").filter((line) => line !== "" && !line.startsWith("data."));

const count = (terraform: Terraform, { list }: Kind) => terraform.control.list(list).length;
