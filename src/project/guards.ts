import type { Limits } from "../core/engine/index.ts";
import type { Guards } from "../core/model/index.ts";

/** The most that a run may do. They replace the declared guards for one run; of a saved plan they only tighten those in force. */
export interface Caps {
  readonly maxOrders?: number;
  readonly maxSpend?: Readonly<Record<string, number>>;
  readonly maxRemovals?: number;
}

/** Options that override the declared guards for one run. */
export interface GuardFlags extends Caps {
  readonly allowRemovals?: boolean;
  readonly allowUnknownPrices?: boolean;
  /** Resources that are missing in the account are gone on purpose. */
  readonly allowMissing?: boolean;
  /** The account is the recorded one, whatever its address and its objects. */
  readonly accountMoved?: boolean;
}

/** Their names. An option that is missing here does not compile. */
export const GUARD_FLAGS = Object.keys({
  maxOrders: true,
  maxSpend: true,
  maxRemovals: true,
  allowRemovals: true,
  allowUnknownPrices: true,
  allowMissing: true,
  accountMoved: true,
} satisfies Record<keyof GuardFlags, true>) as readonly (keyof GuardFlags)[];

/**
 * The limits of a run: the declared guards, as far as the command line does not override them.
 * @param unattended nobody sees the plan before it is applied.
 */
export function limitsOf(guards: Guards = {}, flags: GuardFlags = {}, unattended = false): Limits {
  const { maxOrders, maxSpend, maxRemovals } = flags;
  const { allowRemovals = false, allowUnknownPrices = false, allowMissing = false } = flags;
  const { maxOrders: orders, maxSpend: spent, maxRemovals: removed, ...ranges } = guards.ranges ?? {};
  return {
    ...guards,
    ...(maxOrders !== undefined && { maxOrders }),
    ...(maxSpend !== undefined && { maxSpend: { ...guards.maxSpend, ...maxSpend } }),
    ...(maxRemovals !== undefined && { maxRemovals }),
    allowRemovals,
    allowUnknownPrices,
    allowMissing,
    unattended,
    // A place in the declaration would mislead where the command line set the limit.
    ranges: {
      ...ranges,
      ...(maxOrders === undefined && orders && { maxOrders: orders }),
      ...(maxSpend === undefined && spent && { maxSpend: spent }),
      ...(maxRemovals === undefined && removed && { maxRemovals: removed }),
    },
  };
}

/** Limits that are also within the caps: the stricter one holds, whatever the plan or the declaration allows. */
export function tightened(limits: Limits, { maxOrders, maxSpend = {}, maxRemovals }: Caps): Limits {
  const least = (cap: number, limit = Number.POSITIVE_INFINITY) => Math.min(cap, limit);
  const spend = Object.entries(maxSpend).map(([currency, cap]) => [currency, least(cap, limits.maxSpend?.[currency])]);
  const removals = limits.allowRemovals
    ? { allowRemovals: false, maxRemovalsPercent: 100, maxRemovals }
    : { maxRemovals: maxRemovals && least(maxRemovals, limits.maxRemovals) };
  return {
    ...limits,
    ...(maxOrders !== undefined && { maxOrders: least(maxOrders, limits.maxOrders) }),
    ...(spend.length > 0 && { maxSpend: { ...limits.maxSpend, ...Object.fromEntries(spend) } }),
    ...(maxRemovals !== undefined && removals),
  };
}
