/** The real CLI in its own process: streams, signals and exit codes. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { builtProgram } from "../support/program.ts";
import { startSandbox } from "../support/sandbox.ts";

const MAIN = await builtProgram();
/** An environment without the developer's own variables. */
const environment = { PATH: process.env.PATH, NO_COLOR: "1", NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

function hostform(dir: string, args: readonly string[], env: object = {}) {
  return spawnSync(process.execPath, [MAIN, ...args], {
    cwd: dir,
    env: { ...environment, ...env },
    encoding: "utf8",
    input: "",
  });
}

function start(
  dir: string,
  args: readonly string[],
): { child: ChildProcess; line: Promise<string>; end: Promise<number> } {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: dir,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(text);
    });
    child.once("close", () => reject(new Error(`ended without a line: ${text}`)));
  });
  const end = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  return { child, line, end };
}

/** Arguments of `sandbox --` that run hostform itself. */
const inSandbox = (...args: readonly string[]) => ["sandbox", "--auto-pay", "--", process.execPath, MAIN, ...args];

describe("apply in a sandbox", () => {
  it("without a terminal nobody is asked and nothing is applied", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.yaml"), "project: acme\nservices:\n  vps: {plan_id: 31, currency: USD}\n");
    const applied = hostform(dir, inSandbox("apply"));
    expect(applied.status).toBe(1);
    expect(applied.stderr).toContain("--auto-approve");
  });
});

describe("sandbox", () => {
  it.each([
    ["an exit code", "process.exit(7)", 7],
    ["a signal as 128+n", "process.kill(process.pid, 'SIGKILL')", 137],
  ])("passes on %s", async (_, script, status) => {
    expect(hostform(temporaryFolder(), ["sandbox", "--", process.execPath, "-e", script])).toMatchObject({ status });
  });

  it("says when there is no such command", async () => {
    const { status, stderr } = hostform(temporaryFolder(), ["sandbox", "--", "no-such-command-here"]);
    expect(status).toBe(1);
    expect(stderr).toContain('"no-such-command-here" cannot be run: there is no such command');
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends with 0 at %s when it runs without a command", async (signal) => {
    const { child, line, end } = start(temporaryFolder(), ["sandbox"]);
    expect(await line).toMatch(/^export HOSTING_BASE_URL=http:\/\/127\.0\.0\.1:\d+\n/);
    child.kill(signal);
    expect(await end).toBe(0);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "hands %s on to its command, and lets it end in its own way",
    async (signal) => {
      const script = `process.on("${signal}", () => process.exit(5)); setInterval(() => {}, 1000); console.log("ready")`;
      const { child, line, end } = start(temporaryFolder(), ["sandbox", "--", process.execPath, "-e", script]);
      expect(await line).toBe("ready\n");
      child.kill(signal);
      expect(await end).toBe(5);
    },
  );
});

describe.skipIf(process.platform !== "linux")("sso --open", () => {
  it("gives the URL to the browser as one argument", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "xdg-open"), `#!/bin/sh\nprintf '%s|' "$#" "$1" > ${dir}/opened\n`);
    await chmod(path.join(dir, "xdg-open"), 0o755);
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox.close());
    const service = sandbox.control.list("services").find(({ customer_id }) => customer_id !== 1);
    const args = [MAIN, "sso", String(service?.id), "--open"];
    const env = {
      ...environment,
      PATH: `${dir}:${process.env.PATH}`,
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.customer,
    };
    const child = spawn(process.execPath, args, { cwd: dir, env, stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    expect(out).toBe("");
    const opened = spawnSync("cat", [path.join(dir, "opened")], { encoding: "utf8" }).stdout;
    expect(opened).toMatch(/^1\|https?:\/\/[^|]+\|$/);
  });
});
