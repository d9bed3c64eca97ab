import type { Kind, Remote } from "../kinds/kind.ts";
import type { Change, Intent, JsonObject } from "../model/index.ts";
import { parentOf } from "./attributes.ts";
import { type CreateContext, stopped, subjectOf } from "./creating.ts";
import {
  ageOf,
  believedAfterMs,
  certainlyMade,
  LOOKS_MS,
  newlyMade,
  ON_THE_WAY_MS,
  type Sent,
  strangers,
} from "./doubt.ts";
import { collection, likeness } from "./read.ts";
import { notShown, undecided } from "./refusals.ts";

/**
 * What a create without known outcome has made, as its collection shows by now. Looks at once, several times while lists may
 * lag, and when they certainly show what it made: only then does an empty answer mean that it made nothing.
 * @param planned what was asked for.
 * @returns undefined when it made nothing: the request may be sent again.
 * @throws HostformError `plan.pending` when the collection shows something that it may have made and that is not certainly it.
 */
export async function findMade(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  intent: Intent,
  context: CreateContext,
): Promise<Remote | undefined> {
  const { account, pause, siblings } = context;
  const subject = subjectOf(kind, change, context);
  const sent: Sent = { attributes: planned, private: { pending: intent } };
  let age = ageOf(intent, account.hostNow());
  const last = Math.max(age, believedAfterMs(account.settings));
  const looks = [...new Set([age, ON_THE_WAY_MS, ...LOOKS_MS, last])].filter((at) => at >= age && at <= last);
  // The last one twice: a page may have shifted while the list was read.
  for (const at of [...looks, last]) {
    if (at > age) await pause(at - age);
    age = at;
    account.forget(kind, parentOf(kind, planned));
    const made = newlyMade(subject, sent, await likeness(account, kind, planned));
    if (made.length === 0) continue;
    const only = certainlyMade(kind, sent, made, account.hostNow());
    if (only === undefined) throw stopped(undecided(subject, sent, made));
    return only;
  }
  const listed = await collection(account, kind, planned);
  const all = { strangers: listed.filter((remote) => !context.isOthers?.(kind, remote)) };
  const others = strangers(kind, sent, all, { holder: subject.holder, siblings: siblings?.(kind) });
  if (others.length > 0) throw stopped(undecided(subject, sent, others));
  return undefined;
}

/**
 * What the API has made of a create that it accepted without saying what: found in the list. It is written down as accepted
 * first, also by a run that was stopped; then it is looked for by every run, and never sent again automatically.
 * @param answered what the answer contained all the same.
 * @throws HostformError `plan.pending` when the list does not show it in time, or not clearly.
 */
export async function findAccepted(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  intent: Intent,
  context: CreateContext,
  answered: JsonObject = {},
): Promise<Remote> {
  await context.markPending({ ...intent, accepted: true }, answered);
  const made = await findMade(kind, change, planned, intent, context);
  if (made === undefined) throw stopped(notShown(subjectOf(kind, change, context)));
  return made;
}
