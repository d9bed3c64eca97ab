import { type ProviderFlags, withProvider } from "../../account.ts";
import type { Invocation } from "../../io.ts";
import { serviceTarget } from "../../service-target.ts";
import { printListing } from "./print.ts";

/** `hostform grants SERVICE`: with whom a service is shared. Only GETs. */
export async function runGrants(invocation: Invocation, flags: ProviderFlags, service: string): Promise<number> {
  const { id, alias } = await serviceTarget(invocation, service, flags.provider);
  return withProvider(invocation, alias, async (provider, signal) => {
    printListing(invocation, "grants", await provider.client.grants.list(id, { signal }).all(), provider);
    return 0;
  });
}
