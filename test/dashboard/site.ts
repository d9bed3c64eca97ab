/** A sandbox with something on every page, and a browser without eyes: it keeps cookies and sends forms. */
import { onTestFinished } from "vitest";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { startSandbox } from "../support/sandbox.ts";

export const START = Date.parse("2026-11-21T10:00:00Z");
/** Nobody listens there: deliveries fail at once. */
export const DEAF = "http://127.0.0.1:9/hook";

/** An empty sandbox on a frozen clock, closed after the test. */
export async function site(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ clock: { now: () => START }, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** What `furnish` made. */
export interface Furniture {
  /** Pending, with an unpaid invoice. */
  ordered: number;
  invoice: number;
  /** Active. */
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

/** Puts something on every page of the agency's account. The same each time. */
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

/** Every page, with records that `furnish` has made. */
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
  /** The path that a redirect leads to. */
  to: string | undefined;
}

/** Somebody with a browser. */
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

  /** Presses a button; follows nothing. */
  async press(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
    return this.#send(path, { method: "POST", body, headers: { origin: this.#origin, ...headers } });
  }

  /** Presses a button and reads the page that follows. */
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

/** The sentence at the form that was refused. */
export function problem(html: string): string | undefined {
  return /id="problem"[^>]*>([^<]*)</.exec(html)?.[1];
}

/** What is said after an action. */
export function flash(html: string): string | undefined {
  return /<div class="flash"[^>]*><p><bdi>([^<]*)</.exec(html)?.[1];
}

/** The value that is shown once. */
export function once(html: string): string | undefined {
  return /<code id="once">([^<]*)</.exec(html)?.[1];
}
