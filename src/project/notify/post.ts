/** Posts signed JSON to a URL of the user, through the proxy of the environment. */
import { request } from "undici";
import { connectionPool } from "../../core/api/connect.ts";
import { networkFailure } from "../../core/api/network-failure.ts";
import { VERSION } from "../../core/api/version.ts";
import { type Clock, type EnvVars, within } from "../../core/model/index.ts";
import { SIGNATURE_HEADER, signatureOf } from "../../webhooks/index.ts";

export interface Posted {
  /** HTTP status. Undefined without a response. */
  readonly status?: number;
  /** Reason for the missing response. Completes a sentence. */
  readonly error?: string;
  /** True if there is no response but the server may have received the request. */
  readonly isUnknown?: boolean;
  readonly milliseconds: number;
}

/** Returns the secret for the signature. Undefined: unsigned. */
type Secret = () => Promise<string | undefined>;

/** Maximum number of bytes to read from a response. Only its status matters. */
const ANSWER_BYTES = 1024 * 1024;

/** Time limit of a request in milliseconds, from the connection to the end of the response. */
export const POST_MS = 10_000;

/** Opens connections to a URL. @throws HostformError `provider.proxy`. */
export function posterTo(url: URL, clock: Clock, env: EnvVars) {
  const dispatcher = connectionPool(url, env, { timeoutMs: POST_MS });
  const post = async (body: Uint8Array | string, secret: Secret, signal: AbortSignal, type: string) => {
    const key = await secret();
    const { statusCode, body: answer } = await request(url, {
      method: "POST",
      body,
      headers: {
        "content-type": type,
        "user-agent": `hostform/${VERSION}`,
        ...(key !== undefined && { [SIGNATURE_HEADER]: signatureOf(body, key) }),
      },
      dispatcher,
      signal,
      // Disable the time limits of undici: the injected clock limits the complete request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    await answer.dump({ limit: ANSWER_BYTES });
    return statusCode;
  };
  return {
    /** Posts the bytes. Never throws: returns the error. A redirect is a response and is not followed. */
    async send(
      body: Uint8Array | string,
      secret: Secret,
      signal: AbortSignal,
      type = "application/json",
    ): Promise<Posted> {
      const started = clock.monotonic();
      const outcome = await within(clock, POST_MS, (timeUp) =>
        post(body, secret, AbortSignal.any([signal, timeUp]), type).then(
          (status) => ({ status }),
          (error: unknown) => {
            if (timeUp.aborted) return { error: `no response within ${POST_MS / 1000} s`, isUnknown: true };
            const { what, reached } = networkFailure(error);
            return { error: signal.aborted ? "interrupted" : what, isUnknown: reached === "maybe" };
          },
        ),
      );
      return { ...outcome, milliseconds: clock.monotonic() - started };
    },
    close: () => dispatcher.end(),
  };
}
