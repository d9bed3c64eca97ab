import { type Created, type Kind, matches } from "../kinds/kind.ts";
import type { AccountStore, LeavingCreate, StoredCreate, Turn } from "../local/index.ts";
import { problem } from "../messages/index.ts";
import { type Change, type Diagnostic, HostformError, ifExplained, type JsonObject } from "../model/index.ts";
import type { Account } from "./account.ts";
import { parentOf } from "./attributes.ts";
import { refuseStopped } from "./context.ts";
import { refuseListed } from "./create-keyed.ts";
import type { Creation } from "./creation.ts";
import { believedAfterMs, LIST_LAG_MS } from "./decide.ts";
import { idempotencyKey, intentId, thingName } from "./intents.ts";
import type { PendingCreate } from "./pending-create.ts";
import type { CreateTurn } from "./perform.ts";

/**
 * Runs a creation under the create lock of this machine and token. The lock covers the time from reading the list to the
 * response. Without it, two runs with separate states could both create the missing object.
 *
 * 1. Wait for the lock. If a killed process left a create request without outcome, wait until the list must contain its
 * object.
 * 2. If another process created an object since the lists were read, read the lists again.
 * 3. If another run ordered a service with the same hosting plan, and neither service has a domain, wait for the list lag.
 * Reject the order if the list then contains that service.
 * 4. If another run may have created the same object: reject a domain registration, because no list contains domains. For
 * other kinds, wait for the list lag.
 * 5. Send the create request.
 *
 * Each wait for a list releases the lock first.
 * @returns undefined if the outcome is open.
 * @throws HostformError `interrupted` if the run was stopped while waiting. Nothing was sent.
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
  /** Times of create requests of other processes whose list lag this creation has awaited. */
  const awaited = new Set<number>();
  const placeNow = () => run.owner?.() ?? "";
  /** Works under the lock. @returns the pause before the next attempt to take the lock, in milliseconds. */
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
    // This state contains its own earlier creations. It may lack objects that another run created after the start of this
    // run.
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
      // Assign after `leave`: if `leave` fails, `end` must not change the entry of an earlier attempt.
      intent = leaving;
    };
    const end = (outcome: "made" | "nothing") => store[outcome === "made" ? "answer" : "unsent"](intent);
    const made = await carryOut({ begin, end }, isOutdated);
    // With the same key, the response may contain the order of the other run. The object is then not new.
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
 * Returns how long lists may still lack an object that was requested at `at`, in milliseconds. At most the full list lag,
 * even if a clock was set back. Undefined after the list lag.
 */
function unbelievedMs(account: Account, at: number): number | undefined {
  const believed = believedAfterMs(account.settings.listLagMs ?? LIST_LAG_MS);
  const left = Math.min(believed, at + believed - account.hostNow());
  return left > 0 ? left : undefined;
}

/**
 * Returns the last order of another state that no list can distinguish from this order. Undefined with `--order-anyway`. Also
 * undefined if this resource has a pending order, because the listed object may be its result.
 */
async function alikeElsewhere(
  { anyway, private: mark }: Change,
  of: { readonly likeness: string | undefined; readonly place: string; readonly countAtStart: number },
  store: AccountStore,
): Promise<StoredCreate | undefined> {
  if (anyway || mark.pending !== undefined || of.likeness === undefined) return undefined;
  return store.newest({ likeness: of.likeness, notOf: of.place, after: store.isResettable ? of.countAtStart : 0 });
}

/**
 * Returns how long the list may still lack the object of another run, in milliseconds. Undefined if the list contains the
 * object, or after the list lag.
 */
async function unshownMs(
  { kind, planned, context: { account } }: Creation,
  { at }: StoredCreate,
): Promise<number | undefined> {
  const parent = parentOf(kind, planned);
  const listed = [...(await account.list(kind, parent)).values()];
  if (listed.some(({ attributes }) => matches(kind, planned, attributes))) return undefined;
  const left = unbelievedMs(account, at);
  // The list was read before the list lag ended, so read it again.
  if (left === undefined) account.outdateFor(at, kind, parent);
  return left;
}

/**
 * Saves the outcome of an earlier run's create request in the store. Other runs then need not wait.
 * @param place Name of the state.
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

/**
 * Returns the name of the object in the store, the same in all runs. Empty if the object has no distinguishing attribute. A
 * service without a domain is named by the key of its order.
 */
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
 * Returns an error if another run ordered the same object and no list contains such objects (domains). Runs before the plan
 * is displayed.
 * @param place Mark of this state.
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
  // If the store is unusable, the plan already reports this.
  const unused = ifExplained(() => undefined);
  const earlier = await store.newest({ thing: thingName(kind, undefined, key), place }).catch(unused);
  return earlier && isOrderedAlready(kind, earlier) ? orderedAlready(kind, change, key, earlier) : undefined;
}

/**
 * Returns true if the store has an order of an object that no list contains. The order may even be of this state, if the
 * state was restored from a backup. A lost request of this state is not counted, because the user has settled it.
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
