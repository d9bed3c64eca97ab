import type { Mutation, PlanRecord } from "../api/index.ts";
import { type Created, type Kind, matches, type Remote } from "../kinds/kind.ts";
import { problem, raise } from "../messages/index.ts";
import { ApiError, HostformError, type Intent, type JsonObject } from "../model/index.ts";
import type { Account } from "./account.ts";
import { differing } from "./attributes.ts";
import { isBusy, wasRefused } from "./context.ts";
import type { Creation } from "./creation.ts";
import { repeatWithinMs } from "./decide.ts";
import { idempotencyKey, usesUpKey } from "./intents.ts";
import { knownBefore, madeBetween } from "./pending-create.ts";
import { lookalikesOf } from "./read.ts";
import { existing, lookalike } from "./refusals.ts";
import { soldAs } from "./sold-plan.ts";

/**
 * Age in milliseconds from which a new object looks old: the host may have replayed an earlier response. The assumed clock
 * difference (SKEW_MS in decide.ts) may be larger, because hostform then only reads the object once more.
 */
const LOOKS_OLD_MS = 300_000;

/** Differences between the classes of creations. */
export interface CreateClass {
  /** Settles attempts without a response. @returns the object, or undefined if the request must be sent again. */
  resume(creation: Creation): Promise<Created | undefined>;
  /** Searches for objects that the creation would duplicate. @throws HostformError if the request must not be sent. */
  prepare(creation: Creation): Promise<Ready>;
  /**
   * Handles the error of the create request. A rejection is saved and thrown. After a lost response, the intent stays in the
   * state. Orders throw in this case, so that the next run decides. Exceptions: the host accepted the order, was busy, or the
   * retry was too late.
   * @returns undefined if this run decides.
   */
  failed(creation: Creation, error: unknown, isFirst: boolean): Promise<undefined>;
}

interface Ready {
  readonly mutation: Mutation;
  /** Ids of objects that the list contained before the create request. */
  readonly before: Pick<Intent, "known" | "knowsAll">;
  readonly options?: { readonly repeatWithinMs: number };
  /**
   * Interprets the response.
   * @returns undefined if the response does not identify the object, or the request must be sent again.
   */
  answered(answer: unknown): Promise<Created | undefined>;
}

/**
 * Creation of an order. hostform reads the list again before sending, so that it never orders an existing object. One run
 * sends an order once. If the response is lost, the next run decides: it sends the same key and bytes again only if the list
 * proves that nothing was ordered. If the host was busy, the same run retries.
 */
export const keyed: CreateClass = {
  async resume(creation) {
    const { lost, answer, context } = creation;
    if (lost === undefined && answer === undefined) {
      const settled = await creation.settle();
      return settled && adopted(creation, settled.made);
    }
    const listed = (answer && (await namedBy(creation, answer))) ?? (await creation.settle())?.made;
    if (listed === undefined && isBusy(lost)) return undefined;
    if (listed === undefined) throw lost;
    context.account.noteNew(listed.id);
    return { ...listed, invoice: answer?.invoice ?? null };
  },

  async prepare(creation) {
    const { kind, change, planned, context, intent, subject } = creation;
    const { account, run } = context;
    const { generation = 1 } = change.private;
    const before = await account.recheck(kind);
    const live = [...before.values()];
    const plans = await account.plans();
    const alike = live.filter(likenessOf(kind, planned, plans));
    if (intent === undefined) refuseTwin(creation, alike, plans);
    const key = idempotencyKey(run.project, kind.orderReference?.(planned) ?? change.address, generation);
    const { keyLifetimeMs } = account.settings;
    return {
      mutation: kind.create(planned, key),
      before: knownBefore(live, alike, subject.ownerOf),
      ...(keyLifetimeMs !== undefined && { options: { repeatWithinMs: repeatWithinMs(keyLifetimeMs) } }),
      answered: (answer) => {
        const made = creation.created(answer);
        return answered(creation, made, intent === undefined, before.get(made.id ?? ""), alike);
      },
    };
  },

  async failed(creation, error) {
    const { generation = 1 } = creation.change.private;
    creation.lost = error;
    const isAccepted = error instanceof HostformError && error.diagnostics[0]?.code === "api.accepted";
    if (isAccepted) await creation.accept();
    if (isAccepted || isHeld(error) || isBusy(error)) return undefined;
    if (wasRefused(error)) await creation.takeBack(error, usesUpKey(error) ? generation + 1 : undefined);
    throw error;
  },
};

/** Interprets the response to an order. @param earlier Object of the response, if the list contained it before the order. */
async function answered(
  creation: Creation,
  made: Created,
  isFirst: boolean,
  earlier: Remote | undefined,
  alike: readonly Remote[],
): Promise<Created | undefined> {
  const { kind, change, context, subject } = creation;
  const { account, records, run } = context;
  if (made.unclear && (earlier === undefined || !alike.includes(earlier))) {
    // A response with only an id may contain the id of a job.
    await creation.accept({ ...made, attributes: {} });
    return undefined;
  }
  const owner = made.id === null ? undefined : records.claimId?.(kind, made.id, made.attributes);
  if (owner !== undefined) {
    await creation.withdraw();
    raise("apply.replayed/held", { ...replay(creation, made.id), owner });
  }
  if (earlier?.phase === "gone") {
    await creation.markGone(earlier.id, change.private.generation ?? 1);
    throw replayedGone(creation, earlier.id);
  }
  if (earlier === undefined) {
    if (made.id !== null) account.noteNew(made.id);
    return looksOld(made, account) ? { ...made, mayBeGone: true } : made;
  }
  await refuseOther(creation, earlier, await account.knownPlans(true));
  if (isFirst && run.adoptsOrders === false) {
    await creation.withdraw();
    throw new HostformError([existing(subject, [earlier])]);
  }
  if (isFirst && change.anyway === true) {
    await creation.withdraw();
    // Another object is declared, but its order has the same name.
    raise("apply.replayed/older", replay(creation, earlier.id));
  }
  const warning = problem("apply.replayed", replay(creation, made.id));
  // A replay repeats the old response, so use the listed attributes. If this state has no intent, another run or person may
  // have ordered the service. hostform adopts the service without changes and does not report its invoice as new.
  const attributes = { ...made.attributes, ...earlier.attributes };
  return { ...made, attributes, phase: earlier.phase, warning, ...(isFirst && { invoice: null, replayed: true }) };
}

/**
 * Returns true if hostform did not send a retry because the host may have dropped the key, and the earlier attempt may have
 * been processed. This run sends no further attempt; the list decides.
 */
const isHeld = (error: unknown): boolean =>
  error instanceof ApiError && error.diagnostics[0]?.code === "api.too_late" && error.reached === "maybe";

/** Returns the listed service with the id of the response. The id may also be the id of a job. */
async function namedBy({ kind, planned, context }: Creation, { id }: Created): Promise<Remote | undefined> {
  const { account, records } = context;
  if (id === null) return undefined;
  account.forget(kind);
  const listed = (await account.list(kind)).get(id);
  if (listed === undefined || listed.phase === "gone") return undefined;
  if (!likenessOf(kind, planned, await account.plans())(listed)) return undefined;
  return records.claimId?.(kind, id, listed.attributes) === undefined ? listed : undefined;
}

/** Returns the result of an order whose response was lost. Sends no request. */
function adopted(creation: Creation, { id, attributes, phase }: Remote): Created {
  const warning = problem("apply.replayed/found", replay(creation, id));
  return { id, attributes, phase, invoice: null, replayed: true, warning };
}

/** Returns the parameters of messages about a replayed response. */
const replay = ({ kind: { noun }, change: { address } }: Creation, id: string | null) => ({
  address,
  noun,
  object: id ?? undefined,
});

/**
 * Returns a function that finds objects like the declared service: same natural key, or a similar object if there is no
 * natural key.
 */
const likenessOf =
  (kind: Kind, planned: JsonObject, plans: readonly PlanRecord[]) =>
  ({ attributes }: Remote): boolean =>
    matches(kind, planned, attributes) || kind.mayMatch?.(planned, attributes, plans) === true;

/**
 * Rejects an order immediately if the list already contains the same object.
 * @throws HostformError `plan.exists`, `plan.lookalike`.
 */
export async function refuseListed(creation: Creation): Promise<void> {
  const { kind, planned, context } = creation;
  const listed = [...(await context.account.recheck(kind)).values()];
  const plans = await context.account.plans();
  refuseTwin(creation, listed.filter(likenessOf(kind, planned, plans)), plans);
}

/** Rejects the order of an object that exists, although the plan did not contain it. */
function refuseTwin(creation: Creation, alike: readonly Remote[], plans: readonly PlanRecord[]): void {
  const { kind, change, planned, context, subject } = creation;
  const { siblings, replaces } = context.records;
  const live = alike.filter((remote) => remote.phase !== "gone" && !replaces?.(remote));
  const twins = live.filter(({ attributes }) => matches(kind, planned, attributes));
  if (twins.length > 0) throw new HostformError([existing(subject, twins)]);
  const others = { ...subject, ...(siblings && { siblings: siblings(kind, true) }) };
  const doubles = lookalikesOf(kind, planned, live, plans, others);
  if (doubles.length > 0 && !change.anyway) throw new HostformError([lookalike(subject, doubles, planned)]);
}

/** Returns true if the response may be a replay whose object was deleted. */
function looksOld(made: Created, account: Account): boolean {
  const [, last] = madeBetween(made) ?? [];
  return made.id !== null && !(last !== undefined && last > account.hostNow() - LOOKS_OLD_MS);
}

/**
 * Checks that a new object exists, if it looks old ({@link Created.mayBeGone}). If the host's clock or time zone is wrong,
 * all new objects look old. Therefore `confirm` checks all orders of a run together, and only a missing object counts as
 * deleted.
 * @throws HostformError `apply.replayed` if nothing was ordered and the key is used up.
 */
export async function confirmMade(creation: Creation, { id, mayBeGone }: Created): Promise<void> {
  const { kind, change, context } = creation;
  const { account, watch } = context;
  if (id === null || !mayBeGone || (await watch.confirm?.(kind, change.address, id).catch(() => false))) return;
  let live: Remote | undefined;
  try {
    live = await account.get(kind, id);
  } catch {
    // The order got a response, so it stays in the state even if this check fails.
    return;
  }
  if (live !== undefined && live.phase !== "gone") return;
  account.noteFound(id);
  await creation.markGone(id, change.private.generation ?? 1);
  throw replayedGone(creation, id);
}

const replayedGone = (creation: Creation, id: string) =>
  new HostformError([problem("apply.replayed/gone", replay(creation, id))]);

/** Rejects a response that contains another service than the declared one: a replay for another order with the same name. */
async function refuseOther(creation: Creation, earlier: Remote, plans: readonly PlanRecord[]): Promise<void> {
  const { kind, planned } = creation;
  const { live } = soldAs(kind, { number: planned[kind.fromCatalogue?.attribute ?? ""] }, earlier.attributes, plans);
  const other = differing(kind, planned, { attributes: live });
  if (other === undefined) return;
  await creation.withdraw();
  const is = live[other] ?? null;
  const declared = planned[other] ?? null;
  const about = {
    ...replay(creation, earlier.id),
    name: other,
    is: JSON.stringify(is),
    declared: JSON.stringify(declared),
  };
  raise("apply.replayed/other", about);
}
