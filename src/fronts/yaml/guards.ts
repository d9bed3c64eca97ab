import { z } from "zod";
import { CURRENCIES, type Guards } from "../../core/model/index.ts";
import { didYouMean, type Mistakes } from "../source/mistakes.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, type MapTree, toJson, valueSpan } from "../source/tree.ts";

const number = (of: string) => z.int(`expected a whole number of ${of}`).min(0, "at least 0");

const amount = () =>
  z
    .int("expected a whole number, in the unit in which the API gives amounts (`hostform plans` shows them)")
    .min(0, "at least 0");

/** The section `guards`. The editor's schema is made from this as well. */
export const guardSettings = z.strictObject({
  max_orders: number("orders").optional().describe("Most services and domains that one run may order."),
  max_spend: z
    .strictObject(
      Object.fromEntries(CURRENCIES.map((currency) => [currency, amount().optional()])),
      "expected amounts by currency, such as {USD: 20000}",
    )
    .optional()
    .describe(
      "Most that one run may order for, by currency, in the unit in which the API gives amounts. A currency that is left out is not limited.",
    ),
  max_removals: number("resources").optional().describe("Most resources that one run may remove."),
  max_removals_percent: z
    .number("expected a percentage from 0 to 100")
    .min(0, "at least 0")
    .max(100, "at most 100")
    .optional()
    .describe("Most resources that one run may remove, in percent of what is recorded."),
});

const KEYS: readonly string[] = Object.keys(guardSettings.shape);

/** What each setting is called in the model. */
const NAMES = {
  max_orders: "maxOrders",
  max_spend: "maxSpend",
  max_removals: "maxRemovals",
  max_removals_percent: "maxRemovalsPercent",
} as const satisfies Record<keyof typeof guardSettings.shape, keyof Guards>;

/** Reads the section `guards`. A wrong setting is reported at its place and left out; a section without any, warned of. */
export function readGuards(section: Entry, mistakes: Mistakes): Guards {
  const { value: tree } = section;
  if (limitsNothing(tree)) {
    const fix = "Write `max_orders: 3` and so on, indented below `guards:`, or remove the section.";
    mistakes.warn(section.keySpan, "config.structure", "`guards` has no limit in it, so it limits nothing", { fix });
    return {};
  }
  if (tree.form !== "map") {
    const fix = "Write `max_orders: 3` and so on, indented below `guards:`.";
    mistakes.add(valueSpan(section), "config.structure", "`guards` must be a map of limits", { fix });
    return {};
  }
  const settings: Record<string, unknown> = {};
  const ranges: Record<string, unknown> = {};
  for (const entry of tree.entries.values()) {
    const name = Object.hasOwn(NAMES, entry.key) ? NAMES[entry.key as keyof typeof NAMES] : undefined;
    if (name === undefined) reportUnknown(entry, "`guards` has no limit", KEYS, mistakes);
    else if (isAcceptable(entry, mistakes)) {
      settings[name] = toJson(entry.value);
      ranges[name] = rangeOf(valueSpan(entry));
    }
  }
  return { ...settings, ranges } as Guards;
}

/** An empty section, or one that holds nothing but empty limits (`max_spend: {}`). */
function limitsNothing(tree: Entry["value"]): boolean {
  if (tree.form === "leaf") return tree.value === null;
  const isEmpty = ({ key, value }: Entry) => key === "max_spend" && value.form !== "list" && limitsNothing(value);
  return tree.form === "map" && [...tree.entries.values()].every(isEmpty);
}

/** Checks one limit; every mistake in it at its own place. */
function isAcceptable(entry: Entry, mistakes: Mistakes): boolean {
  const { key, value: tree } = entry;
  const currencies = key === "max_spend" && tree.form === "map" ? [...tree.entries.values()] : [];
  const strange = currencies.filter((currency) => !CURRENCIES.some((known) => known === currency.key));
  for (const currency of strange) reportUnknown(currency, "The API has no currency", CURRENCIES, mistakes);
  const parsed = guardSettings.safeParse({ [key]: toJson(tree) });
  const issues = parsed.success ? [] : parsed.error.issues.filter(({ code }) => code !== "unrecognized_keys");
  for (const { path, message } of issues) {
    const [, currency] = path;
    const at = currency === undefined ? entry : ((tree as MapTree).entries.get(String(currency)) ?? entry);
    mistakes.add(valueSpan(at), "config.invalid_value", `${path.join(".")}: ${message}`);
  }
  return issues.length + strange.length === 0;
}

function reportUnknown({ key, keySpan }: Entry, what: string, known: readonly string[], mistakes: Mistakes): void {
  const upper = known.find((word) => word === key.toUpperCase());
  const near = upper ?? mistakes.nearest(key, known);
  mistakes.add(keySpan, "config.unknown_key", `${what} "${key.slice(0, 100)}".${didYouMean(near)}`, {
    detail: `It can be ${known.join(", ")}.`,
  });
}
