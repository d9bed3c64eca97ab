import type { Kind, Remote } from "../kinds/kind.ts";
import type { Change, Intent, JsonObject } from "../model/index.ts";
import { type CreateContext, stopped } from "./creating.ts";
import { ageOf, believedAfterMs, certainlyMade, newlyMade, ON_THE_WAY_MS, type Sent } from "./doubt.ts";
import { likeness, parentOf } from "./read.ts";
import { undecided } from "./refusals.ts";

/**
 * What a create without known outcome has made, as its collection shows by now. Looks at once, again when the request must have
 * arrived, and once more when lists certainly show what it made: only then does an empty answer mean that it made nothing.
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
  const { account, pause } = context;
  const sent: Sent = { attributes: planned, private: { pending: intent } };
  let age = ageOf(intent, account.hostNow());
  const believed = believedAfterMs(account.settings);
  const looks = [...new Set([age, ON_THE_WAY_MS, believed])].filter((at) => at >= age);
  // The last one twice: a page may have shifted while the list was read.
  for (const at of [...looks, looks.at(-1) ?? age]) {
    if (at > age) await pause(at - age);
    age = at;
    const made = await newAndAlike(kind, sent, context);
    if (made.length === 0) continue;
    const only = certainlyMade(kind, sent, made, account.hostNow());
    if (only === undefined) throw stopped(undecided({ kind, address: change.address }, made));
    return only;
  }
  return undefined;
}

/** What the collection, read now, shows that the request may have made. */
async function newAndAlike(kind: Kind, sent: Sent, { account, holder }: CreateContext): Promise<Remote[]> {
  account.forget(kind, parentOf(kind, sent.attributes));
  const seen = { status: "absent", ...(await likeness(account, kind, sent.attributes)) };
  const subject = { kind, holder: (remote: Remote) => holder?.(kind, remote) };
  return newlyMade(subject, sent, seen);
}
