/** Sends the GET requests of `doctor`, and parses the responses as the client does. */
import { readOne } from "../../core/api/answers.ts";
import type { RecordEndpoint } from "../../core/api/endpoints.ts";
import { nextOf, nextSigns, readItem, readPage } from "../../core/api/envelope.ts";
import type { RequestParts } from "../../core/api/exchange.ts";
import { malformed } from "../../core/api/failed-attempt.ts";
import type { ApiRecord } from "../../core/api/index.ts";
import type { RawAnswer, RawReader, ReadingEndpoint } from "../../core/api/raw.ts";
import { ApiError, HostformError } from "../../core/model/index.ts";

/** One response, parsed. */
export interface Sight extends RawAnswer {
  /** Raw items of a list, and the parsed records of a list or a single object. */
  readonly items: readonly unknown[];
  readonly records: readonly ApiRecord[];
  /** True if the list has further pages. */
  readonly more: boolean;
  /** Error that the client would report. Status 0: no response. */
  readonly problem?: HostformError;
}

export interface Survey {
  /** Responses to requests of normal operation. */
  readonly sights: readonly Sight[];
  /** Response for a page far beyond the last page. `firstPage`: number of the first page. */
  readonly beyond?: Sight | undefined;
  readonly firstPage?: 0 | 1 | undefined;
  /** Response for a service that does not exist. `invalid`: response for a domain check without a domain. */
  readonly missing?: Sight;
  readonly invalid?: Sight;
  /** Response for a service that an invoice contains and no list contains. */
  readonly unlisted?: Sight | undefined;
}

type Parts = Pick<RequestParts, "params" | "query">;
type Ask = (endpoint: ReadingEndpoint, parts?: Parts) => Promise<Sight>;

const LISTS = [
  ...["listServices", "listPlans", "listInvoices", "listWebhooks", "listAccounts", "listMigrationRequests"],
] as const satisfies ReadingEndpoint[];
const SINGLE = [
  ["listServices", "getService"],
  ["listInvoices", "getInvoice"],
  ["listMigrationRequests", "getMigrationRequest"],
] as const;

/** Codes of failures that every other request would repeat. */
const FATAL: ReadonlySet<string> = new Set([
  "api.unauthenticated",
  "api.unreachable",
  "api.timeout",
  "api.redirect",
  "api.not_found",
  "api.rate_limited",
]);

/** Maximum number of services to read until one has a grant. */
const GRANTS_TRIED = 3;
/** Number of a page beyond the last one. */
const FAR = "999999";
const NOBODY = "999999999";
/** Domain names that are reserved for examples (RFC 2606). */
const NAMES = ["example.com", "hostform.example"];

/** Sends at most 20 GET requests. Stops after a failure that every other request would repeat. */
export async function takeSurvey(ask: Ask): Promise<Survey> {
  const sights: Sight[] = [];
  const see = async (sight: Promise<Sight>) => {
    sights.push(await sight);
    return sight;
  };
  // If a host counts pages from 0, page 1 is not the first page.
  for (const endpoint of LISTS) {
    const { problem: failure } = await see(ask(endpoint, { query: [["per_page", "100"]] }));
    if (failure?.diagnostics.some(({ code }) => FATAL.has(code))) return { sights };
  }
  for (const [list, get] of SINGLE) {
    const [first] = recordsOf(sights, list);
    if (first !== undefined) await see(ask(get, { params: { id: first.id } }));
  }
  for (const { id } of recordsOf(sights, "listServices").slice(0, GRANTS_TRIED)) {
    const { items, problem: failure } = await see(ask("listGrants", { params: { id } }));
    if (items.length > 0 || failure !== undefined) break;
  }
  const many = await ask("checkDomains", { query: NAMES.map((name) => ["domains[]", name] as const) });
  const isOther = many.problem !== undefined && many.status !== 403;
  await see(isOther ? ask("checkDomains", { query: [["domain", NAMES[0] ?? ""]] }) : Promise.resolve(many));
  return {
    sights,
    ...(await pagesOf(sights, ask)),
    missing: await ask("getService", { params: { id: NOBODY } }),
    invalid: await ask("checkDomains"),
    unlisted: await unlisted(sights, ask),
  };
}

/** Finds the number of the first page: compares page 1 with the list without a page number. */
async function pagesOf(sights: readonly Sight[], ask: Ask): Promise<Pick<Survey, "beyond" | "firstPage">> {
  const list = LISTS.find((one) => recordsOf(sights, one).length > 0);
  if (list === undefined) return {};
  const page = (number: string, size: string) => ask(list, { query: Object.entries({ page: number, per_page: size }) });
  const isFirst = async (number: string) => (await page(number, "1")).records[0]?.id === recordsOf(sights, list)[0]?.id;
  const firstPage = (await isFirst("1")) ? 1 : (await isFirst("0")) ? 0 : undefined;
  return { firstPage, beyond: await page(FAR, "100") };
}

async function unlisted(sights: readonly Sight[], ask: Ask): Promise<Sight | undefined> {
  const services = sights.find(({ endpoint }) => endpoint === "listServices");
  if (services === undefined || services.problem || services.more) return undefined;
  const listed = new Set(services.records.map(({ id }) => id));
  const orders = recordsOf(sights, "listInvoices").map((one) => ("order_id" in one ? one.order_id : null));
  const id = orders.find((order) => typeof order === "string" && !listed.has(order));
  return typeof id === "string" ? ask("getService", { params: { id } }) : undefined;
}

export const recordsOf = (sights: readonly Sight[], endpoint: ReadingEndpoint): readonly ApiRecord[] =>
  sights.flatMap((sight) => (sight.endpoint === endpoint ? sight.records : []));

/**
 * Returns a function that sends requests and parses responses as the client does. Throws only if interrupted; all other
 * failures are results.
 */
export function asker(raw: RawReader, signal: AbortSignal): Ask {
  const nothing = { items: [], records: [], more: false };
  return async (endpoint, parts = {}) => {
    let answer: RawAnswer = { endpoint, status: 0, headers: {}, text: "", json: undefined, refusal: undefined };
    try {
      answer = await raw(endpoint, { ...parts, signal });
      if (answer.refusal !== undefined) throw answer.refusal;
      return { ...answer, ...nothing, ...read(answer, parts) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HostformError)) throw error;
      const status = answer.status || (error instanceof ApiError ? (error.status ?? 0) : 0);
      return { ...answer, ...nothing, status, problem: error };
    }
  };
}

function read({ endpoint, json }: RawAnswer, { params }: Parts): Partial<Sight> {
  if (endpoint === "checkDomains") return {};
  if (!endpoint.startsWith("list")) {
    const record = readOne(endpoint as RecordEndpoint, json);
    if (record.id === params?.id) return { records: [record] };
    throw malformed(endpoint, { expected: "the object with the requested id", came: "another object" });
  }
  const page = readPage(endpoint, json);
  const signs = nextSigns(page, { asked: 1, pages: 1, rows: page.items.length });
  return {
    items: page.items,
    records: page.items.map((item) => readItem(endpoint, item)),
    more: nextOf(signs) === "more" || (signs.length === 0 && page.items.length >= 100),
  };
}
