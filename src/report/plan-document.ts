// A plan as a document: Markdown for a pull request.
import {
  type ChangeEffect,
  type Diagnostic,
  effectOf,
  formatNumber,
  isError,
  isNoOp,
  type Plan,
  type RemedyText,
  shorten,
} from "../core/model/index.ts";
import { renderDiagnostics } from "./diagnostics.ts";
import { breakMarkdown, escapeMarkdown, fenceMarkdown } from "./escape.ts";
import { moneyLines } from "./money.ts";
import { type MoneyScale, plural } from "./numbers.ts";
import { outputLines } from "./outputs.ts";
import { changeLines, driftLines, moveLines } from "./plan-changes.ts";
import { offlineLines, onlineLines, requestLine, summaryLine, unlistedLines, waitingLines } from "./plan-text.ts";
import { nameSome } from "./progress.ts";
import { paint as painter } from "./text-style.ts";

interface PlanMarkdownOptions extends PlanDocumentOptions {
  /** Bytes of UTF-8 that the whole may take. Default: {@link COMMENT_BYTES}. */
  readonly limit?: number;
}

/** A comment on GitHub holds 65,536 characters; the rest is for what a job adds. */
export const COMMENT_BYTES = 64_000;

/** Diagnostics may take this part of the room before changes are left out for them. */
const DIAGNOSTICS_SHARE = 0.5;

/**
 * A plan as a comment for a pull request: the summary with orders and removals, errors and warnings, and the text of the
 * plan as a diff, folded away. Cut between changes when it is too long. Begins with a comment that is the same for each
 * plan of the project, so that a job can find the comment it wrote before.
 */
export function renderPlanMarkdown(plan: Plan, options: PlanMarkdownOptions): string {
  const document = planDocument(plan, options);
  const limit = options.limit ?? COMMENT_BYTES;
  const { diagnostics, blocks } = document;
  let messages = fitting(diagnostics, limit * DIAGNOSTICS_SHARE);
  let shown = blocks.length;
  let text = assemble(plan, document, messages, shown);
  // A fence grows with what it holds, so the room for blocks is not known before.
  while (bytesOf(text) > limit && shown + messages > 0) {
    const excess = bytesOf(text) - limit;
    const fewer = fitting(blocks, blocks.slice(0, shown).reduce((sum, block) => sum + bytesOf(block), 0) - excess);
    if (shown > 0) shown = Math.min(shown - 1, fewer);
    else messages -= 1;
    text = assemble(plan, document, messages, shown);
  }
  return text;
}

/** The comment in place of a plan that could not be made: the same first line, so that the last plan does not stay. */
export function renderMistakesMarkdown(
  project: string,
  diagnostics: readonly Diagnostic[],
  remedies: RemedyText,
): string {
  const texts = diagnostics.map((one) => renderDiagnostics([one], { color: false, remedies }));
  const shown = fitting(texts, COMMENT_BYTES * DIAGNOSTICS_SHARE);
  const lines = [
    markerOf(project),
    `### hostform plan: ${escapeMarkdown(project)}\n`,
    "**Nothing was planned: see the errors.**\n",
    fenceMarkdown(texts.slice(0, shown).join("\n"), "text"),
    ...more(texts.length - shown, "message"),
  ];
  return breakMarkdown(lines.join("\n"));
}

const markerOf = (project: string) => `<!-- hostform plan: ${encodeURIComponent(project.toWellFormed())} -->`;

function assemble(plan: Plan, document: PlanDocument, messages: number, shown: number): string {
  const { summary, refusal, facts, diagnostics, blocks, changes } = document;
  const body = blocks.slice(0, shown).map(diffOf).join("\n");
  const heading =
    changes === 0 ? "Details" : `The plan: ${formatNumber(changes)} ${changes === 1 ? "change" : "changes"}`;
  const lines = [
    markerOf(plan.project),
    `### hostform plan: ${escapeMarkdown(plan.project)}\n`,
    `**${summary}**\n`,
    ...(refusal === undefined ? [] : [`**${refusal}**\n`]),
    ...facts.map((fact) => `- ${escapeMarkdown(fact)}`),
    "",
    ...(messages > 0 ? [fenceMarkdown(diagnostics.slice(0, messages).join("\n"), "text")] : []),
    ...more(diagnostics.length - messages, "message"),
    ...(body === ""
      ? []
      : [`<details><summary>${heading}</summary>\n`, `${fenceMarkdown(body, "diff")}\n</details>\n`]),
    ...more(blocks.length - shown, "part", "of the plan"),
  ];
  return breakMarkdown(lines.join("\n"));
}

function more(count: number, noun: string, of = ""): string[] {
  if (count <= 0) return [];
  const what = `${formatNumber(count)} more ${noun}${count === 1 ? "" : "s"}${of && ` ${of}`}`;
  return [`… and ${what}, for which there is no room here.\n`];
}

/** In a diff the sign stands first, and what changes has an exclamation mark. */
function diffOf(block: string): string {
  return block
    .split("\n")
    .map((line) => {
      const { sign, rest } = signOf(line);
      return sign === undefined ? rest : `${sign === "~" ? "!" : sign}${rest.slice(1)}`;
    })
    .join("\n");
}

/** How many of the first parts take no more than so many bytes. */
function fitting(parts: readonly string[], bytes: number): number {
  let left = bytes;
  const end = parts.findIndex((part) => {
    left -= bytesOf(part);
    return left < 0;
  });
  return end < 0 ? parts.length : end;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

interface PlanDocumentOptions {
  readonly moneyScale?: MoneyScale;
  /** What can be done about a diagnostic, in the language of the project. */
  readonly remedies: RemedyText;
}

/** The parts of a plan as a document, each of them plain text that is safe to print and still to be escaped for its format. */
export interface PlanDocument {
  readonly summary: string;
  /** Why it cannot be applied; absent when it can. */
  readonly refusal?: string;
  /** What orders, removals and requests there are, a line for each. */
  readonly facts: readonly string[];
  /** Errors, then warnings; equal ones are one. */
  readonly diagnostics: readonly string[];
  /** The blocks of the text: one for each change, what has to wait, drift. They end with a newline. */
  readonly blocks: readonly string[];
  readonly changes: number;
}

/** A fact is one line; a host's word that is longer than a line is not a fact. */
const LONGEST_FACT = 300;

/** Takes a plan apart for Markdown, in the words of `renderPlan`. */
function planDocument(plan: Plan, { moneyScale, remedies }: PlanDocumentOptions): PlanDocument {
  const paint = painter(false);
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const errors = plan.diagnostics.filter(isError);
  const warnings = plan.diagnostics.filter((diagnostic) => !isError(diagnostic));
  const blocks = [
    ...changes.map((change) => changeLines(change, paint, moneyScale)),
    moveLines(plan, paint),
    outputLines(plan, paint),
    waitingLines(plan, paint),
    unlistedLines(plan),
    // Last, because it may be long, and what does not fit is cut at the end.
    driftLines(plan, paint),
  ];
  return {
    // Here it stands first: there is no above.
    summary: summaryLine(plan).replace("; see above.", "."),
    ...(errors.length > 0 && { refusal: `The plan has ${plural(errors.length, "error")} and cannot be applied.` }),
    facts: [...(changes.length > 0 ? moneyLines(plan, moneyScale) : []), ...effectLines(plan), requestLine(plan)].map(
      (line) => shorten(line.trim(), LONGEST_FACT),
    ),
    diagnostics: [
      ...new Set(
        [...errors, ...warnings].map((diagnostic) => renderDiagnostics([diagnostic], { color: false, remedies })),
      ),
    ],
    blocks: blocks.filter((lines) => lines.length > 0).map((lines) => `${lines.join("\n").trimEnd()}\n`),
    changes: changes.length,
  };
}

/** `Deletes hosting_grant.a, hosting_grant.b and 3 more.`: what a reader must not overlook. */
function effectLines(plan: Plan): string[] {
  const by = (effect: ChangeEffect) =>
    plan.changes.filter((change) => effectOf(change) === effect).map(({ address }) => address);
  const line = (verb: string, addresses: readonly string[]) =>
    addresses.length === 0 ? [] : [`${verb} ${nameSome(addresses)}.`];
  return [
    ...line("Deletes", by("delete")),
    ...offlineLines(plan.changes),
    ...onlineLines(plan.changes),
    ...line("Manages no longer", by("forget")),
  ];
}

/** What becomes of the thing a line is about, by the sign that it begins with. */
type LineSign = "+" | "-" | "~" | "!";

const SIGNED = /^( *)(-\/\+|\+\/-|[-+~!])(?= |$)/;

/** Takes the sign off a line of a block: the column it stood in is left blank. */
export function signOf(line: string): { readonly sign: LineSign | undefined; readonly rest: string } {
  const [found, indent = "", mark = ""] = SIGNED.exec(line) ?? [];
  if (found === undefined) return { sign: undefined, rest: line };
  const sign = mark === "+" || mark === "-" || mark === "!" ? mark : "~";
  return { sign, rest: `${indent}${" ".repeat(mark.length)}${line.slice(found.length)}` };
}
