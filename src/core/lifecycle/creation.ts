import type { Mutation, Ticket } from "../api/index.ts";
import type { Created, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type ApiError,
  type ClockTimes,
  elapsedMs,
  HostformError,
  type Intent,
  isGap,
  type JsonObject,
  momentOf,
  type PrivateMark,
} from "../model/index.ts";
import { parentOf, plannedAttributes } from "./attributes.ts";
import { isBusy, MOST_LATE, notSent, whyLate } from "./context.ts";
import { type Attempt, FENCE_MS, type Instant } from "./decide.ts";
import { intentId, intentOf, refusedAgain } from "./intents.ts";
import { isPendingCreate, type Sent, secretsShownOnce } from "./pending-create.ts";
import {
  attemptsOf,
  decidePending,
  instantOf,
  type Listed,
  type PendingDecision,
  type PendingQuestion,
} from "./pending-facts.ts";
import { listAll } from "./pending-list.ts";
import { type CreateTurn, type Progress, save } from "./perform.ts";
import { existing, questionOf } from "./refusals.ts";

/** Object of a settled creation. `isUseless`: its one-time secret was lost with the response. */
interface Settled {
  readonly made: Remote;
  readonly isUseless: boolean;
}

/** A creation in progress: its intent, its attempts, and the decision about them. */
export class Creation {
  readonly progress: Progress;
  readonly planned: JsonObject;
  /** Failure of the last attempt, if this run decides about the attempt. */
  lost: unknown;
  /** Successful response that does not identify the object. */
  answer: Created | undefined;
  /** Ids of objects that the list contained before the first attempt. */
  before: Pick<Intent, "known" | "knowsAll"> | undefined;
  /** True if this run deleted an object of this creation because its secret was lost. */
  isRecreated = false;
  /** Request that did not fit into the request limit while the lock was held. */
  crowded: Mutation | undefined;
  /** Request that was not sent in time. */
  late: Mutation | undefined;
  /** Reserved slot within the request limit. */
  ticket: Ticket | undefined;
  /** Create lock of the last attempt. */
  turn: CreateTurn | undefined;
  readonly #mark: PrivateMark;
  readonly #withdraw: (generation?: number) => Promise<void>;
  #intent: Intent | undefined;
  #attempts: readonly Attempt[] = [];
  /** Intent as it was before the last attempt. */
  #earlier: Intent | undefined;
  /** Generation of the account's lists at the last reading. */
  #generation = 0;
  #last: { readonly listed: Listed; readonly now: Instant; readonly isGap: boolean } | undefined;
  #lookedAt: ClockTimes | undefined;
  #lock: PendingQuestion["lock"];
  #timesLate = 0;

  constructor(progress: Progress, withdraw: Creation["withdraw"]) {
    const { kind, change, config, mark } = progress;
    this.progress = progress;
    this.planned = plannedAttributes(kind, change, config);
    this.#withdraw = withdraw;
    this.#mark = mark;
    const { pending } = change.private;
    this.before = pending;
    this.#intent = pending;
    this.#attempts = pending === undefined ? [] : attemptsOf(pending);
  }

  get kind(): Progress["kind"] {
    return this.progress.kind;
  }

  get change(): Progress["change"] {
    return this.progress.change;
  }

  get context(): Progress["context"] {
    return this.progress.context;
  }

  /** The resource being created, as diagnostics need it. */
  get subject() {
    const { kind, change, context } = this.progress;
    return {
      kind,
      address: change.address,
      ownerOf: (remote: Remote) => context.records.ownerOf?.(kind, remote),
      isStatePartial: context.records.isStatePartial,
    };
  }

  /** Interprets a response. */
  created(answer: unknown): Created {
    const { kind, planned, context } = this;
    return kind.created(answer as Parameters<typeof kind.created>[0], planned, context.account.settings);
  }

  /** Intent of the pending attempts. Undefined if the host cannot have processed any attempt. */
  get intent(): Intent | undefined {
    return this.#intent;
  }

  /** Saves an attempt before it is sent. @param before Ids of objects that existed before the first attempt. */
  async record(mutation: Mutation, before: Pick<Intent, "known" | "knowsAll">): Promise<void> {
    const recordedAt = this.#now();
    const { wall, mono = 0 } = recordedAt;
    const earlier = this.#intent;
    const intent: Intent = earlier
      ? { ...earlier, id: intentId(earlier), resent: new Date(wall).toISOString() }
      : { id: crypto.randomUUID(), ...intentOf(mutation, wall, before) };
    await this.#save(intent);
    this.#earlier = earlier;
    const leavesBy = instantOf(wall + FENCE_MS, mono + FENCE_MS);
    this.#attempts = [...this.#attempts, { recordedAt, leavesBy, ofThisRun: true, outcome: "open" }];
  }

  /** Counts an attempt that a pause of this process delayed. @returns false after too many. */
  isWoken(): boolean {
    this.#timesLate += 1;
    return this.#timesLate < MOST_LATE;
  }

  /**
   * Saves that the API accepted the last attempt without identifying the object. No run repeats the request automatically.
   */
  async accept(answer?: Created): Promise<void> {
    this.answer = answer;
    this.#setOutcome("accepted");
    await this.#save({ ...this.openIntent, accepted: true }, secretsIn(answer));
  }

  /**
   * Saves that the host certainly did not process the last attempt.
   * @param generation Generation of the next order, if the key is used up.
   */
  async takeBack(error: unknown, generation?: number): Promise<void> {
    this.#setOutcome(notSent(error) ? "not-sent" : "refused");
    const earlier = this.#earlier;
    if (earlier === undefined) return this.withdraw(generation);
    // `young`: the host rejected a replay of the first response, and the list may lag.
    if (!notSent(error) && ["refused-again", "young"].includes(this.decide().row))
      throw refusedAgain(this.change, earlier, error);
    // The earlier attempt is still open: this response does not concern it.
    await this.#save(earlier);
    this.#attempts = this.#attempts.filter(({ outcome }) => outcome !== "not-sent");
  }

  /**
   * Restores the state entry from before the creation. @param generation Generation of the next order, if the key is used up.
   */
  async withdraw(generation?: number): Promise<void> {
    await this.#withdraw(generation);
    this.#end();
  }

  /** Saves that the last attempt was not sent and must take the lock again. @throws the reason after too many late attempts. */
  async postpone(mutation: Mutation, error: ApiError): Promise<undefined> {
    await this.takeBack(error);
    this.#timesLate += 1;
    if (this.#timesLate >= MOST_LATE) throw whyLate(error);
    const { kind, planned, context } = this;
    context.account.outdate(kind, parentOf(kind, planned));
    // In a replacement, the old object is already deleted, so restore the private part of the entry.
    this.progress.mark = this.#mark;
    this.late = mutation;
  }

  /** Saves that the response was a replay and its object no longer exists. The key is used up. */
  async markGone(id: string, generation: number): Promise<void> {
    this.progress.attributes = { ...this.planned, id };
    await save(this.progress, { ...this.#mark, generation });
  }

  /** Prepares a new create request after hostform deleted an object whose secret was lost. */
  close(): void {
    this.isRecreated = true;
    this.#end();
    this.answer = undefined;
    this.lost = undefined;
  }

  /**
   * Decides about the open attempts. Reads the list now, and again during the list lag.
   * @returns undefined if the request must be sent again.
   * @throws HostformError `plan.pending`, `plan.exists`; nothing is sent.
   */
  async settle(): Promise<Settled | undefined> {
    const { run } = this.context;
    let now = this.#now();
    // From now on, no earlier attempt can be sent: attempts of this run have ended, and so has the run that saved an unfenced
    // attempt.
    const { fenced } = this.openIntent;
    this.#attempts = this.#attempts.map((one) =>
      one.leavesBy.wall <= now.wall || (fenced && !one.ofThisRun) ? one : { ...one, leavesBy: now },
    );
    for (;;) {
      const decided = await this.look(now);
      if (decided.do !== "wait" || decided.until === "next-run") return this.#follow(decided);
      await run.pause(decided.until - now.wall, isBusy(this.lost) ? this.lost : undefined);
      now = decided.row === "woken" ? this.#now() : { ...this.#now(), wall: decided.until };
    }
  }

  /** Reads the list, proves that the run holds the state lock, and decides. */
  async look(now = this.#now()): Promise<PendingDecision> {
    const { kind, context, planned } = this;
    const { account, records, run } = context;
    const parent = parentOf(kind, planned);
    account.outdateAfterGap(run.clock);
    const since = momentOf(run.clock);
    if (kind.list !== undefined) {
      account.proveAbsence(kind, parent);
      account.forget(kind, parent);
      this.#generation = account.generation;
      const listed = { ...(await listAll(account, kind, planned)), readAt: now.wall };
      this.#last = { listed, now, isGap: isGap(since, run.clock) };
    }
    this.#lookedAt = momentOf(run.clock);
    await records.proveLock?.().catch((error: unknown) => {
      if (records.lostLock?.() === undefined) throw error;
    });
    this.#lock = records.proveLock && "held";
    return this.decide();
  }

  /** True if another process created an object since the last reading, or the reading is older than 5 s. */
  get isOutdated(): boolean {
    if (this.#last === undefined || this.#lookedAt === undefined) return false;
    const { account, run } = this.context;
    return this.#generation !== account.generation || elapsedMs(this.#lookedAt, run.clock) > FENCE_MS;
  }

  /** Decides with the last reading of the list. */
  decide(): PendingDecision {
    const { account, records } = this.context;
    const now = this.#last?.now ?? this.#now();
    return decidePending({
      ...this.subject,
      sent: this.#sent(),
      listed: this.#last?.listed,
      now: now.wall,
      mono: now.mono,
      settings: account.settings,
      attempts: this.#attempts,
      siblings: records.siblings?.(this.kind),
      isGap: this.#last?.isGap,
      lock: records.lostLock?.() === undefined ? this.#lock : "lost",
    });
  }

  /** Intent of the pending attempts. @throws Error if there is none. */
  get openIntent(): Intent {
    if (this.#intent === undefined) throw new Error("no create is open");
    return this.#intent;
  }

  /**
   * Returns the host's time and the monotonic time. The monotonic clock stays correct if the wall clock is set during a wait.
   */
  #now(): Instant {
    return instantOf(this.context.account.hostNow(), this.context.run.clock.monotonic());
  }

  async #save(pending: Intent, answered: JsonObject = {}): Promise<void> {
    const { progress, planned } = this;
    progress.attributes = { ...planned, ...answered };
    await save(progress, { ...progress.mark, pending });
    this.#intent = pending;
  }

  #end(): void {
    this.#intent = undefined;
    this.#attempts = [];
  }

  #setOutcome(outcome: Attempt["outcome"]): void {
    this.#attempts = this.#attempts.map((one, at, { length }) => (at === length - 1 ? { ...one, outcome } : one));
  }

  /** Returns the sent attributes, with secrets that a response contained. */
  #sent(): Sent {
    const { prior } = this.context.records;
    const recorded = isPendingCreate(prior) ? secretsShownOnce(this.kind, prior.attributes) : {};
    const secrets = { ...recorded, ...secretsShownOnce(this.kind, secretsIn(this.answer)) };
    return { attributes: { ...this.planned, ...secrets }, private: { pending: this.openIntent } };
  }

  #follow(decided: PendingDecision): Settled | undefined {
    const [object] = decided.objects;
    const sent = this.#sent();
    // Terraform already has the id of the plan. It would save any other object under that id.
    const { id } = this.planned;
    if (typeof id === "string" && !(decided.do === "adopt" && decided.id === id))
      throw new HostformError([
        problem("plan.pending/changed", { address: this.change.address, noun: this.kind.noun, id }),
      ]);
    if (decided.do === "adopt" && object !== undefined) {
      const attributes = { ...object.attributes, ...secretsShownOnce(this.kind, sent.attributes) };
      return { made: { ...object, attributes }, isUseless: decided.next === "recreate" };
    }
    if (decided.do === "resend") return undefined;
    if (decided.do === "wait") throw this.context.records.lostLock?.() ?? this.lost;
    if (decided.do === "ask") {
      const failed = decided.row === "blind" && this.lost instanceof HostformError ? this.lost.diagnostics : [];
      // Remove remedies such as "try again", because they contradict the question.
      const causes = failed.map(({ remedies: _, ...cause }) => cause);
      throw new HostformError([...causes, questionOf(this.subject, sent, decided, "error")], { cause: this.lost });
    }
    const holder = "holder" in decided ? decided.holder : undefined;
    throw new HostformError([existing(this.subject, decided.objects, holder)]);
  }
}

/** Returns the attributes of an unclear response. Omits the id, because it may be the id of a job. */
export function secretsIn(answer: Created | undefined): JsonObject {
  const { id: _, ...attributes } = answer?.attributes ?? {};
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
}
