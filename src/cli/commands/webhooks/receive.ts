/**
 * What `listen` does with one request. In: a request, and what is known. Out: an answer, a line in the log, and the event
 * at the application. Whether it is genuine and new, the library decides (`hostform/webhooks`), as it does for everybody.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { HostformError } from "../../../core/model/index.ts";
import { type DuplicateMemory, parseEvent, type WebhookError, type WebhookEvent } from "../../../webhooks/index.ts";
import { nodeDigests, respond, signatureHeaderOf } from "../../../webhooks/node-handler.ts";
import { readStream } from "../../../webhooks/read-stream.ts";
import { MAX_BYTES, receiverOf } from "../../../webhooks/receive.ts";
import type { Forwarded, Forwarder } from "./forward.ts";
import type { DeliveryLog } from "./log.ts";

/** What deliveries are handled with. */
export interface Handling {
  readonly secrets: () => Promise<readonly string[]>;
  /** The events that are wanted; empty: all. */
  readonly events: ReadonlySet<string>;
  readonly memory: DuplicateMemory;
  /** What is older is refused, in seconds. */
  readonly maxAge: number | undefined;
  readonly clock: { now(): number };
  readonly forwarder: Forwarder | undefined;
  /** What was handled is handed on once more when it comes again. */
  readonly again: boolean;
  /** Aborted: what is being handed on is given up. */
  readonly stop: AbortSignal;
  readonly log: DeliveryLog;
}

/** What happened to one delivery on its way through the library. */
interface Course {
  body?: Uint8Array;
  identity?: string;
  /** It was handled before, and is to be handed over again. */
  again?: boolean;
  /** It was new, and handed over. */
  handled?: WebhookEvent;
  forwarded?: Forwarded;
  refusal?: WebhookError;
  error?: unknown;
}

/** The application did not take it: the library forgets that it was here, and the sender is to try again. */
class NotTaken extends Error {}

/** The status for the sender when the application did not take a delivery. */
const NOT_TAKEN = 502;

/** Takes one request. Never rejects: whatever happens is an answer. */
export async function takeDelivery(
  handling: Handling,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { secrets, memory, maxAge, clock } = handling;
  const course: Course = {};
  const receive = receiverOf(
    {
      secrets,
      maxAge,
      clock,
      duplicates: {
        claim: async (identity) => {
          course.identity = identity;
          const claim = await memory.claim(identity);
          course.again = claim === "handled" && handling.again;
          return course.again ? "new" : claim;
        },
        settle: (identity, handled) => memory.settle(identity, handled),
      },
      onEvent: (event, { rawBody }) => handOver(handling, course, event, rawBody),
      onRefused: (refusal) => {
        course.refusal = refusal;
      },
      onError: (error) => {
        course.error = error;
      },
    },
    nodeDigests,
  );
  const read = async () => {
    course.body = await readStream(request, MAX_BYTES);
    return course.body;
  };
  const answer = await receive({ method: request.method, signature: signatureHeaderOf(request), read });
  const status = course.error instanceof NotTaken ? NOT_TAKEN : answer.status;
  try {
    tell(handling, course, status);
  } catch (error) {
    // What cannot be told was handled all the same.
    handling.log.broken(sentenceOf(error));
  }
  respond(response, { ...answer, status });
}

async function handOver(
  { events, forwarder, stop }: Handling,
  course: Course,
  event: WebhookEvent,
  body: Uint8Array,
): Promise<void> {
  course.handled = event;
  if (forwarder === undefined || !isWanted(events, event)) return;
  course.forwarded = await forwarder.send(body, stop);
  const { status = 0 } = course.forwarded;
  if (status < 200 || status > 299) throw new NotTaken("The application did not take the event.");
}

const isWanted = (events: ReadonlySet<string>, { event }: WebhookEvent) => events.size === 0 || events.has(event);

/** Says what came of it. Of a body that was not verified nothing is said. */
function tell({ log, events }: Handling, course: Course, answered: number): void {
  const { body, identity, handled, again = false, forwarded, refusal, error } = course;
  if (refusal !== undefined && refusal.code !== "webhooks.busy") {
    log.refused(refusal);
    return;
  }
  if (error !== undefined && !(error instanceof NotTaken)) {
    log.broken(sentenceOf(error));
    return;
  }
  // Claimed: so it was verified, and is an event.
  if (body === undefined || identity === undefined) return;
  const event = handled ?? parseEvent(body);
  const fresh = !isWanted(events, event)
    ? "left out"
    : error !== undefined
      ? "failed"
      : forwarded === undefined
        ? "received"
        : "forwarded";
  const outcome = handled !== undefined ? fresh : refusal !== undefined ? "busy" : "duplicate";
  log.delivery({ event, outcome, again, answered, forwarded, body, identity });
}

function sentenceOf(error: unknown): string {
  if (error instanceof HostformError || error instanceof TypeError) return error.message;
  return `hostform could not handle a delivery (${error instanceof Error ? error.name : typeof error}).`;
}
