// A plan as a document: Markdown for a pull request.
import { CURRENCIES, formatNumber, isError, type Plan, shorten, some } from "../core/model/index.ts";
import { diagnosticBlock, foldedDiagnostics } from "./diagnostics.ts";
import { breakMarkdown, escapeMarkdown, fenceMarkdown, sentenceMarkdown } from "./escape.ts";
import { figureLines } from "./figures.ts";
import { plural } from "./numbers.ts";
import { outputLines } from "./outputs.ts";
import { titleOf } from "./place.ts";
import { changeLines, driftLines, moveLines } from "./plan-changes.ts";
import { type PlanReport, type PlanReportOptions, planReport, planText, siteText } from "./plan-report.ts";
import { hasFigures, NEW_NAMES, requestLine, summaryAlone, unlistedLines, waitingLines } from "./plan-text.ts";
import { type Paint, paint as painter } from "./text-style.ts";

interface PlanMarkdownOptions extends PlanReportOptions {
  /** Maximum size of the document in bytes of UTF-8. Default: {@link COMMENT_BYTES}. */
  readonly limit?: number;
}

/** Default limit in bytes. A GitHub comment has at most 65,536 characters; the rest is for additions of a job. */
export const COMMENT_BYTES = 64_000;

/** Maximum share of the room for diagnostics. */
const DIAGNOSTICS_SHARE = 0.5;

/**
 * Prints a plan as a comment for a pull request: one sentence, outages and orders as tables, the other sections of the page, errors and
 * warnings, and the plan's text as a folded diff. A too long comment first loses the other sections, then changes of the diff, then
 * messages. Outages and orders stay, as names only if the tables have no room. The first line is an HTML comment, equal for each plan of
 * the project, so that a job can find its earlier comment.
 */
export function renderPlanMarkdown(plan: Plan, options: PlanMarkdownOptions): string {
  const limit = options.limit ?? COMMENT_BYTES;
  const report = planReport(plan, options);
  const parts = planDocument(plan, options, report);
  const { diagnostics, blocks } = parts;
  const room = limit - bytesOf(assemble(plan, parts, [], 0, 0));
  const fresh = newNameSection(report, room);
  const lasting = [...fresh, ...lastingSections(report, room - bytesOf(fresh.join("\n")))];
  const all = [...lasting, ...otherSections(report)];
  const sections = bytesOf(all.join("\n")) < room ? all : lasting;
  let messages = fitting(diagnostics, limit * DIAGNOSTICS_SHARE);
  let shown = blocks.length;
  let text = assemble(plan, parts, sections, messages, shown);
  // A fence grows with its content, so the room for blocks is unknown before assembly.
  while (bytesOf(text) > limit && shown + messages > 0) {
    const excess = bytesOf(text) - limit;
    const fewer = fitting(blocks, blocks.slice(0, shown).reduce((sum, block) => sum + bytesOf(block), 0) - excess);
    if (shown > 0) shown = Math.min(shown - 1, fewer);
    else messages -= 1;
    text = assemble(plan, parts, sections, messages, shown);
  }
  return text;
}

/** Returns the first line of the comment. A job uses this line to find its earlier comment. */
export const markerOf = (project: string, what = "plan") =>
  `<!-- hostform ${what}: ${encodeURIComponent(project.toWellFormed())} -->`;

/** Assembles the document. @param sections finished Markdown: outages, orders, and other sections within the room. */
function assemble(
  plan: Plan,
  { headline, verdict, figures, facts, diagnostics, blocks, changes }: ReturnType<typeof planDocument>,
  sections: readonly string[],
  messages: number,
  shown: number,
): string {
  const body = blocks.slice(0, shown).map(diffOf).join("\n");
  const title = titleOf(plan);
  const fenced = [
    ...(messages > 0 ? [fenceMarkdown(diagnostics.slice(0, messages).join("\n"), "text")] : []),
    ...more(diagnostics.length - messages, "message"),
  ];
  const isRefused = plan.diagnostics.some(isError);
  const heading = changes === 0 ? "Details" : `The plan: ${plural(changes, "change")}`;
  const lines = [
    // A failed plan has no project name. Its marker would match the comment of another project.
    ...(plan.project === "" ? [] : [markerOf(plan.project)]),
    title === "" ? "### hostform plan\n" : `### hostform plan: ${sentence(title)}\n`,
    `**${sentence(headline)}**\n`,
    ...(verdict === headline ? [] : [`${sentence(verdict)}\n`]),
    // Errors come first: the rest describes only the other changes.
    ...(isRefused ? fenced : []),
    ...figures.map((line) => `- ${brief(line.replace(/^ +/, "Orders: "))}`),
    ...(figures.length > 0 ? [""] : []),
    ...sections,
    ...facts.map((fact) => `- ${sentence(fact)}`),
    "",
    ...(isRefused ? [] : fenced),
    ...(body === ""
      ? []
      : [`<details><summary>${heading}</summary>\n`, `${fenceMarkdown(body, "diff")}\n</details>\n`]),
    ...more(blocks.length - shown, "part", "of the plan"),
  ];
  return breakMarkdown(lines.join("\n"));
}

/** Returns the hosts and domains that are new to the project. They get room before all other sections. */
function newNameSection({ newNames }: PlanReport, room: number): string[] {
  if (newNames.length === 0) return [];
  const lines = newNames.map(
    ({ name, what, addresses }) =>
      `- ${code(name)} ${what}: ${addresses.slice(0, 3).map(code).join(", ")}${addresses.length > 3 ? ` and ${addresses.length - 3} more` : ""}`,
  );
  const section = [`#### ${NEW_NAMES}\n`, ...lines, ""];
  const rows = newNames.map(({ name }) => ({ site: name, address: name }));
  return bytesOf(section.join("\n")) < room ? section : named(NEW_NAMES, rows, room);
}

/** Returns outages and orders as tables. If the tables are too long, returns only names, up to the room. */
function lastingSections({ offline, orders, totals, moneyNote }: PlanReport, room: number): string[] {
  const outages = offline.map((one) => [...[siteText(one), one.address].map(code), one.what, brief(one.why), one.undo]);
  const rows = orders.map((one) => {
    const { cycle, price, discount, now, monthly } = one;
    const listed =
      discount === "none" || price === "unknown" ? amount(price) : `${amount(price)}, discount ${amount(discount)}`;
    return [code(siteText(one)), planText(one, code, brief), cycle, listed, amount(now), amount(monthly)];
  });
  const sums = totals.map(({ label, orders: count, now, monthly }) => {
    return [brief(label), count, "", "", amount(now), amount(monthly)];
  });
  const note = moneyNote === undefined ? [] : [`${moneyNote}\n`];
  const tables = [
    ...table("Sites going offline", ["Site", "Resource", "What", "Why", "Undo"], outages),
    ...table("Orders", ["Order", "Plan", "For", "Price", "Billed now", "Per month"], [...rows, ...sums]),
    ...(orders.length > 0 ? note : []),
  ];
  if (bytesOf(tables.join("\n")) < room) return tables;
  const bill = totals.map(({ label, orders: count, now, monthly }) => {
    const texts = [label, count, now, monthly].map((text) => code(shorten(text, LONGEST_FACT)));
    return `- ${texts.join(", ")}`;
  });
  const rest = room - bytesOf([...bill, ...note].join("\n")) - 10;
  const down = named("Sites going offline", offline, rest - (orders.length > 0 ? NAMES_OVERHEAD : 0));
  const left = rest - bytesOf(down.join("\n"));
  return [...down, ...named("Orders", orders, left), ...(orders.length > 0 ? [...bill, "", ...note] : [])];
}

/** Returns an amount as plain text if its currency is known, otherwise as code. */
const amount = (text: string) => (OWN_AMOUNT.test(text) ? text : code(text));
const OWN_AMOUNT = new RegExp(
  `^(?:unknown|(?:at most )?-?[\\d.,]+)? ?(?:(?:${CURRENCIES.join("|")})|\\((?:${CURRENCIES.join("|")})(?:, API's unit)?\\))?$`,
);

/** Size of a name list's title and of its sentence about cut names, in bytes. */
const NAMES_OVERHEAD = 160;

/** Returns a list of names, and the number of names without room. */
function named(
  title: string,
  rows: readonly { readonly site: string; readonly address: string }[],
  room: number,
): string[] {
  if (rows.length === 0) return [];
  const names = rows.map(({ site, address }) => code(site || address));
  const lines = names.map((name) => `${name}, `);
  const shown = fitting(lines, room - title.length - 150);
  const first = names.slice(0, shown).join(", ");
  return [`#### ${title}: ${formatNumber(rows.length)}\n`, `${first}\n`, ...more(rows.length - shown, "name")];
}

/** Returns the other sections of the page, up to 20 lines each, and the points that need attention, without errors and warnings. */
function otherSections({ attention, others }: PlanReport): string[] {
  const points = attention
    .filter(({ from }) => from === "account") // Errors and warnings have a separate block.
    .map(({ title, where, text, fix }) => {
      const at = where.length > 0 ? ` (${some(where)})` : "";
      const facts = [`${title}${at}.`, ...(text === undefined ? [] : [text])].map((one) => shorten(one, LONGEST_FACT));
      // The fix is never cut.
      return [[...facts, ...(fix === undefined ? [] : [fix])].map(sentence).join(" ")];
    });
  return [
    ...bullets("Needs attention", points),
    ...others.flatMap(({ title, lines }) =>
      bullets(
        title,
        lines.map((parts) =>
          parts.map((text, at) => (at % 2 === 0 || text === "" ? text : code(shorten(text, LONGEST_FACT)))),
        ),
      ),
    ),
  ];
}

const MOST_BULLETS = 20;

/** Returns a bulleted list. @param texts parts of each line, as finished Markdown. */
function bullets(title: string, texts: readonly (readonly string[])[]): string[] {
  if (texts.length === 0) return [];
  const lines = texts.slice(0, MOST_BULLETS).map((parts) => `- ${parts.join("")}`);
  return [`#### ${title}\n`, ...lines, "", ...more(texts.length - lines.length, "line")];
}

/** Returns a table with a title. Cells are finished Markdown. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  return [`#### ${title}\n`, tableRow(head), tableRow(head.map(() => "---")), ...rows.map(tableRow), ""];
}

/** Returns a row of a table. Escapes bars, because a bar ends a cell even inside a code span. */
export const tableRow = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

/** Returns foreign text as code. Breaks commands before sizes are counted, so that the counted size is the final size. */
export const code = (text: string) => breakMarkdown(escapeMarkdown(text));

/** Returns a sentence of hostform with names in it, as {@link sentenceMarkdown}. */
export const sentence = (text: string) => breakMarkdown(sentenceMarkdown(text));

/** Returns a sentence, cut to {@link LONGEST_FACT} characters. */
const brief = (text: string) => sentence(shorten(text, LONGEST_FACT));

/** Returns the sentence about cut parts, or nothing without cut parts. */
export function more(count: number, noun: string, of = ""): string[] {
  if (count <= 0) return [];
  const what = `${plural(count, `more ${noun}`)}${of && ` ${of}`}`;
  return [`… and ${what}, for which there is no room here.\n`];
}

/** Converts lines to a diff: the sign is the first character, and `!` marks a changed line. */
const diffOf = (block: string): string =>
  block
    .split("\n")
    .map((line) => {
      const { sign, text } = signOf(line);
      return sign === undefined ? text : `${sign === "~" ? "!" : sign}${text.replace(SIGN, blank).slice(1)}`;
    })
    .join("\n");

/** Returns the number of leading parts that fit into `bytes`. */
export function fitting(parts: readonly string[], bytes: number): number {
  let left = bytes;
  const end = parts.findIndex((part) => {
    left -= bytesOf(part);
    return left < 0;
  });
  return end < 0 ? parts.length : end;
}

export const bytesOf = (text: string) => Buffer.byteLength(text, "utf8");

/** Maximum length of a fact, in characters. A longer text of the host is cut. */
const LONGEST_FACT = 300;

/** Returns the parts of a plan in the words of `renderPlan`: plain text, escaped for a terminal but not yet for Markdown. */
function planDocument(plan: Plan, { moneyScale, remedies }: PlanReportOptions, report: PlanReport) {
  const look = { color: false, remedies };
  const { changes } = report;
  const blocks = [
    ...changes.map((change) => changeLines(change, signs, moneyScale)),
    moveLines(plan, signs),
    outputLines(plan, signs),
    waitingLines(plan, signs),
    unlistedLines(plan),
    // Drift is last, because it may be long, and a long document is cut at its end.
    driftLines(plan, signs),
  ];
  const facts = [changes.length > 0 ? summaryAlone(plan) : "", requestLine(plan)].filter((line) => line !== "");
  return {
    headline: report.headline,
    verdict: report.verdictText,
    figures: !hasFigures(plan) ? [] : figureLines(plan, moneyScale),
    facts: facts.map((line) => shorten(line.trim(), LONGEST_FACT)),
    diagnostics: foldedDiagnostics(plan.diagnostics).map((one) => diagnosticBlock(one, look)),
    blocks: blocks.filter((lines) => lines.length > 0).map((lines) => `${lines.join("\n").trimEnd()}\n`),
    changes: changes.length,
  };
}

/** Marker before a sign. No text of a plan contains this character, because control characters are escaped. */
const MARK = "\0";
const SIGN = /-\/\+|\+\/-|[-+~!]/;
const blank = (sign: string) => " ".repeat(sign.length);
const marked = (text: string) => (SIGN.exec(text)?.[0] === text ? MARK + text : text);

/** Marks the signs of a plan's lines for {@link signOf}, because a line of text may begin with the same character. */
export const signs: Paint = { ...painter(false), added: marked, removed: marked, changed: marked };

/** Returns the sign of a line painted by {@link signs}, and the line without markers. */
export function signOf(line: string) {
  const text = line.replaceAll(MARK, "");
  if (!line.trimStart().startsWith(MARK)) return { sign: undefined, text };
  const [found] = SIGN.exec(text) ?? [];
  const sign: "+" | "-" | "!" | "~" = found === "+" || found === "-" || found === "!" ? found : "~";
  return { sign, text };
}
