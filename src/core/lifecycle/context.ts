import type { Writer } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import {
  type Awaiting,
  type Diagnostic,
  fail,
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

/** Where one-time secrets are written that are not to stay in the state (`secret_output`). */
export interface SecretOutputs {
  /** Makes sure, by trying, that a secret can be written there. @returns warnings. @throws HostformError `secret.output`. */
  check(output: SecretOutput, of: SecretName): Promise<readonly Diagnostic[]>;
  /** Durable when it resolves. @throws HostformError `secret.output`. */
  write(output: SecretOutput, of: SecretName, secret: string): Promise<void>;
}

/** What applying one change needs. */
export interface ApplyContext {
  readonly account: Account;
  readonly writer: Writer;
  readonly project: string;
  /** Resolves after so many milliseconds. @throws HostformError when the run is stopped meanwhile. */
  pause(ms: number): Promise<void>;
  /** Aborted when the run is stopped: what waits for its turn to create does not begin. */
  readonly stop?: AbortSignal;
  /** A name for the state that is written, the same at each run; undefined while it has none. */
  owner?(): string | undefined;
  /** The other address under which a live object is recorded. */
  ownerOf?(kind: Kind, remote: Remote): string | undefined;
  /** Claims an object for this address, before it is recorded. @returns the other address that owns it already. */
  claimId?(kind: Kind, id: string, attributes: JsonObject): string | undefined;
  /** Whether an order that turns out to have been placed before, with no mark of it here, is adopted. Default: yes. */
  readonly adoptsOrders?: boolean;
  /** Claims the thing that is to be made for this address. @returns the other address that owns it already. */
  claim?(kind: Kind, planned: JsonObject): string | undefined;
  /** Whether a live object is the one that this create takes the place of: it was let go for that. */
  replaces?(remote: Remote): boolean;
  /** The other pending creates of the kind and account. @param isThisRun only those that this run settles. */
  siblings?(kind: Kind, isThisRun?: boolean): readonly PendingCreate[];
  /** What is recorded of the resource before the change. */
  readonly prior?: ResourceState | undefined;
  /** Records a resource; resolves when it is durable. */
  save(resource: ResourceState): Promise<void>;
  /** Takes a resource out of the state; resolves when that is durable. */
  drop(address: string): Promise<void>;
  /** Absent: secrets stay in the state. */
  readonly secretOutputs?: SecretOutputs;
  /** Reads the value of a write-only attribute that is declared by its source. @throws HostformError `secret.source`. */
  readSecret?(name: string): Promise<string>;
  /** The kind of what the object belongs to (of a grant, the service): what is not live yet is waited for. */
  readonly parentKind?: Kind | undefined;
  /**
   * Looks whether an object exists, at the end of what can be sent now, once for all that ask. Absent: there are no others.
   * @returns false when that is not certain.
   */
  confirm?(kind: Kind, address: string, id: string): Promise<boolean>;
  /**
   * Waits until the object shows that a queued job is done, or shows a status that is not understood (phase `unknown`).
   * @returns undefined when that was not waited for, or in vain.
   */
  wait(
    kind: Kind,
    address: string,
    id: string,
    parent: string | undefined,
    done: (remote: Remote) => boolean,
  ): Promise<Remote | undefined>;
}

/** What came of a change. */
export interface Applied {
  /** The attributes afterwards; null when the resource left the state. */
  readonly attributes: JsonObject | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly invoice?: Invoice;
  readonly awaiting?: Awaiting;
  /** With `awaiting: "status"`: an error, though the change was carried out and nothing failed. */
  readonly unclear?: Diagnostic;
}

/** A change that ran to its end. @throws HostformError when not all of it came of it; what did is recorded. */
export function ended(applied: Applied): Applied {
  const { diagnostics, unclear } = applied;
  const errors = diagnostics.filter(isError);
  // What failed is what the one line of progress is about.
  if (errors.length > 0)
    throw new HostformError([...new Set([...errors, ...diagnostics, ...(unclear ? [unclear] : [])])]);
  return applied;
}

/**
 * Asked before a request is written down as begun.
 * @throws HostformError `interrupted` when the run was stopped: it must not leave.
 */
export function proceed({ stop }: Pick<ApplyContext, "stop">): void {
  if (stop?.aborted) refuseStopped();
}

/** @throws HostformError `interrupted`. */
export function refuseStopped(): never {
  fail("interrupted", "The run was stopped before this was sent");
}
