import { VERSION } from "../core/api/version.ts";
import { some } from "../core/model/index.ts";
import type { WatchReport, WatchReporter } from "../project/watch/watch.ts";
import {
  diagnosticMessage,
  escapeLine,
  eventMessage,
  flowText,
  formatDuration,
  foundText,
  moneyLines,
  planMessages,
  plural,
  renderDiagnostics,
  renderOutcome,
  resultMessages,
  stampOf,
  versionMessage,
  type WatchMessage,
  watchLine,
  watchMessage,
} from "../report/index.ts";
import { showProgress } from "./apply.ts";
import type { JsonOutputs } from "./json.ts";
import { say, type Terminal } from "./terminal.ts";

/** Minimum time between two reports of rejected deliveries, in milliseconds. */
const REFUSED_MS = 60_000;

/** Texts for checks without applied changes. */
const ENDS: Readonly<Record<string, string>> = {
  applied: "All changes are done.",
  incomplete: "Not all changes are done.",
  widened: "Checking everything next.",
};

type Ended = Pick<Extract<WatchMessage, { type: "watch_found" }>, "result" | "news" | "requests">;

interface TerminalReporter extends WatchReporter {
  start(intervalMs: number, autoApprove: boolean, listening: string | undefined, metrics: string | undefined): void;
  /** Reports a rejected delivery. @param reason Sentence without text of the sender. */
  refused(reason: string): void;
}

/**
 * Reports the results of `watch`: news on standard output, and one line per check on standard error. With `--json`, all
 * messages on standard output.
 */
export function terminalReporter(terminal: Terminal): TerminalReporter {
  const { clock, json, outLook, errLook } = terminal;
  const now = () => clock.now();
  const emit = (...messages: readonly JsonOutputs["watch"][]) => {
    for (const message of messages) terminal.document(message);
  };
  const show = (message: WatchMessage, text: string) => {
    if (json) emit(watchMessage(message, text, now()));
    else say(terminal, escapeLine(text));
    terminal.flush();
  };
  let waiting = { count: 0, reason: "", reportedAt: Number.NEGATIVE_INFINITY };
  /** Number of consecutive checks that failed with the same error, and the time of the first. */
  let failing = { times: 0, since: "" };
  /** @param atEnd True to report now. */
  const reportRefused = (atEnd = false) => {
    const { count, reason, reportedAt } = waiting;
    if (count === 0 || (!atEnd && clock.monotonic() - reportedAt < REFUSED_MS)) return;
    waiting = { count: 0, reason, reportedAt: clock.monotonic() };
    const text = `Refused ${plural(count, "delivery", "deliveries")}, the last one: ${reason}`;
    show({ type: "watch_refused", reason, count }, text);
  };
  /**
   * Reports the end of a check.
   * @param found Sentences. Empty if already reported.
   * @param nextMs Time until the next check. Undefined after the last one.
   */
  const endCheck = ({ look, events }: WatchReport, fields: Ended, found: string, nextMs: number | undefined) => {
    reportRefused();
    const line = { at: now(), events, found, ...(nextMs !== undefined && { nextMs }) };
    const next_seconds = nextMs === undefined ? null : Math.round(nextMs / 1000);
    if (json) emit(watchMessage({ type: "watch_found", look, ...fields, next_seconds }, found, now()));
    else if (found !== "" || nextMs !== undefined) say(terminal, watchLine(line, errLook));
    // Write everything now: the next check may be minutes away.
    terminal.flush();
  };
  return {
    start(intervalMs, autoApprove, listening, metrics) {
      const doing = autoApprove ? "differences are applied" : "differences are reported, not applied";
      const hearing = listening === undefined ? "" : ` Receiving events at ${listening}.`;
      const measuring = metrics === undefined ? "" : ` Serving ${metrics}/metrics and /healthz.`;
      const every = formatDuration(intervalMs / 1000);
      const text = `Checking every ${every}: ${doing}.${hearing}${measuring} Press Ctrl-C to stop.`;
      if (json) emit(versionMessage(VERSION, now()));
      const places = { listening: listening ?? null, metrics: metrics ?? null };
      const fields = { interval_seconds: intervalMs / 1000, auto_approve: autoApprove, ...places };
      show({ type: "watch_start", ...fields }, text);
    },
    /** Without `--json` or `--verbose`, only the report of the check contains the event. */
    event({ event, service, invoice }) {
      if (!json && !terminal.verbose) return;
      const ids = [service && `service ${service}`, invoice && `invoice ${invoice}`].filter(Boolean).join(" ");
      const fields = { event, service: service ?? null, invoice: invoice ?? null };
      show({ type: "watch_event", ...fields }, `Received ${event}: ${ids || "names no object"}.`);
    },
    refused(reason) {
      waiting = { ...waiting, count: waiting.count + 1, reason };
      reportRefused();
    },
    strangers(hints) {
      if (hints.length === 0) return;
      const events = [...new Set(hints.map(({ event }) => event))];
      show({ type: "watch_stranger", events }, `${events.join(", ")}: names nothing in the state; ignored.`);
    },
    reloading: () => show({ type: "watch_reload" }, "SIGHUP: reading the declaration again and checking everything."),
    stepped(ms) {
      const by = formatDuration(Math.abs(ms) / 1000);
      const what =
        ms < 0
          ? `The clock was set back by ${by}: checks keep their interval.`
          : `The clock is ahead by ${by}, or the machine slept: checking everything.`;
      show({ type: "watch_clock", step_seconds: Math.round(ms / 1000) }, what);
    },
    settling: () => show({ type: "watch_settling" }, "The declaration has changed: waiting until it stays the same."),
    contended({ addresses, times }, heldMs, why) {
      const held = `Events are ignored for ${formatDuration(heldMs / 1000)}.`;
      const text = `${some(addresses)}: corrected ${plural(times, "time")} within an hour, ${why}. ${held}`;
      show({ type: "watch_contended", addresses, times, held_seconds: heldMs / 1000 }, text);
    },
    began({ look, events, targets }) {
      const what = targets.length === 0 ? "everything" : some(targets);
      if (json) emit(watchMessage({ type: "watch_look", look, events, targets }, `Checking ${what}`, now()));
    },
    plan(plan, news, { events }, moneyScale) {
      const notes = [...news.notes, ...news.settled.map((address) => `    ${address}: nothing left to do`)];
      if (notes.length === 0 && news.problems.length === 0) return false;
      if (json) {
        emit(...planMessages(plan, now(), outLook.remedies));
        return true;
      }
      const lines = [
        watchLine({ at: now(), events, found: foundText(plan, outLook.remedies) }, outLook),
        ...notes.map(escapeLine),
      ];
      if (plan.cost.length > 0) lines.push(...moneyLines(plan, moneyScale));
      const problems = news.problems.length === 0 ? "" : renderDiagnostics(news.problems, outLook);
      terminal.out(`${flowText(lines.join("\n"), outLook.width, 2)}\n${problems}`);
      return true;
    },
    applying(plan, stop, work) {
      if (json) return work((event) => emit(eventMessage(event, now())));
      return showProgress(terminal, plan, stop, work);
    },
    applied(plan, result, moneyScale) {
      if (json) emit(...resultMessages(plan, result, now(), outLook.remedies));
      else terminal.out(renderOutcome(plan, result, { ...outLook, moneyScale }));
    },
    ended(report, { plan, end, requests }, news, nextMs) {
      const found = ENDS[end] ?? (news ? "" : foundText(plan, outLook.remedies));
      const same = news || end === "as_declared" || end in ENDS ? "" : " As before.";
      endCheck(report, { result: end, news, requests }, found + same, nextMs);
    },
    failed(report, diagnostics, news, nextMs) {
      if (news && json) emit(...diagnostics.map((one) => diagnosticMessage(one, now(), outLook.remedies)));
      else if (news) terminal.err(renderDiagnostics(diagnostics, errLook));
      failing = news ? { times: 1, since: stampOf(now()) } : { ...failing, times: failing.times + 1 };
      const times = `${plural(failing.times, "time")} since ${failing.since}`;
      const again = `The check failed again with the same error (${times}): ${diagnostics[0]?.summary ?? "an error"}.`;
      endCheck(report, { result: "failed", news, requests: 0 }, news ? "The check failed." : again, nextMs);
    },
    unreachable(ms, over, error = "") {
      const time = formatDuration(ms / 1000);
      const text = over
        ? `The account responds again, after ${time} without a response.`
        : `The account has not responded for ${time}. ${error}`.trim();
      show({ type: "watch_unreachable", seconds: Math.round(ms / 1000), over }, `${stampOf(now())} ${text}`);
    },
    stopped(looks, reason) {
      reportRefused(true);
      const why =
        reason === "unauthenticated" ? ` The API rejected the token${looks > 1 ? " at the last 3 checks" : ""}.` : "";
      show({ type: "watch_end", looks, reason }, `Stopped after ${plural(looks, "check")}.${why}`);
    },
  };
}
