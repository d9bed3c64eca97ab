/** Checks the availability of domains (§4). */
import { problem } from "../messages/index.ts";
import { ApiError, domainProblem, foldedDomain, isObject, type JsonObject } from "../model/index.ts";
import type { EndpointName } from "./endpoints.ts";
import type { ApiAnswer, RequestParts } from "./exchange.ts";
import { refuseArgument } from "./failed-attempt.ts";

export interface DomainAvailability {
  readonly domain: string;
  /** True if the domain can be registered. Null if the response has an unknown format. */
  readonly available: boolean | null;
  readonly raw: JsonObject;
}

type SendCall = (endpoint: EndpointName, parts: RequestParts) => Promise<ApiAnswer>;

/** Maximum number of names in one request. Keeps the URL well below 8,000 characters. */
const NAMES_PER_REQUEST = 25;

/** Statuses of an unsupported form: the client tries the other form. */
const WRONG_FORM = new Set([400, 404, 405, 422]);

/**
 * Reads the availability of domains (§4; parameters and result are not specified). Sends all names in one request (`?domains[]=`), or
 * one name each (`?domain=`) if the server rejects that. Advisory: a response with an unknown format is `available: null`.
 */
export async function checkDomains(
  call: SendCall,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<DomainAvailability[]> {
  const asked = validNames("checkDomains", names);
  const found: DomainAvailability[] = [];
  for (let from = 0; from < asked.length; from += NAMES_PER_REQUEST) {
    const some = asked.slice(from, from + NAMES_PER_REQUEST);
    try {
      const { json } = await call("checkDomains", { query: some.map((name) => ["domains[]", name] as const), signal });
      found.push(...readAvailability(json, some));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === undefined || !WRONG_FORM.has(error.status)) throw error;
      for (const name of some) {
        const { json } = await call("checkDomains", { query: [["domain", name]], signal });
        found.push(...readAvailability(json, [name]));
      }
    }
  }
  return found;
}

/** Uses the POST form of the same endpoint (§4), for servers without the query. A plan does not use it, because a plan only GETs. */
export async function checkDomainsByPost(
  call: SendCall,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<DomainAvailability[]> {
  const asked = validNames("checkDomainsByPost", names);
  if (asked.length === 0) return [];
  const { json } = await call("checkDomainsByPost", { body: { domains: asked }, signal });
  return readAvailability(json, asked);
}

function validNames(endpoint: EndpointName, names: readonly string[]): string[] {
  for (const name of names) {
    const why = domainProblem(name.trim());
    if (why !== undefined)
      refuseArgument(endpoint, problem("api.argument/domain", { value: JSON.stringify(name), why }));
  }
  return [...new Set(names.map(folded))];
}

const folded = (name: string) => foldedDomain(name) ?? name;

/** Reads a list of results, a map from name to result, or one result, also in `data`, `domains` or `results`. @internal */
export function readAvailability(json: unknown, asked: readonly string[]): DomainAvailability[] {
  const results = new Map<string, unknown>();
  const collect = (value: unknown, depth: number): void => {
    if (Array.isArray(value)) {
      for (const item of value) collect(item, depth + 1);
    } else if (isObject(value) && depth < 5) {
      const name = value.domain ?? value.name;
      if (typeof name === "string") results.set(folded(name), value);
      else
        for (const [key, item] of Object.entries(value)) {
          if (asked.includes(folded(key))) results.set(folded(key), item);
          else collect(item, depth + 1);
        }
    }
  };
  collect(json, 0);
  const [alone] = asked;
  if (results.size === 0 && asked.length === 1 && alone !== undefined && isObject(json)) {
    results.set(alone, isObject(json.data) ? json.data : json);
  }
  return asked.map((domain) => {
    const result = results.get(domain);
    return { domain, available: availabilityOf(result), raw: isObject(result) ? (result as JsonObject) : {} };
  });
}

const FREE = new Set(["available", "free", "unregistered"]);
const TAKEN = new Set(["unavailable", "taken", "registered", "not_available", "not available", "reserved"]);

function availabilityOf(result: unknown): boolean | null {
  const stated = isObject(result)
    ? (result.available ?? result.is_available ?? result.isAvailable ?? result.status)
    : result;
  if (typeof stated === "boolean") return stated;
  if (stated === 1 || stated === 0) return stated === 1;
  const word = typeof stated === "string" ? stated.trim().toLowerCase() : "";
  return FREE.has(word) ? true : TAKEN.has(word) ? false : null;
}
