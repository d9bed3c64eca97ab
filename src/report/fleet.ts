// The report of a fleet: one line for each project, and sums.
import { html } from "hono/html";
import { formatMoney, some } from "../core/model/index.ts";
import type { DiagnosticJson } from "./diagnostics.ts";
import { escapeLine, escapeMarkdown, sentenceMarkdown } from "./escape.ts";
import { plural } from "./numbers.ts";
import { list, pageHtml, section, table } from "./page.ts";
import { stampOf } from "./watch.ts";

/** Result of one project of a fleet. */
export interface FleetProject {
  readonly name: string;
  /** Commit of the project's repository. */
  readonly commit: string | null;
  readonly result: "same" | "differs" | "applied" | "failed" | "not_started";
  /** Numbers of added, changed and destroyed resources, planned or applied. */
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  readonly orders: number;
  /** Sum of the orders by currency, in the API's unit. Null if a price is unknown. */
  readonly spend: Readonly<Record<string, number | null>>;
  /** Number of decimal digits in these amounts, by currency. Undefined if unknown. */
  readonly scales?: Readonly<Record<string, number | undefined>>;
  /** Domains that go offline. */
  readonly offline: readonly string[];
  /** Names of the met conditions of `--fail-on`. */
  readonly holds: readonly string[];
  readonly errors: readonly DiagnosticJson[];
  /** Warnings of the declaration, the plan and the run. */
  readonly warnings?: readonly DiagnosticJson[] | undefined;
  /** Digest of the declaration's files. */
  readonly declaration?: string | undefined;
  /** Wave whose projects have to be checked before this project is applied, or another check. */
  readonly waits?: string | undefined;
  /** Time of a recorded result. */
  readonly checked_at?: string | undefined;
  /** Start of the running check. */
  readonly checking_since?: string | undefined;
  /** Machine and process that recorded the result. */
  readonly worker?: string | undefined;
  /** Overview of the account, for `status` only. */
  readonly overview?: { readonly services: number; readonly live: number; readonly offline: number } | undefined;
}

export interface FleetReport {
  readonly format_version: "1.0";
  readonly fleet: string;
  readonly command: "plan" | "apply" | "status";
  readonly timestamp: string;
  /** Version of the shared templates. */
  readonly templates: string | null;
  readonly projects: readonly FleetProject[];
  readonly totals: Pick<FleetProject, "add" | "change" | "destroy" | "orders" | "spend" | "scales">;
  /** Errors of the whole fleet. They prevent the apply of all projects. */
  readonly errors: readonly DiagnosticJson[];
}

const WORDS: Readonly<Record<FleetProject["result"], string>> = {
  same: "no changes",
  differs: "differs",
  applied: "applied",
  failed: "FAILED",
  not_started: "not started",
};

/** Returns the sums over projects. */
export function fleetTotals(projects: readonly FleetProject[]): FleetReport["totals"] {
  const sum = (name: "add" | "change" | "destroy" | "orders") => projects.reduce((all, one) => all + one[name], 0);
  const spend: Record<string, number | null> = {};
  const scales: Record<string, number | undefined> = {};
  for (const one of projects)
    for (const [currency, amount] of Object.entries(one.spend)) {
      const before = spend[currency];
      const scale = one.scales?.[currency];
      scales[currency] = before === undefined || scale === scales[currency] ? scale : undefined;
      spend[currency] = amount === null || before === null ? null : (before ?? 0) + amount;
    }
  return { add: sum("add"), change: sum("change"), destroy: sum("destroy"), orders: sum("orders"), spend, scales };
}

function factsOf({ add, change, destroy, orders, offline, overview, ...one }: FleetProject): string {
  const counts = [
    ...(overview
      ? [`${overview.live} of ${plural(overview.services, "service")} live, ${overview.offline} offline`]
      : []),
    ...(add + change + destroy > 0 ? [`${add} to add, ${change} to change, ${destroy} to destroy`] : []),
    ...(orders > 0 ? [`${plural(orders, "order")}: ${spendText(one)}`] : []),
    ...(offline.length > 0 ? [`goes offline: ${some(offline)}`] : []),
    ...(one.waits ? [`waits for ${one.waits}`] : []),
    ...(one.checked_at ? [`checked ${stampOf(Date.parse(one.checked_at))}`] : []),
    ...(one.checking_since ? [`checking since ${stampOf(Date.parse(one.checking_since))}`] : []),
  ];
  return counts.join("; ");
}

const spendText = ({ spend, scales }: Pick<FleetProject, "spend" | "scales">) =>
  Object.entries(spend)
    .map(([currency, amount]) =>
      amount === null ? `unknown ${currency}` : formatMoney(amount, currency, scales?.[currency]),
    )
    .join(", ") || "none";

function rowsOf(report: FleetReport) {
  // Recorded projects are in the order of the file, which is the order of the waves.
  const isRecorded = report.projects.some((one) => one.checked_at);
  const order = ["failed", "not_started", ...(isRecorded ? [] : ["differs", "applied", "same"])];
  const rank = ({ result }: FleetProject) => (order.includes(result) ? order.indexOf(result) : order.length);
  return report.projects
    .toSorted((a, b) => rank(a) - rank(b))
    .map((one) => ({ one, word: WORDS[one.result], facts: factsOf(one) }));
}

function headlineOf({ projects, totals, command }: FleetReport): string {
  if (projects.length === 0) return "No project was checked yet.";
  const by = Map.groupBy(projects, ({ result }) => result);
  const parts = (["failed", "not_started", "differs", "applied", "same"] as const).flatMap((result) => {
    const count = by.get(result)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${WORDS[result].toLowerCase()}`];
  });
  const sumOf = (words: string, part: readonly FleetProject[] = []) => {
    const sum = fleetTotals(part);
    return sum.orders > 0 ? ` ${words}: ${sum.orders}, ${spendText(sum)}.` : "";
  };
  const planned = projects.filter(({ result }) => result !== "applied");
  const sums = sumOf("Ordered", by.get("applied")) + sumOf("Planned orders", planned);
  const changes =
    command === "status" ? "" : ` ${totals.add} to add, ${totals.change} to change, ${totals.destroy} to destroy.`;
  return `${plural(projects.length, "project")}: ${parts.join(", ")}.${changes}${sums}`;
}

/** Returns a sentence with its place in a file: `hosting.yaml:3:5: …`. */
export function placedSummary({ summary, range }: DiagnosticJson): string {
  return range ? `${range.filename}:${range.start.line}:${range.start.column}: ${summary}` : summary;
}

const errorLine = (one: DiagnosticJson) => `${placedSummary(one)} [${one.code}]${one.fix ? ` Fix: ${one.fix}` : ""}`;

const linesOf = ({ errors, warnings = [] }: FleetProject) => [
  ...errors.map(errorLine),
  ...warnings.map((one) => `Warning: ${errorLine(one)}`),
];

/** Formats the report as text. Projects that need attention are first. */
export function renderFleet(report: FleetReport): string {
  const width = Math.max(...report.projects.map(({ name }) => name.length), 0);
  const lines = rowsOf(report).flatMap(({ one, word, facts }) => [
    `${one.name.padEnd(width)}  ${word}${facts ? `: ${facts}` : ""}`,
    ...linesOf(one).map((line) => `  ${line}`),
  ]);
  const templates = report.templates === null ? [] : [`Templates: ${report.templates}.`];
  const errors = report.errors.map((error) => `Error: ${errorLine(error)}`);
  return `${[...lines, "", headlineOf(report), ...templates, ...errors].map(escapeLine).join("\n").trimStart()}\n`;
}

const cellsOf = (report: FleetReport) =>
  rowsOf(report).map(({ one, word, facts }) => [one.name, word, [facts, ...linesOf(one)].filter(Boolean).join("; ")]);

/** Formats the report as Markdown, for a pull request comment. */
export function renderFleetMarkdown(report: FleetReport): string {
  const rows = cellsOf(report).map((cells) => `| ${cells.map(sentenceMarkdown).join(" | ")} |`);
  const errors = report.errors.map((error) => `- ${sentenceMarkdown(errorLine(error))}`);
  const head = [`## Fleet ${escapeMarkdown(report.fleet)}`, "", sentenceMarkdown(headlineOf(report)), ""];
  return `${[...head, ...errors, "| project | result | changes |", "| --- | --- | --- |", ...rows].join("\n")}\n`;
}

/** Formats the report as an HTML page. */
export function renderFleetHtml(report: FleetReport): string {
  const projects = table(["Project", "Result", "Changes"], cellsOf(report));
  const errors = report.errors.length === 0 ? [] : [section("Errors", list(report.errors.map(errorLine)), "alarm")];
  const headline = html`<p class="headline">${headlineOf(report)}</p>`;
  return pageHtml(`Fleet ${report.fleet}`, [headline, ...errors, section("Projects", projects)]);
}
