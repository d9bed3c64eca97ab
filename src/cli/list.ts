/**
 * The listings of an account (`plans`, `services`, `grants`, `domains check` …): tables for people, records with
 * `--json`.
 */
import type { CallOptions, Reader } from "../core/api/index.ts";
import { fail } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { type Provider, type ProviderFlags, withProvider } from "../project/providers.ts";
import { type Listing, type Listings, renderFields, renderListing } from "../report/index.ts";
import { serviceTarget } from "./service.ts";
import { type Action, printResult, type Terminal } from "./terminal.ts";

export type CollectionName = "plans" | "services" | "invoices" | "webhooks" | "accounts" | "migrations";

interface Collection<Row> {
  list(call: CallOptions): { all(): Promise<Row[]> };
  /** Absent where the API shows no single one. */
  get?(id: string, call: CallOptions): Promise<object>;
}

const COLLECTIONS: { readonly [N in CollectionName]: (client: Reader) => Collection<Listings[N]> } = {
  plans: ({ plans }) => plans,
  services: ({ services }) => services,
  invoices: ({ invoices }) => invoices,
  webhooks: ({ webhooks }) => webhooks,
  accounts: ({ accounts }) => accounts,
  migrations: ({ migrationRequests }) => migrationRequests,
};

/** `hostform plans`, `services [ID]` and the like: lists a collection of the account, or shows one object. Only GETs. */
export const runCollection =
  <N extends CollectionName>(name: N) =>
  (terminal: Terminal, project: Project, flags: ProviderFlags, id?: string): Promise<number> => {
    return withProvider(project, flags.provider ?? "default", async (provider, signal) => {
      const collection: Collection<Listings[N]> = COLLECTIONS[name](provider.client);
      if (id === undefined) printListing(terminal, name, await collection.list({ signal }).all(), provider);
      else if (collection.get === undefined) fail("usage", `The API does not show single ${name}`);
      else printRecord(terminal, await collection.get(id, { signal }));
      return 0;
    });
  };

/** `hostform grants SERVICE`: with whom a service is shared. Only GETs. */
export const runGrants: Action<ProviderFlags, [service: string]> = async (terminal, project, flags, service) => {
  const { id, alias } = await serviceTarget(project.state, service, flags.provider);
  return withProvider(project, alias, async (provider, signal) => {
    printListing(terminal, "grants", await provider.client.grants.list(id, { signal }).all(), provider);
    return 0;
  });
};

/** `hostform domains check NAME…`: whether domains can be registered, as far as the API says. Only GETs. */
export const runDomainsCheck: Action<ProviderFlags, [names: readonly string[]]> = async (
  terminal,
  project,
  flags,
  names,
) => {
  return withProvider(project, flags.provider ?? "default", async (provider, signal) => {
    printListing(terminal, "domains", await provider.client.domains.check(names, { signal }), provider);
    return 0;
  });
};

/** Prints a listing: a table, or with `--json` an array of the records in the client's one shape, without `raw`. */
function printListing<L extends Listing>(
  terminal: Terminal,
  listing: L,
  rows: readonly Listings[L][],
  { config: { moneyScale } }: Pick<Provider, "config">,
): void {
  const text = renderListing(listing, rows, { ...terminal.outLook, moneyScale: () => moneyScale });
  printResult(terminal, rows.map(withoutRaw), text);
}

/** Prints one record in full: a line for each field. With `--json` an array of one, as listings are arrays. */
function printRecord(terminal: Terminal, record: object): void {
  printResult(terminal, [withoutRaw(record)], renderFields(withoutRaw(record), terminal.outLook));
}

function withoutRaw(record: object): object {
  const { raw: _, ...rest } = record as { raw?: unknown };
  return rest;
}
