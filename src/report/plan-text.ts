// A plan as text: changes, summary and costs.
import {
  type Change,
  type ChangeEffect,
  changesAddresses,
  changesOutputs,
  changesRecord,
  countErrors,
  type Diagnostic,
  effectOf,
  formatNumber,
  heldIn,
  isError,
  isNoOp,
  isStopped,
  type NotRead,
  type Plan,
  recordsOnly,
  shownName,
  some,
  unfulfilledIn,
} from "../core/model/index.ts";
import { conditionLines, conditionText } from "./conditions.ts";
import { renderDiagnostics } from "./diagnostics.ts";
import { escapeLine } from "./escape.ts";
import { figureLines } from "./figures.ts";
import { counted } from "./money.ts";
import { firstOf, formatEstimate, type MoneyScale, plural } from "./numbers.ts";
import { outputLines } from "./outputs.ts";
import { placeText } from "./place.ts";
import { changeLines, deferredText, driftLines, legendLines, moveLines } from "./plan-changes.ts";
import { flow, type Paint, paint as painter, type ReportStyle } from "./text-style.ts";

export interface PlanTextOptions extends ReportStyle {
  /** False omits drift and changes, for an already printed plan. Default: true. */
  readonly body?: boolean;
  /** Line below the place. */
  readonly intro?: string;
}

/** Maximum number of resources with a separate line. Further resources are counted. */
const MAX_LINES = 10;
/** Maximum number of addresses in the list of outages. Each outage also has a separate block above. */
const MAX_NAMED = 20;
const MAX_IN_LINE = 3;

/**
 * Prints a plan in Terraform's layout: drift, changes with their reasons, warnings, then the lines about summary, money and requests.
 * Errors come first, because the changes are only a part. Ends with a newline.
 */
export function renderPlan(plan: Plan, options: PlanTextOptions): string {
  const paint = painter(options.color);
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const body = () => [
    ...newNameLines(plan, paint),
    ...driftLines(plan, paint),
    ...actionLines(changes, paint, options.moneyScale),
    ...moveLines(plan, paint),
    ...outputLines(plan, paint),
    ...waitingLines(plan, paint),
    ...unlistedLines(plan),
    ...conditionLines(plan, paint, options),
  ];
  const prose = (line: string) => flow(line, options.width);
  const errors = countErrors(plan.diagnostics);
  const lines = options.body === false ? [] : body().flatMap((line) => flow(line, options.width, 4));
  if (errors > 0) lines.unshift(renderDiagnostics(plan.diagnostics, options));
  const place = placeText(plan);
  const head = [
    ...(place === undefined ? [] : prose(place).map(paint.bold)),
    ...(options.intro ? [options.intro] : []),
  ];
  if (lines.length > 0 && head.length > 0) lines.unshift("");
  lines.unshift(...head);
  if (errors === 0 && plan.diagnostics.length > 0) lines.push(renderDiagnostics(plan.diagnostics, options));
  // Outages come before Terraform's counts.
  lines.push(...namedLines(changes, "suspend", "goes offline", "go offline").flatMap(prose).map(paint.error));
  lines.push(
    ...namedLines(changes, "unsuspend", "comes back online", "come back online").flatMap(prose).map(paint.bold),
  );
  if (errors === 0 || changes.length > 0 || isUnplanned(plan)) lines.push(...prose(summaryLine(plan)).map(paint.bold));
  const refused = refusalOf(plan);
  if (refused !== undefined && !isUnplanned(plan)) lines.push(...prose(refused).map(paint.error));
  if (hasFigures(plan)) lines.push(...figureLines(plan, options.moneyScale).flatMap(prose));
  const requests = requestLine(plan);
  if (requests !== "") lines.push(...prose(requests));
  return `${lines.join("\n")}\n`;
}

/** Returns the reason against a full apply of the plan, or undefined. */
export function refusalOf(plan: Plan): string | undefined {
  const errors = countErrors(plan.diagnostics);
  const held = heldIn(plan).length;
  const others = plan.changes.filter((change) => !isNoOp(change)).length;
  const failed = `The plan has ${plural(errors, "error")}`;
  if (errors > 0 && (isStopped(plan) || others === 0)) return `${failed} and cannot be applied.`;
  if (plan.forReading) return `For reading: ${plural(plan.unread?.length ?? 0, "resource")} not checked.`;
  if (held === 0) return undefined;
  const what = `${errors > 0 ? `${failed}: ` : ""}${plural(held, "resource")} ${held === 1 ? "is" : "are"} skipped.`;
  if (others === 0) return what;
  return `${what} The other ${others === 1 ? "change" : `${formatNumber(others)} changes`} can be applied.`;
}

/** Returns true if the plan has only errors. */
export const isUnplanned = ({ changes, outputs = [], diagnostics }: Plan) =>
  changes.length === 0 && outputs.length === 0 && diagnostics.some(isError);

/** Returns true if the plan has no errors, or has changes beside its errors. */
export const hasFigures = ({ changes, diagnostics }: Plan): boolean =>
  !diagnostics.some(isError) || changes.some((change) => !isNoOp(change));

function actionLines(changes: readonly Change[], paint: Paint, moneyScale: MoneyScale | undefined): string[] {
  if (changes.length === 0) return [];
  const legend = legendLines(changes, paint);
  return [
    ...(legend.length === 0 ? [] : ["Legend:", ...legend, ""]),
    "hostform will perform the following actions:",
    "",
    ...offlineFirst(changes).flatMap((change) => [...changeLines(change, paint, moneyScale), ""]),
  ];
}

/** Title of the hosts and domains new to the project. */
export const NEW_NAMES = "New to this project";

/** Lists all new names without a maximum, because a reader cannot check a name that the list omits. */
function newNameLines({ newNames = [] }: Plan, paint: Paint): string[] {
  if (newNames.length === 0) return [];
  const lines = newNames.map(
    ({ name, what, addresses }) =>
      `  ${escapeLine(shownName(name))} ${what}: ${escapeLine(some(addresses, MAX_IN_LINE))}`,
  );
  return [paint.bold(`${NEW_NAMES}:`), ...lines, ""];
}

/** Returns the deferred attributes of resources without another change. */
export function waitingLines(plan: Plan, paint: Paint): string[] {
  const waiting = plan.changes.filter((change) => isNoOp(change) && change.deferred.length > 0);
  if (waiting.length === 0) return [];
  const lines = waiting.map((change) => escapeLine(`  ${change.address}: ${deferredText(change)}`));
  return [paint.bold("Deferred:"), ...firstOf(lines, MAX_LINES), ""];
}

/** Returns the resources planned from the state, because no list returned them. */
export function unlistedLines({ changes, unread }: Plan): string[] {
  const named = new Set(unread);
  const unseen = changes.flatMap(({ address, before, unlisted, waitsFor, unchecked }) => {
    if (named.has(address)) return [];
    if (unchecked) return `${address} could not be checked: the plan uses the state.`;
    if (unlisted !== undefined)
      return `${address} was created at ${unlisted}, and no list shows it yet: the plan uses the state.`;
    // The reason of a create already contains the service.
    if (waitsFor === undefined || before === null) return [];
    return `${address} cannot be read before ${waitsFor} is live: the plan uses the state.`;
  });
  if (unseen.length === 0) return [];
  const more = unseen.length - MAX_LINES;
  return [...unseen.slice(0, MAX_LINES).map(escapeLine), ...(more > 0 ? [`The same for ${more} more.`] : []), ""];
}

/**
 * Numbers of changes of a plan or an apply, by effect. A replacement counts as added and as destroyed. An import counts in addition to
 * its change. Each other change counts once.
 */
export interface Counts {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  readonly import: number;
  readonly forget: number;
  readonly suspend: number;
  readonly unsuspend: number;
  /** Terraform's count of updates in place, including suspensions and unsuspensions. */
  readonly updates: number;
}

export function countChanges(changes: Iterable<Change>): Counts {
  const all = [...changes];
  const effects = (effect: ChangeEffect) => all.filter((change) => effectOf(change) === effect).length;
  return {
    add: effects("order") + effects("create") + effects("replace"),
    change: effects("update"),
    destroy: effects("delete") + effects("replace"),
    import: all.filter(({ importing }) => importing !== undefined).length,
    forget: effects("forget"),
    suspend: effects("suspend"),
    unsuspend: effects("unsuspend"),
    updates: all.filter(({ actions }) => actions[0] === "update").length,
  };
}

/** Returns the summary: `Plan: 3 to add, 1 to change, 1 to destroy.`, or the sentence for no changes. Adds the conditions. */
export function summaryLine(plan: Plan): string {
  const unclear = plan.changes.every(isNoOp) ? unfulfilledIn(plan).length : 0;
  if (unclear === 0 || isUnplanned(plan)) return `${changesLine(plan)} ${conditionText(plan)}`.trim();
  const others = plan.conditions?.filter(({ condition }) => condition !== "unknown_status") ?? [];
  const held = `The plan contains no change for ${plural(unclear, "resource")} with an unknown status; see above.`;
  return `${held} ${conditionText({ ...plan, conditions: others })}`.trim();
}

function changesLine(plan: Plan): string {
  if (isUnplanned(plan)) return "Nothing was planned: see the errors.";
  const isNothing = plan.changes.every(isNoOp);
  if (plan.unread !== undefined)
    return isNothing ? "No changes in what was read." : planCounts(countChanges(plan.changes));
  if (!isNothing) return plannedText(plan);
  const isAll = plan.notRead === undefined && plan.base === undefined;
  if (!isAll && !changesRecord(plan) && !isHeldUp(plan))
    return `No changes in what was ${plan.base === undefined ? "read" : "planned"}.`;
  const kept = plan.mode === "destroy" ? plan.changes.length : 0;
  if (kept > 0) return `No changes. ${plural(kept, "resource")} ${kept === 1 ? "stays" : "stay"}; see above.`;
  if (changesRecord(plan) && !plan.diagnostics.some(isError)) return recordAlone(plan);
  if (plan.mode === "destroy") return "No changes. Nothing that hostform manages is left to destroy.";
  if (isHeldUp(plan)) return "No changes can be made now; see above.";
  // The conditions describe the differences of the account.
  if ((plan.conditions?.length ?? 0) > 0) return "No changes.";
  return plan.changes.some(({ unlisted, waitsFor, unchecked }) => (unlisted ?? waitsFor ?? unchecked) !== undefined)
    ? "No changes. Your account matches the declaration as far as its lists show it; see above."
    : "No changes. Your account matches the declaration.";
}

/** Returns the summary without references to the text above. */
export const summaryAlone = (plan: Plan) => summaryLine(plan).replace("; see above.", ".");

/** Counts the changes of a plan, or describes its changes to the state if the account stays unchanged. */
export function plannedText(plan: Plan): string {
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const isRecord = changes.every((change) => recordsOnly(change) && !change.importing);
  return isRecord && !plan.diagnostics.some(isError) ? recordAlone(plan) : planCounts(countChanges(changes));
}

/** Returns the sentence about a plan that changes only the state. */
function recordAlone(plan: Plan): string {
  if (plan.mode === "destroy")
    return "No changes to the account. Applying this plan removes the outputs from the state.";
  const recorded = plan.changes.filter(recordsOnly).length;
  const parts = [
    ...(recorded > 0 ? [`the attributes of ${plural(recorded, "resource")}`] : []),
    ...(changesOutputs(plan) ? ["the outputs"] : []),
    ...(changesAddresses(plan) ? ["the moves"] : []),
  ];
  return `No changes to the account. Applying this plan records ${parts.join(" and ")}.`;
}

/** Returns true if a declared change is impossible now. Warnings about the state or the declaration prevent no change. */
export function isHeldUp({ changes, diagnostics, pending }: Plan): boolean {
  const holdsUp = (one: Diagnostic) => isError(one) || /^(?:plan|apply)\./.test(one.code);
  return pending.length > 0 || diagnostics.some(holdsUp) || changes.some(({ deferred }) => deferred.length > 0);
}

/** Returns Terraform's sentence, because other tools read it. Counts without a Terraform equivalent follow if they are above 0. */
export function planCounts(counts: Counts): string {
  const imports = counts.import > 0 ? `${counts.import} to import, ` : "";
  const terraform = `Plan: ${imports}${counts.add} to add, ${counts.change} to change, ${counts.destroy} to destroy`;
  return `${[terraform, ...plannedEffects(counts)].join(", ")}.`;
}

/** Returns the counts without a place in Terraform's summary: `3 to suspend`, `1 to forget`. */
export const plannedEffects = (counts: Counts): string[] =>
  ownCounts(counts).map(([count, verb]) => `${count} to ${verb}`);

/** Returns the counts above 0 without a place in Terraform's summary. */
export function ownCounts(counts: Counts): [count: number, verb: "suspend" | "unsuspend" | "forget"][] {
  const verbs = ["suspend", "unsuspend", "forget"] as const;
  return verbs.flatMap((verb) => (counts[verb] > 0 ? [[counts[verb], verb]] : []));
}

/** Returns the changes with suspensions first. */
export const offlineFirst = (changes: readonly Change[]): Change[] =>
  changes.toSorted((a, b) => Number(effectOf(b) === "suspend") - Number(effectOf(a) === "suspend"));

/** Lists the sites that go offline or come back online. */
function namedLines(changes: readonly Change[], effect: ChangeEffect, one: string, many: string): string[] {
  const found = changes.filter((change) => effectOf(change) === effect);
  const names = found.map(({ address }) => escapeLine(address));
  if (names.length === 0) return [];
  const what = `${counted(changes, found, "resource")} ${names.length === 1 ? one : many}`;
  if (names.length <= MAX_IN_LINE) return [`${what}: ${names.join(", ")}.`];
  const listed = names.map((name) => `  ${name}`);
  return [`${what}:`, ...firstOf(listed, MAX_NAMED)];
}

/**
 * Returns the request line: `Applying takes 37 requests, about 1 minute. Reading took 4 requests.` (§8: 60 requests a minute.) Empty
 * for a plan with only errors.
 */
export function requestLine(plan: Plan): string {
  if (isUnplanned(plan)) return "";
  const { read, apply, seconds } = plan.requests;
  const reading = [`Reading took ${plural(read, "request")}.`, ...leftOutTexts(plan)].join(" ");
  return apply === 0 ? reading : `Applying takes ${plural(apply, "request")}, ${formatEstimate(seconds)}. ${reading}`;
}

/** Returns the parts of the account that the options excluded from the plan. */
export function leftOutTexts(plan: Plan): string[] {
  const { base, changes, notRead = [] } = plan;
  const texts = notReadTexts(notRead, changes);
  if (base === undefined) return texts;
  const since = `${escapeLine(base.ref)} (${base.commit.slice(0, 12)})`;
  const planned = `${plural(changes.length, "resource")}; not planned: ${base.not_planned}.`;
  return [`Planned what changed since ${since}: ${planned}`, ...texts];
}

/** Returns the counts of unread objects: `Not read: 450 grants of 280 services; oldest read 2026-11-20.` */
function notReadTexts(notRead: readonly NotRead[], changes: readonly Change[]): string[] {
  if (notRead.length === 0) return [];
  const words = new Map(changes.map((change) => [change.type, change.words]));
  const what = [...Map.groupBy(notRead, ({ type }) => type)].map(([type, all]) => {
    const parents = new Set(all.flatMap(({ parent }) => parent ?? []));
    const { noun, plural: many, parent } = words.get(type) ?? { noun: "resource" };
    const of = parent && parents.size > 0 ? ` of ${plural(parents.size, parent.noun, parent.plural)}` : "";
    return `${plural(all.length, noun, many)}${of}`;
  });
  const times = notRead.flatMap(({ last_read }) => last_read ?? []);
  const earliest = times.reduce((a, b) => (a < b ? a : b), times[0] ?? "").slice(0, 10);
  const since =
    times.length === notRead.length
      ? `oldest read ${earliest}`
      : times.length === 0
        ? "time of the last read unknown"
        : "time of the last read partly unknown";
  return [`Not read: ${what.join(", ")}; ${since}.`];
}
