// Model of a plan report: one sentence, figures, sections. Markdown and HTML print this model.
import {
  type Change,
  capitalized,
  changesRecord,
  countErrors,
  type Diagnostic,
  type Effect,
  type EffectKind,
  effectsOf,
  formatMoney,
  isNoOp,
  isStopped,
  type Json,
  type JsonObject,
  type MoneyTotal,
  moneyTotals,
  type Plan,
  type RemedyText,
  shorten,
  shownName,
} from "../core/model/index.ts";
import { conditionText, groupedConditions, type SameConditions } from "./conditions.ts";
import { causedTexts, foldedDiagnostics } from "./diagnostics.ts";
import { jsonText } from "./escape.ts";
import { personsIn, tilesOf } from "./figures.ts";
import { billedNow, counted, listed, type OrderTexts, orderTexts, scaleOf, sharedWords, upTo } from "./money.ts";
import { type MoneyScale, plural, UNSCALED } from "./numbers.ts";
import type { ReportStyle } from "./paint.ts";
import { hiddenIn, mattersIn } from "./plan-changes.ts";
import { isUnplanned, refusalOf, summaryAlone, summaryLine } from "./plan-text.ts";

export type PlanReportOptions = Pick<ReportStyle, "remedies" | "moneyScale">;

/** Report of a plan. Each format escapes the texts, because they contain text from the API and the declaration. */
export interface PlanReport {
  /** One sentence: `Takes 1 site offline, orders 3 services for 54.00 USD and gives 2 people access.` */
  readonly headline: string;
  readonly verdict: "ready" | "attention" | "refused" | "nothing";
  readonly verdictText: string;
  readonly tiles: ReturnType<typeof tilesOf>;
  /** Hosts and domains new to the project, in readable form. */
  readonly newNames: NonNullable<Plan["newNames"]>;
  readonly offline: readonly ReturnType<typeof outageRow>[];
  readonly orders: ReturnType<typeof orderRow>;
  readonly totals: ReturnType<typeof totalRows>;
  /** Note on the unit of the amounts. */
  readonly moneyNote?: string;
  readonly attention: readonly AttentionRow[];
  /** Other effects, one section for each kind. */
  readonly others: readonly { readonly title: string; readonly lines: readonly Effect["parts"][] }[];
  /** Changes of the plan, without no-ops. */
  readonly changes: readonly Change[];
}

interface AttentionRow {
  /** Source: a diagnostic of the plan, or the account. */
  readonly from: "diagnostic" | "account";
  readonly severity: "error" | "warning" | "note";
  readonly title: string;
  /** Resources and places. */
  readonly where: readonly string[];
  readonly text?: string;
  /** Remedy with commands in backticks. */
  readonly fix?: string;
}

/** Kinds of effects after outages and orders, with the title of their section and their part of the headline. */
const OTHERS: readonly (readonly [
  EffectKind,
  title: string,
  headline: (count: number, people: string, integrations: string) => string,
])[] = [
  ["leaves", "No longer managed", (count) => `stops managing ${plural(count, "resource")}`],
  ["access_taken", "Access taken", (_, people) => `takes access from ${people}`],
  ["access_reduced", "Access reduced", (_, people) => `reduces the access of ${people}`],
  ["access_raised", "Access raised", (_, people) => `raises the access of ${people}`],
  ["access_given", "Access given", (_, people) => `gives ${people} access`],
  ["online", "Back online", (count) => `brings ${plural(count, "site")} back online`],
  ["integration", "Integrations", (_, __, integrations) => `changes ${integrations}`],
  ["change", "Other changes", (count) => `makes ${plural(count, "other change")}`],
  ["adopted", "Managed from now on", (count) => `adopts ${plural(count, "resource")}`],
  ["recorded", "Only the state changes", () => ""],
];

export function planReport(plan: Plan, options: PlanReportOptions): PlanReport {
  const effects = effectsOf(plan);
  const of = (kind: EffectKind) => effects.filter((effect) => effect.kind === kind);
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const byAddress = new Map(plan.changes.map((change) => [change.address, change]));
  const orders = of("order");
  const attention = attentionRows(plan, byAddress, options.remedies);
  const totals = moneyTotals(orders);
  const scale = (currency: string) => scaleOf(plan.changes, currency, options.moneyScale);
  const isUnscaled = totals.some(({ currency, now }) => now !== null && scale(currency) === undefined);
  const headline = headlineOf(plan, effects, totals, scale);
  const errors = countErrors(plan.diagnostics);
  return {
    headline: isUnplanned(plan) || errors === 0 ? headline : `${plural(errors, "error")}. ${headline}`,
    ...verdictOf(plan, attention, changes.length > 0 || changesRecord(plan), changes.length),
    tiles: isUnplanned(plan) ? [] : tilesOf(plan, effects, options.moneyScale),
    newNames: (plan.newNames ?? []).map((one) => ({ ...one, name: shownName(one.name) })),
    offline: of("offline").map((effect) => outageRow(effect, byAddress.get(effect.address))),
    orders: orders.flatMap((effect) => orderRow(effect, byAddress.get(effect.address), options.moneyScale)),
    totals: totals.flatMap((total) => totalRows(total, orders, scale(total.currency))),
    ...(isUnscaled && { moneyNote: UNSCALED }),
    attention,
    others: OTHERS.map(([kind, general]) => {
      const title = kind === "integration" ? sharedWords(plan.changes, of(kind))?.plural : undefined;
      return { title: capitalized(title ?? general), lines: of(kind).map(withClient) };
    }).filter(({ lines }) => lines.length > 0),
    changes,
  };
}

type Scale = (currency: string) => number | undefined;

function headlineOf(plan: Plan, effects: readonly Effect[], totals: readonly MoneyTotal[], scale: Scale): string {
  const all = (kind: EffectKind) => effects.filter((effect) => effect.kind === kind);
  const offline = all("offline").length;
  const orders = all("order");
  const verb = sharedWords(plan.changes, orders) === undefined ? "places" : "orders";
  const parts = [
    offline > 0 ? `takes ${plural(offline, "site")} offline` : "",
    orders.length > 0 ? `${verb} ${counted(plan.changes, orders, "order")} for ${billedNow(totals, scale)}` : "",
    ...OTHERS.map(([kind, , headline]) => {
      const own = all(kind);
      const people = plural(personsIn(own, kind), "person", "people");
      return own.length === 0 ? "" : headline(own.length, people, counted(plan.changes, own, "integration"));
    }),
  ].filter((part) => part !== "");
  if (parts.length === 0) return summaryAlone(plan);
  return `${capitalized(listed(parts))}. ${conditionText(plan)}`.trim();
}

function verdictOf(
  plan: Plan,
  attention: readonly AttentionRow[],
  isApplicable: boolean,
  changes: number,
): Pick<PlanReport, "verdict" | "verdictText"> {
  if (isUnplanned(plan)) return { verdict: "refused", verdictText: summaryLine(plan) };
  const refused = refusalOf(plan);
  if (refused !== undefined) {
    const isPart = !isStopped(plan) && (plan.forReading || changes > 0);
    return { verdict: isPart ? "attention" : "refused", verdictText: refused };
  }
  if (attention.length > 0) {
    const points = `${plural(attention.length, "point needs", "points need")} attention.`;
    return { verdict: "attention", verdictText: isApplicable ? `${points} It can be applied.` : points };
  }
  return isApplicable
    ? { verdict: "ready", verdictText: "Can be applied." }
    : { verdict: "nothing", verdictText: "Nothing to apply." };
}

/** Returns a site with its client, if the effect names the client. */
export const siteText = ({ site, client }: { readonly site: string; readonly client: string | null }) =>
  client === null ? site : `${site} (${client})`;

/** Returns the plan of an order, and the reason for an unknown price. A domain order has no plan. */
export const planText = (
  { plan, unknown }: OrderTexts,
  name: (text: string) => string = String,
  reason: (text: string) => string = String,
) =>
  [
    ...(plan === "–" && unknown !== undefined ? [] : [name(plan)]),
    ...(unknown === undefined ? [] : [reason(`(${unknown})`)]),
  ].join(" ");

const withClient = ({ client, parts: [first = "", ...rest] }: Effect): Effect["parts"] =>
  client === null ? [first, ...rest] : ["", client, `: ${first}`, ...rest];

function outageRow(effect: Effect, change: Change | undefined) {
  const reasons = change?.reasons ?? [];
  const why = reasons.find(({ attribute }) => attribute === "suspended") ?? reasons[0];
  return {
    site: effect.domain ?? effect.address,
    client: effect.client,
    address: effect.address,
    what: change?.actions[0] === "forget" ? "Suspended, and no longer managed" : "Suspended",
    why: why?.text ?? "–",
    undo: effect.undo ?? "Cannot be undone.",
  };
}

function orderRow(effect: Effect, change: Change | undefined, moneyScale?: MoneyScale) {
  const { address, domain, client, money } = effect;
  if (money === undefined) return [];
  const texts = orderTexts(money, change?.provider ?? "default", moneyScale);
  return [{ site: domain ?? address, address, client, ...texts }];
}

function totalRows(total: MoneyTotal, orders: readonly Effect[], scale: number | undefined) {
  const { currency, now, monthly, bound, unknown } = total;
  const text = (amount: number | null) => upTo(formatMoney(amount, currency, scale), bound && amount !== null);
  const reasons = orders.flatMap(({ money }) =>
    money?.currency === currency && money.now === null ? (money.unknown ?? []) : [],
  );
  const why = reasons.length > 0 ? `: ${[...new Set(reasons)].slice(0, 3).join("; ")}` : "";
  const rows = [
    { label: `Total ${currency}`, count: total.orders, now: text(now), monthly: text(monthly) },
    { label: `${currency}, price unknown${why}`, count: unknown, now: "unknown", monthly: "unknown" },
  ];
  return rows.flatMap(({ count, ...row }) => (count > 0 ? [{ ...row, orders: plural(count, "order") }] : []));
}

/** Returns the points that need attention: errors, warnings, conditions, pending creates, and drift. */
function attentionRows(plan: Plan, changes: ReadonlyMap<string, Change>, remedies: RemedyText): AttentionRow[] {
  const said = new Set([...plan.diagnostics, ...(plan.conditions ?? [])].flatMap(({ address }) => address ?? []));
  const pending = plan.pending.filter((address) => !said.has(address));
  return [
    ...diagnosticRows(plan.diagnostics, remedies),
    ...groupedConditions(plan, remedies).flatMap(conditionRows),
    ...pending.map((address): AttentionRow => {
      const fix = remedies({ address, remedies: [{ do: "resolve" }] });
      const title = "The result of the create request is unknown";
      return { from: "account", severity: "warning", title, where: [address], ...(fix !== undefined && { fix }) };
    }),
    ...plan.drift.flatMap((drift) => driftRow(drift, changes.get(drift.address), said)),
  ];
}

function diagnosticRows(diagnostics: readonly Diagnostic[], remedies: RemedyText): AttentionRow[] {
  return foldedDiagnostics(diagnostics).flatMap(({ same: all, caused }): AttentionRow[] => {
    const [first] = all;
    if (first === undefined) return [];
    const { severity, summary, detail } = first;
    const { address: _, ...several } = first;
    const isSame = all.every((one) => one.summary === summary);
    const fix = remedies(all.length > 1 && isSame ? several : first);
    const where = all.flatMap(({ address, range }) => [
      ...(range === undefined ? [] : [`${range.file}:${range.line}`]),
      ...(address === undefined ? [] : [address]),
    ]);
    const title = isSame ? summary : `${summary} (and ${all.length - 1} like it)`;
    const text = [detail, ...causedTexts(caused)].filter((part) => part !== undefined).join(" ");
    const more = { ...(text !== "" && { text }), ...(fix !== undefined && { fix }) };
    return [{ from: "diagnostic", severity, title, where: [...new Set(where)], ...more }];
  });
}

/** Returns a row for each object. Unread objects with one cause share one row. */
function conditionRows({ all, title, detail: text, fix }: SameConditions): AttentionRow[] {
  const more = { ...(text !== undefined && { text }), ...(fix !== undefined && { fix }) };
  const rows =
    title !== undefined
      ? [{ title, where: all.map(({ address }) => address) }]
      : all.map(({ summary }) => ({ title: summary, where: [] }));
  return rows.map((row): AttentionRow => ({ from: "account", severity: "warning", ...row, ...more }));
}

function driftRow(drift: Plan["drift"][number], change: Change | undefined, said: ReadonlySet<string>): AttentionRow[] {
  const { address } = drift;
  if (drift.after === null) {
    if (said.has(address)) return [];
    const verb = change?.quote === undefined ? "creates" : "orders";
    const fix = change?.actions.includes("create")
      ? `Applying ${verb} it again.`
      : "Applying removes it from the state.";
    return [note("No longer exists in the account", address, drift.before, { fix })];
  }
  const hidden = hiddenIn(drift, change);
  const names = mattersIn(drift, change);
  if (names.length === 0) return [];
  const after = drift.after;
  const moved = names.map((name) =>
    hidden.includes(name) ? name : `${name} was ${short(drift.before[name])} and is now ${short(after[name])}`,
  );
  const back = change !== undefined && !isNoOp(change);
  const fix = back ? "Applying sets it back." : "Declare it, or set it back in the account.";
  return [note("Changed by hand in the account", address, drift.before, { text: `${moved.join("; ")}.`, fix })];
}

/** Returns a note on a resource with its site, because approvers do not know addresses. */
function note(
  title: string,
  address: string,
  values: JsonObject | null,
  more: Pick<AttentionRow, "text" | "fix">,
): AttentionRow {
  const where = typeof values?.domain === "string" ? [shownName(values.domain), address] : [address];
  return { from: "account", severity: "note", title, where, ...more };
}

const short = (value: Json = null) => shorten(jsonText(value), 60);
