/**
 * A create, as one loop for all classes. Orders with a key have a file of their own for what differs (create-keyed.ts).
 */
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
import { createdAttributes, formsOf, parentOf } from "./attributes.ts";
import { isLate, wasRefused } from "./context.ts";
import { type CreateClass, confirmMade, keyed } from "./create-keyed.ts";
import { createInTurn, reportOutcome } from "./create-turn.ts";
import { mutationOf } from "./creating.ts";
import { Creation, secretsIn } from "./creation.ts";
import { learnFromAnswer } from "./habits.ts";
import { deleteObject } from "./in-place.ts";
import { formNotices, formsSeen, withForms } from "./own-forms.ts";
import { isPendingCreate, knownBefore, returnsSecretOnce } from "./pending-create.ts";
import { type CreateTurn, type Progress, perform, save } from "./perform.ts";
import { likeness } from "./read.ts";
import { duplicate, existing, unreadable } from "./refusals.ts";
import { writeSecret } from "./secrets.ts";
import { otherPlan, soldAs } from "./sold-plan.ts";
import { mayPass, NotLiveYet, notLiveYet, whyWaiting } from "./status.ts";

/** Most turns of one create in a run, beside those that the request limit ends, or in which it was late. */
const MOST_TURNS = 6;

/** Most attempts of a run at a create that the API refuses as too early. */
const MOST_EARLY = 3;

/** Most times that both places of a replacement are looked at. */
const MOST_ROUNDS = 3;

/**
 * Creates the object of a change.
 *
 * 1. claim the natural key for this address.
 * 2. settle: decide about an attempt without an answer. Waits for lists lie here, outside of a turn.
 * 3. createInTurn: take the turn to create among the processes of this machine.
 * 4. attempt: look for twins, decide again if another process created something, and send.
 * 5. From 2 again, if the answer was lost, at most six times; or if the request did not leave within 5 s after its record.
 * 6. finish: confirm an object that looks old, and write its secret out.
 *
 * A create that the API refuses because its parent is not live yet begins again when the parent is live.
 *
 * @param withdraw restores the record from before the create. `generation`: that of the next order, if the key is spent.
 * @param ticket a place within the request limit that was booked for it.
 * @throws HostformError; the record of the intent stays wherever the object may exist.
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
      // Outside of the turn, so that a full minute does not block other processes.
      const waiting = creation.crowded ?? creation.late;
      if (waiting !== undefined) {
        creation.ticket = await context.writer.reserve(waiting);
        turns -= 1;
      }
      const work = (turn?: CreateTurn, isOutdated = false) => attempt(creation, of, turn, isOutdated);
      const made = await createInTurn(creation, work);
      if (made !== undefined) return await finish(creation, made);
    } catch (error) {
      if (!(error instanceof NotLiveYet)) throw error;
      await untilLive(progress, error);
      // The parent is live, and the API refuses the create all the same.
      if (++early > MOST_EARLY) throw error.refusal;
      creation = new Creation(progress, withdraw);
    } finally {
      current.ticket?.release();
    }
  }
}

/** @throws HostformError `config.duplicate` if another address has the natural key. */
function claimKey({ kind, change, planned, context }: Creation): void {
  const other = context.records.claim?.(kind, planned);
  if (other !== undefined) throw new HostformError([duplicate(kind, change.address, other)]);
}

/** Places within the request limit for the two requests of a replacement. */
interface Places {
  readonly remove: Ticket | undefined;
  readonly create: Ticket | undefined;
}

/**
 * Refuses a replacement before its object is deleted, if the create would be refused after that. Sends GETs only.
 * @returns places for both requests, so that the create does not wait for the request limit after the deletion.
 * @throws HostformError `config.duplicate`; `plan.exists` for an object that the plan did not see.
 */
export async function refuseTaken(progress: Progress): Promise<Places> {
  const creation = new Creation(progress, async () => {});
  const { kind, attributes, context } = progress;
  claimKey(creation);
  if (kind.creation === "listable") await knownThere(creation);
  const mutations = [kind.remove?.(attributes), kind.create(creation.planned, undefined)];
  const tickets: (Ticket | undefined)[] = [];
  try {
    // The wait for one may outlast the other; a limit of a few requests never has room for two at once.
    for (let round = 0; round < MOST_ROUNDS; round++) {
      for (const [at, mutation] of mutations.entries()) {
        if (mutation === undefined || tickets[at]?.isOpen) continue;
        tickets[at]?.release();
        tickets[at] = await context.writer.reserve(mutation);
      }
    }
  } catch (error) {
    for (const ticket of tickets) ticket?.release();
    throw error;
  }
  return { remove: tickets[0], create: tickets[1] };
}

/**
 * Sends a create once, in its turn.
 * @returns undefined: its outcome is open, and to be decided outside of the turn.
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

/** Records the object of a create. From here on it is known, whatever fails next. */
async function recordMade(creation: Creation, made: Created): Promise<Created> {
  const { progress, planned, kind, change } = creation;
  progress.context.fate.did.add("create");
  const before = formsOf(progress.mark, change.before ?? {});
  const number = planned[kind.fromCatalogue?.attribute ?? ""];
  const plans = await progress.context.account.knownPlans(true).catch(ifExplained(() => []));
  const { live, forms: plan } = soldAs(kind, { number }, made.attributes, plans);
  const forms = { ...formsSeen(kind, { sent: planned, live, before }, "made"), ...plan };
  progress.attributes = createdAttributes(kind, planned, { ...made, attributes: live }, forms);
  const isListed = kind.list !== undefined && !made.replayed;
  const created = new Date(progress.context.account.hostNow()).toISOString();
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

/** Records in the store that the last attempt created its object. Without an attempt of this run, an earlier one did. */
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

/** Writes a one-time secret to its `secret_output`. It leaves the state only when it is durable there. */
export async function writeOut(progress: Progress): Promise<void> {
  const { kind, change, context } = progress;
  const { attributes, notices } = await writeSecret(kind, change, progress.attributes, context);
  progress.diagnostics.push(...notices);
  if (attributes === progress.attributes) return;
  progress.attributes = attributes;
  await save(progress);
}

/** Waits until the parent is live. A payment is not waited for. @throws NotLiveYet */
async function untilLive({ change, context }: Progress, early: NotLiveYet): Promise<void> {
  const { kind, service } = early;
  if (service.phase === "live") return;
  const why = await whyWaiting(context.account, early);
  if (why !== undefined) throw early.because(why);
  const isOver = ({ phase }: Remote) => phase !== "pending";
  const found = await context.watch.wait(kind, change.address, service.id, undefined, isOver);
  if (found?.phase !== "live") throw early.because("it is paid, and still being provisioned");
}

/** A create that the collection shows: a lost answer is decided by the list, and the same request is sent again. */
const listable: CreateClass = {
  async resume(creation) {
    const { lost, kind, change, planned, context } = creation;
    const early = lost instanceof NotLiveYet ? lost : undefined;
    const settled = await creation.settle().catch(async (error: unknown) => {
      // A host may hide the objects of a service until it is live; they show then.
      if (early?.service.phase === "pending" && mayPass(error)) return undefined;
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
    // Attributes that only the answer contained stay.
    const shown = Object.entries(made.attributes).filter(([, value]) => value !== null);
    const attributes = { ...secretsIn(creation.answer), ...Object.fromEntries(shown) };
    const answered = { ...creation.answer, id: made.id, attributes };
    return isSecretLost(creation, answered) ? recreate(creation, answered) : answered;
  },

  async prepare(creation) {
    const { kind, change, planned, context } = creation;
    const mutation = kind.create(planned, undefined);
    // An earlier turn may have ended before the request was recorded; then another process may have created a twin.
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

/** A create that nothing shows: sent once. Without a clear answer the user decides (`resolve`). */
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
 * Ids of the objects before the create, for its intent; a new parent has none.
 * @throws HostformError `plan.exists` for an object that the plan did not see.
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
  // The object that this one replaces may look the same; any other object with the natural key is a twin.
  const isReplaced = (remote: Remote) => remote.id === change.before?.id || records.replaces?.(remote);
  if (!there.every(isReplaced)) throw new HostformError([existing(subject, there)]);
  return knownBefore(all, there, subject.ownerOf);
}

/** Returns true if an answer lacks the secret that it alone contains; twice in a run, the host does not return it at all. */
const isSecretLost = ({ kind, isRecreated }: Creation, { attributes }: Created): boolean =>
  !isRecreated && returnsSecretOnce(kind, attributes);

/** Deletes an object whose secret was lost with the answer: the create is sent again, once in a run. */
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
