/**
 * A create, in the way of its class. Orders with a key have a file of their own (create-keyed.ts).
 */
import type { Created, Kind, Remote } from "../kinds/kind.ts";
import {
  ApiError,
  type Change,
  HostformError,
  type Intent,
  isReplacement,
  type JsonObject,
  warningOf,
} from "../model/index.ts";
import { parentOf } from "./attributes.ts";
import { createKeyed } from "./create-keyed.ts";
import { createInTurn } from "./create-turn.ts";
import { type CreateContext, intentOf, mutationOf, stopped, subjectOf, wasRefused } from "./creating.ts";
import { OpenCreate } from "./open-create.ts";
import { knownBefore, returnsSecretOnce } from "./pending-create.ts";
import { likeness } from "./read.ts";
import { duplicate, existing, pending, unreadable } from "./refusals.ts";
import { mayPass, notLiveYet } from "./status.ts";

/**
 * Sends a create, in the way of its class, and says what was made. That it was begun is durable before it leaves, and
 * is taken back only when it certainly was not carried out. When the answer is lost:
 *
 * - keyed: the list decides: nothing new like it, the same key and bytes are sent again; certainly it, adopted; else stopped;
 * - listable: the same, without a key;
 * - blind: the resource stays marked as pending and the request is never sent again automatically.
 *
 * Creates of one token are made in turns by the processes of a machine (create-turn.ts).
 * @throws HostformError; the mark stays wherever it is not known whether the object was made.
 */
export async function create(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Created> {
  const other = context.records.claim?.(kind, planned);
  if (other !== undefined) throw new HostformError([duplicate(kind, change.address, other)]);
  const send = BY_CLASS[kind.creation];
  return createInTurn(kind, change, planned, context, (inTurn) => send(kind, change, planned, inTurn));
}

const BY_CLASS = { keyed: createKeyed, listable: createListable, blind: createBlind } as const;

/** Attempts of one run, those included whose object was deleted because its secret was lost. */
const MOST_SENDINGS = 2;

/**
 * A create that the collection shows. After a lost answer, of this run or an earlier one, the list decides before
 * anything is sent again.
 */
async function createListable(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Created> {
  const { account, writer } = context;
  const fresh = kind.create(planned, undefined);
  const open = new OpenCreate(kind, change, planned, context);
  let lost: unknown;
  let isSilent = false;
  /** A host may not show what belongs to a service before that is live. */
  const notShown = async (error: unknown): Promise<never> => {
    throw (await notLiveYet(kind, change.address, planned, error, context)) ?? error;
  };
  const there = open.intent ?? (await present(kind, change, planned, context).catch(notShown));
  for (let sendings = 1; ; sendings++) {
    const earlier = open.intent;
    if (earlier !== undefined) {
      // The change does not record the requests of this run: a second try of the change would not look for their result.
      const settled = await (sendings === 1 ? open.settle().catch(notShown) : open.settle({}, lost));
      if (settled !== undefined && !settled.isUseless) return adopted(kind, planned, settled.made, context);
      if (settled !== undefined) {
        await replaceLost(kind, change, settled.made, earlier, context);
        open.close();
      }
    }
    if (sendings > MOST_SENDINGS) throw lost;
    const isFirst = open.intent === undefined;
    const mutation = open.intent === undefined ? fresh : mutationOf(open.intent, fresh);
    const intent = await open.record(mutation, there);
    let answer: Parameters<Kind["created"]>[0];
    try {
      answer = await writer.perform(mutation);
    } catch (error) {
      const early = isFirst ? await notLiveYet(kind, change.address, planned, error, context) : undefined;
      // Neither made nor shown before the service is live: should it be there all the same, the list shows it then.
      const hidden = (refusal: unknown) => {
        if (early?.service.phase !== "pending" || !mayPass(refusal)) throw refusal;
        return undefined;
      };
      const made = early && !wasRefused(error) ? await open.settle().catch(hidden) : undefined;
      if (made !== undefined) return adopted(kind, planned, made.made, context);
      if (early !== undefined) {
        await context.unmark();
        throw early;
      }
      if (wasRefused(error)) await open.takeBack(error);
      if (wasRefused(error) || !(error instanceof ApiError)) throw error;
      lost = error;
      continue;
    }
    const answered = kind.created(answer, planned, account.settings);
    const made = answered.id === null || answered.unclear ? await named(answered, open) : answered;
    // An answer without the secret that it alone carries is a lost answer; twice, and the host does not return it at all.
    if (!returnsSecretOnce(kind, made.attributes) || isSilent) return made;
    isSilent = true;
    await replaceLost(kind, change, made, intent, context);
    open.close();
  }
}

/**
 * What is there before the create, for its intent; of a parent that is new, nothing.
 * @throws HostformError `plan.exists` for what the plan did not see: it appeared while the plan was looked at, or its parent
 *   was to be made and turned out to be there.
 */
async function present(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Pick<Intent, "known" | "knowsAll">> {
  const { account, records } = context;
  const parent = parentOf(kind, planned);
  if (parent !== undefined && account.isNew(parent)) return knownBefore([], []);
  const all = [...(await account.recheck(kind, parent)).values()];
  const { matches: there, unreadable: hidden = [] } = await likeness(account, kind, planned, all);
  const own = subjectOf(kind, change, context);
  const free = hidden.filter((remote) => own.ownerOf(remote) === undefined && !records.replaces?.(remote));
  if (free.length > 0 && !change.anyway && !isReplacement(change))
    throw new HostformError([unreadable(own, planned, free)]);
  // What a replacement takes the place of may look the same; anything else with the same natural key may not be there.
  const isReplaced = ({ id }: Remote) => id === change.before?.id;
  if (!there.every((remote) => isReplaced(remote) || records.replaces?.(remote)))
    throw new HostformError([existing(own, there)]);
  return knownBefore(all, there, own.ownerOf);
}

/** The secret was only in the lost answer, so delete the object and create it again. */
async function replaceLost(
  kind: Kind,
  { address }: Change,
  made: Pick<Created, "id" | "attributes">,
  intent: Intent,
  { discard, warn }: CreateContext,
): Promise<void> {
  await discard(made.attributes, intent);
  const summary = `The secret of ${address} was lost with the answer to its creation: ${kind.noun} ${made.id} was deleted and recreated`;
  warn(warningOf("secret.lost", summary, { detail: "The API returns the secret only once, in that answer.", address }));
}

function adopted(kind: Kind, planned: JsonObject, { id, attributes }: Remote, { account }: CreateContext): Created {
  const { warning: _, ...answer } = kind.created(null, planned, account.settings);
  return { ...answer, id, attributes };
}

/** An answer that does not show what was made: the list does. What only the answer could contain stays as it came. */
async function named(made: Created, open: OpenCreate): Promise<Created> {
  // Whatever the listing shows: what only the answer contains is kept.
  const { id: _, ...answered } = made.attributes;
  const known = Object.fromEntries(Object.entries(answered).filter(([, value]) => value !== null));
  const listed = await open.accepted(known);
  const seen = Object.entries(listed.attributes).filter(([, value]) => value !== null);
  return { ...made, id: listed.id, attributes: { ...known, ...Object.fromEntries(seen) } };
}

/** A create that nothing shows: sent once. Without a clear answer the mark stays, and the user decides (`resolve`). */
export async function createBlind(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  { account, writer, markPending, unmark }: CreateContext,
): Promise<Created> {
  if (change.private.pending !== undefined) throw stopped(pending({ kind, address: change.address }));
  const mutation = kind.create(planned, undefined);
  await markPending(intentOf(mutation, account.hostNow()));
  try {
    const made = kind.created(await writer.perform(mutation), planned, account.settings);
    if (!made.unclear) return made;
  } catch (error) {
    if (wasRefused(error)) {
      await unmark();
      throw error;
    }
    const causes = error instanceof HostformError ? error.diagnostics : [];
    throw stopped(pending({ kind, address: change.address }), causes, error);
  }
  throw stopped(pending({ kind, address: change.address }));
}
