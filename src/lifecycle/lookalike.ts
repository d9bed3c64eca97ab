import type { PlanRecord } from "../api/index.ts";
import { type Kind, matches, type Remote } from "../kinds/kind.ts";
import type { ValueObject } from "../model/index.ts";
import type { Doubtful } from "./doubt.ts";

/** What is known of other resources, to tell whose a live object is. */
export interface Others {
  /** The address under which a live object is recorded. */
  holder?(remote: Remote): string | undefined;
  /** Whether an address is recorded and no longer declared: what it holds may be the declared resource, renamed. */
  isLeaving?(address: string): boolean;
  /** Resources of the same kind and account whose own create has no known outcome, and is settled in this run. */
  readonly siblings?: readonly Doubtful[];
  /** The same, of addresses that are no longer declared. */
  readonly abandoned?: readonly Doubtful[];
}

/**
 * Live objects that may be the declared one although no natural key says so: those that nobody holds, or no longer.
 * What siblings' creates may have made is theirs, as long as there are no more objects than siblings.
 */
export function lookalikesOf(
  kind: Kind,
  config: ValueObject,
  alike: readonly Remote[],
  plans: readonly PlanRecord[],
  { holder, isLeaving, siblings = [] }: Others,
): Remote[] {
  const unclear = alike.filter(({ phase, attributes }) => phase !== "gone" && !matches(kind, config, attributes));
  const free = unclear.filter((remote) => holder?.(remote) === undefined);
  const isSiblings = ({ id, attributes }: Remote) =>
    siblings.some(
      ({ attributes: sent, private: { pending } }) =>
        !pending.known?.includes(id) && kind.resembles?.(sent, attributes, plans),
    );
  const explained = free.filter(isSiblings);
  const unexplained = explained.length > siblings.length ? free : free.filter((remote) => !explained.includes(remote));
  const leaving = unclear.filter((remote) => isLeaving?.(holder?.(remote) ?? "") && holder?.(remote) !== undefined);
  return [...unexplained, ...leaving];
}

/** A create of an address that is no longer declared, which may be the declared one under its old name. */
export function renamedFrom(
  kind: Kind,
  config: ValueObject,
  plans: readonly PlanRecord[],
  { abandoned = [] }: Others,
): string | undefined {
  if (kind.naturalKey(config) !== undefined) return undefined;
  return abandoned.find(({ attributes }) => kind.resembles?.(config, attributes, plans))?.address;
}
