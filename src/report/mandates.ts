// Mandates and receipts as text.
import { formatMoney, type Mandate, type Receipt, some } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { plural } from "./numbers.ts";

/** A mandate in the ledger. Its fields are null if it was revoked before its first use. */
export interface MandateRow {
  readonly id: string;
  readonly status: "in_force" | "used_up" | "expired" | "revoked";
  /** Time of the revocation. */
  readonly revoked: string | null;
  readonly mandate: Mandate | null;
  readonly left: Receipt["left"] | null;
  /** `complete`: null while the apply runs, or after it crashed. */
  readonly uses: readonly {
    readonly use: number;
    readonly began: string;
    readonly plan: string | null;
    readonly complete: boolean | null;
  }[];
}

/** A receipt, with the result of its verification. */
export interface ReceiptRow {
  readonly receipt: Receipt;
  /** File of the receipt. Null: the ledger. */
  readonly file: string | null;
  readonly signature: "valid" | "invalid" | "missing" | "not_checked";
  /** Name or public key of the runner, if the signature is valid. */
  readonly signed_by: string | null;
}

/** Returns the decimals of a currency's amounts. */
type Scale = (currency: string) => number | undefined;

const spendText = (spend: Readonly<Record<string, number>>, scale: Scale): string =>
  Object.entries(spend)
    .map(([currency, amount]) => formatMoney(amount, currency, scale(currency)))
    .join(", ");

/** Returns what a mandate allows, as lines. */
export function mandateLines(mandate: Mandate, scale: Scale): string[] {
  const { id, project, environment, plan, kinds, targets, max_orders, max_spend, max_removals } = mandate;
  const place = `project ${project}${environment === null ? "" : `, environment ${environment}`}`;
  const limits = [
    ...(max_orders === null ? [] : [max_orders === 0 ? "no orders" : `at most ${plural(max_orders, "order")}`]),
    ...(max_spend === null || max_orders === 0
      ? []
      : [`at most ${spendText(max_spend, scale) || "nothing"} for orders`]),
    ...(max_removals === null
      ? []
      : [max_removals === 0 ? "no removals" : `at most ${plural(max_removals, "removal")}`]),
    ...(kinds === null ? [] : [`only ${kinds.length === 1 ? "the kind" : "the kinds"} ${some(kinds)}`]),
    ...(targets.length === 0 ? [] : [`only ${some(targets)}`]),
    ...(mandate.no_offline ? ["no site goes offline"] : []),
  ];
  return [
    `Mandate ${id}: ${plural(mandate.uses, "apply", "applies")} of ${place}, until ${mandate.expires}.`,
    ...(plan === null
      ? []
      : [`Only the saved plan with the SHA-256 ${plan.digest}, at serial ${plan.serial} of the state.`]),
    ...(limits.length === 0 ? [] : [`Limits: ${limits.join("; ")}.`]),
  ].map(escapeLine);
}

function leftText({ uses, orders, spend, removals }: Receipt["left"], scale: Scale): string {
  const parts = [
    plural(uses, "use"),
    ...(orders === null ? [] : [plural(orders, "order")]),
    ...(spend === null || Object.keys(spend).length === 0 ? [] : [spendText(spend, scale)]),
    ...(removals === null ? [] : [plural(removals, "removal")]),
  ];
  return `Left: ${parts.join(", ")}.`;
}

const STATUS = { in_force: "in force", used_up: "used up", expired: "expired", revoked: "revoked" };

/** Formats mandates with their uses. */
export function renderMandates(rows: readonly MandateRow[], scale: Scale): string {
  if (rows.length === 0) return "The ledger has no mandates. A mandate is in the ledger after its first use.\n";
  const lines = rows.flatMap(({ id, status, revoked, mandate, left, uses }) => [
    ...(mandate === null ? [`Mandate ${id}`] : mandateLines(mandate, scale)),
    `  Status: ${STATUS[status]}${revoked === null ? "" : ` at ${revoked}`}. ${left === null ? "" : leftText(left, scale)}`.trimEnd(),
    ...uses.map(({ use, began, complete }) => {
      const end = complete === null ? "no receipt: running, or crashed" : complete ? "complete" : "not complete";
      return `  Use ${use}: ${began}, ${end}.`;
    }),
  ]);
  return `${lines.map(escapeLine).join("\n")}\n`;
}

const SIGNATURE = { valid: "signed by", invalid: "INVALID signature", missing: "not signed", not_checked: "" };

/** Formats receipts with their orders. */
export function renderReceipts(rows: readonly ReceiptRow[], scale: Scale): string {
  if (rows.length === 0) return "There are no receipts.\n";
  const lines = rows.flatMap(({ receipt, file, signature, signed_by }) => {
    const { mandate, use, project, environment, ended, complete, orders, effects, left } = receipt;
    const place = `${project}${environment === null ? "" : ` (${environment})`}`;
    const proof = [SIGNATURE[signature], ...(signed_by === null ? [] : [signed_by])].join(" ");
    return [
      `${file === null ? "" : `${file}: `}mandate ${mandate}, use ${use}, ${place}, ${ended}${proof && `, ${proof}`}`,
      ...(complete ? [] : ["  The apply is not complete."]),
      ...effects.map((text) => `  ${text}`),
      ...orders.map(({ address, id, currency, amount, invoice }) => {
        const bill = invoice === null ? "no invoice" : `invoice ${invoice.number ?? invoice.id ?? "without a number"}`;
        return `  Order ${id ?? "with an unknown result"} of ${address}: ${formatMoney(amount, currency, scale(currency))}, ${bill}`;
      }),
      `  ${leftText(left, scale)}`,
    ];
  });
  return `${lines.map(escapeLine).join("\n")}\n`;
}
