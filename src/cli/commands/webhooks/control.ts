/**
 * The control port of a sandbox, over HTTP. In: a path, and a body. Out: what it answers. Must not: speak to anything but
 * this machine; know the sandbox's code.
 */
import { type Dispatcher, request } from "undici";
import { isLoopback } from "../../../core/api/base-url.ts";
import { networkFailure } from "../../../core/api/network-failure.ts";
import { fail, isObject } from "../../../core/model/index.ts";
import { escapeLine } from "../../../report/index.ts";
import { interruptible } from "../../interrupt.ts";
import type { Invocation } from "../../io.ts";

export interface ControlFlags {
  readonly controlUrl?: string;
}

/** A delivery as the control port tells it. Fields that another version does not have are absent. */
export interface Delivery {
  readonly id: number;
  readonly webhook_id: number;
  readonly event: string;
  readonly url: string;
  /** pending, delivered, abandoned, blocked. */
  readonly status: string;
  readonly attempts: readonly DeliveryAttempt[];
  readonly body?: string;
  readonly replay_of?: number | null;
  readonly created_at?: string;
}

export interface DeliveryAttempt {
  readonly at: string;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly error: string | null;
}

const VARIABLE = "HOSTING_SANDBOX_CONTROL_URL";
const FIX = `Run \`hostform sandbox\` in another terminal, and set ${VARIABLE} as it prints it (or give --control-url).`;
const TIMEOUT_MS = 30_000;

/**
 * Asks the control port; the answer as JSON.
 * @throws HostformError `sandbox.control`: no address, one of another machine, no answer, a refusal with its sentence.
 */
export function askControl(
  invocation: Invocation,
  { controlUrl }: ControlFlags,
  { method, path, body }: { readonly method: Dispatcher.HttpMethod; readonly path: string; readonly body?: object },
): Promise<unknown> {
  const base = addressOf(controlUrl ?? invocation.io.env[VARIABLE]);
  return interruptible(invocation, async (signal) => {
    try {
      const answer = await request(new URL(path, base), {
        method,
        body: body === undefined ? null : JSON.stringify(body),
        headers: { accept: "application/json", ...(body && { "content-type": "application/json" }) },
        signal,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      return understood(answer.statusCode, await answer.body.text(), base);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && "diagnostics" in error) throw error;
      return fail("sandbox.control", `No sandbox answers at ${base.origin}: ${networkFailure(error).what}`, {
        fix: FIX,
      });
    }
  });
}

function addressOf(text: string | undefined): URL {
  if (text === undefined || text === "") {
    fail("sandbox.control", "No sandbox is named, and the API has nothing of the kind", { fix: FIX });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== "http:" || url.username !== "" || url.password !== "") {
    fail("sandbox.control", "The address of the control port is not one such as http://127.0.0.1:8081", { fix: FIX });
  }
  if (!isLoopback(url)) {
    fail("sandbox.control", `The control port of a sandbox is on this machine, not at ${escapeLine(url.hostname)}`, {
      fix: FIX,
    });
  }
  return url;
}

/** The JSON of a good answer. */
function understood(status: number, text: string, base: URL): unknown {
  let json: unknown;
  try {
    json = text === "" ? null : JSON.parse(text);
  } catch {
    fail("sandbox.control", `What answers at ${base.origin} is no control port of a sandbox`, {
      detail: `Its answer (${status}) is not JSON.`,
      fix: FIX,
    });
  }
  if (status >= 200 && status < 300) return json;
  const words = isObject(json) && typeof json.message === "string" ? json.message : `It answered ${status}.`;
  return fail("sandbox.control", `The sandbox refused: ${escapeLine(inOptions(words))}`, {
    fix: "Correct what the message names. `hostform webhooks` lists the subscriptions of the account, `hostform webhooks deliveries` what was sent.",
  });
}

/** Fields of the control port by the names of the options that fill them. */
const inOptions = (words: string) => words.replace(/\b(service|invoice|webhook)_id\b/g, "--$1");

/** The deliveries of an answer: one or a list. @throws HostformError `sandbox.control`. */
export function deliveriesIn(json: unknown): Delivery[] {
  const list: unknown[] = Array.isArray(json) ? json : [json];
  if (list.every(isDelivery)) return list;
  return fail("sandbox.control", "The sandbox's answer holds no deliveries", {
    fix: "Use the sandbox of this version of hostform.",
  });
}

function isDelivery(value: unknown): value is Delivery {
  if (typeof value !== "object" || value === null) return false;
  const { id, event, status, attempts } = value as Partial<Record<keyof Delivery, unknown>>;
  return typeof id === "number" && typeof event === "string" && typeof status === "string" && Array.isArray(attempts);
}
