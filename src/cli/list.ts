/**
 * The listings of an account (`plans`, `services`, `grants`, `domains check` …): tables for people, records with
 * `--json`.
 */
import type { CallOptions, ListOptions, Reader } from "../core/api/index.ts";
import { fail, inScale } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { type ProviderFlags, withProvider } from "../project/providers.ts";
import { type Listing, type Listings, renderFields, renderListing } from "../report/index.ts";
import { serviceTarget } from "./service.ts";
import { type Action, printJson, printResult, type Terminal } from "./terminal.ts";

export type CollectionName = "plans" | "services" | "invoices" | "webhooks" | "accounts" | "migrations";

interface Collection<Row> {
  list(call: ListOptions): { all(): Promise<Row[]> };
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
  (terminal: Terminal, project: Project, { provider = "default" }: ProviderFlags, id?: string): Promise<number> => {
    const collectionOf: (client: Reader) => Collection<Listings[N]> = COLLECTIONS[name];
    if (id === undefined)
      return list(terminal, project, provider, name, (client, call) => collectionOf(client).list(call).all());
    return withProvider(project, provider, async ({ client }, signal) => {
      const collection = collectionOf(client);
      if (collection.get === undefined) fail("usage", `The API does not show single ${name}`);
      const record = withoutRaw(await collection.get(id, { signal }));
      // An array of one, as listings are arrays.
      printResult(terminal, [record], renderFields(record, terminal.outLook));
      return 0;
    });
  };

/** `hostform grants SERVICE`: with whom a service is shared. Only GETs. */
export const runGrants: Action<ProviderFlags, [service: string]> = async (terminal, project, flags, service) => {
  const { id, alias } = await serviceTarget(project.state, service, flags.provider);
  return list(terminal, project, alias, "grants", (client, call) => client.grants.list(id, call).all());
};

/** `hostform domains check NAME…`: whether domains can be registered, as far as the API says. Only GETs. */
export const runDomainsCheck: Action<ProviderFlags, [names: readonly string[]]> = (terminal, project, flags, names) =>
  list(terminal, project, flags.provider ?? "default", "domains", (client, call) => client.domains.check(names, call));

/** Prints a listing: a table, or with `--json` an array of the records in the client's one shape, without `raw`. */
function list<L extends Listing>(
  terminal: Terminal,
  project: Project,
  alias: string,
  listing: L,
  ask: (client: Reader, call: ListOptions) => Promise<readonly Listings[L][]>,
): Promise<number> {
  return withProvider(project, alias, async ({ client, config: { moneyScale } }, signal) => {
    // The client warns of an answer that is no list.
    const rows = await ask(client, { signal, onNoList: () => undefined });
    if (terminal.json) printJson(terminal, rows.map(withoutRaw));
    else {
      inScale(moneyScale, listing.slice(0, -1), rows as readonly { readonly id?: string }[]);
      terminal.out(renderListing(listing, rows, { ...terminal.outLook, moneyScale: () => moneyScale }));
    }
    return 0;
  });
}

function withoutRaw(record: object): object {
  const { raw: _, ...rest } = record as { raw?: unknown };
  return rest;
}
