/** Runs `apply` and `destroy`: plan, approval, apply. The progress is printed on standard error. */
import { VERSION } from "../core/api/index.ts";
import {
  type ApplyEvent,
  hasUnreadInvoices,
  heldIn,
  holding,
  isError,
  isFulfilled,
  isNoOp,
  isStopped,
  type Plan,
  shellPath,
  shellWord,
  some,
  unfulfilledIn,
} from "../core/model/index.ts";
import { carryOut, hasChanges, unchanged } from "../project/apply.ts";
import { type Caps, GUARD_FLAGS } from "../project/guards.ts";
import { mandateIn } from "../project/mandate/run.ts";
import { failureNews, notify } from "../project/notify/index.ts";
import { type RunOptions, withPlan } from "../project/plan.ts";
import type { Project } from "../project/project.ts";
import { type PlanRequest, readSavedPlan } from "../project/saved-plan.ts";
import type { ProjectSource } from "../project/source.ts";
import { commandLine } from "../project/stack-diagnostics.ts";
import {
  advanceStatus,
  escapeLine,
  eventMessage,
  isWaiting,
  outputsMessage,
  placeText,
  planMessages,
  progressLine,
  renderOutcome,
  renderOutputs,
  renderPlan,
  renderStatus,
  resultMessages,
  type Status,
  startStatus,
  type UiMessage,
  versionMessage,
  waitLine,
} from "../report/index.ts";
import { raise } from "./messages.ts";
import { type FailOnFlags, spelledOption } from "./options.ts";
import { type PlanningFlags, planningOf, reportsOf } from "./plan-reports.ts";
import { failedOn, say, type Terminal } from "./terminal.ts";

interface ApplyFlags extends PlanningFlags, FailOnFlags {
  readonly autoApprove?: boolean;
  /** Applies the changes that no error affects, without asking. */
  readonly partial?: boolean;
  /** False for `--no-wait`. */
  /** File of the mandate, and file for its receipt. */
  readonly mandate?: string;
  readonly receipt?: string;
  readonly wait?: boolean;
  readonly waitTimeout?: number;
  readonly parallelism?: number;
}

/**
 * Runs `hostform apply` and `hostform destroy`. Returns 1 unless the result {@link isFulfilled}.
 * @param file Saved plan, which is already approved. hostform applies exactly this plan, or nothing.
 */
export const runApply =
  (command: "apply" | "destroy") =>
  async (terminal: Terminal, project: Project, flags: ApplyFlags, file?: string): Promise<number> => {
    const reports = await reportsOf(terminal, project, flags.report);
    const applied = reports.orWhy(command, "text", async () => {
      if (file !== undefined) refusePlanFlags(flags);
      const mandate =
        flags.mandate === undefined ? undefined : await mandateIn(project.source, flags.mandate, flags.receipt);
      if (mandate === undefined && flags.receipt !== undefined) raise("usage/receipt", {});
      const { json } = terminal;
      const emit = (messages: readonly UiMessage[]) => {
        for (const message of messages) terminal.document(message);
      };
      const now = () => terminal.clock.now();
      const { remedies } = terminal.outLook;
      const begin = (plan: Plan) => emit([versionMessage(VERSION, now()), ...planMessages(plan, now(), remedies)]);
      const saved = file === undefined ? undefined : await readSavedPlan(project, file);
      if (saved !== undefined && !hasChanges(saved.plan)) {
        const { plan } = saved;
        await reports.write(plan, await project.declaration.moneyScale());
        say(terminal, "The plan has no changes. There is nothing to apply.");
        const result = unchanged(plan);
        if (json) {
          begin(plan);
          emit(resultMessages(plan, result, now(), remedies));
        }
        if (!isFulfilled(result)) return 1;
        return failedOn(terminal, flags, holding(plan), 0, hasUnreadInvoices(plan));
      }
      const agreed = flags.autoApprove === true || saved !== undefined;
      // A question always follows the printed plan.
      const body = !(terminal.quiet && agreed);
      if (json && !agreed) raise("usage/asks", { command, flag: "--auto-approve" });
      const asked = saved && { ...saved.request, saved, caps: flags };
      const applying = { asks: !agreed, waits: flags.wait ?? true };
      const options: RunOptions = { command, mode: command, ...planningOf(flags), ...applying, ...asked, mandate };
      return withPlan(project, options, async (run) => {
        const look = { ...terminal.outLook, moneyScale: run.providers.moneyScale };
        if (json) begin(run.plan);
        else if (body || !hasOutcome(run.plan)) {
          // A saved plan was printed before. Print it again only if it cannot be applied.
          const isSeen = saved !== undefined && !run.plan.diagnostics.some(isError);
          const intro = isSeen ? savedLine(saved.plan) : undefined;
          terminal.out(renderPlan(run.plan, { ...look, body: body && !isSeen, intro }));
        } else {
          terminal.out(`${placeText(run.plan)}\n`);
          // `plan --quiet` also prints the warnings of the plan.
          project.log.warn(...run.plan.diagnostics);
        }
        await reports.write(run.plan, run.providers.moneyScale);
        // Apply exactly the saved plan, or nothing.
        const seen = { ...run, moneyScale: look.moneyScale };
        const held = heldIn(run.plan).length;
        const count = run.plan.changes.filter((change) => !isNoOp(change)).length;
        const others = count === 1 ? "other change" : `other ${count} changes`;
        const isRefused =
          isStopped(run.plan) ||
          (saved !== undefined && run.plan.diagnostics.some(isError)) ||
          (held > 0 && !hasChanges(run.plan));
        const isHeld = held > 0 && agreed && flags.partial !== true;
        if (isRefused || isHeld) await notify(project, seen);
        if (isRefused) return 1;
        if (isHeld) raise("plan.held_back", { held, others });
        if (hasChanges(run.plan) && !agreed) {
          const question = held > 0 ? `Apply the ${others}?` : QUESTIONS[command];
          await approve(terminal, question, run.interrupts.stop, held > 0 ? "--auto-approve --partial" : undefined);
          run.providers.refresh();
        }

        const ended = json
          ? await carryOut(run, flags, (event) => emit([eventMessage(event, now())]))
          : await showProgress(terminal, run.plan, run.interrupts.stop, (onEvent) => carryOut(run, flags, onEvent));
        const left = saved === undefined ? [] : heldIn(saved.plan);
        const result = left.length === 0 ? ended : { ...ended, held: left };
        const replan = saved && replanOf(project.source, saved.request, file);
        if (json) emit(resultMessages(run.plan, result, now(), remedies));
        else if (hasOutcome(run.plan)) terminal.out(renderOutcome(run.plan, result, look, replan));
        const { outputs } = run.store.state;
        const complete = result.outcomes.every(({ result: end }) => end === "done");
        // After a failed apply, outputs may be outdated, so do not print them.
        if (complete && outputs !== undefined && json) emit([outputsMessage(outputs, now())]);
        else if (complete && outputs !== undefined) terminal.out(`\nOutputs:\n\n${renderOutputs(outputs)}`);
        await notify(project, { ...seen, result });
        // Pending creations of the saved plan may not be among its changes.
        const open = (saved?.plan.pending ?? []).some(
          (address) => run.store.state.resources.get(address)?.private.pending !== undefined,
        );
        if (!isFulfilled(result) || open) return 1;
        return failedOn(terminal, flags, holding(run.plan, result), 0, hasUnreadInvoices(run.plan));
      });
    });
    return applied.catch(failureNews(project));
  };

/** Returns true if the apply reports more than the plan. */
const hasOutcome = (plan: Plan) => !isStopped(plan) && (hasChanges(plan) || unfulfilledIn(plan).length > 0);

/** Returns the command that plans again what a saved plan contained. */
const replanOf = (source: ProjectSource, { mode, targets }: PlanRequest, file = ""): string =>
  [
    commandLine(source, "plan", []),
    ...(mode === "destroy" ? ["--destroy"] : []),
    ...targets.map((target) => `--target ${shellWord(target)}`),
    `--out ${shellPath(file)}`,
  ].join(" ");

/** Returns the introduction of a saved plan, with the resources that it skips. */
function savedLine(plan: Plan): string {
  const held = heldIn(plan);
  const made = `Applying the plan of ${escapeLine(plan.timestamp)}.\n`;
  return held.length === 0 ? made : `${made}The plan skipped ${escapeLine(some(held))}.\n`;
}

/** Guards that `apply FILE` accepts: they can only tighten the guards of the plan. */
const CAPS: readonly string[] = ["maxOrders", "maxSpend", "maxRemovals"] satisfies (keyof Caps)[];

/** Rejects options that are part of the saved plan. */
function refusePlanFlags(flags: ApplyFlags): void {
  const settled = [
    ...GUARD_FLAGS.filter((flag) => !CAPS.includes(flag)),
    "partial",
    "target",
    "reorder",
    "replace",
    "orderAnyway",
    "refresh",
    "refreshBudget",
    "base",
  ] as const;
  const name = settled.find((flag) => flags[flag] !== undefined);
  if (name === undefined) return;
  raise("usage/saved_plan", { flag: spelledOption(name) });
}

export const QUESTIONS = { apply: "Make these changes?", destroy: "Remove all this?", adopt: "Go on?" };

/**
 * Asks for approval.
 * @param unasked Options that skip the question, such as `--auto-approve`.
 * @throws HostformError `apply.declined` unless the answer is yes.
 */
export async function approve(
  terminal: Terminal,
  question: string,
  stop?: AbortSignal,
  unasked = "--auto-approve",
): Promise<void> {
  say(terminal, "");
  const answer = await terminal.ask(`${question} Only "yes" is accepted: `, stop);
  if (answer?.trim() === "yes") return;
  if (answer !== undefined) raise("apply.declined", {});
  raise("apply.declined/unasked", { flags: unasked, command: question === QUESTIONS.adopt ? "adopt" : "apply" });
}

const REPAINT_MS = 100;
const STILL_EVERY_MS = 10_000;
const MOST_STILL = 10;
const INTERRUPTED =
  "\nInterrupted. hostform sends no more requests, waits up to 30 seconds for those under way, and records their results. Press Ctrl-C again to stop at once; their results are then unknown.";

/**
 * Prints the progress of an apply on standard error, one line per event. A terminal also repaints a status. Other outputs get
 * one line every ten seconds for each long change.
 * @param stop Signal of the first Ctrl-C. A message then explains what happens next.
 */
export async function showProgress<T>(
  terminal: Terminal,
  plan: Plan,
  stop: AbortSignal,
  work: (onEvent: (event: ApplyEvent) => void) => Promise<T>,
): Promise<T> {
  if (terminal.quiet) return work(() => undefined);
  const { activity, clock, errLook, repaints } = terminal;
  let status: Status = startStatus(plan, clock.monotonic());
  const unmute = activity.mute();
  const paint = () => {
    if (repaints) activity.paint(renderStatus(status, clock.monotonic(), errLook, activity.budget()));
  };
  const line = (event: ApplyEvent) => {
    const waits = isWaiting(activity.budget(), clock.monotonic());
    say(terminal, progressLine(event, { ...errLook, waits }));
  };
  const onEvent = (event: ApplyEvent) => {
    status = advanceStatus(status, event, clock.monotonic());
    if (event.type !== "waiting") line(event);
    paint();
  };
  const stopping = () => {
    say(terminal, INTERRUPTED);
    paint();
  };
  stop.addEventListener("abort", stopping, { once: true });
  const tick = repaints ? paint : () => stillLines(terminal, status, line);
  const timer = setInterval(tick, repaints ? REPAINT_MS : STILL_EVERY_MS);
  try {
    return await work(onEvent);
  } finally {
    clearInterval(timer);
    stop.removeEventListener("abort", stopping);
    activity.erase();
    unmute();
  }
}

/** Prints one line for each running change. While requests wait, prints one line in total. */
function stillLines({ activity, clock, err }: Terminal, status: Status, line: (event: ApplyEvent) => void): void {
  const now = clock.monotonic();
  const budget = activity.budget();
  if (isWaiting(budget, now)) {
    err(`${waitLine(budget, now)}\n`);
    return;
  }
  // Limited, because a thousand changes may wait for jobs.
  for (const [address, { action, since }] of [...status.running].slice(-MOST_STILL)) {
    if (now - since >= STILL_EVERY_MS) line({ type: "progress", address, action, seconds: (now - since) / 1000 });
  }
}
