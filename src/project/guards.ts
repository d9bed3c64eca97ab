import type { Limits } from "../core/engine/index.ts";
import type { Guards } from "../core/model/index.ts";
import type { Caps, GuardFlags } from "./library-types.ts";

export type { Caps, GuardFlags };

/** Names of all limits. A missing name does not compile. */
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
 * Returns the declared guards, as far as the run does not replace them.
 * @param unattended no person sees the plan before its apply.
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
    // Drops the place in the declaration of a replaced limit.
    ranges: {
      ...ranges,
      ...(maxOrders === undefined && orders && { maxOrders: orders }),
      ...(maxSpend === undefined && spent && { maxSpend: spent }),
      ...(maxRemovals === undefined && removed && { maxRemovals: removed }),
    },
  };
}

/** Returns the stricter one of each limit and each cap. */
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
