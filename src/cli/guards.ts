import { type Command, InvalidArgumentError, Option } from "commander";
import type { Limits } from "../core/engine/index.ts";
import { CURRENCIES, didYouMean, type Guards } from "../core/model/index.ts";
import { wholeNumber } from "./registration.ts";

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

const GROUP = "Guards (for this run):";

/** Adds the options that override the guards. */
export function addGuardOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--max-orders <n>", "order at most so many services and domains")
        .argParser(wholeNumber(0, 1_000_000))
        .helpGroup(GROUP),
    )
    .addOption(
      new Option(
        "--max-spend <currency=amount>",
        "order for at most so much, in the API's own unit; see `hostform plans` (repeatable)",
      )
        .argParser(spend)
        .helpGroup(GROUP),
    )
    .addOption(new Option("--allow-removals", "remove as much as the plan says").helpGroup(GROUP))
    .addOption(new Option("--allow-unknown-prices", "order also what the API tells no price of").helpGroup(GROUP));
}

/** `USD=200`, added to those that came before. */
function spend(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, word = "", digits] = /^([A-Za-z]+)=(\d+)$/.exec(text.trim()) ?? [];
  const amount = Number(digits);
  if (digits === undefined || !Number.isSafeInteger(amount))
    throw new InvalidArgumentError("expected CURRENCY=AMOUNT with a whole amount in the API's own unit, as USD=20000");
  const currency = CURRENCIES.find((known) => known === word.toUpperCase());
  if (currency === undefined)
    throw new InvalidArgumentError(`the currencies are ${CURRENCIES.join(", ")}.${didYouMean(word, CURRENCIES)}`);
  if (earlier[currency] !== undefined)
    throw new InvalidArgumentError(`${currency} has a limit already: give one amount for each currency`);
  return { ...earlier, [currency]: amount };
}

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
