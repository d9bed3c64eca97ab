import { type ProviderFlags, withProvider } from "../../account.ts";
import type { Invocation } from "../../io.ts";
import { printListing } from "./print.ts";

/** `hostform domains check NAME…`: whether domains can be registered, as far as the API says. Only GETs. */
export async function runDomainsCheck(
  invocation: Invocation,
  flags: ProviderFlags,
  names: readonly string[],
): Promise<number> {
  return withProvider(invocation, flags.provider ?? "default", async (provider, signal) => {
    printListing(invocation, "domains", await provider.client.domains.check(names, { signal }), provider);
    return 0;
  });
}
