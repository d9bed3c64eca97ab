import { type Change, isError, isNoOp, type Plan } from "../core/model/index.ts";
import { renderDiagnostics } from "./diagnostic-text.ts";
import { plural } from "./duration.ts";
import { escapeLine } from "./escape.ts";
import type { MoneyScale } from "./money.ts";
import { changeLines, deferredText, legendLines } from "./plan-change.ts";
import { driftLines } from "./plan-drift.ts";
import { moveLines } from "./plan-moves.ts";
import { outputLines } from "./plan-outputs.ts";
import { moneyLines, onlineLines, requestLine, summaryLine } from "./plan-summary.ts";
import { type MessageLook, type Paint, paint as painter } from "./style.ts";
import { wrap } from "./width.ts";

export interface PlanTextOptions extends MessageLook {
  readonly moneyScale?: MoneyScale;
  /** False when the caller prints the plan's diagnostics elsewhere. Default: true. */
  readonly diagnostics?: boolean;
  /** False leaves out drift and changes, of a plan that was shown before. Default: true. */
  readonly body?: boolean;
  /** False leaves out money and request lines (a state refresh, an import). Default: true. */
  readonly footer?: boolean;
}

/** Resources about which there is one line each; beyond this many they are counted. */
const MAX_LINES = 10;
/** What goes offline stands above by name as well, each in a block of its own. */
const MAX_NAMED = 20;

/**
 * A plan as a Terraform user reads it: drift, changes with their reasons, diagnostics, then the summary, money and
 * request lines. Ends with a newline.
 */
export function renderPlan(plan: Plan, options: PlanTextOptions): string {
  const paint = painter(options.color);
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const body = () => [
    ...driftLines(plan, paint),
    ...actionLines(changes, paint),
    ...moveLines(plan, paint),
    ...outputLines(plan, paint),
    ...waitingLines(plan, paint),
    ...unlistedLines(plan),
  ];
  const lines = options.body === false ? [] : body();
  if (options.diagnostics !== false && plan.diagnostics.length > 0) {
    lines.push(renderDiagnostics(plan.diagnostics, options));
  }
  const errors = plan.diagnostics.filter(isError).length;
  const prose = (line: string) => wrap(line, options.width);
  if (errors === 0 || changes.length > 0) lines.push(...prose(summaryLine(plan)).map(paint.bold));
  lines.push(...onlineLines(changes, MAX_NAMED).flatMap(prose).map(paint.bold));
  if (errors > 0) {
    lines.push(...prose(`The plan has ${plural(errors, "error")} and cannot be applied.`).map(paint.error));
  }
  if (options.footer !== false) {
    if (changes.length > 0) lines.push(...moneyLines(plan, options.moneyScale).flatMap(prose));
    lines.push(...prose(requestLine(plan)));
  }
  return `${lines.join("\n")}\n`;
}

function actionLines(changes: readonly Change[], paint: Paint): string[] {
  if (changes.length === 0) return [];
  const legend = legendLines(changes, paint);
  return [
    ...(legend.length === 0 ? [] : ["The signs in this plan mean:", ...legend, ""]),
    "hostform will do the following:",
    "",
    ...changes.flatMap((change) => [...changeLines(change, paint), ""]),
  ];
}

/** What is declared but cannot be done yet, for resources without any other change. */
export function waitingLines(plan: Plan, paint: Paint): string[] {
  const waiting = plan.changes.filter((change) => isNoOp(change) && change.deferred.length > 0);
  if (waiting.length === 0) return [];
  const shown = waiting.slice(0, MAX_LINES);
  const more = waiting.length - shown.length;
  return [
    paint.bold("Declared, but not possible yet:"),
    ...shown.map((change) => escapeLine(`  ${change.address}: ${deferredText(change)}`)),
    ...(more > 0 ? [`  and ${more} more`] : []),
    "",
  ];
}

/** What no list shows, because it was created just now or its service is not live yet: planned without having been seen. */
export function unlistedLines({ changes }: Plan): string[] {
  const unseen = changes.flatMap((change) => unseenText(change) ?? []);
  if (unseen.length === 0) return [];
  const more = unseen.length - MAX_LINES;
  return [...unseen.slice(0, MAX_LINES).map(escapeLine), ...(more > 0 ? [`The same for ${more} more.`] : []), ""];
}

/** Of a create, its reason says so. */
function unseenText({ address, before, unlisted, waitsFor }: Change): string | undefined {
  if (unlisted !== undefined)
    return `${address} was created at ${unlisted}, and no list shows it yet: it is taken as recorded.`;
  if (waitsFor === undefined || before === null) return undefined;
  return `${address} is not shown before ${waitsFor} is live: it is taken as recorded.`;
}
