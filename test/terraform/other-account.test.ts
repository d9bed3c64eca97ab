/**
 * The identity of the account in Terraform: each instance carries its address and anchors, and a Read in another
 * account refuses.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import type { AccountMark } from "../../src/core/model/index.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const CONFIG = `
provider "hosting" {
  project = "acme"
}
resource "hosting_service" "www" {
  plan_id  = 11
  currency = "USD"
  domain   = "www.acme.example"
}
resource "hosting_service" "shop" {
  plan_id  = 11
  currency = "USD"
  domain   = "shop.acme.example"
}
resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/billing"
  events = ["invoice.paid"]
}
resource "hosting_webhook" "chat" {
  url    = "https://hooks.acme.example/chat"
  events = ["invoice.paid"]
}
`;

const stateOf = ({ dir }: Terraform) => path.join(dir, "terraform.tfstate");

/** Applies and refreshes once, so that each instance knows the lists. */
async function applied(): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  await terraform.write(CONFIG);
  await terraform.applied();
  await terraform.believeLists();
  await terraform.run("apply", "-refresh-only", "-auto-approve");
  return terraform;
}

async function marksOf(terraform: Terraform) {
  const { resources } = JSON.parse(await readFile(stateOf(terraform), "utf8"));
  return resources.map(({ instances: [{ private: mark }] }: { instances: [{ private: string }] }) =>
    JSON.parse(Buffer.from(mark, "base64").toString("utf8")),
  );
}

/** A host that has none of the state's objects. */
async function elsewhere(from: Terraform): Promise<Terraform> {
  const other = await startTerraform({ install: "running" });
  await other.write(CONFIG);
  await other.run("init");
  await writeFile(stateOf(other), await readFile(stateOf(from), "utf8"));
  other.believeLists();
  return other;
}

describeWith(TERRAFORM)("another account in Terraform", { timeout: 120_000 }, () => {
  it("is refused by plan and apply at a host that has none of the objects, and the state stays", async () => {
    const terraform = await applied();
    const marks = (await marksOf(terraform)).map(({ account }: { account: AccountMark }) => account);
    expect(new Set(marks.map(({ origin }: AccountMark) => origin))).toEqual(new Set(["http://localhost"]));
    // The lists were empty when the first object was created.
    expect(marks.filter(({ anchors }: AccountMark) => anchors.length > 0).length).toBeGreaterThan(0);
    const other = await elsewhere(terraform);
    const state = await readFile(stateOf(other), "utf8");
    for (const command of [["plan"], ["apply", "-auto-approve"], ["destroy", "-auto-approve"]]) {
      const ran = await other.run(...command, "-no-color");
      expect(ran.code, ran.text).toBe(1);
      expect(ran.text).toContain("leads to another account");
      expect(ran.text).toContain("HOSTFORM_ACCOUNT_MOVED=1");
      expect(await readFile(stateOf(other), "utf8")).toBe(state);
    }
    expect(other.control.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("is refused with another token of the same host, and is accepted after a look", async () => {
    const terraform = await applied();
    for (const { id } of terraform.control.list("webhooks")) terraform.control.remove("webhooks", id);
    for (const { id } of terraform.control.list("services").filter(({ customer_id }) => customer_id === 1))
      terraform.control.remove("services", id);
    const ran = await terraform.run("plan", "-no-color");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text).toContain("none of them");
    terraform.env.HOSTFORM_ACCOUNT_MOVED = "1";
    const moved = await terraform.run("plan", "-no-color");
    expect(moved.text).not.toContain("leads to another account");
    expect(moved.code, moved.text).toBe(0);
  });

  it("is refused with another token right after the first apply of one service", async () => {
    const [config = ""] = CONFIG.split('resource "hosting_service" "shop"');
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(config);
    await terraform.applied();
    await terraform.believeLists();
    await terraform.write(`${config}
resource "hosting_service" "new" {
  plan_id  = 11
  currency = "USD"
  domain   = "new.acme.example"
}
`);
    const before = terraform.control.requests().length;
    terraform.env.HOSTING_TOKEN = terraform.sandbox.tokens.customer;
    const ran = await terraform.run("apply", "-auto-approve", "-no-color");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text.replaceAll(/\s*│?\s+/g, " ")).toContain(
      `The provider (${terraform.sandbox.url}, token from HOSTING_TOKEN) leads to another account`,
    );
    const sent = terraform.control.requests().slice(before);
    expect(sent.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("is refused at another address, and both are named", async () => {
    const terraform = await applied();
    const state = JSON.parse(await readFile(stateOf(terraform), "utf8"));
    for (const { instances } of state.resources)
      for (const instance of instances) {
        const mark = JSON.parse(Buffer.from(instance.private, "base64").toString("utf8"));
        mark.account.origin = "https://api.host.example";
        instance.private = Buffer.from(JSON.stringify(mark)).toString("base64");
      }
    await writeFile(stateOf(terraform), JSON.stringify(state));
    terraform.control.remove("webhooks", 201);
    const ran = await terraform.run("plan", "-no-color");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text.replaceAll(/\s*│?\s+/g, " ")).toContain(
      "In the state: https://api.host.example. Now: a loopback address.",
    );
  });

  it("is not suspected when one webhook was deleted by hand", async () => {
    const terraform = await applied();
    terraform.control.remove("webhooks", 201);
    const ran = await terraform.run("plan", "-no-color");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.text).toContain("1 to add");
  });
});
