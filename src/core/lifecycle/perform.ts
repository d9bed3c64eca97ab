/**
 * The requests of one change: each is recorded before it leaves, and its answer is recorded before anything else happens.
 */
import type { Answers, CallOptions, Mutation, MutationName, Ticket } from "../api/index.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Awaiting, Change, Diagnostic, Invoice, JsonObject, PrivateMark } from "../model/index.ts";
import { recordOf } from "./attributes.ts";
import { type ApplyContext, isLate, MOST_LATE, proceed, wasRefused, whyLate } from "./context.ts";
import { RecordFence } from "./fence.ts";

/** A change under way, as the last answer left it. */
export interface Progress {
  readonly kind: Kind;
  readonly change: Change;
  /** Declared attributes, write-only ones included. */
  readonly config: JsonObject;
  readonly context: ApplyContext;
  readonly diagnostics: Diagnostic[];
  attributes: JsonObject;
  mark: PrivateMark;
  invoice?: Invoice | null;
  awaiting?: Awaiting | undefined;
  unclear?: Diagnostic;
}

/** The turn of a create among the processes of this machine. */
export interface CreateTurn {
  /** Records in the store that the request leaves. */
  begin(): Promise<void>;
  end(outcome: "made" | "nothing"): Promise<void>;
}

/** A turn waits this long at most for the request limit, in milliseconds: a full minute must not block other processes. */
const TURN_WAIT_MS = 5_000;

interface Request<E extends MutationName, T> extends Pick<CallOptions, "repeatWithinMs"> {
  readonly mutation: Mutation<E>;
  readonly turn?: CreateTurn | undefined;
  /** A place within the request limit that was booked before the turn. */
  readonly ticket?: Ticket | undefined;
  /** The limit allows no request within 5 s: the turn is given back, and nothing is recorded or sent. */
  crowded?(): T;
  /** Returns true if the lists that permit the request may be outdated: as `crowded`. */
  isOutdated?(): boolean;
  /** Records the intent. Durable when it resolves. */
  record(): Promise<unknown>;
  /** Records what the answer contained, before it does anything else. */
  answered(answer: Answers[E]): Promise<T>;
  /** Records that the request was refused, or decides about a lost answer. Default: throws the error. */
  failed?(error: unknown): Promise<T>;
}

/**
 * Sends one request of a change. No other function of core does.
 *
 * 1. reserve: wait for the request limit, and for other changes if the host serves one at a time, so that the request leaves as
 *    soon as it is recorded.
 * 2. record: the intent is durable before the request leaves.
 * 3. begin: the store records that a create leaves, if the turn is still this process's.
 * 4. send, and repeat as the client does. Each attempt leaves within 5 s after its record, or not at all (`RecordFence`).
 * 5. From 1 again, if it was late: the new record proves that the run holds the lock of the state. A create goes back to its
 *    loop instead, which reads the lists again.
 * 6. answered or failed: the result is recorded before anything else happens.
 *
 * @throws HostformError `interrupted` if the run was stopped: the request does not leave.
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
        // The run may be stopped before the next record: nothing is left of this one.
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

/** Records a change as it is now. Durable when it resolves. */
export async function save(
  { kind, change, attributes, context, mark: own }: Progress,
  mark: PrivateMark = own,
): Promise<void> {
  const write = () => context.records.save(recordOf(kind, change, attributes, mark));
  await ((mark.pending ?? mark.attempt) === undefined ? context.fate.record(write) : write());
}

/** Removes the resource of a change from the state. Durable when it resolves. */
export const drop = ({ change, context }: Progress): Promise<void> =>
  context.fate.record(() => context.records.drop(change.address));
