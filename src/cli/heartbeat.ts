/** Sends heartbeats to a monitor such as healthchecks.io. */
import { request } from "undici";
import { connectionPool } from "../core/api/connect.ts";
import { VERSION } from "../core/api/index.ts";
import { networkFailure } from "../core/api/network-failure.ts";
import { attempt } from "../core/model/index.ts";
import type { ProjectParts } from "../project/source.ts";
import { escapeLine } from "../report/index.ts";
import { problem } from "./messages.ts";
import { within } from "./webhooks/server.ts";

export interface HeartbeatFlags {
  /** URL for a success. `/fail` behind its path reports a failure. */
  readonly heartbeat?: URL;
}

/** Time limit of one heartbeat, in milliseconds. */
const SEND_MS = 10_000;

/**
 * Returns the function that sends a heartbeat. It never throws: a failure is a warning, and the same failure is reported once.
 * Undefined without a URL.
 */
export function heartbeatTo(url: URL | undefined, { source, host, log }: ProjectParts) {
  if (url === undefined) return undefined;
  const failed = new URL(url);
  failed.pathname = `${url.pathname.replace(/\/$/, "")}/fail`;
  let known: string | undefined;
  const send = async (to: URL, signal: AbortSignal): Promise<string | undefined> => {
    const dispatcher = connectionPool(to, source.env, { timeoutMs: SEND_MS });
    try {
      const headers = { "user-agent": `hostform/${VERSION}` };
      const { statusCode, body } = await request(to, { dispatcher, signal, headers, headersTimeout: 0, bodyTimeout: 0 });
      await body.dump();
      return statusCode < 300 ? undefined : `the response has the status ${statusCode}`;
    } finally {
      await dispatcher.end();
    }
  };
  return async (isGood: boolean): Promise<void> => {
    const reason = await within(host.clock, SEND_MS, (timeUp) =>
      send(isGood ? url : failed, timeUp).catch((error: unknown) =>
        timeUp.aborted ? `no response within ${SEND_MS / 1000} s` : attempt(() => networkFailure(error).what, String),
      ),
    );
    if (reason !== undefined && reason !== known)
      log.alert(problem("watch.heartbeat", { host: escapeLine(url.host), reason }));
    known = reason;
  };
}
