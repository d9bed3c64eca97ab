/** Runs `sandbox trigger`, `deliveries` and `redeliver` through the control port of a running sandbox. */
import { request } from "undici";
import { networkFailure } from "../core/api/network-failure.ts";
import { fail, HostformError, isLoopback, isObject, parsedJson } from "../core/model/index.ts";
import { interruptible } from "../project/interrupt.ts";
import type { ProjectParts } from "../project/source.ts";
import { type Column, escapeLine, escapeText, plural, renderFields, renderTable } from "../report/index.ts";
import type { SandboxDelivery as Delivery } from "./json.ts";
import { serviceTarget } from "./service.ts";
import { type Action, printResult, say, type Terminal } from "./terminal.ts";

interface ControlFlags {
  readonly controlUrl?: string;
}

interface TriggerFlags extends ControlFlags {
  readonly service?: string;
  readonly invoice?: string;
  readonly webhook?: string;
}

/** Runs `hostform sandbox trigger EVENT`: the sandbox sends an event now, even if it did not happen. */
export const runTrigger: Action<TriggerFlags, [event: string]> = async (terminal, project, flags, event) => {
  const { service, invoice, webhook } = flags;
  const body = {
    event,
    ...(service !== undefined && {
      service_id: idOf("the id of a service", (await serviceTarget(project.state, service, undefined)).id),
    }),
    ...(invoice !== undefined && { invoice_id: idOf("the id of an invoice", invoice) }),
    ...(webhook !== undefined && { webhook_id: idOf("the id of a webhook", webhook) }),
  };
  print(terminal, await askDeliveries(project, flags, "POST", "/events/trigger", body));
  return 0;
};

/**
 * Runs `hostform sandbox deliveries [ID]`: prints the deliveries of a sandbox, newest first, or one delivery with all
 * attempts.
 */
export const runDeliveries: Action<ControlFlags, [id?: string]> = async (terminal, project, flags, id) => {
  const path = id === undefined ? "/deliveries" : `/deliveries/${idOf("the id of a delivery", id)}`;
  const found = await askDeliveries(project, flags, "GET", path);
  const [only] = found;
  if (id === undefined || only === undefined) {
    print(
      terminal,
      found.toSorted((a, b) => b.id - a.id),
    );
  } else printResult(terminal, "sandbox deliveries", found, inFull(terminal, only));
  return 0;
};

/** Runs `hostform sandbox redeliver ID`: the sandbox sends the same bytes again, as a new delivery. */
export const runRedeliver: Action<ControlFlags, [id: string]> = async (terminal, project, flags, id) => {
  const path = `/deliveries/${idOf("the id of a delivery", id)}/replay`;
  print(terminal, await askDeliveries(project, flags, "POST", path));
  return 0;
};

function print(terminal: Terminal, deliveries: readonly Delivery[]): void {
  const columns: readonly Column<Delivery>[] = [
    { header: "ID", cell: ({ id }) => id, whole: true, align: "left" },
    { header: "EVENT", cell: ({ event }) => event },
    { header: "WEBHOOK", cell: ({ webhook_id }) => webhook_id, whole: true, align: "left" },
    { header: "TO", cell: ({ url }) => url, spare: true },
    { header: "STATUS", cell: ({ status }) => status },
    { header: "ATTEMPTS", cell: ({ attempts }) => attempts.length },
    { header: "LAST ANSWER", cell: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error },
  ];
  const empty = "No event has been sent.";
  printResult(
    terminal,
    "sandbox deliveries",
    deliveries,
    renderTable(deliveries, columns, { ...terminal.outLook, empty }),
  );
  const pending = deliveries.filter(({ status, attempts }) => status === "pending" && attempts.length > 0).length;
  if (pending > 0 && !terminal.json) say(terminal, `${plural(pending, "delivery", "deliveries")} will be tried again.`);
}

function inFull(terminal: Terminal, { attempts, body, ...delivery }: Delivery): string {
  const fields = Object.entries(delivery).filter(([, value]) => value !== null);
  const table = renderFields(Object.fromEntries(fields), terminal.outLook);
  const columns: readonly Column<(typeof attempts)[number]>[] = [
    { header: "ATTEMPT", cell: ({ at }) => at },
    { header: "RESPONSE", cell: ({ status }) => status, align: "left" },
    { header: "ERROR", cell: ({ error }) => error },
  ];
  const tries = renderTable(attempts, columns, { ...terminal.outLook, empty: "No attempt has been sent." });
  return `${table}\n${tries}${body === undefined ? "" : `\n${escapeText(body)}\n`}`;
}

/** Parses the id of a sandbox object. Ids are numbers. */
function idOf(what: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return fail("usage", `${JSON.stringify(text)} is not ${what}`, {
    remedies: [
      "Ids of the sandbox are numbers. `hostform services`, `invoices`, `webhooks` and `sandbox deliveries` list them.",
    ],
  });
}

const VARIABLE = "HOSTING_SANDBOX_CONTROL_URL";
const FIX = `Run \`hostform sandbox\` in another terminal, and set ${VARIABLE} to the value that it prints (or pass --control-url).`;
const TIMEOUT_MS = 30_000;

/**
 * Sends a request to the control port of a sandbox on this machine.
 * @returns the deliveries in the response.
 * @throws HostformError `sandbox.control` if the URL is missing or belongs to another machine, if there is no response, or if
 * the sandbox rejects the request.
 */
function askDeliveries(
  project: ProjectParts,
  { controlUrl }: ControlFlags,
  method: "GET" | "POST",
  path: string,
  body?: object,
): Promise<Delivery[]> {
  const base = addressOf(controlUrl ?? project.source.env[VARIABLE]);
  return interruptible(project.host, async (signal) => {
    try {
      const answer = await request(new URL(path, base), {
        method,
        body: body === undefined ? null : JSON.stringify(body),
        headers: { accept: "application/json", ...(body && { "content-type": "application/json" }) },
        signal,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      return deliveriesIn(answer.statusCode, await answer.body.text(), base);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HostformError) throw error;
      return refuse(`No sandbox responds at ${base.origin}: ${networkFailure(error).what}`);
    }
  });
}

function addressOf(text: string | undefined): URL {
  if (!text) refuse("The control URL of a sandbox is missing");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== "http:" || url.username !== "" || url.password !== "")
    refuse("The control URL is not a URL such as http://127.0.0.1:8081");
  if (!isLoopback(url)) refuse(`A control URL must be on this machine, not at ${escapeLine(url.hostname)}`);
  return url;
}

/** Returns the deliveries in a successful response. */
function deliveriesIn(status: number, text: string, base: URL): Delivery[] {
  const json = parsedJson(text);
  const list: unknown[] = Array.isArray(json) ? json : [json];
  const isAccepted = status >= 200 && status <= 299;
  if (isAccepted && list.every(isDelivery)) return list;
  if (isAccepted || !isObject(json) || typeof json.message !== "string")
    refuse(`The server at ${base.origin} is not the control port of a sandbox of this version (${status})`);
  // Replace field names of the control port with option names.
  const inOptions = json.message.replace(/\b(service|invoice|webhook)_id\b/g, "--$1");
  return refuse(
    `The sandbox rejected the request: ${escapeLine(inOptions)}`,
    "Correct the named value. `hostform webhooks` lists the subscriptions, and `hostform sandbox deliveries` lists the deliveries.",
  );
}

function isDelivery(value: unknown): value is Delivery {
  if (!isObject(value)) return false;
  const { id, event, status, attempts } = value;
  return typeof id === "number" && typeof event === "string" && typeof status === "string" && Array.isArray(attempts);
}

function refuse(summary: string, remedy = FIX): never {
  fail("sandbox.control", summary, { remedies: [remedy] });
}
