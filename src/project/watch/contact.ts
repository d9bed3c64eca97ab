/** Tracks whether the accounts of a watch respond and accept the token. */

/** Codes of failures without a usable response. */
const AWAY: readonly string[] = ["api.unreachable", "api.timeout", "api.server"];

export const isAway = (code: string): boolean => AWAY.includes(code);

/** Number of consecutive rejections after which a watch ends. */
const MOST_REJECTIONS = 3;

/** Times are monotonic, in milliseconds. */
export class Contact {
  readonly #afterMs: number;
  /** Time of the first check without a response. Undefined while the accounts respond. */
  #awaySince: number | undefined;
  /** Value of `#awaySince` that was reported. */
  #reported: number | undefined;
  /** Number of consecutive checks in which the token was rejected. */
  #rejections = 0;

  /** @param afterMs Time without a response after which {@link overdue} reports it, in milliseconds. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** True if the token was rejected in three consecutive checks, or in the first check. */
  get isRejected(): boolean {
    return this.#rejections >= MOST_REJECTIONS;
  }

  /**
   * Updates the contact after a check.
   * @param codes Codes of its errors.
   * @param isOver True if the check completed.
   * @returns the time without a response, if it was reported and has ended.
   */
  learn(codes: readonly string[], isOver: boolean, now: number, isFirst = false): number | undefined {
    const isRejected = codes.includes("api.unauthenticated");
    if (isRejected) this.#rejections += isFirst ? MOST_REJECTIONS : 1;
    else if (isOver) this.#rejections = 0;
    const isSilent = codes.some(isAway);
    if (isSilent) this.#awaySince ??= now;
    if (isSilent || !(isOver || isRejected)) return undefined;
    const since = this.#reported;
    this.#awaySince = this.#reported = undefined;
    return since === undefined ? undefined : now - since;
  }

  /** Returns the time without a response once, when it exceeds the limit. */
  overdue(now: number): number | undefined {
    const ms = now - (this.#awaySince ?? now);
    if (this.#awaySince === undefined || this.#reported !== undefined || ms < this.#afterMs) return undefined;
    this.#reported = this.#awaySince;
    return ms;
  }
}
