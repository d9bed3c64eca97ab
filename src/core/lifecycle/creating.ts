import type { Mutation } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import {
  ApiError,
  type Change,
  type Diagnostic,
  HostformError,
  type Intent,
  inQuotes,
  type JsonObject,
} from "../model/index.ts";
import type { ApplyContext } from "./context.ts";

export interface CreateContext
  extends Pick<
    ApplyContext,
    | "account"
    | "writer"
    | "project"
    | "pause"
    | "holder"
    | "isOthers"
    | "replaces"
    | "adoptsOrders"
    | "siblings"
    | "claim"
    | "take"
    | "stop"
    | "owner"
    | "parentKind"
  > {
  /** Records durably that the create was begun. @param answered what an answer contained, if one came: it is recorded also by a run that was stopped. */
  markPending(intent: Intent, answered?: JsonObject): Promise<void>;
  /** Takes that back: nothing was made. @param generation that of the next order, where the key of this one is used up. */
  unmark(generation?: number): Promise<void>;
  /** Takes it back, too: the order had been carried out long ago, and its object is gone. Its key is used up. */
  markGone(id: string, generation: number): Promise<void>;
  /** Deletes an object that is of no use to anybody; that it was begun is durable first. @param intent its create, which stays pending. */
  discard(attributes: JsonObject, intent: Intent): Promise<void>;
  /** Tells something that does not stop the change. */
  warn(diagnostic: Diagnostic): void;
}

/** What is said and asked of a create: its address, and who has a live object of its kind. */
export const subjectOf = (kind: Kind, { address }: Change, { holder }: Pick<CreateContext, "holder">) => ({
  kind,
  address,
  holder: (remote: Remote) => holder?.(kind, remote),
});

/** What is written down of a create before it leaves. @param before what was there. */
export function intentOf(
  { endpoint, params, body, idempotencyKey }: Mutation,
  now: number,
  { known = [], knowsAll }: Pick<Intent, "known" | "knowsAll"> = {},
): Intent {
  const intent: Intent = { since: new Date(now).toISOString(), operation: endpoint, params, body, idempotencyKey };
  return { ...intent, ...(known.length > 0 && { known }), knowsAll };
}

/** The intent of a request that is sent again. */
export const resent = (intent: Intent, now: number): Intent => ({ ...intent, resent: new Date(now).toISOString() });

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

/**
 * Whether the key of a refused order is used up: a host that keeps to the word of §4 answers every request with that key with
 * the same 422, also the corrected one. A 422 about the key itself (`api.rejected`, or its name in any of the words) says that
 * an earlier order has it: that one stays known.
 */
export const usesUpKey = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status === 422 &&
  error.diagnostics[0]?.code !== "api.rejected" &&
  !/idempoten/i.test(JSON.stringify([error.serverMessage, error.fieldErrors]));

/** It did not even leave: an earlier sending is as open as before. */
export const notSent = (error: unknown): boolean => error instanceof ApiError && error.reached === "no";

/** A request was sent again as it was then, and refused; correcting the declaration does not change it. */
export function refusedAgain({ address }: Change, { since, body }: Intent, error: unknown): HostformError {
  const causes = error instanceof HostformError ? error.diagnostics : [];
  const again: Diagnostic = {
    severity: "error",
    code: "plan.pending",
    summary: `The order of ${address} that left at ${since} was refused when it was sent again`,
    detail: `What is declared now is not looked at before that is settled. It was sent as it was then: ${JSON.stringify(body ?? {})}.`,
    remedies: [
      `If it was not carried out then: \`hostform resolve ${inQuotes(address)} --absent\`, and the next apply orders what is declared.`,
    ],
    address,
  };
  return new HostformError([...causes, again], { cause: error });
}

/** What a plan warns of ends the change that meets it. */
export const stopped = (doubt: Diagnostic, causes: readonly Diagnostic[] = [], cause?: unknown): HostformError =>
  new HostformError([...causes, { ...doubt, severity: "error" }], { cause });
