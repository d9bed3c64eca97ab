/** Reads an account for an adoption: each list once, and the grants with one request per service. */
import type { ApiRecord, Listing, PlanRecord, Reader } from "../../core/api/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import type { Kind, Remote } from "../../core/kinds/kind.ts";
import { type Account, endOf, mayPass } from "../../core/lifecycle/index.ts";
import { ApiError, fail, isNameLike, some } from "../../core/model/index.ts";
import { plural } from "../../report/index.ts";
import { raise } from "../messages.ts";
import type { KeptLists } from "./kept.ts";
import { preferredName, slug } from "./names.ts";
import type { AdoptOptions } from "./types.ts";

/** The content of an account. */
export interface AccountContents {
  /** Objects by kind, sorted by id. The `service_id` of a grant is the id of its service. */
  readonly objects: ReadonlyMap<string, readonly Remote[]>;
  readonly plans: readonly PlanRecord[];
  /** One sentence for each unreadable part. */
  readonly unread: readonly string[];
  /** One sentence for each deleted object, which cannot be managed. */
  readonly ended?: readonly string[];
}

/** Number of lists that are read in parallel. */
const AT_ONCE = 10;

export const nestedKind =
  [...kinds.values()].find(({ nested }) => nested !== undefined) ?? fail("internal", "No kind is nested");
export const flatKinds = [...kinds.values()].filter((kind) => kind.list !== undefined && kind.parent === undefined);

/** Returns a reader that keeps its lists, and uses kept lists instead of requests. */
export function keepingReader(client: Reader, kept: KeptLists): Reader {
  const keep = <T extends ApiRecord>(name: string, listing: () => Listing<T>): Listing<T> => {
    const all = async (): Promise<T[]> => {
      const known = kept.get(name);
      if (known !== undefined) return [...known] as T[];
      const records = await listing().all();
      await kept.add(name, records);
      return records;
    };
    return {
      all,
      async *[Symbol.asyncIterator]() {
        yield* await all();
      },
    };
  };
  /** Returns one object from its kept list. Without one, gets the object. */
  const one = async <T extends ApiRecord>(name: string, id: string, get: () => Promise<T>): Promise<T> =>
    (kept.get(name)?.find((record) => record.id === id) as T | undefined) ?? get();
  return {
    hostNow: () => client.hostNow(),
    invoices: client.invoices,
    domains: client.domains,
    plans: { list: (options) => keep("plans", () => client.plans.list(options)) },
    services: {
      list: (options) => keep("services", () => client.services.list(options)),
      get: (id, options) => one("services", id, () => client.services.get(id, options)),
    },
    grants: { list: (id, options) => keep(`grants of ${id}`, () => client.grants.list(id, options)) },
    webhooks: { list: (options) => keep("webhooks", () => client.webhooks.list(options)) },
    accounts: { list: (options) => keep("accounts", () => client.accounts.list(options)) },
    migrationRequests: {
      list: (options) => keep("migration requests", () => client.migrationRequests.list(options)),
      get: (id, options) => one("migration requests", id, () => client.migrationRequests.get(id, options)),
    },
  };
}

/**
 * Returns the filters for a part of an account.
 * @param clients Client by service id.
 * @throws HostformError `usage` if a client is selected without a file of clients.
 */
export function selectionOf(
  { select = [], client, clients: file }: Pick<AdoptOptions, "select" | "client" | "clients">,
  clients: ReadonlyMap<string, string>,
) {
  if (client !== undefined && file === undefined) raise("usage/no_clients", {});
  const owner = client === undefined ? undefined : slug(client);
  const ownerOf = (service: unknown) => slug(clients.get(String(service)) ?? "");
  const unmatched = new Set(select);
  const isOwned: Record<string, (kind: Kind, object: Remote) => boolean> = {
    services: (_, { id }) => ownerOf(id) === owner,
    migration_requests: (_, { attributes }) => ownerOf(attributes.order_id) === owner,
    client_accounts: (kind, object) => preferredName(kind, object) === owner,
  };
  return {
    /** Returns true if the list of the kind may contain selected objects. */
    lists: ({ section, attributes }: Kind) =>
      (owner === undefined || Object.hasOwn(isOwned, section)) &&
      (select.length === 0 || Object.hasOwn(attributes.shape, "domain")),
    /** Returns true if the object, which has no parent, is selected. */
    wants(kind: Kind, object: Remote) {
      const hits = select.filter((pattern) => isNameLike(pattern, object.attributes.domain));
      for (const hit of hits) unmatched.delete(hit);
      const isSelected = select.length === 0 || hits.length > 0;
      return isSelected && (owner === undefined || (isOwned[kind.section]?.(kind, object) ?? false));
    },
    /** Rejects patterns that matched no domain. @throws HostformError `usage`. */
    refuseUnmatched() {
      const [pattern] = unmatched;
      if (pattern !== undefined) raise("usage/unmatched", { pattern: JSON.stringify(pattern) });
    },
  };
}

/** Reads the lists of all kinds without a parent, with one request per page. */
export async function readCollections(
  account: Account,
  selection: Pick<ReturnType<typeof selectionOf>, "lists" | "wants">,
): Promise<AccountContents> {
  const unread: string[] = [];
  const ended: string[] = [];
  const objects = new Map<string, readonly Remote[]>();
  const [plans] = await Promise.all([
    account.knownPlans(),
    ...flatKinds
      .filter((kind) => selection.lists(kind))
      .map(async (kind) => {
        account.proveAbsence(kind);
        const found = await account.list(kind).catch((error: unknown) => {
          // An adoption creates no object, so it can skip an unreadable list. Only the list of services is required.
          if (kind.section !== "services" && provesNothing(error)) {
            unread.push(`The ${kind.noun}s: the response of the host is not a list.`);
            return new Map<string, Remote>();
          }
          // Only the Manage track has client accounts (§4).
          if (kind.section !== "client_accounts" || !isRefusal(error)) throw error;
          unread.push("Client accounts: the token cannot list them. Only the Manage track has them.");
          return new Map<string, Remote>();
        });
        const wanted = byId([...found.values()].filter((one) => selection.wants(kind, one)));
        const gone = wanted.filter(isGone);
        const rest = wanted.filter((one) => !isGone(one));
        ended.push(...gone.map((one) => `${kind.noun} ${one.id} has ended: it ${endOf(one)}.`));
        const offOf = ({ id, off }: Remote) =>
          off && `The reason why ${kind.noun} ${id} is disabled: ${off}. The adoption does not enable it.`;
        unread.push(...rest.flatMap((one) => offOf(one) ?? []));
        const down = rest.filter(({ phase }) => phase === "suspended").map(({ id }) => id);
        if (down.length > 0)
          unread.push(
            `Who suspended ${plural(down.length, kind.noun)} (${some(down)}). Without \`suspended\`, the suspension stays.`,
          );
        objects.set(kind.type, rest);
      }),
  ]);
  const unclear = [...objects.values()].flat().filter(({ phase }) => phase === "unknown");
  const words = [...new Set(unclear.map(({ attributes }) => JSON.stringify(attributes.status ?? null)))].sort();
  if (words.length > 0) {
    const what = `The meaning of the status ${words.join(", ")} of ${plural(unclear.length, "service")}: hostform adopts all of them, including ended services.`;
    unread.push(`${what} Map the words with \`status_words\` in the provider's settings.`);
  }
  return { objects, plans, unread, ended };
}

const isGone = ({ phase }: Remote) => phase === "gone";
const provesNothing = (error: unknown) =>
  error instanceof ApiError && error.diagnostics[0]?.code === "api.inconclusive";

/** Returns true if the API rejects the list for this token or account. */
export const isRefusal = (error: unknown) =>
  error instanceof ApiError && (error.status === 403 || error.status === 404);

/**
 * Reads the grants with one request per service. The API may reject the request until the service is live (§3).
 * @param onOpen Receives the number of unread lists.
 */
export async function readGrants(
  account: Account,
  services: readonly Remote[],
  onOpen: (open: number) => void,
): Promise<Pick<AccountContents, "objects" | "unread">> {
  const unread: string[] = [];
  const found = new Map<string, readonly Remote[]>();
  const waiting = services.values();
  let open = services.length;
  onOpen(open);
  const work = async () => {
    for (const { id, phase } of waiting) {
      try {
        found.set(id, byId([...(await account.list(nestedKind, id)).values()].filter((one) => !isGone(one))));
      } catch (error) {
        if (phase === "live" || phase === "suspended" || !mayPass(error)) throw error;
        unread.push(`The grants of service ${id}: it is not live yet.`);
      }
      open -= 1;
      onOpen(open);
    }
  };
  const workers = Array.from({ length: Math.min(AT_ONCE, services.length) }, work);
  const failed = (await Promise.allSettled(workers)).find((end) => end.status === "rejected");
  onOpen(0);
  if (failed !== undefined) throw failed.reason;
  const grants = services.flatMap(({ id }) => found.get(id) ?? []);
  return { objects: new Map([[nestedKind.type, grants]]), unread: unread.toSorted() };
}

/** Sorts ids as numbers. §4 does not define the order of lists, but names must not depend on it. */
const byId = (objects: readonly Remote[]) => objects.toSorted((a, b) => compareIds(a.id, b.id));

function compareIds(a: string, b: string): number {
  const numberOf = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : Number.NaN);
  return numberOf(a) - numberOf(b) || (a < b ? -1 : Number(a > b));
}
