import type { Writer } from "../api/index.ts";
import type { Kinds, Remote } from "../kinds/kind.ts";
import {
  type Account,
  type Applied,
  type ApplyContext,
  applyChange,
  conditionsAfter,
  explain,
  Fate,
  isPendingCreate,
  JobWatch,
  NotLiveYet,
  refuseStopped,
  reportOutcome,
} from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  type ApplyEvent,
  type ApplyResult,
  type Change,
  type ChangeOutcome,
  type Clock,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type EnvVars,
  type EvalScope,
  HostformError,
  heldIn,
  isNoOp,
  isReplacement,
  type JsonObject,
  located,
  originsOf,
  type Plan,
  progressOf,
  type State,
  unfulfilledIn,
  type ValueObject,
} from "../model/index.ts";
import { type DataReading, DataSources, type ReadData, readingsBefore } from "./data.ts";
import { ReadyQueue } from "./dependencies.ts";
import { type Limits, storeRefusals } from "./guards.ts";
import { applyIgnoreChanges } from "./meta-arguments.ts";
import { OrderGate } from "./order-gate.ts";
import { recordOutputs } from "./outputs.ts";
import { kindOf, kindsOf, resolveConfig, type Secrets, scopeOf, secretsOf } from "./resolve-config.ts";
import { asObserved, type Recorder, Records, withClient } from "./run-records.ts";
import { Slots } from "./slots.ts";

export interface ApplyOptions extends Secrets {
  readonly plan: Plan;
  readonly desired: Desired;
  /** State that the plan is based on. */
  readonly state: State;
  /** Complete state. Set if `state` contains only the targets. */
  readonly recorded?: State;
  readonly kinds: Kinds;
  readonly env: EnvVars;
  readonly accounts: (alias: string) => { readonly account: Account; readonly writer: Writer };
  readonly recorder: Recorder;
  /** Returns the name of the state, the same in each run. Undefined if the state has no name yet. */
  owner?(): string | undefined;
  readonly clock: Clock;
  readonly concurrency: number;
  /** Longest wait for queued jobs, in milliseconds. 0 if hostform does not wait. */
  readonly waitMs: number;
  /** Longest wait for the create lock, in milliseconds. Default: until other processes release the lock. */
  readonly turnTimeoutMs?: number | undefined;
  /** Signal of the first Ctrl-C. The run sends no more requests, waits for the responses to sent requests, and saves them. */
  readonly stop: AbortSignal;
  /** Signal that ends the run at once, without waiting for running changes. Their outcome is then unknown. */
  readonly abandon?: AbortSignal;
  onEvent?(event: ApplyEvent): void;
  /** Called if the state lock is lost. From then on, this run must not send requests, not even GET requests. */
  onLostLock?(): void;
  onPause?(why: Diagnostic): void;
  /** Returns the number of API requests so far, for all accounts. */
  requests(): number;
  readonly limits?: Limits;
  /** Reads data sources that depend on created objects. Undefined if the declaration has none. */
  readonly readData?: ReadData;
  /** Data sources read during the plan, with their results. */
  readonly data?: ReadonlyMap<string, DataReading>;
  /** Addresses of the complete declaration, if `desired` contains only the targets. */
  readonly all?: ReadonlySet<string>;
}

/**
 * Applies a plan. A change starts after the changes that it refers to; independent changes run in parallel. After a failure,
 * unrelated changes continue. hostform saves each result before it sends the next request of the resource.
 */
export async function apply(options: ApplyOptions): Promise<ApplyResult> {
  return new Run(options).run();
}

class Run {
  readonly #options: ApplyOptions;
  readonly #watch: JobWatch;
  /** Polls for ordered services that look older than their order. */
  readonly #confirmations: JobWatch;
  readonly #gate: OrderGate;
  readonly #attributes: Map<string, JsonObject>;
  readonly #records: Records;
  readonly #outcomes = new Map<string, ChangeOutcome>();
  readonly #declared: ReadonlyMap<string, DesiredResource>;
  readonly #kinds: Kinds;
  readonly #data: DataSources;
  readonly #scope: EvalScope;
  readonly #fates = new Map<string, Fate>();
  readonly #slots = new Slots();
  /** Signal aborted by Ctrl-C or by the loss of the state lock. */
  readonly #stop: AbortSignal;
  /** True if the run already reported a wait for a list. All other creations then wait for the same reason. */
  #paused = false;
  /** Internal error (a bug). The run ends after hostform has saved the running changes. */
  #defect: { readonly error: unknown } | undefined;

  constructor(options: ApplyOptions) {
    this.#options = options;
    const { clock, waitMs: timeoutMs, onEvent, plan, limits = {}, desired, readData, env } = options;
    const kinds = kindsOf(desired, options.kinds);
    this.#kinds = kinds;
    const recorded = options.recorded ?? options.state;
    this.#records = new Records(options.recorder, kinds, recorded, plan.changes, () => options.onLostLock?.());
    const stop = AbortSignal.any([options.stop, this.#records.lost]);
    this.#stop = stop;
    const onWaiting = (addresses: readonly string[], seconds: number) =>
      onEvent?.({ type: "waiting", addresses, seconds });
    const idle = () => this.#slots.idle();
    const mayLook = (isGap: boolean) => this.#records.holdsLock(isGap);
    this.#watch = new JobWatch({ clock, stop, timeoutMs, onWaiting, idle, mayLook });
    this.#confirmations = new JobWatch({ clock, stop, timeoutMs: CONFIRM_MS, idle, mayLook });
    this.#data = new DataSources(desired.data, readData, readingsBefore(plan, options.data, desired.data));
    this.#gate = new OrderGate(plan, limits, kinds, desired.providers);
    this.#declared = new Map(options.desired.resources.map((resource) => [resource.address, resource]));
    // Values for templates: observed values of unchanged resources, new values of applied changes.
    this.#attributes = new Map([...options.state.resources].map(([address, { attributes }]) => [address, attributes]));
    for (const { address, before } of plan.changes) if (before !== null) this.#attributes.set(address, before);
    const changes = new Map(plan.changes.map((change) => [change.address, change]));
    this.#scope = scopeOf(
      (address) => (this.#data.has(address) ? this.#data.value(address, this.#scope) : this.#attributes.get(address)),
      env,
      (address) => this.#data.origins(address, this.#scope) ?? originsOf(changes.get(address)),
    );
  }

  /**
   * Runs the apply.
   *
   * 1. storeRefusals: check that creations can be saved. Otherwise a replacement could delete an object and then fail.
   * 2. recordObserved: update the state to match the account.
   * 3. startReady: start each change after the changes that it refers to, until all have started or the run stops.
   * 4. recordOutputs, if no change is still running and the state lock is held.
   * 5. endOpen: set the outcome of changes that did not start or end.
   *
   * @throws HostformError `store.busy` or `store.newer`; no request was sent.
   */
  async run(): Promise<ApplyResult> {
    const { plan, clock, stop, requests, accounts } = this.#options;
    const started = clock.monotonic();
    const before = requests();
    const refusals = await storeRefusals(plan.changes, (alias) => this.#options.accounts(alias).account);
    if (refusals.length > 0) throw new HostformError(refusals);
    await this.#recordObserved();
    const queue = new ReadyQueue(
      plan.changes.filter((change) => !isNoOp(change)),
      this.#kinds,
    );
    const running = await this.#startReady(queue);
    if (this.#defect !== undefined) throw this.#defect.error;
    const isOver = running.size > 0 || this.#records.lost.aborted;
    const outputs = isOver ? [] : await recordOutputs(this.#options, this.#data, this.#scope);
    this.#endOpen(queue, running);
    const scaleOf = (alias: string) => accounts(alias).account.settings.moneyScale;
    return {
      outcomes: [...this.#outcomes.values()],
      diagnostics: [...this.#records.unreportedLoss(this.#outcomes.values()), ...this.#gate.exceeded(), ...outputs],
      interrupted: stop.aborted,
      unfulfilled: unfulfilledIn(plan),
      held: heldIn(plan),
      noWait: this.#options.waitMs <= 0,
      ...conditionsAfter(plan, this.#outcomes, this.#attributes, scaleOf),
      pending: plan.changes.flatMap(({ address }) =>
        this.#records.isPending(address) && !this.#outcomes.get(address)?.unrecorded ? [address] : [],
      ),
      requests: requests() - before,
      seconds: (clock.monotonic() - started) / 1000,
    };
  }

  /** Starts every change that is ready. @returns the changes that are still running after `abandon`. */
  async #startReady(queue: ReadyQueue): Promise<ReadonlyMap<string, unknown>> {
    const stop = this.#stop;
    const running = new Map<string, Promise<void>>();
    const { abandon, concurrency } = this.#options;
    const abandoned = Promise.withResolvers<void>();
    abandon?.addEventListener("abort", () => abandoned.resolve(), { once: true });
    stop.addEventListener("abort", () => this.#slots.wake(), { once: true });
    while (!abandon?.aborted) {
      const changed = this.#slots.change();
      while (this.#slots.taken < concurrency && !stop.aborted && this.#defect === undefined) {
        const change = queue.take((one) => this.#gate.mayBegin(one, running.keys()));
        if (change === undefined) break;
        const ended = () => {
          running.delete(change.address);
          queue.ended(change.address);
        };
        const attempt = () => this.#attempt(change, queue.blockers.get(change.address) ?? []).finally(ended);
        running.set(change.address, this.#slots.during(attempt));
      }
      if (running.size === 0) break;
      if (this.#slots.taken === 0 || stop.aborted) this.#slots.beIdle();
      await Promise.race([changed, abandoned.promise]);
    }
    this.#slots.beIdle();
    return running;
  }

  #endOpen({ waiting }: ReadyQueue, running: ReadonlyMap<string, unknown>): void {
    for (const address of waiting.keys()) this.#outcomes.set(address, notStarted(address));
    for (const address of running.keys()) {
      const isUnsent = this.#fateOf(address).requests === "nothing";
      this.#outcomes.set(address, isUnsent ? notStarted(address) : unknown(address));
    }
  }

  /** Saves the observed values of unchanged resources, so that the state matches the account. */
  async #recordObserved(): Promise<void> {
    const { plan, state, recorder, accounts, owner } = this.#options;
    const held = new Set(plan.held?.map(({ address }) => address));
    const stale = plan.changes.flatMap((change) => {
      const prior = held.has(change.address) ? undefined : state.resources.get(change.address);
      return (prior && isNoOp(change) ? asObserved(prior, change) : undefined) ?? [];
    });
    await Promise.all(stale.map((resource) => recorder.put(resource)));
    for (const { address, provider, private: mark } of stale) {
      const prior = state.resources.get(address);
      const kind = kindOf(address, this.#kinds);
      if (mark.pending === undefined && isPendingCreate(prior) && kind !== undefined)
        await reportOutcome(accounts(provider).account, kind, prior, true, owner?.());
    }
  }

  async #attempt(change: Change, blockers: readonly string[]): Promise<void> {
    const { clock, onEvent } = this.#options;
    const { address } = change;
    const failed = blockers.find((other) => this.#outcomes.get(other)?.result !== "done");
    if (failed !== undefined) {
      const isWaiting = this.#outcomes.get(failed)?.result === "waiting";
      const reason = isWaiting
        ? problem("apply.waiting", { address, other: failed })
        : problem("apply.skipped", { address, failed, because: failed });
      this.#outcomes.set(address, { address, result: isWaiting ? "waiting" : "skipped", diagnostics: [reason] });
      return;
    }
    const action = progressOf(change);
    const id = change.before?.id;
    const started = clock.monotonic();
    onEvent?.({ type: "start", address, action, ...(typeof id === "string" && { id }) });
    const end = (type: "complete" | "errored", outcome: ChangeOutcome, made?: { readonly id: string }) => {
      this.#outcomes.set(address, outcome);
      onEvent?.({ type, address, action, seconds: (clock.monotonic() - started) / 1000, outcome, ...made });
    };
    try {
      const applied = await this.#apply(change);
      const { attributes, invoice, awaiting, unclear } = applied;
      const outcome: ChangeOutcome = {
        address,
        result: "done",
        diagnostics: [...applied.diagnostics, ...(unclear ? [unclear] : [])],
        ...(invoice && { invoice }),
        ...(awaiting && { awaiting }),
      };
      const newId = attributes?.id;
      end("complete", outcome, typeof newId === "string" ? { id: newId } : undefined);
    } catch (error) {
      if (!(error instanceof HostformError)) {
        this.#defect ??= { error };
        return;
      }
      if (error instanceof NotLiveYet && !this.#stop.aborted) {
        const diagnostics = this.#explain(new HostformError([error.waiting]), change);
        return end("complete", { address, result: "waiting", diagnostics });
      }
      end("errored", this.#unfinished(error, change));
    }
  }

  /** Returns the outcome of a change that failed or was stopped. */
  #unfinished(error: HostformError, change: Change): ChangeOutcome {
    const { address } = change;
    const { requests, isUnrecorded, did } = this.#fateOf(address);
    const stopped = this.#stop.aborted && error.diagnostics.every(({ code }) => STOPPED.has(code));
    if (stopped && requests === "nothing") return notStarted(address);
    const diagnostics = !stopped
      ? this.#explain(error, change)
      : requests === "open"
        ? []
        : [problem("interrupted/halfway", { address })];
    return {
      address,
      result: "failed",
      diagnostics,
      ...(requests === "open" && { unknown: true }),
      ...(did.size > 0 && { did: [...did] }),
      ...(isUnrecorded && { unrecorded: true }),
    };
  }

  async #apply(change: Change): Promise<Applied> {
    const { plan, accounts, clock } = this.#options;
    const stop = this.#stop;
    const kind = kindOf(change.address, this.#kinds);
    if (kind === undefined) throw new Error(`no kind for ${change.address}`);
    const config = await this.#config(change);
    const { account, writer } = accounts(change.provider);
    const order = await this.#gate.admit(kind, change, account);
    const fate = new Fate(order?.answered);
    this.#fates.set(change.address, fate);
    const context: ApplyContext = {
      account,
      writer,
      fate,
      run: {
        project: plan.project,
        clock,
        stop,
        turnTimeoutMs: this.#options.turnTimeoutMs,
        owner: () => this.#options.owner?.(),
        pause: (ms, why) => {
          if (why instanceof ApiError) {
            const { address } = change;
            this.#options.onEvent?.({ type: "busy", address, status: why.status ?? 0, seconds: ms / 1000 });
          } else if (why !== undefined && !this.#paused) {
            this.#options.onPause?.(why);
            this.#paused = true;
          }
          return clock.sleep(ms, stop).catch(() => refuseStopped());
        },
      },
      records: {
        ...this.#records.contextOf(change),
        save: async (resource) => {
          await this.#records.put(withClient(resource, change));
          this.#attributes.set(resource.address, resource.attributes);
        },
        drop: (address) => this.#records.remove(address, change.removal === "delete" || isReplacement(change)),
      },
      secrets: secretsOf(kind, this.#declared.get(change.address), this.#options),
      watch: {
        wait: (ofKind, address, id, parent, done) =>
          this.#slots.beside(() => this.#watch.wait(account, ofKind, change.provider, { address, id, done }, parent)),
        confirm: async (ofKind, address, id) => {
          const sought = { address, id, done: ({ phase }: Remote) => phase !== "gone" };
          const look = () => this.#confirmations.wait(account, ofKind, change.provider, sought);
          return (await this.#slots.beside(look)) !== undefined;
        },
      },
      parentKind: this.#kinds.get(kind.nested?.in ?? ""),
    };
    let isRecorded = false;
    try {
      const applied = await applyChange(kind, change, config, context);
      isRecorded = true;
      return applied;
    } finally {
      isRecorded ||= fate.requests === "answered" && !fate.isUnrecorded;
      const { id } = (isRecorded && this.#attributes.get(change.address)) || {};
      if (!fate.hasEffect) await order?.withdrawn();
      else await order?.ended(typeof id === "string" ? id : null);
    }
  }

  #fateOf(address: string): Fate {
    return this.#fates.get(address) ?? new Fate();
  }

  /** Returns the declared attributes, with all references resolved. */
  async #config(change: Change): Promise<ValueObject | null> {
    const resource = this.#declared.get(change.address);
    const kind = kindOf(change.address, this.#kinds);
    if (resource === undefined || kind === undefined || change.config === null) return null;
    await this.#data.ensure([resource], this.#scope);
    const { config, diagnostics } = resolveConfig(kind, resource, this.#scope);
    if (diagnostics.length > 0) throw new HostformError(diagnostics);
    return applyIgnoreChanges(resource, config, change.before);
  }

  /** Returns the diagnostics of a failure, each with its location in the declaration. */
  #explain(error: HostformError, { address, config }: Change): Diagnostic[] {
    const resource = this.#declared.get(address);
    const kind = kindOf(address, this.#kinds);
    const explained = kind === undefined ? error.diagnostics : explain(kind, address, config ?? {}, error);
    return explained.map((diagnostic) => located(diagnostic, resource?.locate(diagnostic.attribute ?? [])));
  }
}

/** Timeout of the shared check of `#confirmations`, in milliseconds. After that, hostform checks each object alone. */
const CONFIRM_MS = 60_000;

/** Codes of a request that was stopped before it was sent. */
const STOPPED: ReadonlySet<string> = new Set(["api.cancelled", "interrupted"]);

const notStarted = (address: string): ChangeOutcome => ({ address, result: "not-started", diagnostics: [] });
const unknown = (address: string): ChangeOutcome => ({ address, result: "failed", unknown: true, diagnostics: [] });
