/** What was said after an action, kept until the next page shows it, once. In memory: a value that is shown once is in no URL. */
import { randomUUID } from "node:crypto";
import type { Said } from "./page.ts";

/** More than these are never read: the browser went elsewhere. */
const KEPT = 50;

export class Flashes {
  readonly #said = new Map<string, Said>();

  /** Keeps it. The id goes into a cookie of this browser. */
  keep(said: Said): string {
    const id = randomUUID();
    this.#said.set(id, said);
    for (const oldest of this.#said.keys()) {
      if (this.#said.size <= KEPT) break;
      this.#said.delete(oldest);
    }
    return id;
  }

  /** Hands it out and forgets it. */
  take(id: string | undefined): Said | undefined {
    if (id === undefined) return undefined;
    const said = this.#said.get(id);
    this.#said.delete(id);
    return said;
  }
}
