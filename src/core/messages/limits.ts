/** Messages about the limits of a run: guards, prices and policy. */
import { counted, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

const OWNER = "Change the declared values, or ask the owner of the policy.";

/** `rule`: name of a rule, or `function`. */
type Said = Words<"sentence" | "rule" | "file">;

const sourceOf = ({ rule, file }: Said) =>
  rule === "function" ? `Policy function: ${file}.` : `Rule: ${rule} in ${file}.`;

/** A limit as text, such as `450 USD (4.50)`, and a sentence about its unit. */
type Limit = Words<"limit" | "unit">;

/** `source`: sentence about the origin of the sum. */
type Month = Limit & Words<"source">;

/** Orders of a plan, and the limit of their currency. */
export interface Spending extends Limit, Words<"currency"> {
  readonly isOver: boolean;
  /** True if unknown amounts are not allowed. */
  readonly isHidden: boolean;
  /** Sum of the known amounts: `total` as text, `amount` as number. */
  readonly total: string;
  readonly amount: number;
  /** `known`: orders with a known amount. `unknown`: all other orders. */
  readonly known: readonly string[];
  readonly unknown: readonly string[];
}

/** An order that would exceed a limit. */
export interface Refused extends Limit, Words<"address" | "currency" | "why"> {
  /** True if earlier invoices already exceed the limit. */
  readonly isOver: boolean;
  readonly hasPrice: boolean;
}

/** Removals, and their share of the state: `2 of 4 resources in the state (50%)`. */
type Removals = Words<"share"> & { readonly removed: readonly string[] };

const removals = <Given extends Removals>(summary: (given: Given) => string) =>
  error((given: Given) => ({
    summary: summary(given),
    detail: `${some(given.removed)}\nWas a file left out, or does a pattern match too few resources?`,
    remedies: [{ do: "allow", limits: [{ limit: "removals" }] }],
  }));

export const limits = {
  "guard.orders": error(({ orders, limit }: { readonly orders: readonly string[]; readonly limit: number }) => ({
    summary: `The plan makes ${counted(orders.length, "order")}; max_orders allows ${limit}`,
    detail: `Orders: ${some(orders)}.`,
    remedies: ["Check the orders.", { do: "allow", limits: [{ limit: "orders", amount: orders.length }] }],
  })),
  "guard.orders/run": error(({ address, orders, limit }: Words<"address"> & Record<"orders" | "limit", number>) => ({
    summary: `${address} was not ordered: this run has placed ${counted(orders, "order")}, and max_orders allows ${limit}`,
    remedies: ["Check the orders, then apply again.", { do: "allow", limits: [{ limit: "orders", amount: null }] }],
  })),
  "guard.spend": error(({ isOver, isHidden, total, amount, currency, limit, known, unknown, unit }: Spending) => ({
    summary: isOver
      ? `The orders of the plan may cost ${total}; max_spend allows ${limit}`
      : `max_spend of ${limit} cannot be checked: the amount of ${counted(unknown.length, "order")} is unknown`,
    detail: [
      ...(known.length > 0 ? [`Maximum cost: ${some(known)}.`] : []),
      ...(unknown.length > 0 ? [`Unknown cost: ${some(unknown)}.`] : []),
      unit,
    ].join("\n"),
    remedies: [
      "Check the orders.",
      {
        do: "allow",
        limits: [
          ...(isOver ? [{ limit: "spend", currency, amount } as const] : []),
          ...(isHidden ? [{ limit: "unknown_prices" } as const] : []),
        ],
      },
    ],
  })),
  "guard.spend/run": error(({ address, isOver, hasPrice, currency, limit, why, unit }: Refused) => ({
    summary: `${address} was not ordered: this run ${isOver ? "spent" : "might spend"} more than ${limit}`,
    detail: `${why} ${unit}`,
    remedies: [
      "Check the invoices, then apply again.",
      {
        do: "allow",
        limits: [
          { limit: "spend", currency, amount: null },
          ...(hasPrice ? [] : [{ limit: "unknown_prices" } as const]),
        ],
      },
    ],
  })),
  "guard.spend/exceeded": error(
    ({
      isCertain,
      spent,
      limit,
      shares,
      unit,
    }: Limit & Words<"spent" | "shares"> & { readonly isCertain: boolean }) => ({
      summary: `The orders of this run ${isCertain ? "cost" : "may have cost"} ${spent}; max_spend allows ${limit}`,
      detail: `${shares}.\n${unit}`,
      remedies: [
        "Check the invoices. They can exceed the listed prices, for example by tax. Raise max_spend by this difference.",
      ],
    }),
  ),
  "guard.month": error(
    ({
      spent,
      more,
      limit,
      unknown,
      source,
      unit,
    }: Month & Words<"spent" | "more"> & { readonly unknown: readonly string[] }) => ({
      summary: `The orders cost ${more}; max_spend_month allows ${limit}, and ${spent} is spent this month`,
      detail: [...(unknown.length > 0 ? [`Unknown cost: ${some(unknown)}.`] : []), source, unit].join("\n"),
      remedies: ["Wait for the next month (UTC), or raise max_spend_month. The history lists the orders."],
    }),
  ),
  "guard.month/orders": error(
    ({ orders, today, limit, source }: Words<"source"> & Record<"orders" | "today" | "limit", number>) => ({
      summary: `The plan makes ${counted(orders, "order")}; max_orders_day allows ${limit}, and today already has ${counted(today, "order")}`,
      detail: source,
      remedies: ["Wait for the next day (UTC), or raise max_orders_day. The history lists the orders."],
    }),
  ),
  "apply.price": error({
    summary: "{address} was not ordered: its price has changed since the plan",
    detail: "Planned: {planned}. Now: {now}. {unit}",
    remedies: ["Plan again to see the new price."],
  }),
  "guard.removals": removals(
    ({ removed, limit }: Removals & { readonly limit: number }) =>
      `The plan removes ${counted(removed.length, "resource")}; max_removals allows ${limit}`,
  ),
  "guard.removals/percent": removals(
    ({ share, by, limit }: Removals & Words<"by"> & { readonly limit: number }) =>
      `The plan removes ${share}; ${by} allows ${limit}%`,
  ),
  "guard.removals/all": removals(({ share }: Removals) => `The plan removes ${share}; no resource is declared`),
  "guard.removals/unattended": removals(
    ({ removed }: Removals) =>
      `The plan removes ${counted(removed.length, "resource")}; without approval, an apply removes none by default`,
  ),
  "policy.denied": error((said: Said) => ({
    summary: `The policy rejects this plan: ${said.sentence}`,
    detail: sourceOf(said),
    remedies: [OWNER],
  })),
  "policy.warned": warning((said: Said) => ({
    summary: `The policy warns: ${said.sentence}`,
    detail: sourceOf(said),
    remedies: [OWNER],
  })),
  "policy.invalid": error({
    summary: "The policy {file} cannot be used: {why}",
    detail: "A run stops if its policy is missing or invalid.",
    remedies: ["Correct the file."],
  }),
  "policy.invalid/unset": error({
    summary: "HOSTFORM_POLICY is set, but empty",
    detail: "A run stops if its policy is missing or invalid.",
    remedies: ["Set it to the files of the policy. To run without a policy, unset it."],
  }),
  "policy.failed": error({
    summary: "The policy function in {file} failed: {why}",
    detail: "The plan is rejected, because the policy was not evaluated.",
    remedies: ["Correct the function in {file}."],
  }),
  "policy.unsupported": either({
    summary: "The policy has {what}, which this run cannot enforce",
    detail: "{why}.",
    remedies: [
      "Enforce this part in a run that knows the complete plan, or remove this part from the policy of this run.",
    ],
  }),
} satisfies Catalogue;
