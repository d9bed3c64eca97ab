// Mandates and receipts as text.
import { formatMoney, type Mandate, type Receipt, type ReceiptOrder, some } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { type MoneyScale, plural, sharedScale } from "./numbers.ts";

/** A mandate in the ledger. Its fields are null if it was revoked before its first use. */
export interface MandateRow {
  readonly id: string;
  readonly status: "in_force" | "used_up" | "expired" | "revoked";
  /** Time of the revocation. */
  readonly revoked: string | null;
  readonly mandate: Mandate | null;
  readonly left: Receipt["left"] | null;
  /** `receipt`: null while the apply runs, or after it crashed. */
  readonly uses: readonly {
    readonly use: number;
    readonly began: string;
    readonly plan: string | null;
    readonly receipt: Receipt | null;
  }[];
}

/** A use of a mandate, with the verification of its receipt. */
export interface ReceiptRow extends Pick<Receipt, "mandate" | "use" | "began" | "orders"> {
  /** Null while the apply runs, or after it crashed. The ledger then has its orders. */
  readonly receipt: Receipt | null;
  /** File of the receipt. Null: the ledger. */
  readonly file: string | null;
  readonly signature: "valid" | "invalid" | "missing" | "not_checked";
  /** Name or public key of the runner, if the signature is valid. */
  readonly signed_by: string | null;
}

/** Returns limits in words: `2 uses, 3 orders, 10.00 USD, 0 removals`. @param providers Aliases of the mandate's accounts. */
export function leftText(
  { uses, orders, spend, removals }: Receipt["left"],
  scale: MoneyScale | undefined,
  providers: readonly string[],
): string {
  const amounts = Object.entries(spend ?? {}).map(([currency, amount]) =>
    formatMoney(amount, currency, sharedScale(scale, currency, providers)),
  );
  return [
    plural(uses, "use"),
    ...(orders === null ? [] : [plural(orders, "order")]),
    ...(spend !== null && amounts.length === 0 ? ["no money"] : amounts),
    ...(removals === null ? [] : [plural(removals, "removal")]),
  ].join(", ");
}

/** Words for kinds, from the greatest risk to the smallest. */
const KIND_WORDS: Readonly<Record<string, string>> = {
  grant: "access of people",
  webhook: "receivers of events",
  service: "services",
  domain: "domains",
};

const kindWords = (kinds: readonly string[]): readonly string[] => [
  ...Object.keys(KIND_WORDS).flatMap((kind) => (kinds.includes(kind) ? (KIND_WORDS[kind] ?? []) : [])),
  ...kinds.flatMap((kind) => (kind in KIND_WORDS ? [] : `${kind.replace("_", " ")}s`)),
];

/** Returns what a mandate allows, as lines, from the greatest risk to the smallest. */
export function mandateLines(mandate: Mandate, scale: MoneyScale): string[] {
  const { id, project, environment, accounts, plan, kinds, targets, objects, uses } = mandate;
  const left = { uses, orders: mandate.max_orders, spend: mandate.max_spend, removals: mandate.max_removals };
  const isOpen = plan === null;
  const limits = [
    ...(mandate.no_offline ? ["No site goes offline"] : isOpen ? ["Sites may go offline"] : []),
    ...(kinds === null ? [] : [`${isOpen ? "May change" : "Only"} ${kindWords(kinds).join(", ")}`]),
    ...(targets.length > 0 ? [`Only ${some(targets)}`] : isOpen ? ["The whole account"] : []),
    ...(objects === null ? [] : [`Of existing objects, only ${some(objects) || "none"} with their grants`]),
    `At most ${leftText(left, scale, Object.keys(accounts))}`,
  ];
  const unknown = Object.entries(accounts).filter(([, { anchors }]) => anchors.length === 0);
  return [
    `Mandate ${id}: project ${project}${environment === null ? "" : `, environment ${environment}`}, until ${mandate.expires}.`,
    ...limits.map((limit) => `${limit}.`),
    ...(plan === null
      ? []
      : [`Only the saved plan with the SHA-256 ${plan.digest}, at serial ${plan.serial} of the state.`]),
    ...unknown.map(
      ([alias, { origin }]) => `Account ${alias} is empty, so the mandate accepts any account at ${origin}.`,
    ),
  ].map(escapeLine);
}

/** Formats mandates: their states, and what is left. */
export function renderMandates(rows: readonly MandateRow[], scale: MoneyScale): string {
  if (rows.length === 0) return "The ledger has no mandates. A mandate is in the ledger after its first use.\n";
  const lines = rows.flatMap(({ id, status, revoked, mandate, left, uses }) => {
    const state = `${id}: ${status.replace("_", " ")}${revoked === null ? "" : ` at ${revoked}`}.`;
    const open = uses.filter(({ receipt }) => receipt === null);
    return [
      mandate === null || left === null
        ? state
        : `${state} Left until ${mandate.expires}: ${leftText(left, scale, Object.keys(mandate.accounts))}.`,
      ...open.map(({ use, began }) => `  Use ${use}, ${began}: no receipt. The apply is running, or it crashed.`),
    ];
  });
  return `${lines.map(escapeLine).join("\n")}\n`;
}

/** Returns the name of an invoice: its number or its id. */
export const invoiceName = ({ id, number }: Omit<NonNullable<ReceiptOrder["invoice"]>, "total">): string =>
  `invoice ${number ?? id ?? "without a number"}`;

const PROOF = { valid: ", signed by ", invalid: ", INVALID signature", missing: ", not signed", not_checked: "" };

/** Formats receipts with their orders. */
export function renderReceipts(rows: readonly ReceiptRow[], scale: MoneyScale): string {
  if (rows.length === 0) return "There are no receipts.\n";
  const lines = rows.flatMap(({ mandate, use, began, receipt, orders, file, signature, signed_by }) => {
    const end = `${receipt?.complete ? "" : ", not complete"}${PROOF[signature]}${signed_by ?? ""}`;
    return [
      receipt === null
        ? `mandate ${mandate}, use ${use}: no receipt. The apply of ${began} is running, or it crashed.`
        : `${file === null ? "" : `${file}: `}mandate ${mandate}, use ${use}, ${receipt.ended}${end}`,
      ...(receipt?.effects ?? []).map((text) => `  ${text}`),
      ...orders.map(({ address, provider, id, currency, amount, invoice }) => {
        const money = formatMoney(amount, currency, scale(currency, provider));
        const bill = invoice === null ? "no invoice" : invoiceName(invoice);
        return `  Order ${id ?? "with an unknown result"} of ${address}: ${money}, ${bill}`;
      }),
    ];
  });
  return `${lines.map(escapeLine).join("\n")}\n`;
}
