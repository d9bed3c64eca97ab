import { VERSION } from "../core/api/version.ts";
import { type ApplyEvent, type ApplyResult, type Diagnostic, isError, type Plan, some } from "../core/model/index.ts";
import type { Contended, News } from "../project/watch/memory.ts";
import type { Reconciliation } from "../project/watch/reconcile.ts";
import type { Hint } from "../project/watch/schedule.ts";
import type { WatchReport, WatchReporter } from "../project/watch/watch.ts";
import {
  diagnosticMessage,
  escapeLine,
  eventMessage,
  flowText,
  formatDuration,
  foundText,
  type MoneyScale,
  moneyLines,
  planMessages,
  plural,
  renderDiagnostics,
  renderOutcome,
  resultMessages,
  type UiMessage,
  versionMessage,
  type WatchMessage,
  watchLine,
  watchMessage,
} from "../report/index.ts";
import { showProgress } from "./apply.ts";
import { say, type Terminal } from "./terminal.ts";

/** Refused deliveries are counted, and reported no more often than this (milliseconds): at once, at a check, or at the end. */
const REFUSED_MS = 60_000;

/**
 * What `watch` reports. News goes to standard output; each check, with the time of the next one, is a line on standard
 * error. So the output is a log of what happened. With `--json` everything is a message on standard output.
 */
export class TerminalReporter implements WatchReporter {
  readonly #terminal: Terminal;
  #refused = { count: 0, reason: "", reportedAt: Number.NEGATIVE_INFINITY };

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  start(intervalMs: number, autoApprove: boolean, listening: string | undefined): void {
    const doing = autoApprove ? "differences are applied" : "differences are reported, not applied";
    const hearing = listening === undefined ? "" : ` Receiving events at ${listening}.`;
    const text = `Checking every ${formatDuration(intervalMs / 1000)}: ${doing}.${hearing} Press Ctrl-C to stop.`;
    if (this.#json) this.#emit(versionMessage(VERSION, this.#now));
    const fields = { interval_seconds: intervalMs / 1000, auto_approve: autoApprove, listening: listening ?? null };
    this.#say({ type: "watch_start", ...fields }, text);
  }

  /** A verified event has come. For people with `--verbose` only: the check that it leads to names it. */
  event({ event, service, invoice }: Hint): void {
    if (!this.#json && !this.#terminal.verbose) return;
    const ids = `${service === undefined ? "" : ` service ${service}`}${invoice === undefined ? "" : ` invoice ${invoice}`}`;
    const fields = { event, service: service ?? null, invoice: invoice ?? null };
    this.#say({ type: "watch_event", ...fields }, `Received ${event}:${ids || " names no object"}.`);
  }

  refused(reason: string): void {
    this.#refused = { ...this.#refused, count: this.#refused.count + 1, reason };
    this.#reportRefused();
  }

  /** @param atEnd there is no later. */
  #reportRefused(atEnd = false): void {
    const { count, reason, reportedAt } = this.#refused;
    if (count === 0 || (!atEnd && this.#now - reportedAt < REFUSED_MS)) return;
    this.#refused = { count: 0, reason, reportedAt: this.#now };
    const text = `Refused ${plural(count, "delivery", "deliveries")}, the last one: ${reason}`;
    this.#say({ type: "watch_refused", reason, count }, text);
  }

  strangers(hints: readonly Hint[]): void {
    if (hints.length === 0) return;
    const events = [...new Set(hints.map(({ event }) => event))];
    this.#say({ type: "watch_stranger", events }, `${events.join(", ")}: names nothing in the state; ignored.`);
  }

  reloading(): void {
    this.#say({ type: "watch_reload" }, "SIGHUP: reading the declaration again and checking everything.");
  }

  settling(): void {
    this.#say({ type: "watch_settling" }, "The declaration has changed: waiting until it stays the same.");
  }

  /** @param why the end of a sentence: what it shows. */
  contended({ addresses, times }: Contended, heldMs: number, why: string): void {
    const held = `Events are ignored for ${formatDuration(heldMs / 1000)}.`;
    const text = `${some(addresses)}: corrected ${plural(times, "time")} within an hour, ${why}. ${held}`;
    this.#say({ type: "watch_contended", addresses, times, held_seconds: heldMs / 1000 }, text);
  }

  began({ look, events, targets }: WatchReport): void {
    const what = targets.length === 0 ? "everything" : some(targets);
    const message = { type: "watch_look", look, events, targets } as const;
    if (this.#json) this.#emit(watchMessage(message, `Checking ${what}`, this.#now));
  }

  /** What is new in a plan, before anything of it is done. @returns whether anything is. */
  plan(plan: Plan, news: News, { events }: WatchReport, moneyScale: MoneyScale): boolean {
    const notes = [...news.notes, ...news.settled.map((address) => `    ${address}: nothing left to do`)];
    if (notes.length === 0 && news.problems.length === 0) return false;
    if (this.#json) {
      this.#emit(...planMessages(plan, this.#now, this.#terminal.outLook.remedies));
      return true;
    }
    const { outLook } = this.#terminal;
    const lines = [watchLine({ at: this.#now, events, found: foundIn(plan) }, outLook), ...notes.map(escapeLine)];
    if (plan.cost.length > 0) lines.push(...moneyLines(plan, moneyScale));
    const problems = news.problems.length === 0 ? "" : renderDiagnostics(news.problems, outLook);
    this.#terminal.out(`${flowText(lines.join("\n"), outLook.width, 2)}\n${problems}`);
    return true;
  }

  applying(
    plan: Plan,
    stop: AbortSignal,
    work: (onEvent: (event: ApplyEvent) => void) => Promise<ApplyResult>,
  ): Promise<ApplyResult> {
    if (this.#json) return work((event) => this.#emit(eventMessage(event, this.#now)));
    return showProgress(this.#terminal, plan, stop, work);
  }

  applied(plan: Plan, result: ApplyResult, moneyScale: MoneyScale): void {
    if (this.#json) this.#emit(...resultMessages(plan, result, this.#now, this.#terminal.outLook.remedies));
    else this.#terminal.out(renderOutcome(plan, result, { ...this.#terminal.outLook, moneyScale }));
  }

  /** The end of a check. @param news whether it had any. */
  ended(report: WatchReport, { plan, end, requests }: Reconciliation, news: boolean, nextMs: number | undefined): void {
    const made = {
      applied: "All changes are done.",
      incomplete: "Not all changes are done.",
      widened: "Checking everything next.",
    };
    const found = end in made ? made[end as keyof typeof made] : news ? "" : foundIn(plan);
    const same = news || end === "as_declared" || end in made ? "" : " As before.";
    this.#found(report, { result: end, news, requests }, found + same, nextMs);
  }

  failed(report: WatchReport, diagnostics: readonly Diagnostic[], news: boolean, nextMs: number | undefined): void {
    if (news && this.#json)
      this.#emit(...diagnostics.map((one) => diagnosticMessage(one, this.#now, this.#terminal.outLook.remedies)));
    else if (news) this.#terminal.err(renderDiagnostics(diagnostics, this.#terminal.errLook));
    const found = news
      ? "This check has failed."
      : `This check has failed like the one before: ${diagnostics[0]?.summary ?? "an error"}.`;
    this.#found(report, { result: "failed", news, requests: 0 }, found, nextMs);
  }

  stopped(looks: number, reason: "interrupted" | "max_runs"): void {
    this.#reportRefused(true);
    this.#say({ type: "watch_end", looks, reason }, `Stopped after ${plural(looks, "check")}.`);
  }

  /** The end of a check. @param found sentences; empty when they were reported already. @param nextMs undefined: there is no next one. */
  #found(
    { look, events }: WatchReport,
    fields: Pick<Extract<WatchMessage, { type: "watch_found" }>, "result" | "news" | "requests">,
    found: string,
    nextMs: number | undefined,
  ): void {
    this.#reportRefused();
    const line = { at: this.#now, events, found, ...(nextMs !== undefined && { nextMs }) };
    const next_seconds = nextMs === undefined ? null : Math.round(nextMs / 1000);
    const message = { type: "watch_found", look, ...fields, next_seconds } as const;
    if (this.#json) this.#emit(watchMessage(message, found, this.#now));
    else if (found !== "" || nextMs !== undefined) say(this.#terminal, watchLine(line, this.#terminal.errLook));
    // Nothing may wait in the redaction until the next check.
    this.#terminal.flush();
  }

  #say(message: WatchMessage, text: string): void {
    if (this.#json) this.#emit(watchMessage(message, text, this.#now));
    else say(this.#terminal, escapeLine(text));
    this.#terminal.flush();
  }

  #emit(...messages: readonly UiMessage[]): void {
    for (const message of messages) this.#terminal.document(message);
  }

  get #json(): boolean {
    return this.#terminal.json;
  }

  get #now(): number {
    return this.#terminal.clock.now();
  }
}

function foundIn(plan: Plan): string {
  return foundText(plan, plan.diagnostics.filter(isError).length);
}
