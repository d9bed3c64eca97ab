/**
 * Idempotency-Key on orders of services (§4, §7): 400 without one, 409 while the first request with it is being
 * processed, the original answer afterwards. Keys are per account. Of refusals only a 422 is kept, where the profile says so
 * (`refused_key`): else a refused order created nothing, and its key is free for the corrected request.
 */

import { Refusal } from "../refusal.ts";
import type { KeptAnswer } from "../store/records.ts";
import type { World } from "../world.ts";

const LONGEST_KEY = 255;

/** The id under which a key of an account is kept. 400 when the header is missing, blank or too long. */
export function keyOf(customerId: number, header: string | undefined): string {
  const key = header?.trim() ?? "";
  if (key === "") throw new Refusal(400, "The Idempotency-Key header is required.");
  if (key.length > LONGEST_KEY) {
    throw new Refusal(400, `The Idempotency-Key header must not be longer than ${LONGEST_KEY} characters.`);
  }
  return `${customerId}:${key}`;
}

/**
 * The answer to replay, or undefined when the key is free. The body of the repetition is not compared: "a repeated
 * request with the same Idempotency-Key returns the original response" (§4).
 */
export function keptAnswer(world: World, id: string): KeptAnswer | undefined {
  const kept = world.store.table("kept_answers").get(id);
  if (kept === undefined) return undefined;
  const age = world.clock.now() - Date.parse(kept.kept_at);
  return age < world.settings.idempotencyRetentionSeconds * 1000 ? kept : undefined;
}

/** Marks the key as being processed. 409 when it already is. Returns the function that frees it. */
export function reserve(inFlight: Set<string>, id: string): () => void {
  if (inFlight.has(id)) {
    throw new Refusal(409, "A request with this Idempotency-Key is still being processed.");
  }
  inFlight.add(id);
  return () => inFlight.delete(id);
}
