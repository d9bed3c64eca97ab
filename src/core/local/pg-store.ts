// Store of an account in PostgreSQL, shared by the processes of all machines.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { raise } from "../messages/index.ts";
import { type Clock, type Diagnostic, ifExplained, type Json, parsedJson } from "../model/index.ts";
import {
  type AccountStore,
  type IntentQuery,
  type LeavingCreate,
  NOTE_KEPT_MS,
  type Note,
  type NoteOptions,
  type StoredCreate,
  type Turn,
  type TurnHolder,
  type TurnRequest,
} from "./account-store.ts";
import type { Database, Row } from "./pg-connection.ts";
import { PgHoldings } from "./pg-holdings.ts";
import { PgIntents } from "./pg-intents.ts";
import { PgRequests } from "./pg-requests.ts";
import { prepareTables } from "./pg-schema.ts";
import { PgSession, type Query, SIGNS } from "./pg-session.ts";
import { PgTurn } from "./pg-turn.ts";
import { TurnQueue } from "./turn-queue.ts";

export interface PgStoreOptions {
  readonly account: string;
  /** Digest of the API's origin. All tokens of the origin share notes, places and serials. */
  readonly origin: string;
  /** Database and its server in messages. */
  readonly place: string;
  /** Opens a connection. @throws HostformError `state.backend`. */
  connect(onNotification: (payload: string) => void): Promise<Database>;
  readonly clock: Clock;
  readonly isResettable?: boolean;
  /** Name of the process. Default: a unique one. */
  readonly process?: string;
  readonly soonMs?: number;
  /** Longest wait for a lost connection, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** Called once at the beginning of each wait for the database. */
  onLost?(reason: string): void;
  /** Called when a backup of the database was restored, or another server took over. */
  onRestored?(): void;
  /** Called once for each awaited process, after 5 seconds. */
  onWaiting?(holder: TurnHolder): void;
  /** Called when this process has taken the create lock from a frozen process. */
  onTakenOver?(holder: TurnHolder): void;
}

export class PgStore implements AccountStore {
  readonly account: string;
  readonly requests: PgRequests;
  readonly habits = "habits ";
  readonly sharing = "machines";
  readonly file: string;
  readonly isResettable: boolean;
  readonly #options: PgStoreOptions;
  readonly #session: PgSession;
  readonly #intents: PgIntents;
  readonly #turn: PgTurn;
  readonly #queue: TurnQueue;
  readonly see: PgHoldings["see"];
  readonly release: PgHoldings["release"];
  readonly endRun: PgHoldings["endRun"];
  readonly holdings: PgHoldings["holdings"];

  constructor(options: PgStoreOptions) {
    const { account, origin, place } = options;
    const process = options.process ?? randomUUID();
    this.account = account;
    this.file = place;
    this.isResettable = options.isResettable ?? false;
    this.#options = options;
    this.#session = new PgSession({
      ...options,
      process,
      lane: account,
      prepare: async (query, database) => {
        await prepareTables(database, place);
        await this.#intents.prepare(query);
      },
    });
    this.#intents = new PgIntents(this.#session, { ...options, process });
    const onRestored = (query: Query) => this.#intents.renew(query);
    this.requests = new PgRequests(this.#session, { ...options, who: process, onRestored });
    this.#turn = new PgTurn(this.#session, { account, process, machine: hostname(), intents: this.#intents });
    this.#queue = new TurnQueue(this.#turn, options);
    const holdings = new PgHoldings(this.#session, origin);
    this.see = (...given) => holdings.see(...given);
    this.release = (...given) => holdings.release(...given);
    this.endRun = (...given) => holdings.endRun(...given);
    this.holdings = (...given) => holdings.holdings(...given);
  }

  refusals(): Promise<readonly Diagnostic[]> {
    return this.#session.run(async () => []).catch(ifExplained(({ diagnostics }) => diagnostics));
  }

  count(): Promise<number> {
    return this.#intents.count().catch(ifExplained(() => 0));
  }

  withTurn<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#queue.run(request, work);
  }

  async leave(turn: Turn, intent: LeavingCreate): Promise<void> {
    if (await this.#intents.leave(intent, turn.epoch)) return;
    this.#queue.lost(turn);
    raise("store.turn_lost", {});
  }

  async answer(intent: LeavingCreate): Promise<void> {
    this.#intents.end(intent, true);
  }

  async unsent(intent: LeavingCreate): Promise<void> {
    this.#intents.end(intent, false);
  }

  async sentBefore(at: number, count: number): Promise<void> {
    await this.#intents.sentBefore(at, count);
  }

  async newest(query: IntentQuery): Promise<StoredCreate | undefined> {
    return this.#intents.hasOthers ? this.#intents.newest(query) : undefined;
  }

  async note(notes: readonly Note[], { when, keptMs = NOTE_KEPT_MS }: NoteOptions = {}): Promise<readonly Note[]> {
    const writeId = randomUUID();
    const { origin } = this.#options;
    return this.#session.change(async (query) => {
      // Serializes the writers of this origin.
      if (when !== undefined) await query("SELECT FROM hostform.origins WHERE origin = $1 FOR UPDATE", [origin]);
      const columns = [notes.map(({ list }) => list), notes.map(({ name }) => name)];
      const existing = await query(
        `SELECT list, name, value, write_id, ${SIGNS} FROM hostform.notes JOIN unnest($2::text[], $3::text[]) AS given (list, name)
          USING (list, name) WHERE origin = $1 ORDER BY list, name`,
        [origin, ...columns],
      );
      // A commit without an acknowledgement wrote these notes.
      if (existing.some(({ write_id }) => write_id === writeId)) return [];
      if (when === "absent" && existing.length > 0) return existing.flatMap(noteIn);
      const isExisting = ({ list, name }: Note) => existing.some((row) => row.list === list && row.name === name);
      const written = when === "present" ? notes.filter(isExisting) : notes;
      for (const { list, name, value } of written)
        await query(
          `INSERT INTO hostform.notes (origin, list, name, until, value, write_id) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (origin, list, name) DO UPDATE SET until = excluded.until, value = excluded.value,
              write_id = excluded.write_id`,
          [origin, list, name, this.#session.now() + keptMs, JSON.stringify(value), writeId],
        );
      return [];
    });
  }

  async notes(list: string, name?: string): Promise<readonly Note[]> {
    const select = `SELECT list, name, value FROM hostform.notes
      WHERE origin = $1 AND list = $2 AND ($3::text IS NULL OR name = $3) ORDER BY name`;
    const rows = await this.#session.run((query) => query(select, [this.#options.origin, list, name ?? null]));
    return rows.flatMap(noteIn);
  }

  async forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void> {
    const remove = `DELETE FROM hostform.notes USING unnest($2::text[], $3::text[]) AS given (list, name)
      WHERE origin = $1 AND notes.list = given.list AND notes.name = given.name`;
    const columns = [notes.map(({ list }) => list), notes.map(({ name }) => name)];
    await this.#session.run((query) => query(remove, [this.#options.origin, ...columns]));
  }

  async close(): Promise<void> {
    this.#queue.close();
    await this.requests.settle().catch(() => {});
    // Unwritten outcomes count as unknown, as after a kill.
    await this.#intents.settle().catch(() => {});
    await this.#turn.close();
    await this.#session.close();
  }
}

/** Returns the note of a row. Ignores an unreadable row. */
function noteIn({ list, name, value }: Row): Note[] {
  const known = parsedJson(String(value)) as Json | undefined;
  return known === undefined ? [] : [{ list: String(list), name: String(name), value: known }];
}
