/**
 * Plan, progress and outcome for people and for machines. In: the plain values of the model (a plan, events, results,
 * diagnostics), records to list and configurations for Terraform, with colour and width as parameters. Out: strings, or
 * objects for JSON. Must not: write to a stream, read the clock or the environment, or print anything that `escape.ts`
 * has not made safe.
 */

export { formatNumber } from "../core/model/index.ts";
export {
  diagnosticMessage,
  eventMessage,
  outputsMessage,
  planMessages,
  resultMessages,
  type UiMessage,
  versionMessage,
} from "./apply-json.ts";
export {
  type Budget,
  budgetAfterWait,
  isWaiting,
  type Reading,
  readingLine,
  secondsFor,
  waitLine,
  waitReasonLine,
} from "./budget.ts";
export { annotationsOf, codeQualityOf, sarifOf } from "./ci.ts";
export { renderContract } from "./contract.ts";
export {
  type DiagnosticJson,
  diagnosticJson,
  renderDiagnostics,
} from "./diagnostics.ts";
export {
  escapeHtml,
  escapeLine,
  escapeMarkdown,
  escapeOutput,
  escapeText,
  fenceMarkdown,
  jsonText,
  quote,
} from "./escape.ts";
export { renderEvidence } from "./evidence-text.ts";
export {
  type Cell,
  type Column,
  type Listing,
  type Listings,
  renderFields,
  renderListing,
  renderTable,
} from "./listings.ts";
export { moneyLines } from "./money.ts";
export {
  firstOf,
  formatDuration,
  formatElapsed,
  formatEstimate,
  formatMoney,
  type MoneyScale,
  plural,
} from "./numbers.ts";
export { doneChanges, renderOutcome } from "./outcome-text.ts";
export { renderOutputs, renderOutputValue } from "./outputs.ts";
export { COMMENT_BYTES, renderPlanMarkdown } from "./plan-document.ts";
export {
  type PlanJson,
  planJson,
  type ResourceJson,
  stateJson,
} from "./plan-json.ts";
export { renderPlanHtml } from "./plan-page.ts";
export {
  type Counts,
  countChanges,
  type PlanTextOptions,
  renderPlan,
  requestLine,
  summaryLine,
} from "./plan-text.ts";
export {
  advanceStatus,
  progressLine,
  type RequestEvent,
  remainingSeconds,
  renderStatus,
  requestEventLine,
  type Status,
  startStatus,
} from "./progress.ts";
export { type Recorded, type RecordedOptions, renderRecordedHtml, renderRecordedMarkdown } from "./recorded.ts";
export { flowText, type MessageStyle, type Paint, paint, type TextStyle } from "./text-style.ts";
export {
  foundText,
  type WatchMessage,
  type WatchNote,
  watchLine,
  watchMessage,
  watchNotes,
} from "./watch.ts";
