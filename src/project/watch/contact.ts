/** Follows the contact of a watch with its accounts: rejected tokens, and times without a response. */

/** Codes of failures without a usable response of the host. */
const AWAY: readonly string[] = ["api.unreachable", "api.timeout", "api.server"];

export const isAway = (code: string): boolean => AWAY.includes(code);

/** Number of consecutive rejections that end a watch. */
const MOST_REJECTIONS = 3;

/** Contact with the accounts of a watch. Times are monotonic, in milliseconds. */
export class Contact {
  readonly #afterMs: number;
  /** Time of the first check without a response. Undefined while the accounts respond. */
  #awaySince: number | undefined;
  /** The same time after its report. */
  #reported: number | undefined;
  /** Number of consecutive checks with a rejected token. */
  #rejections = 0;

  /** @param afterMs time without a response before {@link overdue} reports it. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** True if the token was rejected at three consecutive checks, or at the first check. */
  get isRejected(): boolean {
    return this.#rejections >= MOST_REJECTIONS;
  }

  /**
   * Learns from the end of a check.
   * @param codes of its errors. @param isOver true if the check reached its end.
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

  /** Returns the time without a response, once, when it exceeds the limit. */
  overdue(now: number): number | undefined {
    const ms = now - (this.#awaySince ?? now);
    if (this.#awaySince === undefined || this.#reported !== undefined || ms < this.#afterMs) return undefined;
    this.#reported = this.#awaySince;
    return ms;
  }
}
