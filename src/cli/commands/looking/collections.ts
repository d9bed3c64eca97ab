import type { CallOptions, Reader } from "../../../core/api/index.ts";
import { fail } from "../../../core/model/index.ts";
import type { Listings } from "../../../report/index.ts";
import { type ProviderFlags, withProvider } from "../../account.ts";
import type { Invocation } from "../../io.ts";
import { printListing, printRecord } from "./print.ts";

/** The collections that are listed whole. */
export type CollectionName = "plans" | "services" | "invoices" | "webhooks" | "accounts" | "migrations";

interface Collection<Row> {
  list(client: Reader, call: CallOptions): Promise<Row[]>;
  /** Absent where the API shows no single one. */
  get?(client: Reader, id: string, call: CallOptions): Promise<object>;
}

const COLLECTIONS: { readonly [N in CollectionName]: Collection<Listings[N]> } = {
  plans: { list: (client, call) => client.plans.list(call).all() },
  services: {
    list: (client, call) => client.services.list(call).all(),
    get: (client, id, call) => client.services.get(id, call),
  },
  invoices: {
    list: (client, call) => client.invoices.list(call).all(),
    get: (client, id, call) => client.invoices.get(id, call),
  },
  webhooks: { list: (client, call) => client.webhooks.list(call).all() },
  accounts: { list: (client, call) => client.accounts.list(call).all() },
  migrations: {
    list: (client, call) => client.migrationRequests.list(call).all(),
    get: (client, id, call) => client.migrationRequests.get(id, call),
  },
};

/** `hostform plans`, `services [ID]` and the like: lists a collection of the account, or shows one object. Only GETs. */
export async function runCollection<N extends CollectionName>(
  invocation: Invocation,
  flags: ProviderFlags,
  name: N,
  id: string | undefined,
): Promise<number> {
  const collection: Collection<Listings[N]> = COLLECTIONS[name];
  return withProvider(invocation, flags.provider ?? "default", async (provider, signal) => {
    if (id === undefined) {
      printListing(invocation, name, await collection.list(provider.client, { signal }), provider);
    } else {
      if (collection.get === undefined) fail("usage", `The API does not show single ${name}`);
      printRecord(invocation, await collection.get(provider.client, id, { signal }));
    }
    return 0;
  });
}
