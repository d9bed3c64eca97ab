/** Runs a watch: checks after each interval or event, reports news, and waits. */
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
import { Notifier } from "../notify/index.ts";
import type { Project } from "../project.ts";
import { forStack } from "../stack-diagnostics.ts";
import { chooseStacks, sourceOn } from "../stacks/choose.ts";
import { Contact, isAway } from "./contact.ts";
import { type Contended, Contention, conclusion, Memory, type News } from "./memory.ts";
import { errorsOf, isGood, type ReconcileOptions, type Reconciliation, reconcileOnce } from "./reconcile.ts";
import { Hints, type LookKind, namedBy, Schedule } from "./schedule.ts";

interface WatchOptions {
  /** Interval between complete checks, in milliseconds. */
  readonly intervalMs: number;
  readonly autoApprove: boolean;
  readonly guards: GuardFlags;
  /** Time without a response after which the watch reports it, in milliseconds. */
  readonly unreachableMs: number;
  /** Maximum number of checks. Default: unlimited (until Ctrl-C). */
  readonly maxRuns?: number;
}

/** Description of a check for reports. */
export interface WatchReport {
  readonly look: number;
  readonly events: readonly string[];
  /** Addresses of a partial check. */
  readonly targets: readonly string[];
}

/** Reports a watch to a person or a program. Times are in milliseconds. */
export interface WatchReporter {
  /** Reports a verified event. */
  event(hint: EventSubject): void;
  /** Reports events about unknown objects. */
  strangers(hints: readonly EventSubject[]): void;
  reloading(): void;
  /** Reports a change of the wall clock. @param ms Negative if it was set back. */
  stepped(ms: number): void;
  settling(): void;
  /** @param why Cause. Completes a sentence. */
  contended(contended: Contended, heldMs: number, why: string): void;
  began(report: WatchReport): void;
  /** Reports the news of a plan before its apply. @returns true if the plan has news. */
  plan(plan: Plan, news: News, report: WatchReport, moneyScale: MoneyScale): boolean;
  /** Runs an apply and shows its progress. */
  applying: ReconcileOptions["applying"];
  applied(plan: Plan, result: ApplyResult, moneyScale: MoneyScale): void;
  /** @param news True if the check had news. @param nextMs Time until the next check. Undefined after the last check. */
  ended(report: WatchReport, look: Reconciliation, news: boolean, nextMs: number | undefined): void;
  /** Reports a failed check. */
  failed(report: WatchReport, diagnostics: readonly Diagnostic[], news: boolean, nextMs: number | undefined): void;
  /** Reports that the host does not respond, or responds again. @param ms Time without a response. @param error Sentences. */
  unreachable(ms: number, isOver: boolean, error?: string): void;
  stopped(looks: number, reason: "interrupted" | "max_runs" | "unauthenticated"): void;
}

/** Codes of temporary failures. Any other failure in the first check ends the watch. */
const PASSING: ReadonlySet<string> = new Set([
  "api.unreachable",
  "api.timeout",
  "api.server",
  "api.rate_limited",
  "state.locked",
]);

/** Exit code after the host rejected the token. */
const REJECTED = 5;

/** Difference between wall clock and monotonic clock from which the clock was set or the machine slept, in milliseconds. */
const STEP_MS = 5_000;
/** Maximum sleep in milliseconds, so that a changed clock is noticed. */
const MOST_SLEEP_MS = 60_000;

export class Watch {
  readonly #project: Project;
  readonly #options: WatchOptions;
  readonly #reporter: WatchReporter;
  readonly #stop: AbortSignal;
  readonly #schedule: Schedule;
  readonly #settled: ReturnType<typeof settledDeclaration>;
  readonly #hints = new Hints();
  readonly news: Notifier;
  readonly #memory = new Memory();
  readonly #contention = new Contention();
  readonly #contact: Contact;
  /** Ends the current sleep. */
  #wake = new AbortController();
  /** True if a complete check must follow the current check. */
  #reloading = false;
  #looks = 0;
  /**
   * True if a declared resource has no object yet, or a pending creation. An event with an unknown id may then concern it.
   */
  #open = true;
  /** True if invoices exceeded a spending limit. Later checks then order nothing. */
  #spent = false;
  /** True if the last check succeeded. */
  #good = true;

  /** Names of `--fail-on` that are true, from the last complete check and later checks. */
  #holds: ReadonlySet<FailOn> = new Set();

  /** Last difference between wall clock and monotonic clock, in milliseconds. */
  #ahead: number | undefined;
  /** Errors of the last check without a response. */
  #silence: readonly Diagnostic[] = [];
  /** True if Ctrl-C stopped an apply before its end. */
  #cut = false;

  /** @param stop Signal of Ctrl-C. */
  constructor(project: Project, options: WatchOptions, reporter: WatchReporter, stop: AbortSignal) {
    this.#project = project;
    this.#options = options;
    this.#reporter = reporter;
    this.#stop = stop;
    this.#contact = new Contact(options.unreachableMs);
    this.news = new Notifier(project);
    this.#schedule = new Schedule(options.intervalMs, this.#now);
    this.#settled = settledDeclaration(() => this.#readAgain(), project.host.clock);
  }

  /** Adds a verified event. */
  hint(hint: EventSubject): void {
    this.#reporter.event(hint);
    this.#hints.add(hint);
    this.#schedule.hint(this.#now);
    this.#wake.abort();
  }

  /** Requests a complete check, because the declaration changed. */
  reload(): void {
    this.#reporter.reloading();
    this.#reloading = true;
    this.#wake.abort();
  }

  get holds(): ReadonlySet<FailOn> {
    return this.#holds;
  }

  /**
   * Runs checks until the watch is stopped.
   * @returns the exit code.
   * @throws HostformError if the first check fails permanently.
   */
  async run(): Promise<number> {
    const { maxRuns = Number.POSITIVE_INFINITY } = this.#options;
    while (!this.#stop.aborted && this.#looks < maxRuns && !this.#contact.isRejected) {
      await this.news.deliver();
      this.#noticeStep();
      const silentMs = this.#contact.overdue(this.#now);
      if (silentMs !== undefined) {
        const [{ summary = "", detail = "" } = {}] = this.#silence;
        this.#reporter.unreachable(silentMs, false, `${summary}. ${detail}`);
        this.news.saw({ errors: this.#silence });
      }
      if (this.#reloading) this.#schedule.widen(this.#now);
      this.#reloading = false;
      const { kind, at } = this.#schedule.next();
      if (at > this.#now) await this.#wait(at - this.#now);
      else await this.#turn(kind);
    }
    const interrupted = this.#stop.aborted;
    if (!interrupted && this.#contact.isRejected) {
      this.#reporter.stopped(this.#looks, "unauthenticated");
      return REJECTED;
    }
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

  /** Runs one check. Skips it if all events are irrelevant. */
  async #turn(kind: LookKind): Promise<void> {
    this.#schedule.covered();
    const { hints, overflown } = this.#hints.take();
    const report = { look: this.#looks + 1, events: [...new Set(hints.map(({ event }) => event))], targets: [] };
    try {
      if (kind === "whole" || overflown) return await this.#look(report);
      // Another process may have added the object of an event to the state.
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
    const check = () =>
      reconcileOnce(own, {
        targets: report.targets,
        autoApprove,
        guards: this.#spent ? { ...guards, maxOrders: 0 } : guards,
        onPlan: (plan, moneyScale) => {
          news = this.#reporter.plan(plan, this.#memory.compare(plan, report.targets), report, moneyScale);
        },
        applying: (plan, stop, work) => this.#reporter.applying(plan, stop, work),
      });
    const look = await (own.log.trace?.run("watch", check) ?? check());
    if (this.#reportOutcome(look)) news = true;
    this.news.saw({ ...look, waits: !autoApprove });
    this.#note(look, report);
    this.#noteContention(look);
    this.#reporter.ended(report, look, news, this.#untilNext());
  }

  /** Reports the result of an apply, unless it equals the last result. @returns true if it was reported. */
  #reportOutcome({ plan, result, end, moneyScale }: Reconciliation): boolean {
    if (result === undefined || end === "as_declared") return false;
    const done = doneChanges(plan, result).map(({ address }) => address);
    this.#memory.made(done);
    const isNew = this.#memory.isNew("outcome", errorsOf(result)) || done.length > 0;
    if (isNew) this.#reporter.applied(plan, result, moneyScale);
    return isNew;
  }

  /** Updates memory and schedule after a check. */
  #note(reconciliation: Reconciliation, { look, targets }: WatchReport): void {
    const { plan, end, result, requests, perMinute } = reconciliation;
    this.#looks = look;
    this.#learn([...plan.diagnostics, ...(result ? errorsOf(result) : [])], true);
    const holds = holding(plan, end === "applied" || end === "as_declared" ? result : undefined);
    this.#holds = targets.length === 0 ? holds : new Set([...this.#holds, ...holds]);
    if (result?.diagnostics.some((each) => each.code === "guard.spend" && isError(each))) this.#spent = true;
    this.#cut = end === "incomplete" && result?.interrupted === true;
    this.#good = isGood(reconciliation);
    const kind = targets.length === 0 ? "whole" : "hinted";
    // If the cause is an unknown status or a skipped change, a delay does not help.
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
    // Ctrl-C needs no report.
    if (this.#stop.aborted) return;
    if (!(error instanceof HostformError)) throw error;
    const isFirst = report.look === 1;
    const lasts = ({ code }: Diagnostic) => !PASSING.has(code) && code !== "api.unauthenticated";
    if (isFirst && error.diagnostics.some(lasts)) throw error;
    const diagnostics = forStack(this.#project.source, error.diagnostics);
    this.#silence = diagnostics.filter(({ code }) => isAway(code));
    this.news.saw({ errors: diagnostics.filter((one) => isError(one) && !isAway(one.code)) });
    this.#looks = report.look;
    this.#good = false;
    this.#learn(diagnostics, false, isFirst);
    // Only API failures delay the next check. A rejected token ends the watch soon anyway.
    const delays = ({ code }: Diagnostic) => code.startsWith("api.") && code !== "api.unauthenticated";
    const outcome = kind === "hinted" || diagnostics.some(delays) ? "failed" : "ended";
    this.#schedule.ended({ kind, at: this.#now, requests: 0, perMinute: 60, outcome });
    this.#reporter.failed(report, diagnostics, this.#memory.isNew("failure", diagnostics), this.#untilNext());
  }

  /** Updates the contact after a check. @param isOver True if the check completed. */
  #learn(diagnostics: readonly Diagnostic[], isOver: boolean, isFirst = false): void {
    const codes = diagnostics.filter(isError).map(({ code }) => code);
    const silentMs = this.#contact.learn(codes, isOver, this.#now, isFirst);
    if (silentMs !== undefined) this.#reporter.unreachable(silentMs, true);
  }

  /** Returns the project with the current declaration. */
  async #readAgain(): Promise<Project> {
    const project = this.#project;
    const { stack } = project.source;
    if (stack === undefined) return project.on(project.source);
    const { purpose, options, source: at, language } = stack.run;
    // A stack may write its secrets anywhere in the project's folder, not only in its own.
    const source = { ...project.source, dir: stack.run.project };
    const wanted = { only: [stack.name], variables: options, language };
    const { stacks, run } = await chooseStacks(source, at, wanted, purpose);
    const [only] = stacks;
    return project.on(only === undefined ? project.source : await sourceOn(source, only, run));
  }

  /** Returns the milliseconds until the next check. Undefined after the last check. */
  #untilNext(): number | undefined {
    const { maxRuns } = this.#options;
    if (this.#stop.aborted || this.#looks === maxRuns || this.#contact.isRejected) return undefined;
    return Math.max(0, this.#schedule.next().at - this.#now);
  }

  /** Reports if the wall clock was changed. If it went forward, the machine may have slept, so a complete check is due. */
  #noticeStep(): void {
    const { clock } = this.#project.host;
    const ahead = clock.now() - clock.monotonic();
    const stepMs = ahead - (this.#ahead ?? ahead);
    this.#ahead = ahead;
    if (Math.abs(stepMs) < STEP_MS) return;
    this.#reporter.stepped(stepMs);
    if (stepMs > 0) this.#schedule.widen(this.#now);
  }

  /** Monotonic time in milliseconds, unaffected by changes of the wall clock. */
  get #now(): number {
    return this.#project.host.clock.monotonic();
  }
}

/** Time without changes after which a declaration counts as complete, in milliseconds. */
const SETTLE_MS = 3_000;
/** Maximum number of changes to wait for. */
const MOST_READINGS = 12;

/**
 * Waits until the declaration is written completely. If a file were read while half written, its other resources would be
 * destroyed.
 * @returns the function that returns the declaration after {@link SETTLE_MS} without changes. It throws mistakes of the
 * declaration, and `config.unreadable` if the declaration keeps changing.
 */
function settledDeclaration(again: () => Promise<Project>, clock: Clock) {
  let known = "";
  const read = async () => {
    const own = await again();
    const { desired } = await own.declaration.load();
    // Files and variables of a stack affect its values.
    return { own, digest: digestOf([desired, own.source.stack?.files, own.source.stack?.given]) };
  };
  return async (signal: AbortSignal, onWait: () => void): Promise<Project> => {
    let { own, digest } = await read();
    for (let readings = 0; digest !== known; readings++) {
      if (readings === 0) onWait();
      if (readings === MOST_READINGS) {
        fail("config.unreadable", "The declaration keeps changing, and was not applied", {
          detail: `It was different at each of ${MOST_READINGS} readings.`,
          remedies: ["Find the program that keeps writing it. A template should write it once."],
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

function digestOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return hash("sha256", text);
}
