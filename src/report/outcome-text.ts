import {
  type ApplyResult,
  type Change,
  type ChangeOutcome,
  causesIn,
  type Diagnostic,
  effectOf,
  formatMoney,
  type Invoice,
  isError,
  isFulfilled,
  isReplacement,
  type Plan,
  subjectsOf,
} from "../core/model/index.ts";
import { conditionText } from "./conditions.ts";
import { renderDiagnostics } from "./diagnostics.ts";
import { escapeLine } from "./escape.ts";
import { type Column, renderTable } from "./listings.ts";
import { leftText } from "./mandates.ts";
import { firstOf, formatDuration, plural, sharedScale } from "./numbers.ts";
import { type Counts, countChanges, ownCounts } from "./plan-text.ts";
import { awaitingText, waitingText } from "./progress.ts";
import { flowText, type Paint, paint as painter, type ReportStyle } from "./text-style.ts";

/** Maximum number of lines in one list. Further lines are counted. */
const MAX_LISTED = 20;
const MAX_INTERRUPTED = 200;

/**
 * Formats the result of an apply: diagnostics, completed changes, invoices, waiting, skipped and unstarted changes,
 * requests and time. Ends with a newline.
 * @param replan Command for a new plan, after the apply of a saved plan.
 */
export function renderOutcome(plan: Plan, result: ApplyResult, options: ReportStyle, replan?: string): string {
  const paint = painter(options.color);
  // Omit interrupted changes, and skipped changes without an error as cause. Both have their own lists.
  const all = diagnosticsOf(result).filter(({ code }) => code !== "interrupted");
  const cause = causesIn(all);
  const diagnostics = all.filter((one) => cause(one).code !== "apply.skipped");
  const { done, unknown, unrecorded, failed, halfway, notStarted } = tally(result);
  const { interrupted } = result;
  const most = interrupted ? MAX_INTERRUPTED : MAX_LISTED;
  const list = (header: string, addresses: readonly string[]) =>
    flowText(listBlock(header, addresses, paint, most), options.width, 2);
  const requests = `${plural(result.requests, "request")} in ${formatDuration(result.seconds)}.\n`;
  const ends = flowText(resultLines(plan, result, paint, replan), options.width);
  const waiting = new Set(
    result.outcomes.flatMap(({ address, awaiting }) => (awaiting === undefined ? [] : [address])),
  );
  const conditions = (result.conditions ?? []).filter((one) => !waiting.has(one.address));
  const attention = conditionText({ ...plan, conditions });
  const blocks = [
    ...(diagnostics.length > 0 ? [renderDiagnostics(diagnostics, options)] : []),
    ...(interrupted ? [] : [ends]),
    invoiceBlock(plan, result, options),
    ...(interrupted ? [list("Completed:", done)] : []),
    list("Waiting:", waitingTexts(result)),
    list("Outcome unknown (a request was sent, and the API may have carried it out):", unknown),
    list("Sent, but the response is not in the state:", unrecorded),
    list("Partly done; the next run continues:", halfway),
    list("Failed:", failed),
    list("Skipped because of errors:", result.held ?? []),
    list("Deleted, and not created again:", lostTexts(plan, result)),
    list("Skipped:", skippedTexts(result, diagnostics)),
    list(
      interrupted ? "Not started, because the run was interrupted; no request was sent:" : "Not started:",
      notStarted,
    ),
    attention && `${flowText(attention, options.width)}\n`,
    // After an interruption, print the totals last, because the lists may be long.
    interrupted ? `${ends}${requests}` : requests,
    flowText(mandateText(plan, result, options), options.width),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

/** Returns the line about the mandate. Empty without a mandate. */
function mandateText({ changes }: Plan, { mandate: receipt }: ApplyResult, { moneyScale }: ReportStyle): string {
  if (receipt === undefined) return "";
  const { mandate, use, left } = receipt;
  const providers = changes.map(({ provider }) => provider);
  return `Mandate ${mandate}, use ${use}. Left: ${leftText(left, moneyScale, providers)}.\n`;
}

export function doneChanges(plan: Plan, result: ApplyResult): Change[] {
  const done = new Set(result.outcomes.flatMap((outcome) => (outcome.result === "done" ? [outcome.address] : [])));
  return plan.changes.filter((change) => done.has(change.address));
}

/** Counts completed changes by effect. Excludes queued and unconfirmed suspensions (§3). */
export function countDone(plan: Plan, result: ApplyResult): { readonly done: Counts; readonly queued: number } {
  const open = new Map(result.outcomes.map(({ address, awaiting }) => [address, awaiting]));
  const changes = doneChanges(plan, result);
  const toggles = (change: Change) => ["suspend", "unsuspend"].includes(effectOf(change));
  const isOpen = ({ address }: Change) => open.get(address) === "job" || open.get(address) === "status";
  const asked = changes.filter((change) => isOpen(change) && toggles(change));
  const queued = asked.filter(({ address }) => open.get(address) === "job").length;
  return { done: withHalves(countChanges(changes.filter((change) => !asked.includes(change))), result), queued };
}

/** Adds the completed steps of failed changes, such as the deletion in a replacement. */
export function withHalves(counts: Counts, { outcomes }: ApplyResult): Counts {
  const times = (what: "create" | "delete") => outcomes.filter(({ did }) => did?.includes(what)).length;
  return { ...counts, add: counts.add + times("create"), destroy: counts.destroy + times("delete") };
}

/** Returns the distinct diagnostics of an apply. */
export function diagnosticsOf({ outcomes, diagnostics }: ApplyResult): Diagnostic[] {
  const all = [...outcomes.flatMap((outcome) => outcome.diagnostics), ...diagnostics];
  return [...new Map(all.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()];
}

/** Returns the result of an apply as a line, such as `Apply complete! 1 added.` */
export const outcomeLine = (plan: Plan, result: ApplyResult): string =>
  resultLines(plan, result, painter(false)).trim();

function resultLines(plan: Plan, result: ApplyResult, paint: Paint, replan?: string): string {
  const verb = plan.mode === "destroy" ? "Destroy" : "Apply";
  if (isFulfilled(result)) return `${paint.good(`${verb} complete!`)} ${doneText(plan, result)}\n`;
  const counts = doneText(plan, { ...result, noWait: false });
  const { done, queued, failed, halfway, skipped, notStarted, unknown, unrecorded } = tally(result);
  const count = (addresses: readonly string[], what: string) =>
    addresses.length > 0 ? [`${addresses.length} ${what}`] : [];
  const ends = [
    ...count(failed, "failed"),
    ...(result.interrupted ? count(notStarted, "not started") : count([...skipped, ...notStarted], "not done")),
    ...(result.interrupted ? count(skipped, "skipped") : []),
    ...count(halfway, "done in part"),
    ...(result.noWait ? [] : count(queued, "still queued")),
    ...count(unknown, "with no known outcome"),
    ...count(unrecorded, "not recorded"),
    ...count(unclearIn(result), "with an unknown status"),
    ...count(result.held ?? [], "skipped"),
  ];
  if (result.interrupted) ends.unshift(`${done.length} of ${plural(result.outcomes.length, "change")} completed`);
  // An exceeded cap is an error of the run, not of a change.
  if (ends.length === 0) ends.push(plural(result.diagnostics.filter(isError).length, "error"));
  const head = result.interrupted ? paint.warning(`${verb} interrupted:`) : paint.error(`${verb} incomplete:`);
  return `${head} ${ends.join(", ")}. ${counts}\n${nextStep(unrecorded.length > 0, replan)}\n`;
}

/** Sorts the addresses of changes by result. No address is in two lists. */
function tally({ outcomes, pending }: ApplyResult) {
  const open = new Set([...pending, ...outcomes.flatMap(({ address, unknown }) => (unknown ? [address] : []))]);
  const which = (fits: (outcome: ChangeOutcome) => boolean) =>
    outcomes.flatMap((outcome) => (!open.has(outcome.address) && fits(outcome) ? [outcome.address] : []));
  const isHalfway = ({ result, diagnostics }: ChangeOutcome) =>
    result === "failed" && diagnostics.length > 0 && diagnostics.every(({ code }) => code === "interrupted");
  return {
    done: which(({ result, awaiting }) => result === "done" && awaiting !== "job" && awaiting !== "status"),
    /** Accepted changes whose job is not done. */
    queued: which(({ result, awaiting }) => result === "done" && awaiting === "job"),
    failed: which((outcome) => outcome.result === "failed" && !isHalfway(outcome) && !outcome.unrecorded),
    /** Changes whose response is not in the state. */
    unrecorded: which((outcome) => outcome.unrecorded === true),
    halfway: which(isHalfway),
    skipped: which(({ result }) => result === "skipped"),
    /** Changes without a sent request. */
    notStarted: which(({ result }) => result === "not-started"),
    /** Changes with an unknown result, including pending creates of earlier runs. */
    unknown: [...open],
  };
}

function nextStep(isPartlyRecorded: boolean, replan: string | undefined): string {
  const recorded = isPartlyRecorded
    ? "The state contains all other results. The next plan shows the missing results."
    : "The state contains the completed changes.";
  if (replan !== undefined) return `${recorded} To continue, make a new plan and approve it: \`${replan}\`.`;
  return isPartlyRecorded ? recorded : `${recorded} Run the same command to continue.`;
}

/** Returns counts that Terraform's summary lacks, such as `3 suspended`, `1 queued`. */
export const doneEffects = (done: Counts, queued: number): string[] => [
  ...ownCounts(done).map(([count, verb]) => `${count} ${PAST[verb]}`),
  ...(queued > 0 ? [`${queued} queued`] : []),
];

const PAST = { suspend: "suspended", unsuspend: "unsuspended", forget: "no longer managed" } as const;

/** Returns the addresses whose unknown status prevents a comparison with the declaration. */
function unclearIn({ outcomes, unfulfilled = [] }: ApplyResult): string[] {
  const asked = outcomes.flatMap(({ address, awaiting }) => (awaiting === "status" ? [address] : []));
  return [...new Set([...asked, ...unfulfilled])];
}

/** Formats `3 added, 1 changed, 1 destroyed.` Adds hostform's own counts above 0. */
function doneText(plan: Plan, result: ApplyResult): string {
  const { done, queued } = countDone(plan, result);
  const waiting = result.outcomes.filter(({ result: was }) => was === "waiting").length;
  const parts = [
    ...(done.import > 0 ? [`${done.import} imported`] : []),
    ...(plan.mode === "destroy" ? [] : [`${done.add} added`, `${done.change} changed`]),
    `${done.destroy} destroyed`,
    // An incomplete apply reports queued jobs at the beginning of the line.
    ...doneEffects(done, result.noWait === true ? queued : 0),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  return `${parts.join(", ")}.`;
}

/** Formats the invoices of orders. The total of the invoice is the amount to pay (§1). */
function invoiceBlock(plan: Plan, result: ApplyResult, options: ReportStyle): string {
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
  const raised = rows.map(({ address, invoice }) => ({ ...invoice, provider: providers.get(address) ?? "default" }));
  const sums = invoiceSums(raised, options);
  const head = painter(options.color).bold("Invoices raised:");
  return `${flowText([head, ...sums].join("\n"), options.width, 2)}\n\n${table.replace(/^(?=.)/gm, "  ")}`;
}

/** Returns the totals to pay by currency and due date: `  To pay by 2026-12-05: 36.00 USD (2 invoices)`. */
function invoiceSums(
  raised: readonly (Invoice & { readonly provider: string })[],
  { moneyScale }: ReportStyle,
): string[] {
  const groups = Map.groupBy(raised, ({ paid = false, currency, due_date, total }) =>
    JSON.stringify([paid, paid ? "" : (due_date ?? "~"), currency ?? "", total === null]),
  );
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([, same]) => {
    const [first] = same;
    if (first === undefined) return [];
    const { paid, currency, due_date, total } = first;
    const aliases = same.map(({ provider }) => provider);
    const sum = same.reduce((all, one) => all + (one.total ?? 0), 0);
    const amount =
      total === null
        ? `an unknown sum${currency ? ` (${escapeLine(currency)})` : ""}`
        : formatMoney(sum, currency, sharedScale(moneyScale, currency ?? "", aliases));
    const by = due_date === null ? "To pay" : `To pay by ${escapeLine(due_date)}`;
    return [`  ${paid ? "Paid" : by}: ${amount} (${plural(same.length, "invoice")})`];
  });
}

function waitingTexts(result: ApplyResult): string[] {
  return result.outcomes.flatMap((outcome) => {
    if (outcome.result === "waiting") return [waitingText(outcome)];
    const text = awaitingText(outcome);
    return text === undefined ? [] : [`${outcome.address} ${text}`];
  });
}

/** Returns the skipped changes with their reasons. Omits a change whose diagnostic is in `shown`. */
function skippedTexts(result: ApplyResult, shown: readonly Diagnostic[]): string[] {
  return result.outcomes.flatMap(({ address, result: was, diagnostics }) => {
    const [why] = diagnostics;
    if (was !== "skipped" || (why && shown.includes(why))) return [];
    return [why === undefined ? address : `${address}: ${why.detail ?? why.summary}`];
  });
}

/** Returns the objects that a failed replacement has deleted, with the person and the site. */
function lostTexts(plan: Plan, { outcomes }: ApplyResult): string[] {
  const subjectOf = subjectsOf(plan);
  return outcomes.flatMap(({ address, did = [], unknown }) => {
    if (!did.includes("delete") || did.includes("create")) return [];
    const change = plan.changes.find((one) => one.address === address);
    if (change === undefined || !isReplacement(change)) return [];
    const what = subjectOf(change);
    const open = unknown === true ? "; it is unknown whether the new one was created" : "";
    return [`${address}${what === undefined ? "" : `: ${what}`}${open}`];
  });
}

/** Returns a list under a header. @param most maximum number of listed items. Further items are counted. */
function listBlock(header: string, items: readonly string[], paint: Paint, most: number): string {
  if (items.length === 0) return "";
  const lines = items.map((item) => `  ${escapeLine(item)}`);
  return `${[paint.bold(header), ...firstOf(lines, most)].join("\n")}\n`;
}
