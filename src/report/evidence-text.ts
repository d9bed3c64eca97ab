import { formatMoney, type Json, type JsonObject } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { firstOf, formatDuration } from "./numbers.ts";
import { flow, paint as painter, type TextStyle } from "./text-style.ts";

/** Evidence on a create request with an unknown result. */
export interface EvidenceReport {
  readonly address: string;
  readonly since: string;
  readonly operation: string;
  readonly idempotency_key: string | null;
  readonly body: JsonObject | null;
  /** Attributes that identify objects of the kind: `name`, or `url` and `events`. */
  readonly key_attributes?: readonly string[];
  readonly accepted?: boolean;
  /** True if no block declares the resource. */
  readonly undeclared?: true;
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

/** Texts of the front: the next apply, and the command that settles a pending create. */
export interface EvidenceWords {
  readonly apply: string;
  /** Returns the command for a decision. @param answer id of the created object. Null if the request created no object. */
  readonly command: (address: string, answer: string | null) => string;
}

/** Explains the verdict. Commands follow a sentence with a final colon. */
function verdictText(one: EvidenceReport, apply: string): string {
  const { verdict, undeclared, until = "the next run", holder = "" } = one;
  switch (verdict) {
    case "sent-again":
      return `No action is needed: ${apply} repeats the order with the same key, and the response identifies it.`;
    case "secret-lost":
      return undeclared
        ? `It was created, its secret is lost, and no block declares it: ${apply} deletes it.`
        : `It was created, and its secret is lost: ${apply} deletes it and creates another.`;
    case "made":
      return undeclared
        ? `It was created, and no block declares it: ${apply} treats it like a removed block (deletion_policy). To keep it, declare it again.`
        : `It was created: ${apply} adopts it.`;
    case "nothing":
      return undeclared
        ? `It was not created, as far as the account shows, and no block declares it: ${apply} forgets it. To forget it now, run:`
        : `It was not created, as far as the account shows: ${apply} sends the request again. To send the current declaration instead, run this first:`;
    case "waiting":
      return `It is too early to decide: from ${until} on, a list without it proves that it was not created. To decide now, run:`;
    case "held":
      return `The request created nothing: ${escapeLine(holder)} has the object with this ${keyOf(one)}. Run:`;
    case "unclear":
      return "hostform cannot decide. Look at the objects in the dashboard, then run one of these:";
    case "unknowable":
      return "No API call can show it. Look for an invoice, or for the object in the dashboard, then run one of these:";
  }
}

/** Maximum number of listed invoices or candidates. */
const MAX_LISTED = 10;

/** Formats the evidence on pending creates, one block for each. Ends with a newline. */
export function renderEvidence(
  found: readonly EvidenceReport[],
  now: number,
  { apply, command, ...style }: EvidenceWords & TextStyle,
): string {
  const block = (one: EvidenceReport) => {
    const head = painter(style.color).bold(escapeLine(one.address));
    const lines = [head, ...linesOf(one, now, apply)].flatMap((line) => flow(line, style.width, 2));
    // Users copy commands, so do not wrap them.
    const commands = answersOf(one).flatMap(([answer, when]) => [
      ...flow(`    # ${when}`, style.width),
      `    ${escapeLine(command(one.address, answer))}`,
    ]);
    return `${[...lines, ...commands].join("\n")}\n`;
  };
  return found.map(block).join("\n");
}

function linesOf(one: EvidenceReport, now: number, apply: string): string[] {
  const age = (now - Date.parse(one.since)) / 1000;
  const ago = age >= 0 ? ` (${formatDuration(age)} ago)` : "";
  return [
    `  ${escapeLine(one.operation)} was sent at ${escapeLine(one.since)}${ago}; ${one.accepted ? "the response does not show the created object" : "the response was lost"}`,
    ...(one.idempotency_key === null ? [] : [`  Idempotency-Key ${escapeLine(one.idempotency_key)}`]),
    ...(one.body === null ? [] : [`  Sent: ${escapeLine(JSON.stringify(one.body))}`]),
    ...candidateLines(one),
    ...(one.available === undefined ? [] : [availability(one.available)]),
    ...invoiceLines(one),
    ...ruledOutLines(one),
    `  ${verdictText(one, apply)}`,
  ];
}

/** Formats the key attributes of the kind, such as `url and events`. */
const keyOf = ({ key_attributes: names = ["name"] }: EvidenceReport): string => names.join(" and ");

function candidateLines(one: EvidenceReport): string[] {
  if (one.candidates === null) return [];
  const ruledOut = new Set(one.ruled_out?.map(({ id }) => id));
  const candidates = one.candidates.filter(({ id }) => !ruledOut.has(id));
  if (candidates.length === 0) return ["  The account shows no new candidate."];
  const isAsked = one.verdict === "unclear" || one.verdict === "waiting";
  const lines = candidates.map((each) => {
    if (each.other_plan) return `${lineOf(each)}: another hosting plan`;
    return `${lineOf(each)}${isAsked && each.key ? `: ${reasonOf(each, one)}` : ""}`;
  });
  return ["  New since then:", ...firstOf(lines, MAX_LISTED, "    ")];
}

function lineOf({ id, natural_key: key, created_at, status, domain, plan }: Found): string {
  const facts = [plan, domain ?? key, status, created_at].filter((fact) => fact !== null).map(String);
  return `    ${escapeLine([id, ...facts].join("  "))}`;
}

/** Reasons against an object as the result. */
const WHY: Readonly<Record<RuledOut["why"], (by: string, key: string) => string>> = {
  held: (by) => `${by} has it`,
  siblings: (by) => `${by} requested it`,
  otherKey: (_, key) => `another ${key}, and this host never changes a ${key}`,
  older: () => "created before the request",
  ended: () => "it has ended",
};

function ruledOutLines(one: EvidenceReport): string[] {
  const { ruled_out: ruledOut = [] } = one;
  if (ruledOut.length === 0) return [];
  const lines = ruledOut.map((each) => `${lineOf(each)}: ${escapeLine(WHY[each.why](each.by ?? "", keyOf(one)))}`);
  return ["  New, but not created by this request:", ...firstOf(lines, MAX_LISTED, "    ")];
}

/** Id of the created object (null: none), and the condition under which the user selects it. */
type Answer = readonly [id: string | null, when: string];

/** Returns the decisions that a user can choose, with their conditions. */
function answersOf(one: EvidenceReport): Answer[] {
  const { verdict, candidates, accepted } = one;
  const all = (candidates ?? []).filter(({ other_plan: isOther }) => !isOther);
  const made: Answer[] =
    all.length > 0
      ? all.slice(0, MAX_LISTED).map(({ id }) => [id, `if the request created ${escapeLine(id)}`])
      : [["ID", "if the request created another object"]];
  switch (verdict) {
    case "unclear": {
      const isMissing = all.every(({ key }) => key === "other" || key === "near");
      const absent = accepted
        ? "a queued job should have created it, and nothing shows its result"
        : isMissing
          ? `no list shows the requested ${keyOf(one)}`
          : "somebody else may have created the new objects";
      const nothing: Answer = [null, `if the request created nothing: ${absent}`];
      return all.length === 0 && candidates?.length ? [nothing] : [...made, nothing];
    }
    case "waiting":
      return [...made, [null, "if the request created nothing"]];
    case "nothing":
      return [[null, "this forgets the earlier request"]];
    case "held":
      return [[null, "the request created nothing"]];
    case "unknowable":
      return [
        ["ID", "if it was ordered; ID is its id in the dashboard or on the invoice"],
        [null, "if it was not ordered"],
      ];
    default:
      return [];
  }
}

function reasonOf({ key, differs }: Candidate, one: EvidenceReport): string {
  const name = keyOf(one);
  if (differs !== undefined) return `its ${name} is the requested one, but ${escapeLine(differs)} is another`;
  if (key === "same") return `its ${name} is the requested one, and nothing else shows who created it`;
  if (key === "hidden") return `the API does not show its ${name}`;
  if (key === "near") return `its ${name} is similar: the host may have changed or cut it`;
  if (key !== "other") return "only its hosting plan is the requested one";
  if (one.rewrites_key === "never") return "the account had too many objects to store their ids before the request";
  return one.rewrites_key === "seen"
    ? `this host has changed a ${name} before`
    : `the host may have changed the ${name}, as some hosts do`;
}

const availability = (available: boolean | null): string =>
  available === null
    ? "  The API does not report whether the domain can still be registered."
    : available
      ? "  The domain can still be registered (the response may be outdated)."
      : "  The domain can no longer be registered: you or somebody else registered it.";

function invoiceLines({ invoices, candidates }: EvidenceReport): string[] {
  if (invoices === null) return ["  The token cannot read invoices: the ability billing is missing."];
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
