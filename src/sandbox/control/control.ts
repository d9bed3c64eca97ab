/**
 * Control of a sandbox: actions of the vendor, and functions for tests. The HTTP control API (`routes.ts`) calls these
 * functions.
 */
import { reset, restoreSnapshot, takeSnapshot } from "../beginning.ts";
import { replayDelivery, type Subject, triggerEvent } from "../events/emit.ts";
import type { Fault, FaultRequest } from "../faults.ts";
import type { RequestEntry } from "../http/journal.ts";
import type { RateView } from "../http/rate.ts";
import { cancelInvoice, payInvoice, settle } from "../lifecycle/billing.ts";
import {
  acceptTransfer,
  declineTransfer,
  endService,
  offerTransfer,
  provisionNow,
  restoreNow,
  suspendNow,
} from "../lifecycle/services.ts";
import { followChange } from "../lifecycle/terms.ts";
import { notFound, requireKnown, unprocessable } from "../refusal.ts";
import { webhookSecret } from "../routes/accounts.ts";
import { completeMigration, setCredentials, submitMigration } from "../routes/migration-requests.ts";
import { customerBy, type ForAccount, type ServiceSeed, seedServices } from "../seed.ts";
import { type Collections, type Credentials, OPEN_COLLECTIONS, type Service } from "../store/records.ts";
import type { World } from "../world.ts";
import { checkInvariants, type InvariantReport } from "./invariants.ts";
import { changeRecord, MAKERS, type NewRecord, type OpenCollection, openTable, removeRecord } from "./records.ts";
import { advance, type Span, type Time, timeOf, type Upcoming, upcoming } from "./time.ts";

/** All records in their internal format: amounts in minor units, times in UTC. Includes the values of tokens and secrets. */
export type SandboxState = { [K in OpenCollection]: Collections[K][] } & {
  now: string;
  profile: World["settings"]["profile"];
};

/** Subject of a triggered event: `service_id` or `invoice_id`, the account, or one webhook. */
export type EventSubject = Omit<Subject, "customer_id"> & ForAccount;

export type Control = ReturnType<typeof controlOf>;

/** Returns the control of a world. Its functions throw a `Refusal` with the reason if they fail. */
export function controlOf(world: World) {
  const { store, clock, journal, faults } = world;
  const act = <T>(work: () => T): T =>
    store.transaction(() => {
      settle(world);
      return work();
    });

  /** Runs a function with one record. */
  const on = <K extends OpenCollection, T>(collection: K, id: number, work: (record: Collections[K]) => T): T =>
    act(() => {
      const record = openTable(store, collection).get(id);
      if (record === undefined) throw notFound(NOUNS[collection] ?? `record in ${collection} with the id`, id);
      return structuredClone(work(record));
    });

  return {
    state: (): SandboxState =>
      act(() => {
        const state: Record<string, unknown> = { now: clock.instant(), profile: world.settings.profile };
        for (const name of OPEN_COLLECTIONS) state[name] = structuredClone(store.table(name).all());
        return state as unknown as SandboxState;
      }),
    /** Returns the records of a collection with a higher id than `after`, oldest first. */
    list: <K extends OpenCollection>(collection: K, after = 0): Collections[K][] =>
      act(() => structuredClone(openTable(store, collection).filter(({ id }) => id > after))),
    get: <K extends OpenCollection>(collection: K, id: number): Collections[K] =>
      on(collection, id, (record) => record),
    /** Changes fields of a record except its id, to create drift. */
    change: <K extends OpenCollection>(collection: K, id: number, fields: Partial<Collections[K]>): Collections[K] =>
      act(() => {
        const before = collection === "services" ? store.table("services").get(id) : undefined;
        const changed = changeRecord(store, collection, id, fields);
        if (before !== undefined) followChange(world, before, changed as unknown as Service);
        return structuredClone(openTable(store, collection).get(id) ?? changed);
      }),
    /** Deletes a record. A service is deleted with its grants and queued jobs. */
    remove: (collection: OpenCollection, id: number): void => act(() => removeRecord(store, collection, id)),
    /** Adds a grant, webhook, client account, migration request, token or coupon without a request of the API. */
    create: <K extends keyof NewRecord>(collection: K, fields: NewRecord[K]): Collections[K] =>
      act(() => structuredClone(MAKERS[collection](world, fields))),
    /** Adds many active services with paid invoices. */
    seedServices: (seed: ServiceSeed = {}) => act(() => seedServices(world, seed)),
    /** Marks an invoice as paid, which starts provisioning. Has no effect on a paid invoice. */
    payInvoice: (id: number) => on("invoices", id, (invoice) => payInvoice(world, invoice)),
    cancelInvoice: (id: number) => on("invoices", id, (invoice) => cancelInvoice(world, invoice)),
    /** Finishes provisioning now, even if the invoice is unpaid. */
    provisionService: (id: number) => on("services", id, (service) => provisionNow(world, service)),
    /** Suspends a service at once. A queued job stays queued. */
    suspendService: (id: number) => on("services", id, (service) => suspendNow(world, service, "request")),
    /** Ends a suspension at once, whatever its reason. */
    unsuspendService: (id: number) => on("services", id, (service) => restoreNow(world, service)),
    terminateService: (id: number) => on("services", id, (service) => endService(world, service, "terminated")),
    /** Offers a service to another account, by its name or id. */
    offerTransfer: (id: number, { to }: { to: string | number }) =>
      on("services", id, (service) => {
        // Elsewhere, the default account is the agency. An offer has no default.
        if (to === undefined) throw unprocessable("Name the account to offer the service to: {to}.");
        return offerTransfer(world, service, customerBy(world, to));
      }),
    acceptTransfer: (id: number) => on("transfers", id, (transfer) => acceptTransfer(world, transfer)),
    declineTransfer: (id: number) => on("transfers", id, (transfer) => declineTransfer(world, transfer)),
    /** Sets the credentials of a migration. The API cannot set them (§1). */
    setMigrationCredentials: (id: number, credentials: Credentials) =>
      act(() => setCredentials(store, id, credentials)),
    submitMigration: (id: number) => act(() => submitMigration(store, id)),
    completeMigration: (id: number) => act(() => completeMigration(store, id)),
    /** Creates a new signing secret of a webhook, for later deliveries. */
    rotateSecret: (id: number) =>
      on("webhooks", id, () => store.table("webhooks").update(id, { secret: webhookSecret(world) })),
    /** Sends a test event. Changes no record except the delivery log. */
    trigger: (event: string, { account, ...subject }: EventSubject = {}) =>
      act(() => {
        requireKnown("A triggered event", subject, ["account", "service_id", "invoice_id", "webhook_id"]);
        const owner = account === undefined ? {} : { customer_id: customerBy(world, account).id };
        return structuredClone(triggerEvent(world, event, { ...subject, ...owner }));
      }),
    /** Sends the body of a delivery again, byte for byte. */
    replayDelivery: (id: number) => on("deliveries", id, (delivery) => replayDelivery(world, delivery)),
    /** Resolves after each due delivery has been attempted. */
    settled: (): Promise<void> => {
      act(() => undefined);
      return world.sender.settled();
    },
    clock: (): Time => act(() => timeOf(clock)),
    /** Stops the clock until `resumeClock`. `advanceClock` still moves it. */
    freezeClock: (): Time => act(() => timeOf(clock.freeze())),
    resumeClock: (): Time => act(() => timeOf(clock.resume())),
    /**
     * Moves the clock forward and performs the due work. Its deliveries are sent in the background (`settled` waits for
     * them).
     */
    advanceClock: (span: Span): Time => act(() => advance(world, span)),
    /** Returns the next due steps, earliest first. `most` is the maximum number, by default 20. */
    upcoming: (most?: number): Upcoming[] => act(() => upcoming(world, most)),
    /** Returns the rate window of each token. Does not count as a request. */
    rates: (): RateView[] =>
      act(() =>
        store
          .table("tokens")
          .all()
          .map((token) => world.rate.view(token, clock.now())),
      ),
    requests: (): RequestEntry[] => journal.entries(),
    /** Checks the logged requests against the rules for clients. */
    invariants: (): InvariantReport => checkInvariants(journal.entries(), world.settings.rateLimit),
    clearRequests: (): void => journal.clear(),
    addFault: (fault: FaultRequest): Fault => faults.add(fault),
    faults: (): Fault[] => faults.list(),
    clearFaults: (): void => faults.clear(),
    /** Returns the complete state as a text. The same state gives the same text. */
    snapshot: (): string => act(() => takeSnapshot(world)),
    /** Restores a snapshot with its time and seed. The request log restarts. */
    restore: (text: string): void => restoreSnapshot(world, text),
    /** Restores the seeded data. Removes faults, the log and the clock offset, and restarts the rate windows. */
    reset: (): void => reset(world),
  };
}

const NOUNS: Partial<Record<OpenCollection, string>> = {
  services: "service",
  invoices: "invoice",
  webhooks: "webhook",
  transfers: "transfer",
  deliveries: "delivery",
};
