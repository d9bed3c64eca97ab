import {
  type ApplyResult,
  type Change,
  type Diagnostic,
  effectOf,
  isError,
  isFulfilled,
  type Outcome,
  type Plan,
} from "../model/index.ts";
import { renderDiagnostics } from "./diagnostic-text.ts";
import { formatDuration, plural } from "./duration.ts";
import { escapeLine } from "./escape.ts";
import { formatMoney, type MoneyScale } from "./money.ts";
import { type Counts, countChanges, ownCounts } from "./plan-summary.ts";
import { awaitingText } from "./progress.ts";
import { type Look, type Paint, paint as painter } from "./style.ts";
import { type Column, renderTable } from "./table.ts";

export interface OutcomeTextOptions extends Look {
  readonly moneyScale?: MoneyScale;
  /** False when the caller prints the diagnostics elsewhere. Default: true. */
  readonly diagnostics?: boolean;
}

/** More lines of one sort are counted, not listed. */
const MAX_LISTED = 20;

/**
 * The end of an apply for people: diagnostics, what was done, the invoices raised, what waits, what was skipped and
 * not started, requests and time. Ends with a newline.
 */
export function renderOutcome(plan: Plan, result: ApplyResult, options: OutcomeTextOptions): string {
  const paint = painter(options.color);
  const told = options.diagnostics === false ? [] : diagnosticsOf(result);
  const blocks = [
    ...(told.length > 0 ? [renderDiagnostics(told, options)] : []),
    resultLines(plan, result, paint),
    invoiceBlock(plan, result, options),
    listBlock("Waiting:", waitingTexts(result), paint),
    listBlock("Not known whether they were made:", result.pending.map(escapeLine), paint),
    listBlock("Failed:", addressesOf(result, "failed"), paint),
    listBlock("Skipped:", skippedTexts(result), paint),
    listBlock(
      result.interrupted ? "Not started, because the run was stopped:" : "Not started:",
      addressesOf(result, "not-started"),
      paint,
    ),
    `${plural(result.requests, "request")} in ${formatDuration(result.seconds)}.\n`,
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

/** The changes of a plan that were carried out. */
export function doneChanges(plan: Plan, result: ApplyResult): Change[] {
  const done = new Set(result.outcomes.flatMap((outcome) => (outcome.result === "done" ? [outcome.address] : [])));
  return plan.changes.filter((change) => done.has(change.address));
}

/** What was done, by effect; what is only queued (§3), or not to be seen, is neither suspended nor unsuspended. */
export function countDone(plan: Plan, result: ApplyResult): { readonly done: Counts; readonly queued: number } {
  const open = new Map(result.outcomes.map(({ address, awaiting }) => [address, awaiting]));
  const changes = doneChanges(plan, result);
  const toggles = (change: Change) => ["suspend", "unsuspend"].includes(effectOf(change));
  const isOpen = ({ address }: Change) => open.get(address) === "job" || open.get(address) === "status";
  const asked = changes.filter((change) => isOpen(change) && toggles(change));
  const queued = asked.filter(({ address }) => open.get(address) === "job").length;
  return { done: countChanges(changes.filter((change) => !asked.includes(change))), queued };
}

/** All diagnostics once each. Those of skipped changes are left to the list of what was skipped. */
function diagnosticsOf(result: ApplyResult): Diagnostic[] {
  const all = [...result.outcomes.flatMap((outcome) => outcome.diagnostics), ...result.diagnostics];
  const once = new Map(all.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]));
  return [...once.values()].filter((diagnostic) => diagnostic.code !== "apply.skipped");
}

function resultLines(plan: Plan, result: ApplyResult, paint: Paint): string {
  const verb = plan.mode === "destroy" ? "Destroy" : "Apply";
  if (isFulfilled(result))
    return `${paint.good(`${verb} complete!`)} ${doneText(plan, result)}
`;
  const counts = doneText(plan, { ...result, noWait: false });
  if (result.interrupted) return `${paint.warning(`${verb} interrupted.`)} ${counts}\n${nextStep}\n`;
  const { outcomes } = result;
  const failed = addressesOf(result, "failed").length;
  const undone = outcomes.filter(({ result: was }) => was !== "done").length - failed;
  const queued = outcomes.filter(({ result: was, awaiting }) => was === "done" && awaiting === "job").length;
  const unknown = result.pending.filter((address) => !outcomes.some((outcome) => outcome.address === address)).length;
  const unclear = unclearIn(result).length;
  const missing = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(undone > 0 ? [`${undone} not done`] : []),
    ...(queued > 0 && result.noWait !== true ? [`${queued} still queued`] : []),
    ...(unknown > 0 ? [`${unknown} with no known outcome`] : []),
    ...(unclear > 0 ? [`${unclear} of a status that is not understood`] : []),
  ];
  // A cap that the invoices exceeded is an error of the run, not of a change.
  if (missing.length === 0) missing.push(plural(result.diagnostics.filter(isError).length, "error"));
  return `${paint.error(`${verb} incomplete:`)} ${missing.join(", ")}. ${counts}\n${nextStep}\n`;
}

const nextStep = "What was done is recorded; the same command goes on from there.";

/** `3 suspended`, `1 queued`: what Terraform's summary has no count for. */
export const doneEffects = (done: Counts, queued: number): string[] => [
  ...ownCounts(done).map(([count, verb]) => `${count} ${PAST[verb]}`),
  ...(queued > 0 ? [`${queued} queued`] : []),
];

const PAST = { suspend: "suspended", unsuspend: "unsuspended", forget: "no longer managed" } as const;

/** Addresses whose status does not show whether what is declared is fulfilled. */
function unclearIn({ outcomes, unfulfilled = [] }: ApplyResult): string[] {
  const asked = outcomes.flatMap(({ address, awaiting }) => (awaiting === "status" ? [address] : []));
  return [...new Set([...asked, ...unfulfilled])];
}

/** `3 added, 1 changed, 1 destroyed.`; what Terraform does not count only when there is any. */
function doneText(plan: Plan, result: ApplyResult): string {
  const { done, queued } = countDone(plan, result);
  const parts = [
    ...(done.import > 0 ? [`${done.import} imported`] : []),
    ...(plan.mode === "destroy" ? [] : [`${done.add} added`, `${done.change} changed`]),
    `${done.destroy} destroyed`,
    // Of what is incomplete, the line begins with what is still queued.
    ...doneEffects(done, result.noWait === true ? queued : 0),
  ];
  return `${parts.join(", ")}.`;
}

/** §1: an order raises an invoice at once, and it is the invoice's total that will be paid. */
function invoiceBlock(plan: Plan, result: ApplyResult, options: OutcomeTextOptions): string {
  const providers = new Map(plan.changes.map((change) => [change.address, change.provider]));
  const rows = result.outcomes.flatMap(({ address, invoice }) => (invoice === undefined ? [] : [{ address, invoice }]));
  if (rows.length === 0) return "";
  const columns: Column<(typeof rows)[number]>[] = [
    { header: "INVOICE", cell: ({ invoice }) => invoice.number ?? invoice.id, whole: true },
    {
      header: "TOTAL",
      align: "right",
      whole: true,
      cell: ({ address, invoice: { total, currency } }) =>
        formatMoney(total, currency, options.moneyScale?.(currency ?? "", providers.get(address) ?? "default")),
    },
    { header: "STATUS", cell: ({ invoice }) => invoice.status, spare: true },
    { header: "DUE", cell: ({ invoice }) => invoice.due_date },
    { header: "FOR", cell: ({ address }) => address },
  ];
  const width = options.width === undefined ? {} : { width: options.width - 2 };
  const table = renderTable(rows, columns, { color: options.color, ...width, empty: "" });
  return `${painter(options.color).bold("Invoices raised:")}\n${table.replace(/^(?=.)/gm, "  ")}`;
}

function waitingTexts(result: ApplyResult): string[] {
  return result.outcomes.flatMap((outcome) => {
    const text = awaitingText(outcome);
    return text === undefined ? [] : [`${escapeLine(outcome.address)} ${text}`];
  });
}

function skippedTexts(result: ApplyResult): string[] {
  return result.outcomes.flatMap(({ address, result: was, diagnostics }) => {
    if (was !== "skipped") return [];
    const [why] = diagnostics;
    return [escapeLine(why === undefined ? address : `${address}: ${why.detail ?? why.summary}`)];
  });
}

function addressesOf(result: ApplyResult, kind: Outcome["result"]): string[] {
  return result.outcomes.flatMap((outcome) => (outcome.result === kind ? [escapeLine(outcome.address)] : []));
}

/** @param items escaped already. */
function listBlock(header: string, items: readonly string[], paint: Paint): string {
  if (items.length === 0) return "";
  const more = items.length - MAX_LISTED;
  const shown = items.slice(0, MAX_LISTED).map((item) => `  ${item}`);
  return `${[paint.bold(header), ...shown, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n")}\n`;
}
