/**
 * Creates without a known outcome, with the real Terraform: the apply ends with an error and a tainted instance. The
 * next apply settles the create, on the same machine or on a fresh machine that has only the state. `npm test` pairs
 * each case with one kind, `npm run test:long pending` with every kind.
 */
import { rm, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { PENDING_CREATE } from "../../src/core/model/index.ts";
import type { OpenCollection } from "../../src/sandbox/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform, type TerraformOptions } from "../support/terraform.ts";

interface Sample {
  readonly type: string;
  readonly collection: OpenCollection;
  /** The path of the create, as a fault uses it. */
  readonly path: string;
  readonly body: string;
  /** Returns true if an object belongs to the sample. */
  readonly isOwn: (text: string) => boolean;
}

const CONTACT = `{ first_name = "Ana", last_name = "M", email = "a@m.example", phone = "+995 555 000000", address = "1 Rustaveli Ave", city = "Tbilisi", postcode = "0108", country = "GE" }`;

const LISTED: readonly Sample[] = [
  {
    type: "hosting_service",
    collection: "services",
    path: "/services",
    body: 'plan_id = 11\n  currency = "USD"\n  domain = "${each.key}.many.example"',
    isOwn: (text) => text.includes(".many.example"),
  },
  {
    type: "hosting_grant",
    collection: "grants",
    path: "/services/:id/grants",
    body: 'service_id = "1003"\n  email = "${each.key}@many.example"\n  permission = "view"',
    isOwn: (text) => text.includes("@many.example"),
  },
  {
    type: "hosting_webhook",
    collection: "webhooks",
    path: "/webhooks",
    body: 'url = "https://${each.key}.many.example/hook"\n  events = ["invoice.paid"]',
    isOwn: (text) => text.includes(".many.example"),
  },
  {
    type: "hosting_client_account",
    collection: "accounts",
    path: "/accounts",
    body: 'name = "Many ${each.key}"\n  currency = "USD"',
    isOwn: (text) => text.includes("Many "),
  },
  {
    type: "hosting_migration_request",
    collection: "migration_requests",
    path: "/migration-requests",
    body: 'domain = "${each.key}.many.example"',
    isOwn: (text) => text.includes(".many.example"),
  },
];

const block = ({ type, body }: Sample, keys: readonly string[], more = "") =>
  `resource "${type}" "many" {\n  for_each = toset(${JSON.stringify(keys)})\n  ${body}\n${more}}\n`;

const objects = ({ control }: Terraform, { collection, isOwn }: Sample) =>
  control.list(collection).filter((one) => isOwn(JSON.stringify(one)));

const begin = async (sample: Sample, keys: readonly string[], options: TerraformOptions = {}, more = "") => {
  const terraform = await startTerraform({ install: "running", ...options });
  terraform.control.seedServices({ count: 1 });
  await terraform.write(block(sample, keys, more));
  return terraform;
};

/** Returns each instance's status, and whether its id is a placeholder. */
const statusOf = (terraform: Terraform) =>
  [...terraform.state().values()].map(({ status, attributes: { id } }) => [status, id === PENDING_CREATE]).sort();

/** Fails unless the account has one object for each instance, and a plan has nothing to do. */
async function expectAll(terraform: Terraform, sample: Sample, count: number): Promise<void> {
  const ids = objects(terraform, sample).map(({ id }) => String(id));
  expect(ids).toHaveLength(count);
  const recorded = [...terraform.state().values()].map(({ attributes }) => String(attributes.id));
  expect(recorded.sort()).toEqual(ids.sort());
  expect(statusOf(terraform).every(([status]) => status === "")).toBe(true);
  await terraform.expectNoChanges();
}

/** Simulates another machine with the same folder: only the state remains. */
const loseStore = (terraform: Terraform) => rm(terraform.stateHome, { recursive: true, force: true });

describeWith(TERRAFORM)("a create without a known outcome", { timeout: 120_000 }, () => {
  it.each(sampled(LISTED, 5, 1))(
    "of a $type amid an outage ends with an error, and the next apply settles it",
    async (sample) => {
      let strike = () => undefined as unknown;
      const terraform = await begin(sample, ["one", "two"], { sandbox: { sleep: async () => void strike() } });
      // The object is created, its response is lost, and the API is unreachable for the next 30 requests.
      const away = { path: "/*", phase: "before", drop: true, times: 30 } as const;
      strike = () => terraform.control.addFault(away);
      terraform.control.addFault({ method: "POST", path: sample.path, phase: "after", drop: true, delayMs: 1, nth: 2 });
      const first = await terraform.apply();
      expect(first.code, first.text).toBe(1);
      expect(statusOf(terraform)).toContainEqual(["tainted", true]);
      terraform.control.clearFaults();
      terraform.believeLists();
      await terraform.applied();
      await expectAll(terraform, sample, 2);
    },
  );

  it.each(sampled(LISTED, 5, 3))("of a $type is settled by a saved plan on another machine", async (sample) => {
    const terraform = await begin(sample, ["one"]);
    terraform.control.addFault({ method: "POST", path: sample.path, phase: "before", status: 503, times: 99 });
    expect((await terraform.apply()).code).toBe(1);
    terraform.control.clearFaults();
    await loseStore(terraform);
    expect((await terraform.planned()).changes).toMatchObject({ [`${sample.type}.many["one"]`]: "replace" });
    await loseStore(terraform);
    await terraform.applied("tfplan");
    await expectAll(terraform, sample, 1);
  });

  it("is refused by a plan without refresh on a machine that does not have its request", async () => {
    const [sample = LISTED[0]] = LISTED.slice(2);
    if (sample === undefined) return;
    const terraform = await begin(sample, ["one"]);
    terraform.control.addFault({ method: "POST", path: sample.path, phase: "before", status: 503, times: 99 });
    await terraform.apply();
    terraform.control.clearFaults();
    await loseStore(terraform);
    const refused = await terraform.refused("-refresh=false");
    expect(refused.errors).toMatchObject([{ detail: expect.stringContaining("without `-refresh=false`") }]);
    await terraform.applied();
    await expectAll(terraform, sample, 1);
  });

  it.each(sampled(LISTED, 5, 4))("of a $type with prevent_destroy is settled after an untaint", async (sample) => {
    const terraform = await begin(sample, ["one"], {}, "  lifecycle {\n    prevent_destroy = true\n  }\n");
    terraform.control.addFault({ method: "POST", path: sample.path, phase: "before", status: 503, times: 99 });
    await terraform.apply();
    const refused = await terraform.plan();
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("terraform untaint ADDRESS");
    await terraform.well("untaint", "-no-color", `${sample.type}.many["one"]`);
    // The create fails again: the plan is never empty, and each apply ends with an error.
    expect((await terraform.planned()).changes).toMatchObject({ [`${sample.type}.many["one"]`]: "update" });
    expect((await terraform.apply()).code).toBe(1);
    expect((await terraform.planned()).code).toBe(2);
    terraform.control.clearFaults();
    await terraform.applied();
    await expectAll(terraform, sample, 1);
  });

  it.each(sampled(LISTED, 5, 6))(
    "of a $type that is not declared any more ends with what it created",
    async (sample) => {
      const terraform = await begin(sample, ["one"]);
      terraform.control.addFault({ method: "POST", path: sample.path, phase: "before", status: 503, times: 99 });
      expect((await terraform.apply()).code).toBe(1);
      terraform.control.clearFaults();
      terraform.control.advanceClock({ minutes: 15 });
      await loseStore(terraform);
      await terraform.write("");
      await terraform.applied();
      expect(objects(terraform, sample)).toEqual([]);
      expect(terraform.state().size).toBe(0);
      await terraform.write(block(sample, ["one"]));
      await terraform.applied();
      await expectAll(terraform, sample, 1);
    },
  );
});

describeWith(TERRAFORM)("a registration without a known outcome", { timeout: 120_000 }, () => {
  it("is an error of each apply, and no plan is empty, until a person settles it", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(
      `resource "hosting_domain" "a" {\n  domain = "pending.example"\n  years = 1\n  currency = "USD"\n  nameserver_mode = "default"\n  registrant_contact = ${CONTACT}\n}\n`,
    );
    terraform.control.addFault({ method: "POST", path: "/domains", phase: "after", drop: true, times: 99 });
    for (const fresh of [false, true]) {
      if (fresh) await loseStore(terraform);
      const { code, text, errors } = await terraform.apply();
      expect(code, text).toBe(1);
      expect(errors.map(({ detail }) => detail).join("\n")).toContain("`hostform resolve ADDRESS` in this folder");
      expect(statusOf(terraform)).toEqual([["tainted", true]]);
      expect((await terraform.planned()).changes).toEqual({ "hosting_domain.a": "replace" });
    }
    await terraform.well("untaint", "-no-color", "hosting_domain.a");
    expect((await terraform.planned()).changes).toEqual({ "hosting_domain.a": "update" });
    expect((await terraform.apply()).code).toBe(1);
    expect(terraform.control.requests().filter(({ method }) => method === "POST").length).toBe(1);
    // The user checks the dashboard.
    await terraform.well("state", "rm", "hosting_domain.a");
    await terraform.well("import", "-no-color", "-input=false", "hosting_domain.a", "pending.example");
    await terraform.applied();
    await terraform.expectNoChanges();
  });
});

describeWith(TERRAFORM)("two servers without a domain", { timeout: 120_000 }, () => {
  it("of which one has no known outcome are never an empty plan, and the error names hostform resolve", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(
      'resource "hosting_service" "box" {\n  count = 2\n  plan_id = 31\n  currency = "USD"\n  reference = "box-${count.index}"\n}\n',
    );
    terraform.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, nth: 2, times: 99 });
    const first = await terraform.apply();
    expect(first.code, first.text).toBe(1);
    terraform.believeLists();
    const plan = await terraform.planned();
    expect(Object.values(plan.changes)).toEqual(["replace"]);
    const asked = await terraform.apply();
    expect(asked.code, asked.text).toBe(1);
    expect(asked.errors.map(({ detail }) => detail).join("\n")).toMatch(/hostform resolve ADDRESS --adopt '\d+'/);
    expect((await terraform.planned()).code).toBe(2);
  });
});

describeWith(TERRAFORM)("a store that cannot be written", { timeout: 120_000 }, () => {
  const [, , sample] = LISTED;

  it("refuses a planned create, lets the rest go on, and does not refuse a create with HOSTFORM_STORE=memory", async () => {
    if (sample === undefined) throw new Error("no sample");
    const terraform = await begin(sample, ["one"], { env: { HOSTFORM_LEDGER: undefined } });
    await terraform.applied();
    // A file has the path of the state folder.
    await loseStore(terraform);
    await writeFile(terraform.stateHome, "");
    await terraform.write(block(sample, ["one", "two"]));
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([
      { address: `${sample.type}.many["two"]`, summary: "This run cannot write to the store of this machine" },
    ]);
    terraform.env.HOSTFORM_STORE = "memory";
    await terraform.applied();
    expect(objects(terraform, sample)).toHaveLength(2);
    terraform.env.HOSTFORM_STORE = undefined;
    await terraform.write(block(sample, []));
    await terraform.applied();
    expect(objects(terraform, sample)).toEqual([]);
  });
});
