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
import { intentId, intentOf, refusedAgain } from "./creating.ts";
import { type Attempt, FENCE_MS, type Instant } from "./decide.ts";
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

/** The object that a create made; `isUseless`: its secret was lost with the answer. */
interface Settled {
  readonly made: Remote;
  readonly isUseless: boolean;
}

/** A create under way: its intent, its attempts, and the decision about them. */
export class Creation {
  readonly progress: Progress;
  /** Attributes as planned. */
  readonly planned: JsonObject;
  /** Restores the record from before the create. @param generation that of the next order, if the key is spent. */
  readonly withdraw: (generation?: number) => Promise<void>;
  /** Failure of the last attempt, if this run decides about the attempt. */
  lost: unknown;
  /** An answer of success that does not show the object. */
  answer: Created | undefined;
  /** Ids of the objects before the first attempt. */
  before: Pick<Intent, "known" | "knowsAll"> | undefined;
  /** An object of this create was deleted, because its secret was lost. */
  isRecreated = false;
  /** The request that the request limit did not allow within its turn. */
  crowded: Mutation | undefined;
  /** The request that did not leave in time. */
  late: Mutation | undefined;
  /** Its place within the limit. */
  ticket: Ticket | undefined;
  /** The turn of the last attempt. */
  turn: CreateTurn | undefined;
  readonly #mark: PrivateMark;
  #intent: Intent | undefined;
  #attempts: readonly Attempt[] = [];
  /** The intent without the last attempt. */
  #earlier: Intent | undefined;
  /** Generation of the account's lists at the last look. */
  #generation = 0;
  #last: { readonly listed: Listed; readonly now: Instant; readonly isGap: boolean } | undefined;
  #lookedAt: ClockTimes | undefined;
  #lock: PendingQuestion["lock"];
  #timesLate = 0;

  constructor(progress: Progress, withdraw: Creation["withdraw"]) {
    const { kind, change, config, mark } = progress;
    this.progress = progress;
    this.planned = plannedAttributes(kind, change, config);
    this.withdraw = withdraw;
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

  /** Interprets an answer; null: none came. */
  created(answer: unknown): Created {
    const { kind, planned, context } = this;
    return kind.created(answer as Parameters<typeof kind.created>[0], planned, context.account.settings);
  }

  /** Undefined: no attempt can have been carried out. */
  get intent(): Intent | undefined {
    return this.#intent;
  }

  /** Records an attempt before it leaves. @param before what existed before the first one. */
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

  /** Counts a gap between the lists and the record of an attempt. @returns false if there were too many. */
  isWoken(): boolean {
    this.#timesLate += 1;
    return this.#timesLate < MOST_LATE;
  }

  /** Records that the API accepted the last attempt without naming the object: no run sends it again automatically. */
  async accept(answer?: Created): Promise<void> {
    this.answer = answer;
    this.#setOutcome("accepted");
    await this.#save({ ...this.openIntent, accepted: true }, secretsIn(answer));
  }

  /** Records that the last attempt was certainly not carried out. @param generation that of the next order, if the key is spent. */
  async takeBack(error: unknown, generation?: number): Promise<void> {
    this.#setOutcome(notSent(error) ? "not-sent" : "refused");
    const earlier = this.#earlier;
    if (earlier === undefined) {
      await this.withdraw(generation);
      this.#end();
      return;
    }
    // `young`: the host refused to replay the first answer, and the list may lag.
    if (!notSent(error) && ["refused-again", "young"].includes(this.decide().row))
      throw refusedAgain(this.change, earlier, error);
    // The earlier attempt stays open: its result is older than this one.
    await this.#save(earlier);
    this.#attempts = this.#attempts.filter(({ outcome }) => outcome !== "not-sent");
  }

  /** Records that the last attempt did not leave, for another turn. @throws the reason, if it was late too often. */
  async postpone(mutation: Mutation, error: ApiError): Promise<undefined> {
    await this.takeBack(error);
    this.#timesLate += 1;
    if (this.#timesLate >= MOST_LATE) throw whyLate(error);
    const { kind, planned, context } = this;
    context.account.outdate(kind, parentOf(kind, planned));
    // The record from before the create is also that of a replacement without its old object.
    this.progress.mark = this.#mark;
    this.late = mutation;
  }

  /** Records that the answer was that of an old order, whose object is gone: its key is spent. */
  async markGone(id: string, generation: number): Promise<void> {
    this.progress.attributes = { ...this.planned, id };
    await save(this.progress, { ...this.#mark, generation });
  }

  /** The object was deleted, because its secret was lost: the create is sent again. */
  close(): void {
    this.isRecreated = true;
    this.#end();
    this.answer = undefined;
    this.lost = undefined;
  }

  /**
   * Decides about the open attempts. Reads the list at once, and again while it may lag.
   * @returns undefined: the request is to be sent again.
   * @throws HostformError `plan.pending`, `plan.exists`; nothing is sent.
   */
  async settle(): Promise<Settled | undefined> {
    const { run } = this.context;
    let now = this.#now();
    // Attempts of this run were answered, and the run that left an attempt without a fence has ended: none leaves from now on.
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

  /** Reads the list, then proves that the run holds the lock of the state, and decides. */
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

  /** Since the last look another process created something, or more than 5 s passed. */
  get isOutdated(): boolean {
    if (this.#last === undefined || this.#lookedAt === undefined) return false;
    const { account, run } = this.context;
    return this.#generation !== account.generation || elapsedMs(this.#lookedAt, run.clock) > FENCE_MS;
  }

  /** Decides by the list that was read last. */
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

  /** The intent, if one is open. */
  get openIntent(): Intent {
    if (this.#intent === undefined) throw new Error("no create is open");
    return this.#intent;
  }

  /** The host's time and the monotonic clock: a wall clock that is set while this run waits is not taken for time. */
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

  /** The request, with the secrets that an answer contained. */
  #sent(): Sent {
    const { prior } = this.context.records;
    const recorded = isPendingCreate(prior) ? secretsShownOnce(this.kind, prior.attributes) : {};
    const secrets = { ...recorded, ...secretsShownOnce(this.kind, secretsIn(this.answer)) };
    return { attributes: { ...this.planned, ...secrets }, private: { pending: this.openIntent } };
  }

  #follow(decided: PendingDecision): Settled | undefined {
    const [object] = decided.objects;
    const sent = this.#sent();
    // Terraform keeps the id of its plan: it would record another object, or a new one, under that id.
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
      // "Try again" would contradict the question.
      const causes = failed.map(({ remedies: _, ...cause }) => cause);
      throw new HostformError([...causes, questionOf(this.subject, sent, decided, "error")], { cause: this.lost });
    }
    const holder = "holder" in decided ? decided.holder : undefined;
    throw new HostformError([existing(this.subject, decided.objects, holder)]);
  }
}

/** Attributes that an unclear answer contained; its id may be that of a job. */
export function secretsIn(answer: Created | undefined): JsonObject {
  const { id: _, ...attributes } = answer?.attributes ?? {};
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
}
