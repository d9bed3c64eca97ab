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
  readonly ruled_out?: readonly RuledOut[];
  readonly rewrites_key?: "never" | "seen" | "unknown";
}

type Found = { readonly id: string; readonly natural_key: string | null } & Readonly<
  Record<"created_at" | "status" | "domain" | "plan", Json>
>;
type Candidate = Found & {
  readonly key?: "same" | "near" | "other" | "hidden" | "similar";
  readonly differs?: string;
  readonly other_plan?: true;
};
type RuledOut = Found & {
  readonly why: "held" | "siblings" | "otherKey" | "older" | "ended";
  readonly by: string | null;
};
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
  unclear: "hostform cannot decide. Look at the objects in the dashboard, then pass one of these:",
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
    ...ruledOutLines(one),
    `  ${VERDICT[one.verdict].replace("UNTIL", () => one.until ?? "the next run").replace("HOLDER", () => escapeLine(one.holder ?? ""))}`,
    ...(one.verdict === "unclear" ? answerLines(one) : []),
  ];
}

function candidateLines({ candidates }: EvidenceReport): string[] {
  if (candidates === null) return [];
  if (candidates.length === 0) return ["  The account shows no new candidate."];
  const lines = candidates.map((one) => `${lineOf(one)}${one.other_plan ? ": of another plan" : ""}`);
  return ["  New since then:", ...firstOf(lines, MAX_LISTED, "    ")];
}

function lineOf({ id, natural_key: key, created_at, status, domain, plan }: Found): string {
  const facts = [plan, domain ?? key, status, created_at].filter((fact) => fact !== null).map(String);
  return `    ${escapeLine([id, ...facts].join("  "))}`;
}

/** Reasons why an object is not the result. */
const WHY: Readonly<Record<RuledOut["why"], (by: string) => string>> = {
  held: (by) => `${by} has it`,
  siblings: (by) => `${by} requested it`,
  otherKey: () => "another natural key, and this host shows each as it was sent",
  older: () => "created before the request",
  ended: () => "it has ended",
};

function ruledOutLines({ ruled_out: ruledOut = [] }: EvidenceReport): string[] {
  if (ruledOut.length === 0) return [];
  const lines = ruledOut.map((one) => `${lineOf(one)}: ${escapeLine(WHY[one.why](one.by ?? ""))}`);
  return ["  New, but not its result:", ...firstOf(lines, MAX_LISTED, "    ")];
}

/** The answers to a question, each with what speaks for it. */
function answerLines({ candidates, accepted, rewrites_key: habit }: EvidenceReport): string[] {
  const all = (candidates ?? []).filter(({ other_plan: isOther }) => !isOther);
  const reasons = [...new Set(all.map(({ key, differs }) => reasonOf(key, differs, habit)))];
  const isMissing = all.every(({ key }) => key === "other" || key === "near");
  const absent = accepted
    ? "a job was to create it, and nothing shows its result"
    : isMissing
      ? "no list shows the natural key as it was sent"
      : "somebody else may have created what is new";
  return [
    ...(all.length === 0 ? [] : [`  --adopt ID if the request created it: ${reasons.join("; ")}`]),
    `  --absent if the request created nothing: ${absent}`,
  ];
}

function reasonOf(key: Candidate["key"], differs: string | undefined, habit: EvidenceReport["rewrites_key"]): string {
  if (differs !== undefined) return `the natural key is the same, and ${escapeLine(differs)} is another`;
  if (key === "same") return "the natural key is the same, and nothing else shows who created it";
  if (key === "hidden") return "the API does not show its natural key";
  if (key === "near") return "the natural keys are alike, so the host may have rewritten or cut it";
  if (key !== "other") return "nothing but its plan distinguishes it from others";
  if (habit === "never") return "the list before the request was too long to be recorded";
  return habit === "seen"
    ? "this host has shown a natural key in a form of its own before"
    : "this host may show the natural key in a form of its own: fewer than 10 recorded objects prove that it does not";
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
