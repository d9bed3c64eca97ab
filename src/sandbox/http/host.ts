import { Refusal } from "../refusal.ts";

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Refuses a request under any other name than this machine's: the name of another site may resolve here (DNS rebinding), and
 * its pages know the tokens of the default seed.
 * @param url of the request, with its `Host`. @param what the server, for the message. @throws Refusal 403.
 */
export function requireOwnHost(url: string, what: string): void {
  if (LOOPBACK.includes(new URL(url).hostname)) return;
  throw new Refusal(403, `${what} answers to 127.0.0.1 and localhost only.`);
}
