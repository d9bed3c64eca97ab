import { apply, PARALLELISM } from "../core/engine/index.ts";
import { kinds } from "../core/kinds/index.ts";
import {
  type ApplyResult,
  changesRecord,
  HostformError,
  heldIn,
  isError,
  isNoOp,
  isStopped,
  type Plan,
  unfulfilledIn,
} from "../core/model/index.ts";
import { dataReader } from "./data-reader.ts";
import { forgetEnded } from "./first-seen.ts";
import { entryOf, remember } from "./history.ts";
import { marking } from "./identity.ts";
import { problem } from "./messages.ts";
import type { Run } from "./plan.ts";
import { secretsOf } from "./secrets.ts";
import { eventForStack, resultForStack } from "./stack-diagnostics.ts";

/** Settings of an apply. Times are in milliseconds. */
interface ApplySettings {
  /** True to wait for queued jobs. Default: true. */
  readonly wait?: boolean;
  readonly waitTimeout?: number;
  /** Number of parallel changes. */
  readonly parallelism?: number;
}

/**
 * Applies a plan within its limits and its mandate. A plan that changes something takes one use of the mandate, also if it fails.
 * @returns the result, with remedies in the language of the project.
 */
export async function carryOut(...given: Parameters<typeof perform>): Promise<ApplyResult> {
  const [whole] = given;
  const { plan, store, mandate, policy, project } = whole;
  policy.confirm(project.host.clock.now());
  if (mandate === undefined || !hasChanges(plan)) return perform(...given);
  const end = async (result?: ApplyResult) => {
    const effects = result === undefined ? [] : entryOf(whole, result).effects.map(({ text }) => text);
    return mandate.end({ plan, store, effects }, result);
  };
  try {
    await mandate.begin(whole);
    const result = await perform(...given);
    const { receipt, diagnostics } = await end(result);
    return { ...result, mandate: receipt, diagnostics: [...result.diagnostics, ...diagnostics] };
  } catch (error) {
    await end();
    throw error;
  }
}

async function perform(
  whole: Run,
  { wait = true, waitTimeout = 300_000, parallelism = PARALLELISM }: ApplySettings,
  onEvent: NonNullable<Parameters<typeof apply>[0]["onEvent"]>,
): Promise<ApplyResult> {
  const { project, plan, desired, state, limits, all, moves, data, store, providers, interrupts, ...run } = whole;
  const { source, host, redaction } = project;
  const { stop, abandon } = interrupts;
  // Write the complete state file even for a plan without changes: other programs read only this file, not the journal.
  await store.settle();
  await store.rearrange(moves);
  const mark = marking(run.identities, store.state, run.hasMoved);
  if (run.hasMoved || hasChanges(plan)) {
    const records = [...store.state.resources.values()];
    await Promise.all(records.map((record) => store.put(mark(record))));
  }
  if (source.untrusted !== true) await forgetEnded(whole);
  let owner: string | undefined;
  const done = await apply({
    ...secretsOf(source, host, redaction, desired),
    plan,
    desired,
    state,
    recorded: store.state,
    kinds,
    env: source.env,
    accounts: (alias) => {
      const { account, client } = providers.get(alias);
      return { account, writer: client };
    },
    recorder: {
      put: (resource) => store.put(mark(resource)),
      remove: (address) => store.remove(address),
      setOutputs: (outputs) => store.setOutputs(outputs),
      proveLock: () => store.proveLock(),
      lostLock: () => store.lostLock(),
    },
    owner: () => {
      // The first write determines the lineage. Keep the result, because `store.state` copies the complete state.
      owner ??= project.state.owner(store.state.lineage);
      return owner;
    },
    clock: host.clock,
    concurrency: parallelism,
    waitMs: wait ? waitTimeout : 0,
    turnTimeoutMs: source.lockTimeoutMs,
    stop,
    abandon,
    onEvent: (event) => {
      project.log.trace?.change(event);
      onEvent(eventForStack(source, event));
    },
    onLostLock: () => providers.halt(),
    onPause: project.log.warn,
    requests: () => providers.requests,
    limits,
    all,
    ...(data && { data }),
    readData: await dataReader(host.clock, desired, providers, stop, true),
  });
  const result = resultForStack(source, done);
  run.shown.push(...result.outcomes.flatMap(({ diagnostics }) => diagnostics.filter(isError)));
  const warnings = hasChanges(plan) ? await remember(project, store, entryOf(whole, result)) : [];
  return { ...result, diagnostics: [...result.diagnostics, ...warnings] };
}

/** Returns true if an apply of the plan changes the account or the state. */
export function hasChanges(plan: Plan): boolean {
  return plan.changes.some((change) => !isNoOp(change)) || changesRecord(plan);
}

/** Returns the result of a plan without changes. */
export const unchanged = (plan: Plan): ApplyResult => ({
  ...{ outcomes: [], diagnostics: [], interrupted: false, requests: 0, seconds: 0 },
  ...{ pending: plan.pending, unfulfilled: unfulfilledIn(plan), held: heldIn(plan) },
  conditions: plan.conditions ?? [],
});

/** Adds the reason why a plan for reading cannot be applied. */
export function withUnread(plan: Plan): Plan {
  const { diagnostics, forReading } = plan;
  return forReading ? { ...plan, diagnostics: [...diagnostics, problem("plan.saved/unread", plan)] } : plan;
}

/** Returns true if a plan can be applied. @param isPartial True to skip changes that depend on an error. */
export const mayApply = (plan: Plan, isPartial: boolean): boolean =>
  !isStopped(plan) && plan.forReading === undefined && (heldIn(plan).length === 0 || (isPartial && hasChanges(plan)));

/**
 * Checks that a plan can be applied.
 * @param isPartial True to skip changes that an error affects.
 * @throws HostformError if it cannot.
 */
export function requireApplicable(plan: Plan, isPartial: boolean): void {
  if (mayApply(plan, isPartial)) return;
  const errors = withUnread(plan).diagnostics.filter(isError);
  throw new HostformError(errors.length > 0 ? errors : [problem("plan.saved/unfit", { held: heldIn(plan) })]);
}
