/** Identifies the account of an instance. Each instance contains an account mark, because Terraform sends one instance at a time. */
import { type Kind, kinds } from "../../../core/kinds/index.ts";
import {
  type Account,
  accountMark,
  anchorsIn,
  foreignObjects,
  hasStranger,
  isJustCreated,
  isSameObject,
  originProblem,
} from "../../../core/lifecycle/index.ts";
import { type Anchor, isForbidden, type JsonObject, namesLimit } from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { refuse } from "../messages.ts";
import { labelOf, type Mark, recordedAs } from "./attribute-mapping.ts";
import { otherHost } from "./notices.ts";

/** Returns the account mark of an instance. Its anchors stay until a list lacks one of them. */
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
  const own = { type: kind.type, id };
  const listed = accountMark({ origin, anchors: anchorsIn(account) }, own);
  if (listed.anchors.length > 0) return { account: listed };
  // A new account has no listed objects, so use the objects that this process changed.
  return { account: accountMark({ origin, anchors: changed.get(account) ?? [] }, own) };
}

/** Maximum number of registered objects in each account. An account mark contains four of them as anchors. */
const MOST_CHANGED = 8;

/** Objects that this process created or changed. */
const changed = new WeakMap<Account, Anchor[]>();

/** Registers a changed object, which therefore belongs to the account. It can be an anchor of an account without listed objects. */
export function noteChanged({ type, list, parent }: Kind, { id, created_at }: JsonObject, account: Account): void {
  if (list === undefined || parent !== undefined || typeof id !== "string" || typeof created_at !== "string") return;
  const noted = changed.get(account) ?? [];
  if (noted.length < MOST_CHANGED) changed.set(account, [...noted, { type, id, created_at }]);
}

/**
 * Rejects the conclusion that an object is deleted, unless the account is provably the recorded account.
 * @throws HostformError `account.foreign`; `state.stranger` for a mark of an earlier version.
 */
export async function refuseForeign(
  kind: Kind,
  recorded: JsonObject,
  mark: Mark,
  { account, access, host, hasMoved }: ProviderSession,
): Promise<void> {
  const { origin } = account;
  if (hasMoved || origin === undefined) return;
  if (mark.account === undefined) {
    if (mark.host === undefined || mark.host === host) return;
    refuse(otherHost(kind, recorded, "refreshed"));
  }
  const of = `The provider (${access})`;
  const { origin: was } = mark.account;
  // Ignore the parent as an anchor: its absence would also explain the absence of this object.
  const outer = kind.parent === undefined ? undefined : recorded[kind.parent];
  const anchors = mark.account.anchors.filter(({ id }) => id !== outer);
  const record = recordedAs(kind, recorded, mark);
  const elsewhere = originProblem(of, account, [record]);
  if (elsewhere.length > 0) refuse(...elsewhere);
  if (anchors.length === 0) {
    if (kind.parent !== undefined || kind.list === undefined) return;
    await account.list(kind);
    if (!hasStranger(account, kind.type, record)) return;
  }
  for (const anchor of anchors) if (!(await isMissing(anchor, account))) return;
  const names = anchors.map(({ type, id }) => `${kinds.get(type)?.noun ?? type} ${id}`);
  refuse(foreignObjects(of, account, was, [labelOf(kind, recorded), ...names]));
}

/** Readings by account and anchor: all instances of a plan share four anchors or fewer. */
const asked = new WeakMap<Account, Map<string, Promise<boolean>>>();

/** Returns false also if a limit of the token or the list lag may hide the anchor. */
function isMissing(anchor: Anchor, account: Account): Promise<boolean> {
  const { type, id, created_at } = anchor;
  const kind = kinds.get(type);
  if (kind === undefined) return Promise.resolve(true);
  const known = asked.get(account) ?? new Map<string, Promise<boolean>>();
  asked.set(account, known);
  const look = async () => {
    try {
      const found = await account.find(kind, id);
      if (found !== undefined) return !isSameObject(kind, { created_at }, found.attributes);
      const mark = created_at === null ? {} : { created: created_at };
      return kind.get !== undefined || !isJustCreated(mark, account);
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
