import * as z from "zod";
import type { Limits } from "../core/engine/index.ts";
import type { capsOf, Guards } from "../core/model/index.ts";
import type { Caps, GuardFlags } from "./library-types.ts";

export type { Caps, GuardFlags };

const count = z.int().nonnegative().optional();
const flag = z.boolean().optional();
const shape = {
  maxOrders: count,
  maxSpend: z.record(z.string(), z.int().nonnegative()).optional(),
  maxRemovals: count,
  allowRemovals: flag,
  allowUnknownPrices: flag,
  allowMissing: flag,
  accountMoved: flag,
} satisfies Record<keyof GuardFlags, z.ZodType>;

/** Schema of the limits in a saved plan. */
export const guardForm = z.strictObject(shape);

export const GUARD_FLAGS = Object.keys(shape) as readonly (keyof GuardFlags)[];

/**
 * Returns the declared guards. Options of the run override them.
 * @param unattended True if nobody reviews the plan before the apply.
 */
export function limitsOf(guards: Guards = {}, flags: GuardFlags = {}, unattended = false): Limits {
  const { maxOrders = guards.maxOrders, maxRemovals = guards.maxRemovals, maxSpend } = flags;
  const { allowRemovals = false, allowUnknownPrices = false, allowMissing = false } = flags;
  // An overridden limit has no location.
  const ranges = Object.entries(guards.ranges ?? {}).filter(([name]) => flags[name as keyof GuardFlags] === undefined);
  return {
    ...guards,
    maxOrders,
    maxRemovals,
    ...(maxSpend && { maxSpend: { ...guards.maxSpend, ...maxSpend } }),
    allowRemovals,
    allowUnknownPrices,
    allowMissing,
    unattended,
    ranges: Object.fromEntries(ranges),
  };
}

/** Returns the strictest of all limits and caps. */
export function tightened(limits: Limits, { maxRemovals, ...caps }: Caps & ReturnType<typeof capsOf>): Limits {
  const least = (cap: number, limit = Number.POSITIVE_INFINITY) => Math.min(cap, limit);
  const count = (name: "maxOrders" | "maxOrdersDay") =>
    caps[name] === undefined ? {} : { [name]: least(caps[name], limits[name]) };
  const amounts = (name: "maxSpend" | "maxSpendMonth") => {
    const given = Object.entries(caps[name] ?? {});
    const spend = given.map(([currency, cap]) => [currency, least(cap, limits[name]?.[currency])]);
    return spend.length === 0 ? {} : { [name]: { ...limits[name], ...Object.fromEntries(spend) } };
  };
  const removals = limits.allowRemovals
    ? { allowRemovals: false, maxRemovalsPercent: 100, maxRemovals }
    : { maxRemovals: maxRemovals && least(maxRemovals, limits.maxRemovals) };
  return {
    ...limits,
    ...count("maxOrders"),
    ...count("maxOrdersDay"),
    ...amounts("maxSpend"),
    ...amounts("maxSpendMonth"),
    ...(maxRemovals !== undefined && removals),
  };
}
