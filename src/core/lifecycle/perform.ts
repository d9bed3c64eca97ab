/** Sends the requests of one change. Each request is saved before it is sent, and each response before the next step. */
import type { Answers, CallOptions, Mutation, MutationName, Ticket } from "../api/index.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Awaiting, Change, Diagnostic, Invoice, JsonObject, PrivateMark } from "../model/index.ts";
import { recordOf } from "./attributes.ts";
import { type ApplyContext, isLate, MOST_LATE, proceed, wasRefused, whyLate } from "./context.ts";
import { RecordFence } from "./fence.ts";

/** A change in progress, updated after each response. */
export interface Progress {
  readonly kind: Kind;
  readonly change: Change;
  /** Declared attributes, including write-only ones. */
  readonly config: JsonObject;
  readonly context: ApplyContext;
  readonly diagnostics: Diagnostic[];
  attributes: JsonObject;
  mark: PrivateMark;
  invoice?: Invoice | null;
  awaiting?: Awaiting | undefined;
  unclear?: Diagnostic;
}

/** Create lock, shared by the processes of this machine. */
export interface CreateTurn {
  /** Saves in the store that the request is being sent. */
  begin(): Promise<void>;
  end(outcome: "made" | "nothing"): Promise<void>;
}

/**
 * Maximum wait for the request limit while the create lock is held, in milliseconds. A longer wait would block other
 * processes.
 */
const TURN_WAIT_MS = 5_000;

interface Request<E extends MutationName, T> extends Pick<CallOptions, "repeatWithinMs"> {
  readonly mutation: Mutation<E>;
  readonly turn?: CreateTurn | undefined;
  /** Slot within the request limit, reserved before taking the lock. */
  readonly ticket?: Ticket | undefined;
  /** Called if the request limit has no slot within 5 s. The lock is then released, and nothing is saved or sent. */
  crowded?(): T;
  /** Returns true if the lists on which the request depends may be outdated. `crowded` is then called. */
  isOutdated?(): boolean;
  /** Saves the intent. It is durable when the promise resolves. */
  record(): Promise<unknown>;
  /** Saves the response before any other step. */
  answered(answer: Answers[E]): Promise<T>;
  /** Saves a rejection, or decides about a lost response. Default: throws the error. */
  failed?(error: unknown): Promise<T>;
}

/**
 * Sends one request of a change. No other function of core sends such requests.
 *
 * 1. reserve: wait for the request limit. If the host allows one change at a time, also wait for other changes. After this,
 * nothing delays the request.
 * 2. record: save the intent durably.
 * 3. begin: save in the store that the create request is being sent, if this process still has the lock.
 * 4. send, and retry as the client does. Each attempt is sent within 5 s of its state entry, or never (`RecordFence`).
 * 5. If the request was late, repeat from step 1. The new entry proves the state lock. A creation returns to its own loop
 * instead, which reads the lists again.
 * 6. answered or failed: save the result before any other step.
 *
 * @throws HostformError `interrupted` if the run was stopped. The request is then not sent.
 */
export async function perform<E extends MutationName, T>(
  { run, writer, fate, records }: ApplyContext,
  { mutation, turn, ticket: given, crowded, isOutdated, record, answered, failed, ...options }: Request<E, T>,
): Promise<T> {
  const fence = new RecordFence(run.clock, record, () => records.lostLock?.() !== undefined);
  for (let late = 1; ; late++) {
    proceed(run);
    const withinMs = turn && crowded && TURN_WAIT_MS;
    if (!given?.isOpen) given?.release();
    const ticket = given?.isOpen ? given : await writer.reserve(mutation, { withinMs });
    if (ticket === undefined && crowded !== undefined) return crowded();
    const isMyTurn = (await ticket?.takeTurn({ withinMs, signal: run.stop })) ?? true;
    if (crowded !== undefined && !run.stop?.aborted && (!isMyTurn || isOutdated?.())) {
      ticket?.release();
      return crowded();
    }
    try {
      proceed(run);
      await fence.renew();
    } catch (error) {
      ticket?.release();
      throw error;
    }
    let answer: Answers[E];
    try {
      answer = await fate.track(() => writer.request(mutation, { ...options, ticket, fence, onLeave: turn?.begin }));
    } catch (error) {
      ticket?.release();
      if (wasRefused(error)) await turn?.end("nothing");
      const isOwn = crowded === undefined && isLate(error);
      if (isOwn && late < MOST_LATE) {
        // Remove the state entry: the run may stop before it saves the next one.
        const unlessNew = (thrown: unknown) => {
          if (thrown !== error) throw thrown;
        };
        await failed?.(error).catch(unlessNew);
        continue;
      }
      const reason = isOwn ? whyLate(error) : error;
      if (failed === undefined) throw reason;
      return failed(reason);
    }
    return answered(answer);
  }
}

/** Saves the current state of a change. The entry is durable when the promise resolves. */
export async function save(
  { kind, change, attributes, context, mark: own }: Progress,
  mark: PrivateMark = own,
): Promise<void> {
  const write = () => context.records.save(recordOf(kind, change, attributes, mark));
  await ((mark.pending ?? mark.attempt) === undefined ? context.fate.record(write) : write());
}

/** Removes the resource of a change from the state. The removal is durable when the promise resolves. */
export const drop = ({ change, context }: Progress): Promise<void> =>
  context.fate.record(() => context.records.drop(change.address));
