/**
 * Forwards a verified delivery to an application. In: the exact bytes. Out: the application's status, or why none came.
 * The body is signed again with the secret that the application knows; no other header of the sender is passed on.
 */
import { type Dispatcher, request } from "undici";
import { isLoopback } from "../../core/api/address.ts";
import { VERSION } from "../../core/api/index.ts";
import { connectionPool, networkFailure } from "../../core/api/transport.ts";
import { type Clock, fail } from "../../core/model/index.ts";
import { learnValue } from "../../project/environment-secrets.ts";
import type { ProjectParts } from "../../project/source.ts";
import { escapeLine } from "../../report/index.ts";
import { SIGNATURE_HEADER, signatureOf } from "../../webhooks/index.ts";
import { refuseSecretAsName, webUrl } from "../options.ts";
import { SECRET_OPTIONS, type SigningSecrets } from "./secrets.ts";
import { within } from "./server.ts";

export interface Forwarded {
  /** The application's status; undefined when no answer came. */
  readonly status?: number;
  /** Why no answer came, as the end of a sentence. */
  readonly error?: string;
  readonly milliseconds: number;
}

interface ForwarderOptions {
  readonly url: URL;
  /** The secret that the application verifies with. */
  readonly secret: () => Promise<string>;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For one delivery, from connecting to the end of the answer. */
  readonly timeoutMs: number;
}

/** More of an answer is not read: only its status counts. */
const ANSWER_BYTES = 1024 * 1024;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #pool: Dispatcher;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#pool = connectionPool(options.url, options.env, options.timeoutMs);
  }

  get url(): URL {
    return this.#options.url;
  }

  /** The address without its query, which may hold something that is not for everybody. */
  get shown(): string {
    return escapeLine(`${this.url.origin}${this.url.pathname}`);
  }

  /** Posts the bytes. Never throws: it returns what went wrong. Redirects are answers like any other, and not followed. */
  async send(body: Uint8Array, signal: AbortSignal): Promise<Forwarded> {
    const { url, secret, clock, timeoutMs } = this.#options;
    const started = clock.now();
    const outcome = await within(clock, timeoutMs, async (timeUp): Promise<Pick<Forwarded, "status" | "error">> => {
      try {
        const { statusCode, body: answer } = await request(url, {
          method: "POST",
          body,
          headers: {
            "content-type": "application/json",
            "user-agent": `hostform/${VERSION}`,
            [SIGNATURE_HEADER]: signatureOf(body, await secret()),
          },
          dispatcher: this.#pool,
          signal: AbortSignal.any([signal, timeUp]),
          // One limit for the whole of it, kept by the injected clock.
          headersTimeout: 0,
          bodyTimeout: 0,
        });
        await answer.dump({ limit: ANSWER_BYTES });
        return { status: statusCode };
      } catch (error) {
        if (timeUp.aborted) return { error: `no answer within ${timeoutMs / 1000} s` };
        return { error: signal.aborted ? "interrupted" : networkFailure(error).what };
      }
    });
    return { ...outcome, milliseconds: clock.now() - started };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/**
 * The address to forward deliveries to. Plain http is for this machine alone: events contain customer data.
 * @throws HostformError `webhooks.listen`.
 */
function forwardUrl(text: string, insecureHttp: boolean): URL {
  const fix = "Give an address such as http://127.0.0.1:3000/hooks.";
  const url = webUrl(text);
  if (url === undefined) fail("webhooks.listen", "--forward-to is not an http or https URL", { remedies: [fix] });
  if (url.username !== "" || url.password !== "") {
    fail("webhooks.listen", "The URL of --forward-to contains a user name or password", {
      remedies: ["Remove it: the signature authenticates the delivery."],
    });
  }
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url)) {
    fail("webhooks.listen", `Plain http to ${escapeLine(url.hostname)} would expose events on the network`, {
      detail: "http is accepted for loopback addresses only.",
      remedies: ["Use https, or pass --insecure-http if the connection is protected otherwise."],
    });
  }
  return url;
}

interface ForwardFlags {
  readonly forwardTo?: string;
  readonly forwardSecretEnv?: string;
}

/** For the application to answer in (milliseconds). */
const FORWARD_MS = 10_000;

/** What forwards deliveries; undefined without --forward-to. @throws HostformError `webhooks.listen`, `webhooks.secret`, `secret.source`. */
export function forwarderOf(
  clock: Clock,
  { source, redaction }: ProjectParts,
  { forwardTo, forwardSecretEnv: name }: ForwardFlags,
  secrets: SigningSecrets | undefined,
): Forwarder | undefined {
  if (forwardTo === undefined) {
    if (name === undefined) return undefined;
    fail("usage", "--forward-secret-env needs --forward-to", { remedies: ["Pass both, or neither."] });
  }
  const url = forwardUrl(forwardTo, source.insecureHttp);
  const shared = { url, clock, env: source.env, timeoutMs: FORWARD_MS };
  if (name === undefined) {
    if (secrets !== undefined)
      return new Forwarder({ ...shared, secret: async () => (await secrets.texts())[0] ?? "" });
    const summary = "The application does not know the secret of the subscription that --register creates";
    return fail("webhooks.secret", summary, {
      remedies: [`Name the secret that it verifies with: --forward-secret-env NAME. (Or pass ${SECRET_OPTIONS}.)`],
    });
  }
  const secret = source.env[name]?.trim();
  learnValue(redaction, source.env[name]);
  if (!secret) {
    refuseSecretAsName("--forward-secret-env", name);
    fail("secret.source", `A signing secret cannot be read from the environment variable ${name}`, {
      detail: secret === undefined ? "It is not set." : "It is empty.",
      remedies: ["Set it to the secret that the application verifies with, and export it."],
    });
  }
  return new Forwarder({ ...shared, secret: async () => secret });
}
