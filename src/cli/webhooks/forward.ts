/**
 * Forwards a verified delivery to an application. In: the exact bytes. Out: the application's status, or the reason for none.
 * The body is signed again with the secret that the application knows; no other header of the sender is passed on.
 */
import { request } from "undici";
import { isLoopback } from "../../core/api/address.ts";
import { connectionPool } from "../../core/api/connect.ts";
import { VERSION } from "../../core/api/index.ts";
import { networkFailure } from "../../core/api/network-failure.ts";
import { type Clock, fail } from "../../core/model/index.ts";
import { learnVariable } from "../../project/redaction.ts";
import type { ProjectParts, ProjectSource } from "../../project/source.ts";
import { escapeLine } from "../../report/index.ts";
import { SIGNATURE_HEADER, signatureOf } from "../../webhooks/index.ts";
import { refuseSecretAsName, webUrl } from "../options.ts";
import { SECRET_OPTIONS, type SigningSecrets } from "./secrets.ts";
import { within } from "./server.ts";

export interface Forwarded {
  /** The application's status; undefined without an answer. */
  readonly status?: number;
  /** The reason for no answer, as the end of a sentence. */
  readonly error?: string;
  readonly milliseconds: number;
}

/** More of an answer is not read: only its status counts. */
const ANSWER_BYTES = 1024 * 1024;

/** For the application to answer in (milliseconds), from connecting to the end of the answer. */
const FORWARD_MS = 10_000;

export type Forwarder = ReturnType<typeof forwarderTo>;

/** @param secret the secret by which the application verifies. */
function forwarderTo(url: URL, secret: () => Promise<string>, clock: Clock, env: ProjectSource["env"]) {
  const dispatcher = connectionPool(url, env, { timeoutMs: FORWARD_MS });
  const post = async (body: Uint8Array, signal: AbortSignal): Promise<number> => {
    const { statusCode, body: answer } = await request(url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "user-agent": `hostform/${VERSION}`,
        [SIGNATURE_HEADER]: signatureOf(body, await secret()),
      },
      dispatcher,
      signal,
      // One limit for the whole of it, kept by the injected clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    await answer.dump({ limit: ANSWER_BYTES });
    return statusCode;
  };
  return {
    url,
    /** The address without its query, which may hold a secret. */
    shown: escapeLine(`${url.origin}${url.pathname}`),
    /** Posts the bytes. Never throws: it returns what went wrong. Redirects are answers like any other, and not followed. */
    async send(body: Uint8Array, signal: AbortSignal): Promise<Forwarded> {
      const started = clock.monotonic();
      const outcome = await within(clock, FORWARD_MS, (timeUp) =>
        post(body, AbortSignal.any([signal, timeUp])).then(
          (status) => ({ status }),
          (error: unknown) => {
            if (timeUp.aborted) return { error: `no answer within ${FORWARD_MS / 1000} s` };
            return { error: signal.aborted ? "interrupted" : networkFailure(error).what };
          },
        ),
      );
      return { ...outcome, milliseconds: clock.monotonic() - started };
    },
    close: () => dispatcher.end(),
  };
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

/** Returns the forwarder of deliveries; undefined without --forward-to. @throws HostformError `webhooks.listen`, `webhooks.secret`, `secret.source`. */
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
  if (name === undefined) {
    if (secrets !== undefined) return forwarderTo(url, async () => (await secrets.texts())[0] ?? "", clock, source.env);
    const summary = "The application does not know the secret of the subscription that --register creates";
    return fail("webhooks.secret", summary, {
      remedies: [`Name the secret that it verifies with: --forward-secret-env NAME. (Or pass ${SECRET_OPTIONS}.)`],
    });
  }
  const secret = source.env[name]?.trim();
  learnVariable(redaction, source.env, name);
  if (!secret) {
    refuseSecretAsName("--forward-secret-env", name);
    fail("secret.source", `A signing secret cannot be read from the environment variable ${name}`, {
      detail: secret === undefined ? "It is not set." : "It is empty.",
      remedies: ["Set it to the secret that the application verifies with, and export it."],
    });
  }
  return forwarderTo(url, async () => secret, clock, source.env);
}
