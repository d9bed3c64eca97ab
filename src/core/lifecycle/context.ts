import type { Writer } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  type Awaiting,
  type Clock,
  type Diagnostic,
  HostformError,
  type Invoice,
  isError,
  type JsonObject,
  type ResourceState,
  type SecretName,
  type SecretOutput,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import type { PendingCreate } from "./pending-create.ts";

/** Destinations of one-time secrets outside of the state (`secret_output`). */
export interface SecretOutputs {
  /** Makes sure, by trying, that a secret can be written there. @throws HostformError `secret.output`. */
  check(output: SecretOutput, of: SecretName): Promise<void>;
  /** The secrets that are there. Absent: unknown. */
  held?(output: SecretOutput, of: SecretName): Promise<readonly string[]>;
  /** Durable when it resolves. @throws HostformError `secret.output`. */
  write(output: SecretOutput, of: SecretName, secret: string): Promise<void>;
}

/** Needs of one change: the account, a writer, and what the front provides around them. */
export interface ApplyContext {
  readonly account: Account;
  readonly writer: Writer;
  readonly run: RunContext;
  readonly records: RecordContext;
  readonly watch: WatchContext;
  readonly secrets?: SecretContext;
  readonly fate: Fate;
  /** Kind of the parent object (of a grant: the service), which must be live first. */
  readonly parentKind?: Kind | undefined;
}

/** The run that applies the change. */
interface RunContext {
  readonly project: string;
  readonly clock: Clock;
  /** Aborted when the run is stopped: no further request leaves. */
  readonly stop?: AbortSignal;
  /** Longest wait for the turn to create, in milliseconds. Default: until other processes give it back. */
  readonly turnTimeoutMs?: number | undefined;
  /** An order that was placed before without a record of ours is adopted. Default: true. */
  readonly adoptsOrders?: boolean;
  /** Name of the state, the same in each run; undefined while it has none. */
  owner?(): string | undefined;
  /** @param ms milliseconds. @param why is reported; an error of a busy host with its status. @throws HostformError if the run is stopped meanwhile. */
  pause(ms: number, why?: Diagnostic | ApiError): Promise<void>;
}

/** Records of the resource, and of the others as far as they concern it. */
export interface RecordContext {
  /** Record of the resource before the change. */
  readonly prior?: ResourceState | undefined;
  /** Records a resource; durable when it resolves. */
  save(resource: ResourceState): Promise<void>;
  /** Removes a resource from the state; durable when it resolves. */
  drop(address: string): Promise<void>;
  /** Returns the other address that holds a live object. */
  ownerOf?(kind: Kind, remote: Remote): string | undefined;
  /** {@link ownerOf} does not know all addresses of the state. */
  readonly isStatePartial?: boolean;
  /** Claims a natural key for this address. @returns the other address that holds it. */
  claim?(kind: Kind, planned: JsonObject): string | undefined;
  /** Claims an object for this address before it is recorded. @returns the other address that holds it. */
  claimId?(kind: Kind, id: string, attributes: JsonObject): string | undefined;
  /** Other pending creates of the kind and account. @param isThisRun only those that this run settles. */
  siblings?(kind: Kind, isThisRun?: boolean): readonly PendingCreate[];
  /** Returns the failure that showed that the lock of the state is lost; undefined if none did. */
  lostLock?(): HostformError | undefined;
  /** Asks the backend of the state whether this run holds the lock. @throws HostformError `state.lost_lock`, `state.backend`. */
  proveLock?(): Promise<void>;
  /** Returns true if this create replaces the live object. */
  replaces?(remote: Remote): boolean;
}

interface SecretContext {
  /** Absent: secrets stay in the state. */
  readonly outputs?: SecretOutputs;
  /** Reads the value of a write-only attribute from its declared source. @throws HostformError `secret.source`. */
  read?(name: string): Promise<string>;
}

interface WatchContext {
  /**
   * Waits until the object shows the end of a queued job, or a status that hostform does not know (phase `unknown`).
   * @returns undefined if neither came in time.
   */
  wait(
    kind: Kind,
    address: string,
    id: string,
    parent: string | undefined,
    done: (remote: Remote) => boolean,
  ): Promise<Remote | undefined>;
  /**
   * Checks that an object exists, at the end of what can be sent now, once for all orders. Absent: there are no others.
   * @returns false if that is not certain.
   */
  confirm?(kind: Kind, address: string, id: string): Promise<boolean>;
}

/** Fate of the requests of one change. */
export class Fate {
  /** No request left; all were answered; or the result of one is unknown. */
  requests: "nothing" | "answered" | "open" = "nothing";
  /** The last answer could not be recorded. */
  isUnrecorded = false;
  /** A request was carried out, or may have been. */
  hasEffect = false;
  /** Results that answers confirmed. */
  readonly did = new Set<"create" | "delete">();
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

/** All waits of one request for a busy host, in milliseconds. */
const MOST_BUSY_MS = 300_000;
const FIRST_BUSY_MS = 1_000;
const LONGEST_BUSY_MS = 20_000;

/** Returns true if the API says that it is busy with another request. The result of this one is open. */
export const isBusy = (error: unknown): error is ApiError => error instanceof ApiError && error.isBusy;

/**
 * Returns the wait before a request that a busy host refused is sent again, in milliseconds; undefined: it is not sent again.
 * @param waitedMs earlier waits.
 */
export function busyPause(error: unknown, waitedMs: number): number | undefined {
  if (!isBusy(error)) return undefined;
  const pauseMs = Math.max(FIRST_BUSY_MS, error.waitMs ?? Math.min(LONGEST_BUSY_MS, waitedMs));
  return waitedMs + pauseMs <= MOST_BUSY_MS ? pauseMs : undefined;
}

/** Returns true if the request did not leave. */
export const notSent = (error: unknown): boolean => error instanceof ApiError && error.reached === "no";

/** Failures of a request that may leave after another record. */
const LATE: ReadonlySet<string | undefined> = new Set(["api.late", "store.turn_lost"]);

/** Returns true if the request did not leave because its time was over, or because another process took the turn. */
export const isLate = (error: unknown): error is ApiError =>
  error instanceof ApiError && notSent(error) && LATE.has(error.diagnostics[0]?.code);

/** Most times that a request is late. */
export const MOST_LATE = 8;

/** The failure to report for a request that was late too often: that of an attempt before it, if there was one. */
export const whyLate = (error: ApiError): ApiError => (error.cause instanceof ApiError ? error.cause : error);

/** Result of a change. */
export interface Applied {
  /** The attributes afterwards; null when the resource left the state. */
  readonly attributes: JsonObject | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly invoice?: Invoice;
  readonly awaiting?: Awaiting;
  /** An error with `awaiting: "status"`, though the change was carried out and nothing failed. */
  readonly unclear?: Diagnostic;
}

/** A change that ran to its end. @throws HostformError when not all of it came of it; what did is recorded. */
export function ended(applied: Applied): Applied {
  const { diagnostics, unclear } = applied;
  const errors = diagnostics.filter(isError);
  // The line of progress reports the first error.
  if (errors.length > 0)
    throw new HostformError([...new Set([...errors, ...diagnostics, ...(unclear ? [unclear] : [])])]);
  return applied;
}

/** @throws HostformError `interrupted` if the run was stopped: no request leaves any more. */
export function proceed({ stop }: Pick<RunContext, "stop">): void {
  if (stop?.aborted) refuseStopped();
}

/** @throws HostformError `interrupted`. */
export function refuseStopped(): never {
  throw new HostformError([problem("interrupted", {})]);
}
