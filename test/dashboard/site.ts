/** A sandbox with records on every page, and a simulated browser that stores cookies and sends forms. */
import { onTestFinished } from "vitest";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { startSandbox } from "../support/sandbox.ts";

export const START = Date.parse("2026-11-21T10:00:00Z");
/** URL without a listener: each delivery fails immediately. */
export const DEAF = "http://127.0.0.1:9/hook";

/** Starts an empty sandbox with a stopped clock. The test closes the sandbox at its end. */
export async function site(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ clock: { now: () => START }, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Ids of the records that `furnish` creates. */
export interface Furniture {
  /** Pending service with an unpaid invoice. */
  ordered: number;
  invoice: number;
  /** Active service. */
  running: number;
  webhook: number;
  delivery: number;
  migration: number;
  token: number;
}

/** Sends a request to the API with the agency's token. */
export async function ask(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<number> {
  const response = await fetch(`${sandbox.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${sandbox.tokens.agency}`,
      accept: "application/json",
      "content-type": "application/json",
      ...(key !== undefined && { "idempotency-key": key }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Creates records for every page of the agency's account. Each call creates the same records. */
export async function furnish(sandbox: Sandbox): Promise<Furniture> {
  const { control } = sandbox;
  const webhook = control.create("webhooks", { url: DEAF, events: ["invoice.created", "service.suspended"] });
  const [running] = control.seedServices({ domain_prefix: "running" });
  await ask(sandbox, "POST", "/services", { plan_id: 11, currency: "USD", domain: "www.acme.example" }, "first");
  const migration = control.create("migration_requests", { domain: "old.example", source: "cpanel" });
  control.addFault({ operation: "listPlans", phase: "before", status: 503 });
  const token = control.create("tokens", { name: "ci", abilities: ["view"], service_ids: [running?.id ?? 0] });
  await control.settled();
  const ordered = control.list("services").at(-1)?.id ?? 0;
  return {
    ordered,
    invoice: control.list("invoices").at(-1)?.id ?? 0,
    running: running?.id ?? 0,
    webhook: webhook.id,
    delivery: control.list("deliveries")[0]?.id ?? 0,
    migration: migration.id,
    token: token.id,
  };
}

/** Returns the path of every page, with the records of `furnish`. */
export function paths(made: Furniture): string[] {
  return [
    "/",
    "/dashboard",
    "/dashboard/services",
    `/dashboard/services/${made.ordered}`,
    `/dashboard/services/${made.running}`,
    "/dashboard/services?q=acme&state=pending",
    "/dashboard/invoices",
    "/dashboard/invoices?state=unpaid",
    "/dashboard/tokens",
    "/dashboard/webhooks",
    `/dashboard/webhooks/${made.webhook}`,
    `/dashboard/deliveries/${made.delivery}`,
    "/dashboard/migrations",
    `/dashboard/migrations/${made.migration}`,
    "/dashboard/requests",
    "/dashboard/requests/1",
    "/dashboard/clock",
    "/dashboard/faults",
    "/dashboard/settings",
  ];
}

export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  /** Path of the redirect. */
  to: string | undefined;
}

/** A simulated browser. */
export class Visitor {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor({ controlUrl }: Sandbox) {
    this.#origin = controlUrl;
  }

  /** Reads a page. */
  async see(path: string, headers: Record<string, string> = {}): Promise<Seen> {
    return this.#send(path, { headers: { accept: "text/html,*/*;q=0.8", ...headers } });
  }

  /** Presses a button without following the redirect. */
  async press(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
    return this.#send(path, { method: "POST", body, headers: { origin: this.#origin, ...headers } });
  }

  /** Presses a button and reads the next page. */
  async pressed(path: string, fields: Readonly<Record<string, string | readonly string[]>>): Promise<Seen> {
    const { to, status, text } = await this.press(path, fields);
    if (to === undefined) throw new Error(`${status} in place of a redirect: ${problem(text) ?? text.slice(0, 200)}`);
    return this.see(to);
  }

  async #send(path: string, init: RequestInit): Promise<Seen> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== "" && { cookie }) };
    const response = await fetch(new URL(path, this.#origin), { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const to = response.headers.get("location") ?? undefined;
    return { status: response.status, headers: response.headers, text: await response.text(), to };
  }
}

/** Returns the error at the rejected form. */
export function problem(html: string): string | undefined {
  return /id="problem"[^>]*>([^<]*)</.exec(html)?.[1];
}

/** Returns the message about an action. */
export function flash(html: string): string | undefined {
  return /<div class="flash"[^>]*><p><bdi>([^<]*)</.exec(html)?.[1];
}

/** Returns the value that the page shows once. */
export function once(html: string): string | undefined {
  return /<code id="once">([^<]*)</.exec(html)?.[1];
}
