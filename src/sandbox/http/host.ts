import { Refusal } from "../refusal.ts";

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Refuses a request under any other name than this machine's own: a web page elsewhere may have a name of its own lead here (DNS
 * rebinding), and knows the tokens of the default seed.
 * @param url of the request, as its `Host` says. @param what answers. @throws Refusal 403.
 */
export function requireOwnHost(url: string, what: string): void {
  if (LOOPBACK.includes(new URL(url).hostname)) return;
  throw new Refusal(403, `${what} answers to 127.0.0.1 and localhost only.`);
}
