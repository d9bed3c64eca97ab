/** The proxy to a server, by the environment. */
import { fail } from "../model/index.ts";
import { isLoopback } from "./address.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that HTTPS_PROXY or HTTP_PROXY names, lower case first; undefined: directly. Loopback addresses are never proxied:
 * plain http is allowed there because it does not leave the machine.
 * @throws HostformError `provider.proxy`. The value may hold a password, so the message does not repeat it.
 */
export function proxyFor(url: URL, env: Variables): string | undefined {
  const proxy = setting(env, url.protocol === "https:" ? "https_proxy" : "http_proxy");
  if (proxy === "" || isLoopback(url)) return undefined;
  // An address without a scheme is customary: `proxy.example:3128`.
  const address = proxy.includes("://") ? proxy : `http://${proxy}`;
  if (URL.canParse(address)) return address;
  const remedies = ["Set HTTPS_PROXY or HTTP_PROXY to an address such as http://proxy.example:3128, or unset it."];
  fail("provider.proxy", "The address of the proxy is not usable", { remedies });
}

export function setting(env: Variables, name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? "";
}
