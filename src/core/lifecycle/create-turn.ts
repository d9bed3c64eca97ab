import { type Created, type Kind, matches } from "../kinds/kind.ts";
import type { AccountStore, LeavingCreate, StoredCreate, Turn } from "../local/index.ts";
import { problem } from "../messages/index.ts";
import { type Change, type Diagnostic, HostformError, ifExplained, type JsonObject } from "../model/index.ts";
import type { Account } from "./account.ts";
import { parentOf } from "./attributes.ts";
import { refuseStopped } from "./context.ts";
import { refuseListed } from "./create-keyed.ts";
import { idempotencyKey, intentId, thingName } from "./creating.ts";
import type { Creation } from "./creation.ts";
import { believedAfterMs, LIST_LAG_MS } from "./decide.ts";
import type { PendingCreate } from "./pending-create.ts";
import type { CreateTurn } from "./perform.ts";

/**
 * Carries a create out while no other process of this machine creates anything with the token: from the list that lacks the
 * object to the answer. Otherwise two runs without a common state would both find the object missing, and both create it.
 *
 * 1. Wait for the turn. A create of a killed process may not be listed yet: wait until lists must show its object.
 * 2. If another process created something since the lists were read, read the lists again.
 * 3. If another run ordered a server of the same plan, and neither has a domain, wait until the list must show that server. The
 *    order then refuses what the list shows.
 * 4. If another run created the same object, or may have: refuse a domain, which no list shows; for any other kind, wait until
 *    the list must show the object.
 * 5. Carry the create out. Each wait for a list gives the turn back first.
 *
 * @returns undefined: the outcome is open.
 * @throws HostformError `interrupted` if the run was stopped while it waited: nothing was sent.
 */
export async function createInTurn(
  creation: Creation,
  carryOut: (turn?: CreateTurn, isOutdated?: boolean) => Promise<Created | undefined>,
): Promise<Created | undefined> {
  const { kind, change, planned, context } = creation;
  const { account, run } = context;
  const { stop } = run;
  const { store } = account;
  if (store === undefined) return carryOut();
  let isMyTurn = false;
  let isOutdated = false;
  /** The creates of others that this one has waited for. */
  const awaited = new Set<number>();
  const placeNow = () => run.owner?.() ?? "";
  /** @returns how long to wait, in milliseconds, before the next turn. */
  const work = async (turn: Turn): Promise<Created | number | undefined> => {
    isMyTurn = true;
    const place = placeNow();
    const unknown = await store.newest({ state: "unknown", notOf: place });
    const left = unknown && !awaited.has(unknown.at) ? unbelievedMs(account, unknown.at) : undefined;
    if (unknown && left !== undefined) {
      awaited.add(unknown.at);
      return left;
    }
    if (await account.catchUp(turn)) isOutdated = true;
    const thing = thingOf(kind, change, planned, run.project);
    const likeness = likenessOf(kind, planned);
    const countAtStart = await account.countAtStart;
    const alike = await alikeElsewhere(change, { likeness, place, countAtStart }, store);
    if (alike !== undefined && !awaited.has(alike.at)) {
      const unlisted = unbelievedMs(account, alike.at);
      if (unlisted === undefined) account.outdateFor(alike.at, kind);
      else {
        await refuseListed(creation);
        awaited.add(alike.at);
        return unlisted;
      }
    }
    const earlier =
      thing === ""
        ? undefined
        : await store.newest({ thing, place, intent: creation.intent && intentId(creation.intent) });
    const isNew = earlier !== undefined && earlier.serial > countAtStart;
    const isPending = change.private.pending !== undefined;
    // The own state knows its earlier creates, but not what another run created since an own create without an answer.
    const isOthers = earlier !== undefined && (!earlier.isOwn || (isNew && !isPending));
    if (earlier !== undefined && isOrderedAlready(kind, earlier)) {
      if (!change.anyway && !isPending)
        throw new HostformError([orderedAlready(kind, change, kind.naturalKey(planned), earlier)]);
    } else if (isOthers && (isNew || !store.isResettable) && !awaited.has(earlier.at)) {
      const unshown = await unshownMs(creation, earlier);
      if (unshown !== undefined) {
        awaited.add(earlier.at);
        return unshown;
      }
    }
    let intent: LeavingCreate = { id: "", thing, likeness, place, at: 0 };
    const begin = async () => {
      const leaving = { ...intent, id: intentId(creation.openIntent), place: placeNow(), at: account.hostNow() };
      await store.leave(turn, leaving);
      // Only now: the row of one that does not leave is that of an earlier attempt.
      intent = leaving;
    };
    const end = (outcome: "made" | "nothing") => store[outcome === "made" ? "answer" : "unsent"](intent);
    const made = await carryOut({ begin, end }, isOutdated);
    // The answer may be that of the other run's order, under the same key: then it is not new, and has what that run gave it.
    if (isOthers && made !== undefined && made.id !== null) account.noteFound(made.id);
    return made;
  };
  try {
    for (;;) {
      const { project, turnTimeoutMs: timeoutMs } = run;
      const made = await store.withTurn({ project, place: placeNow(), signal: stop, timeoutMs }, work);
      if (typeof made !== "number") return made;
      await run.pause(made, problem("store.waiting/lists", { seconds: Math.ceil(made / 1000) }));
      account.outdate(kind, parentOf(kind, planned));
      isOutdated = true;
      isMyTurn = false;
    }
  } catch (error) {
    if (isMyTurn || !stop?.aborted) throw error;
    return refuseStopped();
  }
}

/**
 * How long lists may still be without what a request made that left at `at`, in milliseconds: at most all of the time, if a
 * clock was set back. Undefined when that time is over.
 */
function unbelievedMs(account: Account, at: number): number | undefined {
  const believed = believedAfterMs(account.settings.listLagMs ?? LIST_LAG_MS);
  const left = Math.min(believed, at + believed - account.hostNow());
  return left > 0 ? left : undefined;
}

/**
 * The last order of another state that a list does not distinguish from this one. Undefined when the user says that this is
 * another one (`--order-anyway`), and while an earlier order of this one has no known outcome: what the list shows may be its own.
 */
async function alikeElsewhere(
  { anyway, private: mark }: Change,
  of: { readonly likeness: string | undefined; readonly place: string; readonly countAtStart: number },
  store: AccountStore,
): Promise<StoredCreate | undefined> {
  if (anyway || mark.pending !== undefined || of.likeness === undefined) return undefined;
  return store.newest({ likeness: of.likeness, notOf: of.place, after: store.isResettable ? of.countAtStart : 0 });
}

/** Returns how long the list may lack the object of another run, in milliseconds; undefined: it shows the object, or none will. */
async function unshownMs(
  { kind, planned, context: { account } }: Creation,
  { at }: StoredCreate,
): Promise<number | undefined> {
  const parent = parentOf(kind, planned);
  const listed = [...(await account.list(kind, parent)).values()];
  if (listed.some(({ attributes }) => matches(kind, planned, attributes))) return undefined;
  const left = unbelievedMs(account, at);
  // A list that was read in the meantime may lag: this run may have waited for long since then.
  if (left === undefined) account.outdateFor(at, kind, parent);
  return left;
}

/**
 * Records in the store what became of a create of an earlier run, so that no other run waits for what is known.
 * @param place name of the state.
 */
export async function reportOutcome(
  { store }: Account,
  kind: Kind,
  { address, attributes, private: mark }: PendingCreate,
  isMade: boolean,
  place = "",
): Promise<void> {
  const { pending } = mark;
  const thing = thingOf(kind, { address, private: mark }, attributes, "");
  const likeness = likenessOf(kind, attributes);
  const at = Date.parse(pending.resent ?? pending.since);
  await store?.[isMade ? "answer" : "unsent"]({ id: intentId(pending), thing, likeness, place, at });
}

/** The same thing by whichever run it is made; empty where nothing distinguishes it from others. A server has nothing but its order's key. */
function thingOf(
  kind: Kind,
  { address, private: mark }: Pick<Change, "address" | "private">,
  planned: JsonObject,
  project: string,
): string {
  const order = () =>
    mark.pending?.idempotencyKey ??
    idempotencyKey(project, kind.orderReference?.(planned) ?? address, mark.generation ?? 1);
  const key = kind.naturalKey(planned) ?? (kind.creation === "keyed" ? order() : undefined);
  return key === undefined ? "" : thingName(kind, parentOf(kind, planned), key);
}

const likenessOf = (kind: Kind, planned: JsonObject): string | undefined =>
  kind.likeness && kind.naturalKey(planned) === undefined
    ? JSON.stringify([kind.type, "like", kind.likeness(planned)])
    : undefined;

/**
 * Finds the order of another run for an object that no list shows, before a plan is shown.
 * @param place mark of the own state.
 */
export async function findOrder(
  { store }: Pick<Account, "store">,
  kind: Kind,
  change: Change,
  place: string,
): Promise<Diagnostic | undefined> {
  const { anyway, after, private: mark } = change;
  const key = after === null ? undefined : kind.naturalKey(after);
  const isAsked = kind.creation === "blind" && change.actions.includes("create") && !anyway && !mark.pending;
  if (store === undefined || !isAsked || key === undefined) return undefined;
  // The plan already reports a store that it cannot use.
  const unused = ifExplained(() => undefined);
  const earlier = await store.newest({ thing: thingName(kind, undefined, key), place }).catch(unused);
  return earlier && isOrderedAlready(kind, earlier) ? orderedAlready(kind, change, key, earlier) : undefined;
}

/**
 * Returns true if only the memory of this machine shows the object. A restored backup of the own state does not have it either.
 * The user has settled an own create without an answer.
 */
const isOrderedAlready = ({ creation }: Kind, { isOwn, state }: StoredCreate): boolean =>
  creation === "blind" && (!isOwn || state === "answered");

function orderedAlready(
  { noun }: Kind,
  { address }: Pick<Change, "address">,
  key: string | undefined,
  { at, state, isOwn }: StoredCreate,
): Diagnostic {
  const about = { address, noun, object: String(key), at: new Date(at).toISOString() };
  return problem("plan.exists/elsewhere", { ...about, isLost: state !== "answered", isOwn });
}
