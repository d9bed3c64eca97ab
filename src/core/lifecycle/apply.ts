import type { Mutation } from "../api/index.ts";
import type { ChangeStep, Created, Kind, Remote } from "../kinds/kind.ts";
import {
  type Change,
  type Diagnostic,
  fail,
  isNotFound,
  isReplacement,
  type JsonObject,
  type PrivateMark,
  type QueuedJob,
  type ValueObject,
} from "../model/index.ts";
import {
  createdAttributes,
  ownForms,
  parentOf,
  plannedAttributes,
  recordedOnly,
  recordOf,
  refreshed,
  targetAttributes,
  without,
} from "./attributes.ts";
import { type Applied, type ApplyContext, ended, proceed } from "./context.ts";
import { create } from "./create.ts";
import { confirmMade } from "./create-keyed.ts";
import { type CreateContext, intentOf, wasRefused } from "./creating.ts";
import { isJustCreated, settledMark } from "./pending-create.ts";
import { ownForm } from "./refusals.ts";
import { stepsToward, tryOutput, writeSecret } from "./secrets.ts";
import { withdraw } from "./settle.ts";
import { NotLiveYet, observedMark, unclearEnd, unknownAtOnce, whyWaiting } from "./status.ts";

/**
 * Applies one change. Each request's result is recorded before the next is sent, so a failure in between loses nothing.
 * @param config the declared attributes, evaluated; write-only values too. Null for removals.
 * @throws HostformError; what was done until then is recorded.
 */
export async function applyChange(
  kind: Kind,
  change: Change,
  config: ValueObject | null,
  context: ApplyContext,
): Promise<Applied> {
  const declared = (config ?? {}) as JsonObject;
  const work = new Work(kind, change, declared, context, await tryOutput(kind, change, declared, context));
  if (change.removal !== undefined) return work.remove(change.removal);
  if (change.actions[0] === "no-op") return work.record();
  if (isReplacement(change))
    return change.actions[0] === "create" ? work.replaceCreateFirst() : work.replaceDeleteFirst();
  return change.actions[0] === "create" ? work.create() : work.update();
}

/** Whether the host may not show yet what a change is about. */
const isYoung = ({ private: mark }: Change, { account }: ApplyContext) =>
  isJustCreated(mark, account.settings, account.hostNow());

/** How often a create is sent that is refused as too early. */
const MOST_SENDINGS = 3;

/** One change under way: the attributes as they are after the last answer. */
class Work {
  readonly #kind: Kind;
  readonly #change: Change;
  readonly #config: JsonObject;
  readonly #context: ApplyContext;
  readonly #diagnostics: Diagnostic[];
  #awaiting: Applied["awaiting"];
  #unclear: Diagnostic | undefined;
  #attributes: JsonObject;
  #mark: PrivateMark;

  constructor(kind: Kind, change: Change, config: JsonObject, context: ApplyContext, warnings: readonly Diagnostic[]) {
    this.#kind = kind;
    this.#change = change;
    this.#config = config;
    this.#context = context;
    this.#diagnostics = [...warnings];
    this.#attributes = change.before ?? {};
    const mark = settledMark(change.private);
    const { created: _, ...older } = mark;
    this.#mark = isYoung(change, context) ? mark : older;
  }

  /** Only the state changes (an import, or attributes that concern hostform alone). */
  async record(): Promise<Applied> {
    this.#attributes = {
      ...this.#attributes,
      ...recordedOnly(this.#kind, this.#change, this.#config, this.#attributes),
    };
    await this.#save();
    await this.#writeSecret();
    return this.#end();
  }

  async create(): Promise<Applied> {
    const made = await this.#create();
    await this.#deleteDeposed();
    // A status that is not understood is never acted upon: what has to wait for a live object waits.
    const { phase = "live" } = made;
    const later = this.#kind.deferred?.(phase === "unknown" ? "pending" : phase) ?? [];
    const wanted = { ...this.#attributes, ...without(this.#config, later) };
    if (this.#kind.update !== undefined && !made.replayed) {
      await this.#changeInPlace(wanted);
      await this.#writeSecret();
    }
    const isUnpaid = made.invoice !== null && made.invoice.paid !== true;
    if (phase === "pending") this.#awaiting = made.invoice?.paid ? "provisioning" : "payment";
    if (phase === "unknown") this.#unknownAtOnce(later, isUnpaid);
    return { ...this.#end(), ...(made.invoice && { invoice: made.invoice }) };
  }

  async update(): Promise<Applied> {
    await this.#deleteDeposed();
    await this.#changeInPlace(targetAttributes(this.#kind, this.#change, this.#config, this.#attributes));
    return this.record();
  }

  async replaceCreateFirst(): Promise<Applied> {
    // There is room for one: what an earlier replacement left behind goes before it is forgotten.
    await this.#deleteDeposed();
    const [old, mark] = [this.#attributes, this.#mark];
    this.#mark = { ...mark, deposed: old };
    await this.#create(() => {
      this.#attributes = old;
      this.#mark = mark;
      return this.#save();
    });
    await this.#deleteDeposed();
    return this.#end();
  }

  async replaceDeleteFirst(): Promise<Applied> {
    await this.#delete(this.#attributes);
    await this.#context.records.drop(this.#change.address);
    await this.#create(() => this.#context.records.drop(this.#change.address));
    return this.#end();
  }

  async remove(how: NonNullable<Change["removal"]>): Promise<Applied> {
    if (how === "suspend") await this.#steps(this.#kind.suspendSteps?.(this.#attributes) ?? []);
    if (how === "delete") {
      await this.#deleteDeposed();
      await this.#delete(this.#attributes);
    }
    // Suspended only when that can be seen: until then it is not forgotten, and the next run looks again.
    if (this.#awaiting !== undefined) return this.#end();
    await this.#context.records.drop(this.#change.address);
    return { ...this.#end(), attributes: null };
  }

  /**
   * A create that is refused because what it belongs to is not live yet is sent again once it is, where that is a matter of
   * this run: a payment is not waited for.
   * @throws NotLiveYet
   */
  async #create(undo = (next?: number) => this.#putBack(next)): Promise<Created> {
    for (let sendings = 1; ; sendings++) {
      try {
        return await this.#send(undo);
      } catch (error) {
        if (!(error instanceof NotLiveYet)) throw error;
        const why = await this.#awaitLive(error);
        if (why !== undefined) throw error.because(why);
        // It is live, and refused all the same: then that is not why.
        if (sendings === MOST_SENDINGS) throw error.refusal;
      }
    }
  }

  /** @returns why it is not live; undefined when it is. */
  async #awaitLive(early: NotLiveYet): Promise<string | undefined> {
    const { kind, service } = early;
    if (service.phase === "live") return undefined;
    const { account, watch } = this.#context;
    const why = await whyWaiting(account, early);
    if (why !== undefined) return why;
    const found = await watch.wait(
      kind,
      this.#change.address,
      service.id,
      undefined,
      ({ phase }) => phase !== "pending",
    );
    return found?.phase === "live" ? undefined : "it is paid, and still being provisioned";
  }

  /** @param undo puts the state back to what it was before a create that was refused. */
  async #send(undo: CreateContext["unmark"]): Promise<Created> {
    const planned = plannedAttributes(this.#kind, this.#change, this.#config);
    const before = this.#mark;
    const markGone: CreateContext["markGone"] = async (id, generation) => {
      this.#attributes = { ...planned, id };
      await this.#save({ ...before, generation });
    };
    const made = await create(this.#kind, this.#change, planned, {
      ...this.#context,
      markPending: async (pending, answered) => {
        // What an answer contained is recorded also when the run was stopped.
        if (answered === undefined) proceed(this.#context);
        this.#attributes = { ...planned, ...answered };
        await this.#save({ ...this.#mark, pending });
      },
      unmark: undo,
      markGone,
      discard: async (lost, pending) => {
        this.#attributes = planned;
        await this.#delete(lost, { ...this.#mark, pending });
      },
      warn: (diagnostic) => void this.#diagnostics.push(diagnostic),
    });
    const shown = ownForms(this.#kind, planned, made.attributes);
    this.#attributes = createdAttributes(this.#kind, planned, made, shown);
    if (this.#kind.list !== undefined && !made.replayed)
      this.#mark = { ...this.#mark, created: new Date(this.#context.account.hostNow()).toISOString() };
    this.#noteForms(shown);
    // Durable before anything else happens: from here on the object is known, whatever fails next.
    await this.#save();
    await confirmMade(this.#kind, this.#change, made, { ...this.#context, markGone });
    if (made.warning !== undefined) this.#diagnostics.push({ ...made.warning, address: this.#change.address });
    await this.#writeSecret();
    return made;
  }

  /** What the API shows of a new object in a form of its own is said once, and is no difference from then on. */
  #noteForms(shown: JsonObject): void {
    // Those of an object that it replaces are not its own.
    const { shown: _, ...mark } = this.#mark;
    this.#mark = Object.keys(shown).length === 0 ? mark : { ...mark, shown };
    for (const [name, form] of Object.entries(shown))
      this.#diagnostics.push(ownForm(this.#subject(), name, this.#attributes[name] ?? null, form));
  }

  /** A one-time secret is durable in the state by now; it leaves it only when it is durable in its `secret_output`. */
  async #writeSecret(): Promise<void> {
    const { attributes, notices } = await writeSecret(this.#kind, this.#change, this.#attributes, this.#context);
    this.#diagnostics.push(...notices);
    if (attributes === this.#attributes) return;
    this.#attributes = attributes;
    await this.#save();
  }

  async #changeInPlace(wanted: JsonObject): Promise<void> {
    await this.#steps(await stepsToward(this.#kind, this.#attributes, wanted, this.#config, this.#context));
  }

  /**
   * The record as it was before a create: a gone service stays gone (`--reorder` was for one run), and the generation of an
   * order outlives it, so that the next one does not repeat the key of the service that is gone. What an earlier run was
   * replacing is there still.
   * @param next the generation of the next order, where the key of the refused one is used up.
   */
  async #putBack(next?: number): Promise<void> {
    const { prior, save, drop } = this.#context.records;
    if (prior !== undefined && prior.private.pending === undefined) {
      if (next === undefined) return save(prior);
      // Of a service that is gone, the generation is its own: the next order takes one more.
      const generation = typeof prior.attributes.id === "string" ? next - 1 : next;
      return save({ ...prior, private: { ...prior.private, generation } });
    }
    const mark = { ...this.#mark, ...(next !== undefined && { generation: next }) };
    const left = withdraw(recordOf(this.#kind, this.#change, { ...this.#attributes, id: null }, mark));
    return left === undefined ? drop(this.#change.address) : save(left);
  }

  /** The requests of an in-place change, one after the other; each answer is recorded before the next is sent. */
  async #steps(steps: readonly ChangeStep[]): Promise<void> {
    const { writer } = this.#context;
    for (const step of steps) {
      // Nothing more is done to an object whose status is not understood.
      if (this.#awaiting === "status") return;
      const { toward } = step;
      const { job: _, ...rest } = this.#mark;
      const job = toward && {
        since: new Date(this.#context.account.hostNow()).toISOString(),
        toward,
        before: this.#status(),
      };
      const asked = job === undefined ? this.#mark : { ...rest, job };
      const answer = await this.#begun(step.mutation, asked, () => writer.perform(step.mutation), this.#mark);
      const { once, ...accepted } = step.accept(answer);
      const { emptied, ...answered } = asked;
      const isSame = emptied === step.mutation.endpoint;
      const isFirst = once !== undefined && !isSame;
      this.#mark = isFirst ? { ...asked, emptied: step.mutation.endpoint } : isSame ? answered : asked;
      const { attributes, warning } = isFirst ? once : accepted;
      this.#attributes = { ...this.#attributes, ...attributes };
      if (warning !== undefined) this.#diagnostics.push({ ...warning, address: this.#change.address });
      await this.#save();
      if (job !== undefined) await this.#wait(job);
    }
  }

  /** Waits for a job. What the status does not show, it does not show later either: somebody has to say what it means. */
  async #wait(job: QueuedJob): Promise<void> {
    const { address } = this.#change;
    const done = ({ phase }: Remote) => phase === job.toward;
    const remote = await this.#context.watch.wait(
      this.#kind,
      address,
      String(this.#attributes.id),
      this.#parent(),
      done,
    );
    if (remote === undefined) this.#awaiting = "job";
    else {
      this.#attributes = refreshed(this.#kind, this.#attributes, remote, this.#mark.shown);
      this.#mark = observedMark(this.#mark, remote.phase);
      if (!done(remote)) {
        this.#awaiting = "status";
        this.#unclear = unclearEnd({ ...this.#subject(), job });
      }
    }
    await this.#save();
  }

  /** A new object whose status is not understood. Until its invoice is paid, it waits for that whatever the word is (§1). */
  #unknownAtOnce(later: readonly string[], isUnpaid: boolean): void {
    const names = later.filter((name) => (this.#config[name] ?? false) !== false);
    if (names.length > 0) this.#diagnostics.push(unknownAtOnce(this.#subject(), names));
    this.#awaiting = isUnpaid ? "payment" : names.length > 0 ? "status" : undefined;
  }

  #subject() {
    const { address, provider } = this.#change;
    return { kind: this.#kind, address, provider, attributes: this.#attributes, job: this.#mark.job };
  }

  #status(): string | null {
    const { status } = this.#attributes;
    return typeof status === "string" ? status : null;
  }

  /**
   * Sends a request after it was written down that it is begun. A password is not written down.
   * @param refused the mark when it was certainly not carried out.
   */
  async #begun<T>(mutation: Mutation, mark: PrivateMark, send: () => Promise<T>, refused = mark): Promise<T> {
    proceed(this.#context);
    const { body: _, ...attempt } = intentOf(mutation, this.#context.account.hostNow());
    await this.#save({ ...mark, attempt });
    try {
      return await send();
    } catch (error) {
      if (wasRefused(error)) await this.#save(refused);
      throw error;
    }
  }

  async #delete(attributes: JsonObject, mark = this.#mark): Promise<void> {
    if (this.#kind.remove === undefined) fail("internal", `${this.#kind.type} has no request that removes it`);
    const mutation = this.#kind.remove(attributes);
    try {
      await this.#begun(mutation, mark, () => this.#context.writer.perform(mutation));
    } catch (error) {
      const [{ account }, parent] = [this.#context, this.#parent()];
      account.forget(this.#kind, parent); // gone already is what was wanted, if that is how it is now
      // A list that lags confirms no page of a proxy: of what was created a moment ago, only the API itself says that it is gone.
      const isUnlisted = attributes.id === this.#change.before?.id && isYoung(this.#change, this.#context);
      if (isUnlisted && !isNotFound(error)) throw error;
      if (!(await account.isMissing(error, this.#kind, String(attributes.id), parent))) throw error;
    }
  }

  /** Deletes the object that this one replaced, if it is still there. */
  async #deleteDeposed(): Promise<void> {
    const { deposed, ...rest } = this.#mark;
    if (deposed === undefined) return;
    await this.#delete(deposed);
    this.#mark = rest;
    await this.#save();
  }

  #parent(): string | undefined {
    return parentOf(this.#kind, this.#attributes);
  }

  async #save(mark: PrivateMark = this.#mark): Promise<void> {
    await this.#context.records.save(recordOf(this.#kind, this.#change, this.#attributes, mark));
  }

  #end(): Applied {
    return ended({
      attributes: this.#attributes,
      diagnostics: this.#diagnostics,
      ...(this.#unclear && { unclear: this.#unclear }),
      ...(this.#awaiting && { awaiting: this.#awaiting }),
    });
  }
}
