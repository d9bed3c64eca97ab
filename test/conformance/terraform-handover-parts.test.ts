/**
 * An object's move to another address happens only in part, or its parts run far apart: with `-target`, after a
 * failure, after Ctrl-C, among a hundred other changes. In a modelled Terraform.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/index.ts";
import { LONG } from "../reliability/support/long.ts";
import { type Declarations, type Plan, TerraformCore } from "../support/terraform-core.ts";
import { Life, type Machine } from "../support/terraform-core-process.ts";
import { isRefusal } from "../support/terraform-core-wire.ts";
import { startMachine } from "./terraform-life.ts";

const SUBJECTS: Readonly<Record<string, (value: string) => JsonObject>> = {
  hosting_grant: (value) => ({ service_id: "1003", email: `${value}@acme.example`, permission: "view" }),
  hosting_webhook: (value) => ({ url: `https://${value}.example/hook`, events: ["invoice.paid"] }),
};

interface Begun {
  readonly machine: Machine;
  readonly core: TerraformCore;
  sent(): string[];
}

async function begin(declared: Declarations): Promise<Begun> {
  const machine = await startMachine();
  const { control } = machine.sandbox;
  control.seedServices({ count: 1 });
  const core = new TerraformCore(machine);
  expect((await core.run(declared)).errors).toEqual([]);
  const sent = () => {
    const changes = control.requests().filter(({ method }) => method !== "GET");
    control.clearRequests();
    return changes.map(({ method }) => method);
  };
  sent();
  return { machine, core, sent };
}

it.each([false, true])(
  "a grant that cannot be deleted for its new values stays at its old address (destroy first: %s)",
  async (first) => {
    const grant = (name: string, permission: string): Declarations => ({
      [`hosting_grant.${name}`]: {
        type: "hosting_grant",
        config: { service_id: "1003", email: "a@acme.example", permission },
      },
    });
    const begun = await begin(grant("old", "view"));
    const { control } = begun.machine.sandbox;
    const after = grant("new", "manage");
    const plan = await begun.core.plan(after);
    control.addFault({ method: "DELETE", path: "/services/:id/grants/:grantId", phase: "before", status: 403 });
    const changes = plan.changes.toSorted((a, b) => (a.action < b.action ? -1 : 1) * (first ? -1 : 1));
    const errors = (await begun.core.apply({ ...plan, changes }, after)).filter(isRefusal);
    expect(errors).toHaveLength(2);
    expect(errors.map(({ summary }) => summary).join()).toContain("still belongs to its old address");
    expect([...begun.core.state.current.keys()]).toEqual(["hosting_grant.old"]);
    begun.sent();
    expect((await begun.core.run(after)).errors).toEqual([]);
    expect(begun.sent()).toEqual(["DELETE", "POST"]);
  },
);

describe.each(Object.entries(SUBJECTS))("%s", (type, config) => {
  /** Returns the declarations of these values, by address. */
  const declare = (layout: Readonly<Record<string, string>>, createBeforeDestroy = false): Declarations =>
    Object.fromEntries(
      Object.entries(layout).map(([name, value]) => [
        `${type}.${name}`,
        { type, config: config(value), createBeforeDestroy },
      ]),
    );

  const idsOf = ({ core }: Begun) =>
    Object.fromEntries([...core.state.current].map(([address, { attributes }]) => [address, attributes.id]));

  it.each([
    ["exchange", { "0": "a", "1": "b" }, { "0": "b", "1": "a" }],
    ["shifted list", { "0": "a", "1": "b", "2": "c" }, { "0": "b", "1": "c" }],
  ] as const)(
    "half of an %s is refused before any request, although the whole was planned before",
    async (_, before, after) => {
      const begun = await begin(declare(before));
      const ids = idsOf(begun);
      await begun.core.plan(declare(after));
      const { errors } = await begun.core.run(declare(after), { target: [`${type}.0`] });
      expect(errors).toMatchObject([
        { summary: expect.stringMatching(/was not deleted: its replacement already exists$/) },
      ]);
      expect(begun.sent()).toEqual([]);
      expect(idsOf(begun)).toEqual(ids);
      expect((await begun.core.run(declare(after))).errors).toEqual([]);
      expect(begun.sent()).toHaveLength(Object.keys(before).length - Object.keys(after).length);
    },
  );

  it("a targeted create takes nothing over that its own plan does not pass on", async () => {
    const begun = await begin(declare({ old: "a" }));
    await begun.core.plan(declare({ new: "a" }));
    const { errors } = await begun.core.run(declare({ new: "a" }), { target: [`${type}.new`] });
    expect(errors).toMatchObject([{ summary: expect.stringMatching(/already exists as/) }]);
    expect(begun.sent()).toEqual([]);
    expect(Object.keys(idsOf(begun))).toEqual([`${type}.old`]);
  });

  it("a saved plan keeps its own notes after another plan", async () => {
    const begun = await begin(declare({ "0": "a", "1": "b" }));
    const after = declare({ "0": "b", "1": "a" });
    const plan = await begun.core.plan(after);
    await begun.core.plan(after, { target: [`${type}.0`] });
    const said = await begun.core.apply(plan, after);
    expect(said.filter(isRefusal)).toEqual([]);
    expect(begun.sent()).toEqual([]);
  });

  it("a saved plan of an exchange is refused on another machine, before any request", async () => {
    const begun = await begin(declare({ "0": "a", "1": "b" }));
    const after = declare({ "0": "b", "1": "a" });
    const plan = await begun.core.plan(after);
    begun.machine.loseStore();
    const said = await begun.core.apply(plan, after);
    expect(said.filter(isRefusal)).not.toEqual([]);
    expect(begun.sent()).toEqual([]);
  });

  /** Applies a rename whose create never runs, because a dependency of the create fails. */
  async function failing(begun: Begun, after: Declarations, plan: Plan, parallelism?: number) {
    const { control } = begun.machine.sandbox;
    control.addFault({ method: "POST", path: "/accounts", phase: "before", status: 403 });
    const changes = plan.changes.filter(({ address }) => address !== `${type}.new`);
    const said = await begun.core.apply({ ...plan, changes }, after, new Life(), parallelism);
    return said.filter(isRefusal);
  }
  const client = { "hosting_client_account.c": { type: "hosting_client_account", config: { name: "Kim" } } };

  it.each([10, 1])("stays at its old address where the create cannot come (-parallelism=%i)", async (parallelism) => {
    const begun = await begin(declare({ old: "a" }));
    const ids = idsOf(begun);
    const after = { ...client, ...declare({ new: "a" }) };
    const plan = await begun.core.plan(after);
    const first = [...plan.changes].sort((a, b) => Number(a.action === "delete") - Number(b.action === "delete"));
    const errors = await failing(begun, after, { ...plan, changes: first }, parallelism);
    expect(errors.map(({ address, summary }) => [address, summary])).toEqual([
      ["hosting_client_account.c", expect.any(String)],
      [`${type}.old`, expect.stringMatching(/still belongs to its old address$/)],
    ]);
    expect(idsOf(begun)).toEqual(ids);
    begun.sent();
    // Without its block, the object is deleted as usual.
    expect((await begun.core.run({})).errors).toEqual([]);
    expect(begun.sent()).toEqual(["DELETE"]);
  });

  it("stays at its old address if Terraform is stopped, and the next apply goes on", async () => {
    const begun = await begin(declare({ old: "a" }));
    const ids = idsOf(begun);
    const after = declare({ new: "a" });
    const plan = await begun.core.plan(after);
    const life = new Life();
    const applying = begun.core.apply(
      { ...plan, changes: plan.changes.filter(({ action }) => action === "delete") },
      after,
      life,
    );
    for (const stop of life.stops) stop.abort();
    expect((await applying).filter(isRefusal)).toMatchObject([
      { summary: expect.stringMatching(/still belongs to its old/) },
    ]);
    expect(idsOf(begun)).toEqual(ids);
    expect((await begun.core.run(after)).errors).toEqual([]);
    expect(begun.sent()).toEqual([]);
    expect(idsOf(begun)).toEqual({ [`${type}.new`]: ids[`${type}.old`] });
  });

  it("is named by each plan, after an apply that ended between the two parts, until it is taken over with its secret", async () => {
    const begun = await begin(declare({ old: "a" }));
    const { id, secret } = begun.core.attributes(`${type}.old`);
    const after = declare({ new: "a" });
    const plan = await begun.core.plan(after);
    const destroys = plan.changes.filter(({ action }) => action === "delete");
    await begun.core.apply({ ...plan, changes: destroys }, after);
    expect(begun.core.state.current.size).toBe(0);
    for (const others of [declare({ other: "b" }), declare({ other: "b" }), {}]) {
      const { warnings, errors } = await begun.core.run(others);
      const left = warnings.filter(({ summary }) =>
        summary.endsWith("exists, and belongs to no address of this state"),
      );
      expect(errors).toEqual([]);
      // Terraform plans the create again during its apply.
      expect(new Set(left.map(({ summary }) => summary.split(" ")[1]))).toEqual(new Set([id]));
    }
    begun.sent();
    const { errors, warnings } = await begun.core.run(after);
    expect(errors).toEqual([]);
    expect(warnings.map(({ summary }) => summary).join()).not.toContain("belongs to no address of this state");
    expect(begun.sent()).toEqual([]);
    expect(begun.core.attributes(`${type}.new`)).toMatchObject({ id, ...(secret != null && { secret }) });
  });

  const crowds: [number, number][] = type === "hosting_webhook" || LONG ? [[40, 10]] : [];
  if (type === "hosting_grant" || LONG) crowds.push([12, 1]);
  if (LONG) crowds.push([100, 10], [40, 4]);
  it.each(crowds)(
    "%i renames send nothing, in whatever order Terraform works (-parallelism=%i)",
    async (count, parallelism) => {
      const layout = (prefix: string) =>
        declare(Object.fromEntries(Array.from({ length: count }, (_, nth) => [`${prefix}${nth}`, `v${nth}`])));
      const begun = await begin(layout("a"));
      let seed = count + parallelism;
      const random = () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed;
      };
      for (const prefix of ["b", "c"]) {
        const plan = await begun.core.plan(layout(prefix));
        const order = plan.changes.map((change) => [random(), change] as const).sort(([a], [b]) => a - b);
        const said = await begun.core.apply(
          { ...plan, changes: order.map(([, change]) => change) },
          layout(prefix),
          new Life(),
          parallelism,
        );
        expect(said.filter(isRefusal)).toEqual([]);
        expect(begun.sent()).toEqual([]);
        expect(begun.core.state.current.size).toBe(count);
      }
    },
  );
});
