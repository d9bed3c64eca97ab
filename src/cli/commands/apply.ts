import { VERSION } from "../../api/index.ts";
import { apply } from "../../engine/index.ts";
import { kinds } from "../../kinds/index.ts";
import { type ApplyResult, fail, HostformError, isError } from "../../model/index.ts";
import {
  eventMessage,
  jsonText,
  planMessages,
  renderOutcome,
  renderPlan,
  resultMessages,
  versionMessage,
} from "../../report/index.ts";
import type { GuardFlags } from "../guards.ts";
import { type Invocation, say } from "../io.ts";
import { showProgress } from "../progress.ts";
import { type Run, type RunOptions, withPlan } from "../run.ts";
import { secretsOf } from "../secrets.ts";
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

/** `hostform apply` and `hostform destroy`: plan, ask, do. Exit code 1 when anything failed or was left undone. */
export async function runApply(
  invocation: Invocation,
  command: "apply" | "destroy",
  flags: ApplyFlags,
): Promise<number> {
  const { json } = invocation.options;
  if (json && !flags.autoApprove) {
    fail("usage", `${command} --json cannot ask for approval`, { fix: "Pass --auto-approve." });
  }
  const options: RunOptions = {
    command,
    mode: command,
    targets: flags.target ?? [],
    reorder: flags.reorder ?? [],
    orderAnyway: flags.orderAnyway ?? [],
    guards: flags,
  };
  return withPlan(invocation, options, async (run) => {
    const emit = (messages: readonly object[]) =>
      invocation.io.out(messages.map((message) => `${jsonText(message)}\n`).join(""));
    const now = () => invocation.io.clock.now();
    if (json) emit([versionMessage(VERSION, now()), ...planMessages(run.plan, now())]);
    else invocation.io.out(renderPlan(run.plan, { ...invocation.outLook, moneyScale: run.providers.moneyScale }));
    if (run.plan.diagnostics.some(isError)) return 1;
    if (hasChanges(run.plan) && !flags.autoApprove) await approve(invocation, command);

    const result = json
      ? await carryOut(invocation, run, flags, (event) => emit([eventMessage(event, now())]))
      : await showProgress(invocation, run.plan, run.stop, (onEvent) => carryOut(invocation, run, flags, onEvent));
    if (json) emit(resultMessages(run.plan, result, now()));
    else if (hasChanges(run.plan)) {
      invocation.io.out(
        renderOutcome(run.plan, result, { ...invocation.outLook, moneyScale: run.providers.moneyScale }),
      );
    }
    return result.outcomes.every(({ result: end }) => end === "done") && result.pending.length === 0 ? 0 : 1;
  });
}

async function carryOut(
  invocation: Invocation,
  { plan, desired, state, limits, store, providers, stop }: Run,
  flags: ApplyFlags,
  onEvent: NonNullable<Parameters<typeof apply>[0]["onEvent"]>,
): Promise<ApplyResult> {
  const { io } = invocation;
  // Also where there is nothing to do: whoever reads the state file alone is to find everything in it.
  await store.settle();
  return apply({
    ...secretsOf(invocation, desired),
    plan,
    desired,
    state,
    kinds,
    env: io.env,
    accounts: (alias) => {
      const { account, client } = providers.get(alias);
      return { account, writer: client };
    },
    recorder: store,
    clock: io.clock,
    concurrency: flags.parallelism ?? PARALLELISM,
    waitMs: flags.wait === false ? 0 : (flags.waitTimeout ?? WAIT_MS),
    stop,
    onEvent,
    requests: () => providers.requests,
    limits,
  });
}

async function approve(invocation: Invocation, command: "apply" | "destroy"): Promise<void> {
  const question = command === "apply" ? "Make these changes?" : "Remove all this?";
  say(invocation, "");
  const answer = await invocation.io.ask(`${question} Only "yes" is accepted: `);
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
