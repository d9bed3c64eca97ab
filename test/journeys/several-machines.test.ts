/** Processes with homes of their own, as on several machines, which share a store in PostgreSQL. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { until } from "../support/fleet-workers.ts";
import { temporaryFolder } from "../support/folder.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { builtProgram } from "../support/program.ts";
import { POSTGRES } from "../support/programs.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";

const MAIN = await builtProgram();

describeWith(POSTGRES)("two machines with one token and one store in PostgreSQL", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  const machine = (folder: string, declaration: object, env: Record<string, string>) => {
    const dir = path.join(folder, "project");
    mkdirSync(dir, { recursive: true });
    writeFileSync(path.join(dir, "hosting.yaml"), JSON.stringify(declaration));
    const start = (...args: string[]) => {
      const child = spawn(process.execPath, [MAIN, ...args], {
        cwd: dir,
        env: { PATH: process.env.PATH, HOME: folder, HOSTFORM_STATE_HOME: path.join(folder, "home"), ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          text += chunk;
        });
      const ended = new Promise<{ readonly code: number | null; readonly text: string }>((resolve) =>
        child.once("close", (code) => resolve({ code, text })),
      );
      return { ended, kill: () => child.kill("SIGKILL") };
    };
    return { start, run: (...args: string[]) => start(...args).ended };
  };
  const services = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, { plan_id: 11, currency: "USD", domain: `${name}.example` }]));

  it("order twelve services within the limit, without a refusal and without a duplicate", async () => {
    const sandbox = await startSandbox({ rateLimit: 20, autoPay: true, provisioningSeconds: 0, ...profileOfRun() });
    onTestFinished(() => sandbox.close());
    const connection = await postgres.database();
    const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, HOSTFORM_STORE: connection };
    const providers = { default: { requests_per_minute: 20 } };
    const ended = await Promise.all(
      ["a", "b"].map((name) => {
        const names = Array.from({ length: 6 }, (_, nth) => `${name}${nth}`);
        const declaration = { project: name, providers, guards: { max_orders: 10 }, services: services(...names) };
        return machine(path.join(temporaryFolder(), name), declaration, env).run(
          "apply",
          "--auto-approve",
          "--no-wait",
        );
      }),
    );
    for (const { code, text } of ended) expect({ code, text }).toMatchObject({ code: 0 });
    expect(sandbox.control.requests().filter(({ status }) => status === 429)).toEqual([]);
    const domains = sandbox.control.list("services").flatMap(({ domain }) => domain ?? []);
    expect(domains.filter((one) => /^[ab]\d\.example$/.test(String(one)))).toHaveLength(12);
    expect(new Set(domains).size).toBe(domains.length);
    const [window] = await postgres.query(connection, "SELECT record FROM hostform.windows");
    expect(JSON.stringify(window)).not.toContain(sandbox.tokens.agency.split("|")[1]);
    for (const { text } of ended) expect(text).not.toContain(postgres.password);
  }, 180_000);

  it("make the same object once", async () => {
    const sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0, ...profileOfRun() });
    onTestFinished(() => sandbox.close());
    const env = {
      ...{ HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency },
      HOSTFORM_STORE: await postgres.database(),
    };
    const declaration = { project: "acme", services: services("www") };
    const machines = ["a", "b"].map((name) => machine(path.join(temporaryFolder(), name), declaration, env));
    const ended = await Promise.all(machines.map(({ run }) => run("apply", "--auto-approve", "--no-wait")));
    expect(ended.map(({ code }) => code).sort(), ended.map(({ text }) => text).join("\n")).toEqual([0, 1]);
    const domains = sandbox.control.list("services").map(({ domain }) => domain);
    expect(domains.filter((one) => one === "www.example")).toHaveLength(1);
  }, 60_000);

  it("order nothing twice after a kill and a restored backup of the store", async () => {
    const { profile } = profileOfRun({ list_lag: ["four_seconds"], weather: ["calm"] });
    const sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0, profile });
    onTestFinished(() => sandbox.close());
    const connection = await postgres.database();
    const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, HOSTFORM_STORE: connection };
    const folder = temporaryFolder();
    const on = (name: string, ...names: string[]) => {
      const providers = { default: { list_lag: "5s" } };
      return machine(path.join(folder, name), { project: name, providers, services: services(...names) }, env);
    };
    const apply = ["apply", "--auto-approve", "--no-wait"];
    const ordered = () =>
      sandbox.control.list("services").flatMap(({ domain }) => (/^(?:own|www)\./.test(String(domain)) ? [domain] : []));
    expect(await on("b", "own").run(...apply)).toMatchObject({ code: 0 });
    const restore = await postgres.backup(connection);

    sandbox.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 60_000 });
    const killed = on("a", "www").start(...apply);
    await until(() => ordered().includes("www.example"));
    killed.kill();
    await killed.ended;
    await restore();

    const from = sandbox.control.requests().length;
    const other = await on("b", "own", "www").run(...apply);
    expect(other).toMatchObject({ code: 1, text: expect.stringContaining("[store.restored]") });
    expect(other.text).toContain("[plan.exists]");
    const own = await on("a", "www").run(...apply);
    expect(own.code, own.text).toBe(0);
    expect(ordered().sort()).toEqual(["own.example", "www.example"]);
    const sent = sandbox.control.requests().slice(from);
    expect(sent.filter(({ method }) => method !== "GET")).toEqual([]);
  }, 60_000);

  it("send nothing while the store is unreachable, and name the database without its password", async () => {
    const sandbox = await startSandbox({ rateLimit: 0, ...profileOfRun() });
    onTestFinished(() => sandbox.close());
    const env = {
      ...{ HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency },
      HOSTFORM_STORE: "postgres://u:canary-of-the-store@127.0.0.1:1/teams?sslmode=disable",
    };
    const declaration = { project: "acme", services: services("www") };
    const { run } = machine(temporaryFolder(), declaration, env);
    const { code, text } = await run("plan", "--lock-timeout", "1s");
    expect(code).toBe(1);
    expect(text).toContain("[store.unreachable]");
    expect(text).toContain("127.0.0.1:1/teams");
    expect(text).not.toContain("canary-of-the-store");
    expect(sandbox.control.requests()).toEqual([]);
  }, 60_000);
});
