// How long Terraform waits for the provider: from the start of the process to the handshake, and to the first answer.
import { type ChildProcess, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { selfSigned } from "../../../src/fronts/terraform/wire/certificate.ts";
import { dial } from "../../../test/support/grpc-client.ts";
import { bareEnvironment, median, runNode } from "../process.ts";
import type { Bench, Figure, Row } from "../row.ts";

const RUNS = 15;
const COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

interface Start {
  /** All in ms: the whole life of a process that does nothing, and of the provider up to two of its points. */
  readonly bare: number;
  readonly handshake: number;
  readonly schema: number;
}

async function started(bench: Bench, file: string, own: ReturnType<typeof selfSigned>): Promise<Start> {
  const env = bareEnvironment();
  const { wallMs: bare } = await runNode(bench, ["-e", "0"], { cwd: bench.folder, env });
  const begun = performance.now();
  const child = spawn(process.execPath, [file], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...env,
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
  return { bare, handshake, schema };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no stdout");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the provider printed nothing");
}

async function measure(bench: Bench): Promise<Figure[]> {
  const file = path.join((await bench.provider()).folder, "provider.mjs");
  const own = selfSigned(Date.now());
  const starts: Start[] = [];
  for (let run = 0; run < RUNS; run++) starts.push(await started(bench, file, own));
  const bare = median(starts.map((start) => start.bare));
  const figure = (what: string, value: number): Figure => ({
    what,
    value,
    unit: "ms",
    ratio: { value: value / bare, to: "`node -e 0`" },
  });
  return [
    figure("handshake", median(starts.map(({ handshake }) => handshake))),
    figure("first schema", median(starts.map(({ schema }) => schema))),
  ];
}

export const providerStartRows: readonly Row[] = [
  { name: "provider-start", about: "start of the provider, as Terraform waits for it", measure },
];
