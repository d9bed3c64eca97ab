/** Shared functions of all create requests: the intent, its request, the Idempotency-Key, and messages about rejections. */
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

/** Returns the intent of a create request, to save before sending. */
export function intentOf(
  { endpoint, params, body, idempotencyKey }: Mutation,
  now: number,
  { known = [], knowsAll }: Pick<Intent, "known" | "knowsAll"> = {},
): Intent {
  const intent: Intent = { since: new Date(now).toISOString(), operation: endpoint, params, body, idempotencyKey };
  return { ...intent, fenced: true, ...(known.length > 0 && { known }), knowsAll };
}

/** Returns the id of an intent. Earlier versions saved no id; the result is then a digest of the intent. */
export function intentId({ id, since, operation, params = {} }: Intent): string {
  if (id !== undefined) return id;
  return createHash("sha256")
    .update(JSON.stringify([since, operation, params]))
    .digest("hex");
}

/** Returns the name of an object in the store, by which processes recognize creations of the same object. */
export const thingName = ({ type }: Pick<Kind, "type">, parent: string | undefined, key: string): string =>
  JSON.stringify([type, parent, key]);

/** Returns the request of an intent, with the same bytes as it was sent. */
export function mutationOf(intent: Intent, fresh: Mutation): Mutation {
  return {
    ...fresh,
    ...(intent.params && { params: intent.params }),
    ...(intent.body && { body: intent.body }),
    ...(intent.idempotencyKey && { idempotencyKey: intent.idempotencyKey }),
  };
}

/**
 * Returns true if the rejected order used up its key. A host that follows §4 then returns the same 422 for every request with
 * this key, even after a correction. If the 422 is about the key itself (`api.rejected`, or the message names it), an earlier
 * order used the key, and that order stays known.
 */
export const usesUpKey = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status === 422 &&
  error.diagnostics[0]?.code !== "api.rejected" &&
  !/idempoten/i.test(JSON.stringify([error.serverMessage, error.fieldErrors]));

/**
 * Returns the error about a repeated request that the API rejected. The repeated request is unchanged, so a correction of the
 * declaration has no effect on it.
 */
export function refusedAgain({ address }: Change, { since, body }: Intent, error: unknown): HostformError {
  const causes = error instanceof HostformError ? error.diagnostics : [];
  const again = problem("plan.pending/repeated", { address, since, sent: body ?? {} });
  return new HostformError([...causes, again], { cause: error });
}

/**
 * Returns the Idempotency-Key of an order (§4). The key depends only on the name of the order, not on its attributes. Every
 * run on any machine sends the same key for the same declared order, even without a state.
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
 * Returns errors if an order has no project, or no unique name. The Idempotency-Key is derived from both (§4). If a run is
 * killed before it saves the order, only this key prevents a second order.
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
