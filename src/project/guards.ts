import type { Limits } from "../core/engine/index.ts";
import type { Guards } from "../core/model/index.ts";

/** The options that say something else than the declared guards, for one run. */
export interface GuardFlags {
  readonly maxOrders?: number;
  readonly maxSpend?: Readonly<Record<string, number>>;
  readonly allowRemovals?: boolean;
  readonly allowUnknownPrices?: boolean;
}

/** Their names. One that is added and not named here does not compile. */
export const GUARD_FLAGS = Object.keys({
  maxOrders: true,
  maxSpend: true,
  allowRemovals: true,
  allowUnknownPrices: true,
} satisfies Record<keyof GuardFlags, true>) as readonly (keyof GuardFlags)[];

/**
 * The limits of a run: the declared guards, and what the command line says instead.
 * @param unattended nobody looks at the plan before it is applied.
 */
export function limitsOf(guards: Guards = {}, flags: GuardFlags = {}, unattended = false): Limits {
  const { maxOrders, maxSpend, allowRemovals = false, allowUnknownPrices = false } = flags;
  const { maxOrders: orders, maxSpend: spent, ...ranges } = guards.ranges ?? {};
  return {
    ...guards,
    ...(maxOrders !== undefined && { maxOrders }),
    ...(maxSpend !== undefined && { maxSpend: { ...guards.maxSpend, ...maxSpend } }),
    allowRemovals,
    allowUnknownPrices,
    unattended,
    // A place in the declaration would mislead where the command line set the limit.
    ranges: {
      ...ranges,
      ...(maxOrders === undefined && orders && { maxOrders: orders }),
      ...(maxSpend === undefined && spent && { maxSpend: spent }),
    },
  };
}
