/** Ctrl-C in the real process: signals, exit codes and output. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { builtProgram } from "../support/program.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";

const MAIN = await builtProgram();
const ORDERS = 40;
/** Request limit of the host. Further orders wait for a minute. */
const PER_MINUTE = 20;
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const DECLARATION = JSON.stringify({
  project: "many",
  providers: { default: { token_env: "HOSTING_TOKEN", requests_per_minute: PER_MINUTE } },
  services: Object.fromEntries(
    Array.from({ length: ORDERS }, (_, at) => [
      `site${at}`,
      { plan_id: 11, currency: "USD", domain: `site${at}.acme.example` },
    ]),
  ),
});

/** A project whose host withholds the responses to orders from the nth on, until `answer` is called. */
async function begin(withheldFrom: number) {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const sandbox = await startSandbox({
    rateLimit: 0,
    sleep: () => {
      arrived.resolve();
      return gate.promise;
    },
    ...profileOfRun(),
  });
  const dir = await mkdtemp(path.join(tmpdir(), "hostform-stop-"));
  ends.push(
    async () => gate.resolve(),
    () => sandbox.close(),
    () => rm(dir, { recursive: true, force: true }),
  );
  await writeFile(path.join(dir, "hosting.yaml"), DECLARATION);
  for (let nth = withheldFrom; nth < withheldFrom + 10; nth++)
    sandbox.control.addFault({ method: "POST", path: "/services", nth, phase: "after", delayMs: 1 });
  const run = (...args: string[]) => started(dir, sandbox, args);
  const orders = () => sandbox.control.list("services").filter(({ domain }) => domain?.endsWith(".acme.example"));
  return { run, orders, arrived: arrived.promise, answer: gate.resolve };
}

function started(dir: string, { url, tokens }: { url: string; tokens: { agency: string } }, args: readonly string[]) {
  const env = { ...process.env, HOSTING_BASE_URL: url, HOSTING_TOKEN: tokens.agency };
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], { cwd: dir, env });
  let [out, err] = ["", ""];
  const looks = new Set<() => void>();
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => {
    err += chunk;
    for (const look of looks) look();
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, out, err })),
  );
  /** Resolves when standard error contains this text. */
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => err.includes(text) && resolve();
      looks.add(look);
      look();
    });
  return { child, ended, says };
}

describe("a process that is interrupted", () => {
  it("twice: ends at once, with the summary; only what was in flight has no known outcome", {
    timeout: 60_000,
  }, async () => {
    const { run, orders, arrived, answer } = await begin(5);
    const apply = run("apply", "--auto-approve");
    await arrived;
    apply.child.kill("SIGINT");
    await apply.says("sends no more requests");
    apply.child.kill("SIGINT");
    const { code, out } = await apply.ended;
    expect(code).toBe(1);
    const [, done, notStarted, unknown] =
      /Apply interrupted: (\d+) of 40 changes completed, (\d+) not started, (\d+) with no known outcome/.exec(out) ??
      [];
    expect(Number(done) + Number(notStarted) + Number(unknown)).toBe(ORDERS);
    expect(Number(unknown)).toBeGreaterThanOrEqual(1);
    answer();
    const plan = JSON.parse((await run("plan", "--json").ended).out);
    const again = plan.resource_changes.filter(({ change }: { change: { actions: string[] } }) =>
      change.actions.includes("create"),
    );
    // The next run finds the orders that the server has, and sends the rest.
    expect(again.length + orders().length).toBeGreaterThanOrEqual(ORDERS);
    const resolved = JSON.parse((await run("resolve", "--json").ended).out);
    expect(JSON.stringify(resolved).match(/"address"/g)).toHaveLength(Number(unknown));
  });
});
