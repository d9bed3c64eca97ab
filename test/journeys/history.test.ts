import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { HistoryEntry } from "../../src/core/model/index.ts";
import { type BackendUnderTest, httpBackend, pgBackend, RemoteProject } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { builtProgram } from "../support/program.ts";
import { POSTGRES, type Program } from "../support/programs.ts";
import { type Project, startProject } from "../support/project.ts";

const site = (name: string) => ({ plan_id: 11, currency: "USD", domain: `${name}.example`, deletion_policy: "forget" });
const sites = (...names: string[]) => Object.fromEntries(names.map((name) => [name, site(name)]));
const declare = (services: object, guards: object = {}) => ({ project: "acme", guards, services });
/** Exact amounts, billed in cents: plan 11 costs this account 450. */
const pinned = { plan: ["plan_id", "id"], money: ["minor"] } as const;
const KEY = Buffer.alloc(32, 1).toString("base64");
const NEW_KEY = Buffer.alloc(32, 2).toString("base64");

async function entriesOf(project: Project): Promise<HistoryEntry[]> {
  const { out, code, text } = await project.run("history", "--json");
  expect(code, text).toBe(0);
  return JSON.parse(out) as HistoryEntry[];
}
const ordersOf = (project: Project) =>
  project.control.requests().filter(({ path: of, method }) => method === "POST" && of.endsWith("/services"));
const fileOf = (project: Project) => `${project.statePath}.history`;

/** Fails unless the apply is rejected before its first order. */
async function expectRejected(project: Project, text: RegExp): Promise<void> {
  const before = ordersOf(project).length;
  const ran = await project.run("apply", "--auto-approve");
  expect(ran.code, ran.text).toBe(1);
  expect(ran.text).toMatch(text);
  expect(ordersOf(project)).toHaveLength(before);
}

describe("history", () => {
  it("has one entry for each run that changed something, with its orders beside their invoices", async () => {
    const project = await startProject({
      declare: declare({ www: { ...site("www"), grants: { "dev@acme.example": { permission: "view" } } } }),
      pinned,
    });
    project.env.HOSTFORM_AUTHOR = "ann";
    project.env.CI_JOB_URL = "https://ci.example/7";
    await project.run("plan");
    await project.apply();
    await project.apply();
    await project.declare(declare(sites("www")));
    await project.apply("--allow-removals");
    const [first, second, ...others] = await entriesOf(project);
    expect(others).toEqual([]);
    const [invoice] = project.control.list("invoices").filter(({ order_id: of }) => `${of}` === first?.orders[0]?.id);
    expect(first).toMatchObject({
      command: "apply",
      requests: 2,
      errors: [],
      orders: [{ currency: "USD", quote: 450, invoice: { total: invoice?.total, number: invoice?.invoice_number } }],
      details: { who: "ann", run: "https://ci.example/7" },
    });
    expect(second).toMatchObject({
      orders: [],
      details: { effects: [{ text: expect.stringContaining("loses view access") }] },
    });
    const shown = await project.run("history", "hosting_grant.www");
    expect(shown.out).toContain("dev@acme.example gets view access to www.example.");
    const unknown = await project.run("history", "hosting_service.wwww");
    expect(unknown.code).toBe(1);
    expect(unknown.text).toContain("No resource hosting_service.wwww is declared or in the state");
  });

  it("of an address or a domain has only its effects and orders, and names a new address", async () => {
    const project = await startProject({ declare: declare(sites("a", "b")), pinned });
    await project.apply();
    const shown = await project.run("history", "hosting_service.a");
    expect(shown.out).toMatch(/Order \d+ of a\.example: listed price/);
    expect(shown.out).toContain("\n1 order: 450 ");
    expect(shown.out).not.toContain("b.example");
    expect((await project.run("history", "a.example")).out).toBe(shown.out);
    await project.declare({
      ...declare({ c: site("a"), b: site("b") }),
      moved: [{ from: "hosting_service.a", to: "hosting_service.c" }],
    });
    await project.apply();
    expect((await project.run("history", "hosting_service.c")).out).toContain("hosting_service.a is renamed to");
  });

  it("records a failure and an interrupt, and the resolve of a lost response", async () => {
    const project = await startProject({ declare: declare(sites("www")), pinned });
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    project.clock.advance(3_600_000);
    const [service] = project.control.list("services").filter(({ domain }) => domain === "www.example");
    expect((await project.run("resolve", "hosting_service.www", "--adopt", `${service?.id}`)).code).toBe(0);
    const [lost, resolved] = await entriesOf(project);
    expect(lost).toMatchObject({ orders: [{ id: null, quote: 450, invoice: null }] });
    expect(resolved).toMatchObject({
      command: "resolve",
      orders: [{ id: `${service?.id}`, key: lost?.orders[0]?.key }],
    });
  });

  it("is pruned of people, and a changed line is reported", async () => {
    const project = await startProject({ declare: declare(sites("www")), pinned });
    await project.apply();
    expect((await project.run("history", "prune", "--before", "soon")).text).toContain("Expected a day");
    const future = await project.run("history", "prune", "--before", "2100-01-01");
    expect([future.code, future.text]).toEqual([1, expect.stringContaining("Pass a day that has begun.")]);
    project.clock.advance(86_400_000);
    const today = new Date(project.clock.now()).toISOString().slice(0, 10);
    const pruned = await project.run("history", "prune", "--before", today);
    expect(pruned.text).toContain(`from 1 entry before ${today}.`);
    expect(await entriesOf(project)).toMatchObject([{ details: null, orders: [{ quote: 450 }] }]);
    const text = await readFile(fileOf(project), "utf8");
    await writeFile(fileOf(project), text.replace('"before":""', '"before":"x"'));
    const broken = await project.run("history");
    expect([broken.code, broken.text]).toEqual([1, expect.stringContaining("line 1 does not continue")]);
    await project.declare(declare(sites("www", "shop"), { max_orders_day: 9 }));
    await expectRejected(project, /\[state\.history\]/);
  });

  it("is encrypted where the state is, and takes the new key", async () => {
    const project = await startProject({ declare: declare(sites("www")), pinned, env: { HOSTFORM_STATE_KEY: KEY } });
    await project.apply();
    expect(await readFile(fileOf(project), "utf8")).not.toMatch(/www|450|apply/);
    expect(await entriesOf(project)).toHaveLength(1);
    project.env.HOSTFORM_STATE_NEW_KEY = NEW_KEY;
    expect((await project.run("state", "rotate-key")).code).toBe(0);
    expect((await project.run("history")).text).toContain("[state.key]");
    project.env.HOSTFORM_STATE_KEY = NEW_KEY;
    expect(await entriesOf(project)).toHaveLength(1);
    expect((await project.run("state", "decrypt")).code).toBe(0);
    delete project.env.HOSTFORM_STATE_KEY;
    expect(await entriesOf(project)).toHaveLength(1);
  });

  it("that cannot be written is a warning after an apply, and with a limit an error before the order", async () => {
    const project = await startProject({ declare: declare(sites("www")), pinned });
    await mkdir(fileOf(project));
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.text).toMatch(/Apply complete! 1 added/);
    expect(ran.text).toMatch(/Warning: The history cannot be read or written \[state\.history\]/);
    await project.declare(declare(sites("www", "shop"), { max_spend_month: { USD: 9000 } }));
    await expectRejected(project, /Error: The history cannot be read or written/);
  });
});

describe("max_spend_month and max_orders_day", () => {
  it("count over runs, and begin again with the month and the day (UTC)", async () => {
    const project = await startProject({
      declare: declare(sites("a"), { max_spend_month: { USD: 900 }, max_orders_day: 1 }),
      pinned,
    });
    await project.apply();
    await project.declare(declare(sites("a", "b"), { max_spend_month: { USD: 900 }, max_orders_day: 1 }));
    await expectRejected(project, /max_orders_day allows 1, and today already has 1 order/);
    await project.declare(declare(sites("a", "b"), { max_spend_month: { USD: 899 } }));
    await expectRejected(project, /450 USD.*; max_spend_month allows 899 USD.*450 USD.* is spent this month/);
    const now = new Date(project.clock.now());
    project.clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime());
    await project.apply();
  });

  it("count orders that the history lacks by the account's invoices, and without billing by history alone", async () => {
    const project = await startProject({ declare: declare(sites("a")), pinned });
    await project.apply();
    await writeFile(fileOf(project), "");
    project.env.HOSTFORM_STORE = "memory";
    await project.declare(declare(sites("a", "b"), { max_spend_month: { USD: 500 } }));
    await expectRejected(project, /450 USD.* is spent this month.*Sources: history, invoices and reservations/s);
    project.control.addFault({ method: "GET", path: "/invoices", phase: "before", status: 403, times: 99 });
    await project.declare(declare(sites("a", "b", "c"), { max_spend_month: { USD: 500 } }));
    await expectRejected(project, /0 USD.* is spent this month.*Sources: history and reservations\. .*403/s);
  });

  it("of a policy tightens the guards, and an option cannot lift it", async () => {
    const project = await startProject({ declare: declare(sites("a"), { max_spend_month: { USD: 9000 } }), pinned });
    await project.declare("max_spend_month: {USD: 449}\nmax_orders_day: 0\n", "policy.yaml");
    const ran = await project.run("plan", "--policy", "policy.yaml");
    expect(ran.code).toBe(1);
    expect(ran.text).toMatch(/max_spend_month allows 449 USD/);
    expect(ran.text).toMatch(/max_orders_day allows 0/);
  });

  it("hold for two processes with their own states at the same time", { timeout: 60_000 }, async () => {
    const project = await startProject({ pinned });
    const program = await builtProgram();
    const folders = ["one", "two"].map((name) => path.join(project.dir, name));
    const env = { ...process.env, ...project.env, HOSTFORM_STATE_HOME: path.join(project.dir, "home") };
    for (const [at, folder] of folders.entries()) {
      await mkdir(folder);
      const names = Array.from({ length: 4 }, (_, nth) => `s${at}${nth}`);
      const text = JSON.stringify(declare(sites(...names), { max_spend_month: { USD: 2300 } }));
      await writeFile(path.join(folder, "hosting.yaml"), text);
    }
    const run = promisify(execFile);
    const ends = await Promise.allSettled(
      folders.map((cwd) => run(process.execPath, [program, "apply", "--auto-approve", "--no-wait"], { cwd, env })),
    );
    expect(ends.some(({ status }) => status === "rejected")).toBe(true);
    const created = project.control.list("services").filter(({ domain }) => /^s\d/.test(domain ?? ""));
    // Five orders of 450 stay within 2300.
    expect(created.length).toBeLessThanOrEqual(5);
    expect(created.length).toBeGreaterThanOrEqual(4);
  });
});

let postgres: Postgres | undefined;
beforeAll(async () => {
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

const REMOTE: readonly [name: string, start: () => Promise<BackendUnderTest>, ...programs: Program[]][] = [
  ["http", () => httpBackend("gitlab")],
  ["pg", () => pgBackend(postgres as Postgres), POSTGRES],
];
for (const [name, startBackend, ...programs] of REMOTE)
  describeWith(...programs)(`a history at the backend ${name}`, { timeout: 60_000 }, () => {
    it("is read and pruned from another folder", async () => {
      const backend = await startBackend();
      const project = await RemoteProject.start(backend);
      onTestFinished(() => project.close());
      await project.declare({ services: sites("a"), guards: { max_spend_month: { USD: 10_000 } } });
      if (name === "http") {
        const without = await project.hostform("apply", "--auto-approve");
        expect([without.code, without.text]).toEqual([1, expect.stringContaining("The backend http keeps no history")]);
        expect((await project.hostform("history")).text).toContain("HOSTFORM_HISTORY");
        project.env.HOSTFORM_HISTORY = path.join(project.dir, "shared.history");
      }
      for (const services of [sites("a"), sites("a", "b")]) {
        await project.declare({ services, guards: { max_spend_month: { USD: 10_000 } } });
        const ran = await project.hostform("apply", "--auto-approve", "--no-wait");
        expect(ran.code, ran.text).toBe(0);
      }
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
      onTestFinished(() => void vi.useRealTimers());
      const today = new Date().toISOString().slice(0, 10);
      expect((await project.hostform("history", "prune", "--before", today)).text).toContain(
        `from 2 entries before ${today}.`,
      );
      const { out, code, text } = await project.hostform("history", "--json");
      expect(code, text).toBe(0);
      expect(JSON.parse(out)).toMatchObject([
        { details: null, orders: [{}] },
        { details: null, orders: [{}] },
      ]);
    });
  });
