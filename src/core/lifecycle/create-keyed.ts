import type { PlanRecord } from "../api/index.ts";
import { type Created, type Kind, matches, type Remote } from "../kinds/kind.ts";
import { ApiError, type Change, fail, HostformError, type JsonObject, warningOf } from "../model/index.ts";
import type { Account } from "./account.ts";
import { differing } from "./attributes.ts";
import type { ApplyContext } from "./context.ts";
import { type CreateContext, idempotencyKey, mutationOf, subjectOf, usesUpKey, wasRefused } from "./creating.ts";
import { repeatWithinMs } from "./decide.ts";
import { OpenCreate } from "./open-create.ts";
import { knownBefore, madeBetween } from "./pending-create.ts";
import { lookalikesOf } from "./read.ts";
import { existing, lookalike } from "./refusals.ts";

/** Clocks differ: an answer about an object that is this much older than its order repeats an earlier answer. */
const SKEW_MS = 300_000;

/**
 * An order. The list is read once more before it leaves, so that what appeared since the plan, or fell between two pages of
 * it, is not ordered a second time. One without known outcome is sent again, with the same key and bytes, only when the list
 * certainly shows nothing of it: how long the host remembers the key is not known.
 */
export async function createKeyed(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Created> {
  const { account, writer, run, unmark } = context;
  const { pending, generation = 1 } = change.private;
  const open = new OpenCreate(kind, change, planned, context);
  const found = pending && (await open.settle());
  if (found !== undefined) return adopted(kind, change, found.made);
  const before = await account.recheck(kind);
  const live = [...before.values()];
  const plans = await account.plans();
  const like = likenessOf(kind, planned, plans);
  const alike = live.filter(like);
  if (pending === undefined) refuseTwin(kind, change, planned, alike, plans, context);

  const key = idempotencyKey(run.project, kind.orderReference?.(planned) ?? change.address, generation);
  const fresh = kind.create(planned, key);
  const mutation = pending === undefined ? fresh : mutationOf(pending, fresh);
  const subject = subjectOf(kind, change, context);
  const there = knownBefore(live, alike, subject.ownerOf);
  await open.record(mutation, there);
  const { keyLifetimeMs } = account.settings;
  const repeated = keyLifetimeMs === undefined ? {} : { repeatWithinMs: repeatWithinMs(keyLifetimeMs) };
  let made: Created;
  try {
    made = kind.created(await writer.perform(mutation, repeated), planned, account.settings);
  } catch (error) {
    if (error instanceof HostformError && error.diagnostics[0]?.code === "api.accepted")
      return newlyListed(await open.accepted(), context);
    if (isHeld(error)) {
      const late = await open.settle({}, error);
      if (late !== undefined) return newlyListed(late.made, context);
    }
    if (wasRefused(error)) await open.takeBack(error, usesUpKey(error) ? generation + 1 : undefined);
    throw error;
  }

  const earlier = made.id === null ? undefined : before.get(made.id);
  if (made.unclear && (earlier === undefined || !like(earlier))) {
    const own = await namedBy(kind, made, like, context);
    const listed = own ?? (await open.accepted());
    return { ...newlyListed(listed, context), invoice: made.invoice };
  }

  const owner = made.id === null ? undefined : context.records.claimId?.(kind, made.id, made.attributes);
  if (owner !== undefined) {
    await unmark();
    const summary = `The API answered the order of ${change.address} with ${kind.noun} ${made.id}, which is already ${owner}`;
    fail("apply.replayed", summary, {
      detail: `No order was placed. Either both have the same \`reference\`, and the API replayed the other order; or ${owner} was adopted by mistake.`,
      remedies: ["Correct `reference`.", { do: "forget", address: owner, why: "import" }],
      address: change.address,
    });
  }
  if (earlier?.phase === "gone") {
    await context.markGone(String(made.id), generation);
    replayedGone(kind, change, made);
  }
  if (earlier === undefined) {
    if (made.id !== null) account.noteNew(made.id);
    return looksOld(made, account) ? { ...made, mayBeGone: true } : made;
  }
  await refuseOther(kind, change, planned, earlier, context);
  if (pending === undefined && run.adoptsOrders === false) {
    await unmark();
    throw new HostformError([existing(subject, [earlier])]);
  }
  if (pending === undefined && change.anyway === true) {
    await unmark();
    notAnother(kind, change, earlier);
  }
  const summary = `${change.address} had been ordered before: adopted ${kind.noun} ${made.id}, nothing new was ordered`;
  const warning = warningOf("apply.replayed", summary, { object: made.id ?? undefined });
  // A replay repeats the answer of then; the list shows the service of now. Without a mark of ours it is not known whose
  // order it was: the service is adopted and nothing is done to it yet, and the invoice is not a new one.
  const attributes = { ...made.attributes, ...earlier.attributes };
  const strange = pending === undefined;
  return { ...made, attributes, phase: earlier.phase, warning, ...(strange && { invoice: null, replayed: true }) };
}

/**
 * An earlier attempt may have been carried out, and the next one waited for its turn until the host may have forgotten the
 * key: it did not leave, and none does in this run. The list says what became of the earlier one.
 */
const isHeld = (error: unknown): boolean =>
  error instanceof ApiError && error.diagnostics[0]?.code === "api.too_late" && error.reached === "maybe";

/** The service that an answer names by nothing but an id, which may as well be that of a job. */
async function namedBy(
  kind: Kind,
  { id }: Created,
  like: (remote: Remote) => boolean,
  { account, records }: CreateContext,
): Promise<Remote | undefined> {
  if (id === null) return undefined;
  account.forget(kind);
  const listed = (await account.list(kind)).get(id);
  if (listed === undefined || listed.phase === "gone" || !like(listed)) return undefined;
  return records.claimId?.(kind, id, listed.attributes) === undefined ? listed : undefined;
}

/** The object of an order of this run, as the list shows it. */
function newlyListed({ id, attributes, phase }: Remote, { account }: CreateContext): Created {
  account.noteNew(id);
  return { id, attributes, phase, invoice: null };
}

/** Adopts the object of an order without an answer; no request is sent. */
function adopted(kind: Kind, { address }: Change, { id, attributes, phase }: Remote): Created {
  const summary = `The answer to the order of ${address} was lost: adopted ${kind.noun} ${id}, which it made`;
  const warning = warningOf("apply.replayed", summary);
  return { id, attributes, phase, invoice: null, replayed: true, warning };
}

/** The plan has named the service, and the user has said that it is another one (`--order-anyway`). The name of the order says otherwise. */
function notAnother(kind: Kind, { address }: Change, earlier: Remote): never {
  const { id } = earlier;
  fail("apply.replayed", `The API replayed an earlier order for ${address}; its ${kind.noun} ${id} existed before`, {
    detail: "An earlier order has the same project and name. No order was placed.",
    remedies: [
      { do: "import", id, when: "it is the declared one" },
      "To order another one, declare a `reference` that no other order has.",
    ],
    address,
  });
}

/** What could be taken for the declared service: the same natural key or, without one, alike enough. */
const likenessOf =
  (kind: Kind, planned: JsonObject, plans: readonly PlanRecord[]) =>
  ({ attributes }: Remote): boolean =>
    matches(kind, planned, attributes) || kind.mayMatch?.(planned, attributes, plans) === true;

/**
 * Refuses at once an order that would be refused after a wait, too: what it would wait for is in the list already.
 * @throws HostformError `plan.exists`, `plan.lookalike`.
 */
export async function refuseListed(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<void> {
  const listed = [...(await context.account.recheck(kind)).values()];
  const plans = await context.account.plans();
  refuseTwin(kind, change, planned, listed.filter(likenessOf(kind, planned, plans)), plans, context);
}

/** Nothing is ordered that exists already and was not seen, or was not there, when the plan was made. */
function refuseTwin(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  alike: readonly Remote[],
  plans: readonly PlanRecord[],
  context: CreateContext,
): void {
  const { siblings, replaces } = context.records;
  const subject = subjectOf(kind, change, context);
  const live = alike.filter((remote) => remote.phase !== "gone" && !replaces?.(remote));
  const twins = live.filter(({ attributes }) => matches(kind, planned, attributes));
  if (twins.length > 0) throw new HostformError([existing(subject, twins)]);
  const doubles = lookalikesOf(kind, planned, live, plans, {
    ...subject,
    ...(siblings && { siblings: siblings(kind, true) }),
  });
  if (doubles.length > 0 && !change.anyway) throw new HostformError([lookalike(subject, doubles, planned)]);
}

/** Whether an answer may repeat that of an order from long ago, whose object has left the list since. */
function looksOld(made: Created, account: Account): boolean {
  const [, last] = madeBetween(made) ?? [];
  return made.id !== null && !(last !== undefined && last > account.hostNow() - SKEW_MS);
}

/**
 * Sees whether an object exists that looks old ({@link Created.mayBeGone}), once it is recorded. A host's clock that is wrong, or
 * a date in its local time, makes all new objects look old: the orders of a run look together (`confirm`), and only what does
 * not exist is gone.
 * @throws HostformError `apply.replayed`: nothing was ordered, and the key is used up.
 */
export async function confirmMade(
  kind: Kind,
  change: Change,
  { id, mayBeGone }: Created,
  { account, watch, markGone }: Pick<ApplyContext, "account" | "watch"> & Pick<CreateContext, "markGone">,
): Promise<void> {
  if (id === null || !mayBeGone || (await watch.confirm?.(kind, change.address, id).catch(() => false))) return;
  let live: Remote | undefined;
  try {
    live = await account.get(kind, id);
  } catch {
    // An order that was answered is recorded, whatever a further look meets.
    return;
  }
  if (live !== undefined && live.phase !== "gone") return;
  account.noteFound(id);
  await markGone(id, change.private.generation ?? 1);
  replayedGone(kind, change, { id });
}

function replayedGone(kind: Kind, { address }: Change, { id }: Pick<Created, "id">): never {
  fail("apply.replayed", `The API replayed an earlier order for ${address}; its ${kind.noun} ${id} no longer exists`, {
    detail: "The API still remembers the Idempotency-Key of that order and repeated its answer. No order was placed.",
    remedies: [{ do: "reorder", replayed: true }],
    address,
  });
}

/** An answer about another service than the declared one repeats that of another order with the same name. */
async function refuseOther(
  kind: Kind,
  { address }: Change,
  planned: JsonObject,
  earlier: Remote,
  { unmark }: CreateContext,
): Promise<void> {
  const other = differing(kind, planned, earlier);
  if (other === undefined) return;
  await unmark();
  const summary = `The API replayed an earlier order for ${address}; its ${kind.noun} ${earlier.id} is a different one`;
  fail("apply.replayed", summary, {
    detail: `Its ${other} is ${JSON.stringify(earlier.attributes[other])}, but ${JSON.stringify(planned[other])} is declared. An earlier order has the same project and name. No order was placed.`,
    remedies: [
      "Declare another `reference` to order it.",
      { do: "import", id: earlier.id, when: "the one that is there will do" },
    ],
    address,
  });
}
