/**
 * The program that Terraform starts. It listens and says so at once; the provider itself is loaded while Terraform
 * connects. It ends when Terraform says so, or when the last connection closes: a Terraform that was killed leaves no
 * provider behind.
 */
import { tmpdir } from "node:os";
import process from "node:process";
import { VERSION } from "../../core/api/version.ts";
import { nodeTooOld } from "../../core/model/runtime.ts";
import { selfSigned } from "./wire/certificate.ts";
import { createGrpcServer, type GrpcServer, type MutualTls, type Peer } from "./wire/grpc.ts";
import { type Endpoint, handshakeLine, invitation, listen, reattachment } from "./wire/handshake.ts";
import { complain, describeDefect, keepStdoutClean, processLog as log, printLine } from "./wire/log.ts";

/** A request to the API may be under way when Terraform is killed: as long as it is awaited, what becomes of it is noted. */
const GRACE_MS = 30_000;

/** Terraform connects within milliseconds. If it died instead, nobody will. */
const UNUSED_MS = 60_000;

/** How often it is looked whether Terraform is still there. */
const LOOK_MS = 1_000;

/** Ends the process; whatever it left in the file system is removed by its `exit` listeners. */
function end(code: number): void {
  process.exit(code);
}

/**
 * Ends the process before it has begun. Of a program that does not make its handshake Terraform shows the first line on
 * stdout, and nothing of what is on stderr.
 */
function refuse(line: string): void {
  const say = process.env.TF_PLUGIN_MAGIC_COOKIE === undefined ? complain : printLine;
  say(line);
  end(1);
}

/** Something happened that no part expected. Terraform shows what follows `panic:`. */
function die(error: unknown): void {
  const { summary, stack } = describeDefect(error);
  complain(`panic: hosting provider ${VERSION}: ${summary}\n\n${stack}`);
  end(1);
}

/** Ends the process when what is under way has ended. */
function endGently({ shutdown }: GrpcServer): void {
  shutdown().then(() => end(0), die);
}

/**
 * Calls back when the process that started this one is gone. Its connection does not always show it: Node's http2 session
 * never closes when the other end dies while a large answer is written to it. On Windows a parent's number stays.
 */
function onceOrphaned(then: () => void): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    then();
  }, LOOK_MS);
  watch.unref();
}

/** Begins to load the provider at the first call; what comes before it is loaded waits. */
function lazyPeer(provider: Promise<Peer>): Peer {
  return {
    handle: async (method, request, cancelled) => (await provider).handle(method, request, cancelled),
    finish: async () => (await provider).finish(),
    stop: () => void provider.then((loaded) => loaded.stop()),
    close: async () => (await provider).close(),
  };
}

async function start(tls: MutualTls | undefined, announce: (endpoint: Endpoint) => string, stays: boolean) {
  process.on("uncaughtException", die);
  const loading = Promise.withResolvers<typeof import("./calls/index.ts")>();
  const grpc = createGrpcServer({
    service: "tfplugin6.Provider",
    tls,
    log,
    grace: GRACE_MS,
    connect: () => lazyPeer(loading.promise.then(({ createProvider }) => createProvider({ env: process.env, log }))),
    onShutdown: () => stays || endGently(grpc),
    onEmpty: () => stays || end(0),
  });
  const folder = process.env.PLUGIN_UNIX_SOCKET_DIR || tmpdir();
  let endpoint: Endpoint;
  try {
    endpoint = await listen(grpc.server, { platform: process.platform, folder });
  } catch (error) {
    return refuse(
      `hosting provider: cannot listen in ${folder}: ${describeDefect(error).summary}. Set TMPDIR to a folder that can be written to.`,
    );
  }
  process.once("exit", endpoint.remove);
  printLine(announce(endpoint));
  loading.resolve(import("./calls/index.ts"));
  keepStdoutClean();

  // A terminal sends Ctrl-C and its own end to Terraform and to us; Terraform decides what becomes of it.
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => stays && endGently(grpc));
  process.on("SIGTERM", () => endGently(grpc));
  if (stays) return;
  setTimeout(() => grpc.wasUsed() || end(0), UNUSED_MS).unref();
  onceOrphaned(() => endGently(grpc));
}

async function main(args: readonly string[]): Promise<void> {
  const tooOld = nodeTooOld(process.versions.node);
  if (tooOld !== undefined) return refuse(tooOld);
  if (args[0] === "--reattach") {
    const { PROVIDER_ADDRESS } = await import("./package.ts");
    const value = (endpoint: Endpoint) => reattachment(PROVIDER_ADDRESS, endpoint, process.pid);
    return await start(undefined, (endpoint) => `TF_REATTACH_PROVIDERS='${value(endpoint)}'`, true);
  }
  const invited = invitation(process.env);
  if (invited.from === "person") {
    return refuse(
      `This is the Terraform provider hostform/hosting ${VERSION}. Terraform starts it by itself: install it with \`hostform terraform install\`.`,
    );
  }
  if ("refusal" in invited) return refuse(invited.refusal);
  const { client } = invited;
  const tls = client === undefined ? undefined : { identity: selfSigned(Date.now()), client };
  await start(tls, (endpoint) => handshakeLine(endpoint, tls?.identity), false);
}

await main(process.argv.slice(2));
