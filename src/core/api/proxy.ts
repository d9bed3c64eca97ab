import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { fail } from "../model/index.ts";
import { isLoopback } from "./base-url.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The connection pool for a base URL: through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name (lower case
 * first), otherwise direct. Loopback addresses are never proxied: plain http is allowed there because it does not
 * leave the machine. Throws provider.proxy.
 */
export function connectionPool(baseUrl: URL, env: Environment, connectTimeoutMs: number): Dispatcher {
  const pool = { allowH2: false, connections: 8, connect: { timeout: connectTimeoutMs } };
  const proxy =
    baseUrl.protocol === "https:"
      ? setting(env, "https_proxy", "HTTPS_PROXY")
      : setting(env, "http_proxy", "HTTP_PROXY");
  if (proxy === "" || isLoopback(baseUrl)) return new Agent(pool);
  // `proxy.example:3128` is customary.
  const uri = proxy.includes("://") ? proxy : `http://${proxy}`;
  try {
    // Empty strings, not undefined: undici would look into the process's own environment.
    return new EnvHttpProxyAgent({
      ...pool,
      httpProxy: uri,
      httpsProxy: uri,
      noProxy: setting(env, "no_proxy", "NO_PROXY"),
    });
  } catch {
    // The value may hold a password, and so may the message of the error.
    fail("provider.proxy", "The address of the proxy is not usable");
  }
}

function setting(env: Environment, lower: string, upper: string): string {
  return env[lower] ?? env[upper] ?? "";
}
