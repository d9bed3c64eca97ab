/** The rows of the error table: what can become of a request, how to bring it about, and what follows from it. */
import type { FaultRequest } from "../../../src/sandbox/index.ts";
import type { Place } from "./place.ts";

/** A request that a fault is to strike, each time it is sent. */
export interface Target {
  /** Below /api/v1, as faults name it: `/services/:id/grants`. */
  readonly pattern: string;
  /** The beginning of its request: `POST /api/v1/services/1003/grants HTTP`. */
  readonly exchange: string;
  /** Requests of a run before it. */
  readonly before: number;
}

/**
 * What the run can know: `refused`, nothing was made; `unknown`, it may have been; `empty`, it was made, but what the answer
 * would have contained is lost; `all`: it was made, and the answer says all of it.
 */
export type Knowledge = "refused" | "unknown" | "empty" | "all";

export interface Row {
  readonly what: string;
  readonly why: string;
  readonly knowledge: Knowledge;
  /** Whether the API has carried it out. */
  readonly processed: boolean;
  /** The rate limit, or a busy host, holds the next sending for longer than the key of an order is trusted: the run looks instead. */
  readonly holds?: true;
  arrange(place: Place, target: Target): void;
}

const strike = (place: Place, { pattern }: Target, fault: Omit<FaultRequest, "path">) =>
  void place.control.addFault({ method: "POST", path: pattern, times: 1_000, ...fault });

const refused = (status: number, why: string): Row => ({
  what: String(status),
  why,
  knowledge: "refused",
  processed: false,
  arrange: (place, target) => strike(place, target, { phase: "before", status }),
});

const HTML = { body: "<html><title>Welcome</title></html>", headers: { "Content-Type": "text/html" } };
const ELSEWHERE = { headers: { Location: "https://elsewhere.example/" } };

/** The same answer with and without the request having been carried out. */
const unknownResult = (what: string, why: string, fault: Omit<FaultRequest, "path" | "phase">): Row[] =>
  [true, false].map((processed) => ({
    what: `${what}, ${processed ? "carried out" : "not carried out"}`,
    why,
    knowledge: "unknown",
    processed,
    arrange: (place, target) => strike(place, target, { phase: processed ? "after" : "before", ...fault }),
  }));

export const ROWS: readonly Row[] = [
  refused(400, "the API says what is wrong with it"),
  refused(401, "the token is not accepted, so nothing is done"),
  refused(403, "§7: authorization failure"),
  refused(404, "the API does not know the place"),
  refused(422, "§7: validation failure"),
  refused(429, "§7: too many requests; the run waits and sends it again, until it gives up"),
  ...[401, 403, 404, 429].flatMap((status) =>
    unknownResult(`HTML page with status ${status}`, "a proxy's refusal says nothing of what the API has done", {
      status,
      ...HTML,
    }).map((row): Row => (status === 429 ? { ...row, holds: true } : row)),
  ),
  ...unknownResult("409", "§7: a request with the same key is in progress; without a key, anything may be", {
    status: 409,
  }),
  ...[500, 502, 504].flatMap((status) =>
    unknownResult(String(status), "a server that fails may have acted before it failed", { status }),
  ),
  ...[423, 503].flatMap((status) =>
    unknownResult(String(status), "a server that is busy may have acted; the run decides by the list", { status }).map(
      (row): Row => ({ ...row, holds: true }),
    ),
  ),
  {
    what: "connection refused",
    why: "there was no connection, so the request never left",
    knowledge: "refused",
    processed: false,
    arrange: (place, { before }) => {
      // Each request takes its own connection, so that the POST needs one.
      place.control.addFault({
        method: "GET",
        path: "/*",
        phase: "after",
        times: 1_000,
        headers: { Connection: "close" },
      });
      place.proxy.refuseAfter(before);
    },
  },
  {
    what: "connection reset before the request arrives",
    why: "the request was written, and how far it came is unknown",
    knowledge: "unknown",
    processed: false,
    arrange: (place, { exchange }) =>
      place.proxy.sever({ exchange, direction: "request", bytes: 0, times: Number.POSITIVE_INFINITY }),
  },
  ...unknownResult("connection reset in place of an answer", "the answer is lost", { drop: true }),
  ...[true, false].map(
    (processed): Row => ({
      what: `timeout, ${processed ? "carried out" : "not carried out"}`,
      why: "no answer came within the time, which says nothing of the request",
      knowledge: "unknown",
      processed,
      arrange: (place, target) => {
        place.onDelay = place.bark;
        strike(place, target, { phase: processed ? "after" : "before", delayMs: 1, drop: !processed });
      },
    }),
  ),
  {
    what: "answer cut off in its body",
    why: "the status says that it was done, but what was made is not known",
    knowledge: "unknown",
    processed: true,
    arrange: (place, target) => strike(place, target, { phase: "mid-body" }),
  },
  {
    what: "answer cut off after its JSON",
    why: "the JSON is complete, so it says what was made, with its secret",
    knowledge: "all",
    processed: true,
    arrange: (place, target) => strike(place, target, { phase: "body-end" }),
  },
  ...unknownResult("HTML page with status 200", "a proxy answered: before the API, or in its place", {
    status: 200,
    ...HTML,
  }),
  ...[200, 201].map(
    (status): Row => ({
      what: `empty answer with status ${status}`,
      why: "the status says that it was done; the list shows the id, and nothing shows a secret",
      knowledge: "empty",
      processed: true,
      arrange: (place, target) => strike(place, target, { phase: "after", status, body: "" }),
    }),
  ),
  ...unknownResult("redirect (302)", "not followed; also a common answer to what was done", {
    status: 302,
    ...ELSEWHERE,
  }),
  ...unknownResult("redirect (307)", "not followed; no refusal of the API's own", { status: 307, ...ELSEWHERE }),
];
