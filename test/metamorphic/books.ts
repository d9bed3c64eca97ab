/** Record of the sandbox: each request, and the objects of the account after the request. */
import type { Exchange, Sandbox } from "../../src/sandbox/index.ts";
import { FACTS, type KindName, type Live } from "./kinds.ts";

/** One request, and the objects of the account after the request. */
export interface Entry {
  readonly method: string;
  readonly path: string;
  /** Status of the response. Null if the connection was cut. */
  readonly status: number | null;
  readonly faulty: boolean;
  readonly live: readonly Live[];
}

export interface Effect {
  readonly did: "created" | "deleted" | "suspended";
  readonly key: string;
  readonly id: string;
  /** Index of the entry. */
  readonly at: number;
}

export class Books {
  readonly entries: Entry[] = [];
  readonly effects: Effect[] = [];
  #control: Sandbox["control"] | undefined;
  #kind: KindName = "webhook";
  #last: readonly Live[] = [];
  #isElsewhere = false;
  /** Callback after each entry. */
  onEntry: () => void = () => undefined;

  open(control: Sandbox["control"], kind: KindName): void {
    this.#control = control;
    this.#kind = kind;
    this.#last = this.live();
  }

  /** Returns the current objects of the account. */
  live(): Live[] {
    return this.#control === undefined ? [] : FACTS[this.#kind].live(this.#control);
  }

  /** Runs work as another user. The record omits the requests of this work. */
  async elsewhere<T>(work: () => Promise<T>): Promise<T> {
    this.#isElsewhere = true;
    try {
      return await work();
    } finally {
      this.#isElsewhere = false;
      this.#last = this.live();
    }
  }

  see({ method, url, status, faulty }: Exchange): void {
    if (this.#isElsewhere) return;
    const live = this.live();
    const at = this.entries.length;
    const before = new Map(this.#last.map((one) => [one.id, one]));
    for (const { id, key, suspended } of live) {
      const old = before.get(id);
      before.delete(id);
      if (old === undefined) this.effects.push({ did: "created", key, id, at });
      if (suspended && old?.suspended !== true) this.effects.push({ did: "suspended", key, id, at });
    }
    for (const { id, key } of before.values()) this.effects.push({ did: "deleted", key, id, at });
    this.entries.push({ method, path: url.replace("/api/v1", ""), status, faulty, live });
    this.#last = live;
    this.onEntry();
  }
}
