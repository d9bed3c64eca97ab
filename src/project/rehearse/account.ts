/**
 * Reads one account for a rehearsal. In: a provider, and the recorded resources of its account. Out: the account for the
 * sandbox, the format of the host's responses, and sentences about what the API does not show.
 */
import { type ImportedReading, importedAccount } from "./imported.ts";
import { type ReadingOptions, readMaterial } from "./material.ts";

/** @throws HostformError if the services, plans or invoices cannot be read, or an id does not fit into the sandbox. */
export const readAccount = async (
  provider: Parameters<typeof readMaterial>[0],
  options: ReadingOptions,
): Promise<ImportedReading> => importedAccount(await readMaterial(provider, options));
