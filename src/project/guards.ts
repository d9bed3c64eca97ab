import type { Limits } from "../core/engine/index.ts";
import type { Guards } from "../core/model/index.ts";

/** Options that override the declared guards for one run. */
export interface GuardFlags {
  readonly maxOrders?: number;
  readonly maxSpend?: Readonly<Record<string, number>>;
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
  const { maxOrders, maxSpend, allowRemovals = false, allowUnknownPrices = false, allowMissing = false } = flags;
  const { maxOrders: orders, maxSpend: spent, ...ranges } = guards.ranges ?? {};
  return {
    ...guards,
    ...(maxOrders !== undefined && { maxOrders }),
    ...(maxSpend !== undefined && { maxSpend: { ...guards.maxSpend, ...maxSpend } }),
    allowRemovals,
    allowUnknownPrices,
    allowMissing,
    unattended,
    // A place in the declaration would mislead where the command line set the limit.
    ranges: {
      ...ranges,
      ...(maxOrders === undefined && orders && { maxOrders: orders }),
      ...(maxSpend === undefined && spent && { maxSpend: spent }),
    },
  };
}
