/**
 * The control of a sandbox: what the vendor's side could do, and what tests need. The HTTP control API (`routes.ts`)
 * calls exactly these functions.
 */
import { DAY_MS } from "../clock.ts";
import type { Fault, FaultRequest } from "../faults.ts";
import type { RequestEntry } from "../journal.ts";
import { payInvoice, provisionNow, settle } from "../lifecycle.ts";
import type { Invoice, Service } from "../records.ts";
import { notFound, Refusal } from "../refusal.ts";
import { plant } from "../seed.ts";
import { type Collections, OPEN_COLLECTIONS } from "../tables.ts";
import type { World } from "../world.ts";
import { changeRecord, type OpenCollection, openTable, removeRecord } from "./collections.ts";
import { createRecord, type NewRecord } from "./create.ts";
import { type ServiceSeed, seedServices } from "./seed-services.ts";

/** A span of time; the parts add up. */
export interface Span {
  seconds?: number;
  minutes?: number;
  hours?: number;
  days?: number;
}

/** Everything there is, in its internal form (minor units, UTC instants). Token values and secrets are shown: it is a sandbox. */
export type SandboxState = { [K in OpenCollection]: Collections[K][] } & {
  now: string;
  profile: World["settings"]["profile"];
};

/** Every function throws a `Refusal` with a sentence for what it cannot do. */
export interface Control {
  state(): SandboxState;
  /** The records of a collection, oldest first. */
  list<K extends OpenCollection>(collection: K): Collections[K][];
  get<K extends OpenCollection>(collection: K, id: number): Collections[K];
  /** Changes fields of a record, to make drift. The id stays. */
  change<K extends OpenCollection>(collection: K, id: number, fields: Partial<Collections[K]>): Collections[K];
  /** Deletes a record; a service takes its grants and queued jobs with it. */
  remove(collection: OpenCollection, id: number): void;
  /** Adds a grant, webhook, client account, migration request, token or coupon without the API. */
  create<K extends keyof NewRecord>(collection: K, fields: NewRecord[K]): Collections[K];
  /** Adds active services with paid invoices, in bulk. */
  seedServices(seed?: ServiceSeed): Service[];
  /** Marks an invoice as paid, which starts provisioning. Paying twice changes nothing. */
  payInvoice(id: number): Invoice;
  /** Finishes provisioning now, paid or not. */
  provisionService(id: number): Service;
  /** Moves the sandbox's clock forward and settles what fell due. Returns the new time. */
  advanceClock(span: Span): { now: string };
  requests(): RequestEntry[];
  clearRequests(): void;
  addFault(fault: FaultRequest): Fault;
  faults(): Fault[];
  clearFaults(): void;
  /** Back to the seeded data: no faults, no log, no offset of the clock, fresh rate windows. */
  reset(): void;
}

/** The control of this world. */
export function controlOf(world: World): Control {
  const { store, clock, journal, faults } = world;
  const act = <T>(work: () => T): T =>
    store.transaction(() => {
      settle(world);
      return work();
    });

  return {
    state: () =>
      act(() => {
        const state: Record<string, unknown> = { now: clock.instant(), profile: world.settings.profile };
        for (const name of OPEN_COLLECTIONS) state[name] = structuredClone(store.table(name).all());
        return state as unknown as SandboxState;
      }),
    list: (collection) => act(() => structuredClone(openTable(store, collection).all())),
    get: (collection, id) =>
      act(() => {
        const record = openTable(store, collection).get(id);
        if (record === undefined) throw notFound(`record in ${collection} with the id`, id);
        return structuredClone(record);
      }),
    change: (collection, id, fields) => act(() => changeRecord(store, collection, id, fields)),
    remove: (collection, id) => act(() => removeRecord(store, collection, id)),
    create: (collection, fields) => act(() => createRecord(world, collection, fields)),
    seedServices: (seed = {}) => act(() => seedServices(world, seed)),
    payInvoice: (id) =>
      act(() => {
        const invoice = store.table("invoices").get(id);
        if (invoice === undefined) throw notFound("invoice", id);
        return payInvoice(world, invoice);
      }),
    provisionService: (id) =>
      act(() => {
        const service = store.table("services").get(id);
        if (service === undefined) throw notFound("service", id);
        return provisionNow(world, service);
      }),
    advanceClock: (span) =>
      store.transaction(() => {
        clock.advance(milliseconds(span));
        settle(world);
        return { now: clock.instant() };
      }),
    requests: () => journal.entries(),
    clearRequests: () => journal.clear(),
    addFault: (fault) => faults.add(fault),
    faults: () => faults.list(),
    clearFaults: () => faults.clear(),
    reset: () => {
      store.transaction(() => {
        store.clear();
        plant(world);
      });
      journal.clear();
      faults.clear();
      world.rate.clear();
    },
  };
}

const UNITS: Readonly<Record<keyof Span, number>> = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: DAY_MS };

function milliseconds(span: Span): number {
  let total = 0;
  for (const [unit, amount] of Object.entries(span)) {
    const scale = UNITS[unit as keyof Span];
    if (scale === undefined || typeof amount !== "number" || !(amount >= 0) || !Number.isFinite(amount)) {
      throw new Refusal(422, "The clock moves forward by {seconds, minutes, hours, days}, each a number of 0 or more.");
    }
    total += amount * scale;
  }
  if (total === 0) throw new Refusal(422, "Say how far to move the clock: {seconds, minutes, hours, days}.");
  return Math.round(total);
}
