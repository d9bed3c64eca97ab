/**
 * Plan, progress and outcome for people and for machines. In: the plain values of the model (a plan, events, results,
 * diagnostics), records to list and configurations for Terraform, with colour and width as parameters. Out: strings, or
 * objects for JSON. Must not: write to a stream, read the clock or the environment, or print anything that `escape.ts`
 * has not made safe.
 */

export {
  diagnosticMessage,
  eventMessage,
  type HookJson,
  outputsMessage,
  planMessages,
  type ResourceAddressJson,
  resultMessages,
  UI_VERSION,
  type UiAction,
  type UiMessage,
  versionMessage,
} from "./apply-json.ts";
export { renderContract } from "./contract.ts";
export { type DiagnosticJson, diagnosticJson, type RangeJson, type SnippetJson } from "./diagnostic-json.ts";
export { renderDiagnostics } from "./diagnostic-text.ts";
export { formatDuration, formatElapsed, formatEstimate, formatNumber, plural } from "./duration.ts";
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
export { type EvidenceReport, renderEvidence } from "./evidence-text.ts";
export { JSON_WORDS } from "./json-words.ts";
export { type Listing, type Listings, renderListing } from "./listings.ts";
export { formatMoney, type MoneyScale } from "./money.ts";
export { doneChanges, type OutcomeTextOptions, renderOutcome } from "./outcome-text.ts";
export { renderOutputs, renderOutputValue } from "./output-text.ts";
export type { PlanDocumentOptions } from "./plan-document.ts";
export type { PlanExtrasJson, ResourceExtrasJson } from "./plan-extras-json.ts";
export { renderPlanHtml } from "./plan-html.ts";
export {
  type ChangeJson,
  type PlanJson,
  type PlanJsonOptions,
  PROVIDER_NAME,
  planJson,
  type ResourceChangeJson,
  type ResourceJson,
  type ValuesJson,
} from "./plan-json.ts";
export { COMMENT_BYTES, type PlanMarkdownOptions, renderPlanMarkdown } from "./plan-markdown.ts";
export { type Counts, countChanges, moneyLines, requestLine, summaryLine } from "./plan-summary.ts";
export { type PlanTextOptions, renderPlan } from "./plan-text.ts";
export type { MaskedObject, MaskJson } from "./plan-values-json.ts";
export { progressLine } from "./progress.ts";
export { type RequestEvent, requestEventLine } from "./requests.ts";
export { advanceStatus, remainingSeconds, renderStatus, type Status, startStatus } from "./status-area.ts";
export { type Look, type MessageLook, type Paint, paint } from "./style.ts";
export { type Cell, type Column, renderTable, type TableOptions } from "./table.ts";
export { type WatchMessage, watchMessage } from "./watch-json.ts";
export { foundText, stampOf, type WatchLine, type WatchNote, watchLine, watchNotes } from "./watch-text.ts";
