/**
 * The number of the first page of a host's lists. §4 Pagination has "page (page number)" and no more: most count from 1,
 * some from 0. Learned from answers, and shared by the listings of a client, since all lists have one envelope.
 */
export class PageNumbering {
  #first: 0 | 1 | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** Undefined: not known yet. */
  get first(): 0 | 1 | undefined {
    return this.#first;
  }

  /** The first finding stays. */
  learn(first: 0 | 1): void {
    this.#first ??= first;
  }

  /** Runs one check after the other: of several listings that need it, the first one asks and the others know. */
  inTurn<T>(check: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(check);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
