// Ledger in PostgreSQL: counts the requests of one token for all processes of all machines.
import { randomUUID } from "node:crypto";
import type { Clock, RequestOutlook } from "../model/index.ts";
import type { Acceptance, Ledger, LedgerEvent, Refusal, Reservation } from "./ledger.ts";
import type { Row } from "./pg-connection.ts";
import { type PgSession, type Query, SIGNS } from "./pg-session.ts";
import { RollingWindow } from "./rolling-window.ts";

/** Longest delay of an acceptance before its write, in milliseconds. The next reservation writes it sooner. */
const SOON_MS = 50;

interface PgRequestsOptions {
  readonly account: string;
  readonly clock: Clock;
  /** Unique id of this process. */
  readonly who: string;
  readonly soonMs?: number | undefined;
  /** Called when the row is older than this process remembers. */
  onRestored(query: Query): Promise<void>;
}

/** Window in its row. */
interface Known {
  readonly record: string;
  /** Version in the row, and the highest known version. They differ after a restored backup. */
  readonly version: number;
  readonly highest: number;
  readonly writeId: string;
}

/** A write without an acknowledgement so far. */
interface Written extends Known {
  readonly events: number;
  readonly result: Reservation | undefined;
}

/**
 * Decides on the known window, and writes the decision if the row still has its version. Otherwise reads the row and decides again. All
 * times in the row are times of the server, so the clocks of several machines may differ.
 */
export class PgRequests implements Ledger {
  readonly #session: PgSession;
  readonly #options: PgRequestsOptions;
  #known: Known | undefined;
  /** Unwritten acceptances and refusals. */
  #owed: LedgerEvent[] = [];
  #written: Promise<void> | undefined;

  constructor(session: PgSession, options: PgRequestsOptions) {
    this.#session = session;
    this.#options = options;
  }

  async reserve(now: number, limit: number): Promise<Reservation> {
    const { clock, who } = this.#options;
    const since = clock.monotonic();
    // The wait for the database counts.
    const at = () => this.#serverTime(now + clock.monotonic() - since);
    const event = (): LedgerEvent => ["reserve", at(), limit, who.slice(0, 8)];
    const answer = (await this.#apply(event)) ?? { waitMs: 0, left: 0 };
    const { why } = answer;
    if (why?.since === undefined) return answer;
    return { ...answer, why: { ...why, since: why.since - this.#session.offsetMs } };
  }

  async refuse(refusal: Refusal): Promise<void> {
    this.#owed.push(["refuse", { ...refusal, ...this.#timesOf(refusal) }]);
    await this.settle();
  }

  accept(acceptance: Acceptance): Promise<void> {
    const { budget } = acceptance;
    const until = budget && { budget: { ...budget, until: this.#serverTime(budget.until) } };
    this.#owed.push(["accept", { ...acceptance, ...this.#timesOf(acceptance), ...until }]);
    this.#written ??= new Promise<void>((resolve, reject) => {
      setTimeout(() => this.settle().then(resolve, reject), this.#options.soonMs ?? SOON_MS).unref();
    });
    return this.#written;
  }

  async outlook(now: number, limit: number): Promise<RequestOutlook> {
    const known = await this.#session.run((query) => this.#read(query)).catch(() => this.#known);
    this.#known = known;
    return RollingWindow.parse(known?.record ?? "").outlook(this.#serverTime(now), limit);
  }

  /** Writes the unwritten answers. */
  async settle(): Promise<void> {
    this.#written = undefined;
    if (this.#owed.length > 0) await this.#apply();
  }

  #serverTime(local: number): number {
    return Math.round(local + this.#session.offsetMs);
  }

  #timesOf({ now, sentAt }: Refusal | Acceptance): Pick<Acceptance, "now" | "sentAt"> {
    return { now: this.#serverTime(now), sentAt: this.#serverTime(sentAt) };
  }

  /** Writes and applies the unwritten answers and an event. */
  #apply(event?: () => LedgerEvent): Promise<Reservation | undefined> {
    let written: Written | undefined;
    return this.#session.run(async (query) => {
      // After a lost connection the row shows whether the last write is committed.
      let known = written === undefined && this.#known ? this.#known : await this.#read(query);
      while (written === undefined || written.writeId !== known.writeId) {
        written = decide(known, [...this.#owed, ...(event ? [event()] : [])]);
        const { record, highest, writeId } = written;
        const values = [known.version, highest, record, writeId, this.#session.now()];
        const [row] = await query(
          `WITH written AS (UPDATE hostform.windows SET version = $3, record = $4, write_id = $5, changed = $6
              WHERE account = $1 AND version = $2 RETURNING true AS done)
            SELECT version, record, write_id, (SELECT done FROM written), ${SIGNS} FROM hostform.windows WHERE account = $1`,
          [this.#options.account, ...values],
        );
        known = row?.done === true ? written : await this.#knownIn(query, row);
      }
      this.#known = written;
      this.#owed = this.#owed.slice(written.events - (event ? 1 : 0));
      return written.result;
    });
  }

  async #read(query: Query): Promise<Known> {
    const { account } = this.#options;
    const select = `SELECT version, record, write_id, ${SIGNS} FROM hostform.windows WHERE account = $1`;
    const [row] = await query(select, [account]);
    if (row !== undefined) return this.#knownIn(query, row);
    const insert = "INSERT INTO hostform.windows VALUES ($1, 0, '', '', $2) ON CONFLICT DO NOTHING";
    await query(insert, [account, this.#session.now()]);
    return this.#read(query);
  }

  async #knownIn(query: Query, row: Row | undefined): Promise<Known> {
    const version = Number(row?.version ?? 0);
    const found = { record: String(row?.record), version, highest: version, writeId: String(row?.write_id) };
    if (this.#known === undefined || this.#known.highest <= version) return found;
    await this.#options.onRestored(query);
    return { ...this.#known, version };
  }
}

function decide({ record, highest }: Known, events: readonly LedgerEvent[]): Written {
  const window = RollingWindow.parse(record);
  const result = events.map((one) => window.apply(one)).at(-1);
  const version = highest + 1;
  const next = { record: JSON.stringify(window), version, highest: version, writeId: randomUUID() };
  return { ...next, events: events.length, result };
}
