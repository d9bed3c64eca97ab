import { type Kind, matches, type Remote } from "../kinds/kind.ts";
import { fail, inQuotes, type JsonObject, type ResourceState } from "../model/index.ts";
import type { Account } from "./account.ts";
import { ownForms, refreshed, unreadableOf } from "./attributes.ts";
import { type PendingCreate, settledMark } from "./doubt.ts";
import { read } from "./read.ts";

/**
 * The record of an object that the user has named as what a create without known outcome made.
 * @returns undefined when the account certainly does not have it.
 * @throws HostformError `usage` when it is another thing, or was there before.
 */
export async function adopt(
  account: Account,
  kind: Kind,
  prior: PendingCreate,
  id: string,
): Promise<ResourceState | undefined> {
  const settled = { ...prior, private: settledMark(prior.private) };
  if (kind.list === undefined && kind.get === undefined) return { ...settled, attributes: { ...prior.attributes, id } };
  const observed = await read(account, { kind, prior: undefined, importId: id, config: prior.attributes });
  if (observed.status !== "present") return undefined;
  refuseOther(kind, prior, observed.attributes);
  const remote: Remote = { id: String(observed.attributes.id), attributes: observed.attributes, phase: observed.phase };
  const shown = ownForms(kind, prior.attributes, remote.attributes);
  const attributes = refreshed(kind, prior.attributes, remote, shown);
  const isOwn = Object.keys(shown).length > 0;
  return { ...settled, attributes, private: { ...settled.private, ...(isOwn && { shown }) } };
}

/** What is adopted must be what was asked for: the next apply would change or delete it otherwise. */
function refuseOther(kind: Kind, { address, attributes, private: { pending } }: PendingCreate, live: JsonObject): void {
  const id = String(live.id);
  const before = pending.known?.includes(id);
  // Of what the API does not show in a form that can be read, and of what came since, the user knows more.
  const telling = kind.naturalKey(attributes) !== undefined && unreadableOf(kind, attributes, live).length === 0;
  if (!before && (pending.knowsAll || !telling || matches(kind, attributes, live))) return;
  fail("usage", `Nothing was settled: ${kind.noun} ${id} is not what ${address} asked for`, {
    detail: before ? "It was there before the request left." : "It has another natural key than what was sent.",
    remedies: [
      `If it is to be managed under this address all the same: \`hostform import ${inQuotes(address)} ${id}\`.`,
    ],
    address,
  });
}

/**
 * The record of a resource whose create, as the user or the API says, made nothing.
 * @returns undefined when nothing is left to be remembered; the object that was to be replaced, or the generation of an
 *   order, whose key must not be used for another, outlives it.
 */
export function withdraw(prior: ResourceState): ResourceState | undefined {
  const { deposed, ...kept } = settledMark(prior.private);
  if (deposed !== undefined) return { ...prior, attributes: deposed, private: kept };
  return kept.generation === undefined ? undefined : { ...prior, private: kept };
}
