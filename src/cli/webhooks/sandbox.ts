/** `webhooks trigger`, `deliveries`, `replay`: asks the control port of a sandbox. */
import { type Dispatcher, request } from "undici";
import { isLoopback } from "../../core/api/address.ts";
import { networkFailure } from "../../core/api/network-failure.ts";
import { fail, isObject, parsedJson } from "../../core/model/index.ts";
import { interruptible } from "../../project/interrupt.ts";
import type { ProjectParts } from "../../project/source.ts";
import { type Column, escapeLine, escapeText, plural, renderFields, renderTable } from "../../report/index.ts";
import { serviceTarget } from "../service.ts";
import { type Action, printResult, say, type Terminal } from "../terminal.ts";

interface TriggerFlags extends ControlFlags {
  readonly service?: string;
  readonly invoice?: string;
  readonly webhook?: string;
}

/** Number of checks whether a delivery was attempted, and their distance in milliseconds. */
const [LOOKS, LOOK_MS] = [200, 50];

/** `hostform webhooks trigger EVENT`: makes a sandbox send an event now, whether or not it has happened. */
export const runTrigger: Action<TriggerFlags, [event: string]> = async (terminal, project, flags, event) => {
  const { invoice, webhook } = flags;
  const service =
    flags.service === undefined ? undefined : (await serviceTarget(project.state, flags.service, undefined)).id;
  const body = {
    event,
    ...(service !== undefined && { service_id: idOf("the id of a service", service) }),
    ...(invoice !== undefined && { invoice_id: idOf("the id of an invoice", invoice) }),
    ...(webhook !== undefined && { webhook_id: idOf("the id of a webhook", webhook) }),
  };
  const sent = await askDeliveries(project, flags, "POST", "/events/trigger", body);
  print(terminal, await attempted(terminal, project, flags, sent), "No event was sent.");
  return 0;
};

/** `hostform webhooks deliveries [ID]`: what a sandbox has sent, newest first, or one delivery with every attempt. */
export const runDeliveries: Action<ControlFlags, [id?: string]> = async (terminal, project, flags, id) => {
  if (id === undefined) {
    const all = await askDeliveries(project, flags, "GET", "/deliveries");
    const newestFirst = all.toSorted((a, b) => b.id - a.id);
    print(terminal, newestFirst, "No event was sent yet.");
    return 0;
  }
  const path = `/deliveries/${idOf("the id of a delivery", id)}`;
  const [delivery] = await askDeliveries(project, flags, "GET", path);
  if (delivery !== undefined) printResult(terminal, [delivery], inFull(terminal, delivery));
  return 0;
};

/** `hostform webhooks replay ID`: makes a sandbox send a delivery again, the same bytes, as a new one. */
export const runReplay: Action<ControlFlags, [id: string]> = async (terminal, project, flags, id) => {
  const path = `/deliveries/${idOf("the id of a delivery", id)}/replay`;
  const sent = await askDeliveries(project, flags, "POST", path);
  print(terminal, await attempted(terminal, project, flags, sent), "No event was sent.");
  return 0;
};

/** The same deliveries once each was attempted, so that what came back can be shown; as they are after a while. */
async function attempted(
  terminal: Terminal,
  project: ProjectParts,
  flags: ControlFlags,
  sent: readonly Delivery[],
): Promise<readonly Delivery[]> {
  let now = sent;
  for (let look = 0; look < LOOKS && now.some(({ attempts }) => attempts.length === 0); look++) {
    await terminal.clock.sleep(LOOK_MS);
    now = await Promise.all(
      now.map(async (one) => {
        if (one.attempts.length > 0) return one;
        return (await askDeliveries(project, flags, "GET", `/deliveries/${one.id}`))[0] ?? one;
      }),
    );
  }
  return now;
}

function print(terminal: Terminal, deliveries: readonly Delivery[], empty: string): void {
  const columns: readonly Column<Delivery>[] = [
    { header: "ID", cell: ({ id }) => id, whole: true, align: "left" },
    { header: "EVENT", cell: ({ event }) => event },
    { header: "WEBHOOK", cell: ({ webhook_id }) => webhook_id, whole: true, align: "left" },
    { header: "TO", cell: ({ url }) => url, spare: true },
    { header: "STATUS", cell: ({ status }) => status },
    { header: "ATTEMPTS", cell: ({ attempts }) => attempts.length },
    { header: "LAST ANSWER", cell: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error },
  ];
  printResult(terminal, deliveries, renderTable(deliveries, columns, { ...terminal.outLook, empty }));
  const pending = deliveries.filter(({ status, attempts }) => status === "pending" && attempts.length > 0).length;
  if (pending > 0 && !terminal.json) say(terminal, `${plural(pending, "delivery", "deliveries")} will be tried again.`);
}

function inFull(terminal: Terminal, { attempts, body, ...delivery }: Delivery): string {
  const fields = Object.entries(delivery).filter(([, value]) => value !== null);
  const table = renderFields(Object.fromEntries(fields), terminal.outLook);
  const columns: readonly Column<(typeof attempts)[number]>[] = [
    { header: "ATTEMPT", cell: ({ at }) => at },
    { header: "ANSWER", cell: ({ status }) => status, align: "left" },
    { header: "ERROR", cell: ({ error }) => error },
  ];
  const tries = renderTable(attempts, columns, { ...terminal.outLook, empty: "No attempt yet." });
  return `${table}\n${tries}${body === undefined ? "" : `\n${escapeText(body)}\n`}`;
}

/** An id of the sandbox, which are numbers. */
function idOf(what: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return fail("usage", `${JSON.stringify(text)} is not ${what}`, {
    remedies: [
      "Ids of the sandbox are numbers; `hostform services`, `invoices`, `webhooks` and `webhooks deliveries` show them.",
    ],
  });
}

/*
 * The control port of a sandbox, over HTTP. In: a path, and a body. Out: what it answers. Must not: speak to anything but
 * this machine; know the sandbox's code.
 */
interface ControlFlags {
  readonly controlUrl?: string;
}

/** A delivery as the control port reports it. Fields that another version does not have are absent. */
interface Delivery {
  readonly id: number;
  readonly webhook_id: number;
  readonly event: string;
  readonly url: string;
  /** pending, delivered, abandoned, blocked. */
  readonly status: string;
  /** `status` is null when no answer came. */
  readonly attempts: readonly { readonly at: string; readonly status: number | null; readonly error: string | null }[];
  readonly body?: string;
  readonly replay_of?: number | null;
  readonly created_at?: string;
}

const VARIABLE = "HOSTING_SANDBOX_CONTROL_URL";
const FIX = `Run \`hostform sandbox\` in another terminal, and set ${VARIABLE} to the value that it prints (or pass --control-url).`;
const TIMEOUT_MS = 30_000;

/**
 * Asks the control port for deliveries: one or a list.
 * @throws HostformError `sandbox.control`: no address, one of another machine, no answer, a refusal with its sentence.
 */
function askDeliveries(
  project: ProjectParts,
  { controlUrl }: ControlFlags,
  method: Dispatcher.HttpMethod,
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
      return deliveriesIn(parsedAnswer(answer.statusCode, await answer.body.text(), base));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && "diagnostics" in error) throw error;
      return fail("sandbox.control", `No sandbox answers at ${base.origin}: ${networkFailure(error).what}`, {
        remedies: [FIX],
      });
    }
  });
}

function addressOf(text: string | undefined): URL {
  if (text === undefined || text === "") {
    fail("sandbox.control", "No sandbox is given; a real API cannot do this", { remedies: [FIX] });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== "http:" || url.username !== "" || url.password !== "") {
    fail("sandbox.control", "The control address is not a URL such as http://127.0.0.1:8081", { remedies: [FIX] });
  }
  if (!isLoopback(url)) {
    fail("sandbox.control", `The control port of a sandbox is on this machine, not at ${escapeLine(url.hostname)}`, {
      remedies: [FIX],
    });
  }
  return url;
}

/** The JSON of a good answer. */
function parsedAnswer(status: number, text: string, base: URL): unknown {
  const json = text === "" ? null : parsedJson(text);
  if (json === undefined) {
    fail("sandbox.control", `The server at ${base.origin} is not the control port of a sandbox`, {
      detail: `Its answer (${status}) is not JSON.`,
      remedies: [FIX],
    });
  }
  if (status >= 200 && status < 300) return json;
  const words = isObject(json) && typeof json.message === "string" ? json.message : `It answered ${status}.`;
  return fail("sandbox.control", `The sandbox refused: ${escapeLine(inOptions(words))}`, {
    remedies: [
      "Correct what the message names. `hostform webhooks` lists the subscriptions of the account, `hostform webhooks deliveries` what was sent.",
    ],
  });
}

/** Fields of the control port by the names of the options that fill them. */
const inOptions = (words: string) => words.replace(/\b(service|invoice|webhook)_id\b/g, "--$1");

function deliveriesIn(json: unknown): Delivery[] {
  const list: unknown[] = Array.isArray(json) ? json : [json];
  if (list.every(isDelivery)) return list;
  return fail("sandbox.control", "The sandbox's answer has no deliveries", {
    remedies: ["Use the sandbox of this version of hostform."],
  });
}

function isDelivery(value: unknown): value is Delivery {
  if (!isObject(value)) return false;
  const { id, event, status, attempts } = value;
  return typeof id === "number" && typeof event === "string" && typeof status === "string" && Array.isArray(attempts);
}
