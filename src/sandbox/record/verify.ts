/** Assertions about the requests received: which were expected, and what was received instead. */
import { checkPath, matches, patternOf } from "../operations.ts";
import { didYouMean, requireKnown, unprocessable, wrongField } from "../refusal.ts";
import { isObject } from "../store/sound.ts";
import type { RequestEntry } from "./journal.ts";

/** The expected requests, and how many of them. All given fields must match; without a number: at least one. */
export interface RequestExpectation {
  /** Name or method and path: "orderService" or "POST /services". Instead of `method` and `path`. */
  operation?: string;
  method?: string;
  /** Path below /api/v1, with `:name` for one segment and a last `*` for any rest. */
  path?: string;
  /** Name of the token; null: none, or an unknown one. */
  token?: string | null;
  /** What the body must hold. Objects may have more fields; lists have the same length. */
  body?: unknown;
  /** Parameters that the query must hold: a value, or all values of a repeated one. It may hold others. */
  query?: Record<string, string | number | readonly (string | number)[]>;
  /** Null: without a key. */
  idempotency_key?: string | null;
  /** Of the answer; null: the connection was cut. */
  status?: number | null;
  /** Exactly so many; 0: none. */
  times?: number;
  at_least?: number;
  at_most?: number;
}

const FIELDS = "operation method path token body query idempotency_key status times at_least at_most".split(" ");

const SHOWN = 3;

/**
 * The requests that match, oldest first.
 * @param tokens the names of all tokens; undefined: any name may be expected.
 * @throws Refusal (422) when there are too few or too many: with the expectation, how many were received, and how the nearest
 * others differ; also for an invalid expectation.
 */
export function verifyRequests(
  entries: readonly RequestEntry[],
  expected: RequestExpectation,
  tokens?: readonly string[],
): RequestEntry[] {
  check(expected);
  if (tokens !== undefined) checkToken(expected, entries, tokens);
  const judged = entries.map((entry) => ({ entry, differences: differences(expected, entry) }));
  const matching = judged.filter(({ differences }) => differences.length === 0).map(({ entry }) => entry);
  const [least, most] = bounds(expected);
  if (matching.length >= least && matching.length <= most) return matching;
  const lines = [
    `Expected ${amount(least, most)}: ${described(expected)}.`,
    `${matching.length} of the ${count(entries.length, "request")} received ${matching.length === 1 ? "matches" : "match"}.`,
  ];
  if (matching.length > most) lines.push("Those that match:", ...shown(matching, (entry) => title(entry)));
  else if (entries.length === 0)
    lines.push("No request was received. Check that the client uses the sandbox's address.");
  else {
    const nearest = judged.filter(({ differences }) => differences.length > 0);
    // The latest of equally near requests is the likeliest.
    nearest.sort((a, b) => a.differences.length - b.differences.length || b.entry.id - a.entry.id);
    lines.push("The nearest others:", ...shown(nearest, (one) => `${title(one.entry)}: ${one.differences[0] ?? ""}`));
  }
  throw unprocessable(lines.join("\n"));
}

function bounds({ times, at_least, at_most }: RequestExpectation): [number, number] {
  if (times !== undefined) return [times, times];
  return [at_least ?? (at_most === undefined ? 1 : 0), at_most ?? Number.POSITIVE_INFINITY];
}

/** Differences of an entry from the expectation: the request first, then the answer. */
function differences(expected: RequestExpectation, entry: RequestEntry): string[] {
  const found: string[] = [];
  const { operation, method, path } = expected;
  const pattern = operation === undefined ? { method, path } : patternOf(operation);
  // Counted twice: another endpoint is further away than another value.
  if (!matches(pattern, entry.method, entry.path)) found.push("another operation", "another operation");
  const compare = (name: string, wanted: unknown, got: unknown): void => {
    const text = wanted === undefined ? undefined : difference(wanted, got, name);
    if (text !== undefined) found.push(text);
  };
  for (const [name, wanted] of Object.entries(expected.query ?? {})) {
    compare(`query.${name}`, [wanted].flat().map(String), entry.query[name] ?? []);
  }
  compare("body", expected.body, entry.body);
  compare("token", expected.token, entry.token);
  compare("idempotency_key", expected.idempotency_key, entry.idempotency_key);
  compare("status", expected.status, entry.status);
  return found;
}

function amount(least: number, most: number): string {
  if (most === 0) return "no request";
  if (least === most) return `exactly ${count(least, "request")}`;
  if (most === Number.POSITIVE_INFINITY) return `at least ${count(least, "request")}`;
  return least === 0 ? `at most ${count(most, "request")}` : `${least} to ${count(most, "request")}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function described({ operation, method, path, ...rest }: RequestExpectation): string {
  const where = operation ?? [method ?? "any method", path ?? "any path"].join(" ");
  const conditions = (["token", "body", "query", "idempotency_key", "status"] as const)
    .filter((name) => rest[name] !== undefined)
    .map((name) => `${name} ${inWords(rest[name])}`);
  return [where, ...conditions].join(", ");
}

function title({ id, method, path, status }: RequestEntry): string {
  return `#${id} ${method} ${path.replace(/^\/api\/v1/, "")} (${status ?? "cut off"})`;
}

function shown<T>(all: readonly T[], line: (one: T) => string): string[] {
  const lines = all.slice(0, SHOWN).map((one) => `  ${line(one)}`);
  if (all.length > SHOWN) lines.push(`  and ${all.length - SHOWN} more`);
  return lines;
}

function check(expected: RequestExpectation): void {
  requireKnown("An expectation", expected, FIELDS);
  for (const name of ["times", "at_least", "at_most"] as const) {
    const value: unknown = expected[name];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) >= 0)) {
      throw wrongField(name, `${name} must be a whole number of 0 or more.`);
    }
  }
  const { operation, times, at_least, at_most, query } = expected;
  if (times !== undefined && (at_least !== undefined || at_most !== undefined)) {
    throw wrongField("times", "times is the exact number. Give either times, or at_least and at_most.");
  }
  if (at_least !== undefined && at_most !== undefined && at_least > at_most) {
    throw wrongField("at_least", `No number is at least ${at_least} and at most ${at_most}.`);
  }
  for (const name of ["method", "path"] as const) {
    if (expected[name] !== undefined && typeof expected[name] !== "string")
      throw wrongField(name, `${name} must be a text.`);
    if (operation !== undefined && expected[name] !== undefined) {
      throw wrongField("operation", `An expectation has either an operation or a ${name}, not both.`);
    }
  }
  if (query !== undefined && !isObject(query))
    throw wrongField("query", "query must be an object of values by parameter.");
  if (operation !== undefined) patternOf(operation);
  if (expected.path !== undefined) checkPath(expected.path);
}

/** An unknown token would match nothing, and so satisfy `times: 0`. */
function checkToken({ token }: RequestExpectation, entries: readonly RequestEntry[], tokens: readonly string[]): void {
  const known = [...new Set([...tokens, ...entries.flatMap((entry) => entry.token ?? [])])];
  if (typeof token !== "string" || known.includes(token)) return;
  const message = `There is no token "${token}".${didYouMean(token, known)} The tokens are ${known.join(", ")}.`;
  throw wrongField("token", message);
}

const LONGEST = 120;

/** A value as a message quotes it. */
export function inWords(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/**
 * The first place where the value differs from what is wanted, or undefined. An object may have more fields unless `exact`; a
 * list must have the same length.
 */
export function difference(wanted: unknown, got: unknown, place: string, exact = false): string | undefined {
  if (isObject(wanted) && isObject(got)) {
    for (const [name, inner] of Object.entries(wanted)) {
      const own = Object.hasOwn(got, name) ? got[name] : undefined;
      const found = difference(inner, own, `${place}.${name}`, exact);
      if (found !== undefined) return found;
    }
    const surplus = exact ? Object.keys(got).find((name) => !Object.hasOwn(wanted, name)) : undefined;
    return surplus === undefined
      ? undefined
      : `${place}.${surplus} is ${inWords(got[surplus])}, where nothing was expected`;
  }
  if (Array.isArray(wanted) && Array.isArray(got)) {
    for (const [at, inner] of wanted.entries()) {
      const found = at < got.length ? difference(inner, got[at], `${place}[${at}]`, exact) : undefined;
      if (found !== undefined) return found;
    }
    return wanted.length === got.length ? undefined : `${place} has a length of ${got.length}, not ${wanted.length}`;
  }
  return wanted === got ? undefined : `${place} is ${inWords(got)}, not ${inWords(wanted)}`;
}
