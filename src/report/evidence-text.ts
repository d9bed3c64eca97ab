import { formatMoney, type Json, type JsonObject } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { firstOf, formatDuration } from "./numbers.ts";
import { flowText, paint as painter, type TextStyle } from "./text-style.ts";

/** What is known of a create without known outcome, as this report needs it. */
interface EvidenceReport {
  readonly address: string;
  readonly since: string;
  readonly operation: string;
  readonly idempotency_key: string | null;
  readonly body: JsonObject | null;
  readonly accepted?: boolean;
  readonly candidates: readonly Candidate[] | null;
  readonly invoices: readonly InvoiceEvidence[] | null;
  readonly available?: boolean | null;
  readonly verdict: "sent-again" | "made" | "secret-lost" | "nothing" | "waiting" | "held" | "unclear" | "unknowable";
  readonly until?: string;
  readonly holder?: string;
}

type Candidate = { readonly id: string; readonly natural_key: string | null } & Readonly<
  Record<"created_at" | "status" | "domain" | "plan", Json>
>;
type InvoiceEvidence = {
  readonly id: string;
  readonly total: number | null;
  readonly money_scale: number | null;
} & Readonly<Record<"number" | "order_id" | "currency" | "status", string | null>>;

const VERDICT: Readonly<Record<EvidenceReport["verdict"], string>> = {
  "sent-again": "Nothing to do: `hostform apply` repeats the order with the same key, and the answer identifies it.",
  "secret-lost": "It was created, and its secret is lost: `hostform apply` deletes it and creates another.",
  made: "It was created: `hostform apply` adopts it.",
  nothing:
    "It was not created, as far as the account shows: `hostform apply` sends the request again. To prevent that: `--absent`.",
  waiting:
    "It is too early to decide: from UNTIL on, a list without it proves that it was not created. To decide now: `--adopt ID` or `--absent`.",
  held: "It created nothing: HOLDER has the object with this natural key. Pass `--absent`.",
  unclear: "hostform cannot decide: adopt one of these with `--adopt ID`, or pass `--absent`.",
  unknowable:
    "The API has no call that shows it: pass `--adopt ID` if it was ordered (see the invoice or the dashboard), else `--absent`.",
};

/** The most invoices or candidates that are listed. */
const MAX_LISTED = 10;

/**
 * The evidence on creates without known outcome, a block for each. Ends with a newline.
 * @param program of the next apply.
 */
export function renderEvidence(
  found: readonly EvidenceReport[],
  now: number,
  style: TextStyle,
  program = "hostform",
): string {
  const paint = painter(style.color);
  const text = found.map((one) => `${[paint.bold(escapeLine(one.address)), ...linesOf(one, now)].join("\n")}\n`);
  return flowText(text.join("\n").replaceAll("`hostform apply`", `\`${program} apply\``), style.width, 2);
}

function linesOf(one: EvidenceReport, now: number): string[] {
  const age = (now - Date.parse(one.since)) / 1000;
  const ago = age >= 0 ? ` (${formatDuration(age)} ago)` : "";
  return [
    `  ${escapeLine(one.operation)} was sent at ${escapeLine(one.since)}${ago}; its answer ${one.accepted ? "does not show what it created" : "was lost"}`,
    ...(one.idempotency_key === null ? [] : [`  Idempotency-Key ${escapeLine(one.idempotency_key)}`]),
    ...(one.body === null ? [] : [`  Sent: ${escapeLine(JSON.stringify(one.body))}`]),
    ...candidateLines(one),
    ...(one.available === undefined ? [] : [availability(one.available)]),
    ...invoiceLines(one),
    `  ${VERDICT[one.verdict].replace("UNTIL", () => one.until ?? "the next run").replace("HOLDER", () => escapeLine(one.holder ?? ""))}`,
  ];
}

function candidateLines({ candidates }: EvidenceReport): string[] {
  if (candidates === null) return [];
  if (candidates.length === 0) return ["  The account shows no new candidate."];
  const lines = candidates.map(({ id, natural_key: key, created_at, status, domain, plan }) => {
    const facts = [plan, domain ?? key, status, created_at].filter((fact) => fact !== null).map(String);
    return `    ${escapeLine([id, ...facts].join("  "))}`;
  });
  return ["  New since then:", ...firstOf(lines, MAX_LISTED, "    ")];
}

const availability = (available: boolean | null): string =>
  available === null
    ? "  The API does not report whether the domain can still be registered."
    : available
      ? "  The domain can still be registered (the answer may lag behind)."
      : "  The domain can no longer be registered: you or somebody else registered it.";

function invoiceLines({ invoices, candidates }: EvidenceReport): string[] {
  if (invoices === null) return ["  The token may not read invoices (it lacks the ability billing)."];
  if (invoices.length === 0) return [];
  const lines = invoices.map(({ id, number, order_id: order, total, currency, status, money_scale: scale }) => {
    const facts = [
      number ?? id,
      `order ${order ?? "?"}`,
      formatMoney(total, currency, scale ?? undefined),
      status ?? "",
    ];
    return `    ${escapeLine(facts.join("  "))}`;
  });
  const whose = candidates?.length ? "Their invoices:" : "Invoices of orders that no service shows:";
  return [`  ${whose}`, ...firstOf(lines, MAX_LISTED, "    ")];
}
