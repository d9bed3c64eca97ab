/**
 * The requests to a server, in their order, and the answers, from which rows and checks are made. Each request is sent and
 * read as the client would; requests about objects that the account lacks are left out.
 */

import { readOne } from "../core/api/answers.ts";
import type { RecordEndpoint } from "../core/api/endpoints.ts";
import { nextOf, nextSigns, readItem, readPage } from "../core/api/envelope.ts";
import { type Probed, type ProbeEndpoint, type ProbeRequest, type Prober, probeTitle } from "../core/api/probe.ts";
import { ApiError, type JsonObject } from "../core/model/index.ts";

const LISTS = {
  plans: "listPlans",
  services: "listServices",
  invoices: "listInvoices",
  webhooks: "listWebhooks",
  accounts: "listAccounts",
  migration_requests: "listMigrationRequests",
} as const satisfies Record<string, ProbeEndpoint>;

/** Services whose grants are listed, until one has any. */
const GRANTS_TRIED = 3;
/** Far beyond the last page of anything. */
const BEYOND = 100_000;
/** An id that no service has; otherwise the next lower one is used. */
const NOBODY = "999999999";
/** Names that are reserved for examples and tests (RFC 2606), so that no real domain is checked. */
export const NAMES = ["example.com", "hostform-contract-check.example"];

/** The largest number of GETs, without repetitions after failures. */
export const MOST_READS = 24;

/**
 * Reads the account, with GETs alone. `onFirst` gets the first listing, and throws where further requests are pointless.
 * @throws the signal's reason when it is interrupted.
 */
export async function takeSurvey(asker: Asker, onFirst: (plans: ListSight) => void): Promise<Omit<Survey, "limited">> {
  const list = (name: Collection, query: readonly (readonly [string, string])[] = [], start: 0 | 1 = 1) =>
    asker.list({ endpoint: LISTS[name], query }, start);
  const plans = await list("plans");
  onFirst(plans);
  const services = await list("services");
  const lists = {
    plans,
    services,
    invoices: await list("invoices"),
    webhooks: await list("webhooks"),
    accounts: await list("accounts"),
    migration_requests: await list("migration_requests"),
  };
  return {
    lists,
    paging: await paging(lists, list),
    grants: await grants(asker, services),
    service: await first(asker, "getService", services),
    invoice: await first(asker, "getInvoice", lists.invoices),
    migration: await first(asker, "getMigrationRequest", lists.migration_requests),
    missing: await asker.one({ endpoint: "getService", params: { id: unusedId(services) } }),
    domains: {
      many: await asker.one({ endpoint: "checkDomains", query: NAMES.map((name) => ["domains[]", name] as const) }),
      single: await asker.one({ endpoint: "checkDomains", query: [["domain", NAMES[0] ?? ""]] }),
      none: await asker.one({ endpoint: "checkDomains" }),
    },
    strangers: {
      none: await asker.one({ endpoint: "listServices", as: "none" }),
      unknown: await asker.one({ endpoint: "listServices", as: "unknown" }),
    },
  };
}

/** Tries page sizes with the collection that has the most objects. */
async function paging(
  lists: Readonly<Record<Collection, ListSight>>,
  list: (name: Collection, query: readonly (readonly [string, string])[], start: 0 | 1) => Promise<ListSight>,
): Promise<PagingSight | undefined> {
  const candidates = ["services", "invoices", "plans"] as const;
  const collection = candidates.toSorted((a, b) => lists[b].items.length - lists[a].items.length)[0];
  if (collection === undefined || lists[collection].items.length === 0) return undefined;
  const page = (number: number, size: number, start: 0 | 1 = 1) =>
    list(collection, Object.entries({ page: String(number), per_page: String(size) }), start);
  const [newest] = lists[collection].ids;
  const one = await page(1, 1);
  // Page 1 differs from the list without a number: the first page may be page 0.
  const zero = newest === undefined || one.ids[0] === newest ? undefined : await page(0, 1, 0);
  const first = zero !== undefined && zero.ids[0] === newest ? 0 : 1;
  return {
    collection,
    first,
    single: first === 0 && zero !== undefined ? zero : one,
    second: first === 0 ? one : await page(2, 1),
    largest: await page(first, 100, first),
    over: await page(first, 101, first),
    beyond: await page(BEYOND, 100, first),
  };
}

async function grants(asker: Asker, services: ListSight): Promise<readonly ListSight[]> {
  const found: ListSight[] = [];
  for (const id of services.ids.slice(0, GRANTS_TRIED)) {
    const sight = await asker.list({ endpoint: "listGrants", params: { id } });
    found.unshift(sight);
    if (sight.items.length > 0 || sight.problem !== undefined) break;
  }
  return found;
}

/** The first record of a listing, read alone. */
async function first(asker: Asker, endpoint: ProbeEndpoint & RecordEndpoint, { ids }: ListSight) {
  const [id] = ids;
  return id === undefined ? undefined : asker.record({ endpoint, params: { id } });
}

function unusedId({ ids }: ListSight): string {
  const taken = new Set(ids);
  let id = Number(NOBODY);
  while (taken.has(String(id))) id -= 1;
  return String(id);
}

type RecordRequest = ProbeRequest & { readonly endpoint: RecordEndpoint };

/** Sends the requests; the signal aborts them. */
export class Asker {
  readonly #prober: Pick<Prober, "probe">;
  readonly #signal: AbortSignal | undefined;

  constructor(prober: Pick<Prober, "probe">, signal?: AbortSignal) {
    this.#prober = prober;
    this.#signal = signal;
  }

  /** The same without the signal, for requests that undo others. */
  uninterrupted(): Asker {
    return new Asker(this.#prober);
  }

  /** One request. A failure is a result too; only an interruption is thrown. */
  async one(request: ProbeRequest): Promise<Sight> {
    const sight = { endpoint: request.endpoint, title: probeTitle(request) };
    try {
      const answer = await this.#prober.probe({ ...request, signal: this.#signal });
      return { ...sight, answer, problem: answer.refusal };
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      return { ...sight, answer: undefined, problem: error };
    }
  }

  /** One page of a listing. `start` is the number of its first page. */
  async list(request: RecordRequest, start: 0 | 1 = 1): Promise<ListSight> {
    const sight = await this.one(request);
    const none: ListSight = { ...sight, items: [], records: [], ids: [], next: undefined, size: undefined };
    if (sight.answer === undefined || sight.problem !== undefined) return none;
    const { endpoint } = request;
    const page = Number(request.query?.find(([name]) => name === "page")?.[1] ?? start);
    const size = Number(request.query?.find(([name]) => name === "per_page")?.[1] ?? 0);
    return whenReadable(none, () => {
      const read = readPage(endpoint, sight.answer?.json);
      const records = read.items.map((item) => readItem(endpoint, item));
      return {
        ...none,
        items: read.items,
        records: records.map(({ raw }) => raw),
        ids: records.map(({ id }) => id),
        next: nextOf(
          nextSigns(read, { asked: page, pages: page - start + 1, rows: (page - start) * size + read.items.length }),
        ),
        size: read.size,
      };
    });
  }

  /** One record by its id. */
  async record(request: RecordRequest & { readonly params: { readonly id: string } }): Promise<RecordSight> {
    const sight = await this.one(request);
    const none: RecordSight = { ...sight, record: undefined, id: undefined, asked: request.params.id };
    if (sight.answer === undefined || sight.problem !== undefined) return none;
    return whenReadable(none, () => {
      const { id, raw } = readOne(request.endpoint, sight.answer?.json);
      return { ...none, id, record: raw };
    });
  }
}

/** An answer that the client cannot read is a problem of the result. */
function whenReadable<S extends Sight>(unread: S, read: () => S): S {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...unread, problem: error };
  }
}

/** One request and its answer. */
export interface Sight {
  readonly endpoint: ProbeEndpoint;
  /** `GET /api/v1/services/{id}`: the id itself is not repeated. */
  readonly title: string;
  /** Undefined: the request was not answered. */
  readonly answer: Probed | undefined;
  /** The error that hostform would report: a failure, a refusal, an answer that it cannot read. */
  readonly problem: ApiError | undefined;
}

/** A page of a listing, read as the client reads it. */
export interface ListSight extends Sight {
  /** The items of the answer; empty where they were not found. */
  readonly items: readonly unknown[];
  /** Those that the client recognises, unchanged. */
  readonly records: readonly JsonObject[];
  /** Their ids as the client reads them. */
  readonly ids: readonly string[];
  readonly next: "more" | "end" | "silent" | undefined;
  /** The page size, where the server reports it. */
  readonly size: number | undefined;
}

/** A single record, read as the client reads it. */
export interface RecordSight extends Sight {
  readonly record: JsonObject | undefined;
  readonly id: string | undefined;
  /** The requested id. */
  readonly asked: string;
}

/** The collections of §4. */
export type Collection = keyof typeof LISTS;

/** The results of page sizes, in the collection with the most objects. */
export interface PagingSight {
  readonly collection: Collection;
  /** The number of the first page. */
  readonly first: 0 | 1;
  /** `per_page=1`, its first page and its second. */
  readonly single: ListSight;
  readonly second: ListSight;
  /** `per_page=100`, and 101, which exceeds the maximum. */
  readonly largest: ListSight;
  readonly over: ListSight;
  /** A page far beyond the last. */
  readonly beyond: ListSight;
}

/** The results of all reads. Undefined: not requested, as the account lacks such an object. */
export interface Survey {
  readonly lists: Readonly<Record<Collection, ListSight>>;
  readonly paging: PagingSight | undefined;
  /** The grants of the services tried, the last one first. */
  readonly grants: readonly ListSight[];
  readonly service: RecordSight | undefined;
  readonly invoice: RecordSight | undefined;
  readonly migration: RecordSight | undefined;
  /** A service by an unused id. */
  readonly missing: Sight;
  /** Availability: of two names at once, of one, and of none. */
  readonly domains: { readonly many: Sight; readonly single: Sight; readonly none: Sight };
  /** The list of services without a token, and with an unknown one. */
  readonly strangers: { readonly none: Sight; readonly unknown: Sight };
  /** A refusal by the rate limit, if one happened. */
  readonly limited: Sight | undefined;
}

/** The results of the harmless writes. */
export interface Written {
  /** The registration of a webhook with a body that is not valid, and of one that is; undefined when not sent. */
  readonly invalid: Sight | undefined;
  /** Why no webhook was registered; undefined when it was tried. */
  readonly skipped?: string;
  readonly registered: Sight | undefined;
  /** The answer held the id, and the signing secret under this name. */
  readonly id: string | undefined;
  readonly secretName: string | undefined;
  readonly removed: Sight | undefined;
  /** Whether it was gone from the list afterwards; undefined when the list could not be read. */
  readonly gone: boolean | undefined;
  readonly domains: Sight;
}

/** All answers of a survey. */
export function sights({ lists, paging, grants, service, invoice, migration, ...more }: Survey): readonly Sight[] {
  const pages = paging === undefined ? [] : [paging.single, paging.second, paging.largest, paging.over, paging.beyond];
  const records = [service, invoice, migration].filter((sight) => sight !== undefined);
  return [
    ...Object.values(lists),
    ...grants,
    ...records,
    ...pages,
    more.missing,
    ...Object.values(more.domains),
    ...Object.values(more.strangers),
  ];
}

/** All listings, those of grants included. */
export function listings({ lists, grants, paging }: Survey): readonly ListSight[] {
  const pages = paging === undefined ? [] : [paging.largest, paging.single, paging.second];
  return [...Object.values(lists), ...grants, ...pages];
}

export function isSuccess({ answer }: Sight): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status <= 299;
}

/** A record, with the request that it came from. */
export type Titled = { readonly title: string; readonly record: JsonObject };

export function recordsIn(sights: readonly ListSight[]): readonly Titled[] {
  return sights.flatMap(({ title, records }) => records.map((record) => ({ title, record })));
}

/** The records of one collection, from all requests. */
export function recordsOf(survey: Survey, collection: Collection): readonly Titled[] {
  const one = { services: survey.service, invoices: survey.invoice, migration_requests: survey.migration };
  const single = collection in one ? one[collection as keyof typeof one] : undefined;
  const paging = survey.paging?.collection === collection ? [survey.paging.largest] : [];
  return [
    ...recordsIn([survey.lists[collection], ...paging]),
    ...(single?.record === undefined ? [] : [{ title: single.title, record: single.record }]),
  ];
}

/** The values of one field of the records that have it. */
export function valuesOf(records: readonly Titled[], field: string): readonly { title: string; value: unknown }[] {
  return records.flatMap(({ title, record: { [field]: value } }) => (value === undefined ? [] : [{ title, value }]));
}
