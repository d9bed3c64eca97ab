/** One service that a command names, with its account opened. */
import { service } from "../core/kinds/service/index.ts";
import { read, signOnRefused } from "../core/lifecycle/index.ts";
import { isForbidden, type ResourceState } from "../core/model/index.ts";
import { requireAddress } from "./identity.ts";
import { type Declaring, type Provider, withProvider } from "./providers.ts";

export interface NamedService {
  readonly id: string;
  /** The provider that it belongs to. */
  readonly alias: string;
  /** Absent: the user gave the id. */
  readonly record?: ResourceState;
}

/**
 * Opens the account of a service for some work.
 * @throws HostformError `account.foreign`, `state.stranger` for another account, where the id may belong to another service.
 */
export function withService<T>(
  project: Declaring,
  { alias, record }: NamedService,
  work: (provider: Provider, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withProvider(project, alias, async (provider, signal) => {
    const { account } = provider;
    if (record !== undefined) {
      requireAddress(alias, account, record);
      // The work reports the same refusal.
      await read(account, { kind: service, prior: record, config: undefined, alone: true }).catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
      });
    }
    return work(provider, signal);
  });
}

/** Returns a one-time URL that signs on to the control panel of a service: a secret. @throws the refusal of the API, with its cause. */
export async function panelUrl(project: Declaring, named: NamedService): Promise<string> {
  const { id } = named;
  const { url } = await withService(project, named, async ({ client, account }, signal) => {
    try {
      return await client.services.panelSso(id, { signal });
    } catch (error) {
      throw await signOnRefused(account, service, id, error);
    }
  });
  project.redaction.learn("sign-on URL", url);
  return url;
}

export { passwordForm } from "../core/kinds/service/words.ts";
