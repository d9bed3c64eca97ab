import type { PlanRecord } from "../api/index.ts";
import { type Kind, matches, type Remote } from "../kinds/kind.ts";
import type { Diagnostic, Phase, ResourceState, ValueObject } from "../model/index.ts";
import type { PendingCreate } from "./pending-create.ts";

/** What is known of other resources, to tell whose a live object is. */
export interface Others {
  /** The address under which a live object is recorded. */
  holder?(remote: Remote): string | undefined;
  /** Whether an address is recorded and no longer declared: what it holds may be the declared resource, renamed. */
  isLeaving?(address: string): boolean;
  /** Resources of the same kind and account whose own create has no known outcome, and is settled in this run. */
  readonly siblings?: readonly PendingCreate[];
  /** Resources of the same kind and account that are no longer declared and are there, or may have been made: lists may lag. */
  readonly abandoned?: readonly ResourceState[];
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
        !pending.known?.includes(id) && kind.mayMatch?.(sent, attributes, plans),
    );
  const explained = free.filter(isSiblings);
  const unexplained = explained.length > siblings.length ? free : free.filter((remote) => !explained.includes(remote));
  const leaving = unclear.filter((remote) => isLeaving?.(holder?.(remote) ?? "") && holder?.(remote) !== undefined);
  return [...unexplained, ...leaving];
}

const BILLED: ReadonlySet<Phase> = new Set(["pending", "live", "suspended"]);

/**
 * Objects of a paid kind that are the same thing by their natural key (two services with one domain), in groups: each is
 * billed, and one can be meant at most. What a status that is not understood says nothing of is left out.
 */
export function sameInUse(kind: Kind, objects: Iterable<Remote>): Remote[][] {
  if (kind.quote === undefined) return [];
  const billed = [...objects].filter(({ phase }) => BILLED.has(phase));
  const groups = Map.groupBy(billed, ({ attributes }) => kind.naturalKey(attributes));
  return [...groups].flatMap(([key, same]) => (key !== undefined && same.length > 1 ? [same] : []));
}

/** @param own the one of them that is managed as `address`. */
export function billedTwice(kind: Kind, same: readonly Remote[], own: Remote, address: string): Diagnostic {
  const ids = same.map(({ id }) => id);
  return {
    severity: "warning",
    code: "account.double",
    summary: `${String(kind.naturalKey(own.attributes))} is the domain of ${ids.length} ${kind.noun}s: ${ids.join(", ")}`,
    detail: `${address} is ${kind.noun} ${own.id}. Each of them is billed, and only one can be in use.`,
    remedies: [`If one was ordered by mistake, end it in the dashboard: the API cannot delete a ${kind.noun}.`],
    address,
  };
}

/** An address that is no longer declared, whose object may be the declared one under its old name. */
export function renamedFrom(
  kind: Kind,
  config: ValueObject,
  plans: readonly PlanRecord[],
  { abandoned = [] }: Others,
): string | undefined {
  if (kind.naturalKey(config) !== undefined) return undefined;
  return abandoned.find(({ attributes }) => kind.mayMatch?.(config, attributes, plans))?.address;
}
