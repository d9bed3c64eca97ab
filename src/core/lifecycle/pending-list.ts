/**
 * Reads the list of a kind for a decision about a pending create request, and adds facts from the store. Input: an account
 * and the sent attributes. Output: plain values.
 */
import { type Kind, matches, type Remote } from "../kinds/kind.ts";
import { ifExplained, type ValueObject } from "../model/index.ts";
import type { Account } from "./account.ts";
import { parentOf } from "./attributes.ts";
import { habitsOf } from "./habits.ts";
import { thingName } from "./intents.ts";
import type { KnownObject, Listed } from "./pending-facts.ts";

/** Reads the list of the kind for a pending create request. @param sent Attributes of the request. */
export async function listAll(account: Account, kind: Kind, sent: ValueObject): Promise<Listed> {
  const objects = await collection(account, kind, sent);
  const { creation, mayMatch } = kind;
  const parent = parentOf(kind, sent);
  const isUnclear = creation === "keyed" && objects.some(({ attributes }) => mayMatch?.(sent, attributes, []));
  const isPlanned =
    kind.fromCatalogue !== undefined && objects.some(({ attributes }) => matches(kind, sent, attributes));
  return {
    objects,
    plans: isUnclear ? await account.plans() : isPlanned ? await account.knownPlans().catch(ifExplained(() => [])) : [],
    readAt: account.hostNow(),
    known: await knownObjects(account, kind, parent),
    requested: await requestedByOthers(account, kind, parent, objects),
    habits: await habitsOf(account, kind, sent),
    isResettable: account.store?.isResettable === true,
  };
}

/** Returns the objects of a kind that the states on this machine contain. Empty if the store is unusable. */
async function knownObjects({ store, place }: Account, { type }: Kind, parent = ""): Promise<readonly KnownObject[]> {
  if (store === undefined || place === undefined) return [];
  const all = await store.holdings({}).catch(ifExplained(() => []));
  const isKept = (one: (typeof all)[number]) => one.place.mark === place || !one.isRemoved;
  const ofKind = all.filter((one) => one.type === type && one.parent === parent && isKept(one));
  return ofKind.map(({ id, firstSeen, lastSeen, intent, isFirm, place: { mark, label } }) => ({
    id,
    firstSeen,
    lastSeen,
    ...(isFirm &&
      mark !== place && {
        holder: {
          name: label,
          ...(intent !== undefined && { intent }),
          ...(lastSeen > firstSeen && { isOtherState: true as const }),
        },
      }),
  }));
}

/**
 * Returns the ids of objects whose natural key another process on this machine requested. If two objects share the natural
 * key, both are omitted, because one request explains only one object.
 */
async function requestedByOthers(
  { store }: Account,
  kind: Kind,
  parent: string | undefined,
  objects: readonly Remote[],
): Promise<ReadonlySet<string>> {
  const requested = new Set<string>();
  if (store === undefined) return requested;
  const byKey = Map.groupBy(objects, ({ attributes }) => kind.naturalKey(attributes));
  for (const [key, [only, ...others]] of byKey) {
    if (key === undefined || only === undefined || others.length > 0) continue;
    const request = await store.newest({ thing: thingName(kind, parent, key) }).catch(ifExplained(() => undefined));
    if (request !== undefined) requested.add(only.id);
  }
  return requested;
}

/**
 * Returns all objects of the kind. If the kind has a parent: all objects of this parent, or none if the parent is unknown.
 */
export async function collection(account: Account, kind: Kind, config: ValueObject | undefined): Promise<Remote[]> {
  const parent = parentOf(kind, config);
  if (kind.parent !== undefined && parent === undefined) return [];
  return [...(await account.list(kind, parent)).values()];
}
