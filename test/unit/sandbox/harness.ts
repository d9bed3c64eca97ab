/** Starts sandboxes with a clock that only the test advances, and sends HTTP requests to them. */
import { onTestFinished } from "vitest";
import type { Sandbox, SandboxOptions } from "../../../src/sandbox/index.ts";
import { startSandbox } from "../../support/sandbox.ts";

export const START = Date.parse("2026-11-21T10:00:00Z");

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // Tests read bodies of many shapes. A wrong assumption fails the next assertion.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
}

export interface Sending {
  body?: unknown;
  /** Raw body instead of a JSON body. */
  raw?: string;
  headers?: Record<string, string>;
  token?: string | null;
  key?: string;
}

export interface Running {
  sandbox: Sandbox;
  /** Sends a request to /api/v1. Default token: the agency's. With null, the request has no token. */
  send(method: string, path: string, sending?: Sending): Promise<Answer>;
}

/** Starts a sandbox and closes it after the test. Default: no rate limit. */
export async function start(options: SandboxOptions = {}): Promise<Running> {
  const running = await open(options);
  onTestFinished(() => running.sandbox.close());
  return running;
}

/** Starts a sandbox outside a test. The caller closes it. */
export async function open(options: SandboxOptions = {}): Promise<Running> {
  const sandbox = await startSandbox({ clock: { now: () => START }, rateLimit: 0, ...options });
  return { sandbox, send: (method, path, sending) => send(sandbox, method, path, sending) };
}

async function send(sandbox: Sandbox, method: string, path: string, sending: Sending = {}): Promise<Answer> {
  const { token = sandbox.tokens.agency, key, raw, body } = sending;
  const headers: Record<string, string> = { accept: "application/json", ...sending.headers };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  if (key !== undefined) headers["idempotency-key"] = key;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  if (payload !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(`${sandbox.url}/api/v1${path}`, { method, headers, body: payload ?? null });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Smallest order of a shared hosting service. */
export const ORDER = { plan_id: 11, currency: "USD", domain: "acme.example" };

/** Creates an active service of the agency. Returns its id. */
export function activeService({ sandbox }: Running, seed: { plan_id?: number; account?: string } = {}): number {
  const [service] = sandbox.control.seedServices(seed);
  if (service === undefined) throw new Error("Nothing was seeded.");
  return service.id;
}
