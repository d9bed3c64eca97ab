/** Workers of a fleet: real processes that share a queue in PostgreSQL. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, it as base, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { FleetReport } from "../../src/report/index.ts";
import { signatureOf } from "../../src/webhooks/index.ts";
import { domainOf, FleetUnderTest, until } from "../support/fleet-workers.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES } from "../support/programs.ts";
import { startProject } from "../support/project.ts";

let postgres: Postgres | undefined;

beforeAll(async () => {
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

type Options = Partial<Parameters<typeof FleetUnderTest.start>[1]>;

const it = base.extend<{ fleetOf: (projects: number, options?: Options) => Promise<FleetUnderTest> }>({
  fleetOf: async ({ task: _ }, use) => {
    const fleets: FleetUnderTest[] = [];
    await use(async (projects, options = {}) => {
      const fleet = await FleetUnderTest.start(postgres as Postgres, { projects, tokens: 3, ...options });
      fleets.push(fleet);
      return fleet;
    });
    for (const fleet of fleets) await fleet.close();
  },
});

const everyResult = async (fleet: FleetUnderTest, wanted: readonly string[]) => {
  const results = Object.values(await fleet.results());
  return results.length === fleet.names.length && results.every((result) => wanted.includes(result));
};

/** Delays the response to the next order of a host. */
const holdAnswer = (fleet: FleetUnderTest, project: string, delayMs: number) =>
  fleet.hostOf(project).control.addFault({ method: "POST", path: "/services", phase: "after", delayMs });

describeWith(POSTGRES)("two workers of a fleet", { timeout: 120_000, concurrent: true }, () => {
  it("check and apply all projects within the interval, and serve their results", async ({ fleetOf }) => {
    const fleet = await fleetOf(12);
    const started = Date.now();
    const [first, second] = [
      await fleet.worker("--auto-approve", "--metrics", "0"),
      await fleet.worker("--auto-approve"),
    ];
    await until(
      () => everyResult(fleet, ["applied", "same"]),
      () => first.text + second.text,
    );
    expect(Date.now() - started).toBeLessThan(60_000);
    expect(fleet.ordered()).toEqual(fleet.names.map(domainOf));
    const due = await fleet.query(
      `SELECT count(*)::int AS count FROM hostform_fleet.job JOIN hostform_fleet.result ON singleton_key = project
       WHERE state = 'created' AND start_after < checked + interval '1 minute'`,
    );
    expect(due).toEqual([{ count: 12 }]);

    const page = async (at: string) => (await fetch(`${first.urls[0]}${at}`)).text();
    expect(await page("/healthz")).toMatch(/^last successful check: \d+ s ago\n$/);
    expect(await page("/metrics")).toContain('hostform_fleet_projects{result="applied"} 12\n');
    expect(await page("/metrics")).toContain("hostform_fleet_orders 12\n");
    expect(await page("/")).toContain("customers/p0011");
    const recorded = await fleet.run("status", "--recorded");
    expect(recorded.text).toContain("12 projects: 12 applied.");
    expect(recorded.text).toMatch(/customers\/p0000 {2}applied: .*; checked \d{4}-/);
    expect(await first.end("SIGTERM"), first.text).toBe(0);
  });

  it("take the checks of a worker that was stopped, whose apply records its last response", async ({ fleetOf }) => {
    const fleet = await fleetOf(3, { tokens: 1, fleet: { parallelism: 1 } });
    holdAnswer(fleet, "p0000", 3_000);
    const stopped = await fleet.worker("--auto-approve");
    await until(
      () => fleet.ordered().length === 1,
      () => stopped.text,
    );
    expect(await stopped.end("SIGINT"), stopped.text).toBe(0);
    expect(fleet.ordered()).toHaveLength(1);
    const active = await fleet.query("SELECT singleton_key FROM hostform_fleet.job WHERE state = 'active'");
    expect(active).toEqual([]);
    const heir = await fleet.worker("--auto-approve");
    await until(
      () => everyResult(fleet, ["applied", "same"]),
      () => heir.text,
    );
    expect(fleet.ordered()).toEqual(fleet.names.map(domainOf));
  });

  it("handle a delivery once, whichever worker receives it, and refuse forged ones", async ({ fleetOf }) => {
    const fleet = await fleetOf(2, {
      tokens: 1,
      fleet: { projects: [{ path: "customers/*", secret_env: "HOOK_SECRET" }] },
      env: { HOOK_SECRET: "a-secret-of-the-webhook" },
    });
    const workers = [await fleet.worker("--listen", "0"), await fleet.worker("--listen", "0")];
    const text = () => workers.map((worker) => worker.text).join("");
    await until(() => everyResult(fleet, ["differs"]), text);
    const body = JSON.stringify({
      event: "service.suspended",
      data: { id: randomUUID() },
      timestamp: "2026-11-21T10:00:00Z",
    });
    const post = async (url: string | undefined, at: string, secret = "a-secret-of-the-webhook") => {
      const headers = { "x-service-signature": signatureOf(body, secret) };
      return (await fetch(`${url}${at}`, { method: "POST", body, headers })).status;
    };
    const both = () => Promise.all(workers.map(({ urls: [url] }) => post(url, "/customers/p0001")));
    expect(await both()).toEqual([204, 204]);
    await until(() => text().includes("customers/p0001: differs (event)"), text);
    expect(await both()).toEqual([204, 204]);
    expect(await post(workers[0]?.urls[0], "/customers/p0001", "another-secret")).toBe(401);
    expect(await post(workers[0]?.urls[0], "/customers/none")).toBe(404);
    await expect(fleet.query("SELECT count(*)::int AS count FROM hostform_fleet.delivery")).resolves.toEqual([
      { count: 1 },
    ]);
    await until(
      async () => (await fleet.query("SELECT 1 FROM hostform_fleet.job WHERE state = 'active'")).length === 0,
    );
    expect(text().match(/\(event\)/g)).toHaveLength(1);
  });

  it("apply a wave only after the wave before, and check the projects that a person names first", async ({
    fleetOf,
  }) => {
    const notify = [{ command: ["tee", "-a", "news.txt"] }];
    const fleet = await fleetOf(4, { tokens: 1, fleet: { waves: [1], notify } });
    fleet.hostOf("p0000").control.addFault({ method: "POST", path: "/services", phase: "before", status: 422 });
    const worker = await fleet.worker("--auto-approve");
    await until(
      async () => Object.keys(await fleet.results()).length === 4,
      () => worker.text,
    );
    expect(await fleet.results()).toEqual({ p0000: "failed", p0001: "differs", p0002: "differs", p0003: "differs" });
    expect((await fleet.run("status", "--recorded")).text).toContain(
      "1 order: 450 (USD, API's unit); waits for wave 1;",
    );
    expect(fleet.ordered()).toEqual([]);

    const check = async (name: string) => expect(await fleet.run("check", name)).toMatchObject({ code: 0 });
    await check("customers/p0000");
    await until(
      async () => (await fleet.results()).p0000 === "applied",
      () => worker.text,
    );
    await check("customers/*");
    await until(
      () => everyResult(fleet, ["applied", "same"]),
      () => worker.text,
    );
    expect(worker.text).toContain("customers/p0003: applied (person)");
    const news = readFileSync(path.join(fleet.dir, "customers/p0003/news.txt"), "utf8");
    expect(news).toContain("Apply complete!");
    expect(news).not.toContain("A plan waits");
    expect(fleet.ordered()).toEqual(fleet.names.map(domainOf));
  });

  it("order at most the limit of the fleet together", async ({ fleetOf }) => {
    const fleet = await fleetOf(8, { tokens: 8, fleet: { guards: { max_orders: 3 }, parallelism: 4 } });
    const workers = [await fleet.worker("--auto-approve"), await fleet.worker("--auto-approve")];
    await until(
      async () => Object.keys(await fleet.results()).length === 8,
      () => workers.map(({ text }) => text).join(""),
    );
    const results = Object.values(await fleet.results()).sort();
    expect(results).toEqual([...Array(3).fill("applied"), ...Array(5).fill("not_started")]);
    expect(fleet.ordered()).toHaveLength(3);
    const recorded = await fleet.run("status", "--recorded");
    expect(recorded.text).toContain("The fleet would order 4 within 1 minute; the limit is 3 [fleet.guard]");
  });
});

describeWith(POSTGRES)("a worker of a fleet with a database", { timeout: 120_000, concurrent: true }, () => {
  /** Long enough that no check of the schedule runs during a test. */
  const interval = "1h";
  const resultOf = async (fleet: FleetUnderTest, name: string) => (await fleet.results())[name];
  const check = async (fleet: FleetUnderTest, name: string) =>
    expect(await fleet.run("check", `*${name}`)).toMatchObject({ code: 0 });

  it("applies changed files of a later project only after a good check of the changed files of a canary", async ({
    fleetOf,
  }) => {
    const fleet = await fleetOf(2, { tokens: 1, fleet: { waves: [1], interval } });
    const worker = await fleet.worker("--auto-approve");
    const recorded = () => fleet.run("status", "--recorded");
    await until(
      () => everyResult(fleet, ["applied", "same", "differs"]),
      () => worker.text,
    );
    await check(fleet, "p0001");
    await until(
      async () => (await resultOf(fleet, "p0001")) === "applied",
      () => worker.text,
    );

    for (const name of fleet.names) fleet.declare(name, 2);
    await check(fleet, "p0001");
    await until(async () => (await recorded()).text.includes("waits for wave 1"));
    expect(fleet.ordered()).toEqual(fleet.names.map(domainOf));
    await check(fleet, "p0000");
    await until(() => fleet.ordered().length === 3);
    await until(async () => (await resultOf(fleet, "p0000")) === "applied");
    await check(fleet, "p0001");
    await until(() => fleet.ordered().length === 4);

    fleet.declare("p0001", 3);
    await check(fleet, "p0001");
    await until(
      () => fleet.ordered().length === 5,
      () => `A change of one later project waits.\n${worker.text}`,
    );
  });

  it("applies nothing by an earlier fleet.yaml: the next check uses the new limits, and an error stops the apply", async ({
    fleetOf,
  }) => {
    const fleet = await fleetOf(1, { tokens: 1, fleet: { guards: { max_orders: 9 }, interval } });
    const worker = await fleet.worker();
    await until(async () => (await resultOf(fleet, "p0000")) === "differs");
    await worker.end("SIGTERM");
    const { control } = fleet.hostOf("p0000");
    const duringPlan = async (change: () => void) => {
      control.addFault({ method: "GET", path: "/services", phase: "after", delayMs: 3_000 });
      const read = () => control.requests().filter(({ path: at }) => at.includes("/services")).length;
      const before = read();
      await check(fleet, "p0000");
      await until(() => read() > before);
      change();
    };
    const applying = await fleet.worker("--auto-approve");
    await duringPlan(() => fleet.configure({ interval, guards: { max_orders: 0 } }));
    await until(
      async () => (await resultOf(fleet, "p0000")) === "not_started",
      () => applying.text,
    );
    expect(applying.text).toContain("customers/p0000: differs (person)");

    fleet.configure({ interval });
    await duringPlan(() =>
      writeFileSync(path.join(fleet.dir, "fleet.yaml"), "fleet: agency\nprojects: [{path: a}]\nwave: 1\n"),
    );
    await until(
      async () => (await resultOf(fleet, "p0000")) === "failed",
      () => applying.text,
    );
    expect(applying.text).toContain('"wave" is not known. Did you mean "waves"?');
    expect(fleet.ordered()).toEqual([]);
  });

  it("does not begin a later wave while an entry of the first wave has an error", async ({ fleetOf }) => {
    const fleet = await fleetOf(1, { tokens: 1 });
    fleet.configure({ interval, projects: [{ path: "missing" }, { path: "customers/*" }], waves: [1] });
    const worker = await fleet.worker("--auto-approve");
    await until(async () => (await resultOf(fleet, "p0000")) !== undefined);
    expect((await fleet.run("status", "--recorded")).text).toContain("waits for wave 1");
    expect(worker.text).toContain("projects[0]: no folder matches missing");
    expect(fleet.ordered()).toEqual([]);
  });

  it("keeps the last valid files of a repository after a broken commit", async ({ fleetOf }) => {
    const fleet = await fleetOf(1, { tokens: 1 });
    const git = (...args: string[]) => {
      const options = ["-c", "user.name=ana", "-c", "user.email=ana@agency.example", "-c", "init.defaultBranch=main"];
      return execFileSync("git", [...options, ...args], { cwd: fleet.dir })
        .toString()
        .trim();
    };
    const commit = (change: () => void) => {
      change();
      git("add", "customers");
      git("commit", "--quiet", "--allow-empty", "--message", "change");
      return git("rev-parse", "HEAD");
    };
    git("init", "--quiet");
    const first = commit(() => {});
    fleet.configure({ interval, projects: [{ git: `file://${fleet.dir}`, path: "customers/p0000" }] });
    const worker = await fleet.worker("--auto-approve");
    const project = async () => {
      const { text } = await fleet.run("status", "--recorded", "--json");
      return (JSON.parse(text.slice(text.indexOf("{"))) as FleetReport).projects[0];
    };
    await until(
      async () => (await project())?.result === "applied",
      () => worker.text,
    );
    expect((await project())?.commit).toBe(first);

    const file = path.join(fleet.dir, "customers/p0000/hosting.yaml");
    commit(() => writeFileSync(file, "project: p0000\nservices: {s0: {plan: 11}}\n"));
    await check(fleet, "p0000");
    await until(async () => (await project())?.result === "failed");
    const errors = (await project())?.errors;
    expect(errors?.[0]?.summary).toContain("plan_id");
    expect(errors?.at(-1)?.summary).toContain(`the checkout keeps the last valid commit ${first}`);
    const [checkedOut = ""] = globSync(path.join(fleet.dir, "home-*/fleet/*/customers/p0000/hosting.yaml"));
    expect(readFileSync(checkedOut, "utf8")).toContain("plan_id");
    expect(fleet.ordered()).toEqual([domainOf("p0000")]);

    const third = commit(() => fleet.declare("p0000", 2));
    await check(fleet, "p0000");
    await until(() => fleet.ordered().length === 2);
    await until(async () => (await project())?.commit === third);
  });

  it("reports a restored store on standard error and in the report of a project", async ({ fleetOf }) => {
    const fleet = await fleetOf(2, { tokens: 1 });
    const restore = async () => {
      const put = await (postgres as Postgres).backup(fleet.connection);
      await put();
    };
    expect(await fleet.run("plan")).toMatchObject({ code: 0 });
    await restore();
    const { text } = await fleet.run("plan");
    expect(text).toMatch(/^Warning: .* was restored from a backup.*\[store\.restored\]/m);
    expect(text).toMatch(/^ {2}Warning: .* was restored from a backup/m);

    await restore();
    const worker = await fleet.worker();
    await until(() => everyResult(fleet, ["differs"]));
    expect(worker.text).toMatch(/^Warning: .*\[store\.restored\]/m);
    expect((await fleet.run("status", "--recorded")).text).toMatch(/^ {2}Warning: .*\[store\.restored\]/m);
  });

  it("checks all projects soon after SIGHUP, although their interval is long", async ({ fleetOf }) => {
    const fleet = await fleetOf(2, { fleet: { interval } });
    const worker = await fleet.worker();
    await until(() => everyResult(fleet, ["differs"]));
    worker.process.kill("SIGHUP");
    await until(
      () => fleet.names.every((name) => worker.text.includes(`customers/${name}: differs (reload)`)),
      () => worker.text,
    );
    expect(worker.isEnded).toBe(false);
  });

  it("cancels its requests after the second Ctrl-C, keeps their creates pending, and its heir orders nothing twice", async ({
    fleetOf,
  }) => {
    const fleet = await fleetOf(1, { tokens: 1 });
    holdAnswer(fleet, "p0000", 25_000);
    const stopped = await fleet.worker("--auto-approve");
    await until(
      () => fleet.ordered().length === 1,
      () => stopped.text,
    );
    const begun = performance.now();
    stopped.process.kill("SIGINT");
    await pause(500);
    expect(stopped.isEnded).toBe(false);
    expect(stopped.text).toContain("Waiting for 1 running check. Press Ctrl-C again to cancel.");
    expect(await stopped.end("SIGINT"), stopped.text).toBe(0);
    expect(stopped.text).toContain("Stopped. The requests in progress were canceled");
    expect(performance.now() - begun).toBeLessThan(12_000);
    const heir = await fleet.worker("--auto-approve");
    await until(
      () => everyResult(fleet, ["applied", "same"]),
      () => heir.text,
    );
    expect(fleet.ordered()).toEqual([domainOf("p0000")]);
  });

  it("leaves its check and the orders of its limits to others if it is killed", async ({ fleetOf }) => {
    const fleet = await fleetOf(2, { tokens: 1, fleet: { parallelism: 1, interval, guards: { max_orders: 1 } } });
    const [first = "", second = ""] = fleet.names;
    fleet.hosts[0]?.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 10_000 });
    const killed = await fleet.worker("--auto-approve");
    await until(
      () => fleet.ordered().length === 1,
      () => killed.text,
    );
    const [ordered = ""] = fleet.ordered();
    const [own, other] = ordered === domainOf(first) ? [first, second] : [second, first];
    await killed.end("SIGKILL");
    // The queue gives a check to another worker after 20 seconds without a sign of its worker.
    await fleet.query("UPDATE hostform_fleet.job SET heartbeat_on = now() - interval '1 hour' WHERE state = 'active'");
    const heir = await fleet.worker("--auto-approve");
    await until(
      async () => Object.keys(await fleet.results()).length === 2,
      () => heir.text,
    );
    await expect(fleet.results()).resolves.toMatchObject({ [other]: "not_started" });
    expect(["applied", "same"]).toContain(await resultOf(fleet, own));
    expect(fleet.ordered()).toEqual([ordered]);
    const counted = await fleet.query("SELECT sum((report->>'orders')::int)::int AS orders FROM hostform_fleet.change");
    expect(counted).toEqual([{ orders: 1 }]);
  });

  it("reports a running check beside the last result, and says so if no check has ended", async ({ fleetOf }) => {
    const fleet = await fleetOf(1, { tokens: 1, fleet: { interval } });
    expect((await fleet.run("status", "--recorded")).text).toBe("No project was checked yet.\n");
    const worker = await fleet.worker();
    await until(() => everyResult(fleet, ["differs"]));
    fleet.hostOf("p0000").control.addFault({ method: "GET", path: "/services", phase: "after", delayMs: 8_000 });
    await check(fleet, "p0000");
    await until(
      async () => /checked .*; checking since \d{4}-/.test((await fleet.run("status", "--recorded")).text),
      () => worker.text,
    );
  });
});

describeWith(POSTGRES)("a worker of a fleet whose database restarts", { timeout: 90_000 }, () => {
  it("reports the outage once with its reason, and the return of the database", async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const fleet = await FleetUnderTest.start(own, { projects: 2, tokens: 1 });
    onTestFinished(() => fleet.close());
    const worker = await fleet.worker("--auto-approve");
    await until(() => everyResult(fleet, ["applied", "same"]));
    await own.restart(8_000);
    await until(
      () => worker.text.includes("The database of the queue responds again."),
      () => worker.text,
    );
    const warnings = worker.text.match(/^Warning: The queue of the fleet failed: .*/gm);
    expect(warnings, worker.text).toHaveLength(1);
    expect(warnings?.[0]).toMatch(/terminat|ECONN/);
    expect(worker.text).not.toContain("[object");
  });
});

describe("a worker of a fleet", () => {
  it("names the database that it needs", async () => {
    const project = await startProject();
    await project.declare({ fleet: "agency", projects: [{ path: "customers/*" }] }, "fleet.yaml");
    const ran = await project.run("fleet", "run");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("HOSTFORM_STORE=postgres://USER@HOST/DATABASE");
    expect(ran.err).toContain("[fleet.queue]");
    project.env.HOSTFORM_STORE = "";
    const empty = await project.run("fleet", "run");
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining("HOSTFORM_STORE is set, but empty")]);
  });
});
