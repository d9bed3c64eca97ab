/** Records the requests that undici passes to a socket. No code of hostform is involved. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { onTestFinished } from "vitest";

/** A request that was passed to a socket. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/**
 * Records all requests to this server from now on.
 * @param isMoment Called before each request is written, with the number of requests so far, until it returns true.
 * @param act Called once when `isMoment` returns true.
 */
export function watchSockets(
  { url }: { readonly url: string },
  isMoment: (count: number) => boolean = () => false,
  act: () => void = () => undefined,
): readonly Sent[] {
  let isOver = false;
  const origin = new URL(url).origin;
  const all: Sent[] = [];
  const listener = (message: unknown) => {
    const { request } = message as { request: { origin: unknown; method: string; path: string; body: unknown } };
    if (String(request.origin) !== origin) return;
    const { method, path, body } = request;
    all.push({ method, path, body: String(body ?? "") });
    if (isOver || !isMoment(all.length)) return;
    isOver = true;
    act();
  };
  subscribe("undici:client:sendHeaders", listener);
  onTestFinished(() => void unsubscribe("undici:client:sendHeaders", listener));
  return all;
}

/** Returns the orders among the requests (§4 POST /services). */
export const ordersIn = (sent: readonly Sent[]) =>
  sent.filter(({ method, path }) => method === "POST" && path.endsWith("/services"));
