/** A sandbox with something of everything in it, and the check held against it. */
import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { checkContract, type Leftover, type Vocabulary } from "../../../src/contract/index.ts";
import type { WriteOptions } from "../../../src/contract/writes.ts";
import { Prober } from "../../../src/core/api/probe.ts";
import { phaseOfWord } from "../../../src/core/kinds/life.ts";
import { monthsOf, passwordForm } from "../../../src/core/kinds/service/words.ts";
import type { ContractReport, ContractRow } from "../../../src/core/model/index.ts";
import type { Control, Sandbox, SandboxOptions } from "../../../src/sandbox/index.ts";
import { testClock } from "../../support/clock.ts";
import { listening } from "../../support/listening.ts";
import { startSandbox } from "../../support/sandbox.ts";

export const VOCABULARY: Vocabulary = {
  phase: (word) => phaseOfWord(word, { statusWords: {} }),
  months: monthsOf,
  password: passwordForm,
};

/** A prober with its own clock, on a server that a test runs. */
export function proberFor(url: string, token: string, clock = testClock()): Prober {
  const prober = new Prober({ baseUrl: url, token, clock, random: () => 0.5, env: {} });
  onTestFinished(() => prober.close());
  return prober;
}

export interface Checked {
  readonly report: ContractReport;
  readonly sandbox: Sandbox;
  row(name: string): ContractRow;
}

export interface CheckOptions {
  readonly sandbox?: SandboxOptions;
  readonly token?: keyof Sandbox["tokens"];
  readonly write?: Omit<WriteOptions, "signal" | "random">;
  readonly furnished?: boolean;
}

/** Runs the whole check against a sandbox. */
export async function checkSandbox(options: CheckOptions = {}): Promise<Checked> {
  const clock = testClock();
  const sandbox = await startSandbox({ clock, sleep: async () => undefined, ...options.sandbox });
  onTestFinished(() => sandbox.close());
  if (options.furnished ?? true) furnish(sandbox.control);
  const prober = proberFor(sandbox.url, sandbox.tokens[options.token ?? "agency"], clock);
  const { report } = await checkContract({
    prober,
    baseUrl: sandbox.url,
    vocabulary: VOCABULARY,
    ...(options.write && { write: { random: () => 0.25, ...options.write } }),
  });
  return { report, sandbox, row: (name) => rowOf(report, name) };
}

export function rowOf({ rows }: ContractReport, name: string): ContractRow {
  const row = rows.find((one) => one.switch === name);
  if (row === undefined) throw new Error(`no row ${name}`);
  return row;
}

/** Services of every kind and state, and one of everything else. */
export function furnish(control: Control): void {
  const services = [11, 21, 31, 41, 12].flatMap((plan_id) => control.seedServices({ plan_id }));
  const [first, second, third, fourth] = services;
  if (!first || !second || !third || !fourth) throw new Error("nothing was seeded");
  control.change("services", first.id, { status: "pending", provisioning_status: "pending" });
  control.change("services", second.id, { status: "suspended", term: 3 });
  control.change("services", third.id, { term: 12 });
  const invoice = control.list("invoices").find(({ order_id }) => order_id === first.id);
  if (invoice !== undefined) control.change("invoices", invoice.id, { status: "unpaid", paid_at: null });
  for (const { id } of services) {
    control.create("grants", {
      service_id: id,
      email: "nino.beridze@acme.example",
      permission: "view",
      expires_at: "2027-06-30T00:00:00.000Z",
    });
  }
  control.create("webhooks", { url: "https://hooks.acme.example/hosting", events: ["invoice.paid"] });
  control.create("accounts", { name: "Acme LLC" });
  control.create("migration_requests", { domain: "old.acme.example", source: "cpanel", mailboxes: 3 });
}

/** What a made-up server answers: a JSON value, or a whole answer. `undefined`: the connection is cut. */
export interface MadeUp {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
}

/** `GET /services?per_page=1`, without the prefix, and the token that came. */
export interface Asked {
  readonly line: string;
  readonly token: string | undefined;
  readonly body: string;
}

/** A server of a test's own. What it was asked is kept. */
export async function server(
  answer: (asked: Asked) => MadeUp | undefined,
): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const listener = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.on("end", () => {
      const line = `${request.method} ${(request.url ?? "").replace("/api/v1", "")}`;
      const one = { line, token: request.headers.authorization, body };
      asked.push(one);
      const made = answer(one);
      if (made === undefined) {
        response.destroy();
        return;
      }
      const { status = 200, headers = {}, json, text = json === undefined ? "" : JSON.stringify(json) } = made;
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    });
  });
  const origin = await listening(listener);
  return { url: origin, asked };
}

export const SERVICE = {
  id: 1001,
  plan: "Start",
  product_type: "shared",
  status: "active",
  domain: "www.acme.example",
  billing_cycle: "monthly",
  currency: "USD",
  price: 500,
  next_due_date: "2026-12-21",
  provisioning_status: "provisioned",
  created_at: "2026-11-21T10:00:00+00:00",
};

export const INVOICE = {
  id: 5001,
  invoice_number: "INV-2026-0001",
  status: "paid",
  currency: "USD",
  subtotal: 500,
  total: 450,
  due_date: "2026-11-28",
  paid_at: "2026-11-21T10:00:00+00:00",
  order_id: 1001,
};

/** A server that keeps to the specification, with one service and one invoice, and this instead of some answers. */
export function usual(instead: (asked: Asked) => MadeUp | undefined = () => undefined) {
  return (asked: Asked): MadeUp => {
    const own = instead(asked);
    if (own !== undefined) return own;
    if (asked.token === undefined || !asked.token.endsWith(TOKEN)) return { status: 401, json: { message: "No." } };
    const [path = "", query = ""] = asked.line.split("?");
    const search = new URLSearchParams(query);
    const page = Number(search.get("page") ?? 1);
    const size = Math.min(100, Number(search.get("per_page") ?? (path.endsWith("plans") ? 50 : 25)));
    const list = (items: readonly unknown[]) => {
      const data = items.slice((page - 1) * size, page * size);
      return {
        json: { data, meta: { current_page: page, per_page: size, last_page: Math.ceil(items.length / size) } },
      };
    };
    const plan = (id: number) => ({ plan_id: id, name: `Plan ${id}`, product_type: "shared" });
    const second = { ...SERVICE, id: 1000 };
    const answers: Readonly<Record<string, MadeUp>> = {
      "GET /plans": list([plan(12), plan(11)]),
      "GET /services": list([SERVICE, second]),
      "GET /services/1001": { json: { data: SERVICE } },
      "GET /services/1001/grants": list([]),
      "GET /services/1000/grants": list([]),
      "GET /invoices": list([INVOICE]),
      "GET /invoices/5001": { json: { data: INVOICE } },
      "GET /webhooks": list([]),
      "GET /accounts": { status: 403, json: { message: "Not on the Manage track." } },
      "GET /migration-requests": list([]),
      "GET /domains/check": { json: { data: [{ domain: "example.com", available: false }] } },
    };
    return answers[path] ?? { status: 404, json: { message: "Not found." } };
  };
}

export const TOKEN = "7|canary-token-Zq81xYp4";

/** The check against a made-up server. */
export async function checkServer(
  answer: (asked: Asked) => MadeUp | undefined,
  write?: Omit<WriteOptions, "random" | "signal">,
): Promise<{
  report: ContractReport;
  leftover: Leftover | undefined;
  asked: readonly Asked[];
  verdict(id: string): string;
}> {
  const { url, asked } = await server(answer);
  const made = await checkContract({
    prober: proberFor(url, TOKEN),
    baseUrl: url,
    vocabulary: VOCABULARY,
    ...(write && { write: { random: () => 0.25, ...write } }),
  });
  const verdict = (id: string) => {
    const found = made.report.checks.find((one) => one.id === id);
    return found === undefined ? "absent" : found.verdict;
  };
  return { report: made.report, leftover: made.leftover, asked, verdict };
}
