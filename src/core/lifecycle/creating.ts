/**
 * Parts that all creates share: the intent, the request of an intent, the Idempotency-Key, and the messages of a refusal.
 */
import { createHash } from "node:crypto";
import type { Mutation } from "../api/index.ts";
import type { Kind } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  type Change,
  type Diagnostic,
  HostformError,
  type Intent,
  UNKNOWN,
  type ValueObject,
} from "../model/index.ts";

/** The record of a create before its request leaves. */
export function intentOf(
  { endpoint, params, body, idempotencyKey }: Mutation,
  now: number,
  { known = [], knowsAll }: Pick<Intent, "known" | "knowsAll"> = {},
): Intent {
  const intent: Intent = { since: new Date(now).toISOString(), operation: endpoint, params, body, idempotencyKey };
  return { ...intent, fenced: true, ...(known.length > 0 && { known }), knowsAll };
}

/** The id of a create. A create of an earlier version has a digest of what it recorded. */
export function intentId({ id, since, operation, params = {} }: Intent): string {
  if (id !== undefined) return id;
  return createHash("sha256")
    .update(JSON.stringify([since, operation, params]))
    .digest("hex");
}

/** Name of an object in the store, by which processes recognize what each of them creates. */
export const thingName = ({ type }: Pick<Kind, "type">, parent: string | undefined, key: string): string =>
  JSON.stringify([type, parent, key]);

/** The request of an intent, byte for byte as it was sent. */
export function mutationOf(intent: Intent, fresh: Mutation): Mutation {
  return {
    ...fresh,
    ...(intent.params && { params: intent.params }),
    ...(intent.body && { body: intent.body }),
    ...(intent.idempotencyKey && { idempotencyKey: intent.idempotencyKey }),
  };
}

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

/** A request was sent again as it was then, and refused; correcting the declaration does not change it. */
export function refusedAgain({ address }: Change, { since, body }: Intent, error: unknown): HostformError {
  const causes = error instanceof HostformError ? error.diagnostics : [];
  const again = problem("plan.pending/repeated", { address, since, sent: body ?? {} });
  return new HostformError([...causes, again], { cause: error });
}

/**
 * The Idempotency-Key of an order (§4): a function of what the order *is*, never of its payload and never random, so
 * that any run, on any machine, with or without state, sends the same key for the same declared order.
 * @param name the declared `reference`, or the resource's address.
 * @param generation 1, and one more each time a service known to be gone is ordered again on purpose.
 * @returns a UUID of version 8 (RFC 9562): some hosts take nothing else.
 */
export function idempotencyKey(project: string, name: string, generation: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([project, name, generation]))
    .digest("hex");
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 3) | 8).toString(16);
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, `$1-$2-8$3-${variant}$4-$5`);
}

/**
 * What an order lacks where nothing but its attributes names it: a project, or a name of its own. From the two its
 * Idempotency-Key is made (§4), which is all that keeps it from being placed twice when a run is killed before it is recorded.
 * @param project undefined or empty: none is named.
 */
export function orderNameErrors(kind: Kind, config: ValueObject, project: string | undefined): Diagnostic[] {
  if (kind.creation !== "keyed") return [];
  const { noun } = kind;
  const isOpen = config.reference === UNKNOWN || config.domain === UNKNOWN;
  const isNamed = isOpen || kind.orderReference?.(config) !== undefined;
  return [
    ...(project ? [] : [problem("terraform.project", { noun })]),
    ...(isNamed ? [] : [problem("terraform.reference", { noun, attribute: ["reference"] })]),
  ];
}
