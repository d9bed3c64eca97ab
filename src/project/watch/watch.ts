/** The loop of `watch`: when it is time, or an event names something, reconcile; report what is new; wait. */
import { hash } from "node:crypto";
import { type EventSubject, kinds } from "../../core/kinds/index.ts";
import {
  type ApplyResult,
  type Clock,
  type Diagnostic,
  type FailOn,
  fail,
  HostformError,
  holding,
  isError,
  isFulfilled,
  isNoOp,
  type Plan,
} from "../../core/model/index.ts";
import { doneChanges, type MoneyScale } from "../../report/index.ts";
import type { GuardFlags } from "../guards.ts";
import type { Project } from "../project.ts";
import { forStack } from "../stack-diagnostics.ts";
import { chooseStacks, sourceOn } from "../stacks/choose.ts";
import { type Contended, Contention, conclusion, Memory, type News } from "./memory.ts";
import { errorsOf, type ReconcileOptions, type Reconciliation, reconcileOnce } from "./reconcile.ts";
import { Hints, type LookKind, namedBy, Schedule } from "./schedule.ts";

interface WatchOptions {
  /** Milliseconds from the end of a look at everything to the next one. */
  readonly intervalMs: number;
  readonly autoApprove: boolean;
  readonly guards: GuardFlags;
  /** Ends after so many looks; absent: with Ctrl-C. */
  readonly maxRuns?: number;
}

/** One look, as it is reported. */
export interface WatchReport {
  readonly look: number;
  readonly events: readonly string[];
  /** None: everything. */
  readonly targets: readonly string[];
}

/** What shows a watch to people or programs: each call is one thing that has happened. Times are milliseconds. */
export interface WatchReporter {
  /** A verified event has come. */
  event(hint: EventSubject): void;
  /** Events that name nothing of this project. */
  strangers(hints: readonly EventSubject[]): void;
  reloading(): void;
  /** The wall clock is set to another time than the one that has passed. @param ms negative: it was set back. */
  stepped(ms: number): void;
  settling(): void;
  /** @param why the end of a sentence: what that shows. */
  contended(contended: Contended, heldMs: number, why: string): void;
  began(report: WatchReport): void;
  /** What is new in a plan, before anything of it is done. @returns whether anything is. */
  plan(plan: Plan, news: News, report: WatchReport, moneyScale: MoneyScale): boolean;
  /** Runs an apply and shows its progress. */
  applying: ReconcileOptions["applying"];
  applied(plan: Plan, result: ApplyResult, moneyScale: MoneyScale): void;
  /** @param news whether it had any. @param nextMs undefined: there is no next one. */
  ended(report: WatchReport, look: Reconciliation, news: boolean, nextMs: number | undefined): void;
  /** A look that could not be made, or not to its end. */
  failed(report: WatchReport, diagnostics: readonly Diagnostic[], news: boolean, nextMs: number | undefined): void;
  stopped(looks: number, reason: "interrupted" | "max_runs"): void;
}

/** What can be over by the next look, and so is no reason not to begin. All else that fails the first look ends the command. */
const PASSING: ReadonlySet<string> = new Set([
  "api.unreachable",
  "api.timeout",
  "api.server",
  "api.rate_limited",
  "state.locked",
]);

/** The wall clock was set, or the machine slept, if it differs by so much from the time that has passed. */
const STEP_MS = 5_000;
/** A step of the clock is noticed within this time. */
const MOST_SLEEP_MS = 60_000;

/** The loop: when it is time, or an event has named something, look; report what is new; wait. */
export class Watch {
  readonly #project: Project;
  readonly #options: WatchOptions;
  readonly #reporter: WatchReporter;
  readonly #stop: AbortSignal;
  readonly #schedule: Schedule;
  readonly #settled: ReturnType<typeof settledDeclaration>;
  readonly #hints = new Hints();
  readonly #memory = new Memory();
  readonly #contention = new Contention();
  /** Ends the present wait. */
  #wake = new AbortController();
  /** A look at everything is wanted as soon as this one has ended. */
  #reloading = false;
  #looks = 0;
  /** Something declared is not made, or a create has no known outcome: an event about an unknown id may be about it. */
  #open = true;
  /** Invoices exceeded a limit on spending: nothing more is ordered, however little a later look alone would. */
  #spent = false;
  /** The last look ended as an `apply` that succeeds does: what only a person may order again is not in its plan. */
  #good = true;

  /** Conditions at the end of the last whole check, or of a later one. */
  #holds: ReadonlySet<FailOn> = new Set();

  /** Milliseconds of the wall clock at the beginning of the monotonic one, as they were last. */
  #ahead: number | undefined;
  /** Ctrl-C came during an apply, and not all of it was done. */
  #cut = false;

  /** @param stop aborted by Ctrl-C. */
  constructor(project: Project, options: WatchOptions, reporter: WatchReporter, stop: AbortSignal) {
    this.#project = project;
    this.#options = options;
    this.#reporter = reporter;
    this.#stop = stop;
    this.#schedule = new Schedule(options.intervalMs, this.#now);
    this.#settled = settledDeclaration(() => this.#readAgain(), project.host.clock);
  }

  /** A verified event has come. Quick, and safe at any time: what it leads to happens in the loop. */
  hint(hint: EventSubject): void {
    this.#reporter.event(hint);
    this.#hints.add(hint);
    this.#schedule.hint(this.#now);
    this.#wake.abort();
  }

  /** The declaration has changed, as its deployment says: a look at everything comes at once, or after the present one. */
  reload(): void {
    this.#reporter.reloading();
    this.#reloading = true;
    this.#wake.abort();
  }

  get holds(): ReadonlySet<FailOn> {
    return this.#holds;
  }

  /**
   * Looks until it is stopped.
   * @returns the exit code.
   * @throws HostformError what fails the first look, if waiting will not mend it.
   */
  async run(): Promise<number> {
    const { maxRuns = Number.POSITIVE_INFINITY } = this.#options;
    while (!this.#stop.aborted && this.#looks < maxRuns) {
      this.#noticeStep();
      if (this.#reloading) this.#schedule.widen(this.#now);
      this.#reloading = false;
      const { kind, at } = this.#schedule.next();
      if (at > this.#now) await this.#wait(at - this.#now);
      else await this.#turn(kind);
    }
    const interrupted = this.#stop.aborted;
    this.#reporter.stopped(this.#looks, interrupted ? "interrupted" : "max_runs");
    return (interrupted ? !this.#cut : this.#good) ? 0 : 1;
  }

  async #wait(ms: number): Promise<void> {
    this.#wake = new AbortController();
    const ended = AbortSignal.any([this.#stop, this.#wake.signal]);
    await this.#project.host.clock.sleep(Math.min(ms, MOST_SLEEP_MS), ended).catch((error: unknown) => {
      if (!ended.aborted) throw error;
    });
  }

  /** A look, unless all that has come is about something else. */
  async #turn(kind: LookKind): Promise<void> {
    this.#schedule.covered();
    const { hints, overflown } = this.#hints.take();
    const report = { look: this.#looks + 1, events: [...new Set(hints.map(({ event }) => event))], targets: [] };
    try {
      if (kind === "whole" || overflown) return await this.#look(report);
      // As it is now: another process may have recorded what an event names.
      const recorded = await (await this.#readAgain()).state.read(false);
      const { targets, everything, strangers } = namedBy(hints, recorded, kinds, this.#open);
      this.#reporter.strangers(strangers);
      if (everything || targets.length > 0) await this.#look({ ...report, targets });
      else this.#schedule.idle(this.#now);
    } catch (error) {
      this.#failed(kind, report, error);
    }
  }

  async #look(report: WatchReport): Promise<void> {
    const { autoApprove, guards } = this.#options;
    const own = autoApprove
      ? await this.#settled(this.#stop, () => this.#reporter.settling())
      : await this.#readAgain();
    this.#reporter.began(report);
    let news = false;
    const look = await reconcileOnce(own, {
      targets: report.targets,
      autoApprove,
      guards: this.#spent ? { ...guards, maxOrders: 0 } : guards,
      onPlan: (plan, moneyScale) => {
        news = this.#reporter.plan(plan, this.#memory.compare(plan, report.targets), report, moneyScale);
      },
      applying: (plan, stop, work) => this.#reporter.applying(plan, stop, work),
    });
    if (this.#reportOutcome(look)) news = true;
    this.#note(look, report);
    this.#noteContention(look);
    this.#reporter.ended(report, look, news, this.#untilNext());
  }

  /** @returns whether a plan was applied with another outcome than at the look before. */
  #reportOutcome({ plan, result, end, moneyScale }: Reconciliation): boolean {
    if (result === undefined || end === "as_declared") return false;
    const done = doneChanges(plan, result).map(({ address }) => address);
    this.#memory.made(done);
    const isNew = this.#memory.isNew("outcome", errorsOf(result)) || done.length > 0;
    if (isNew) this.#reporter.applied(plan, result, moneyScale);
    return isNew;
  }

  /** What follows from a look for the next ones. */
  #note({ plan, end, result, requests, perMinute }: Reconciliation, { look, targets }: WatchReport): void {
    this.#looks = look;
    const holds = holding(plan, end === "applied" || end === "as_declared" ? result : undefined);
    this.#holds = targets.length === 0 ? holds : new Set([...this.#holds, ...holds]);
    if (result?.diagnostics.some((each) => each.code === "guard.spend" && isError(each))) this.#spent = true;
    this.#cut = end === "incomplete" && result?.interrupted === true;
    this.#good = ["as_declared", "differs", "applied"].includes(end) && plan.pending.length === 0;
    const kind = targets.length === 0 ? "whole" : "hinted";
    // A status that is not understood is not mended by waiting: somebody has to say what it means.
    const failed = end === "incomplete" && !(result && isFulfilled({ ...result, unfulfilled: [], held: [] }));
    const outcome = failed ? "troubled" : "ended";
    this.#schedule.ended({ kind, at: this.#now, requests, perMinute, outcome });
    if (end === "widened") this.#schedule.widen(this.#now);
    if (kind === "hinted") return;
    const isMade = end === "applied" || end === "as_declared";
    const creates = plan.changes.some(({ actions }) => actions.includes("create"));
    this.#open = plan.pending.length > 0 || end === "refused" || (creates && !isMade);
  }

  #noteContention({ plan, result }: Reconciliation): void {
    if (result === undefined) return;
    const changed = doneChanges(plan, result).filter((change) => !isNoOp(change));
    const contended = this.#contention.note(
      changed.map(({ address }) => address),
      this.#now,
    );
    if (contended === undefined) return;
    const heldMs = this.#schedule.contended(this.#now, contended.times);
    const again = changed.filter(({ address }) => contended.addresses.includes(address));
    this.#reporter.contended(contended, heldMs, conclusion(again));
  }

  #failed(kind: LookKind, report: WatchReport, error: unknown): void {
    // Ctrl-C ended it, which nobody needs to know.
    if (this.#stop.aborted) return;
    if (!(error instanceof HostformError)) throw error;
    if (report.look === 1 && !error.diagnostics.every(({ code }) => PASSING.has(code))) throw error;
    const diagnostics = forStack(this.#project.source, error.diagnostics);
    this.#looks = report.look;
    this.#good = false;
    // What a person has to mend is not mended any later for being looked at; only the API is spared.
    const outcome = kind === "hinted" || diagnostics.some(({ code }) => code.startsWith("api.")) ? "failed" : "ended";
    this.#schedule.ended({ kind, at: this.#now, requests: 0, perMinute: 60, outcome });
    this.#reporter.failed(report, diagnostics, this.#memory.isNew("failure", diagnostics), this.#untilNext());
  }

  /** The declaration as it is now: a project of its own, as each reads its declaration once. */
  async #readAgain(): Promise<Project> {
    const project = this.#project;
    const { stack } = project.source;
    if (stack === undefined) return project.on(project.source);
    const { purpose, options, source: at, language } = stack.run;
    // The stack is in the project's folder, not the other way round: its secrets may be written anywhere in that.
    const source = { ...project.source, dir: stack.run.project };
    const wanted = { only: [stack.name], variables: options, language };
    const { stacks, run } = await chooseStacks(source, at, wanted, purpose);
    const [only] = stacks;
    return project.on(only === undefined ? project.source : await sourceOn(source, only, run));
  }

  /** Milliseconds; undefined when this was the last look. */
  #untilNext(): number | undefined {
    const { maxRuns } = this.#options;
    if (this.#stop.aborted || this.#looks === maxRuns) return undefined;
    return Math.max(0, this.#schedule.next().at - this.#now);
  }

  /** Reports a step of the wall clock. After a step forward the machine may have slept: a look at everything is due. */
  #noticeStep(): void {
    const { clock } = this.#project.host;
    const ahead = clock.now() - clock.monotonic();
    const stepMs = ahead - (this.#ahead ?? ahead);
    this.#ahead = ahead;
    if (Math.abs(stepMs) < STEP_MS) return;
    this.#reporter.stepped(stepMs);
    if (stepMs > 0) this.#schedule.widen(this.#now);
  }

  /** Monotonic: no interval depends on what somebody sets the clock to. */
  get #now(): number {
    return this.#project.host.clock.monotonic();
  }
}

/** How long a declaration has to stay the same before it is acted upon. */
const SETTLE_MS = 3_000;
/** A declaration that changes this often in succession is written by something that does not stop. */
const MOST_READINGS = 12;

/**
 * Reads the declaration, look after look, and holds back what is being written just now: half of a file that an editor or a
 * checkout is writing can be valid, and would mean that the other half is to be removed.
 * @returns the declaration, once it has stayed the same for {@link SETTLE_MS}, if it differs from what was read last time.
 * @throws HostformError with the mistakes in it; `config.unreadable` when it does not stop changing.
 */
function settledDeclaration(again: () => Promise<Project>, clock: Clock) {
  let known = "";
  const read = async () => {
    const own = await again();
    const { desired } = await own.declaration.load();
    // What a stack's expressions mean stands in its files and variables, not in what is shown of them.
    return { own, digest: digestOf([desired, own.source.stack?.files, own.source.stack?.given]) };
  };
  return async (signal: AbortSignal, onWait: () => void): Promise<Project> => {
    let { own, digest } = await read();
    for (let readings = 0; digest !== known; readings++) {
      if (readings === 0) onWait();
      if (readings === MOST_READINGS) {
        fail("config.unreadable", "The declaration keeps changing, and was not applied", {
          detail: `It was different at each of ${MOST_READINGS} readings.`,
          remedies: ["Find out what keeps writing it; if a template makes it, write it once."],
        });
      }
      await clock.sleep(SETTLE_MS, signal);
      const next = await read();
      if (next.digest === digest) known = digest;
      ({ own, digest } = next);
    }
    return own;
  };
}

/** The same for two declarations that were written alike. */
function digestOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return hash("sha256", text);
}
