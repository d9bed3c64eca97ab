// The create lock of a token, stored as one row: its holder, its epoch, and the waiting process.
import path from "node:path";
import { exists } from "../files/file-system.ts";
import { attempt, type Clock, hasCode } from "../model/index.ts";
import type { Turn, TurnRequest } from "./account-store.ts";
import { PATIENCE_MS } from "./database-file.ts";
import { beginSign, type EndSign, isRunning, lockingPid, processMark, signIn, takeEndedSign } from "./file-lock.ts";
import { countOf, type StoreStatements } from "./store-file.ts";
import type { Blocker, TurnRow } from "./turn-queue.ts";

/** Parts of the store for the create lock. */
interface TurnStore {
  readonly account: string;
  /** Unique id of this process. */
  readonly process: string;
  readonly clock: Clock;
  /** Path of the store. */
  place(): string;
  digest(text: string): string;
  /** Runs one transaction. Returns undefined if the file is unusable. @param patienceMs longest wait for a busy file, in milliseconds. */
  change<T>(action: (statements: StoreStatements) => T, patienceMs?: number): Promise<T | undefined>;
  read<T>(action: (statements: StoreStatements) => T, patienceMs?: number): Promise<T | undefined>;
}

/** Create lock of a process without a usable file. Other processes are unknown. */
const ALONE: Turn = { epoch: 0, isNewerThan: () => false };

interface Others {
  readonly of: StoreStatements | undefined;
  readonly last: number;
  readonly until: number;
}

export class SharedTurn implements TurnRow {
  readonly #of: TurnStore;
  readonly #mark = processMark();
  /** Ends the heartbeat of this process. The first create lock begins the heartbeat. */
  #endSign: EndSign | undefined;
  /** Highest serial of another process, up to the serial `until`. Older rows are not read again. */
  #others: Others = { of: undefined, last: 0, until: 0 };
  /** Beginning of the wait for the file, in milliseconds since the epoch. */
  #fileSince: number | undefined;
  /** Last read count. A higher count comes from a file that was later replaced. */
  counted = 0;

  constructor(of: TurnStore) {
    this.#of = of;
  }

  /** Returns true if another process has recorded a create, and before the first create lock. False saves a query. */
  get hasOthers(): boolean {
    return this.#others.of === undefined || this.#others.last > 0;
  }

  /** Returns the holder of the create lock if it still runs. */
  holder({ turn }: StoreStatements): string | undefined {
    const row = turn.get(this.#of.account);
    return this.#isAlive(row?.process, row?.mark) ? String(row?.process) : undefined;
  }

  async isAwaited(): Promise<boolean> {
    return (await this.#of.read((statements) => this.#isAwaited(statements))) ?? false;
  }

  async withdraw(patienceMs = 0): Promise<void> {
    await this.#of.change(({ release, dropNext }) => {
      release.run(this.#of.account, this.#of.process);
      dropNext.run(this.#of.account, this.#of.process);
    }, patienceMs);
  }

  /** Releases the create lock if an earlier release failed, and ends the heartbeat. */
  async close(): Promise<void> {
    if (this.#endSign === undefined) return;
    await this.withdraw(PATIENCE_MS).catch(() => {});
    attempt(this.#endSign, () => {});
    this.#endSign = undefined;
  }

  async take(request: TurnRequest, frozen?: string): Promise<Turn | Blocker> {
    const now = this.#of.clock.now();
    this.#endSign ??= attempt(
      () => beginSign(this.#signOf(this.#of.process)),
      () => undefined,
    );
    let answer: Turn | Blocker | undefined;
    try {
      answer = await this.#of.change((statements) => this.#takeRow(statements, request, now, frozen), 0);
    } catch (error) {
      if (!hasCode(error, "store.busy")) throw error;
      return this.#holderOfFile(now);
    }
    this.#fileSince = undefined;
    return answer ?? ALONE;
  }

  #takeRow(statements: StoreStatements, { project, place }: TurnRequest, now: number, frozen?: string): Turn | Blocker {
    const { turn, setNext, putTurn } = statements;
    const row = turn.get(this.#of.account);
    const isHeld = row?.process !== this.#of.process && this.#isAlive(row?.process, row?.mark);
    const blocker = isHeld && row ? holderIn(row) : undefined;
    const isTakenOver = blocker !== undefined && blocker.sign === frozen;
    if (blocker !== undefined && !isTakenOver) {
      if (!this.#isAlive(row?.next, row?.next_mark)) setNext.run(this.#of.process, this.#mark, this.#of.account);
      return blocker;
    }
    const next =
      row === undefined || row.next === this.#of.process ? [null, null] : [row.next ?? null, row.next_mark ?? null];
    const epoch = Number(row?.epoch ?? 0) + 1;
    const owner = [this.#of.process, process.pid, this.#mark, project, this.#of.digest(place), now, now];
    putTurn.run(this.#of.account, ...owner, epoch, ...next);
    statements.markUnknown.run(this.#of.account, this.#of.process);
    return { ...this.#turn(statements, epoch), isTakenOver };
  }

  /** Returns the process with the open transaction, by the system or by the row of the create lock. */
  async #holderOfFile(now: number): Promise<Blocker> {
    this.#fileSince ??= now;
    const file = this.#of.place();
    const row = await this.#of.read(({ turn }) => turn.get(this.#of.account), 0).catch(() => undefined);
    const pid = lockingPid(file) ?? (this.#isAlive(row?.process, row?.mark) ? Number(row?.pid) : 0);
    const project = row?.pid === pid ? String(row.project) : "";
    return { pid, project, since: this.#fileSince, file, who: "file", sign: String(pid) };
  }

  async release(): Promise<boolean> {
    const isAwaited = await this.#of.change((statements) => {
      statements.release.run(this.#of.account, this.#of.process);
      return this.#isAwaited(statements);
    });
    return isAwaited ?? false;
  }

  async beat({ epoch }: Turn): Promise<void> {
    await this.#of.change(({ progress }) => progress.run(this.#of.clock.now(), this.#of.account, epoch), 0);
  }

  #signOf = (process: string): string => signIn(path.join(path.dirname(this.#of.place()), "locks"), process);

  /** Returns true while a process lives. A process in another container has no number here, but it locks its heartbeat file. */
  #isAlive(process: unknown, mark: unknown): boolean {
    if (process == null) return false;
    if (isRunning(String(mark))) return true;
    const sign = this.#signOf(String(process));
    if (!exists(sign)) return false;
    const ended = takeEndedSign(sign);
    ended?.free();
    return ended === undefined;
  }

  #isAwaited({ turn }: StoreStatements): boolean {
    const row = turn.get(this.#of.account);
    return row?.next != null && row.next !== this.#of.process && this.#isAlive(row.next, row.next_mark);
  }

  #turn(of: StoreStatements, epoch: number): Turn {
    const { until, last } = this.#others.of === of ? this.#others : { until: 0, last: 0 };
    const newest = Number(of.lastOfOthers.get(until, this.#of.account, this.#of.process)?.last ?? last);
    this.#others = { of, until: countOf(of), last: newest };
    this.counted = this.#others.until;
    return { epoch, isNewerThan: (count) => newest > count || count > this.counted };
  }
}

/** Returns the holder of the create lock for other processes. */
const holderIn = (row: Readonly<Record<string, unknown>>): Blocker => ({
  // The number of a process in another container is unknown here.
  pid: isRunning(String(row.mark)) ? Number(row.pid) : 0,
  project: String(row.project),
  since: Number(row.since),
  who: String(row.process),
  sign: `${row.epoch} ${row.progress}`,
});
