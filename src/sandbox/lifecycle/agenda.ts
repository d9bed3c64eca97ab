/** Queued jobs and billing steps, in the order in which they fall due. A heap over the records of the store. */
import type { Store } from "../store/store.ts";

export interface Due {
  /** Milliseconds since the epoch. */
  at: number;
  kind: "jobs" | "billing";
  id: number;
}

/** Jobs before billing at the same instant, then the older one. */
function before(a: Due, b: Due): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.kind === b.kind ? a.id < b.id : a.kind === "jobs";
}

export class Agenda {
  readonly #store: Store;
  /** Undefined: to be built from the store. May hold outdated entries; the store decides. */
  #heap: Due[] | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Adds a record that has just been put into the store. */
  add(kind: Due["kind"], record: { id: number; due_at: string }): void {
    if (this.#heap !== undefined) rise(this.#heap, { at: Date.parse(record.due_at), kind, id: record.id });
  }

  /** Drops everything: for a store that was replaced, or whose last transaction was undone. */
  forget(): void {
    this.#heap = undefined;
  }

  /** Takes the first entry that is due by then, if there is one. */
  take(now: number): Due | undefined {
    const first = this.first();
    if (first === undefined || first.at > now) return undefined;
    return pop(this.#entries());
  }

  /** The entry that falls due first. It stays. */
  first(): Due | undefined {
    const heap = this.#entries();
    while (heap[0] !== undefined && !this.#holds(heap[0])) pop(heap);
    return heap[0];
  }

  #holds({ kind, id, at }: Due): boolean {
    const record = this.#store.table(kind).get(id);
    return record !== undefined && Date.parse(record.due_at) === at;
  }

  #entries(): Due[] {
    if (this.#heap === undefined) {
      this.#heap = [];
      for (const kind of ["jobs", "billing"] as const)
        for (const one of this.#store.table(kind).all()) this.add(kind, one);
    }
    return this.#heap;
  }
}

function rise(heap: Due[], entry: Due): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const up = (at - 1) >> 1;
    const above = heap[up];
    if (above === undefined || !before(entry, above)) break;
    heap[at] = above;
    at = up;
  }
  heap[at] = entry;
}

function pop(heap: Due[]): Due | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const less = right !== undefined && left !== undefined && before(right, left) ? right : left;
    if (less === undefined || !before(less, last)) break;
    heap[at] = less;
    at = less === right ? 2 * at + 2 : 2 * at + 1;
  }
  heap[at] = last;
  return first;
}
