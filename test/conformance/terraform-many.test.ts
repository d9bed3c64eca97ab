/** Many instances need few requests: the read of one object in a collection reads the whole collection. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import type { JsonObject } from "../../src/core/model/index.ts";
import { type Declarations, TerraformCore } from "../support/terraform-core.ts";
import type { Machine } from "../support/terraform-core-process.ts";
import { startMachine } from "./terraform-life.ts";

/** Different declarations, by kind. */
const NTH: Readonly<Record<string, (nth: number) => JsonObject>> = {
  hosting_service: (nth) => ({ plan_id: 11, currency: "USD", domain: `many-${nth}.example` }),
  hosting_grant: (nth) => ({
    service_id: String(1003 + (nth % 3)),
    email: `dev-${nth}@many.example`,
    permission: "view",
  }),
  hosting_webhook: (nth) => ({ url: `https://many.example/${nth}`, events: ["invoice.paid"] }),
  hosting_client_account: (nth) => ({ name: `Many ${nth}` }),
  hosting_migration_request: (nth) => ({ domain: `old-${nth}.example` }),
  hosting_domain: (nth) => ({
    domain: `many-${nth}.example`,
    years: 1,
    currency: "USD",
    nameserver_mode: "default",
    registrant_contact: {
      first_name: "Ana",
      last_name: "Many",
      email: "ana@many.example",
      phone: "+995 555 000000",
      address: "1 Rustaveli Ave",
      city: "Tbilisi",
      postcode: "0108",
      country: "GE",
    },
  }),
};

/** Number of requests of a plan without changes: one listing, or one for each parent. */
const LISTINGS: Readonly<Record<string, number>> = { hosting_grant: 3, hosting_domain: 0 };

function manyOf(type: string, count: number): Declarations {
  const nth = NTH[type];
  if (nth === undefined) throw new Error(`${type} is new: say in NTH how many of them differ from each other`);
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`${type}.many[${i}]`, { type, config: nth(i) }] as const),
  );
}

function lines({ sandbox: { control } }: Machine): string[] {
  const entries = control.requests().map(({ method, path }) => `${method} ${path}`);
  control.clearRequests();
  return entries;
}

async function expectQuiet(core: TerraformCore, declared: Declarations): Promise<void> {
  const { said, changes } = await core.plan(declared);
  expect(said).toEqual([]);
  expect(changes.filter(({ action }) => action !== "no-op")).toEqual([]);
}

describe.each([...kinds.values()])("$type", (kind) => {
  it("costs one listing for twenty-four instances that are as declared, and one request each for those to be made", async () => {
    const machine = await startMachine();
    machine.sandbox.control.seedServices({ count: 3 });
    const core = new TerraformCore(machine);
    const declared = manyOf(kind.type, 24);
    const outcome = await core.run(declared);
    expect(outcome.errors).toEqual([]);
    const made = lines(machine);
    expect(made.filter((line) => line.startsWith("POST"))).toHaveLength(24);
    expect(made.length).toBeLessThan(24 + 12);
    await expectQuiet(core, declared);
    expect(lines(machine)).toHaveLength(LISTINGS[kind.type] ?? 1);
    await expectQuiet(core, Object.fromEntries(Object.entries(declared)));
    expect(lines(machine)).toHaveLength(LISTINGS[kind.type] ?? 1);
  });
});

describe("services", () => {
  /** Seeds services, and imports them into the state, beside other services. */
  async function imported(count: number, others = 0) {
    const machine = await startMachine();
    const services = machine.sandbox.control.seedServices({ count });
    if (others > 0) machine.sandbox.control.seedServices({ count: others });
    const core = new TerraformCore(machine);
    const entries = services.map(({ id, domain }, i) => {
      const config = { plan_id: 11, currency: "USD", domain, deletion_policy: "forget" };
      return { address: `hosting_service.many[${i}]`, id: String(id), config };
    });
    const declared: Declarations = Object.fromEntries(
      entries.map(({ address, config }) => [address, { type: "hosting_service", config }] as const),
    );
    for (const { address, id } of entries) await core.import(address, "hosting_service", id);
    await core.run(declared);
    lines(machine);
    return { machine, core, declared, services };
  }

  it("of several pages cost as many requests as there are pages", async () => {
    const { machine, core, declared } = await imported(20, 81);
    await expectQuiet(core, declared);
    expect(lines(machine)).toEqual(Array.from({ length: 2 }, () => "GET /api/v1/services"));
  });

  it.each([1, 2])("that are few (%i) are read one by one", async (count) => {
    const { machine, core, declared, services } = await imported(count);
    machine.sandbox.control.seedServices({ count: 250 });
    await expectQuiet(core, declared);
    expect(lines(machine).sort()).toEqual(services.map(({ id }) => `GET /api/v1/services/${id}`).sort());
  });

  it("that a list does not show are read individually before they count as gone", async () => {
    const { machine, core, declared, services } = await imported(20);
    machine.sandbox.control.remove("services", services[7]?.id ?? 0);
    const { said } = await core.plan(declared);
    expect(said).toEqual([expect.objectContaining({ severity: "warning" })]);
    const sent = lines(machine);
    expect(sent.filter((line) => line === `GET /api/v1/services/${services[7]?.id}`)).toHaveLength(1);
    expect(sent.length).toBeLessThanOrEqual(3);
  });
});
