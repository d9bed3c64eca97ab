/**
 * Lists the content of an account (`plans`, `services`, `grants`, `domains check` …) as tables, or as records with `--json`.
 */
import type { CallOptions, ListOptions, Reader } from "../core/api/index.ts";
import { requireScale } from "../core/messages/index.ts";
import { withService } from "../project/one-service.ts";
import type { Project } from "../project/project.ts";
import { type Provider, type ProviderFlags, withProvider } from "../project/providers.ts";
import { type Listing, type Listings, type Noted, renderFields, renderListing } from "../report/index.ts";
import { raise } from "./messages.ts";
import { serviceTarget } from "./service.ts";
import { type Action, printJson, printResult, type Terminal } from "./terminal.ts";

export type CollectionName = "plans" | "services" | "invoices" | "webhooks" | "accounts" | "migrations";

interface Collection<Row> {
  list(call: ListOptions): { all(): Promise<Row[]> };
  /** Gets a single object. Undefined if the API has no such endpoint. */
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

/** Lists that may contain deleted or disabled objects. */
const LIVING = { services: true, grants: true, webhooks: true, accounts: true, migrations: true } as const;

/**
 * Runs `hostform plans`, `services [ID]` and similar commands: prints a list of the account, or one object. Sends only GET
 * requests.
 */
export const runCollection =
  <N extends CollectionName>(name: N) =>
  (terminal: Terminal, project: Project, { provider = "default" }: ProviderFlags, id?: string): Promise<number> => {
    const collectionOf: (client: Reader) => Collection<Listings[N]> = COLLECTIONS[name];
    if (id === undefined)
      return list(terminal, project, provider, name, (client, call) => collectionOf(client).list(call).all());
    return withProvider(project, provider, async (opened, signal) => {
      const collection = collectionOf(opened.client);
      if (collection.get === undefined) return raise("usage/no_single", { name });
      const record = withoutRaw(withLife(opened, name, (await collection.get(id, { signal })) as Listings[N]));
      // An array with one element, as for lists.
      printResult(terminal, name, [record] as never, renderFields(record, terminal.outLook));
      return 0;
    });
  };

/** Runs `hostform grants SERVICE`. Sends only GET requests. */
export const runGrants: Action<ProviderFlags, [service: string]> = async (terminal, project, flags, service) => {
  const named = await serviceTarget(project.state, service, flags.provider);
  return withService(project, named, (provider, signal) =>
    listed(terminal, provider, signal, "grants", (client, call) => client.grants.list(named.id, call).all()),
  );
};

/** Runs `hostform domains check NAME…`. Sends only GET requests. */
export const runDomainsCheck: Action<ProviderFlags, [names: readonly string[]]> = (terminal, project, flags, names) =>
  list(terminal, project, flags.provider ?? "default", "domains", (client, call) => client.domains.check(names, call));

function list<L extends Exclude<Listing, "state">>(
  terminal: Terminal,
  project: Project,
  alias: string,
  listing: L,
  ask: Ask<L>,
): Promise<number> {
  return withProvider(project, alias, (provider, signal) => listed(terminal, provider, signal, listing, ask));
}

type Ask<L extends Listing> = (client: Reader, call: ListOptions) => Promise<readonly Listings[L][]>;

/** Prints a list as a table, or as an array of the client's records without `raw`. */
async function listed<L extends Exclude<Listing, "state">>(
  terminal: Terminal,
  provider: Provider,
  signal: AbortSignal,
  listing: L,
  ask: Ask<L>,
): Promise<number> {
  const { client, config } = provider;
  const { moneyScale } = config;
  // This callback makes the client warn instead of fail if a response is not a list.
  const found = await ask(client, { signal, onNoList: () => undefined });
  const rows = found.map((row) => withLife(provider, listing, row));
  if (terminal.json)
    printJson(terminal, listing === "domains" ? "domains check" : listing, rows.map(withoutRaw) as never);
  else {
    requireScale(moneyScale, listing.slice(0, -1), rows as readonly { readonly id?: string }[]);
    terminal.out(renderListing(listing, rows, { ...terminal.outLook, moneyScale: () => moneyScale }));
  }
  return 0;
}

/** Adds a description to the row of a deleted or disabled object. */
function withLife<L extends Listing>({ lifeNote }: Provider, listing: L, row: Listings[L]): Listings[L] & Noted {
  const isLiving = listing in LIVING && "raw" in row;
  const life = isLiving ? lifeNote(listing as keyof typeof LIVING, row as never) : undefined;
  return life === undefined ? row : { ...row, life };
}

export function withoutRaw<Row extends object>(record: Row): Omit<Row, "raw"> {
  const { raw: _, ...rest } = record as Row & { raw?: unknown };
  return rest;
}
