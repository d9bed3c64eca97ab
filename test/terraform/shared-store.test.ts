/** The built provider with a store in PostgreSQL, as on several machines. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES, TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

const HCL = `resource "hosting_webhook" "a" {
  url    = "https://one.example/hook"
  events = ["invoice.paid"]
}
`;

describeWith(TERRAFORM, POSTGRES)("the provider with a store in PostgreSQL", { timeout: 60_000 }, () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  it("records its creates and objects there, and keeps no one-time secret of a settled create", async () => {
    const connection = await postgres.database();
    const terraform = await startTerraform();
    terraform.env.HOSTFORM_STORE = connection;
    await terraform.write(HCL);
    await terraform.applied();
    await terraform.expectNoChanges();
    const states = await postgres.query(connection, "SELECT state FROM hostform.intents");
    expect(states).toEqual([{ state: "answered" }]);
    expect(await postgres.query(connection, "SELECT firm FROM hostform.holdings")).toEqual([{ firm: true }]);
    const notes = await postgres.query(connection, "SELECT value FROM hostform.notes");
    expect(JSON.stringify(notes)).not.toContain("whsec_");
  });

  it("creates nothing while the store is unreachable", async () => {
    const terraform = await startTerraform({ rate: 100 });
    terraform.env.HOSTFORM_STORE = "postgres://u:canary-of-the-store@127.0.0.1:1/teams?sslmode=disable";
    await terraform.write(HCL);
    const { code, err } = await terraform.run("apply", "-auto-approve");
    expect(code).toBe(1);
    expect(err).toContain("The store in PostgreSQL cannot be reached");
    expect(err).not.toContain("canary-of-the-store");
    expect(terraform.sandbox.control.requests()).toEqual([]);
  });
});
