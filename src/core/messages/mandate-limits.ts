/** Messages about the limits of a mandate, and about its ledger. */
import { counted, some } from "../model/index.ts";
import { type Catalogue, error, type Words, warning } from "./message.ts";

const OTHER = "Ask the approver for another mandate.";

type Of = Words<"id">;

export const mandateLimits = {
  "mandate.required": error(({ work }: Words<"work">) => ({
    summary: `${work} needs a mandate`,
    detail: "HOSTFORM_APPROVERS is set, so nothing changes the account without a mandate.",
    remedies: ["Apply with a mandate that an approver signed."],
  })),
  "mandate.store": error(({ id, isMemory }: Of & { readonly isMemory: boolean }) => ({
    summary: `The store of the account cannot count the uses of mandate ${id}`,
    detail: isMemory
      ? "The store is in memory, so every run starts with an empty ledger."
      : "The store is on this machine, so another machine could use the mandate again.",
    remedies: [
      "Keep the store in PostgreSQL (HOSTFORM_STORE).",
      ...(isMemory ? [] : ["Use a mandate for one saved plan."]),
    ],
  })),
  "mandate.store/revoke": error({
    summary:
      "Mandate {id} was not revoked: the store here is on this machine, and the mandate counts in a shared store",
    remedies: ["Set HOSTFORM_STORE to the shared store, or remove the approver's key from HOSTFORM_APPROVERS."],
  }),
  "mandate.revoked": error(({ id, at }: Of & Words<"at">) => ({
    summary: `Mandate ${id} was revoked at ${at}`,
    remedies: [OTHER],
  })),
  "mandate.used": error(({ id, uses }: Of & { readonly uses: number }) => ({
    summary: `Mandate ${id} was used ${counted(uses, "time")}, which is its limit`,
    remedies: [OTHER],
  })),
  "mandate.limit": error(({ id, what, limit, counted }: Of & Words<"what" | "limit" | "counted">) => ({
    summary: `Mandate ${id} does not allow ${what}`,
    detail: `Limit of all uses: ${limit}. Counted so far: ${counted}. Amounts are in the API's own unit.`,
    remedies: [OTHER],
  })),
  "mandate.limit/price": error(({ id, address, why }: Of & Words<"address" | "why">) => ({
    summary: `Mandate ${id} does not allow the order of ${address}: ${why}`,
    remedies: [OTHER],
  })),
  "mandate.limit/exceeded": error(
    ({ id, address, invoice, amount, limit }: Of & Words<"address" | "invoice" | "amount" | "limit">) => ({
      summary: `${address}: ${invoice} of ${amount} exceeds mandate ${id}, which allows ${limit}`,
      detail: "The order cannot be canceled. This mandate allows no further order.",
      remedies: [
        "Ask the host about the invoice, and inform the approver. If the host adds tax, a mandate needs an amount.",
      ],
    }),
  ),
  "mandate.limit/unpaid": warning({
    summary: "Mandate {id} allows orders, but no amount, so it allows only free orders",
    remedies: ["Create another mandate with an amount for each currency."],
  }),
  "mandate.receipt": warning(({ id, reason }: Of & Words<"reason">) => ({
    summary: `The receipt of mandate ${id} could not be written: ${reason}`,
    detail: "The use and its orders are counted.",
    remedies: ["Check the store of the account and the file of the receipt."],
  })),
  "mandate.scope": error(
    ({
      id,
      what,
      found,
      allowed,
      digest,
    }: Of &
      Words<"what" | "allowed"> & { readonly found: readonly string[]; readonly digest?: string | undefined }) => ({
      summary: `Mandate ${id} does not allow this plan: ${what}`,
      detail: [
        ...(found.length > 0 ? [`Plan: ${some(found)}.`] : []),
        ...(allowed === "" ? [] : [`Mandate: ${allowed}.`]),
      ].join("\n"),
      remedies: [digest === undefined ? OTHER : `Apply the saved plan with the SHA-256 ${digest}. Or: ${OTHER}`],
    }),
  ),
  "mandate.scope/excess": warning(({ summary, detail }: Words<"summary" | "detail">) => ({
    summary,
    detail,
    remedies: ["The apply will be refused. Create a mandate with wider limits, or for another plan."],
  })),
} satisfies Catalogue;
