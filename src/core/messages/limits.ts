/** Messages about the limits of a run: its guards, the prices of its orders, and its policy. */
import { counted, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

const OWNER = "Change what is declared, or ask the owner of the policy.";

/** `rule`: the name of a rule, or `function`. */
type Said = Words<"sentence" | "rule" | "file">;

const sourceOf = ({ rule, file }: Said) => (rule === "function" ? `By ${file}.` : `By the rule ${rule} of ${file}.`);

/** A limit in words, `450 USD (4.50)`, and a sentence about its unit. */
type Limit = Words<"limit" | "unit">;

/** Orders of a plan beside the limit of their currency. */
export interface Spending extends Limit, Words<"currency"> {
  readonly isOver: boolean;
  /** Unknown amounts are not allowed. */
  readonly isHidden: boolean;
  /** Sum of the known amounts, in words and as a number. */
  readonly total: string;
  readonly amount: number;
  /** Orders with an amount, and orders without. */
  readonly known: readonly string[];
  readonly unknown: readonly string[];
}

/** An order that would exceed a limit. */
export interface Refused extends Limit, Words<"address" | "currency" | "why"> {
  /** Invoices exceed the limit already. */
  readonly isOver: boolean;
  readonly hasPrice: boolean;
}

/** Removals beside a limit. `share`: `2 of 4 recorded resources (50%)`. */
type Removals = Words<"share"> & { readonly removed: readonly string[] };

const removals = <Given extends Removals>(summary: (given: Given) => string) =>
  error((given: Given) => ({
    summary: summary(given),
    detail: `${some(given.removed)}\nWas a file left out, or does a pattern match too little?`,
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
      : `max_spend of ${limit} cannot be kept: ${counted(unknown.length, "order")} of unknown amount`,
    detail: [
      ...(known.length > 0 ? [`At most: ${some(known)}.`] : []),
      ...(unknown.length > 0 ? [`Unknown: ${some(unknown)}.`] : []),
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
        "Check the invoices. They can exceed the listed prices, for example by tax: leave room for that in max_spend.",
      ],
    }),
  ),
  "apply.price": error(({ address, planned, now, unit }: Words<"address" | "planned" | "now" | "unit">) => ({
    summary: `The price of ${address} has changed since the plan. It was not ordered`,
    detail: `Planned: ${planned}. Now: ${now}. ${unit}`,
    remedies: ["Plan again to see the new price."],
  })),
  "guard.removals": removals(
    ({ removed, limit }: Removals & { readonly limit: number }) =>
      `The plan removes ${counted(removed.length, "resource")}; max_removals allows ${limit}`,
  ),
  "guard.removals/percent": removals(
    ({ share, limit }: Removals & { readonly limit: number }) =>
      `The plan removes ${share}; max_removals_percent allows ${limit}%`,
  ),
  "guard.removals/default": removals(
    ({ share, limit }: Removals & { readonly limit: number }) =>
      `The plan removes ${share}; more than ${limit}% has to be allowed`,
  ),
  "guard.removals/all": removals(({ share }: Removals) => `No resource is declared, and the plan removes ${share}`),
  "guard.removals/unattended": removals(
    ({ removed }: Removals) =>
      `The plan removes ${counted(removed.length, "resource")} and is applied unattended; that has to be allowed`,
  ),
  "policy.denied": error((said: Said) => ({
    summary: `The policy refuses this: ${said.sentence}`,
    detail: sourceOf(said),
    remedies: [OWNER],
  })),
  "policy.warned": warning((said: Said) => ({
    summary: `The policy warns: ${said.sentence}`,
    detail: sourceOf(said),
    remedies: [OWNER],
  })),
  "policy.invalid": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `The policy ${file} cannot be used: ${why}`,
    detail: "A run without its policy is refused.",
    remedies: ["Correct the file."],
  })),
  "policy.invalid/unset": error(() => ({
    summary: "HOSTFORM_POLICY is set, but empty",
    detail: "A run without its policy is refused.",
    remedies: ["Name the files of the policy, or unset it."],
  })),
  "policy.failed": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `The function ${file} of the policy failed: ${why}`,
    detail: "The plan is refused, because the function did not judge it.",
    remedies: ["Correct the function."],
  })),
  "policy.unsupported": either(({ what, why }: Words<"what" | "why">) => ({
    summary: `The policy has ${what}, and it cannot be enforced here`,
    detail: `${why}.`,
    remedies: ["Enforce it where the whole plan is known, or leave it out of the policy of this run."],
  })),
} satisfies Catalogue;
