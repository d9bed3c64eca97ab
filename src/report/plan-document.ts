import { type Effect, effectOf, isError, isNoOp, type Plan, type RemedyText, shorten } from "../core/model/index.ts";
import { renderDiagnostics } from "./diagnostic-text.ts";
import { plural } from "./duration.ts";
import type { MoneyScale } from "./money.ts";
import { changeLines } from "./plan-change.ts";
import { driftLines } from "./plan-drift.ts";
import { moveLines } from "./plan-moves.ts";
import { outputLines } from "./plan-outputs.ts";
import { moneyLines, onlineLines, requestLine, summaryLine } from "./plan-summary.ts";
import { unlistedLines, waitingLines } from "./plan-text.ts";
import { nameSome } from "./progress.ts";
import { paint as painter } from "./style.ts";

export interface PlanDocumentOptions {
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

/** Takes a plan apart for Markdown and HTML, in the words of `renderPlan`. */
export function planDocument(plan: Plan, { moneyScale, remedies }: PlanDocumentOptions): PlanDocument {
  const paint = painter(false);
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const errors = plan.diagnostics.filter(isError);
  const warnings = plan.diagnostics.filter((diagnostic) => !isError(diagnostic));
  const blocks = [
    ...changes.map((change) => changeLines(change, paint)),
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
  const by = (effect: Effect) =>
    plan.changes.filter((change) => effectOf(change) === effect).map(({ address }) => address);
  const line = (verb: string, addresses: readonly string[]) =>
    addresses.length === 0 ? [] : [`${verb} ${nameSome(addresses)}.`];
  return [...line("Deletes", by("delete")), ...onlineLines(plan.changes), ...line("Manages no longer", by("forget"))];
}

/** What becomes of the thing a line tells of, by the sign that it begins with. */
export type LineSign = "+" | "-" | "~" | "!";

const SIGNED = /^( *)(-\/\+|\+\/-|[-+~!])(?= |$)/;

/** Takes the sign off a line of a block: the column it stood in is left blank. */
export function signOf(line: string): { readonly sign: LineSign | undefined; readonly rest: string } {
  const [found, indent = "", mark = ""] = SIGNED.exec(line) ?? [];
  if (found === undefined) return { sign: undefined, rest: line };
  const sign = mark === "+" || mark === "-" || mark === "!" ? mark : "~";
  return { sign, rest: `${indent}${" ".repeat(mark.length)}${line.slice(found.length)}` };
}
