/** Runs `fleet run` and `fleet check`: workers that share the queue of a fleet. */
import type { IncomingMessage, RequestListener } from "node:http";
import type { Diagnostic } from "../core/model/index.ts";
import { chosenSeats, FleetWorker, fleetPage, openQueue, Records } from "../fleet/index.ts";
import type { Project } from "../project/project.ts";
import { leaving } from "../project/redaction.ts";
import { placedSummary } from "../report/index.ts";
import { plural } from "../report/numbers.ts";
import { nodeHandler } from "../webhooks/index.ts";
import { fleetOf, stopsOf, troubleReporter } from "./fleet.ts";
import type { ListenAddress } from "./listen-address.ts";
import { raise } from "./messages.ts";
import { type HeartbeatFlags, heartbeatTo } from "./observe.ts";
import { type Action, printResult, say, type Terminal } from "./terminal.ts";
import { openSecrets } from "./webhooks/secrets.ts";
import { type Receiver, receiveAt, short } from "./webhooks/server.ts";

interface RunFlags extends HeartbeatFlags {
  readonly autoApprove?: boolean;
  readonly listen?: ListenAddress;
  readonly metrics?: ListenAddress;
}

const CANCELED =
  "Stopped. The requests in progress were canceled; the next check of a project handles its pending creates.";

/** Pause between two attempts to reach a lost database, in milliseconds. */
const PROBE_MS = 2_000;
/** Minimum time between two heartbeats, in milliseconds. */
const BEAT_MS = 60_000;

/** Checks the projects of a fleet until Ctrl-C. */
export const runFleetRun: Action<RunFlags> = async (terminal, project, flags) => {
  const { source, host, log } = project;
  const fleet = await fleetOf(project);
  const { end, signals } = stopsOf(terminal);
  const beat = heartbeatTo(flags.heartbeat, project);
  const report = troubleReporter(log.warn, host.clock);
  const { signal, now } = signals;
  let isLost = false;
  /** Reports a lost database once, and its return. */
  const onTrouble = (trouble: readonly Diagnostic[]): void => {
    const isOfQueue = trouble.some(({ code }) => code === "fleet.queue");
    if (!isOfQueue) report(trouble);
    if (!isOfQueue || isLost) return;
    isLost = true;
    log.warn(...trouble);
    void returned().catch(() => undefined);
  };
  const returned = async () => {
    do await host.clock.sleep(PROBE_MS, signal);
    while (!(await queue.responds()));
    isLost = false;
    say(terminal, "The database of the queue responds again.");
  };
  const servers: Receiver[] = [];
  let beatAt = Number.NEGATIVE_INFINITY;
  const queue = await openQueue(fleet.fleet, source.env, true, onTrouble);
  try {
    const records = await Records.open(queue);
    const worker = await FleetWorker.open(fleet, queue, records, {
      env: source.env,
      clock: host.clock,
      ...signals,
      autoApprove: flags.autoApprove === true,
      onTrouble,
      onChecked: ({ name, result, errors }, cause) => {
        say(terminal, `${name}: ${result} (${cause})${errors[0] ? `: ${placedSummary(errors[0])}` : ""}`);
        if (host.clock.monotonic() - beatAt < BEAT_MS) return;
        beatAt = host.clock.monotonic();
        void beat?.(true);
      },
    });
    signal.addEventListener("abort", () => {
      if (worker.running > 0)
        say(terminal, `Waiting for ${plural(worker.running, "running check")}. Press Ctrl-C again to cancel.`);
    });
    const endReload = terminal.onReload(() => worker.reload());
    if (flags.metrics) servers.push(await receiveAt(flags.metrics, pages(project, worker, records), "--metrics"));
    if (flags.listen)
      servers.push(await receiveAt(flags.listen, await receiver(terminal, project, worker, records), "--listen"));
    say(terminal, [`Fleet ${fleet.fleet}`, ...servers.map(({ url }) => url)].join(", "));
    await worker.run();
    endReload();
    return 0;
  } finally {
    await Promise.all(servers.map((server) => server.close(AbortSignal.abort())));
    await queue.close();
    end();
    if (signal.aborted) say(terminal, now.aborted ? CANCELED : "Stopped. Other workers take the waiting checks.");
  }
};

/** Puts projects in front of the queue. */
export const runFleetCheck: Action<object, [readonly string[]]> = async (terminal, project, _, patterns) => {
  const { source } = project;
  const fleet = await fleetOf(project);
  const chosen = await chosenSeats(fleet, source.env, patterns);
  const queue = await openQueue(fleet.fleet, source.env, false, () => undefined);
  try {
    for (const { name } of chosen) await queue.now({ project: name, cause: "person", account: undefined });
  } finally {
    await queue.close();
  }
  const projects = chosen.map(({ name }) => name);
  printResult(terminal, "fleet check", { projects }, `${projects.join("\n")}\n`);
  say(terminal, "The next free worker checks these projects.");
  return 0;
};

/** Serves the page of the fleet, `/healthz` and `/metrics`. */
function pages({ host, redaction }: Project, worker: FleetWorker, records: Records): RequestListener {
  return async ({ url = "", method = "" }, response) => {
    if (!["GET", "HEAD"].includes(method)) return void response.writeHead(405, { allow: "GET" }).end();
    const lost = { status: 503, type: "text/plain", body: "the database does not respond\n" };
    const { status, type, body } = await fleetPage(url, worker.fleet, records, host.clock).catch(() => lost);
    response.writeHead(status, { "content-type": type }).end(leaving(body, redaction, "html"));
  };
}

/** Receives deliveries at `/NAME` of each project. The response follows the commit of the delivery and its check. */
async function receiver(
  terminal: Terminal,
  project: Project,
  worker: FleetWorker,
  records: Records,
): Promise<RequestListener> {
  const names = worker.fleet.projects.flatMap(({ secret_env }) => secret_env ?? []);
  if (names.length === 0) raise("usage/needs", { option: "--listen", other: "`secret_env` in fleet.yaml" });
  await openSecrets(project, { secretEnv: names });
  return (request, response) => {
    const name = nameIn(request);
    const { secret_env = "" } = worker.entryOf(name) ?? {};
    const secret = project.source.env[secret_env]?.trim();
    if (!secret) return void response.writeHead(404).end();
    const refused = (why: string) => say(terminal, `Refused a delivery for ${short(name)}: ${why}`);
    void nodeHandler({
      secrets: secret,
      duplicates: false,
      onEvent: (_, { identity }) => records.deliver(name, identity),
      onRefused: ({ message }) => refused(message),
      onError: () => refused("the database does not respond"),
    })(request, response);
  };
}

function nameIn({ url = "" }: IncomingMessage): string {
  try {
    return decodeURIComponent(url.replace(/^\/|\?.*$/g, ""));
  } catch {
    return "";
  }
}
