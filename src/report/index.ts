/**
 * Plan, progress and outcome for people and for machines. In: the plain values of the model (a plan, events, results,
 * diagnostics), records to list and configurations for Terraform, with colour and width as parameters. Out: strings, or
 * objects for JSON. Must not: write to a stream, read the clock or the environment, or print anything that `escape.ts`
 * has not made safe.
 */

export { formatNumber } from "../core/model/index.ts";
export * from "./apply-json.ts";
export * from "./budget.ts";
export * from "./ci.ts";
export { type Attention, attentionOf } from "./conditions.ts";
export { type DiagnosticJson, diagnosticJson, renderDiagnostics } from "./diagnostics.ts";
export { type DoctorJson, doctorJson, renderDoctor } from "./doctor.ts";
export * from "./escape.ts";
export { type EvidenceReport, renderEvidence } from "./evidence-text.ts";
export {
  type FleetProject,
  type FleetReport,
  fleetTotals,
  placedSummary,
  renderFleet,
  renderFleetHtml,
  renderFleetMarkdown,
} from "./fleet.ts";
export { invoiceSums, renderHistory } from "./history.ts";
export * from "./listings.ts";
export * from "./mandates.ts";
export { moneyLines, scaleOf } from "./money.ts";
export * from "./numbers.ts";
export { doneChanges, outcomeLine, renderOutcome } from "./outcome-text.ts";
export { renderOutputs, renderOutputValue } from "./outputs.ts";
export { placeText } from "./place.ts";
export { COMMENT_BYTES, renderPlanMarkdown } from "./plan-document.ts";
export { type ConditionJson, conditionJson, type PlanJson, planJson, stateJson } from "./plan-json.ts";
export { renderPlanHtml } from "./plan-page.ts";
export * from "./plan-text.ts";
export * from "./progress.ts";
export * from "./recorded.ts";
export * from "./rehearsal.ts";
export type { AccountReport } from "./status/model.ts";
export * from "./status/money.ts";
export * from "./status/names.ts";
export { renderReportHtml, renderReportMarkdown } from "./status/page.ts";
export { entriesOf } from "./status/sections.ts";
export { SERVICE_STATES, type ServiceState } from "./status/states.ts";
export { renderReport, renderReportCsv } from "./status/text.ts";
export { flowText, type MessageStyle, type Paint, paint, type TextStyle } from "./text-style.ts";
export * from "./watch.ts";
