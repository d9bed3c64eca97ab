import type { Writer } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import { raise } from "../messages/index.ts";
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
  /** Tests whether the secret can be written. @throws HostformError `secret.output`. */
  check(output: SecretOutput, of: SecretName): Promise<void>;
  /** Returns the secrets that the destination contains. If the method is missing, they are unknown. */
  held?(output: SecretOutput, of: SecretName): Promise<readonly string[]>;
  /** Writes a secret. The secret is on disk when the promise resolves. @throws HostformError `secret.output`. */
  write(output: SecretOutput, of: SecretName, secret: string): Promise<void>;
}

/** Dependencies of one change: the account, the writer, and functions of the caller. */
export interface ApplyContext {
  readonly account: Account;
  readonly writer: Writer;
  readonly run: RunContext;
  readonly records: RecordContext;
  readonly watch: WatchContext;
  readonly secrets?: SecretContext;
  readonly fate: Fate;
  /** Kind of the parent object, which must be live first: a service is the parent of a grant. */
  readonly parentKind?: Kind | undefined;
}

/** The run that applies the change. */
interface RunContext {
  readonly project: string;
  readonly clock: Clock;
  /** Signal that stops the run. No further request is sent. */
  readonly stop?: AbortSignal;
  /** Longest wait for the create lock, in milliseconds. Default: no limit. */
  readonly turnTimeoutMs?: number | undefined;
  /** True if hostform may adopt an earlier order that this state lacks. Default: true. */
  readonly adoptsOrders?: boolean;
  /** Returns the name of the state, the same in each run. Undefined if the state has no name yet. */
  owner?(): string | undefined;
  /**
   * Waits.
   * @param ms Milliseconds.
   * @param why Reason to report, or the error of a busy host.
   * @throws HostformError if the run is stopped meanwhile.
   */
  pause(ms: number, why?: Diagnostic | ApiError): Promise<void>;
}

/** State entries of the resource and of related resources. */
export interface RecordContext {
  /** State entry of the resource before the change. */
  readonly prior?: ResourceState | undefined;
  /** Saves a state entry. The entry is durable when the promise resolves. */
  save(resource: ResourceState): Promise<void>;
  /** Removes a resource from the state. The removal is durable when the promise resolves. */
  drop(address: string): Promise<void>;
  /** Returns the other address whose state entry has this live object. */
  ownerOf?(kind: Kind, remote: Remote): string | undefined;
  /** True if {@link ownerOf} finds only some addresses of the state. */
  readonly isStatePartial?: boolean;
  /** Reserves a natural key for this address. @returns the other address that has the key. */
  claim?(kind: Kind, planned: JsonObject): string | undefined;
  /** Reserves an object for this address before the object is saved. @returns the other address that has the object. */
  claimId?(kind: Kind, id: string, attributes: JsonObject): string | undefined;
  /**
   * Returns other pending create requests of the same kind and account.
   * @param isThisRun True for requests that this run settles.
   */
  siblings?(kind: Kind, isThisRun?: boolean): readonly PendingCreate[];
  /** Returns the error that proved the loss of the state lock. Undefined if the lock is not known to be lost. */
  lostLock?(): HostformError | undefined;
  /** Asks the state backend whether this run still has the lock. @throws HostformError `state.lost_lock`, `state.backend`. */
  proveLock?(): Promise<void>;
  /** Returns true if this creation replaces the live object. */
  replaces?(remote: Remote): boolean;
}

interface SecretContext {
  /** Destinations of secrets. If undefined, secrets stay in the state. */
  readonly outputs?: SecretOutputs;
  /** Reads the value of a write-only attribute from its secret source. @throws HostformError `secret.source`. */
  read?(name: string): Promise<string>;
}

interface WatchContext {
  /**
   * Waits until the object reaches the end of a queued job or an unknown status (phase `unknown`).
   * @returns undefined after the timeout.
   */
  wait(
    kind: Kind,
    address: string,
    id: string,
    parent: string | undefined,
    done: (remote: Remote) => boolean,
  ): Promise<Remote | undefined>;
  /**
   * Checks that an ordered object exists. Runs once for all orders, after all other requests. Missing if the run has no other
   * orders.
   * @returns false if the existence is uncertain.
   */
  confirm?(kind: Kind, address: string, id: string): Promise<boolean>;
}

/** Effect of the requests of one change. */
export class Fate {
  /** `nothing`: no request was sent. `answered`: all requests got a response. `open`: a request has no response. */
  requests: "nothing" | "answered" | "open" = "nothing";
  /** True if the last response could not be saved. */
  isUnrecorded = false;
  /** True if the host processed a request or may have processed it. */
  hasEffect = false;
  /** Effects that responses confirmed. */
  readonly did = new Set<"create" | "delete">();
  readonly #onAnswer: ((answer: unknown) => void) | undefined;

  /** @param onAnswer Receives the first successful response. */
  constructor(onAnswer?: (answer: unknown) => void) {
    this.#onAnswer = onAnswer;
  }

  /** Tracks a request until its response. */
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

  /** Saves a response. */
  async record(write: () => Promise<void>): Promise<void> {
    this.isUnrecorded = this.requests === "answered";
    await write();
    this.isUnrecorded = false;
  }

  #isAnswered = false;
}

/** Returns true if the host certainly did not process the request. */
export const wasRefused = (error: unknown): boolean => error instanceof ApiError && error.reached !== "maybe";

/** Maximum total wait of one request for a busy host, in milliseconds. */
const MOST_BUSY_MS = 300_000;
const FIRST_BUSY_MS = 1_000;
const LONGEST_BUSY_MS = 20_000;

/** Returns true if the API is busy with another request. The result of this request is unknown. */
export const isBusy = (error: unknown): error is ApiError => error instanceof ApiError && error.isBusy;

/**
 * Returns the pause in milliseconds before the next attempt at a request that a busy host rejected. Undefined if the waits
 * are used up.
 * @param waitedMs Total of earlier waits.
 */
export function busyPause(error: unknown, waitedMs: number): number | undefined {
  if (!isBusy(error)) return undefined;
  const pauseMs = Math.max(FIRST_BUSY_MS, error.waitMs ?? Math.min(LONGEST_BUSY_MS, waitedMs));
  return waitedMs + pauseMs <= MOST_BUSY_MS ? pauseMs : undefined;
}

/** Returns true if the request was not sent. */
export const notSent = (error: unknown): boolean => error instanceof ApiError && error.reached === "no";

/** Codes of requests that were late. The request may be sent after a new state entry. */
const LATE: ReadonlySet<string | undefined> = new Set(["api.late", "store.turn_lost"]);

/**
 * Returns true if the request was not sent because its time limit passed, or because another process took the create lock.
 */
export const isLate = (error: unknown): error is ApiError =>
  error instanceof ApiError && notSent(error) && LATE.has(error.diagnostics[0]?.code);

/** Maximum number of late attempts of one request. */
export const MOST_LATE = 8;

/** Returns the error to report after too many late attempts: the error of an earlier attempt, if any. */
export const whyLate = (error: ApiError): ApiError => (error.cause instanceof ApiError ? error.cause : error);

/** Result of a change. */
export interface Applied {
  /** Attributes after the change. Null if the resource left the state. */
  readonly attributes: JsonObject | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly invoice?: Invoice;
  readonly awaiting?: Awaiting;
  /** Message about an unknown status, together with `awaiting: "status"`. The change itself succeeded. */
  readonly unclear?: Diagnostic;
}

/**
 * Returns the result, or throws its errors. Completed steps are already in the state.
 * @throws HostformError if the change is incomplete.
 */
export function ended(applied: Applied): Applied {
  const { diagnostics, unclear } = applied;
  const errors = diagnostics.filter(isError);
  // The progress line shows only the first error, so errors come first.
  if (errors.length > 0)
    throw new HostformError([...new Set([...errors, ...diagnostics, ...(unclear ? [unclear] : [])])]);
  return applied;
}

/** Checks that the run may send requests. @throws HostformError `interrupted` if the run was stopped. */
export function proceed({ stop }: Pick<RunContext, "stop">): void {
  if (stop?.aborted) refuseStopped();
}

export function refuseStopped(): never {
  raise("interrupted", {});
}
