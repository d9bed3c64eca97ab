/** A fleet with its hosts, and worker processes that run the built program, each with its own home. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { quickFolder } from "./folder.ts";
import type { Postgres } from "./postgres.ts";
import { builtProgram } from "./program.ts";
import { profileOfRun, startSandbox } from "./sandbox.ts";

export const domainOf = (project: string) => `www.${project}.example`;

interface FleetOptions {
  readonly projects: number;
  /** Number of hosts with one token each. The projects are dealt to them. */
  readonly tokens: number;
  /** Sites of each project. Default: 1. */
  readonly sites?: number;
  readonly fleet?: object;
  readonly sandbox?: SandboxOptions;
  readonly env?: Readonly<Record<string, string>>;
}

export class FleetUnderTest {
  readonly dir: string;
  readonly hosts: readonly Sandbox[];
  readonly names: readonly string[];
  readonly connection: string;
  readonly #postgres: Postgres;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #workers: Worker[] = [];

  private constructor(
    dir: string,
    hosts: readonly Sandbox[],
    names: readonly string[],
    connection: string,
    postgres: Postgres,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.dir = dir;
    this.hosts = hosts;
    this.names = names;
    this.connection = connection;
    this.#postgres = postgres;
    this.#env = env;
  }

  static async start(postgres: Postgres, options: FleetOptions): Promise<FleetUnderTest> {
    const { projects, tokens, sites = 1, fleet, sandbox, env } = options;
    const dir = mkdtempSync(quickFolder("fleet"));
    const defaults = { rateLimit: 0, autoPay: true, provisioningSeconds: 0, ...profileOfRun() };
    const starting = Array.from({ length: tokens }, (_, nth) =>
      startSandbox({ ...defaults, seed: `host${nth}`, ...sandbox }),
    );
    const hosts = await Promise.all(starting);
    const names = Array.from({ length: projects }, (_, nth) => `p${String(nth).padStart(4, "0")}`);
    const connection = await postgres.database();
    const started = new FleetUnderTest(dir, hosts, names, connection, postgres, {
      PATH: process.env.PATH,
      HOME: dir,
      HOSTFORM_STORE: connection,
      ...Object.fromEntries(hosts.map(({ tokens: { agency } }, nth) => [`HOSTING_TOKEN_${nth}`, agency])),
      ...env,
    });
    for (const name of names) {
      mkdirSync(path.join(dir, "customers", name), { recursive: true });
      started.declare(name, sites);
    }
    started.configure(fleet);
    return started;
  }

  /** Starts a worker, and waits until it takes checks. */
  async worker(...args: string[]): Promise<Worker> {
    const worker = await this.#spawn("run", ...args);
    this.#workers.push(worker);
    await until(
      () => worker.text.includes("Fleet agency"),
      () => `a worker does not start:\n${worker.text}`,
    );
    return worker;
  }

  /** Runs a command of the fleet to its end. */
  async run(...args: string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    const worker = await this.#spawn(...args);
    return { code: await worker.ended, text: worker.text };
  }

  /** Writes the declaration of a project with some sites. */
  declare(name: string, sites: number): void {
    const nth = this.names.indexOf(name) % this.hosts.length;
    // The sandbox lists new objects at once, so a run after a kill need not wait for its lists.
    const host = { base_url: this.hosts[nth]?.url, token_env: `HOSTING_TOKEN_${nth}`, list_lag: "1s" };
    const services = Array.from({ length: sites }, (_, at) => {
      const domain = at === 0 ? domainOf(name) : `s${at}.${name}.example`;
      return [`s${at}`, { plan_id: 11, currency: "USD", domain, deletion_policy: "forget" }];
    });
    const declared = { project: name, providers: { default: host }, services: Object.fromEntries(services) };
    writeFileSync(path.join(this.dir, "customers", name, "hosting.yaml"), JSON.stringify(declared));
  }

  /** Writes `fleet.yaml`. */
  configure(fleet: object = {}): void {
    const file = { fleet: "agency", projects: [{ path: "customers/*" }], interval: "1m", ...fleet };
    writeFileSync(path.join(this.dir, "fleet.yaml"), JSON.stringify(file));
  }

  query(sql: string) {
    return this.#postgres.query(this.connection, sql);
  }

  /** Returns the last result of each recorded project. */
  async results(): Promise<Readonly<Record<string, string>>> {
    const rows = await this.query("SELECT project, report->>'result' AS result FROM hostform_fleet.result");
    return Object.fromEntries(
      rows.map(({ project, result }) => [String(project).replace("customers/", ""), String(result)]),
    );
  }

  /** Returns the domains of the fleet's services on all hosts, sorted. */
  ordered(): string[] {
    const all = this.hosts.flatMap(({ control }) => control.list("services").map(({ domain }) => String(domain)));
    return all.filter((domain) => /^\w+\.p\d{4}\.example$/.test(domain)).sort();
  }

  hostOf(project: string): Sandbox {
    return this.hosts[this.names.indexOf(project) % this.hosts.length] as Sandbox;
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.process.kill("SIGKILL");
    await Promise.all(this.#workers.map(({ ended }) => ended));
    await Promise.all(this.hosts.map((host) => host.close()));
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #spawn(...args: string[]): Promise<Worker> {
    const home = mkdtempSync(path.join(this.dir, "home-"));
    const program = await builtProgram();
    const child = spawn(process.execPath, [program, "fleet", ...args], {
      cwd: this.dir,
      env: { ...this.#env, HOSTFORM_STATE_HOME: home },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Worker(child);
  }
}

export class Worker {
  readonly process: ChildProcess;
  isEnded = false;
  readonly ended: Promise<number | null>;
  /** Both streams. */
  text = "";

  constructor(child: ChildProcess) {
    this.process = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk) => {
        this.text += chunk;
      });
    this.ended = new Promise((resolve) =>
      child.once("close", (code) => {
        this.isEnded = true;
        resolve(code);
      }),
    );
  }

  /** URLs of the servers of the worker: metrics, then webhooks. */
  get urls(): readonly string[] {
    return this.text.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? [];
  }

  /** Ends the worker with a signal. @returns the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.process.kill(signal);
    return this.ended;
  }
}

/** Waits until a condition holds. Fails after a minute. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: () => string = () => "the condition does not hold",
  withinMs = 60_000,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(what());
    await pause(100);
  }
}
