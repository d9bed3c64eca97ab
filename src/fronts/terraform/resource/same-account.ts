/** The account of an instance: Terraform shows the provider one instance at a time, so each carries what identifies its account. */
import { type Kind, kinds } from "../../../core/kinds/index.ts";
import {
  type Account,
  accountMark,
  anchorsIn,
  foreignObjects,
  isSameObject,
  originProblem,
} from "../../../core/lifecycle/index.ts";
import { type Anchor, HostformError, isForbidden, type JsonObject, namesLimit } from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { labelOf, type Mark, recordedAs } from "./attribute-mapping.ts";
import { otherHost } from "./notices.ts";

const of = "The provider";

/** The mark of its account for an instance. Its anchors stay until a list lacks one of them. */
export function accountOf(
  kind: Kind,
  id: unknown,
  { account: kept }: Mark,
  { account, hasMoved }: ProviderSession,
): Pick<Mark, "account"> {
  const { origin } = account;
  if (origin === undefined) return kept === undefined ? {} : { account: kept };
  const isListed = ({ type, id: other }: Anchor) => account.rows.get(type)?.objects.has(other) ?? true;
  const isSame = kept?.origin === origin && kept.anchors.length > 0 && kept.anchors.every(isListed);
  if (isSame && !hasMoved) return { account: kept };
  return { account: accountMark({ origin, anchors: anchorsIn(account) }, { type: kind.type, id }) };
}

/**
 * Refuses to count an object as gone if nothing proves that the account is the recorded one.
 * @throws HostformError `account.foreign`; `state.stranger` for a mark of an earlier version.
 */
export async function refuseForeign(
  kind: Kind,
  recorded: JsonObject,
  mark: Mark,
  { account, host, hasMoved }: ProviderSession,
): Promise<void> {
  const { origin } = account;
  if (hasMoved || origin === undefined) return;
  if (mark.account === undefined) {
    if (mark.host === undefined || mark.host === host) return;
    throw new HostformError([otherHost(kind, recorded, "refreshed")]);
  }
  const { origin: was, anchors } = mark.account;
  const elsewhere = originProblem(of, account, [recordedAs(kind, recorded, mark)]);
  if (elsewhere.length > 0) throw new HostformError(elsewhere);
  if (anchors.length === 0) return;
  for (const anchor of anchors) if (!(await isMissing(anchor, account))) return;
  const names = anchors.map(({ type, id }) => `${kinds.get(type)?.noun ?? type} ${id}`);
  throw new HostformError([foreignObjects(of, account, was, [labelOf(kind, recorded), ...names])]);
}

/** By account and anchor: all instances of a plan share a few anchors. */
const asked = new WeakMap<Account, Map<string, Promise<boolean>>>();

/** Returns false as well if a limit of the token hides it. */
function isMissing(anchor: Anchor, account: Account): Promise<boolean> {
  const { type, id, created_at } = anchor;
  const kind = kinds.get(type);
  if (kind === undefined) return Promise.resolve(true);
  const known = asked.get(account) ?? new Map<string, Promise<boolean>>();
  asked.set(account, known);
  const look = async () => {
    try {
      const found = await account.find(kind, id);
      return found === undefined || !isSameObject(kind, { created_at }, found.attributes);
    } catch (error) {
      if (isForbidden(error)) return !namesLimit(error);
      throw error;
    }
  };
  const key = `${type} ${id}`;
  const answer = known.get(key) ?? look();
  known.set(key, answer);
  answer.catch(() => known.delete(key));
  return answer;
}
