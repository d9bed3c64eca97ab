import { type ChildProcessByStdio, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildProvider } from "../../../../scripts/build/dist.ts";
import { selfSigned } from "../../../../src/fronts/terraform/wire/certificate.ts";
import { STATUS } from "../../../../src/fronts/terraform/wire/grpc.ts";
import type { Address } from "../../../../src/fronts/terraform/wire/handshake.ts";
import { type Client, dial } from "../../../support/grpc-client.ts";

// The bundle as Terraform starts it. The test's own client replaces Terraform.

const COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
const SCHEMA = "/tfplugin6.Provider/GetProviderSchema";
const SHUTDOWN = "/plugin.GRPCController/Shutdown";
const own = selfSigned(Date.now());

let home: string;
let bundle: string;
let folder: string;
const started: ChildProcessByStdio<null, Readable, Readable>[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), "provider-"));
  bundle = path.join(home, "provider.mjs");
  await buildProvider(bundle);
});

afterAll(() => rmSync(home, { recursive: true }));

beforeEach(() => {
  folder = mkdtempSync(path.join(home, "run-"));
});

afterEach(() => {
  for (const client of clients.splice(0)) client.session.destroy();
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly line: Promise<string>;
  readonly ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
}

interface Launch {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** JavaScript that runs before the provider, in its process. */
  readonly before?: string;
}

function launch({ env = {}, args = [], before }: Launch = {}): Running {
  const preload = before === undefined ? [] : ["--import", `data:text/javascript,${encodeURIComponent(before)}`];
  const child = spawn(process.execPath, [...preload, bundle, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { TMPDIR: folder, ...env },
  });
  started.push(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  return {
    child,
    line: new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve)),
    ended: new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal, ...output }))),
  };
}

const byTerraform = {
  TF_PLUGIN_MAGIC_COOKIE: COOKIE,
  PLUGIN_PROTOCOL_VERSIONS: "5,6",
  PLUGIN_CLIENT_CERT: own.certificate,
};

/** Connects as Terraform does: to the socket in the line, and trusting only the certificate in the line. */
async function connectBy(line: string): Promise<Client> {
  const [handshake, protocol, network, address = "", kind, der = ""] = line.split("|");
  expect([handshake, protocol, network, kind]).toEqual(["1", "6", "unix", "grpc"]);
  expect(der).not.toContain("=");
  const server = new X509Certificate(Buffer.from(der, "base64")).toString();
  return kept(await dial({ network: "unix", address }, { own, server }));
}

function kept(client: Client): Client {
  clients.push(client);
  return client;
}

describe("started by Terraform", () => {
  it("shakes hands, answers, and ends when it is asked to, leaving nothing behind", async () => {
    const { line, ended } = launch({ env: byTerraform });
    const client = await connectBy(await line);
    const { status, message } = await client.call(SCHEMA);
    expect(status).toBe(STATUS.ok);
    expect(message?.includes("hosting_service")).toBe(true);
    expect((await client.call(SHUTDOWN)).status).toBe(STATUS.ok);
    expect(await ended).toEqual({ code: 0, signal: null, stdout: `${await line}\n`, stderr: "" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("ends when the connection is lost, as it is when Terraform is killed", async () => {
    const { line, ended } = launch({ env: byTerraform });
    const client = await connectBy(await line);
    client.session.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("ends when nobody connects for a minute", async () => {
    const soon =
      "const real = setTimeout; globalThis.setTimeout = (f, ms, ...r) => real(f, ms === 60_000 ? 1 : ms, ...r);";
    const { line, ended } = launch({ env: byTerraform, before: soon });
    await line;
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("goes on after the Ctrl-C and the hang-up that a terminal sends to both; ends by SIGTERM", async () => {
    const { child, line, ended } = launch({ env: byTerraform });
    const client = await connectBy(await line);
    await client.call(SCHEMA);
    child.kill("SIGINT");
    child.kill("SIGHUP");
    expect((await client.call(SCHEMA)).status).toBe(STATUS.ok);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, signal: null });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("keeps everything but the handshake off stdout", async () => {
    const noise =
      'process.on("SIGUSR2", () => { console.log("from the console"); process.stdout.write("written\\n"); });';
    const { child, line, ended } = launch({ env: byTerraform, before: noise });
    const client = await connectBy(await line);
    await client.call(SCHEMA);
    child.kill("SIGUSR2");
    await client.call(SCHEMA);
    await client.call(SHUTDOWN);
    expect(await ended).toMatchObject({ stdout: `${await line}\n`, stderr: "from the console\nwritten\n" });
  });

  it.each(["throw error;", "Promise.reject(error);"])("says of a defect where it is, and no value: %s", async (how) => {
    const defect = `process.on("SIGUSR2", () => { const error = new Error("hunter2"); ${how} });`;
    const { child, line, ended } = launch({ env: byTerraform, before: defect });
    const client = await connectBy(await line);
    await client.call(SCHEMA);
    child.kill("SIGUSR2");
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^panic: hosting provider \d+\.\d+\.\d+: Error\n\n {4}at .*$/m);
    expect(stderr).not.toContain("hunter2");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("speaks without encryption where Terraform gives no certificate", async () => {
    const { PLUGIN_CLIENT_CERT: _, ...plain } = byTerraform;
    const { line } = launch({ env: plain });
    const [, , , address = "", , ...rest] = (await line).split("|");
    expect(rest).toEqual([]);
    const client = kept(await dial({ network: "unix", address }));
    expect((await client.call(SCHEMA)).status).toBe(STATUS.ok);
  });

  it("says in one line why it cannot start, where Terraform shows it", async () => {
    const old = launch({ env: { ...byTerraform, PLUGIN_PROTOCOL_VERSIONS: "5" } });
    expect(await old.ended).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^[^\n]*Use Terraform[^\n]*\n$/),
      stderr: "",
    });
    const nowhere = launch({ env: { ...byTerraform, TMPDIR: path.join(folder, "none") } });
    expect(await nowhere.ended).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^hosting provider: cannot listen in [^\n]*ENOENT[^\n]*Set TMPDIR[^\n]*\n$/),
      stderr: "",
    });
    const node = launch({
      env: byTerraform,
      before: 'Object.defineProperty(process.versions, "node", { value: "20.9.0" });',
    });
    expect(await node.ended).toMatchObject({
      code: 1,
      stdout: "hostform needs Node 22.20 or newer; this is Node 20.9.0.\n",
      stderr: "",
    });
  });
});

describe("started by a person", () => {
  it("says what it is", async () => {
    const { ended } = launch();
    expect(await ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^This is the Terraform provider hostform\/hosting [^\n]*hostform terraform install[^\n]*\n$/,
      ),
    });
  });

  it("with --reattach serves many connections, until Ctrl-C", async () => {
    const { child, line, ended } = launch({ args: ["--reattach"] });
    const [, value = ""] = /^TF_REATTACH_PROVIDERS='(.*)'$/.exec(await line) ?? [];
    const { "registry.terraform.io/hostform/hosting": ours, ...others } = JSON.parse(value);
    expect(others).toEqual({ "registry.opentofu.org/hostform/hosting": ours });
    const { Addr, ...rest } = ours;
    expect(rest).toEqual({ Protocol: "grpc", ProtocolVersion: 6, Pid: child.pid, Test: true });
    const place: Address = { network: Addr.Network, address: Addr.String };
    const [one, other] = [kept(await dial(place)), kept(await dial(place))];
    expect((await one.call(SCHEMA)).status).toBe(STATUS.ok);
    await one.call(SHUTDOWN);
    await one.close();
    expect((await other.call(SCHEMA)).status).toBe(STATUS.ok);
    await other.close();
    const third = kept(await dial(place));
    expect((await third.call(SCHEMA)).status).toBe(STATUS.ok);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(place.address)).toBe(false);
  });
});
