import type { Mutation } from "../api/index.ts";
import type { Remote } from "../kinds/kind.ts";
import { ApiError, type Diagnostic, HostformError, type Intent, type JsonObject } from "../model/index.ts";
import type { ApplyContext } from "./context.ts";

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

/**
 * When an object was made at the latest, as its record says: milliseconds since the epoch, the end of the day for a bare
 * date; undefined when it does not say.
 */
export function madeAt({ attributes: { created_at: text } }: Pick<Remote, "attributes">): number | undefined {
  const time = typeof text === "string" ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return undefined;
  return /^\d{4}-\d\d-\d\d$/.test(String(text)) ? time + DAY_MS : time;
}

const DAY_MS = 86_400_000;
