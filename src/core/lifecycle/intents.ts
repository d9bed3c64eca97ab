/** Shared parts of all creations: the intent, its request, the Idempotency-Key, and the messages of a rejection. */
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

/** Returns the state entry of a create request before it is sent. */
export function intentOf(
  { endpoint, params, body, idempotencyKey }: Mutation,
  now: number,
  { known = [], knowsAll }: Pick<Intent, "known" | "knowsAll"> = {},
): Intent {
  const intent: Intent = { since: new Date(now).toISOString(), operation: endpoint, params, body, idempotencyKey };
  return { ...intent, fenced: true, ...(known.length > 0 && { known }), knowsAll };
}

/** Returns the id of a creation. Earlier versions saved no id, so the function returns a digest of the entry. */
export function intentId({ id, since, operation, params = {} }: Intent): string {
  if (id !== undefined) return id;
  return createHash("sha256")
    .update(JSON.stringify([since, operation, params]))
    .digest("hex");
}

/** Returns the name of an object in the store. Processes use the name to recognize creations of the same object. */
export const thingName = ({ type }: Pick<Kind, "type">, parent: string | undefined, key: string): string =>
  JSON.stringify([type, parent, key]);

/** Returns the request of an intent, byte for byte as it was sent. */
export function mutationOf(intent: Intent, fresh: Mutation): Mutation {
  return {
    ...fresh,
    ...(intent.params && { params: intent.params }),
    ...(intent.body && { body: intent.body }),
    ...(intent.idempotencyKey && { idempotencyKey: intent.idempotencyKey }),
  };
}

/**
 * Returns true if the key of a rejected order is used up. A host that follows §4 returns the same 422 for every request with
 * the key, even a corrected one. If the 422 is about the key itself (`api.rejected`, or the message mentions it), an earlier
 * order used the key. That order stays known.
 */
export const usesUpKey = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status === 422 &&
  error.diagnostics[0]?.code !== "api.rejected" &&
  !/idempoten/i.test(JSON.stringify([error.serverMessage, error.fieldErrors]));

/**
 * Returns the error of an unchanged request that was retried and rejected. Correcting the declaration does not change that
 * request.
 */
export function refusedAgain({ address }: Change, { since, body }: Intent, error: unknown): HostformError {
  const causes = error instanceof HostformError ? error.diagnostics : [];
  const again = problem("plan.pending/repeated", { address, since, sent: body ?? {} });
  return new HostformError([...causes, again], { cause: error });
}

/**
 * Returns the Idempotency-Key of an order (§4). The key depends only on the identity of the order, not on its payload or
 * chance. Every run on any machine sends the same key for the same declared order, even without a state.
 * @param name Declared `reference`, or the resource's address.
 * @param generation 1, plus one for each deliberate reorder of a deleted service.
 * @returns a UUID version 8 (RFC 9562), because some hosts accept only UUIDs.
 */
export function idempotencyKey(project: string, name: string, generation: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([project, name, generation]))
    .digest("hex");
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 3) | 8).toString(16);
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, `$1-$2-8$3-${variant}$4-$5`);
}

/**
 * Returns errors if an order has no project or no name of its own. The Idempotency-Key is derived from both (§4). If a run is
 * killed before saving the order, only this key prevents a second order.
 * @param project Undefined or empty if no project is set.
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
