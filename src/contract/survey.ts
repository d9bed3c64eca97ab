/**
 * What is asked of a server, in which order, and what came: the material that rows and checks are made from. Each request is sent
 * and read as the client would; what there is nothing to ask about is left out.
 */

import { readOne } from "../core/api/answers.ts";
import type { RecordEndpoint } from "../core/api/endpoints.ts";
import { nextOf, nextSigns, readItem, readPage } from "../core/api/envelope.ts";
import { type Probed, type ProbeEndpoint, type ProbeRequest, type Prober, probeTitle } from "../core/api/probe.ts";
import { ApiError, isObject, type JsonObject } from "../core/model/index.ts";

/** How each collection is listed. */
const LISTS = {
  plans: "listPlans",
  services: "listServices",
  invoices: "listInvoices",
  webhooks: "listWebhooks",
  accounts: "listAccounts",
  migration_requests: "listMigrationRequests",
} as const satisfies Record<Collection, ProbeEndpoint>;

/** Services whose grants are looked at, until one has any. */
const GRANTS_TRIED = 3;
/** Far beyond the last page of anything. */
const BEYOND = 100_000;
/** An id that no service has; if one has it, another is taken. */
const NOBODY = "999999999";
/** Names that are reserved for examples and for nothing (RFC 2606): nobody's business is asked about. */
const NAMES = ["example.com", "hostform-contract-check.example"];

/** GETs that are sent at most. Repetitions after failures come on top. */
export const MOST_READS = 24;

/**
 * Reads what there is to see, with GETs alone. `onFirst` looks at the first listing: it throws where nothing more is worth asking.
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

/** Looks at page sizes where there is most to see. */
async function paging(
  lists: Readonly<Record<Collection, ListSight>>,
  list: (name: Collection, query: readonly (readonly [string, string])[], start: 0 | 1) => Promise<ListSight>,
): Promise<PagingSight | undefined> {
  const candidates = ["services", "invoices", "plans"] as const;
  const collection = candidates.toSorted((a, b) => lists[b].items.length - lists[a].items.length)[0];
  if (collection === undefined || lists[collection].items.length === 0) return undefined;
  const page = (number: number, size: number, start: 0 | 1 = 1) =>
    list(
      collection,
      [
        ["page", String(number)],
        ["per_page", String(size)],
      ],
      start,
    );
  const [newest] = lists[collection].ids;
  const one = await page(1, 1);
  // Page 1 is not the page that comes unasked: the first page may be page 0.
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

/** The first record of a listing, on its own. */
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

/** Asks the server; the signal ends it. */
export class Asker {
  readonly #prober: Pick<Prober, "probe">;
  readonly #signal: AbortSignal | undefined;

  constructor(prober: Pick<Prober, "probe">, signal?: AbortSignal) {
    this.#prober = prober;
    this.#signal = signal;
  }

  /** The same, to be ended by nobody: for what must be undone. */
  uninterrupted(): Asker {
    return new Asker(this.#prober);
  }

  /** One request. A failure is a sight too; only an interruption is thrown. */
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

/** What the client could not read is a problem of the sight. */
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
  /** Undefined: none came, or none but failures. */
  readonly answer: Probed | undefined;
  /** What hostform would report of it: a failure, a refusal, an answer that it cannot read. */
  readonly problem: ApiError | undefined;
}

/** A page of a listing, read as the client reads it. */
export interface ListSight extends Sight {
  /** The items as they came; empty where they could not be found. */
  readonly items: readonly unknown[];
  /** Those of them that the client recognises, as they came. */
  readonly records: readonly JsonObject[];
  /** Their ids as the client reads them. */
  readonly ids: readonly string[];
  readonly next: "more" | "end" | "silent" | undefined;
  /** The page size in force, where the server states it. */
  readonly size: number | undefined;
}

/** A single record, read as the client reads it. */
export interface RecordSight extends Sight {
  readonly record: JsonObject | undefined;
  readonly id: string | undefined;
  /** The id that was asked for. */
  readonly asked: string;
}

/** The collections of §4. */
export const COLLECTIONS = ["plans", "services", "invoices", "webhooks", "accounts", "migration_requests"] as const;
export type Collection = (typeof COLLECTIONS)[number];

/** What came of looking at page sizes, in the collection that has the most to show. */
export interface PagingSight {
  readonly collection: Collection;
  /** The number of the first page. */
  readonly first: 0 | 1;
  /** `per_page=1`, its first page and its second. */
  readonly single: ListSight;
  readonly second: ListSight;
  /** `per_page=100`, and 101, which is more than there may be. */
  readonly largest: ListSight;
  readonly over: ListSight;
  /** A page far beyond the last. */
  readonly beyond: ListSight;
}

/** Everything that was seen by reading. What is undefined was not asked for: there was nothing to ask about. */
export interface Survey {
  readonly lists: Readonly<Record<Collection, ListSight>>;
  readonly paging: PagingSight | undefined;
  /** The grants of the services that were tried, the last one first. */
  readonly grants: readonly ListSight[];
  readonly service: RecordSight | undefined;
  readonly invoice: RecordSight | undefined;
  readonly migration: RecordSight | undefined;
  /** A service by an id that nobody has. */
  readonly missing: Sight;
  /** Availability: of two names at once, of one, and of none. */
  readonly domains: { readonly many: Sight; readonly single: Sight; readonly none: Sight };
  /** The list of services without a token, and with one that is nobody's. */
  readonly strangers: { readonly none: Sight; readonly unknown: Sight };
  /** A refusal by the rate limit, if one was met in passing. */
  readonly limited: Sight | undefined;
}

/** What the harmless writes showed. */
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

/** The listings, the grants' included, that showed anything. */
export function listings({ lists, grants, paging }: Survey): readonly ListSight[] {
  const pages = paging === undefined ? [] : [paging.largest, paging.single, paging.second];
  return [...Object.values(lists), ...grants, ...pages];
}

export function isSuccess({ answer }: Sight): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status <= 299;
}

/** The records of one collection that were seen, whichever request brought them. */
export function recordsOf(survey: Survey, collection: Collection): readonly { title: string; record: JsonObject }[] {
  const one = { services: survey.service, invoices: survey.invoice, migration_requests: survey.migration };
  const single = collection in one ? one[collection as keyof typeof one] : undefined;
  const list = survey.lists[collection];
  const paging = survey.paging?.collection === collection ? [survey.paging.largest] : [];
  return [
    ...[list, ...paging].flatMap(({ title, records }) => records.map((record) => ({ title, record }))),
    ...(single?.record === undefined ? [] : [{ title: single.title, record: single.record }]),
  ];
}

/** The values of one field of the records that have it. Nested fields are dotted. */
export function valuesOf(
  records: readonly { title: string; record: JsonObject }[],
  field: string,
): readonly { title: string; value: unknown }[] {
  return records.flatMap(({ title, record }) => {
    const value = field
      .split(".")
      .reduce((found: unknown, part) => (isObject(found) ? found[part] : undefined), record as unknown);
    return value === undefined ? [] : [{ title, value }];
  });
}
