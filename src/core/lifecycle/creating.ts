/**
 * What all creates share: what is written down before a request leaves, its Idempotency-Key, what a refusal says, and the
 * search for what a request made whose answer was lost.
 */
import { createHash } from "node:crypto";
import type { Mutation } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  type Change,
  type Diagnostic,
  errorOf,
  HostformError,
  type Intent,
  type JsonObject,
  UNKNOWN,
  type ValueObject,
} from "../model/index.ts";
import type { ApplyContext } from "./context.ts";

export interface CreateContext extends ApplyContext {
  /** Records durably that the create was begun. @param answered what an answer contained, if one came: it is recorded also by a run that was stopped. */
  markPending(intent: Intent, answered?: JsonObject): Promise<void>;
  /** Takes that back: nothing was made. @param generation that of the next order, where the key of this one is used up. */
  unmark(generation?: number): Promise<void>;
  /** Takes it back, too: the order had been carried out long ago, and its object is gone. Its key is used up. */
  markGone(id: string, generation: number): Promise<void>;
  /** Deletes an object that is of no use to anybody; that it was begun is durable first. @param intent its create, which stays pending. */
  discard(attributes: JsonObject, intent: Intent): Promise<void>;
  /** Reports something that does not stop the change. */
  warn(diagnostic: Diagnostic): void;
}

/** The resource being created, as diagnostics need it. */
export const subjectOf = (kind: Kind, { address }: Change, { records }: Pick<CreateContext, "records">) => ({
  kind,
  address,
  ownerOf: (remote: Remote) => records.ownerOf?.(kind, remote),
});

/** The record of a create before its request leaves. */
export function intentOf(
  { endpoint, params, body, idempotencyKey }: Mutation,
  now: number,
  { known = [], knowsAll }: Pick<Intent, "known" | "knowsAll"> = {},
): Intent {
  const intent: Intent = { since: new Date(now).toISOString(), operation: endpoint, params, body, idempotencyKey };
  return { ...intent, ...(known.length > 0 && { known }), knowsAll };
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

/** Returns true if the request was certainly not carried out. */
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
  const again = problem("plan.pending/repeated", { address, since, sent: body ?? {} });
  return new HostformError([...causes, again], { cause: error });
}

/** A warning of the plan, as the error that ends its change. */
export const stopped = (warning: Diagnostic, causes: readonly Diagnostic[] = [], cause?: unknown): HostformError =>
  new HostformError([...causes, { ...warning, severity: "error" }], { cause });

/**
 * The Idempotency-Key of an order (§4): a function of what the order *is*, never of its payload and never random, so
 * that any run, on any machine, with or without state, sends the same key for the same declared order.
 * @param name the declared `reference`, or the resource's address.
 * @param generation 1, and one more each time a service known to be gone is ordered again on purpose.
 * @returns 46 characters of `[a-z0-9-]`.
 */
export function idempotencyKey(project: string, name: string, generation: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([project, name, generation]))
    .digest("hex");
  return `hostform-1-${digest.slice(0, 35)}`;
}

/**
 * What an order lacks where nothing but its attributes names it: a project, or a name of its own. From the two its
 * Idempotency-Key is made (§4), which is all that keeps it from being placed twice when a run is killed before it is recorded.
 * @param project undefined or empty: none is named.
 */
export function orderNameErrors(kind: Kind, config: ValueObject, project: string | undefined): Diagnostic[] {
  if (kind.creation !== "keyed") return [];
  const found: Diagnostic[] = [];
  if (!project) {
    found.push(
      errorOf("terraform.project", "The provider needs `project` to order a service", {
        detail: "The Idempotency-Key of an order is made from it: two configurations must not share one by accident.",
        remedies: [{ do: "name_project" }],
      }),
    );
  }
  const isOpen = config.reference === UNKNOWN || config.domain === UNKNOWN;
  if (!isOpen && kind.orderReference?.(config) === undefined) {
    const summary = `A ${kind.noun} without a domain needs \`reference\``;
    const detail = "Without a domain the order has no name, and an order without a name could be placed twice.";
    const remedies = ["Add `reference`: a name that is unique in the project and never changes."];
    found.push(errorOf("terraform.reference", summary, { detail, remedies, attribute: ["reference"] }));
  }
  return found;
}
