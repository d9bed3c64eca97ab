import type { PlanRecord } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import type { ValueObject } from "../model/index.ts";
import type { Doubtful } from "./doubt.ts";

/** What is known of other resources, to tell whose a live object is. */
export interface Others {
  /** The address under which a live object is recorded. */
  holder?(remote: Remote): string | undefined;
  /** Whether an address is recorded and no longer declared: what it holds may be the declared resource, renamed. */
  isLeaving?(address: string): boolean;
  /** Resources of the same kind and account whose own create has no known outcome. */
  readonly siblings?: readonly Doubtful[];
}

/**
 * Live objects that may be the declared one although no natural key says so: those that nobody holds, or no longer.
 * What a sibling's create may have made is the sibling's: it is settled by itself.
 */
export function lookalikesOf(
  kind: Kind,
  config: ValueObject,
  alike: readonly Remote[],
  plans: readonly PlanRecord[],
  { holder, isLeaving, siblings = [] }: Others,
): Remote[] {
  if (kind.naturalKey(config) !== undefined) return [];
  const isSiblings = ({ id, attributes }: Remote) =>
    siblings.some(
      ({ attributes: sent, private: { pending } }) =>
        !pending.known?.includes(id) && kind.resembles?.(sent, attributes, plans),
    );
  return alike.filter((remote) => {
    const address = holder?.(remote);
    const free = address === undefined ? !isSiblings(remote) : isLeaving?.(address);
    return remote.phase !== "gone" && free;
  });
}
