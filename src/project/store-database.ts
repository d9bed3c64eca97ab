import type { PoolConfig } from "pg";
import { requireAllowedOrigin } from "../core/api/address.ts";
import { configOf, nameOfServer, parsePgServer, requireVerified } from "../core/local/index.ts";
import type { EnvVars } from "../core/model/index.ts";
import { thisProcess } from "../core/record/index.ts";

export { storeIn } from "../core/api/open-store.ts";

/**
 * Returns the settings of connections to the database in HOSTFORM_STORE.
 * @param name name of the sessions for other sessions.
 * @throws HostformError `state.backend`, `trust.origin`.
 */
export async function storeDatabase(env: EnvVars, name: string): Promise<PoolConfig & { readonly place: string }> {
  const server = parsePgServer(env, thisProcess().user, "HOSTFORM_STORE");
  const address = server.host.includes(":") ? `[${server.host}]` : server.host;
  if (!address.startsWith("/"))
    requireAllowedOrigin(`postgres://${address}:${server.port}`, env, { of: "HOSTFORM_STORE" });
  requireVerified(server, env);
  return { ...(await configOf(server, name, Number.POSITIVE_INFINITY)), place: nameOfServer(server) };
}
