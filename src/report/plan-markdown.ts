import type { Plan } from "../core/model/index.ts";
import { formatNumber } from "./duration.ts";
import { breakMarkdown, escapeMarkdown, fenceMarkdown } from "./escape.ts";
import { type PlanDocument, type PlanDocumentOptions, planDocument, signOf } from "./plan-document.ts";

export interface PlanMarkdownOptions extends PlanDocumentOptions {
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
  let told = fitting(diagnostics, limit * DIAGNOSTICS_SHARE);
  let shown = blocks.length;
  let text = assemble(plan, document, told, shown);
  // A fence grows with what it holds, so the room for blocks is not known before.
  while (bytesOf(text) > limit && shown + told > 0) {
    const excess = bytesOf(text) - limit;
    const fewer = fitting(blocks, blocks.slice(0, shown).reduce((sum, block) => sum + bytesOf(block), 0) - excess);
    if (shown > 0) shown = Math.min(shown - 1, fewer);
    else told -= 1;
    text = assemble(plan, document, told, shown);
  }
  return text;
}

function assemble(plan: Plan, document: PlanDocument, told: number, shown: number): string {
  const { summary, refusal, facts, diagnostics, blocks, changes } = document;
  const body = blocks.slice(0, shown).map(diffOf).join("\n");
  const heading =
    changes === 0 ? "Details" : `The plan: ${formatNumber(changes)} ${changes === 1 ? "change" : "changes"}`;
  const lines = [
    `<!-- hostform plan: ${encodeURIComponent(plan.project.toWellFormed())} -->`,
    `### hostform plan: ${escapeMarkdown(plan.project)}\n`,
    `**${summary}**\n`,
    ...(refusal === undefined ? [] : [`**${refusal}**\n`]),
    ...facts.map((fact) => `- ${escapeMarkdown(fact)}`),
    "",
    ...(told > 0 ? [fenceMarkdown(diagnostics.slice(0, told).join("\n"), "text")] : []),
    ...more(diagnostics.length - told, "message"),
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
