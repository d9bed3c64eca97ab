// Objects in the states of all machines, kept in PostgreSQL.
import type { Held, HeldObject, Holding, HoldingQuery, Place } from "./account-store.ts";
import { HOLDING_RENEWED_MS } from "./account-store.ts";
import { type PgSession, SIGNS } from "./pg-session.ts";
import { factsOf, heldIn, isKept, nameOf, SeenObjects } from "./shared-holdings.ts";

export class PgHoldings {
  readonly #session: PgSession;
  readonly #origin: string;
  readonly #seen = new SeenObjects();

  constructor(session: PgSession, origin: string) {
    this.#session = session;
    this.#origin = origin;
  }

  async see({ mark, label }: Place, run: string, holdings: readonly Holding[]): Promise<void> {
    this.#seen.add(mark, run, holdings);
    if (holdings.length === 0) return;
    // One statement cannot write a row twice.
    const given = [...new Map(holdings.map((one) => [nameOf(one), one]))];
    const columns = [
      given.map(([name]) => name),
      given.map(([, one]) => factsOf(one)),
      given.map(([, one]) => one.intent ?? null),
    ];
    await this.#session.change(async (query) => {
      await query(
        `INSERT INTO hostform.places AS known VALUES ($1, $2, $3, 0)
          ON CONFLICT (origin, mark) DO UPDATE SET label = excluded.label WHERE known.label <> excluded.label`,
        [this.#origin, mark, label],
      );
      const now = this.#session.now();
      await query(
        `INSERT INTO hostform.holdings AS known (origin, place, object, facts, intent, firm, first, seen)
          SELECT $1, $2, given.object, given.facts, given.intent, true, $6::bigint, $6::bigint
          FROM unnest($3::text[], $4::text[], $5::text[]) AS given (object, facts, intent)
          LEFT JOIN hostform.holdings AS held ON held.origin = $1 AND held.place = $2 AND held.object = given.object
          LEFT JOIN hostform.places ON places.origin = $1 AND mark = $2
          WHERE held.origin IS NULL OR held.facts <> given.facts OR NOT held.firm
            OR coalesce(given.intent, held.intent) IS DISTINCT FROM held.intent OR greatest(held.seen, ended) <= $7
          ON CONFLICT (origin, place, object) DO UPDATE SET facts = excluded.facts,
            intent = coalesce(excluded.intent, known.intent), firm = true, seen = excluded.seen`,
        [this.#origin, mark, ...columns, now, now - HOLDING_RENEWED_MS],
      );
    });
  }

  async release(place: string, objects: readonly HeldObject[]): Promise<void> {
    this.#seen.drop(place, objects);
    if (objects.length === 0) return;
    const remove = "DELETE FROM hostform.holdings WHERE origin = $1 AND place = $2 AND object = ANY ($3::text[])";
    await this.#session.run((query) => query(remove, [this.#origin, place, objects.map(nameOf)]));
  }

  async endRun(place: string, run: string, since: number): Promise<void> {
    const seen = [...this.#seen.end(place, run)];
    await this.#session.change(async (query) => {
      await query(
        `UPDATE hostform.holdings SET firm = false, seen = greatest(seen, ended) FROM hostform.places
          WHERE places.origin = $1 AND mark = $2 AND holdings.origin = $1 AND place = $2
            AND firm AND seen < $3 AND object <> ALL ($4::text[])`,
        [this.#origin, place, Math.round(since + this.#session.offsetMs), seen],
      );
      const end = "UPDATE hostform.places SET ended = $3 WHERE origin = $1 AND mark = $2";
      await query(end, [this.#origin, place, this.#session.now()]);
    });
  }

  async holdings({ place, notOf }: HoldingQuery): Promise<readonly Held[]> {
    const rows = await this.#session.run((query) =>
      query(
        `SELECT holdings.*, label, ended, ${SIGNS} FROM hostform.holdings JOIN hostform.places ON places.origin = holdings.origin AND mark = place
          WHERE holdings.origin = $1 AND ($2::text IS NULL OR place = $2) AND ($3::text IS NULL OR place <> $3)
          ORDER BY place, object`,
        [this.#origin, place ?? null, notOf ?? null],
      ),
    );
    const { offsetMs } = this.#session;
    const local = (at: unknown) => Math.round(Number(at) - offsetMs);
    const isFresh = isKept(local(this.#session.now()));
    return rows.flatMap((row) => {
      const isFirm = row.firm === true;
      return heldIn(String(row.object), String(row.facts), {
        ...(row.intent !== null && { intent: String(row.intent) }),
        place: { mark: String(row.place), label: String(row.label) },
        firstSeen: local(row.first),
        lastSeen: local(Math.max(Number(row.seen), isFirm ? Number(row.ended) : 0)),
        isFirm,
      }).filter(isFresh);
    });
  }
}
