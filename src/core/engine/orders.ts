import type { Kinds } from "../kinds/kind.ts";
import { type Change, CURRENCIES, type Guards, type ProviderConfig } from "../model/index.ts";

/** The limits that hold for one run: the declared ones, with what the command line says instead. */
export interface Limits extends Guards {
  /** Removals are meant, however many. */
  readonly allowRemovals?: boolean;
  /** Orders whose amount cannot be known beforehand are let through. */
  readonly allowUnknownPrices?: boolean;
  /** Nobody looks at the plan before it is applied. */
  readonly unattended?: boolean;
}

/** What costs money: a service or a domain that is ordered, also anew or once more after a lost answer. */
export interface Order {
  readonly address: string;
  readonly type: string;
  readonly provider: string;
  readonly currency: string;
  /** What its invoice cannot exceed; null when that is not known. */
  readonly most: number | null;
  /** Why an amount is not known. */
  readonly unknown: string;
}

/** The orders among changes: every create of a paid kind. What is adopted is not ordered. */
export function ordersOf(changes: readonly Change[], kinds: Kinds): Order[] {
  return changes.flatMap((change) => {
    const kind = kinds.get(change.type);
    const creates = change.actions.some((action) => action === "create");
    if (!creates || kind === undefined || kind.creation === "listable") return [];
    const { currency = "unknown", most = null, unknown = "the API tells no price" } = change.quote ?? {};
    // An amount in a currency that is not known yet bounds nothing.
    const known = isCurrency(currency);
    const why = known ? unknown : "its currency is known only after apply";
    const { address, type, provider } = change;
    return [{ address, type, provider, currency, most: known ? most : null, unknown: why }];
  });
}

const isCurrency = (word: string) => CURRENCIES.some((currency) => currency === word);

/** The limits that an order counts against: that of its currency; all of them while its currency is not known. */
export function spendLimits({ currency }: Pick<Order, "currency">, { maxSpend = {} }: Limits): [string, number][] {
  return Object.entries(maxSpend).filter(([of]) => mayBeIn(currency, of));
}

/** Whether an amount is in a currency, or may be: null and other words than those of §2 name none. */
export const mayBeIn = (word: string | null, currency: string) =>
  word === currency || word === null || !isCurrency(word);

/** How amounts are written where they are compared with a limit. */
export interface Amounts {
  /** `450 USD`, as `--max-spend` takes it; `450 USD (4.50)` where the scale is known. */
  text(amount: number, currency: string): string;
  /** Which unit that is: with cents it matters. */
  readonly unit: string;
}

/** Amounts in the API's own unit (§2: its scale is not specified), and scaled beside it when all orders share a scale. */
export function amountsOf(orders: readonly Order[], providers: ReadonlyMap<string, ProviderConfig>): Amounts {
  const scales = new Set(orders.map(({ provider }) => providers.get(provider)?.moneyScale));
  const [scale] = scales.size === 1 ? scales : [];
  if (scale === undefined)
    return { text: (amount, currency) => `${amount} ${currency}`, unit: "Amounts are in the API's own unit." };
  return {
    text: (amount, currency) => `${amount} ${currency} (${(amount / 10 ** scale).toFixed(scale)})`,
    unit: "Amounts are in the API's own unit, in brackets by money_scale.",
  };
}

/** `a, b and 3 more`. */
export function some(words: readonly string[], most = 10): string {
  const rest = words.length - most;
  return rest > 0 ? `${words.slice(0, most).join(", ")} and ${rest} more` : words.join(", ");
}
