/** Creates an object. All classes of create requests share one loop. create-keyed.ts contains the special steps of orders. */
import type { Ticket } from "../api/index.ts";
import type { Created, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  conditionWarning,
  HostformError,
  type Intent,
  ifExplained,
  isGap,
  isReplacement,
  type JsonObject,
  momentOf,
} from "../model/index.ts";
import { createdAttributes, parentOf } from "./attributes.ts";
import { isLate, wasRefused } from "./context.ts";
import { type CreateClass, confirmMade, keyed } from "./create-keyed.ts";
import { createInTurn, reportOutcome } from "./create-turn.ts";
import { Creation, secretsIn } from "./creation.ts";
import { learnFromAnswer } from "./habits.ts";
import { deleteObject } from "./in-place.ts";
import { mutationOf } from "./intents.ts";
import { formNotices, formsSeen, withForms } from "./own-forms.ts";
import { isPendingCreate, knownBefore, returnsSecretOnce } from "./pending-create.ts";
import { type CreateTurn, type Progress, perform, save } from "./perform.ts";
import { likeness } from "./read.ts";
import { duplicate, existing, unreadable } from "./refusals.ts";
import { writeSecret } from "./secrets.ts";
import { otherPlan, soldAs } from "./sold-plan.ts";
import { mayPass, NotLiveYet, notLiveYet, whyWaiting } from "./status.ts";

/**
 * Maximum number of lock acquisitions per creation and run. Acquisitions that end without a request (limit, late request) do
 * not count.
 */
const MOST_TURNS = 6;

/** Maximum number of attempts if the API rejects a create request because the parent is not live yet. */
const MOST_EARLY = 3;

/** Maximum number of attempts to reserve both requests of a replacement. */
const MOST_ROUNDS = 3;

/**
 * Creates the object of a change.
 *
 * 1. Reserve the natural key for this address.
 * 2. settle: decide about an attempt whose response was lost. Waits for lists happen here, without the create lock.
 * 3. createInTurn: take the create lock of this machine.
 * 4. attempt: search for duplicates, decide again if another process created an object, and send.
 * 5. Repeat from step 2, at most six times, if this run must decide about a lost response (see `CreateClass.failed`), or if
 * the request was not sent within 5 s of its state entry.
 * 6. finish: confirm an object that looks old, and write its secret.
 *
 * If the API rejects the request or the list because the parent is not live, hostform waits for the parent and repeats from
 * step 2.
 *
 * @param withdraw Restores the state entry from before the creation. `generation`: generation of the next order, if the key
 * is used up.
 * @param ticket Reserved slot within the request limit.
 * @throws HostformError; the intent stays in the state if the object may exist.
 */
export async function create(
  progress: Progress,
  withdraw: Creation["withdraw"],
  ticket?: Ticket | undefined,
): Promise<Created> {
  const { kind, change, context } = progress;
  let creation = new Creation(progress, withdraw);
  creation.ticket = ticket;
  context.account.outdateAfterGap(context.run.clock);
  claimKey(creation);
  const of = CLASSES[kind.creation];
  for (let turns = 0, early = 1; ; turns++) {
    const current = creation;
    try {
      const isOpen = creation.intent !== undefined && creation.crowded === undefined;
      const settled = isOpen ? await of.resume(creation) : undefined;
      if (settled !== undefined) return await finish(creation, await recordMade(creation, settled));
      if (turns === MOST_TURNS)
        throw (
          creation.lost ??
          new HostformError([problem("plan.pending/turns", { address: change.address, turns: MOST_TURNS })])
        );
      // Reserve before taking the lock, so that a wait for the request limit does not block other processes.
      const waiting = creation.crowded ?? creation.late;
      if (waiting !== undefined) {
        creation.ticket = (await context.writer.reserve(waiting))?.hold();
        turns -= 1;
      }
      const work = (turn?: CreateTurn, isOutdated = false) => attempt(creation, of, turn, isOutdated);
      const made = await createInTurn(creation, work);
      if (made !== undefined) return await finish(creation, made);
    } catch (error) {
      if (!(error instanceof NotLiveYet)) throw error;
      await untilLive(creation, error);
      // Give up if the API still rejects the request although the parent has been live for several attempts.
      if (++early > MOST_EARLY) throw error.refusal;
      // Keep an open attempt: it may have created the object, so the next round reads the list before it sends.
      if (creation.intent === undefined) creation = new Creation(progress, withdraw);
      creation.lost = undefined;
    } finally {
      current.ticket?.release();
    }
  }
}

function claimKey({ kind, change, planned, context }: Creation): void {
  const other = context.records.claim?.(kind, planned);
  if (other !== undefined) throw new HostformError([duplicate(kind, change.address, other)]);
}

/** Reserved slots within the request limit for the two requests of a replacement. */
interface Places {
  readonly remove: Ticket | undefined;
  readonly create: Ticket | undefined;
}

/**
 * Rejects a replacement before its object is deleted, if the create request would certainly fail. Sends only GET requests.
 * @returns slots for both requests, so that the creation need not wait after the deletion.
 * @throws HostformError `config.duplicate`; `plan.exists` if the plan lacked an object.
 */
export async function refuseTaken(progress: Progress): Promise<Places> {
  const creation = new Creation(progress, async () => {});
  const { kind, attributes, context } = progress;
  claimKey(creation);
  if (kind.creation === "listable") await knownThere(creation);
  const mutations = [kind.remove?.(attributes), kind.create(creation.planned, undefined)];
  const tickets: (Ticket | undefined)[] = [];
  try {
    // A slot may expire during the wait for the other one. A very low limit never has two free slots at the same time.
    for (let round = 0; round < MOST_ROUNDS; round++) {
      for (const [at, mutation] of mutations.entries()) {
        if (mutation === undefined || tickets[at]?.isOpen) continue;
        tickets[at]?.release();
        tickets[at] = (await context.writer.reserve(mutation))?.hold();
      }
    }
  } catch (error) {
    for (const ticket of tickets) ticket?.release();
    throw error;
  }
  return { remove: tickets[0], create: tickets[1] };
}

/**
 * Sends a create request once, under the create lock.
 * @returns undefined if the outcome is open. The caller then decides without the lock.
 */
async function attempt(
  creation: Creation,
  of: CreateClass,
  turn: CreateTurn | undefined,
  isOutdated: boolean,
): Promise<Created | undefined> {
  const { context, intent } = creation;
  const { clock } = context.run;
  context.account.outdateAfterGap(clock);
  const since = momentOf(clock);
  creation.crowded = undefined;
  creation.late = undefined;
  const isDecided = intent === undefined || !(isOutdated || creation.isOutdated);
  if (!isDecided && (await creation.look()).do !== "resend") return undefined;
  const ready = await of.prepare(creation);
  const mutation = intent === undefined ? ready.mutation : mutationOf(intent, ready.mutation);
  const begin = async () => {
    await turn?.begin();
    creation.turn = turn;
  };
  return perform(context, {
    mutation,
    turn: turn && { ...turn, begin },
    ticket: creation.ticket,
    crowded: () => {
      creation.crowded = mutation;
      return undefined;
    },
    isOutdated: () => isGap(since, clock) && creation.isWoken(),
    ...ready.options,
    record: () => creation.record(mutation, ready.before),
    answered: async (answer) => {
      const sentAt = Date.parse(creation.openIntent.since);
      const made = await ready.answered(answer);
      if (made === undefined) return undefined;
      if (!made.replayed) await learnFromAnswer(context.account, creation.kind, creation.planned, made, sentAt);
      return recordMade(creation, made);
    },
    failed: async (error) =>
      isLate(error) ? creation.postpone(mutation, error) : of.failed(creation, error, intent === undefined),
  });
}

/** Saves the created object. A later failure can then no longer lose it. */
async function recordMade(creation: Creation, made: Created): Promise<Created> {
  const { progress, planned, kind, change } = creation;
  progress.context.fate.did.add("create");
  const before = progress.mark.shown ?? {};
  const number = planned[kind.fromCatalogue?.attribute ?? ""];
  const plans = await progress.context.account.knownPlans(true).catch(ifExplained(() => []));
  const { live, forms: plan } = soldAs(kind, { number }, made.attributes, plans);
  const forms = { ...formsSeen(kind, { sent: planned, live, before }, "made"), ...plan };
  progress.attributes = createdAttributes(kind, planned, { ...made, attributes: live }, forms);
  const isListed = kind.list !== undefined && !made.replayed;
  const created = new Date(progress.context.account.answeredAt()).toISOString();
  progress.mark = {
    ...withForms(progress.mark, forms),
    ...(isListed && { created }),
  };
  const { address, sensitive } = change;
  progress.diagnostics.push(...formNotices({ kind, address, sensitive }, before, forms, true));
  const other = otherPlan({ kind, address }, progress.attributes, forms);
  if (other !== undefined) progress.diagnostics.push(conditionWarning(other));
  await save(progress);
  await endStored(creation);
  return made;
}

/** Saves in the store that the object was created: by the last attempt, or by an earlier run if this run sent no request. */
async function endStored({ turn, kind, context: { account, records, run } }: Creation): Promise<void> {
  if (turn !== undefined) await turn.end("made");
  else if (isPendingCreate(records.prior)) await reportOutcome(account, kind, records.prior, true, run.owner?.());
}

async function finish(creation: Creation, made: Created): Promise<Created> {
  const { progress, change } = creation;
  await confirmMade(creation, made);
  if (made.warning !== undefined) progress.diagnostics.push({ ...made.warning, address: change.address });
  await writeOut(progress);
  return made;
}

/** Writes a one-time secret to its `secret_output`. The state keeps the secret until it is on disk there. */
export async function writeOut(progress: Progress): Promise<void> {
  const { kind, change, context } = progress;
  const { attributes, notices } = await writeSecret(kind, change, progress.attributes, context);
  progress.diagnostics.push(...notices);
  if (attributes === progress.attributes) return;
  progress.attributes = attributes;
  await save(progress);
}

/** Waits until the parent is live, but does not wait for a payment. @throws NotLiveYet */
async function untilLive(creation: Creation, early: NotLiveYet): Promise<void> {
  const { change, context } = creation;
  const { kind, service } = early;
  const defer = async (why: string): Promise<never> => {
    // The API rejected both the request and the list. The next run reads the list before it creates the object.
    if (creation.lost === early && creation.intent !== undefined) await creation.withdraw();
    throw early.because(why);
  };
  if (service.phase === "live") return;
  const why = await whyWaiting(context.account, early);
  if (why !== undefined) return defer(why);
  const isOver = ({ phase }: Remote) => phase !== "pending";
  const found = await context.watch.wait(kind, change.address, service.id, undefined, isOver);
  if (found?.phase !== "live") return defer("it is paid, and still being provisioned");
}

/**
 * Creation of an object that a list contains. After a lost response, the list decides whether hostform sends the same request
 * again.
 */
const listable: CreateClass = {
  async resume(creation) {
    const { lost, kind, change, planned, context } = creation;
    const early = lost instanceof NotLiveYet ? lost : undefined;
    const settled = await creation.settle().catch(async (error: unknown) => {
      // A host may hide the objects of a service until the service is live.
      if (early?.service.phase === "pending" && mayPass(error)) throw early;
      if (lost !== undefined) throw error;
      throw (await notLiveYet(kind, change.address, planned, error, context)) ?? error;
    });
    if (early !== undefined && settled === undefined) {
      await creation.withdraw();
      throw early;
    }
    if (settled === undefined) return undefined;
    const { made, isUseless } = settled;
    if (creation.answer === undefined) return isUseless ? recreate(creation, made) : adopted(creation, made);
    // Keep secrets that only the response contained.
    const shown = Object.entries(made.attributes).filter(([, value]) => value !== null);
    const attributes = { ...secretsIn(creation.answer), ...Object.fromEntries(shown) };
    const answered = { ...creation.answer, id: made.id, attributes };
    return isSecretLost(creation, answered) ? recreate(creation, answered) : answered;
  },

  async prepare(creation) {
    const { kind, change, planned, context } = creation;
    const mutation = kind.create(planned, undefined);
    // An earlier attempt may have lost its lock before the request was saved. Another process may then have created the same
    // object, so search again.
    const isFirst = creation.intent === undefined && !creation.isRecreated;
    if (isFirst)
      creation.before = await knownThere(creation).catch(async (error: unknown) => {
        throw (await notLiveYet(kind, change.address, planned, error, context)) ?? error;
      });
    return {
      mutation,
      before: creation.before ?? {},
      answered: async (answer) => {
        const made = creation.created(answer);
        if (made.id === null || made.unclear) return void (await creation.accept(made));
        return isSecretLost(creation, made) ? recreate(creation, made) : made;
      },
    };
  },

  async failed(creation, error, isFirst) {
    const { kind, change, planned, context } = creation;
    const early = isFirst ? await notLiveYet(kind, change.address, planned, error, context) : undefined;
    if (!wasRefused(error) && error instanceof ApiError) {
      creation.lost = early ?? error;
      return undefined;
    }
    if (early !== undefined) await creation.withdraw();
    else if (wasRefused(error)) await creation.takeBack(error);
    throw early ?? error;
  },
};

/**
 * Creation of an object that no list contains. The request is sent once. Without a clear response, the user decides
 * (`resolve`).
 */
const blind: CreateClass = {
  resume: async (creation) => void (await creation.settle()),

  async prepare(creation) {
    return {
      mutation: creation.kind.create(creation.planned, undefined),
      before: {},
      answered: async (answer) => {
        const made = creation.created(answer);
        return made.unclear ? undefined : made;
      },
    };
  },

  async failed(creation, error) {
    if (wasRefused(error)) {
      await creation.withdraw();
      throw error;
    }
    creation.lost = error;
    return undefined;
  },
};

const CLASSES: Readonly<Record<Progress["kind"]["creation"], CreateClass>> = { keyed, listable, blind };

/**
 * Returns the ids of objects that exist before the creation. Empty if the parent is new.
 * @throws HostformError `plan.exists` if the plan lacked an object.
 */
async function knownThere({
  kind,
  change,
  planned,
  context,
  subject,
}: Creation): Promise<Pick<Intent, "known" | "knowsAll">> {
  const { account, records } = context;
  const parent = parentOf(kind, planned);
  if (parent !== undefined && account.isNew(parent)) return knownBefore([], []);
  const all = [...(await account.recheck(kind, parent)).values()];
  const { matches: there, unreadable: hidden = [] } = await likeness(account, kind, planned, all);
  const free = hidden.filter((remote) => subject.ownerOf(remote) === undefined && !records.replaces?.(remote));
  if (free.length > 0 && !change.anyway && !isReplacement(change))
    throw new HostformError([unreadable(subject, planned, free)]);
  // The replaced object may have the same natural key. Any other object with this key is a duplicate.
  const isReplaced = (remote: Remote) => remote.id === change.before?.id || records.replaces?.(remote);
  if (!there.every(isReplaced)) throw new HostformError([existing(subject, there)]);
  return knownBefore(all, there, subject.ownerOf);
}

/**
 * Returns true if the response lacks the one-time secret. Only the first time in a run: a host that omits it twice never
 * returns it.
 */
const isSecretLost = ({ kind, isRecreated }: Creation, { attributes }: Created): boolean =>
  !isRecreated && returnsSecretOnce(kind, attributes);

/**
 * Deletes an object whose secret was lost with the response. The caller then sends the create request again, once per run.
 */
async function recreate(
  creation: Creation,
  { id, attributes }: { id: string | null; attributes: JsonObject },
): Promise<undefined> {
  const { progress, planned, kind, change } = creation;
  if (creation.isRecreated) throw creation.lost;
  progress.attributes = planned;
  await deleteObject(progress, attributes, { ...progress.mark, ...(creation.intent && { pending: creation.intent }) });
  const about = { address: change.address, noun: kind.noun, object: id ?? undefined };
  progress.diagnostics.push(problem("secret.lost", about));
  await endStored(creation);
  creation.close();
}

function adopted(creation: Creation, { id, attributes }: Remote): Created {
  const { warning: _, ...answer } = creation.created(null);
  return { ...answer, id, attributes };
}
