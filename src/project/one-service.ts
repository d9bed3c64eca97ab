/** Opens the account of one service from the command line. */
import { service } from "../core/kinds/service/index.ts";
import { read, signOnRefused } from "../core/lifecycle/index.ts";
import { isForbidden, type ResourceState } from "../core/model/index.ts";
import { requireAddress } from "./identity.ts";
import { type Declaring, type Provider, withProvider } from "./providers.ts";

export interface NamedService {
  readonly id: string;
  /** Provider of the service. */
  readonly alias: string;
  /** State entry of the service. Undefined if the user gave an id. */
  readonly record?: ResourceState;
}

/**
 * Opens the account of a service and runs a task.
 * @throws HostformError `account.foreign` or `state.stranger` if the account differs from the state: the id would belong to
 * another service.
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
      // If the API rejects the read, it also rejects the task, which reports this.
      await read(account, { kind: service, prior: record, config: undefined, alone: true }).catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
      });
    }
    return work(provider, signal);
  });
}

/**
 * Returns a one-time URL that signs in to the control panel of a service. The URL is a secret.
 * @throws the API's error with its cause.
 */
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
