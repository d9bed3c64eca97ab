/**
 * The program that Terraform starts. It listens and prints the handshake at once, and loads the provider while Terraform connects. It
 * ends on Terraform's request, or when the last connection closes, so that a killed Terraform leaves no running provider. Another
 * program may import this file: then nothing starts, and the program serves the provider with the exports.
 */
import { tmpdir } from "node:os";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { VERSION } from "../../core/api/version.ts";
import { exists, realPath } from "../../core/files/file-system.ts";
import { nodeTooOld } from "../../core/model/runtime.ts";
import { selfSigned } from "./wire/certificate.ts";
import { createGrpcServer, type GrpcServer, type MutualTls, type Peer } from "./wire/grpc.ts";
import { type Endpoint, handshakeLine, invitation, listen, reattachment } from "./wire/handshake.ts";
import { complain, describeDefect, keepStdoutClean, processLog as log, printLine } from "./wire/log.ts";

export { createGrpcServer } from "./wire/grpc.ts";
export { listen, reattachment } from "./wire/handshake.ts";

/** Loads the provider, which is slower than the start of the server. */
export const loadCalls = () => import("./calls/index.ts");

/** Maximum time for calls of a killed Terraform: they still record the results of their requests. */
const GRACE_MS = 30_000;

/** Maximum wait for Terraform's connection, which takes milliseconds. */
const UNUSED_MS = 60_000;

/** Pause between two checks that the parent still runs. */
const PARENT_CHECK_MS = 1_000;

/** Ends the process. Its `exit` listeners remove its files. */
function end(code: number): void {
  process.exit(code);
}

/**
 * Ends the process before the handshake. Terraform then prints the first line of stdout, and no line of stderr.
 */
function refuse(line: string): void {
  const say = process.env.TF_PLUGIN_MAGIC_COOKIE === undefined ? complain : printLine;
  say(line);
  end(1);
}

/** Ends the process after a defect. Terraform prints the text after `panic:`. */
function die(error: unknown): void {
  const { summary, stack } = describeDefect(error);
  complain(`panic: hosting provider ${VERSION}: ${summary}\n\n${stack}`);
  end(1);
}

/** Ends the process when its calls have ended. */
function endGently({ shutdown }: GrpcServer): void {
  shutdown().then(() => end(0), die);
}

/**
 * Calls back when the parent process has ended. The connection is not enough: Node's http2 session never closes if the other end dies
 * while a large response is written. On Windows the parent's id stays.
 */
function onceOrphaned(then: () => void): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    then();
  }, PARENT_CHECK_MS);
  watch.unref();
}

/** A peer whose calls wait until the provider is loaded. */
function lazyPeer(provider: Promise<Peer>): Peer {
  return {
    handle: async (method, request, context) => (await provider).handle(method, request, context),
    finish: async () => (await provider).finish(),
    stop: () => void provider.then((loaded) => loaded.stop()),
    close: async () => (await provider).close(),
  };
}

async function start(tls: MutualTls | undefined, announce: (endpoint: Endpoint) => string, stays: boolean) {
  process.on("uncaughtException", die);
  const loading = Promise.withResolvers<Awaited<ReturnType<typeof loadCalls>>>();
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
    endpoint = await listen(grpc.server, { platform: process.platform, folder, encrypted: tls !== undefined });
  } catch (error) {
    return refuse(
      `hosting provider: cannot listen in ${folder}: ${describeDefect(error).summary}. Set TMPDIR to a writable folder with a short path.`,
    );
  }
  process.once("exit", endpoint.remove);
  printLine(announce(endpoint));
  loading.resolve(loadCalls());
  keepStdoutClean();

  // A terminal sends these signals to Terraform and to this process; Terraform decides when the provider ends.
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => stays && endGently(grpc));
  process.on("SIGTERM", () => endGently(grpc));
  if (stays) return;
  setTimeout(() => grpc.wasUsed() || end(0), UNUSED_MS).unref();
  onceOrphaned(() => endGently(grpc));
}

async function serve(args: readonly string[]): Promise<void> {
  const tooOld = nodeTooOld(process.versions.node);
  if (tooOld !== undefined) return refuse(tooOld);
  if (args[0] === "--reattach") {
    const { PROVIDER_ADDRESSES } = await import("./package.ts");
    const value = (endpoint: Endpoint) => reattachment(PROVIDER_ADDRESSES, endpoint, process.pid);
    return await start(undefined, (endpoint) => `TF_REATTACH_PROVIDERS='${value(endpoint)}'`, true);
  }
  const invited = invitation(process.env);
  if (invited.from === "person") {
    return refuse(
      `This is the Terraform provider hostform/hosting ${VERSION}. Terraform starts it: install it with \`hostform terraform install\`.`,
    );
  }
  if ("refusal" in invited) return refuse(invited.refusal);
  const { client } = invited;
  const tls = client === undefined ? undefined : { identity: selfSigned(Date.now()), client };
  await start(tls, (endpoint) => handshakeLine(endpoint, tls?.identity), false);
}

/** Runs the provider as this process. */
export function main(): void {
  serve(process.argv.slice(2)).catch(die);
}

/** Returns true if Node was started with this file. Node's loader follows links unless an option forbids it. */
function isProgram([, file]: readonly string[]): boolean {
  if (file === undefined) return false;
  const isThis = (one: string) => pathToFileURL(one).href === import.meta.url;
  return isThis(file) || (exists(file) && isThis(realPath(file)));
}

if (isProgram(process.argv)) main();
