/**
 * Handles one request of `listen`. In: a request. Out: a response, a line in the log, and the event at the application. The
 * library (`hostform/webhooks`) decides whether a delivery is authentic and new.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { HostformError, shorten } from "../../core/model/index.ts";
import { escapeText, paint } from "../../report/index.ts";
import {
  type Delivery,
  type DuplicateMemory,
  parseEvent,
  type WebhookError,
  type WebhookEvent,
} from "../../webhooks/index.ts";
import { nodeDigests, readStream, respond, signatureHeaderOf } from "../../webhooks/node.ts";
import { MAX_BYTES, receiverOf } from "../../webhooks/receive.ts";
import type { ListenMessage } from "../json.ts";
import type { Terminal } from "../terminal.ts";
import type { Forwarded, Forwarder } from "./forward.ts";
import { short, subjectOf, summaryJson } from "./server.ts";

/** Everything needed to handle deliveries. */
interface Handling {
  readonly secrets: () => Promise<readonly string[]>;
  /** Selected events. Empty: all. */
  readonly events: ReadonlySet<string>;
  readonly memory: DuplicateMemory;
  /** Maximum age of a delivery, in seconds. */
  readonly maxAge: number | undefined;
  readonly clock: { now(): number };
  readonly forwarder: Forwarder | undefined;
  /** True to also forward repeated deliveries. */
  readonly again: boolean;
  /** Signal to abandon deliveries that are being forwarded. */
  readonly stop: AbortSignal;
  readonly log: DeliveryLog;
}

/** Steps of one delivery. */
interface Course {
  body?: Uint8Array;
  identity?: string;
  /** True if the delivery was handled before, and is forwarded again. */
  again?: boolean;
  /** Event that was new and was handled. */
  handled?: WebhookEvent;
  forwarded?: Forwarded;
  refusal?: WebhookError;
  error?: unknown;
}

/** The application rejected the delivery. The library does not store it as handled, and the sender retries. */
class NotTaken extends Error {}

/** HTTP status for the sender of such a delivery. */
const NOT_TAKEN = 502;

/** Handles one request. Never rejects: every outcome is a response. */
export async function takeDelivery(
  handling: Handling,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { secrets, memory, maxAge, clock } = handling;
  const course: Course = {};
  const duplicates: DuplicateMemory = {
    claim: async (identity) => {
      course.identity = identity;
      const claim = await memory.claim(identity);
      course.again = claim === "handled" && handling.again;
      return course.again ? "new" : claim;
    },
    settle: (identity, handled) => memory.settle(identity, handled),
  };
  const onRefused = (refusal: WebhookError) => {
    course.refusal = refusal;
  };
  const onError = (error: unknown) => {
    course.error = error;
  };
  const onEvent = (event: WebhookEvent, { rawBody }: Delivery) => handOver(handling, course, event, rawBody);
  const receive = receiverOf({ secrets, maxAge, clock, duplicates, onEvent, onRefused, onError }, nodeDigests);
  const read = async () => {
    course.body = await readStream(request, MAX_BYTES);
    return course.body;
  };
  const answer = await receive({ method: request.method, signature: signatureHeaderOf(request), read });
  const status = course.error instanceof NotTaken ? NOT_TAKEN : answer.status;
  try {
    logOutcome(handling, course, status);
  } catch (error) {
    // Log only: the delivery was handled, although its report failed.
    handling.log.broken(sentenceOf(error));
  }
  respond(response, { ...answer, status });
}

async function handOver(handling: Handling, course: Course, event: WebhookEvent, body: Uint8Array): Promise<void> {
  const { events, forwarder, stop } = handling;
  course.handled = event;
  if (forwarder === undefined || !isWanted(events, event)) return;
  course.forwarded = await forwarder.send(body, stop);
  const { status = 0 } = course.forwarded;
  if (status < 200 || status > 299) throw new NotTaken("The application did not accept the event.");
}

const isWanted = (events: ReadonlySet<string>, { event }: WebhookEvent) => events.size === 0 || events.has(event);

/** Logs the outcome. Logs nothing of an unverified body. */
function logOutcome({ log, events }: Handling, course: Course, answered: number): void {
  const { body, identity, handled, again = false, forwarded, refusal, error } = course;
  if (refusal !== undefined && refusal.code !== "webhooks.busy") {
    log.refused(refusal);
    return;
  }
  if (error !== undefined && !(error instanceof NotTaken)) {
    log.broken(sentenceOf(error));
    return;
  }
  // Deliveries with an identity are verified.
  if (body === undefined || identity === undefined) return;
  const event = handled ?? parseEvent(body);
  const outcome = (): Outcome => {
    if (handled === undefined) return refusal === undefined ? "duplicate" : "busy";
    if (!isWanted(events, event)) return "left out";
    if (error !== undefined) return "failed";
    return forwarded === undefined ? "received" : "forwarded";
  };
  log.delivery({ event, outcome: outcome(), again, answered, forwarded, body, identity });
}

function sentenceOf(error: unknown): string {
  if (error instanceof HostformError || error instanceof TypeError) return error.message;
  return `hostform could not handle a delivery (${error instanceof Error ? error.name : typeof error}).`;
}

/*
 * Logs deliveries on standard output, one line for each; with `--json`, one JSON document. Content of the sender is printed
 * only after verification.
 */

/**
 * Outcome of a verified delivery. `received`: printed, without forwarding. `forwarded`: the application accepted it.
 * `failed`: the application rejected it, so the sender must retry. `duplicate`: handled before. `busy`: another attempt is
 * being handled. `left out`: its event is not selected.
 */
type Outcome = "received" | "forwarded" | "failed" | "duplicate" | "busy" | "left out";

/** A verified delivery. `again`: it was handled before, and forwarded again. */
interface TakenDelivery extends Required<Pick<Course, "again" | "body" | "identity">> {
  readonly event: WebhookEvent;
  readonly outcome: Outcome;
  /** HTTP status for the sender. */
  readonly answered: number;
  readonly forwarded: Forwarded | undefined;
}

/** Minimum time between two reports of the same rejection, in milliseconds. Anybody can send invalid requests. */
const REFUSALS_MS = 1_000;

/** Maximum number of characters of a body to print. */
const MOST_SHOWN = 4_000;

export type DeliveryLog = ReturnType<typeof deliveryLog>;

export function deliveryLog({ clock, document, json, out, outLook, verbose }: Terminal) {
  const { dim, good, removed } = paint(outLook.color);
  const refusals = new Map<string, { readonly at: number; unreported: number }>();
  /** Number of deliveries, and of rejected requests. */
  const counts = { taken: 0, refused: 0 };
  /** Formats the time as `2026-11-22T08:05:24Z`. */
  const stamp = () => new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const words = ({ outcome, again, answered, forwarded }: TakenDelivery): string => {
    const repeated = again ? " again" : "";
    if (forwarded === undefined) return outcome === "received" ? `received${repeated}` : dim(outcome);
    const { status, error, milliseconds } = forwarded;
    if (outcome === "forwarded") return `${good(`forwarded${repeated}`)}: ${status} in ${milliseconds} ms`;
    const redirect = status !== undefined && status >= 300 && status < 400 ? " (redirects are not followed)" : "";
    const what = error ?? `the application responded with ${status}${redirect}`;
    return `${removed("failed")}: ${what}. hostform responded with ${answered}, so that the sender retries`;
  };
  const print = (line: ListenMessage) => {
    if (json) document(line);
  };
  return {
    counts,
    /** Prints a document about the run itself. */
    note(about: Extract<ListenMessage, { readonly type: "listening" | "stopped" }>): void {
      print(about);
    },
    delivery(taken: TakenDelivery): void {
      const { event, outcome, again, answered, forwarded, identity } = taken;
      const body = Buffer.from(taken.body).toString("utf8");
      if (outcome !== "busy") counts.taken += 1;
      if (json) {
        print({
          type: "delivery",
          at: stamp(),
          outcome,
          ...(again && { again }),
          answered,
          ...summaryJson(event),
          identity,
          ...(forwarded && { forward: forwardJson(forwarded) }),
          ...(verbose && { data: isDeep(body) ? null : event.data }),
        });
        return;
      }
      if (outcome === "left out" && !verbose) return;
      const parts = [stamp(), short(event.event), subjectOf(event), words(taken)];
      out(`${parts.filter((part) => part !== "").join("  ")}\n`);
      if (verbose) out(`${escapeText(shorten(body, MOST_SHOWN)).replace(/^/gm, "    ")}\n`);
    },
    refused({ code, status, message, diagnostics }: WebhookError): void {
      counts.refused += 1;
      const now = clock.now();
      const last = refusals.get(code);
      if (last !== undefined && now - last.at < REFUSALS_MS) {
        last.unreported += 1;
        return;
      }
      refusals.set(code, { at: now, unreported: 0 });
      const unreported = last?.unreported ?? 0;
      const more = unreported === 0 ? "" : ` (and ${unreported} more before)`;
      // Print the remedy only once.
      const fix = last === undefined ? ` ${outLook.remedies(diagnostics[0] ?? {}) ?? ""}` : "";
      if (json) print({ type: "refused", at: stamp(), answered: status, code, message, more: unreported });
      else out(`${stamp()}  ${removed(`rejected (${status})`)}: ${message}${more}${fix}\n`);
    },
    /** Reports a local problem with a delivery. */
    broken(sentence: string): void {
      if (json) print({ type: "broken", at: stamp(), message: sentence });
      else out(`${stamp()}  ${removed("failed (500)")}: ${short(sentence)}\n`);
    },
  };
}

const forwardJson = ({ status, error, milliseconds }: Forwarded) => ({
  status: status ?? null,
  error: error ?? null,
  milliseconds,
});

/** Maximum nesting of a body to format. A deeper one could overflow the stack, and no event is so deep. */
const DEEPEST = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Returns true if a JSON text is nested too deeply to format. */
export function isDeep(json: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (quoted) {
      if (character === BACKSLASH) at += 1;
      else if (character === QUOTE) quoted = false;
    } else if (character === QUOTE) quoted = true;
    else if (OPENING.has(character)) depth += 1;
    else if (CLOSING.has(character)) depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}
