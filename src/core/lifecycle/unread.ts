/** Failures to read one object. Such a failure affects only the object's address; hostform plans all other resources. */
import { isBeyondView, type Kind } from "../kinds/kind.ts";
import { conditionFor, problem } from "../messages/index.ts";
import {
  ApiError,
  type Condition,
  conditionOf,
  HostformError,
  isForbidden,
  type ResourceState,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { isJustCreated } from "./pending-create.ts";
import { asRecorded, type Observation, type ReadQuery, type Unread } from "./read.ts";

/** Failures that may concern one object. All other failures concern the token, the host or this machine. */
const OF_ONE: ReadonlySet<string> = new Set([
  "api.forbidden",
  "api.not_found",
  "api.server",
  "api.timeout",
  "api.malformed",
  "api.inconclusive",
  "api.pagination",
  "api.too_large",
  "api.validation",
  "api.rejected",
  "api.conflict",
]);

/** Patterns in the message of a 403: the object belongs to another account, or is outside of the token's scope (§7). */
const OF_ACCOUNT = /\baccounts?\b|\bown(?:er|s|ed)?\b|belong/i;
const OF_RESTRICTION = /restrict|scoped?\b|outside/i;

/** Returns true if the message of a 403 mentions the token's scope (§5.2). */
export const isRestriction = (said: string): boolean => OF_RESTRICTION.test(said);

/**
 * Returns the reason why one object could not be read.
 * @param prior State entry of the object.
 * @returns undefined if the failure concerns more than this object.
 */
export async function unreadBy(
  account: Account,
  kind: Kind,
  prior: Pick<ResourceState, "attributes" | "private"> | undefined,
  error: unknown,
): Promise<Unread | undefined> {
  if (!(error instanceof HostformError)) return undefined;
  const [why] = error.diagnostics;
  if (why === undefined || !error.diagnostics.every(({ code }) => OF_ONE.has(code))) return undefined;
  const { serverMessage = "", endpoint = "" } = error instanceof ApiError ? error : {};
  const said = (serverMessage || why.summary).replace(/[.\s]+$/, "");
  const isRestricted = isRestriction(serverMessage);
  const isOfObject = OF_ACCOUNT.test(serverMessage) || isRestricted;
  if (isBeyondView(kind, error) && !isOfObject) return { cause: "ability", why, said };
  const isById = kind.list !== undefined && kind.parent === undefined && endpoint.includes("{");
  const id = prior?.attributes.id;
  if (!isForbidden(error) || typeof id !== "string" || !isById) return { cause: "failed", why, said };
  // Rows may move to another page during one reading of a list.
  const listed = await account.recheck(kind).catch(() => undefined);
  // A rejection does not show the host's time. The list does.
  const mayLag = !isRestricted && isJustCreated(prior?.private ?? {}, account);
  if (listed === undefined || listed.has(id) || mayLag) return { cause: "failed", why, said };
  return { cause: isRestricted ? "outside" : "handed_over", why, said };
}

/** Returns the observation of an object that could not be read. */
export function observedUnread(account: Account, { kind, prior }: ReadQuery, unread: Unread): Observation {
  if (typeof prior?.attributes.id !== "string") return { status: "absent", matches: [], unread };
  return { ...asRecorded(account, kind, prior), unread };
}

/** Returns the reason why an object could not be read. Undefined if it was read. */
export const unreadOf = (observed: Observation | undefined): Unread | undefined =>
  observed === undefined || observed.status === "gone" ? undefined : observed.unread;

/** Returns true if the token's scope may hide the object. It may then also hide new orders. */
export const mayBeRestricted = ({ cause, said }: Unread): boolean =>
  cause === "outside" || (cause === "handed_over" && !OF_ACCOUNT.test(said));

/** Returns true if another account or token is needed to read the object. Its grants are then also hidden. */
export const isElsewhere = ({ cause }: Unread): boolean => cause === "handed_over" || cause === "outside";

/**
 * Returns the condition of a resource that could not be read. Undefined if it is not in the state; an error then reports the
 * reason.
 */
export function unreadCondition(
  { noun, words }: Kind,
  address: string,
  prior: ResourceState | undefined,
  { cause, said: why }: Unread,
): Condition | undefined {
  if (cause === "ability") return conditionOf(problem("condition.unread/ability", { address, noun, why }));
  if (typeof prior?.attributes.id !== "string") return undefined;
  const { attributes, sensitive = [] } = prior;
  const name = attributes[words.name];
  const isShown = typeof name === "string" && !sensitive.includes(words.name);
  const given = { address, noun, id: attributes.id as string, name: isShown ? name : undefined, why };
  const facts = isShown && words.name === words.site ? { domain: name } : {};
  if (cause === "handed_over") return conditionFor("handed_over", given, facts);
  return cause === "outside" ? conditionFor("outside", given, facts) : conditionFor("unread", given, facts);
}
