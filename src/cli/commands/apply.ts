import { VERSION } from "../../core/api/index.ts";
import { apply } from "../../core/engine/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { type ApplyResult, fail, HostformError, isError, isFulfilled, unfulfilledIn } from "../../core/model/index.ts";
import {
  escapeLine,
  eventMessage,
  jsonText,
  outputsMessage,
  planMessages,
  renderOutcome,
  renderOutputs,
  renderPlan,
  resultMessages,
  versionMessage,
} from "../../report/index.ts";
import { dataReader } from "../data-sources.ts";
import { GUARD_FLAGS, type GuardFlags } from "../guards.ts";
import { type Invocation, say } from "../io.ts";
import { showProgress } from "../progress.ts";
import { type Run, type RunOptions, withPlan } from "../run.ts";
import { readSavedPlan, type SavedPlan } from "../saved-plan.ts";
import { secretsOf } from "../secrets.ts";
import { eventInItsTerms, resultInItsTerms } from "../told.ts";
import { hasChanges } from "./plan.ts";

export interface ApplyFlags extends GuardFlags {
  readonly autoApprove?: boolean;
  readonly target?: readonly string[];
  readonly reorder?: readonly string[];
  readonly orderAnyway?: readonly string[];
  /** Commander's form of `--no-wait`. */
  readonly wait?: boolean;
  readonly waitTimeout?: number;
  readonly parallelism?: number;
}

const WAIT_MS = 300_000;
const PARALLELISM = 10;

/**
 * `hostform apply` and `hostform destroy`: plan, ask, do. Exit code 1 unless the result {@link isFulfilled}.
 * @param file a saved plan, which was approved by whoever hands it over: it is carried out without asking, or not at all.
 */
export async function runApply(
  invocation: Invocation,
  command: "apply" | "destroy",
  flags: ApplyFlags,
  file?: string,
): Promise<number> {
  const { json } = invocation.options;
  if (file !== undefined) refusePlanFlags(flags);
  const saved = file === undefined ? undefined : await readSavedPlan(invocation, file);
  if (saved !== undefined && !hasChanges(saved.plan)) {
    say(invocation, "The plan has no changes: there is nothing to apply.");
    return saved.plan.pending.length === 0 && unfulfilledIn(saved.plan).length === 0 ? 0 : 1;
  }
  const agreed = flags.autoApprove === true || saved !== undefined;
  if (json && !agreed) {
    fail("usage", `${command} --json cannot ask for approval`, { fix: "Pass --auto-approve." });
  }
  const options: RunOptions = {
    command,
    mode: command,
    targets: flags.target ?? [],
    reorder: flags.reorder ?? [],
    orderAnyway: flags.orderAnyway ?? [],
    guards: flags,
    ...(saved && { ...saved.request, saved }),
  };
  return withPlan(invocation, options, async (run) => {
    const emit = (messages: readonly object[]) =>
      invocation.io.out(messages.map((message) => `${jsonText(message)}\n`).join(""));
    const now = () => invocation.io.clock.now();
    if (json) emit([versionMessage(VERSION, now()), ...planMessages(run.plan, now())]);
    else invocation.io.out(planText(invocation, run, saved));
    if (run.plan.diagnostics.some(isError)) return 1;
    if (hasChanges(run.plan) && !agreed) {
      await approve(invocation, command, run.interrupts.stop);
      run.providers.refresh();
    }

    const done = json
      ? await carryOut(invocation, run, flags, (event) => emit([eventMessage(event, now())]))
      : await showProgress(invocation, run.plan, run.interrupts.stop, (onEvent) =>
          carryOut(invocation, run, flags, onEvent),
        );
    const result = resultInItsTerms(invocation, done);
    run.shown.push(...result.outcomes.flatMap(({ diagnostics }) => diagnostics.filter(isError)));
    if (json) emit(resultMessages(run.plan, result, now()));
    else if (hasChanges(run.plan) || unfulfilledIn(run.plan).length > 0) {
      invocation.io.out(
        renderOutcome(run.plan, result, { ...invocation.outLook, moneyScale: run.providers.moneyScale }),
      );
    }
    const { outputs } = run.store.state;
    const complete = result.outcomes.every(({ result: end }) => end === "done");
    // Of an apply that has failed they may be those of before: `hostform output` shows them.
    if (complete && outputs !== undefined && json) emit([outputsMessage(outputs, now())]);
    else if (complete && outputs !== undefined) invocation.io.out(`\nOutputs:\n\n${renderOutputs(outputs)}`);
    // What the saved plan left pending is none of the changes that it was narrowed to.
    const open = (saved?.plan.pending ?? []).some(
      (address) => run.store.state.resources.get(address)?.private.pending !== undefined,
    );
    return isFulfilled(result) && !open ? 0 : 1;
  });
}

/** Does what a plan says, as `apply` does it: within its limits, every result recorded at once. */
export async function carryOut(
  invocation: Invocation,
  { plan, desired, state, limits, all, moves, data, store, providers, interrupts }: Run,
  flags: ApplyFlags,
  onEvent: NonNullable<Parameters<typeof apply>[0]["onEvent"]>,
): Promise<ApplyResult> {
  const { io, options } = invocation;
  const { stop, abandon } = interrupts;
  // Also where there is nothing to do: whoever reads the state file alone is to find everything in it.
  await store.settle();
  for (const { from, to } of moves) await store.move(from, to);
  return apply({
    ...secretsOf(invocation, desired),
    plan,
    desired,
    state,
    recorded: store.state,
    kinds,
    env: io.env,
    accounts: (alias) => {
      const { account, client } = providers.get(alias);
      return { account, writer: client };
    },
    recorder: store,
    // A copy of a state in another folder is another state: neither sees what the other records.
    owner: () => (store.state.lineage === "" ? undefined : jsonText([io.cwd, options.dir, store.state.lineage])),
    clock: io.clock,
    concurrency: flags.parallelism ?? PARALLELISM,
    waitMs: flags.wait === false ? 0 : (flags.waitTimeout ?? WAIT_MS),
    stop,
    abandon,
    onEvent: (event) => onEvent(eventInItsTerms(invocation, event)),
    requests: () => providers.requests,
    limits,
    all,
    ...(data && { data }),
    readData: await dataReader(invocation, desired, providers, stop, true),
  });
}

/** A saved plan was seen before: it is shown in short, unless it cannot be carried out. */
function planText(invocation: Invocation, { plan, providers }: Run, saved: SavedPlan | undefined): string {
  const look = { ...invocation.outLook, moneyScale: providers.moneyScale };
  if (saved === undefined || plan.diagnostics.some(isError)) return renderPlan(plan, look);
  return `Applying the plan that was made ${escapeLine(saved.plan.timestamp)}.\n${renderPlan(plan, { ...look, body: false })}`;
}

/** What a saved plan does was settled when it was made. */
function refusePlanFlags(flags: ApplyFlags): void {
  const settled = [...GUARD_FLAGS, "target", "reorder", "orderAnyway"] as const;
  const name = settled.find((flag) => flags[flag] !== undefined);
  if (name === undefined) return;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  fail("usage", `${flag} does not go with a saved plan`, {
    detail: "The plan holds what it was made with, and does that or nothing.",
    fix: `Leave it out; or make another plan: \`hostform plan ${flag} … --out FILE\`.`,
  });
}

async function approve(invocation: Invocation, command: "apply" | "destroy", stop: AbortSignal): Promise<void> {
  const question = command === "apply" ? "Make these changes?" : "Remove all this?";
  say(invocation, "");
  const answer = await invocation.io.ask(`${question} Only "yes" is accepted: `, stop);
  if (answer?.trim() === "yes") return;
  const nobody = answer === undefined;
  throw new HostformError([
    {
      severity: "error",
      code: "apply.declined",
      summary: nobody
        ? "Nobody is there to approve: standard input is not a terminal"
        : "Not approved. Nothing was changed.",
      ...(nobody && { fix: "Pass --auto-approve to apply without being asked. Nothing was changed." }),
    },
  ]);
}
