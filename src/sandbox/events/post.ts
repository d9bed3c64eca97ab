/**
 * Sends POST requests, only to allowed addresses. Loaded with the HTTP client at the first delivery, because most sandboxes
 * send none.
 */
import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent, request } from "undici";
import { Blocked, checkAddress, checkTarget, type DeliverTo } from "./target.ts";

/** Result of an attempt: the status, or the reason why there is none. `blocked`: the address is not allowed. */
export interface PostResult {
  status: number | null;
  error: string | null;
  blocked: boolean;
}

export interface Post {
  /** Sends a request. Never rejects. Follows no redirect. */
  send(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<PostResult>;
  /** Aborts the requests in progress. */
  close(): Promise<void>;
}

/** Maximum size of a response body in bytes. A longer body is cut off. All bodies are discarded. */
const LONGEST_ANSWER = 1_000_000;

/** Creates the client. `lookup` is replaced only in tests. */
export function openPost(allowed: DeliverTo, timeoutMs: number, lookup: LookupFunction = systemLookup): Post {
  const guarded: LookupFunction = (host, options, callback) => {
    lookup(host, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      const addresses = typeof found === "string" ? [found] : found.map(({ address }) => address);
      try {
        for (const address of addresses) checkAddress(host, address, allowed);
      } catch (refused) {
        return callback(refused as Error, []);
      }
      callback(null, found, family);
    });
  };
  const agent = new Agent({ connect: { lookup: guarded, timeout: timeoutMs }, maxResponseSize: LONGEST_ANSWER });
  return {
    async send(url, body, headers) {
      try {
        const target = new URL(url);
        checkTarget(target, allowed);
        const signal = AbortSignal.timeout(timeoutMs);
        const answer = await request(target, { method: "POST", dispatcher: agent, headers, body, signal });
        await answer.body.dump();
        return { status: answer.statusCode, error: null, blocked: false };
      } catch (error) {
        return { status: null, ...reasonOf(error, timeoutMs) };
      }
    },
    close: () => agent.destroy(),
  };
}

function reasonOf(error: unknown, timeoutMs: number): Pick<PostResult, "error" | "blocked"> {
  // A blocked address is the cause of the connection error.
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof Blocked) return { error: one.message, blocked: true };
  }
  if (error instanceof Error && error.name === "TimeoutError") {
    return { error: `No answer within ${timeoutMs / 1000} seconds.`, blocked: false };
  }
  return { error: error instanceof Error ? error.message || error.name : String(error), blocked: false };
}
