/** Creates without an outcome in the store of this machine, for a user who settles one outside of Terraform. */

import { kinds } from "../../core/kinds/index.ts";
import { isPendingCreate, type PendingCreate } from "../../core/lifecycle/index.ts";
import type { AccountStore } from "../../core/local/index.ts";
import { formatAddress, type ResourceState } from "../../core/model/index.ts";
import { Entries, type Entry } from "./entries.ts";

/** A pending create of the store. */
export interface StoredCreate {
  readonly create: PendingCreate;
  /** Writes what the user decided: the next apply of this machine obeys. @param adopted undefined: it created nothing. */
  settle(adopted?: ResourceState): Promise<void>;
  /** Removes the entry: the state shows what the user decided. */
  forget(): Promise<void>;
}

/**
 * Returns the pending creates of one state. The store has no address of Terraform: their names are `_`, with what distinguishes
 * them as the key.
 * @param place mark of the state.
 * @param projects the names that the provider may have been given; the store has a list for each.
 */
export async function storedCreates(
  store: AccountStore,
  place: string,
  projects: readonly (string | undefined)[],
): Promise<readonly StoredCreate[]> {
  const found: StoredCreate[] = [];
  for (const project of new Set(projects)) {
    const entries = new Entries({ store, project, onWarning: () => {} });
    for (const { type } of kinds.values())
      for (const [name, entry] of await entries.all(type)) {
        if (entry.place !== place || entry.resolved !== undefined || !isPendingCreate(entry)) continue;
        const { address, provider, schemaVersion, sensitive, dependencies } = entry;
        // The verdict is the user's: it has no process and no answer.
        const put = (resolved: Entry["resolved"], { attributes, private: mark }: ResourceState) =>
          entries.put(
            type,
            name,
            { address, provider, schemaVersion, attributes, sensitive, private: mark, dependencies, place, resolved },
            { isDurable: true },
          );
        found.push({
          create: { ...entry, address: formatAddress({ type, name: "_", key: name }) },
          settle: (adopted) => (adopted === undefined ? put("absent", entry) : put("adopted", adopted)),
          forget: () => entries.remove(type, name),
        });
      }
  }
  return found;
}
