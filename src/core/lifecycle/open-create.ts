import type { Mutation } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import { type Change, HostformError, type Intent, type JsonObject } from "../model/index.ts";
import { parentOf } from "./attributes.ts";
import { type CreateContext, intentOf, notSent, refusedAgain, stopped, subjectOf } from "./creating.ts";
import type { Attempt } from "./decide.ts";
import { isPendingCreate, type Sent, secretsShownOnce } from "./pending-create.ts";
import { attemptsOf, decidePending, type Listed, type PendingDecision } from "./pending-facts.ts";
import { listAll } from "./read.ts";
import { changedSince, existing, questionOf } from "./refusals.ts";

/** The object that a create made; `isUseless`: its secret was lost with the answer. */
interface Settled {
  readonly made: Remote;
  readonly isUseless: boolean;
}

/** A create under way: its intent, its attempts, and what became of them by the one decision. */
export class OpenCreate {
  readonly #kind: Kind;
  readonly #change: Change;
  readonly #planned: JsonObject;
  readonly #context: CreateContext;
  #intent: Intent | undefined;
  #attempts: readonly Attempt[] = [];
  /** The intent without the last attempt. */
  #earlier: Intent | undefined;
  #last: { readonly listed: Listed; readonly now: number } | undefined;

  constructor(kind: Kind, change: Change, planned: JsonObject, context: CreateContext) {
    this.#kind = kind;
    this.#change = change;
    this.#planned = planned;
    this.#context = context;
    const { pending } = change.private;
    if (pending !== undefined) this.#intent = pending;
    if (pending !== undefined) this.#attempts = attemptsOf(pending);
  }

  /** Undefined: no attempt can have been carried out. */
  get intent(): Intent | undefined {
    return this.#intent;
  }

  /** Records an attempt before it leaves. @param before what existed before the first one. */
  async record(mutation: Mutation, before: Pick<Intent, "known" | "knowsAll">): Promise<Intent> {
    const wall = this.#context.account.hostNow();
    const earlier = this.#intent;
    const intent: Intent =
      earlier === undefined ? intentOf(mutation, wall, before) : { ...earlier, resent: new Date(wall).toISOString() };
    await this.#context.markPending(intent);
    this.#earlier = earlier;
    this.#intent = intent;
    const leavesBy = { wall: Number.POSITIVE_INFINITY };
    this.#attempts = [...this.#attempts, { recordedAt: { wall }, leavesBy, ofThisRun: true, outcome: "open" }];
    return intent;
  }

  /** Nothing is open any more: the object was deleted. */
  close(): void {
    this.#intent = undefined;
    this.#attempts = [];
  }

  /**
   * Decides about the open attempts. Looks at the list at once, and again while it may lag.
   * @param answered attributes that an answer contained.
   * @returns undefined: the request is to be sent again.
   * @throws HostformError `plan.pending`, `plan.exists`; nothing is sent.
   */
  async settle(answered: JsonObject = {}, lost?: unknown): Promise<Settled | undefined> {
    const { account, run } = this.#context;
    let now = account.hostNow();
    // An earlier attempt is of a run that has ended, and a later one was answered: none leaves from now on.
    const by = { wall: now };
    this.#attempts = this.#attempts.map((one) => (one.leavesBy.wall <= now ? one : { ...one, leavesBy: by }));
    account.proveAbsence(this.#kind, parentOf(this.#kind, this.#planned));
    for (;;) {
      account.forget(this.#kind, parentOf(this.#kind, this.#planned));
      const listed = { ...(await listAll(account, this.#kind, this.#planned)), readAt: now };
      this.#last = { listed, now };
      const decided = this.#decide(answered);
      if (decided.do !== "wait" || decided.until === "next-run") return this.#follow(decided, answered, lost);
      await run.pause(decided.until - now);
      now = decided.until;
    }
  }

  /**
   * Returns the object of a request that the API accepted without naming it. The intent is recorded as accepted first: no
   * run sends it again automatically.
   * @throws HostformError `plan.pending` when no list shows the object in time.
   */
  async accepted(answered: JsonObject = {}): Promise<Remote> {
    const intent: Intent = { ...this.#sent(answered).private.pending, accepted: true };
    await this.#context.markPending(intent, answered);
    this.#intent = intent;
    this.#setOutcome("accepted");
    const settled = await this.settle(answered);
    if (settled === undefined) throw new Error("an accepted create is never sent again");
    return settled.made;
  }

  /** Records that the last attempt was certainly not carried out. @param generation that of the next order, if the key is spent. */
  async takeBack(error: unknown, generation?: number): Promise<void> {
    this.#setOutcome(notSent(error) ? "not-sent" : "refused");
    const earlier = this.#earlier;
    if (earlier === undefined) return this.#context.unmark(generation);
    if (this.#decide().row === "refused-again") throw refusedAgain(this.#change, earlier, error);
    // The earlier attempt stays open: its result is older than this one.
    await this.#context.markPending(earlier, {});
  }

  #setOutcome(outcome: Attempt["outcome"]): void {
    this.#attempts = this.#attempts.map((one, at, { length }) => (at === length - 1 ? { ...one, outcome } : one));
  }

  /** The request, with the secrets that an answer contained. */
  #sent(answered: JsonObject): Sent {
    const { prior } = this.#context.records;
    if (this.#intent === undefined) throw new Error("no create is open");
    const recorded = isPendingCreate(prior) ? secretsShownOnce(this.#kind, prior.attributes) : {};
    const secrets = { ...recorded, ...secretsShownOnce(this.#kind, answered) };
    return { attributes: { ...this.#planned, ...secrets }, private: { pending: this.#intent } };
  }

  #subject() {
    return subjectOf(this.#kind, this.#change, this.#context);
  }

  #decide(answered: JsonObject = {}): PendingDecision {
    const { account, records } = this.#context;
    return decidePending({
      ...this.#subject(),
      sent: this.#sent(answered),
      listed: this.#last?.listed,
      now: this.#last?.now ?? account.hostNow(),
      settings: account.settings,
      attempts: this.#attempts,
      siblings: records.siblings?.(this.#kind),
    });
  }

  #follow(decided: PendingDecision, answered: JsonObject, lost: unknown): Settled | undefined {
    const [object] = decided.objects;
    const sent = this.#sent(answered);
    // Terraform keeps the id of its plan: another object, or a new one, would be recorded under that.
    const { id } = this.#planned;
    if (typeof id === "string" && !(decided.do === "adopt" && decided.id === id))
      throw new HostformError([changedSince(this.#subject(), id)]);
    if (decided.do === "adopt" && object !== undefined) {
      const attributes = { ...object.attributes, ...secretsShownOnce(this.#kind, sent.attributes) };
      return { made: { ...object, attributes }, isUseless: decided.next === "recreate" };
    }
    if (decided.do === "resend") return undefined;
    if (decided.do === "wait") throw lost;
    if (decided.do === "ask") throw stopped(questionOf(this.#subject(), sent, decided));
    throw new HostformError([existing(this.#subject(), decided.objects)]);
  }
}
