import { HostformError, isError, isFulfilled, isNoOp, type State } from "../../../core/model/index.ts";
import { doneChanges } from "../../../report/index.ts";
import type { GuardFlags } from "../../guards.ts";
import type { Invocation } from "../../io.ts";
import { readState } from "../../recorded.ts";
import { inItsTerms } from "../../told.ts";
import { Contention, conclusion } from "./contention.ts";
import { readAnew, SettledDeclaration } from "./declaration.ts";
import { type Hint, Hints, namedBy } from "./hints.ts";
import { errorsOf, type Look, lookOnce } from "./look.ts";
import { Memory } from "./memory.ts";
import { type LookKind, Schedule } from "./schedule.ts";
import type { Telling, Told } from "./telling.ts";

export interface WatchOptions {
  /** Milliseconds from the end of a look at everything to the next one. */
  readonly intervalMs: number;
  readonly autoApprove: boolean;
  readonly guards: GuardFlags;
  /** Ends after so many looks; absent: with Ctrl-C. */
  readonly maxRuns?: number;
}

/** What can be over by the next look, and so is no reason not to begin. All else that fails the first look ends the command. */
const PASSING: ReadonlySet<string> = new Set([
  "api.unreachable",
  "api.timeout",
  "api.server",
  "api.rate_limited",
  "state.locked",
]);

/** The loop: when it is time, or an event has named something, look; tell what is new; wait. */
export class Watch {
  readonly #invocation: Invocation;
  readonly #options: WatchOptions;
  readonly #telling: Telling;
  readonly #stop: AbortSignal;
  readonly #schedule: Schedule;
  readonly #declaration: SettledDeclaration;
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
  /** Invoices exceeded a limit on spending: nothing more is ordered, however little a later look by itself would. */
  #spent = false;
  /** The last look ended as an `apply` that succeeds does: what only a person may order anew is none of its plan. */
  #good = true;

  /** Ctrl-C came during an apply, and not all of it was done. */
  #cut = false;

  /** @param stop aborted by Ctrl-C. */
  constructor(invocation: Invocation, options: WatchOptions, telling: Telling, stop: AbortSignal) {
    this.#invocation = invocation;
    this.#options = options;
    this.#telling = telling;
    this.#stop = stop;
    this.#schedule = new Schedule(options.intervalMs, this.#now);
    this.#declaration = new SettledDeclaration(invocation);
  }

  /** A verified event has come. Quick, and safe at any time: what it leads to happens in the loop. */
  hint(hint: Hint): void {
    this.#telling.event(hint);
    this.#hints.add(hint);
    this.#schedule.hint(this.#now);
    this.#wake.abort();
  }

  /** The declaration has changed, as its deployment says: a look at everything comes at once, or after the present one. */
  reload(): void {
    this.#telling.reloading();
    this.#reloading = true;
    this.#wake.abort();
  }

  /**
   * Looks until it is stopped.
   * @returns the exit code.
   * @throws HostformError what fails the first look, if waiting will not mend it.
   */
  async run(): Promise<number> {
    const { maxRuns = Number.POSITIVE_INFINITY } = this.#options;
    while (!this.#stop.aborted && this.#looks < maxRuns) {
      if (this.#reloading) this.#schedule.widen(this.#now);
      this.#reloading = false;
      const { kind, at } = this.#schedule.next();
      if (at > this.#now) await this.#wait(at - this.#now);
      else await this.#turn(kind);
    }
    const interrupted = this.#stop.aborted;
    this.#telling.stopped(this.#looks, interrupted ? "interrupted" : "max_runs");
    return (interrupted ? !this.#cut : this.#good) ? 0 : 1;
  }

  async #wait(ms: number): Promise<void> {
    this.#wake = new AbortController();
    const ended = AbortSignal.any([this.#stop, this.#wake.signal]);
    await this.#invocation.io.clock.sleep(ms, ended).catch((error: unknown) => {
      if (!ended.aborted) throw error;
    });
  }

  /** A look, unless all that has come is about something else. */
  async #turn(kind: LookKind): Promise<void> {
    this.#schedule.heeded();
    const { hints, overflown } = this.#hints.take();
    const told = { look: this.#looks + 1, events: [...new Set(hints.map(({ event }) => event))], targets: [] };
    try {
      if (kind === "whole" || overflown) return await this.#look(told);
      const { targets, everything, strangers } = namedBy(hints, await this.#state(), this.#open);
      this.#telling.strangers(strangers);
      if (everything || targets.length > 0) await this.#look({ ...told, targets });
      else this.#schedule.idle(this.#now);
    } catch (error) {
      this.#failed(kind, told, error);
    }
  }

  async #look(told: Told): Promise<void> {
    const { autoApprove, guards } = this.#options;
    const own = autoApprove
      ? await this.#declaration.read(this.#stop, () => this.#telling.settling())
      : await readAnew(this.#invocation);
    this.#telling.began(told);
    let news = false;
    const look = await lookOnce(own, {
      targets: told.targets,
      autoApprove,
      guards: this.#spent ? { ...guards, maxOrders: 0 } : guards,
      onPlan: (plan, moneyScale) => {
        news = this.#telling.plan(plan, this.#memory.compare(plan, told.targets), told, moneyScale);
      },
      applying: (plan, stop, work) => this.#telling.applying(plan, stop, work),
    });
    if (this.#tellOutcome(look)) news = true;
    this.#note(look, told);
    this.#noteContention(look);
    this.#telling.ended(told, look, news, this.#untilNext());
  }

  /** @returns whether a plan was applied with another outcome than at the look before. */
  #tellOutcome({ plan, result, end, moneyScale }: Look): boolean {
    if (result === undefined || end === "as_declared") return false;
    const done = doneChanges(plan, result).map(({ address }) => address);
    this.#memory.made(done);
    const isNew = this.#memory.isNewOutcome(errorsOf(result)) || done.length > 0;
    if (isNew) this.#telling.applied(plan, result, moneyScale);
    return isNew;
  }

  /** What follows from a look for the next ones. */
  #note({ plan, end, result, requests, perMinute }: Look, { look, targets }: Told): void {
    this.#looks = look;
    if (result?.diagnostics.some((each) => each.code === "guard.spend" && isError(each))) this.#spent = true;
    this.#cut = end === "incomplete" && result?.interrupted === true;
    this.#good = ["as_declared", "differs", "applied"].includes(end) && plan.pending.length === 0;
    const kind = targets.length === 0 ? "whole" : "hinted";
    // A status that is not understood is not mended by waiting: somebody has to say what it means.
    const failed = end === "incomplete" && !(result && isFulfilled({ ...result, unfulfilled: [] }));
    const outcome = failed ? "troubled" : "ended";
    this.#schedule.ended({ kind, at: this.#now, requests, perMinute, outcome });
    if (end === "widened") this.#schedule.widen(this.#now);
    if (kind === "hinted") return;
    const isMade = end === "applied" || end === "as_declared";
    const creates = plan.changes.some(({ actions }) => actions.includes("create"));
    this.#open = plan.pending.length > 0 || end === "refused" || (creates && !isMade);
  }

  #noteContention({ plan, result }: Look): void {
    if (result === undefined) return;
    const changed = doneChanges(plan, result).filter((change) => !isNoOp(change));
    const contended = this.#contention.note(
      changed.map(({ address }) => address),
      this.#now,
    );
    if (contended === undefined) return;
    const heldMs = this.#schedule.contended(this.#now, contended.times);
    const again = changed.filter(({ address }) => contended.addresses.includes(address));
    this.#telling.contended(contended, heldMs, conclusion(again));
  }

  #failed(kind: LookKind, told: Told, error: unknown): void {
    // Ctrl-C ended it, which nobody needs to be told.
    if (this.#stop.aborted) return;
    if (!(error instanceof HostformError)) throw error;
    if (told.look === 1 && !error.diagnostics.every(({ code }) => PASSING.has(code))) throw error;
    const diagnostics = inItsTerms(this.#invocation, error.diagnostics);
    this.#looks = told.look;
    this.#good = false;
    // What a person has to mend is not mended any later for being looked at; only the API is spared.
    const outcome = kind === "hinted" || diagnostics.some(({ code }) => code.startsWith("api.")) ? "failed" : "ended";
    this.#schedule.ended({ kind, at: this.#now, requests: 0, perMinute: 60, outcome });
    this.#telling.failed(told, diagnostics, this.#memory.isNewFailure(diagnostics), this.#untilNext());
  }

  /** The state as it is now: another process may have recorded what an event names. */
  async #state(): Promise<State> {
    const own = await readAnew(this.#invocation);
    return readState({ ...own, options: { ...own.options, quiet: true } });
  }

  /** Milliseconds; undefined when this was the last look. */
  #untilNext(): number | undefined {
    const { maxRuns } = this.#options;
    if (this.#stop.aborted || this.#looks === maxRuns) return undefined;
    return Math.max(0, this.#schedule.next().at - this.#now);
  }

  get #now(): number {
    return this.#invocation.io.clock.now();
  }
}
