/** Terraform generates configuration from a list of objects, imports the objects, and plans no change. */
import { describe, expect, it } from "vitest";
import { importIdOf, kinds } from "../../src/core/kinds/index.ts";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { fillAgency } from "../support/agency.ts";
import { type Declarations, TerraformCore } from "../support/terraform-core.ts";
import { Life, type Machine } from "../support/terraform-core-process.ts";
import { generatedFor, queryList } from "../support/terraform-core-query.ts";
import { saysSuspended, startMachine } from "./terraform-life.ts";

const LISTED = [...kinds.values()].filter(({ list }) => list !== undefined);

/** Starts an account with objects of all kinds, in different phases and terms. */
async function filled(options: SandboxOptions = {}): Promise<Machine> {
  const machine = await startMachine(options);
  const { control } = machine.sandbox;
  fillAgency(control, { services: 6, webhooks: 2, accounts: 2 });
  const [one, two, three] = control.list("services").filter(({ customer_id }) => customer_id === 1);
  control.change("services", one?.id ?? 0, { status: "suspended" });
  control.change("services", two?.id ?? 0, { domain: "WWW.Two.example." });
  control.change("services", three?.id ?? 0, { term: 12 });
  control.create("migration_requests", { domain: "old.example" });
  return machine;
}

describe.each(LISTED)("generated configuration of $type", (kind) => {
  const { type } = kind;

  it("plans no change after the import, and sets no attribute that the host may change", async () => {
    const machine = await filled();
    const core = new TerraformCore(machine);
    const { connection } = await machine.start(new Life());
    const { objects, said } = await queryList(connection, type, { include: true });
    await connection.session?.close();
    expect(said).toEqual([]);
    expect(objects.length).toBeGreaterThan(0);
    const declared: Record<string, Declarations[string]> = {};
    for (const [at, { state, identity }] of objects.entries()) {
      const generated = await generatedFor(type, state);
      expect(generated.said).toEqual([]);
      expect(generated.config).toMatchObject(type === "hosting_service" ? { suspended: null, password: null } : {});
      const address = `${type}.all_${at}`;
      declared[address] = { type, config: generated.config };
      expect(await core.import(address, type, importIdOf(kind, String(identity.id), state ?? {}))).toEqual([]);
    }
    machine.sandbox.control.clearRequests();
    const outcome = await core.run(declared);
    expect(outcome.said.filter((one) => !saysSuspended(one))).toEqual([]);
    expect(new Set(Object.values(outcome.actions))).toEqual(new Set(["no-op"]));
    expect(machine.sandbox.control.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

describe("generated configuration of hosting_service", () => {
  it("has a warning if no hosting plan has the name of the service's plan", async () => {
    const machine = await startMachine();
    const { control } = machine.sandbox;
    const [one] = control.seedServices({ count: 1 });
    control.change("services", one?.id ?? 0, { plan: "Retired" });
    const { connection } = await machine.start(new Life());
    const { objects } = await queryList(connection, "hosting_service", { include: true });
    await connection.session?.close();
    const { config, said } = await generatedFor("hosting_service", objects[0]?.state ?? null);
    expect(config).toMatchObject({ plan_id: null, currency: "USD", domain: one?.domain });
    expect(said).toEqual([
      {
        severity: "warning",
        summary: `The configuration of service ${one?.id} (${one?.domain}) has no plan_id`,
        detail: expect.stringContaining("Set plan_id in the generated block before you plan."),
        attribute: [],
      },
    ]);
  });

  it("is empty for an object without a state", async () => {
    const { config, said } = await generatedFor("hosting_service", null);
    expect([config, said]).toEqual([{}, []]);
  });
});
