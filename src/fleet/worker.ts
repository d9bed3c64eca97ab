// A worker of a fleet: takes checks from the queue, plans each project, applies it, and records the result and the next check.
import { hash } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { read } from "../core/files/index.ts";
import { type Clock, type Diagnostic, type EnvVars, type FailOn, ifErrno, ifExplained } from "../core/model/index.ts";
import type { LoadOptions, WorkOptions } from "../project/library.ts";
import type { FleetProject } from "../report/index.ts";
import { type Fleet, readFleet } from "./declaration.ts";
import { type Member, memberAt, type Seat, seats, templatesOf } from "./members.ts";
import { troubleOf } from "./messages.ts";
import { applied, failedProject, load, type Ready, summaryOf, wavesOf, workOn } from "./once.ts";
import type { Cause, Check, NextCheck, Queue } from "./queue.ts";
import type { Recorded, Records } from "./records.ts";

export interface WorkerOptions {
  readonly env: EnvVars;
  readonly clock: Clock;
  /** Ends the worker, as Ctrl-C does. */
  readonly signal: AbortSignal;
  /** Cancels requests in progress, as the second Ctrl-C does. */
  readonly now: AbortSignal;
  readonly autoApprove: boolean;
  /** Called after each check. */
  onChecked(project: FleetProject, cause: Cause): void;
  /** Called for errors outside of a check. The worker goes on. */
  onTrouble(trouble: readonly Diagnostic[]): void;
}

/** The fleet as this worker read it last. */
interface Roster {
  readonly fleet: Fleet;
  readonly seats: ReadonlyMap<string, Seat>;
  readonly waves: readonly (readonly Seat[])[];
  readonly shared: LoadOptions;
  /** Digest of `fleet.yaml` and its templates. */
  readonly version: string;
  /** Monotonic time in milliseconds. */
  readonly at: number;
}

/** Part of the interval after which a check is due, so that it can end within the interval. */
const DUE = 0.8;
/** Longest pause after failures, in milliseconds. A longer interval takes precedence. */
const MOST_PAUSE_MS = 3_600_000;
/** Pause between two readings of `fleet.yaml`, in milliseconds. */
const REREAD_MS = 60_000;

export class FleetWorker {
  readonly #queue: Queue;
  readonly #records: Records;
  readonly #options: WorkerOptions;
  readonly #name = `${hostname()}:${process.pid}`;
  #roster: Roster;
  /** Last reading of `fleet.yaml`. Readings share checkouts, so they follow one after another. */
  #reading: Promise<unknown> = Promise.resolve();
  #wake = new AbortController();
  #running = 0;
  /** Last check of each checkout. One checkout has the files of one commit, so its projects are checked one after another. */
  readonly #checkouts = new Map<string, Promise<unknown>>();

  private constructor(queue: Queue, records: Records, roster: Roster, options: WorkerOptions) {
    this.#queue = queue;
    this.#records = records;
    this.#roster = roster;
    this.#options = options;
  }

  /** Reads the fleet. @throws HostformError for mistakes in `fleet.yaml`. */
  static async open(fleet: Fleet, queue: Queue, records: Records, options: WorkerOptions): Promise<FleetWorker> {
    return new FleetWorker(queue, records, await rosterOf(fleet, options), options);
  }

  /** Checks the projects until the signal. Running checks end first. */
  async run(): Promise<void> {
    const { signal, clock, onTrouble } = this.#options;
    await this.#schedule();
    await this.#queue.work(this.#roster.fleet.parallelism, async (check, account) => {
      this.#running += 1;
      await this.#check(check, account).finally(() => {
        this.#running -= 1;
      });
    });
    while (!signal.aborted) {
      const isReload = this.#wake.signal.aborted;
      if (!isReload) await clock.sleep(REREAD_MS, AbortSignal.any([signal, this.#wake.signal])).catch(() => undefined);
      if (isReload) this.#wake = new AbortController();
      if (!signal.aborted) await this.#current(isReload).catch((error) => onTrouble(troubleOf(error)));
    }
  }

  /** Number of running checks. */
  get running(): number {
    return this.#running;
  }

  /** Checks all projects soon. */
  reload(): void {
    this.#wake.abort();
  }

  /** Returns the entry of a project. */
  entryOf(project: string): Seat["entry"] | undefined {
    return this.#roster.seats.get(project)?.entry;
  }

  get fleet(): Fleet {
    return this.#roster.fleet;
  }

  /**
   * Reads `fleet.yaml` again. Finds and schedules the projects again if the file changed.
   * @param isReload true: checks all projects soon. False: also finds the projects again once in an interval.
   */
  #current(isReload?: boolean): Promise<Roster> {
    const reading = this.#reading.then(async () => {
      const { fleet, shared, version, at } = this.#roster;
      const now = await readFleet(fleet.file, fleet.file);
      const isOld = isReload !== undefined && this.#options.clock.monotonic() - at >= fleet.interval;
      if (isReload || isOld || (await versionOf(now, shared.templates)) !== version) {
        this.#roster = await rosterOf(now, this.#options);
        await this.#schedule(isReload);
      }
      return this.#roster;
    });
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** Gives each project a check: now after a change of the fleet, otherwise when it is due. @param isReload now in any case. */
  async #schedule(isReload = false): Promise<void> {
    const { seats, version, fleet } = this.#roster;
    const known = new Map((await this.#records.read()).map((one) => [one.project, one]));
    const later: NextCheck[] = [];
    for (const project of seats.keys()) {
      const last = known.get(project);
      const next = { project, account: last?.account };
      const seconds = Math.max(0, (fleet.interval * DUE) / 1000 - (last?.age ?? Number.POSITIVE_INFINITY));
      if (isReload || (last && last.version !== version)) await this.#queue.now({ ...next, cause: "reload" });
      else later.push({ ...next, cause: "schedule", seconds });
    }
    await this.#queue.later(later);
  }

  async #check(check: Check, group: string | undefined): Promise<void> {
    const roster = this.#roster;
    const seat = roster.seats.get(check.project);
    if (seat === undefined) return this.#records.forget(check.project);
    const { git, branch } = seat.entry;
    const work = () => this.#checkOn(roster, seat, check, group);
    if (git === undefined) return work();
    const checkout = `${git} ${branch}`;
    const turn = (this.#checkouts.get(checkout) ?? Promise.resolve()).then(work);
    this.#checkouts.set(
      checkout,
      turn.catch(() => undefined),
    );
    return turn;
  }

  async #checkOn(roster: Roster, seat: Seat, check: Check, group: string | undefined): Promise<void> {
    const { signal, clock, onChecked, onTrouble, autoApprove } = this.#options;
    const begun = clock.monotonic();
    const { project, cause } = check;
    const [before] = await this.#records.read(project);
    let account = group ?? before?.account;
    const look = async (member: Member, run: WorkOptions): Promise<FleetProject | undefined> => {
      const loaded = await load(member, this.#options);
      [account] = await loaded.accounts();
      if (account !== group && check.isGrouped !== true) {
        await this.#queue.now({ ...check, isGrouped: true, account });
        return undefined;
      }
      // The digest precedes the plan. If a file changes between them, the digest is outdated, so the later waves wait.
      const declaration = await loaded.digest();
      const ready = { member, project: loaded, plan: await loaded.plan({ approved: autoApprove, ...run }) };
      const planned = { ...summaryOf(member, ready.plan), declaration };
      const applies = autoApprove && ready.plan.hasChanges && ready.plan.applicable;
      return applies ? this.#apply(roster, ready, planned, run) : planned;
    };
    try {
      const failed = ifExplained(({ diagnostics }) => failedProject({ name: project, commit: undefined }, diagnostics));
      const found = await memberAt(seat, roster.fleet, roster.shared).catch(failed);
      const report =
        found && "options" in found
          ? await workOn(found, { ...this.#options, onWarning: onTrouble }, (run) => look(found, run))
          : found;
      if (report === undefined) return;
      if (signal.aborted && report.result === "failed") return await this.#queue.now({ ...check, account });
      const failures = report.errors.some(({ code }) => isOfHost(code)) ? (before?.failures ?? 0) + 1 : 0;
      const recorded = { project, account, version: roster.version, isGood: isGood(report, roster.fleet), failures };
      const pauseMs = pauseOf(roster.fleet.interval, failures) - (clock.monotonic() - begun);
      const next = { project, account, cause: "schedule" as const, seconds: Math.max(1, pauseMs / 1000) };
      await this.#records.end({ ...recorded, report: { ...report, worker: this.#name } }, next);
      onChecked(report, cause);
    } catch (error) {
      // The queue repeats the check.
      onTrouble(troubleOf(error));
      throw error;
    }
  }

  /** Applies a plan if its wave has begun, the limits of the fleet allow it, and `fleet.yaml` is the file of the plan. */
  async #apply(roster: Roster, ready: Ready, planned: FleetProject, run: WorkOptions): Promise<FleetProject> {
    const { version } = await this.#current();
    if (version !== roster.version) return { ...planned, waits: "a check by the changed fleet.yaml" };
    const digestOf = (seat: Seat) => this.#digestOf(seat, roster).catch(ifExplained(() => undefined));
    const waits = await waitsFor(roster, planned, await this.#records.read(), digestOf);
    if (waits !== undefined) return { ...planned, waits };
    const errors = await this.#records.reserve(roster.fleet, planned);
    if (errors.length > 0) return { ...planned, result: "not_started", errors };
    return { ...planned, ...(await applied(ready, run)) };
  }

  /** Returns the digest of the project's present files. */
  async #digestOf(seat: Seat, { fleet, shared }: Roster): Promise<string | undefined> {
    const member = await memberAt(seat, fleet, shared);
    return member && (await load(member, this.#options)).digest();
  }
}

/** @throws HostformError */
async function rosterOf(fleet: Fleet, { env, clock, onTrouble }: WorkerOptions): Promise<Roster> {
  const templates = await templatesOf(fleet, env);
  const { found, failed } = await seats(fleet, env);
  for (const { errors } of failed) onTrouble(errors);
  return {
    fleet,
    seats: new Map(found.map((one) => [one.name, one])),
    // Entries with errors come first, so that no project moves into an earlier wave.
    waves: wavesOf([...failed.map(({ name }) => ({ name, entry: {} })), ...found], fleet.waves),
    shared: { env, templates },
    version: await versionOf(fleet, templates),
    at: clock.monotonic(),
  };
}

/** Returns the version of a fleet. A file of templates that cannot be read is an error of each project. */
async function versionOf(fleet: Fleet, templates: LoadOptions["templates"]): Promise<string> {
  const text = templates && (await read(templates.file).catch(ifErrno(() => undefined)))?.toString();
  return hash("sha256", JSON.stringify([{ ...fleet, file: "" }, templates?.version, text]));
}

/**
 * Returns the earlier wave that a project waits for: each of its projects needs a good check of the current fleet. A project without a
 * repository needs a check of its present files, and projects that share a repository need the same commit.
 * @param digestOf returns the digest of the project's present files. Undefined if its declaration has errors.
 */
export async function waitsFor(
  { waves, seats, version }: Pick<Roster, "waves" | "seats" | "version">,
  { name, commit }: Pick<FleetProject, "name" | "commit">,
  recorded: readonly Pick<Recorded, "project" | "version" | "isGood" | "report">[],
  digestOf: (seat: Seat) => Promise<string | undefined>,
): Promise<string | undefined> {
  const last = new Map(recorded.map((one) => [one.project, one]));
  const own = seats.get(name)?.entry;
  const isDone = ({ name: earlier, entry }: Seat) => {
    const one = last.get(earlier);
    const isSame = own?.git !== undefined && entry.git === own.git && entry.branch === own.branch;
    return one?.isGood === true && one.version === version && (!isSame || one.report.commit === commit);
  };
  const isPresent = async (seat: Seat) =>
    seat.entry.git !== undefined || (await digestOf(seat)) === (last.get(seat.name)?.report.declaration ?? "");
  const at = waves.findIndex((wave) => wave.some((seat) => seat.name === name));
  for (const [nth, wave] of waves.slice(0, Math.max(0, at)).entries()) {
    let isOpen = !wave.every(isDone);
    for (const seat of wave) isOpen ||= !(await isPresent(seat));
    if (isOpen) return `wave ${nth + 1}`;
  }
  return undefined;
}

const isGood = ({ result, holds }: FleetProject, { stop_on }: Fleet): boolean =>
  ["same", "applied"].includes(result) && !holds.some((name) => stop_on.includes(name as FailOn));

/** Returns true for a failure that may pass without a person. */
const isOfHost = (code: string): boolean => code.startsWith("api.") && code !== "api.unauthenticated";

/** Returns the time from the beginning of a check to the next one. It doubles after each failure of the host but the first. */
export function pauseOf(intervalMs: number, failures: number): number {
  const dueMs = intervalMs * DUE;
  return Math.min(Math.max(dueMs, MOST_PAUSE_MS), dueMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
