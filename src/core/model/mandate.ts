/** A mandate: the signed permission of an approver to apply. Amounts are in the API's own unit. */
import type { AccountMark } from "./state.ts";

export interface Mandate {
  /** Random and unique. */
  readonly id: string;
  readonly project: string;
  readonly environment: string | null;
  /** Accounts by provider alias. */
  readonly accounts: Readonly<Record<string, AccountMark>>;
  /** Exactly this saved plan: SHA-256 of its bytes, and the state that the apply uses up. Null: any plan within the limits. */
  readonly plan: { readonly digest: string; readonly lineage: string; readonly serial: number } | null;
  /** Kinds that may change, such as `service`. Null: only the plan decides. */
  readonly kinds: readonly string[] | null;
  /** Maximum number of orders of all uses together. Null: only the plan decides. */
  readonly max_orders: number | null;
  /** Maximum amount of all uses together, by currency. An absent currency allows nothing. Null: only the plan decides. */
  readonly max_spend: Readonly<Record<string, number>> | null;
  /** Maximum number of removals of all uses together. Null: only the plan decides. */
  readonly max_removals: number | null;
  /** Addresses, patterns, or clients (`client:acme`) that may change. Empty: all. */
  readonly targets: readonly string[];
  /** Existing objects of the targets when the approver signed, as `default hosting_service 1003`. Null without targets, and with a plan. */
  readonly objects: readonly string[] | null;
  /** True if no site may go offline. */
  readonly no_offline: boolean;
  readonly uses: number;
  /** Times in ISO 8601, UTC. */
  readonly issued: string;
  readonly expires: string;
}

/** Record of one use of a mandate. */
export interface Receipt {
  readonly mandate: string;
  /** Number of the use, from 1. */
  readonly use: number;
  readonly project: string;
  readonly environment: string | null;
  /** Digest of the saved plan. Null for an apply without a saved plan. */
  readonly plan: string | null;
  readonly began: string;
  readonly ended: string;
  /** True if the apply did everything in its plan. */
  readonly complete: boolean;
  readonly orders: readonly ReceiptOrder[];
  /** Sentences about the changes. */
  readonly effects: readonly string[];
  /** Remaining part of the mandate. Null: not limited. */
  readonly left: {
    readonly uses: number;
    readonly orders: number | null;
    readonly spend: Readonly<Record<string, number>> | null;
    readonly removals: number | null;
  };
}

export interface ReceiptOrder {
  readonly address: string;
  readonly provider: string;
  /** Id of the ordered object. Null if the response was lost. */
  readonly id: string | null;
  readonly currency: string;
  /** Amount that counts: the invoice, or without one the maximum. Null if unknown. */
  readonly amount: number | null;
  /** Invoice in the response. Null if there was none. */
  readonly invoice: {
    readonly id: string | null;
    readonly number: string | null;
    readonly total: number | null;
  } | null;
}
