import { interruptible } from "./interrupt.ts";
import type { Invocation } from "./io.ts";
import { loadProviders } from "./project.ts";
import { type Provider, Providers } from "./providers.ts";

/** `--provider`, as commands that look at one account take it. */
export interface ProviderFlags {
  readonly provider?: string;
}

/**
 * Opens one provider of the declaration (without a declaration, the default one) and closes it afterwards.
 * @throws HostformError for an unknown alias, a missing base URL or token.
 */
export function withProvider<T>(
  invocation: Invocation,
  alias: string,
  work: (provider: Provider, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(invocation, async (signal) => {
    const providers = new Providers(await loadProviders(invocation), invocation, { reading: signal });
    try {
      return await work(await providers.use(alias), signal);
    } finally {
      await providers.close();
    }
  });
}
