import { hash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { DatabaseFile, type FileLock, takeFileLock } from "../local/index.ts";
import { type Clock, type Diagnostic, messageOf, systemClock, warningOf } from "../model/index.ts";
import { accountFile, type LedgerOptions, removeUnused } from "./shared-ledger.ts";
import { TurnLock } from "./turn-lock.ts";

/** A create that another process of this machine began. */
export interface EarlierCreate {
  /** When it left, in milliseconds since the epoch. */
  readonly at: number;
  readonly outcome: "made" | "unknown";
  /** Whether it was begun for the same state. */
  readonly isOwn: boolean;
  /** Whether it came after the count that the caller knows. */
  readonly isNew: boolean;
}

/** By what a create is recognized. Kept as digests. */
export interface CreateNote {
  /** What is created; empty when nothing distinguishes one from another. */
  readonly thing: string;
  /** What it has in common with others of its kind, where a list shows only that. */
  readonly likeness?: string | undefined;
  /** The state that it is created for; empty when that is not known. */
  readonly owner: string;
}

/** What other processes of this machine have done since a count. */
export interface OtherCreates {
  /** They created something, or may have: a list that was read before is out of date. */
  readonly changed: boolean;
  /** When the last create for another state left that has no answer, in milliseconds since the epoch. */
  readonly unknownAt: number | undefined;
}

/** One create, while no other process of this machine makes anything with the token. */
export interface CreateTurn {
  /** @param owner the state that is written, which knows of its own creates. */
  others(since: number, owner: string): OtherCreates;
  /** The last create of this thing by another process. @param of as that process gave it to {@link CreateTurn.begin}. */
  earlier(of: CreateNote, since: number): EarlierCreate | undefined;
  /** When the last create of this likeness for another state left, in milliseconds since the epoch, if that was after the count. */
  alikeAt(of: CreateNote, since: number): number | undefined;
  /** Notes that the create leaves now, or again. From here on the others see it, even if this process is killed. */
  begin(of: CreateNote, at: number): void;
  /** How it ended. `nothing`: it certainly created nothing. Until then the result is unknown to the others. */
  end(outcome: "made" | "nothing"): void;
}

/**
 * Creates with one token, which the processes of this machine make in turns: two of them that share no state would
 * otherwise find the same thing missing at the same time, and both make it.
 */
export interface CreateTurns {
  /** The server is a sandbox, which can be reset: what an earlier run created may no longer exist. */
  readonly isResettable?: boolean;
  /** The count of all processes' creates. Take it before you read a list. */
  count(): number;
  /**
   * Does `work` while no other process creates anything with the token. Creates of this process go side by side.
   * @param signal ends the wait. @throws its reason; `work` was not begun then.
   */
  run<T>(work: (turn: CreateTurn) => Promise<T>, signal?: AbortSignal): Promise<T>;
  close(): void;
}

const DAY_MS = 86_400_000;
/** Nobody asks about a create that is older. */
const KEPT_MS = 30 * DAY_MS;

/**
 * Not synced: a process that dies loses nothing by it, and after a power failure no request is under way. The journal stays
 * beside the file with nothing to take back, which costs less than to give its blocks back and take new ones each time.
 */
const PRAGMAS = "PRAGMA busy_timeout = 2000; PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF";
/**
 * A serial is never used again, so that the count only grows. A create has a row for what it is, and one for its likeness.
 * Outcome `begun`: it left and has no answer yet; `made`: the object exists; `unknown`: the answer was lost.
 * A run may create thousands: no question about one of them reads all of them, and no index has a row that it is not asked for.
 */
const SCHEMA = `CREATE TABLE creates (
  serial INTEGER PRIMARY KEY AUTOINCREMENT, process TEXT NOT NULL, owner TEXT NOT NULL, thing TEXT NOT NULL,
  at INTEGER NOT NULL, outcome TEXT NOT NULL) STRICT;
  CREATE INDEX creates_of_thing ON creates (thing) WHERE outcome <> 'begun';
  CREATE INDEX creates_not_made ON creates (outcome) WHERE outcome <> 'made'`;

function prepare(database: DatabaseSync) {
  return {
    count: database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'creates'"),
    add: database.prepare("INSERT INTO creates (process, owner, thing, at, outcome) VALUES (?, ?, ?, ?, ?)"),
    remove: database.prepare("DELETE FROM creates WHERE serial = ?"),
    left: database.prepare("SELECT * FROM creates WHERE outcome <> 'made' AND outcome = 'begun' AND process <> ?"),
    lastOfOthers: database.prepare("SELECT max(serial) AS last FROM creates WHERE serial > ? AND process <> ?"),
    unknownAt: database.prepare(
      `SELECT max(at) AS at FROM creates WHERE outcome <> 'made' AND outcome = 'unknown' AND process <> ?
        AND (owner = '' OR owner <> ?)`,
    ),
    earlier: database.prepare(
      "SELECT * FROM creates WHERE thing = ? AND outcome <> 'begun' AND process <> ? ORDER BY serial DESC LIMIT 1",
    ),
    alikeAt: database.prepare(
      `SELECT max(at) AS at FROM creates WHERE thing = ? AND outcome <> 'begun' AND serial > ? AND process <> ?
        AND (owner = '' OR owner <> ?)`,
    ),
    removeOld: database.prepare("DELETE FROM creates WHERE at < ?"),
  };
}

type Statements = ReturnType<typeof prepare>;

export interface CreateTurnsOptions {
  readonly clock: Clock;
  readonly isResettable?: boolean;
  /** A new file removes those beside it that nobody has used for so long. */
  readonly unusedMs?: number | undefined;
  /** Called once, with what went wrong, when this process has to go on without turns. */
  onAlone(reason: unknown): void;
  /** Called once for each wait, when another process keeps this one waiting. */
  readonly onWaiting?: (() => void) | undefined;
}

/** A row of a create without an answer: what it is, or its likeness. */
interface Begun {
  readonly serial: number;
  readonly note: readonly [owner: string, thing: string, at: number];
}

/** The rows of others in an open file. They add none while this process has the turn. */
interface Others {
  readonly of: Statements | undefined;
  /** The highest serial of those up to `until`; 0: there is none. */
  readonly last: number;
  readonly until: number;
}

const NOTHING_KNOWN: Others = { of: undefined, last: 0, until: 0 };

/**
 * Turns by a lock that the system frees when its holder ends, however it ends (`FILE.lock`), and a small database of what was
 * begun (`FILE`). No clock decides. Where the files cannot be used, creates go on without them, with one warning.
 *
 * How a create ended is written down with the next one that begins, and at the latest before the others have the turn: nobody
 * asks for it earlier. If this process is killed before that, the create counts as one without an answer.
 */
export class SharedCreateTurns implements CreateTurns {
  readonly isResettable: boolean | undefined;
  readonly #file: DatabaseFile<Statements>;
  readonly #turns: TurnLock;
  readonly #place: string;
  readonly #options: CreateTurnsOptions;
  /** This process, as none of the others is called. */
  readonly #who = randomUUID();
  #alone = false;
  /** As it was when this process last took the turn, if it has asked: its own rows are not read again. */
  #known = NOTHING_KNOWN;
  #hasAsked = false;
  /** How creates ended, as far as it is not written down. */
  #ended: (Begun & { readonly outcome: "made" | "nothing" })[] = [];

  /** @param place the database file. */
  constructor(place: string, options: CreateTurnsOptions) {
    this.isResettable = options.isResettable;
    this.#place = place;
    this.#options = options;
    this.#file = new DatabaseFile(() => place, {
      applicationId: 0x4846_4354,
      schema: SCHEMA,
      pragmas: PRAGMAS,
      prepare,
      onOpen: ({ removeOld }, isNew): undefined => {
        removeOld.run(options.clock.now() - KEPT_MS);
        if (isNew) removeUnused(path.dirname(place), options.unusedMs);
      },
    });
    // The database first: it makes the folder.
    const take = (lock: string) =>
      this.#shared<FileLock | "free" | undefined>("free", () => this.#file.use(() => takeFileLock(lock)));
    this.#turns = new TurnLock(place, {
      clock: options.clock,
      take,
      onTaken: () => {
        this.#hasAsked = false;
      },
      beforeFree: () => this.#settle(),
      onFailure: (error) =>
        this.#shared(undefined, () => {
          throw error;
        }),
      onWaiting: options.onWaiting,
    });
  }

  count(): number {
    // A run that only reads creates no file.
    return this.#shared(0, () => (existsSync(this.#place) ? this.#file.use(countOf) : 0));
  }

  run<T>(work: (turn: CreateTurn) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#turns.run(() => work(this.#turn()), signal);
  }

  close(): void {
    this.#settle();
    this.#file.close();
  }

  #turn(): CreateTurn {
    let begun: readonly Begun[] = [];
    const end = (outcome: "made" | "nothing") => {
      for (const one of begun) this.#ended.push({ ...one, outcome });
      begun = [];
    };
    return {
      others: (since, owner) => this.#othersSince(since, owner),
      // Most often no other process has created anything: then it is not asked for one thing either.
      earlier: (of, since) => (this.#others().last > 0 ? this.#earlier(of, since) : undefined),
      alikeAt: (of, since) => (this.#others().last > 0 ? this.#alikeAt(of, since) : undefined),
      begin: ({ owner, thing, likeness }, at) => {
        const names = likeness === undefined ? [thing] : [thing, likeness];
        const own = this.#digest(owner);
        const notes = names.map((name) => [own, this.#digest(name), at] as const);
        end("nothing");
        const added = this.#writeEnded(({ add }) =>
          notes.map((note) => ({ serial: Number(add.run(this.#who, ...note, "begun").lastInsertRowid), note })),
        );
        begun = added ?? [];
      },
      end,
    };
  }

  #settle(): void {
    if (this.#ended.length > 0) this.#writeEnded(() => {});
  }

  /** Writes down how creates ended, and does something more in the same step for all processes. */
  #writeEnded<T>(more: (statements: Statements) => T): T | undefined {
    const result = this.#change((statements) => {
      // New serials: a run that read a list while it was under way sees that something came of it.
      for (const { serial, note, outcome } of this.#ended) {
        statements.remove.run(serial);
        if (outcome === "made") statements.add.run(this.#who, ...note, outcome);
      }
      return more(statements);
    });
    this.#ended = [];
    return result;
  }

  #othersSince(since: number, owner: string): OtherCreates {
    const { last, until } = this.#others();
    if (this.#alone) return { changed: false, unknownAt: undefined };
    // A count smaller than before is that of another file.
    const changed = last > since || (since > until && this.count() < since);
    const at = last > 0 && this.#read(({ unknownAt }) => unknownAt.get(this.#who, this.#digest(owner))?.at);
    return { changed, unknownAt: typeof at === "number" ? at : undefined };
  }

  /** Asks once for each time that this process has the turn. */
  #others(): Others {
    if (this.#hasAsked) return this.#known;
    this.#hasAsked = true;
    // This process has the turn: what others began and did not end got no answer, or they died before it came.
    if (this.#read(({ left }) => left.get(this.#who)) !== undefined)
      this.#change((statements) => this.#markUnknown(statements));
    this.#read((of) => {
      const { until, last } = this.#known.of === of ? this.#known : NOTHING_KNOWN;
      const newest = of.lastOfOthers.get(until, this.#who)?.last;
      this.#known = { of, until: countOf(of), last: Number(newest ?? last) };
    });
    return this.#known;
  }

  #markUnknown({ left, remove, add }: Statements): void {
    for (const { serial, process, owner, thing, at } of left.all(this.#who)) {
      remove.run(Number(serial));
      add.run(String(process), String(owner), String(thing), Number(at), "unknown");
    }
  }

  #earlier(of: CreateNote, since: number): EarlierCreate | undefined {
    const [own, thing] = [this.#digest(of.owner), this.#digest(of.thing)];
    const row = thing === "" ? undefined : this.#read(({ earlier }) => earlier.get(thing, this.#who));
    if (row === undefined) return undefined;
    const { serial, at, owner, outcome } = row;
    return {
      at: Number(at),
      outcome: outcome === "made" ? "made" : "unknown",
      isOwn: own !== "" && owner === own,
      isNew: Number(serial) > since,
    };
  }

  #alikeAt({ owner, likeness = "" }: CreateNote, since: number): number | undefined {
    const [own, like] = [this.#digest(owner), this.#digest(likeness)];
    const at = like && this.#read(({ alikeAt }) => alikeAt.get(like, since, this.#who, own)?.at);
    return typeof at === "number" ? at : undefined;
  }

  /** A name that does not show what it stands for. */
  #digest(text: string): string {
    if (text === "") return "";
    return hash("sha256", `${path.basename(this.#place)}\n${text}`);
  }

  /** For one statement: nobody else writes while this process has the turn. */
  #read<T>(action: (statements: Statements) => T): T | undefined {
    return this.#shared(undefined, () => this.#file.use(action));
  }

  #change<T>(action: (statements: Statements) => T): T | undefined {
    return this.#shared(undefined, () => this.#file.change(action));
  }

  /** Uses the files; once they cannot be used, this process goes on alone. */
  #shared<T>(otherwise: T, action: () => T): T {
    if (this.#alone) return otherwise;
    try {
      return action();
    } catch (error) {
      this.#alone = true;
      this.#options.onAlone(error);
      return otherwise;
    }
  }
}

const countOf = ({ count }: Statements): number => Number(count.get()?.seq ?? 0);

/** What {@link createTurnsFor} needs to know. */
interface CreateTurnsPlace extends LedgerOptions {
  readonly clock?: Clock | undefined;
}

/**
 * The turns of this token at this address, in the user's state folder. Undefined with `HOSTFORM_LEDGER=memory`, and where no
 * home folder is known, which the ledger reports. No file is touched before something is created.
 * @throws HostformError provider.base_url.
 */
export function createTurnsFor({ clock, ...options }: CreateTurnsPlace): CreateTurns | undefined {
  const { folder, place, isLoopback, isSandbox, unusedMs } = accountFile(options, "creates");
  if (options.env.HOSTFORM_LEDGER === "memory" || folder === undefined || place === undefined) return undefined;
  return new SharedCreateTurns(place(), {
    clock: clock ?? systemClock,
    isResettable: isLoopback,
    unusedMs: isSandbox ? unusedMs : undefined,
    onAlone: (reason) => (isSandbox ? undefined : options.onWarning?.(alone(folder, reason))),
    onWaiting: () => options.onWarning?.(WAITING),
  });
}

/** Reports the first warning of each code: both ledger and turns find out that files cannot be used. */
export function oncePerCode(report: ((warning: Diagnostic) => void) | undefined): (warning: Diagnostic) => void {
  const said = new Set<string>();
  return (warning) => {
    if (said.has(warning.code)) return;
    said.add(warning.code);
    report?.(warning);
  };
}

const WAITING: Diagnostic = {
  severity: "warning",
  code: "provider.ledger",
  summary: "Waiting for another process on this machine that creates something with this token",
  detail:
    "The processes of a machine create in turns with one token, so that two runs do not create the same object twice.",
  remedies: ["Wait for it, or end it if it hangs."],
};

function alone(folder: string, reason: unknown): Diagnostic {
  return warningOf("provider.ledger", "This process does not create in turns with others", {
    detail: `${folder}: ${messageOf(reason)}. Another run on this machine with this token and another state may create the same object at the same time.`,
    remedies: ["Set HOSTFORM_STATE_HOME to a folder that you may write in."],
  });
}
