/**
 * The requests of one change: each is recorded before it leaves, and its answer is recorded before anything else happens.
 */
import type { Answers, CallOptions, Mutation, MutationName, Ticket } from "../api/index.ts";
import type { Kind } from "../kinds/kind.ts";
import {
  ApiError,
  type Awaiting,
  type Change,
  type Diagnostic,
  type Invoice,
  type JsonObject,
  type PrivateMark,
} from "../model/index.ts";
import { recordOf } from "./attributes.ts";
import { type ApplyContext, proceed } from "./context.ts";

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

/** Fate of the requests of one change. */
export class Fate {
  /** No request left; all were answered; or the result of one is unknown. */
  requests: "nothing" | "answered" | "open" = "nothing";
  /** The last answer could not be recorded. */
  isUnrecorded = false;
  /** A request was carried out, or may have been. */
  hasEffect = false;
  readonly #onAnswer: ((answer: unknown) => void) | undefined;

  /** @param onAnswer receives the first answer of success. */
  constructor(onAnswer?: (answer: unknown) => void) {
    this.#onAnswer = onAnswer;
  }

  /** Tracks a request from its leaving to its answer. */
  async track<T>(send: () => Promise<T>): Promise<T> {
    const { requests, hasEffect } = this;
    this.requests = "open";
    this.hasEffect = true;
    try {
      const answer = await send();
      this.requests = "answered";
      if (!this.#isAnswered) this.#onAnswer?.(answer);
      this.#isAnswered = true;
      return answer;
    } catch (error) {
      if (wasRefused(error)) this.hasEffect = hasEffect;
      if (notSent(error)) this.requests = requests;
      else if (wasRefused(error) && requests !== "open") this.requests = "answered";
      throw error;
    }
  }

  /** Records what an answer contained. */
  async record(write: () => Promise<void>): Promise<void> {
    this.isUnrecorded = this.requests === "answered";
    await write();
    this.isUnrecorded = false;
  }

  #isAnswered = false;
}

/** Returns true if the request was certainly not carried out. */
export const wasRefused = (error: unknown): boolean => error instanceof ApiError && error.reached !== "maybe";

/** Returns true if the request did not leave. */
export const notSent = (error: unknown): boolean => error instanceof ApiError && error.reached === "no";

/** The turn of a create among the processes of this machine. */
export interface Turn {
  /** Records in the store that the request leaves. */
  begin(): Promise<void>;
  end(outcome: "made" | "nothing"): Promise<void>;
}

/** A turn waits this long at most for the request limit, in milliseconds: a full minute must not block other processes. */
const TURN_WAIT_MS = 5_000;

interface Request<E extends MutationName, T> extends Pick<CallOptions, "repeatWithinMs"> {
  readonly mutation: Mutation<E>;
  readonly turn?: Turn | undefined;
  /** A place within the request limit that was booked before the turn. */
  readonly ticket?: Ticket | undefined;
  /** The limit allows no request within 5 s: the turn is given back, and nothing is recorded or sent. */
  crowded?(): T;
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
 * 1. reserve: wait for the request limit, so that the request leaves as soon as it is recorded.
 * 2. record: the intent is durable before the request leaves.
 * 3. begin: the store records that a create leaves, if the turn is still this process's.
 * 4. send, and repeat as the client does.
 * 5. answered or failed: the result is recorded before anything else happens.
 *
 * @throws HostformError `interrupted` if the run was stopped: the request does not leave.
 */
export async function perform<E extends MutationName, T>(
  { run, writer, fate }: ApplyContext,
  { mutation, turn, ticket: given, crowded, record, answered, failed, ...options }: Request<E, T>,
): Promise<T> {
  proceed(run);
  const withinMs = turn && crowded && TURN_WAIT_MS;
  if (!given?.isOpen) given?.release();
  const ticket = given?.isOpen ? given : await writer.reserve(mutation, { withinMs });
  if (ticket === undefined && crowded !== undefined) return crowded();
  try {
    proceed(run);
    await record();
  } catch (error) {
    ticket?.release();
    throw error;
  }
  let answer: Answers[E];
  try {
    answer = await fate.track(() => writer.request(mutation, { ...options, ticket, onLeave: turn?.begin }));
  } catch (error) {
    if (wasRefused(error)) await turn?.end("nothing");
    if (failed === undefined) throw error;
    return failed(error);
  }
  return answered(answer);
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
