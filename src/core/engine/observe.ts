import type { PlanRecord } from "../api/index.ts";
import { type Kind, type Kinds, matches, type Remote } from "../kinds/kind.ts";
import {
  type Account,
  asksForInvoices,
  asRecorded,
  type InvoiceReading,
  isElsewhere,
  type Observation,
  observedUnread,
  read,
  type Unread,
  unreadBy,
  unreadOf,
} from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import {
  amended,
  type Desired,
  type Diagnostic,
  type EnvVars,
  HostformError,
  type State,
  type ValueObject,
} from "../model/index.ts";
import { type DataReading, DataSources, type ReadData } from "./data.ts";
import {
  adoptsByPlan,
  byDepth,
  isReadable,
  mayCreate,
  parentIn,
  type Query,
  queriesOf,
  recordedScope,
  shareOf,
} from "./queries.ts";

/** Observations of all declared resources and all resources in the state. */
export interface Observed {
  readonly observations: ReadonlyMap<string, Observation>;
  /** Hosting plans, by provider. Only for providers that have an order or an import. */
  readonly plans: ReadonlyMap<string, readonly PlanRecord[]>;
  /** Time of each host by its responses, in milliseconds since the epoch, by provider. */
  readonly now?: ReadonlyMap<string, number>;
  /** Lists of paid kinds that this run already read. */
  readonly listings?: readonly Listing[];
  /** API messages that prove a missing ability of the token, by provider. */
  readonly lacking?: ReadonlyMap<string, Lacking>;
  /** Invoices by provider. Only for providers with an object that may have an unpaid invoice. */
  readonly invoices?: ReadonlyMap<string, InvoiceReading>;
  /** Readings of data sources, with their arguments. */
  readonly data?: ReadonlyMap<string, DataReading>;
  /** Resources that were not read. Their state entry is used as observation. */
  readonly recalled?: readonly Recalled[];
  /** Listings that were read, by name. */
  readonly read?: ReadonlyMap<string, ListingName>;
}

/** The API's message for each missing ability. Undefined if no message proved that the ability is missing. */
export type Lacking = Readonly<Record<"technical" | "billing", string | undefined>>;

/** Identifies one list that is read completely or skipped: the grants of one service, or all services of an account. */
export interface ListingName {
  readonly name: string;
  readonly type: string;
  /** Id of the parent object. Each parent has its own list, which costs at least one request. */
  readonly parent: string | undefined;
}

/** A resource in the state that was not read. */
export interface Recalled {
  readonly address: string;
  readonly provider: string;
  readonly listing: ListingName;
}

export interface Listing {
  readonly provider: string;
  readonly type: string;
  readonly objects: readonly Remote[];
}

/** Returns the account of a provider alias. @throws HostformError if the account has no token or no base URL. */
export type Accounts = (alias: string) => Account;

export interface ObserveOptions {
  readonly desired: Desired;
  readonly state: State;
  readonly kinds: Kinds;
  readonly accounts: Accounts;
  readonly env: EnvVars;
  /** Addresses of deleted services that may be ordered again. */
  readonly reorder: ReadonlySet<string>;
  /** Reads data sources. Undefined if the declaration has none. */
  readonly readData?: ReadData;
  /** True if the plan is only displayed and never applied. The token may then lack the abilities for the changes. */
  readonly isReading?: boolean;
  /** Decides whether to read a list that the state can replace. Default: read every list. */
  isRead?(listing: ListingName): boolean;
  /** Earlier observation of the same run. Its readings are reused. */
  readonly earlier?: Observed | undefined;
  /** Called with the number of unread lists and objects: at the start and after each reading. */
  onOpen?(open: number): void;
}

/**
 * Reads all declared resources and all resources in the state. Sends only GET requests, reads each list at most once, and
 * reads all accounts in parallel. If one object cannot be read, only its address is affected. If a parent was transferred,
 * its children are not requested.
 * @throws HostformError if a failure concerns more than one object, or if all reads fail.
 */
export async function observe(options: ObserveOptions): Promise<Observed> {
  const { desired, state, kinds, accounts, env, reorder, readData } = options;
  const data = new DataSources(desired.data, readData, options.earlier?.data);
  const scope = recordedScope(desired, state, kinds, env, data);
  // Declared attributes may refer to data sources.
  await data.ensure([...desired.resources, ...(desired.outputs ?? [])], scope);
  const queries = queriesOf(desired, state, kinds, scope);
  const share = new Map<string, number>();
  for (const query of queries) share.set(shareOf(query), (share.get(shareOf(query)) ?? 0) + 1);

  const plans = new Map<string, readonly PlanRecord[]>();
  const { recalled, fresh, observations, read: seen } = divided(queries, options);
  const progress = new OpenReads(fresh, options.onOpen);
  for (const query of fresh) {
    const { address, provider, kind } = query;
    if (reorder.has(address) || mayCreate(query)) accounts(provider).proveAbsence(kind, parentIn(query));
  }
  /** Errors of single objects. */
  const isolated: unknown[] = [];
  let shown = 0;
  const lacking: { readonly query: Query; readonly unread: Unread; readonly error: unknown }[] = [];
  /** Providers whose token has the ability. */
  const able = new Set<string>();
  const parents = new Map<string, Promise<Observation | undefined>>();
  const noteParent = ({ provider, kind, prior, address }: Query, reading?: Promise<Observation>) => {
    const known = observations.get(address);
    const id = prior?.attributes.id;
    if (id !== undefined) parents.set(`${provider} ${kind.type} ${id}`, reading ?? Promise.resolve(known));
  };
  for (const query of queries) {
    noteParent(query);
    const isRead = options.earlier?.read?.has(shareOf(query)) && !unreadOf(observations.get(query.address));
    const known = observations.get(query.address);
    if (isRead && known && isSeen(query, known) && query.kind.listAbility !== undefined) able.add(query.provider);
  }
  const readOne = async (query: Query): Promise<Observation> => {
    const { provider, kind } = query;
    const account = accounts(provider);
    const parentKind = kinds.get(kind.nested?.in ?? "");
    const parent = await parents.get(`${provider} ${parentKind?.type} ${parentIn(query)}`)?.catch(() => undefined);
    if (parent?.status === "present" && parent.unread && isElsewhere(parent.unread))
      return observedUnread(account, query, parent.unread);
    const alone = share.get(shareOf(query)) === 1;
    try {
      const seen = await read(account, { ...query, alone, parentKind });
      if (isSeen(query, seen)) {
        shown += 1;
        if (kind.listAbility !== undefined) able.add(provider);
      }
      return seen;
    } catch (error) {
      const unread = await unreadBy(account, kind, query.prior, error);
      if (unread === undefined) throw error;
      if (unread.cause === "ability") lacking.push({ query, unread, error });
      else if (isElsewhere(unread)) shown += 1;
      else isolated.push(amended(error, () => ({ address: query.address })));
      return observedUnread(account, query, unread);
    }
  };
  const reads = fresh.toSorted(byDepth).map(async (query) => {
    const { address } = query;
    const reading = readOne(query);
    noteParent(query, reading);
    try {
      observations.set(address, await reading);
    } finally {
      progress.close(shareOf(query));
    }
  });
  const priced = new Set(
    queries
      .filter((query) => reorder.has(query.address) || (query.kind.creation === "keyed" && mayCreate(query)))
      .map(({ provider }) => provider),
  );
  const catalogues = [...priced].map(async (provider) => {
    plans.set(provider, await accounts(provider).plans());
  });
  // An import is compared with the list of hosting plans. If the token may not read that list, hostform imports without this
  // comparison.
  const adopting = new Set(queries.filter(adoptsByPlan).map(({ provider }) => provider));
  for (const provider of adopting) {
    if (priced.has(provider)) continue;
    const reading = accounts(provider).knownPlans();
    catalogues.push(reading.then((known) => void plans.set(provider, known)));
  }
  const providers = new Set(queries.map(({ provider }) => provider));
  const failures = await failuresOf([...reads, ...catalogues]);
  const refused = Map.groupBy(lacking, ({ query }) => query.provider);
  for (const [provider, all] of refused) {
    if (able.has(provider)) {
      for (const { query, unread, error } of all) {
        observations.set(query.address, observedUnread(accounts(provider), query, { ...unread, cause: "failed" }));
        isolated.push(amended(error, () => ({ address: query.address })));
      }
    } else if (options.isReading !== true) failures.push(unable(all)); // An apply needs the ability.
  }
  const foreign = await failuresOf([...providers].map(async (provider) => accounts(provider).confirm?.()));
  if (failures.length + foreign.length > 0) throw merged([...failures, ...foreign]);
  if (shown === 0 && options.earlier?.read === undefined && isolated.length > 0) throw merged(isolated);
  const now = new Map([...providers].map((provider) => [provider, accounts(provider).hostNow()]));
  const lackingOf = (provider: string) => ({
    technical: accounts(provider).lacks("technical"),
    billing: accounts(provider).lacks("billing"),
  });
  const listings = await listingsOf(queries, accounts);
  const invoices = await invoicesOf(
    queries.filter((query) => seen.has(shareOf(query))),
    observations,
    accounts,
  );
  return {
    observations,
    plans,
    now,
    listings,
    lacking: new Map([...providers].map((provider) => [provider, lackingOf(provider)])),
    ...(invoices.size > 0 && { invoices }),
    data: data.readings,
    ...(recalled.length > 0 && { recalled }),
    read: seen,
  };
}

/**
 * Returns true if a response proved that the resource exists or is missing. Children of an unknown parent were not requested.
 */
const isSeen = (query: Query, seen: Observation): boolean =>
  isReadable(query.kind) &&
  (query.kind.parent === undefined || parentIn(query) !== undefined) &&
  !(seen.status === "present" && seen.unproven) &&
  (seen.status === "gone" || seen.waitsFor === undefined);

/**
 * Decides which lists to read. All other resources use the state or an earlier reading. A list is skipped only if {@link
 * isRecallable} is true for all its resources.
 */
function divided(queries: readonly Query[], { accounts, isRead, earlier }: ObserveOptions) {
  const observations = new Map<string, Observation>();
  const read = new Map(earlier?.read);
  const recalled: Recalled[] = [];
  const fresh: Query[] = [];
  for (const [name, same] of Map.groupBy(queries, shareOf)) {
    const [first] = same;
    if (first === undefined) continue;
    const listing: ListingName = { name, type: first.kind.type, parent: parentIn(first) };
    const isLeftOut = isRead !== undefined && !isRead(listing) && same.every((query) => isRecallable(query, accounts));
    if (!isLeftOut) read.set(name, listing);
    for (const query of same) {
      const { address, provider, kind, prior } = query;
      const before = earlier?.read?.has(name) ? earlier.observations.get(address) : undefined;
      if (isLeftOut && prior !== undefined) {
        recalled.push({ address, provider, listing });
        observations.set(address, asRecorded(accounts(provider), kind, prior));
      } else if (before !== undefined) observations.set(address, before);
      else if (earlier?.read?.has(name) !== true) fresh.push(query);
    }
  }
  return { observations, read, recalled, fresh };
}

/**
 * Returns true if the state entry can replace a reading: the resource is declared, has an object, and has no open request.
 */
function isRecallable({ kind, prior, config, importId, isPending, provider }: Query, accounts: Accounts): boolean {
  if (prior === undefined || config === undefined || importId !== undefined || isPending) return false;
  const { pending, attempt, job, deposed } = prior.private;
  if ((pending ?? attempt ?? job ?? deposed) !== undefined) return false;
  if (!isReadable(kind)) return false;
  const { phase } = asRecorded(accounts(provider), kind, prior);
  return phase === "live" || phase === "suspended";
}

async function listingsOf(queries: readonly Query[], accounts: Accounts): Promise<Listing[]> {
  const paid = queries.filter(({ kind }) => kind.quote !== undefined && kind.list !== undefined);
  const asked = new Map(paid.map((query) => [`${query.provider} ${query.kind.type}`, query]));
  const found = [...asked.values()].map(async ({ provider, kind }): Promise<Listing[]> => {
    const listed = await accounts(provider).listed(kind);
    return listed === undefined ? [] : [{ provider, type: kind.type, objects: [...listed.values()] }];
  });
  return (await Promise.all(found)).flat();
}

/** Reads the invoices of each account. Stops when each pending, suspended or overdue object has an unpaid invoice. */
async function invoicesOf(
  queries: readonly Query[],
  observations: ReadonlyMap<string, Observation>,
  accounts: Accounts,
): Promise<ReadonlyMap<string, InvoiceReading>> {
  const orders = Map.groupBy(
    queries.flatMap(({ address, provider, kind, config }) => {
      const now = accounts(provider).hostNow();
      return shownBy(observations.get(address), kind, config).flatMap(({ attributes, phase }) =>
        asksForInvoices({ kind, attributes, phase, config, now }) ? [{ provider, id: String(attributes.id) }] : [],
      );
    }),
    ({ provider }) => provider,
  );
  const readings = [...orders].map(async ([provider, of]) => {
    return [provider, await accounts(provider).invoices.of(of.map(({ id }) => id))] as const;
  });
  return new Map(await Promise.all(readings));
}

/** Returns the objects that an observation contains, including objects that a pending creation may have created. */
function shownBy(seen: Observation | undefined, kind: Kind, config: ValueObject | undefined) {
  if (seen?.status === "present")
    return (seen.unlisted ?? seen.waitsFor ?? seen.unread ?? seen.unproven) === undefined ? [seen] : [];
  const listed = seen?.status === "absent" ? (seen.listed?.objects ?? []) : [];
  return config === undefined ? [] : listed.filter(({ attributes }) => matches(kind, config, attributes));
}

/** Counts unread listings and objects. */
class OpenReads {
  /** Number of unread resources by list ({@link shareOf}). */
  readonly #open: Map<string, number>;
  readonly #onOpen: ((open: number) => void) | undefined;

  constructor(queries: readonly Query[], onOpen: ((open: number) => void) | undefined) {
    const readable = queries.filter(({ kind }) => isReadable(kind));
    this.#open = new Map([...Map.groupBy(readable, shareOf)].map(([share, { length }]) => [share, length]));
    this.#onOpen = onOpen;
    onOpen?.(this.#open.size);
  }

  close(share: string): void {
    const left = (this.#open.get(share) ?? 0) - 1;
    if (left > 0) this.#open.set(share, left);
    else if (this.#open.delete(share)) this.#onOpen?.(this.#open.size);
  }
}

/** Returns the error about resources that cannot be read because the token lacks an ability. */
function unable(all: readonly { readonly query: Query; readonly unread: Unread }[]): HostformError {
  const addresses = all.map(({ query }) => query.address).sort();
  const [{ query, unread } = { query: undefined, unread: undefined }] = all;
  const address = addresses.length === 1 ? addresses[0] : undefined;
  const ability = query?.kind.listAbility ?? "";
  const said = unread?.said ?? "";
  return new HostformError([problem("plan.ability", { ability, addresses, said, address, severity: "error" })]);
}

async function failuresOf(work: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(work);
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
}

/** Merges failures into one error without duplicates. If the token belongs to another account, returns only that error. */
function merged(all: readonly unknown[]): unknown {
  const explained = all.filter((failure) => failure instanceof HostformError);
  const foreign = explained.filter(({ diagnostics }) => diagnostics.some(({ code }) => code === "account.foreign"));
  const [failures, known] = foreign.length > 0 ? [foreign, foreign] : [all, explained];
  const other = failures.find((failure) => !(failure instanceof HostformError));
  if (other !== undefined) return other;
  const same = Map.groupBy(
    known.flatMap(({ diagnostics }) => diagnostics),
    ({ code, summary }) => `${code} ${summary}`,
  );
  const diagnostics = [...same.values()].flatMap(([first, ...rest]): Diagnostic[] => {
    if (first === undefined) return [];
    const others = new Set([first, ...rest].map(({ detail }) => detail)).size - 1;
    const more = others === 1 ? "\nThe same for one other request." : `\nThe same for ${others} other requests.`;
    return [others === 0 ? first : { ...first, detail: `${first.detail ?? ""}${more}`.trim() }];
  });
  return new HostformError(diagnostics, { cause: known[0] });
}
