/** The rate windows of all tokens, for people to look at; looking counts as no request. */
import type { World } from "../world.ts";

export interface RateView {
  token_id: number;
  /** Name of the token, never its value. */
  token: string;
  customer_id: number;
  /** Requests a minute (§8); 0: the limit is switched off. */
  limit: number;
  used: number;
  left: number;
  /** When there is room again; null while nothing has been used. ISO 8601. */
  resets_at: string | null;
}

/** One for each token, in the order of their creation. */
export function rateViews({ store, rate, clock, settings }: World): RateView[] {
  const now = clock.now();
  return store
    .table("tokens")
    .all()
    .map(({ id, name, customer_id }) => {
      const state = rate.look(id, now);
      const limit = settings.rateLimit;
      const left = state?.remaining ?? limit;
      const resets_at = state === undefined || left === limit ? null : new Date(state.resetsAt).toISOString();
      return { token_id: id, token: name, customer_id, limit, used: limit - left, left, resets_at };
    });
}
