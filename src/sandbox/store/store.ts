/**
 * Store: one table of records per collection, in memory. An error rolls back its transaction. With a `Persistence` (see
 * `sqlite.ts`), a transaction is written before it returns, so it is durable before the response.
 */
import { createHmac } from "node:crypto";
import { COLLECTION_NAMES, type CollectionName, type Collections } from "./records.ts";

export type RecordId = number | string;

/** Changed record. `row` is null after a deletion. */
export interface RowChange {
  collection: CollectionName;
  id: RecordId;
  row: { id: RecordId } | null;
}

/** Storage of committed transactions. `write` stores all changes or none. */
export interface Persistence {
  load(): Iterable<{ collection: string; row: { id: RecordId } }>;
  write(changes: readonly RowChange[]): void;
  close(): void;
}

type Note = (id: RecordId, before: { id: RecordId } | undefined) => void;

const endedRows = new WeakSet<object>();

/** Returns true if a record was deleted. */
export const hasEnded = (row: object): boolean => endedRows.has(row);

/** Records of one collection, oldest first. A record is never mutated. `update` replaces it. */
export class Table<T extends { id: RecordId }> {
  readonly #rows = new Map<RecordId, T>();
  /** Deleted records, for hosts that keep them in lists. Not in the data file. */
  readonly #ended = new Map<RecordId, T>();
  readonly #note: Note;

  constructor(note: Note) {
    this.#note = note;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: RecordId): T | undefined {
    return this.#rows.get(id);
  }

  /** Returns all records, oldest first. */
  all(): T[] {
    return [...this.#rows.values()];
  }

  ended(): T[] {
    return [...this.#ended.values()];
  }

  find(test: (row: T) => boolean): T | undefined {
    return this.all().find(test);
  }

  filter(test: (row: T) => boolean): T[] {
    return this.all().filter(test);
  }

  /** Adds a record, or replaces the record with its id. */
  put(row: T): T {
    this.#note(row.id, this.#rows.get(row.id));
    this.#rows.set(row.id, row);
    return row;
  }

  /** Replaces fields of a record. @throws Error if it does not exist */
  update(id: RecordId, change: Partial<T>): T {
    const before = this.#rows.get(id);
    if (before === undefined) throw new Error(`There is no record ${id} to update.`);
    return this.put({ ...before, ...change });
  }

  remove(id: RecordId): void {
    const before = this.#rows.get(id);
    if (before === undefined) return;
    this.#note(id, before);
    this.#rows.delete(id);
    this.#ended.set(id, before);
    endedRows.add(before);
  }

  /** Restores a record outside a transaction: after a rollback, and when a file is loaded. */
  restore(id: RecordId, row: T | undefined): void {
    this.#ended.delete(id);
    if (row === undefined) this.#rows.delete(id);
    else {
      this.#rows.set(id, row);
      endedRows.delete(row);
    }
  }
}

type Tables = { [K in CollectionName]: Table<Collections[K]> };

export class Store {
  readonly #tables: Tables;
  readonly #persistence: Persistence | undefined;
  #undo: { collection: CollectionName; id: RecordId; before: { id: RecordId } | undefined }[] = [];
  #open = false;
  /** Called after each transaction with changes, and after each rollback. */
  onCommit: () => void = () => undefined;
  onUndo: () => void = () => undefined;

  constructor(persistence?: Persistence) {
    this.#persistence = persistence;
    const tables: Partial<Record<CollectionName, unknown>> = {};
    for (const collection of COLLECTION_NAMES) {
      tables[collection] = new Table((id, before) => this.#note(collection, id, before));
    }
    this.#tables = tables as Tables;
    for (const { collection, row } of persistence?.load() ?? []) {
      if (collection in this.#tables) this.#untyped(collection as CollectionName).restore(row.id, row);
    }
  }

  table<K extends CollectionName>(collection: K): Tables[K] {
    return this.#tables[collection];
  }

  /** Returns the next number of a sequence, which starts at `start`. */
  next(sequence: string, start = 1): number {
    const value = (this.table("counters").get(sequence)?.value ?? start - 1) + 1;
    this.table("counters").put({ id: sequence, value });
    return value;
  }

  /**
   * Runs `work`, and writes its changes. If either throws, restores the previous state. `work` is synchronous, so that
   * transactions do not interleave.
   */
  transaction<T>(work: () => T): T {
    if (this.#open) throw new Error("Transactions do not nest.");
    this.#open = true;
    this.#undo = [];
    let report: () => void = () => undefined;
    try {
      const result = work();
      this.#write();
      if (this.#undo.length > 0) report = this.onCommit;
      return result;
    } catch (error) {
      if (this.#undo.length > 0) report = this.onUndo;
      // From the newest change to the oldest, so that a record changed twice is restored to its first state.
      for (const { collection, id, before } of this.#undo.reverse()) this.#untyped(collection).restore(id, before);
      throw error;
    } finally {
      this.#undo = [];
      this.#open = false;
      report();
    }
  }

  /** Deletes all records. Must run inside a transaction. */
  clear(): void {
    for (const collection of COLLECTION_NAMES) {
      const table = this.#untyped(collection);
      for (const row of table.all()) table.remove(row.id);
    }
  }

  close(): void {
    this.#persistence?.close();
  }

  #note(collection: CollectionName, id: RecordId, before: { id: RecordId } | undefined): void {
    if (!this.#open) throw new Error("Records change inside a transaction only.");
    this.#undo.push({ collection, id, before });
  }

  #write(): void {
    if (this.#persistence === undefined || this.#undo.length === 0) return;
    const touched = new Map<string, RowChange>();
    for (const { collection, id } of this.#undo) {
      touched.set(`${collection}\0${id}`, { collection, id, row: this.#untyped(collection).get(id) ?? null });
    }
    this.#persistence.write([...touched.values()]);
  }

  #untyped(collection: CollectionName): Table<{ id: RecordId }> {
    return this.#tables[collection] as unknown as Table<{ id: RecordId }>;
  }
}

/** Returns 64 hexadecimal digits for a seed and a label. */
export function derive(seed: string, label: string): string {
  return createHmac("sha256", seed).update(label).digest("hex");
}

/** Returns the next secret of a kind. Secrets of the same data never repeat. Must run inside a transaction. */
export function nextSecret(store: Store, seed: string, kind: string): string {
  return derive(seed, `${kind}:${store.next(`secret:${kind}`)}`);
}
