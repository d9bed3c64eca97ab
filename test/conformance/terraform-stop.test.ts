/**
 * Ctrl-C in Terraform (StopProvider), and cancelled calls, at any request of an apply. The provider sends no further request,
 * records the requests in flight and taints no object. The next apply creates no object twice and asks only about sent requests.
 */
import { describe, expect, it } from "vitest";
import { testClock } from "../support/clock.ts";
import { fc } from "../support/fc.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";
import { type Moment, momentWithin, stopAt } from "../support/stopping.ts";
import { type Declarations, TerraformCore, taintedObjects } from "../support/terraform-core.ts";
import { Life, Machine } from "../support/terraform-core-process.ts";

interface Case extends Moment {
  readonly sites: number;
  readonly webhooks: number;
  readonly accounts: number;
  readonly perMinute: number;
  /** Terraform cancels its calls, and receives no response. */
  readonly givesUp: boolean;
}

const cases = fc.record({
  sites: fc.integer({ min: 0, max: 6 }),
  webhooks: fc.integer({ min: 0, max: 3 }),
  accounts: fc.integer({ min: 0, max: 2 }),
  perMinute: fc.integer({ min: 3, max: 60 }),
  ...momentWithin(20),
  givesUp: fc.boolean(),
});

function declared({ sites, webhooks, accounts }: Case): Declarations {
  const many = (count: number, type: string, config: (at: number) => object) =>
    Array.from({ length: count }, (_, at) => [`${type}.n${at}`, { type, config: config(at) }] as const);
  return Object.fromEntries([
    ...many(sites, "hosting_service", (at) => ({ plan_id: 11, currency: "USD", domain: `site${at}.acme.example` })),
    ...many(webhooks, "hosting_webhook", (at) => ({
      url: `https://hooks.acme.example/${at}`,
      events: ["invoice.paid"],
    })),
    ...many(accounts, "hosting_client_account", (at) => ({ name: `Client ${at}`, currency: "USD" })),
  ]) as Declarations;
}

async function check(drawn: Case): Promise<void> {
  const clock = testClock();
  const sandbox = await startSandbox({
    clock,
    sleep: async () => {},
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    ...profileOfRun(),
  });
  const machine = new Machine(sandbox, clock);
  machine.requestsPerMinute = drawn.perMinute;
  const core = new TerraformCore(machine);
  const wanted = declared(drawn);
  const before = core.state;

  const life = new Life();
  const isWrite = ({ method }: { readonly method: string }) => method !== "GET";
  const stopping = stopAt(sandbox, drawn, () => {
    if (drawn.givesUp) life.cancelled.abort();
    else for (const each of life.stops) each.abort();
  });
  const outcome = await core.run(wanted, { life });
  await stopping.end();
  const { sent, atStop } = stopping;

  // After the cancellation of a call, only reads that other calls share may still be sent.
  const after = sent.slice(atStop ?? sent.length);
  expect(drawn.givesUp ? after.filter(isWrite) : after, JSON.stringify(outcome.said)).toEqual([]);
  expect(taintedObjects(core.state)).toEqual([]);
  // Each intent has a sent request, and each request has a response, so no create is pending.
  expect([...core.state.current.values()].filter(({ attributes }) => attributes.id === null)).toEqual([]);
  if (drawn.givesUp && atStop !== undefined) core.restore(before);

  const again = await core.run(wanted);
  expect(again.errors).toEqual([]);
  expect(Object.values((await core.run(wanted)).actions).filter((action) => action !== "no-op")).toEqual([]);
  const { control } = sandbox;
  expect(control.list("services").filter(({ domain }) => domain?.startsWith("site"))).toHaveLength(drawn.sites);
  expect(control.list("webhooks").filter(({ url }) => url.startsWith("https://hooks.acme"))).toHaveLength(
    drawn.webhooks,
  );
  expect(control.list("accounts").filter(({ name }) => name.startsWith("Client "))).toHaveLength(drawn.accounts);
  await machine.close();
  await sandbox.close();
}

describe("Terraform, stopped at any request of an apply", () => {
  it("sends no further request, records what is in flight, taints nothing; the next apply creates nothing twice", async () => {
    await fc.assert(fc.asyncProperty(cases, check), { numRuns: Number(process.env.HOSTFORM_RUNS ?? 10) });
  }, 600_000);
});
