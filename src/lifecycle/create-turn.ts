import type { CreateTurn, EarlierCreate, Writer } from "../api/index.ts";
import { type Created, type Kind, matches } from "../kinds/kind.ts";
import { type Change, type Diagnostic, HostformError, inQuotes, type JsonObject } from "../model/index.ts";
import type { Account } from "./account.ts";
import { parentOf } from "./attributes.ts";
import { refuseStopped } from "./context.ts";
import { type CreateContext, wasRefused } from "./creating.ts";
import { believedAfterMs } from "./doubt.ts";
import { idempotencyKey } from "./key.ts";

/**
 * Makes a create while no other process of this machine makes anything with the token, from the list that says that the thing
 * is not there to the answer. Two runs that share no state would otherwise find it missing at the same time.
 *
 * 1. Wait for the turn. What another process began and was killed in may not be in the lists yet: wait for that, too.
 * 2. Another process made something since the lists were read: they are read again. Otherwise no request is added.
 * 3. The same thing was made, or may have been, by another run: a domain, which nothing shows, is refused; for anything else
 *    it is waited until the list must show it.
 * 4. Note that the create leaves, carry it out, note what came of it.
 * @throws HostformError `interrupted` when the run was stopped while it waited: nothing was sent.
 */
export async function createInTurn(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
  carryOut: (context: CreateContext) => Promise<Created>,
): Promise<Created> {
  const { account, pause, stop } = context;
  if (account.turns === undefined) return carryOut(context);
  let isMyTurn = false;
  const work = async (turn: CreateTurn): Promise<Created> => {
    isMyTurn = true;
    const owner = context.owner?.() ?? "";
    const { unknownAt } = turn.others(account.countAtStart, owner);
    const left = unknownAt && unbelievedMs(account, unknownAt);
    if (left) await pause(left);
    account.catchUp(turn);
    const note = () => ({ thing: thingOf(kind, change, planned, context.project), owner: context.owner?.() ?? "" });
    const earlier = change.private.pending === undefined ? turn.earlier(note(), account.countAtStart) : undefined;
    // What the own state has had before, it knows better.
    const isOthers = earlier !== undefined && (!earlier.isOwn || earlier.isNew);
    if (isOthers) {
      const mayBeReset = account.turns?.isResettable === true && !earlier.isNew;
      if (kind.creation !== "blind") {
        if (!mayBeReset) await untilShown(kind, planned, earlier, context);
      } else if (!change.anyway) throw madeElsewhere(kind, change, planned, earlier);
    }
    const writer = noting(context.writer, turn, () => turn.begin(note(), account.hostNow()));
    const made = await carryOut({ ...context, writer });
    turn.end("made");
    // The answer may be that of the other run's order, under the same key: then it is not new, and has what that run gave it.
    if (isOthers && made.id !== null) account.noteFound(made.id);
    return made;
  };
  try {
    return await account.turns.run(work, stop);
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
  const believed = believedAfterMs(account.settings);
  const left = Math.min(believed, at + believed - account.hostNow());
  return left > 0 ? left : undefined;
}

/** Waits until the list shows what another run made, or must have shown it if it still exists: lists may lag. */
async function untilShown(
  kind: Kind,
  planned: JsonObject,
  { at }: EarlierCreate,
  { account, pause }: CreateContext,
): Promise<void> {
  const left = unbelievedMs(account, at);
  if (left === undefined) return;
  const parent = parentOf(kind, planned);
  const listed = [...(await account.list(kind, parent)).values()];
  if (listed.some(({ attributes }) => matches(kind, planned, attributes))) return;
  await pause(left);
  account.outdate(kind, parent);
}

/** The same thing by whichever run it is made; empty while nothing tells it from others. A server has nothing but its order's key. */
function thingOf(kind: Kind, { address, private: mark }: Change, planned: JsonObject, project: string): string {
  const order = () => idempotencyKey(project, kind.orderReference?.(planned) ?? address, mark.generation ?? 1);
  const key = kind.naturalKey(planned) ?? (kind.creation === "keyed" ? order() : undefined);
  return key === undefined ? "" : JSON.stringify([kind.type, parentOf(kind, planned), key]);
}

/** A writer that notes each sending before it leaves, and takes the note back when nothing can have come of any. */
function noting(writer: Writer, turn: CreateTurn, begin: () => void): Writer {
  let open = false;
  return {
    perform: async (mutation, options) => {
      begin();
      try {
        const answer = await writer.perform(mutation, options);
        open = true;
        return answer;
      } catch (error) {
        open ||= !wasRefused(error);
        if (!open) turn.end("nothing");
        throw error;
      }
    },
  };
}

/** Nothing shows it but this machine's memory of another run. */
function madeElsewhere(
  kind: Kind,
  { address }: Change,
  planned: JsonObject,
  { at, outcome }: EarlierCreate,
): HostformError {
  const object = String(kind.naturalKey(planned));
  const when = new Date(at).toISOString();
  const diagnostic: Diagnostic = {
    severity: "error",
    code: "plan.exists",
    summary:
      outcome === "made"
        ? `Another run on this machine ordered the ${kind.noun} of ${address} at ${when}`
        : `Another run on this machine asked for the ${kind.noun} of ${address} at ${when}, and its answer was lost`,
    detail: `That run has another state. The API has no call that shows a ${kind.noun}, and ordering it again would cost money: nothing was sent.`,
    object,
    fix: `If it was ordered and is to be managed here: \`hostform import ${inQuotes(address)} ${object}\`. To order it all the same: \`--order-anyway ${inQuotes(address)}\`. Otherwise remove this block.`,
    address,
  };
  return new HostformError([diagnostic]);
}
