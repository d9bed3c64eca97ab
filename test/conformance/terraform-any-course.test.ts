/**
 * Random sequences of events around Terraform: edits, applies, kills, lost responses, a lost store, an unpushed state,
 * changes by other clients, and time. Nothing is ordered or created twice, no object is tainted except a webhook
 * without its secret, and Terraform finds no defect.
 * After the last failure, a user who follows the messages reaches the declared state.
 * `npm test` takes some sequences: HOSTFORM_COURSES sets their number, HOSTFORM_SEED their seed.
 */
import { describe, expect, it } from "vitest";
import { LIST_LAG_MS } from "../../src/core/lifecycle/decide.ts";
import fc from "../support/fc.ts";
import { type Instance, TerraformCore, taintedObjects } from "../support/terraform-core.ts";
import { Life, type Machine } from "../support/terraform-core-process.ts";
import type { Said } from "../support/terraform-core-wire.ts";
import { losses } from "./losses.ts";
import { AGENCY, declarationsOf } from "./terraform-agency.ts";
import { closeMachine, saysSuspended, startMachine } from "./terraform-life.ts";

const ADDRESSES = Object.keys(AGENCY);
const address = fc.constantFrom(...ADDRESSES);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("declare"), address, variant: fc.nat({ max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("drop"), address }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("apply"), refresh: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("killed apply"),
      at: fc.integer({ min: 1, max: 25 }),
      pushed: fc.boolean(),
      store: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("lose an answer"),
      method: fc.constantFrom("POST", "DELETE"),
      nth: fc.integer({ min: 1, max: 3 }),
      how: fc.constantFrom(...losses),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("drift"), address }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("pay", "lose the store") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), minutes: fc.integer({ min: 1, max: 30 }) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const text = ({ summary, detail }: Said) => `${summary}\n${detail}`;

/** Returns true for a webhook whose response lost its secret twice in one apply. Terraform replaces the webhook. */
const isWithoutSecret = ({ type, attributes: { secret, secret_fingerprint: written } }: Instance): boolean =>
  type === "hosting_webhook" && secret === null && written === null;

class Agency {
  readonly machine: Machine;
  readonly core: TerraformCore;
  readonly #declared = new Map<string, number>();

  constructor(machine: Machine) {
    this.machine = machine;
    this.core = new TerraformCore(machine);
  }

  async take(step: Step): Promise<void> {
    const { control } = this.machine.sandbox;
    if ("variant" in step) this.#declared.set(step.address, step.variant);
    else if ("refresh" in step) await this.apply({ refresh: step.refresh });
    else if ("pushed" in step) await this.#killed(step);
    else if ("how" in step) control.addFault({ method: step.method, path: "/*", nth: step.nth, ...step.how.fault });
    else if ("minutes" in step) this.machine.clock.advance(step.minutes * 60_000);
    else if ("address" in step && step.do === "drop") this.#declared.delete(step.address);
    else if ("address" in step) AGENCY[step.address]?.drift?.(control);
    else if (step.do === "pay") this.pay();
    else this.machine.loseStore();
  }

  async apply(options: { refresh?: boolean; life?: Life } = {}): Promise<void> {
    const { said } = await this.core.run(declarationsOf(this.#declared), options);
    this.expectSound(said);
  }

  async #killed({ at, pushed, store }: { at: number; pushed: boolean; store: boolean }): Promise<void> {
    const before = this.core.state;
    const life = new Life(at);
    await this.apply({ life });
    if (!life.over) return;
    await this.machine.calm();
    if (!pushed) this.core.restore(before);
    // Losing both the state and the store would lose track of a webhook that was created to replace another.
    else if (!store) this.machine.loseStore();
  }

  pay(): void {
    const { control } = this.machine.sandbox;
    for (const { id, status } of control.list("invoices")) if (status === "unpaid") control.payInvoice(id);
    for (const { id, status } of control.list("services")) if (status === "pending") control.provisionService(id);
  }

  expectSound(said: readonly Said[]): void {
    const { control } = this.machine.sandbox;
    for (const [name, resource] of Object.entries(AGENCY)) {
      for (const count of resource.count(control)) expect(count, `objects of ${name}`).toBeLessThanOrEqual(1);
    }
    expect(taintedObjects(this.core.state).filter((one) => !isWithoutSecret(one))).toEqual([]);
    expect(said.filter(({ summary }) => /The provider has a defect/.test(summary))).toEqual([]);
  }

  /** Declares the final state without further failures. The user follows the messages. */
  async settle(): Promise<void> {
    this.machine.sandbox.control.clearFaults();
    this.#declared.clear();
    const { control } = this.machine.sandbox;
    for (const each of ADDRESSES) {
      const recorded = this.core.state.current.get(each)?.attributes;
      this.#declared.set(each, AGENCY[each]?.last?.(control, recorded) ?? 0);
    }
    this.pay();
    let open: readonly Said[] = [];
    for (let run = 1; run <= 8; run++) {
      const { said: recovered } = await this.core.run(declarationsOf(this.#declared));
      this.expectSound(recovered);
      this.pay();
      const { said: all, changes } = await this.core.plan(declarationsOf(this.#declared));
      const said = all.filter((one) => !saysSuspended(one));
      if (said.length === 0 && changes.every(({ action }) => action === "no-op")) return;
      open = [...recovered, ...said];
      for (const one of open) await this.#doAsTold(one, run);
      for (const [each] of this.core.state.current) await this.#lookAtDashboard(each);
    }
    throw new Error(`not settled: ${open.map(text).join("\n")}`);
  }

  async #doAsTold(error: Said, run: number): Promise<void> {
    const { address: each = "" } = error;
    if (/^No list shows a new /.test(error.summary)) this.machine.clock.advance(LIST_LAG_MS);
    const [, offered] = /(?:terraform import \S+|--adopt) '([^']+)'/.exec(text(error)) ?? [];
    // No list contains a registration, but the API's refusal proves it.
    const [registered] = this.machine.sandbox.control.list("domains");
    const seen = error.summary.includes("is not available") ? String(registered?.id) : undefined;
    // A server without a domain, and an expired key: only the user knows the owner of the server.
    const [, candidate] = / may be service (\d+).*: its request got no response$/.exec(error.summary) ?? [];
    const id = offered ?? seen ?? candidate;
    if (id !== undefined) {
      this.core.forget(each);
      await this.core.import(each, AGENCY[each]?.type ?? "", id);
    }
    // The user tries the declarations in turn until one has the requested value.
    if (/An interrupted run (?:requested|created) .* with another /.test(text(error))) this.#declared.set(each, run);
    // The API refused a request that was repeated, and the dashboard shows that the first request created nothing.
    const isNowhere = AGENCY[each]?.count(this.machine.sandbox.control).every((count) => count === 0);
    if (/created nothing: `hostform resolve ADDRESS --absent`/.test(text(error)) && isNowhere)
      await this.machine.resolveAbsent(AGENCY[each]?.type ?? "");
    // Managed no longer, it is there still: the next plan finds it.
    if (/cannot be changed$|^The API cannot change/.test(error.summary)) this.core.forget(each);
  }

  /** A registration whose response was lost: the user checks the dashboard. */
  async #lookAtDashboard(each: string): Promise<void> {
    const { pending } = this.core.private(each) as { pending?: unknown };
    if (AGENCY[each]?.type !== "hosting_domain" || pending === undefined) return;
    const [made] = this.machine.sandbox.control.list("domains");
    this.core.forget(each);
    if (made === undefined) await this.machine.resolveAbsent("hosting_domain");
    else await this.core.import(each, "hosting_domain", String(made.id));
  }
}

describe("any course of events behind Terraform", () => {
  it("creates nothing twice, and converges to the declaration", { timeout: 3_600_000 }, async () => {
    const numRuns = Number(process.env.HOSTFORM_COURSES ?? 10);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), fc.boolean(), async (steps, autoPay) => {
        const machine = await startMachine({ jobSeconds: 0, autoPay });
        machine.sandbox.control.seedServices({ count: 1 });
        const agency = new Agency(machine);
        try {
          for (const one of steps) await agency.take(one);
          await agency.settle();
        } finally {
          await closeMachine(machine);
        }
      }),
      { numRuns },
    );
  });
});
