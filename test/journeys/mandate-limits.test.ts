/** Limits of mandates against invoices and objects that the approver did not see. */
import { describe, expect, it } from "vitest";
import type { Mandate } from "../../src/core/model/index.ts";
import type { DeclarationValue } from "../../src/project/library.ts";
import { openLedger } from "../../src/project/mandate/ledger.ts";
import { codesOf, Machines, site, startHost } from "../support/mandate-machines.ts";

const declare = (services: Record<string, object>, more: object = {}) =>
  ({ project: "acme", services, ...more }) as unknown as DeclarationValue;

async function start() {
  const machines = new Machines(await startHost());
  const { control } = machines.host.sandbox;
  const apply = async (declaration: DeclarationValue, given: Partial<Mandate>, plans?: object) => {
    const project = await machines.load(declaration);
    const plan = await project.plan({ allowRemovals: true, ...plans });
    return codesOf(project.apply(plan, { mandate: machines.sign(given) }));
  };
  /** Raises the price while an order is sent: after the last reading of the prices. */
  const raise = (prices: Record<string, number>, at = 2) => {
    let readings = 0;
    machines.host.onExchange = ({ url }) => {
      if (url.includes("/plans") && ++readings === at) control.change("plans", 11, { prices } as never);
    };
  };
  return { machines, control, apply, raise };
}

describe("an invoice above a mandate", () => {
  const AB = declare({ a: site("a"), b: site("b") });

  it.each<[string, Partial<Mandate>]>([
    ["the amount of the mandate", { max_spend: { USD: 900 } }],
    ["the prices of the plan without an amount", { max_spend: null }],
  ])("is an error with %s, and the mandate allows no further order", async (_, given) => {
    const { machines, raise } = await start();
    const project = await machines.load(AB);
    const plan = await project.plan();
    const { lineage = "", serial = 0 } = JSON.parse(machines.state.text ?? "{}") as {
      lineage?: string;
      serial?: number;
    };
    const bound = given.max_spend === null ? { digest: plan.digest, lineage, serial } : null;
    raise({ USD: 89_910 });
    // The plan has read the prices before.
    const mandate = machines.sign({ ...given, uses: bound === null ? 3 : 1, plan: bound });
    const applied = await project.apply(plan, { mandate });
    expect(applied).toMatchObject({ complete: false, receipt: { complete: false, left: { orders: 0 } } });
    const problems = applied.diagnostics.filter(({ code }) => code === "mandate.limit");
    expect(problems.map(({ summary }) => summary)).toEqual([
      expect.stringMatching(
        /^hosting_service\.[ab]: invoice INV\S+ of 80919 \(USD, API's unit\) exceeds mandate m1, which allows/,
      ),
    ]);
    expect(machines.orders()).toHaveLength(1);
    if (bound !== null) return;
    const status = await (await machines.load(AB)).status();
    expect(status.report.attention).toContainEqual(
      expect.objectContaining({ condition: "receipt", summary: expect.stringContaining("exceeds the mandate") }),
    );
    const again = await machines.load(AB);
    expect(await codesOf(again.apply(await again.plan(), { mandate }))).toContain("mandate.scope");
    expect(machines.orders()).toHaveLength(1);
  });

  it("is no error within the amount of the mandate", async () => {
    const { machines, apply, raise } = await start();
    raise({ USD: 700 }, 3);
    expect(await apply(declare({ a: site("a") }), { max_spend: { USD: 900 } })).toMatchObject({
      complete: true,
      receipt: { orders: [{ amount: 630 }] },
    });
    expect(machines.orders()).toHaveLength(1);
  });
});

describe("an order with a lost response that the next run adopts", () => {
  it("is compared with its invoice by the id of the state", async () => {
    const { machines, control } = await start();
    const A = declare({ a: site("a") });
    const apply = async () => {
      const project = await machines.load(A);
      return project.apply(await project.plan(), { mandate: machines.sign({ uses: 2 }) });
    };
    control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 1 });
    machines.host.onExchange = ({ method }) => {
      if (method === "POST") control.addFault({ path: "/services", phase: "before", drop: true, times: 99 });
    };
    expect(await apply()).toMatchObject({ complete: false, receipt: { orders: [{ id: null }] } });
    control.clearFaults();
    machines.host.onExchange = () => undefined;
    const receipts = async () => {
      const { report } = await (await machines.load(A)).status();
      return report.attention.flatMap(({ summary }) => (summary.includes("mandate m1") ? [summary] : []));
    };
    expect(await receipts()).toEqual([expect.stringContaining("the order has no id")]);
    machines.host.clock.advance(3_600_000);
    expect(await apply()).toMatchObject({ complete: true });
    expect(await receipts()).toEqual([]);
    expect(machines.orders()).toHaveLength(1);
  });
});

describe("a mandate with targets", () => {
  const targets = ["hosting_service.a*", "hosting_grant.*"];
  const grants = { "eve@acme.example": "view" };

  /** Services a and b of the project, and one service outside of the project. */
  async function services() {
    const started = await start();
    const { machines, control, apply } = started;
    await apply(declare({ a: site("a"), b: site("b") }), { id: "first" });
    const a = machines.orders().find(({ domain }) => domain?.startsWith("a"))?.id;
    const [seeded] = control.seedServices({ plan_id: 11 });
    const { domain } = control.get("services", seeded?.id ?? 0);
    return {
      ...started,
      victim: site("", { domain, import: String(seeded?.id) }),
      objects: [`default hosting_service ${a}`],
    };
  }

  it("changes its objects and their children, creates new ones, and changes what it ordered", async () => {
    const { machines, apply, objects } = await services();
    const given = { targets, objects, uses: 9, id: "m2" };
    const b = site("b");
    const first = declare({ a: site("a", { suspended: true, grants }), a2: site("a2", { grants }), b });
    expect(await apply(first, given)).toMatchObject({ complete: true });
    expect(machines.orders()).toHaveLength(3);
    const second = declare({ a: site("a"), a2: site("a2", { suspended: true }), b });
    expect(await apply(second, given)).toMatchObject({ complete: true });
  });

  it("changes no object that the state or the declaration moves to its addresses", async () => {
    const { machines, apply, objects, victim } = await services();
    const given = { targets, objects, uses: 9, id: "m2" };
    const before = machines.host.sandbox.control.requests().length;
    const text = machines.state.text ?? "";
    const renamed = (from: string, to: string, of: string) => of.replaceAll(`"name": "${from}"`, `"name": "${to}"`);
    const swapped = renamed("#", "b", renamed("b", "a", renamed("a", "#", text)));
    expect(swapped).not.toBe(text);
    machines.state.text = swapped;
    const moved = declare({ a: site("b", { suspended: true }), b: site("a") });
    expect(await apply(moved, given)).toContain("mandate.scope");
    machines.state.text = text;
    const rest = { a: site("a"), b: site("b") };
    expect(await apply(declare({ ...rest, ax: victim }), given)).toContain("mandate.scope");
    const shared = { a: site("a"), b: site("b", { grants }) };
    expect(await apply(declare(shared), given)).toContain("mandate.scope");
    const sent = machines.host.sandbox.control.requests().slice(before);
    expect(sent.filter(({ method }) => method !== "GET")).toEqual([]);
    expect((await openLedger(machines.store(), machines.host.clock).read("m2")).uses).toEqual([]);
  });
});

describe("a runner with a slow clock", () => {
  it("cannot use a mandate that expired by the clock of the host", async () => {
    const { machines } = await start();
    const slow = { ...machines.host.clock, now: () => machines.host.clock.now() - 9_000_000 };
    const mandate = machines.sign({ issued: new Date(slow.now()).toISOString() });
    machines.host.clock.advance(7_300_000);
    const project = await machines.load(declare({ a: site("a") }), undefined, {}, undefined, slow);
    expect(await codesOf(project.apply(await project.plan(), { mandate }))).toEqual(["mandate.time"]);
    expect(machines.orders()).toEqual([]);
  });
});

describe("a mandate without kinds", () => {
  it("allows no change without a plan", async () => {
    const { apply } = await start();
    expect(await apply(declare({ a: site("a") }), { kinds: null })).toContain("mandate.scope");
  });
});
