import { ApiError, domainProblem, foldedDomain, isObject, type JsonObject } from "../model/index.ts";
import type { EndpointName } from "./endpoints.ts";
import type { ApiAnswer, RequestParts } from "./exchange.ts";
import { refuseArgument } from "./failed-attempt.ts";

export interface DomainAvailability {
  readonly domain: string;
  /** null when the answer is not understood. */
  readonly available: boolean | null;
  readonly raw: JsonObject;
}

type SendCall = (endpoint: EndpointName, parts: RequestParts) => Promise<ApiAnswer>;

/** Names in one request: keeps the address well below 8,000 characters. */
const NAMES_PER_REQUEST = 25;

/** Statuses that mean "not in this form": the other form is tried. */
const WRONG_FORM = new Set([400, 404, 405, 422]);

/**
 * Availability of domains (§4; parameters and result are not shown). Asks for many at once (`?domains[]=`), and singly
 * (`?domain=`) where the server refuses that. Advisory: an answer that is not understood is `available: null`.
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

/** The POST form of the same endpoint (§4), for servers that take no query. Not used when planning, which only GETs. */
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
    const problem = domainProblem(name.trim());
    if (problem === undefined) continue;
    refuseArgument(
      endpoint,
      `${JSON.stringify(name)} is not a domain name: ${problem}`,
      "Give names such as acme.example.",
    );
  }
  return [...new Set(names.map(folded))];
}

const folded = (name: string) => foldedDomain(name) ?? name;

/** Accepts a list of results, a map from name to result, or one result; wrapped in `data`, `domains` or `results`. @internal */
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
