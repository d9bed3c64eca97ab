import type { Mutation } from "../api/index.ts";
import type { Created, Kind, Remote } from "../kinds/kind.ts";
import { ApiError, type Change, type Diagnostic, HostformError, type Intent, type JsonObject } from "../model/index.ts";
import type { ApplyContext } from "./context.ts";
import { createBlind } from "./create-blind.ts";
import { createKeyed } from "./create-keyed.ts";
import { createListable } from "./create-listable.ts";

export interface CreateContext
  extends Pick<ApplyContext, "account" | "writer" | "project" | "now" | "pause" | "holder" | "siblings"> {
  /** Records durably that the create was begun. @param told what is known of the object already. */
  markPending(intent: Intent, told?: JsonObject): Promise<void>;
  /** Takes that back: nothing was made. `spent` is the generation of a key that must not be used again by itself. */
  unmark(spent?: number): Promise<void>;
  /** Deletes an object that is of no use to anybody; that it was begun is durable first. */
  discard(attributes: JsonObject): Promise<void>;
  /** Tells something that does not stop the change. */
  warn(diagnostic: Diagnostic): void;
}

/**
 * Sends a create, in the way of its class, and says what was made. That it was begun is durable before it leaves, and
 * is taken back only when it certainly was not carried out. When the answer is lost:
 *
 * - keyed: the same key and bytes are sent again while the key is young; when it is old, the list decides;
 * - listable: the list decides: no new object, sent again; exactly one, adopted; several, stopped;
 * - blind: the resource stays marked as pending and the request is never sent again by itself.
 * @throws HostformError; the mark stays wherever it is not known whether the object was made.
 */
export function create(kind: Kind, change: Change, planned: JsonObject, context: CreateContext): Promise<Created> {
  switch (kind.creation) {
    case "keyed":
      return createKeyed(kind, change, planned, context);
    case "listable":
      return createListable(kind, change, planned, context);
    case "blind":
      return createBlind(kind, change, planned, context);
  }
}

/** What is written down of a create before it leaves. @param known ids with the same natural key that were there before. */
export function intentOf({ endpoint, params, body, idempotencyKey }: Mutation, now: number, known?: string[]): Intent {
  return {
    since: new Date(now).toISOString(),
    operation: endpoint,
    ...(params !== undefined && { params }),
    ...(body !== undefined && { body }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(known !== undefined && known.length > 0 && { known }),
  };
}

/** The request of an intent, byte for byte as it was sent. */
export function mutationOf(intent: Intent, fresh: Mutation): Mutation {
  return {
    ...fresh,
    ...(intent.params && { params: intent.params }),
    ...(intent.body && { body: intent.body }),
    ...(intent.idempotencyKey && { idempotencyKey: intent.idempotencyKey }),
  };
}

/** Whether a failure says that the request was certainly not carried out. */
export const wasRefused = (error: unknown): boolean => error instanceof ApiError && error.reached !== "maybe";

/** What a plan warns of ends the change that meets it. */
export const stopped = (doubt: Diagnostic, causes: readonly Diagnostic[] = [], cause?: unknown): HostformError =>
  new HostformError([...causes, { ...doubt, severity: "error" }], { cause });

/** When an object was made, as its record says: milliseconds since the epoch; undefined when it does not say. */
export function madeAt({ attributes }: Pick<Remote, "attributes">): number | undefined {
  const time = typeof attributes.created_at === "string" ? Date.parse(attributes.created_at) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
