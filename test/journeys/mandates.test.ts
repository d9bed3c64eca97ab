/** Enforcement of mandates: a project of a program, against the sandbox. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { MemoryStore, MemoryTables } from "../../src/core/local/memory-store.ts";
import type { Mandate } from "../../src/core/model/index.ts";
import type { DeclarationValue } from "../../src/project/library.ts";
import { decodeReceipt, runnerOf } from "../../src/project/mandate/document.ts";
import { leftOf, openLedger } from "../../src/project/mandate/ledger.ts";
import fc, { runs } from "../support/fc.ts";
import { codesOf, Machines, meet, Process, SharedState, site, startHost } from "../support/mandate-machines.ts";
import { newKey } from "../support/mandates.ts";

const declare = (services: Record<string, object>, more: object = {}) =>
  ({ project: "acme", services, ...more }) as unknown as DeclarationValue;
const A = declare({ a: site("a") });
const AB = declare({ a: site("a"), b: site("b") });

const start = async () => new Machines(await startHost());

/** Requests that change the account. */
const mutations = ({ host }: Machines) => host.sandbox.control.requests().filter(({ method }) => method !== "GET");

const ledgerOf = (machines: Machines) => openLedger(machines.store(), machines.host.clock);

/** Machines whose store is on one machine. Each call of `forget` begins with an empty store. */
async function alone() {
  const host = await startHost();
  let tables = new MemoryTables();
  const store = () => new MemoryStore({ tables, clock: host.clock, account: "agency", sharing: "machine" });
  return { machines: new Machines(host, store), forget: () => (tables = new MemoryTables()) };
}

/** Returns a mandate for one plan. */
const planOf = ({ digest, json }: { readonly digest: string; readonly json: object }, text: string | undefined) => {
  const { lineage = "", serial = 0 } = JSON.parse(text ?? "{}") as { lineage?: string; serial?: number };
  expect(json).toBeDefined();
  return { digest, lineage, serial };
};

describe("an apply on a runner with HOSTFORM_APPROVERS", () => {
  it("needs a mandate, takes one use, returns a receipt, and is refused the second time", async () => {
    const machines = await start();
    const project = await machines.load(A);
    const plan = await project.plan();
    expect(await codesOf(project.apply(plan))).toEqual(["mandate.required"]);
    expect(mutations(machines)).toEqual([]);
    const mandate = machines.sign();
    expect(await project.apply(plan, { mandate })).toMatchObject({
      complete: true,
      receipt: {
        mandate: "m1",
        use: 1,
        complete: true,
        orders: [{ address: "hosting_service.a", currency: "USD", amount: 450, invoice: { total: 450 } }],
        left: { uses: 0, orders: 8, spend: { USD: 99_550 } },
      },
    });
    const more = await machines.load(AB);
    expect(await codesOf(more.apply(await more.plan(), { mandate }))).toEqual(["mandate.used"]);
    expect(machines.orders()).toHaveLength(1);
    expect((await ledgerOf(machines).read("m1")).uses).toMatchObject([{ use: 1, receipt: { use: 1 }, text: null }]);
  });

  it("takes no use for a plan without changes", async () => {
    const machines = await start();
    const project = await machines.load(A);
    await project.apply(await project.plan(), { mandate: machines.sign({ id: "m0" }) });
    await project.apply(await project.plan(), { mandate: machines.sign() });
    expect((await ledgerOf(machines).read("m1")).uses).toEqual([]);
  });

  it("refuses a mandate without approvers, of a stranger, and in the future", async () => {
    const machines = await start();
    const refused = async (mandate: string, env = {}) => {
      const project = await machines.load(A, undefined, env);
      return codesOf(project.apply(await project.plan(), { mandate }));
    };
    expect(await refused(machines.sign(), { HOSTFORM_APPROVERS: undefined })).toEqual(["mandate.signers"]);
    expect(await refused(machines.sign(), { HOSTFORM_APPROVERS: newKey().trusted })).toEqual(["mandate.signature"]);
    const later = { issued: "2030-01-01T00:00:00.000Z", expires: "2030-01-02T00:00:00.000Z" };
    expect(await refused(machines.sign(later))).toEqual(["mandate.time"]);
    expect(mutations(machines)).toEqual([]);
  });
});

describe("a mandate for one saved plan", () => {
  it("works with a store on one machine, and the state uses it up, also if the apply changed nothing", async () => {
    const { machines, forget } = await alone();
    const process = new Process();
    // The order is refused before the state records a create.
    process.onUse = async () => void (await ledgerOf(machines).revoke("m1"));
    const project = await machines.load(A, process);
    const plan = await project.plan();
    const mandate = machines.sign({ plan: planOf(plan, machines.state.text) });
    expect(await project.apply(plan, { mandate })).toMatchObject({ complete: false, receipt: { orders: [] } });
    expect(machines.orders()).toEqual([]);
    forget();
    const again = await machines.load(A);
    expect(await codesOf(again.apply(plan, { mandate }))).toEqual(["plan.saved"]);
    expect(machines.orders()).toEqual([]);
  });

  it("refuses every other plan, and an apply after an edit of any byte of its file", async () => {
    const { machines } = await alone();
    const project = await machines.load(A);
    const plan = await project.plan();
    await plan.save("a.plan");
    const file = path.join(machines.directory, "a.plan");
    const bytes = readFileSync(file);
    const read = await project.readPlan("a.plan");
    expect(read.digest).toBe(plan.digest);
    const mandate = machines.sign({ plan: planOf(plan, machines.state.text) });
    machines.host.clock.advance(1000);
    expect(await codesOf(project.apply(await project.plan(), { mandate }))).toEqual(["mandate.scope"]);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const edited = Buffer.from(bytes);
        edited[at] = (edited[at] ?? 0) ^ flip;
        writeFileSync(file, edited);
        const ended = await codesOf(project.readPlan("a.plan").then((one) => project.apply(one, { mandate })));
        expect(["plan.saved", "mandate.scope"]).toContain((ended as readonly string[])[0]);
      }),
      { numRuns: runs(160) },
    );
    expect(mutations(machines)).toEqual([]);
    writeFileSync(file, bytes);
    expect(await project.apply(await project.readPlan("a.plan"), { mandate })).toMatchObject({ complete: true });
  });

  it("is refused for another state than the state of the mandate", async () => {
    const { machines } = await alone();
    const project = await machines.load(A);
    const plan = await project.plan();
    const mandate = machines.sign({ plan: { ...planOf(plan, machines.state.text), serial: 7 } });
    expect(await codesOf(project.apply(plan, { mandate }))).toEqual(["mandate.scope"]);
  });
});

describe("the store of a mandate", () => {
  it.each<[string, Partial<Mandate>]>([
    ["several uses", { uses: 2 }],
    ["no plan", {}],
  ])("must be shared for a mandate with %s", async (_, given) => {
    const { machines } = await alone();
    const project = await machines.load(A);
    const plan = await project.plan();
    const bound = given.uses === undefined ? null : planOf(plan, machines.state.text);
    const mandate = machines.sign({ ...given, plan: bound });
    expect(await codesOf(project.apply(plan, { mandate }))).toEqual(["mandate.store"]);
    expect(mutations(machines)).toEqual([]);
  });

  it("must not be in memory", async () => {
    const host = await startHost();
    const machines = new Machines(host, () => new MemoryStore({ clock: host.clock }));
    const project = await machines.load(A);
    const plan = await project.plan();
    const mandate = machines.sign({ plan: planOf(plan, machines.state.text) });
    expect(await codesOf(project.apply(plan, { mandate }))).toEqual(["mandate.store"]);
  });
});

describe("the scope of a mandate", () => {
  const webhooks = { webhooks: { paid: { url: "https://hooks.example/in", events: ["invoice.paid"] } } };
  it.each<[string, string, Partial<Mandate>, DeclarationValue]>([
    ["another project", "mandate.scope", { project: "other" }, A],
    ["another environment", "mandate.scope", { environment: "prod" }, A],
    ["another account", "mandate.scope", { accounts: { other: { origin: "https://x.example", anchors: [] } } }, A],
    ["another kind", "mandate.scope", { kinds: ["service"] }, declare({}, webhooks)],
    ["another address", "mandate.scope", { targets: ["hosting_service.b*"] }, A],
    ["another client", "mandate.scope", { targets: ["client:acme"] }, declare({ a: site("a", { client: "zeta" }) })],
    ["too many orders", "mandate.scope", { max_orders: 1 }, AB],
    ["too high an amount", "mandate.scope", { max_spend: { USD: 899 } }, AB],
    ["a currency without a limit", "mandate.scope", { max_spend: { EUR: 899_000 } }, A],
    ["orders without a limit of the amount", "mandate.scope", { max_spend: null }, A],
  ])("refuses a plan with %s before the first request", async (_, code, given, declaration) => {
    const machines = await start();
    const project = await machines.load(declaration);
    const plan = await project.plan();
    const ended = await codesOf(project.apply(plan, { mandate: machines.sign(given) }));
    if (given.accounts !== undefined) expect(ended).toEqual(["provider.unknown"]);
    else expect((ended as readonly string[])[0]).toBe(code);
    expect(mutations(machines)).toEqual([]);
    expect((await ledgerOf(machines).read("m1")).uses).toEqual([]);
  });

  it("refuses an account with another address, and an account without the objects of the mandate", async () => {
    const machines = await start();
    const project = await machines.load(A);
    const plan = await project.plan();
    const { origin } = Object.values(machines.mandate().accounts)[0] ?? { origin: "" };
    const anchors = ["901", "902"].map((id) => ({ type: "hosting_service", id, created_at: null }));
    for (const one of [
      { origin: "https://other.example", anchors: [] },
      { origin, anchors },
    ]) {
      const mandate = machines.sign({ accounts: { default: one } });
      expect(await codesOf(project.apply(plan, { mandate }))).toEqual(["account.foreign"]);
    }
    expect(mutations(machines)).toEqual([]);
  });

  it("allows resources of its targets, by address and by client, before and after the change", async () => {
    const machines = await start();
    const apply = async (declaration: DeclarationValue, given: Partial<Mandate>) => {
      const project = await machines.load(declaration);
      const plan = await project.plan({ allowRemovals: true });
      return codesOf(project.apply(plan, { mandate: machines.sign(given) }));
    };
    const of = (client: string, suspended = false) => declare({ a: site("a", { client, suspended }) });
    expect(await apply(of("acme"), { id: "m1", targets: ["client:ac*"] })).toMatchObject({ complete: true });
    expect(await apply(of("zeta", true), { id: "m2", targets: ["client:zeta"] })).toEqual(["mandate.scope"]);
    expect(await apply(of("zeta", true), { id: "m3", targets: ["client:*"] })).toMatchObject({ complete: true });
    expect(await apply(declare({}), { id: "m4", targets: ["hosting_service.a"], max_removals: 1 })).toMatchObject({
      complete: true,
    });
  });

  it("refuses removals beyond its limit, and sites that go offline", async () => {
    const machines = await start();
    const project = await machines.load(AB);
    await project.apply(await project.plan(), { mandate: machines.sign() });
    const apply = async (declaration: DeclarationValue, given: Partial<Mandate>) => {
      const next = await machines.load(declaration);
      const plan = await next.plan({ allowRemovals: true });
      return codesOf(next.apply(plan, { mandate: machines.sign(given) }));
    };
    const offline = declare({ a: site("a", { suspended: true }), b: site("b") });
    expect(await apply(offline, { id: "m2", no_offline: true })).toEqual(["mandate.scope"]);
    expect(await apply(declare({}), { id: "m3", max_removals: 1 })).toEqual(["mandate.scope"]);
    expect(await apply(A, { id: "m3", max_removals: 1, uses: 2 })).toMatchObject({
      complete: true,
      receipt: { left: { removals: 0, uses: 1 } },
    });
    expect(await apply(declare({}), { id: "m3", max_removals: 1, uses: 2 })).toEqual(["mandate.scope"]);
  });
});

describe("the time of a mandate", () => {
  it("ends between plan and apply, and a running apply sends no further order", async () => {
    const machines = await start();
    const { clock } = machines.host;
    const project = await machines.load(AB);
    const plan = await project.plan();
    const mandate = machines.sign();
    machines.host.onExchange = ({ method, url }) => {
      if (method === "POST" && url.endsWith("/services")) clock.advance(8_000_000);
    };
    const applied = await project.apply(plan, { mandate });
    expect(applied).toMatchObject({ complete: false, receipt: { complete: false, orders: [{ amount: 450 }] } });
    expect(applied.changes.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code))).toEqual(["mandate.time"]);
    expect(machines.orders()).toHaveLength(1);
    expect(await codesOf(project.apply(await project.plan(), { mandate }))).toEqual(["mandate.time"]);
  });

  it("ends with a revocation on another machine, also for a running apply", async () => {
    const machines = await start();
    const project = await machines.load(AB);
    const plan = await project.plan();
    machines.host.onExchange = ({ method }) => {
      if (method === "POST") void ledgerOf(machines).revoke("m1");
    };
    const mandate = machines.sign({ uses: 2 });
    const applied = await project.apply(plan, { mandate });
    expect(applied.changes.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code))).toEqual([
      "mandate.revoked",
    ]);
    expect(machines.orders()).toHaveLength(1);
    expect(await codesOf(project.apply(await project.plan(), { mandate }))).toEqual(["mandate.revoked"]);
  });
});

describe("two machines at once", () => {
  it("together never order more than the mandate allows", async () => {
    const machines = await start();
    const states = [new SharedState(), new SharedState()];
    const processes = states.map(() => new Process());
    meet(processes);
    const mandate = machines.sign({ uses: 2, max_orders: 1 });
    const plans = await Promise.all(
      states.map(async (state, at) => {
        const project = await machines.load(declare({ [`s${at}`]: site(`s${at}`) }), processes[at], {}, state);
        return { project, plan: await project.plan() };
      }),
    );
    const ended = await Promise.all(plans.map(({ project, plan }) => codesOf(project.apply(plan, { mandate }))));
    expect(machines.orders().length, JSON.stringify(ended)).toBeLessThanOrEqual(1);
    expect((await ledgerOf(machines).read("m1")).orders.size).toBe(machines.orders().length);
  });
});

describe("an order whose response was lost", () => {
  it("counts with its maximum, and once if the next use sends it again", async () => {
    const machines = await start();
    machines.host.sandbox.control.addFault({
      method: "POST",
      path: "/services",
      phase: "before",
      drop: true,
      times: 9,
    });
    const mandate = machines.sign({ uses: 2, max_orders: 1, max_spend: { USD: 450 } });
    const first = await machines.load(A);
    const lost = await first.apply(await first.plan(), { mandate });
    expect(lost).toMatchObject({
      receipt: { orders: [{ id: null, amount: 450 }], left: { orders: 0, spend: { USD: 0 } } },
    });
    machines.host.sandbox.control.clearFaults();
    machines.host.clock.advance(3_600_000);
    const second = await machines.load(A);
    const ended = await second.apply(await second.plan(), { mandate });
    expect(ended).toMatchObject({ complete: true, receipt: { orders: [{ amount: 450 }], left: { orders: 0 } } });
    expect(machines.orders()).toHaveLength(1);
    const record = await ledgerOf(machines).read("m1");
    expect([record.orders.size, leftOf(machines.mandate({ max_spend: { USD: 450 } }), record).spend]).toEqual([
      1,
      { USD: 0 },
    ]);
  });
});

describe("a saved plan with a mandate for any plan", () => {
  it("must be signed with the key of the state", async () => {
    const machines = await start();
    const project = await machines.load(A);
    await (await project.plan()).save("a.plan");
    const mandate = machines.sign();
    expect(await codesOf(project.apply(await project.readPlan("a.plan"), { mandate }))).toEqual(["mandate.scope"]);
  });
});

describe("the receipt of an apply", () => {
  it("is signed with the key of the runner", async () => {
    const machines = await start();
    const { pem, trusted } = newKey();
    const file = path.join(machines.directory, "runner.pem");
    writeFileSync(file, pem, { mode: 0o600 });
    const project = await machines.load(A, undefined, { HOSTFORM_RECEIPT_KEY_FILE: file });
    await project.apply(await project.plan(), { mandate: machines.sign() });
    const {
      uses: [use],
    } = await ledgerOf(machines).read("m1");
    expect(runnerOf(use?.text ?? "", "r", { HOSTFORM_RUNNERS: `ci=${trusted}` })).toBe("ci");
    expect(decodeReceipt(use?.text ?? "", "r")).toEqual(use?.receipt);
  });
});
