/** Which collections the control may touch, and how records change and go. */

import { Refusal, notFound } from "../refusal.ts";
import { checkSound, isNullable } from "../store/sound.ts";
import type { Store, Table } from "../store/store.ts";
import { OPEN_COLLECTIONS, type Collections } from "../store/records.ts";

export type OpenCollection = (typeof OPEN_COLLECTIONS)[number];

/** The collection of that name, or 404 with the names that exist. */
export function openCollection(name: string): OpenCollection {
  const found = OPEN_COLLECTIONS.find((one) => one === name);
  if (found !== undefined) return found;
  throw new Refusal(404, `There is no collection "${name}". The collections are ${OPEN_COLLECTIONS.join(", ")}.`);
}

export function openTable<K extends OpenCollection>(store: Store, collection: K): Table<Collections[K]> {
  // The union of tables is not callable; by its name the table holds exactly these records.
  return store.table(openCollection(collection)) as unknown as Table<Collections[K]>;
}

/** Changes known fields of a record to values of the same type, or to null where the field may be null. */
export function changeRecord<K extends OpenCollection>(
  store: Store,
  collection: K,
  id: number,
  fields: Partial<Collections[K]>,
): Collections[K] {
  const table = openTable(store, collection);
  const record = table.get(id);
  if (record === undefined) throw notFound(`record in ${collection} with the id`, id);
  const known = record as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    if (name === "id") throw new Refusal(422, "The id of a record cannot be changed.");
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known).join(", ");
      throw new Refusal(422, `A record in ${collection} has no field "${name}". Its fields are ${names}.`);
    }
    const before = known[name];
    const nullable = isNullable(collection, name);
    if (!(value === null ? nullable : before === null || kindOf(value) === kindOf(before))) {
      throw new Refusal(422, `The field "${name}" holds a ${kindOf(before)}, not a ${kindOf(value)}.`);
    }
    checkSound(collection, name, value);
  }
  return structuredClone(table.update(id, fields));
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

/** Deletes a record, and what cannot exist without it. */
export function removeRecord(store: Store, collection: OpenCollection, id: number): void {
  const table = openTable(store, collection);
  if (table.get(id) === undefined) throw notFound(`record in ${collection} with the id`, id);
  table.remove(id);
  if (collection !== "services") return;
  for (const grant of store.table("grants").filter((one) => one.service_id === id))
    store.table("grants").remove(grant.id);
  for (const job of store.table("jobs").filter((one) => one.order_id === id)) store.table("jobs").remove(job.id);
  store.table("billing").remove(id);
}
