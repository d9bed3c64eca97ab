/** Follows the contact of a watch with its accounts: rejected tokens, and times without a response. */

/** Number of consecutive checks with a rejected token that ends a watch. */
export const MOST_REJECTIONS = 3;

/** Codes of failures without a usable response of the host. */
const AWAY: readonly string[] = ["api.unreachable", "api.timeout", "api.server"];
const REJECTED = "api.unauthenticated";

/** Contact with the accounts of a watch. Times are monotonic, in milliseconds. */
export class Contact {
  readonly #afterMs: number;
  /** Time of the first check without a response. Undefined while the accounts respond. */
  #awaySince: number | undefined;
  #isReported = false;
  /** Number of consecutive checks with a rejected token. */
  #rejections = 0;

  /** @param afterMs time without a response before {@link overdue} reports it. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** True if the token was rejected at {@link MOST_REJECTIONS} consecutive checks. */
  get isRejected(): boolean {
    return this.#rejections >= MOST_REJECTIONS;
  }

  /**
   * Learns from the end of a check.
   * @param codes of its errors. @param isOver true if the check reached its end.
   * @returns the time without a response, if it was reported and has ended.
   */
  learn(codes: readonly string[], isOver: boolean, now: number): number | undefined {
    const isRejected = codes.includes(REJECTED);
    if (isRejected) this.#rejections++;
    else if (isOver) this.#rejections = 0;
    if (AWAY.some((code) => codes.includes(code))) this.#awaySince ??= now;
    else if (isOver || isRejected) {
      const since = this.#isReported ? this.#awaySince : undefined;
      this.#awaySince = undefined;
      this.#isReported = false;
      return since === undefined ? undefined : now - since;
    }
    return undefined;
  }

  /** Returns the time without a response, once, when it exceeds the limit. */
  overdue(now: number): number | undefined {
    const ms = this.#awaySince === undefined ? 0 : now - this.#awaySince;
    if (this.#isReported || this.#awaySince === undefined || ms < this.#afterMs) return undefined;
    this.#isReported = true;
    return ms;
  }
}
