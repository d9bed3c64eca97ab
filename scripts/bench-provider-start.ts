// How long Terraform waits for the provider: from starting the process to the handshake, and to the first answer.
// `node scripts/bench-provider-start.ts [FILE] [RUNS]`; without a file the provider is bundled first.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { selfSigned } from "../src/fronts/terraform/wire/certificate.ts";
import { dial } from "../test/support/grpc-client.ts";
import { buildProvider } from "./build-provider.ts";

const RUNS = Number(process.argv[3] ?? 60);
const COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

const folder = await mkdtemp(path.join(tmpdir(), "hostform-bench-"));
const file = path.resolve(process.argv[2] ?? path.join(folder, "provider.mjs"));
if (process.argv[2] === undefined) await buildProvider(file);
const own = selfSigned(Date.now());

/** Milliseconds to the end of a process that does nothing, to the handshake, and to the answer of GetProviderSchema. */
async function measure(): Promise<readonly [bare: number, handshake: number, schema: number]> {
  const before = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  const bare = performance.now() - before;

  const begun = performance.now();
  const child = spawn(process.execPath, [file], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      TF_PLUGIN_MAGIC_COOKIE: COOKIE,
      PLUGIN_PROTOCOL_VERSIONS: "5,6",
      PLUGIN_CLIENT_CERT: own.certificate,
    },
  });
  const line = await firstLine(child);
  const handshake = performance.now() - begun;
  const [, , network, address = "", , der = ""] = line.split("|");
  if (network !== "unix" && network !== "tcp") throw new Error(`no handshake: ${line}`);
  const server = new X509Certificate(Buffer.from(der, "base64")).toString();
  const client = await dial({ network, address }, { own, server });
  const { status } = await client.call("/tfplugin6.Provider/GetProviderSchema");
  const schema = performance.now() - begun;
  if (status !== 0) throw new Error(`GetProviderSchema ended with ${status}`);
  await client.call("/plugin.GRPCController/Shutdown");
  await new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve(undefined)));
  return [bare, handshake, schema];
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no stdout");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the provider printed nothing");
}

const figures: (readonly number[])[] = [];
await measure(); // The first reads the file from the disk.
for (let i = 0; i < RUNS; i++) figures.push(await measure());

console.log(`Node ${process.version}, ${cpus().length} cores, ${RUNS} runs; milliseconds`);
for (const [at, what] of ["a process that does nothing", "handshake", "first schema"].entries()) {
  const sorted = figures.map((figure) => figure[at] ?? 0).sort((a, b) => a - b);
  const quantile = (q: number) => (sorted[Math.ceil(q * sorted.length) - 1] ?? 0).toFixed(0);
  console.log(`${what.padEnd(30)} median ${quantile(0.5)}  p95 ${quantile(0.95)}  slowest ${quantile(1)}`);
}
await rm(folder, { recursive: true });
