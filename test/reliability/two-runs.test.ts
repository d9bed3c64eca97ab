/**
 * Two real processes on one machine with one token and no shared state. Both read all lists before either creates
 * anything: without turns, each would create everything.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { builtProgram } from "../support/program.ts";
import { registration } from "../support/registration.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";
import { LONG } from "./support/long.ts";

const MAIN = await builtProgram();
/** `npm run test:long runs` takes more rounds, because the steps after the barrier are a race. */
const ROUNDS = LONG ? 20 : 1;
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** One create of each class, and a server without a natural key. The names of the two projects differ. */
const declared = (project: string) => ({
  project,
  webhooks: { billing: { url: "https://hooks.acme.example/hosting", events: ["invoice.paid"] } },
  client_accounts: { acme: { name: "Acme" } },
  migration_requests: { shop: { domain: "shop.acme.example" } },
  services: {
    box: { plan_id: 31, currency: "USD" },
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
  },
  domains: { acme: registration("acme.example") },
});

/** The lists that a plan of this declaration reads. */
const LISTS = ["/services", "/webhooks", "/accounts", "/migration-requests"];

/** Starts a sandbox that holds its responses to these lists until every process has requested every list. */
async function startHost(processes: number, lists: readonly string[] = LISTS): Promise<Sandbox> {
  let open = () => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrived = 0;
  const sleep = async () => {
    arrived += 1;
    if (arrived === processes * lists.length) open();
    await all;
  };
  const sandbox = await startSandbox({ rateLimit: 0, sleep, ...profileOfRun() });
  ends.push(() => sandbox.close());
  for (const list of lists)
    sandbox.control.addFault({ method: "GET", path: list, times: processes, phase: "after", delayMs: 1 });
  return sandbox;
}

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

function folderOf(declaration: object): string {
  const dir = mkdtempSync(path.join(tmpdir(), "hostform-two-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(path.join(dir, "hosting.yaml"), JSON.stringify(declaration));
  return dir;
}

const apply = (project: string, sandbox: Sandbox, env: NodeJS.ProcessEnv): Promise<Ended> =>
  applyIn(folderOf(declared(project)), sandbox, env);

function applyIn(dir: string, sandbox: Sandbox, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, "apply", "--auto-approve", "--no-wait"], {
    cwd: dir,
    env: { ...process.env, HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

/** Returns the number of objects of each kind in the account. */
function made({ control }: Sandbox, before: Record<string, number> = {}): Record<string, number> {
  const names = ["webhooks", "accounts", "migration_requests", "services"] as const;
  const counts = names.map((name): [string, number] => [name, control.list(name).length - (before[name] ?? 0)]);
  // The sandbox refuses a second registration; another host may not.
  const domains = control.requests().filter(({ method, path: to }) => method === "POST" && to === "/api/v1/domains");
  return Object.fromEntries([...counts, ["domains", domains.length]]);
}

const ONCE = { webhooks: 1, accounts: 1, migration_requests: 1, services: 2, domains: 1 };

describe("two simultaneous applies on one machine, with one token and no shared state", () => {
  it("create everything once, and the second apply names the existing objects", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const home = mkdtempSync(path.join(tmpdir(), "hostform-home-"));
      ends.push(() => rmSync(home, { recursive: true, force: true }));
      const sandbox = await startHost(2);
      const before = made(sandbox);
      const both = await Promise.all(["one", "two"].map((name) => apply(name, sandbox, { XDG_STATE_HOME: home })));
      const words = both.map(({ text }) => text).join("\n");
      expect(made(sandbox, before), words).toEqual(ONCE);
      // Each process is refused what the other created.
      expect(words.match(/\[plan\.exists\]/g)?.length, words).toBeGreaterThanOrEqual(4);
      expect(words).toMatch(/A run with another state ordered domain acme\.example/);
      expect(both.some(({ code }) => code === 1)).toBe(true);
      const left = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".lock"));
      expect(left, "no lock is left behind").toEqual([]);
    }
  }, 120_000);

  it("create everything twice without the create lock, as on two machines", async () => {
    const sandbox = await startHost(2);
    const before = made(sandbox);
    const both = await Promise.all(["one", "two"].map((name) => apply(name, sandbox, { HOSTFORM_LEDGER: "memory" })));
    const words = both.map(({ text }) => text).join("\n");
    const counts = made(sandbox, before);
    expect(counts, words).toMatchObject({ webhooks: 2, accounts: 2, migration_requests: 2, domains: 2 });
  }, 60_000);
});

describe("two folders on one machine that import and simultaneously replace one webhook", () => {
  const url = "https://hooks.acme.example/hosting";
  /** Returns the id of the webhook in the state of a folder. */
  const heldIn = (dir: string): string | undefined => {
    const file = path.join(dir, "hosting.tfstate");
    const state = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { resources: [] };
    return state.resources[0]?.instances[0]?.attributes.id;
  };

  it.each([
    ["the same", ["invoice.created"], ["invoice.created"]],
    ["another one each", ["invoice.created"], ["service.expiring"]],
  ])(
    "by %s: each webhook that is there is in a state, and nobody makes another one later",
    async (_, one, two) => {
      const home = mkdtempSync(path.join(tmpdir(), "hostform-home-"));
      ends.push(() => rmSync(home, { recursive: true, force: true }));
      const sandbox = await startHost(2, ["/webhooks"]);
      const { id } = sandbox.control.create("webhooks", { url, events: ["invoice.paid"] });
      const folders = [one, two].map((events, n) =>
        folderOf({ project: `p${n}`, webhooks: { billing: { url, events, import: String(id) } } }),
      );
      const env = { XDG_STATE_HOME: home };
      const both = await Promise.all(folders.map((folder) => applyIn(folder, sandbox, env)));
      const words = both.map(({ text }) => text).join("\n");
      const live = () => sandbox.control.list("webhooks").map((each) => String(each.id));
      const isSame = one[0] === two[0];
      const after = live();
      expect(after, words).toHaveLength(isSame ? 1 : 2);
      const held = folders.map(heldIn);
      expect(
        after.filter((each) => !held.includes(each)),
        words,
      ).toEqual([]);
      // The error of the second process names the existing object.
      expect(both.map(({ code }) => code).toSorted(), words).toEqual(isSame ? [0, 1] : [0, 0]);
      if (isSame) expect(words).toContain("[plan.exists]");
      for (const folder of folders) await applyIn(folder, sandbox, env);
      expect(live()).toEqual(after);
    },
    60_000,
  );
});
