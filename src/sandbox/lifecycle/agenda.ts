/** Heap of the store's jobs and billing steps, sorted by due time. */
import type { Store } from "../store/store.ts";

export interface Due {
  /** Due time in milliseconds since the epoch. */
  at: number;
  kind: "jobs" | "billing";
  id: number;
}

/**
 * Returns true if `a` comes before `b`. At the same time, jobs come before billing steps, and lower ids before higher ids.
 */
function before(a: Due, b: Due): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.kind === b.kind ? a.id < b.id : a.kind === "jobs";
}

export class Agenda {
  readonly #store: Store;
  /** Undefined until it is built from the store. May contain entries of deleted or changed records. */
  #heap: Due[] | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Adds a record that was added to the store. */
  add(kind: Due["kind"], record: { id: number; due_at: string }): void {
    if (this.#heap !== undefined) rise(this.#heap, { at: Date.parse(record.due_at), kind, id: record.id });
  }

  /** Drops all entries. Called when the store was replaced or its transaction was rolled back. */
  forget(): void {
    this.#heap = undefined;
  }

  /** Removes and returns the first entry if it is due. */
  take(now: number): Due | undefined {
    const first = this.first();
    if (first === undefined || first.at > now) return undefined;
    return pop(this.#entries());
  }

  /** Returns the first entry, due or not. Removes entries of deleted or changed records. */
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
