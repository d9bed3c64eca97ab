import type { Kind } from "../../core/kinds/kind.ts";
import type { DataSession } from "./contract.ts";

/** How long the first readers of a collection wait for others, in milliseconds. Terraform asks for ten at a time. */
const GATHER_MS = 25;

/** Up to so many objects of a collection are read one by one: a listing may be many pages. */
const FEW = 2;

/** The collections of an account, as those who read them side by side share them. */
export class Collections {
  readonly #session: Pick<DataSession, "account" | "clock">;
  readonly #coalesce: boolean;
  readonly #stale = new Set<string>();
  readonly #asked = new Map<string, number>();

  /** @param coalesce false: every object is read by itself (for comparison). */
  constructor(session: Pick<DataSession, "account" | "clock">, coalesce = true) {
    this.#session = session;
    this.#coalesce = coalesce;
  }

  /**
   * Whether an object is one of so few that are asked for that it is cheaper to read it by itself. Waits a moment for
   * others: Terraform reads many instances side by side.
   */
  async isAlone(kind: Kind, parent: string | undefined): Promise<boolean> {
    if (!this.#coalesce) return true;
    const key = keyOf(kind, parent);
    this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1);
    if (kind.get === undefined) return false;
    await this.#session.clock.sleep(GATHER_MS);
    return (this.#asked.get(key) ?? 0) <= FEW;
  }

  /** A collection was changed here. What was listed of it is still good for resources: what they made is claimed. */
  changed(kind: Kind, parent: string | undefined): void {
    this.#stale.add(keyOf(kind, parent));
  }

  /** For whoever shows a collection as it is (data sources, after what they depend on): it is listed anew if it was changed. */
  upToDate(kind: Kind, parent: string | undefined): void {
    if (this.#stale.delete(keyOf(kind, parent))) this.#session.account.forget(kind, parent);
  }
}

const keyOf = (kind: Kind, parent: string | undefined) => `${kind.type} ${parent ?? ""}`;

const known = new WeakMap<object, Collections>();

/** The collections of a session, begun anew: whoever asks for them from now on gets these. */
export function beginCollections(session: Pick<DataSession, "account" | "clock">, coalesce: boolean): Collections {
  const collections = new Collections(session, coalesce);
  known.set(session, collections);
  return collections;
}

/** The collections of a session. With HOSTFORM_TERRAFORM_COALESCE=0 every object is read by itself, for comparison. */
export function collectionsOf(session: Pick<DataSession, "account" | "clock">): Collections {
  return known.get(session) ?? beginCollections(session, process.env.HOSTFORM_TERRAFORM_COALESCE !== "0");
}
