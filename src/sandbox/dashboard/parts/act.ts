/** Buttons that do something: each a form of its own, which works without a script. */
import { html } from "hono/html";
import type { Failed, Visit } from "../page.ts";
import type { Kept } from "./fields.ts";
import type { Html } from "./text.ts";

export interface ActParts {
  /** The action, by its name in the page's `actions`. */
  do: string;
  /** The record that it is about, where the page shows several. */
  id?: number;
  /** The text of the button. */
  label: string;
  /** What the button is about, for those who hear it without the table around it: "invoice INV-2026-000003". */
  about?: string;
  tone?: "primary" | "danger";
  fields?: (kept: Kept) => Html;
  /** A question that is asked before, for what cannot be taken back. */
  confirm?: string;
  /** The fields stand in one line with the button. */
  inline?: boolean;
}

/** Where it is said why a form was refused: at the form, and once. */
export const PROBLEM_ID = "problem";

const FRESH = { value: () => undefined, values: () => undefined, error: () => undefined };

/** What was typed into this form when it was refused; empty when another one was, or none. */
function keptOf(visit: Visit, parts: ActParts): Kept {
  const prefix = parts.id === undefined ? parts.do : `${parts.do}-${parts.id}`;
  const failed = failedHere(visit, parts);
  if (failed === undefined) return { prefix, ...FRESH };
  return {
    prefix,
    value: (name) => failed.form.raw(name) ?? "",
    values: (name) => failed.form.all(name),
    error: (name) => problemOf(failed.errors, name),
  };
}

/** What was wrong with the field, or with one of its parts ("events.0"). */
function problemOf(errors: Failed["errors"], name: string): string | undefined {
  const found = Object.keys(errors).find((field) => field === name || field.startsWith(`${name}.`));
  return found === undefined ? undefined : errors[found]?.[0];
}

function failedHere({ failed }: Visit, parts: ActParts): Visit["failed"] {
  if (failed === undefined || failed.form.action !== parts.do) return undefined;
  return failed.form.raw("id") === (parts.id === undefined ? undefined : String(parts.id)) ? failed : undefined;
}

/** The form with its button, its fields, and the sentence when it was refused. */
export function act(visit: Visit, parts: ActParts): Html {
  const { label, about, tone = "", confirm, fields, inline = false } = parts;
  const failed = failedHere(visit, parts);
  const named = (text: string) => (about === undefined ? "" : html` aria-label="${`${text} ${about}`}"`);
  const button = html`<button class="button ${tone}" name="do" value="${parts.do}"${named(label)}>${label}</button>`;
  const form = html`<form method="post" action="${visit.here}" class="act${inline ? " inline" : ""}">
${parts.id === undefined ? "" : html`<input type="hidden" name="id" value="${parts.id}">`}
${
  failed === undefined
    ? ""
    : html`<p class="problem" role="alert" tabindex="-1" autofocus id="${PROBLEM_ID}">${failed.message}</p>`
}
${confirm === undefined ? "" : html`<p>${confirm}</p>`}
${fields === undefined ? "" : fields(keptOf(visit, parts))}
<div class="buttons">${button}</div></form>`;
  if (confirm === undefined) return form;
  const open = failed === undefined ? "" : html` open`;
  const summary = html`<summary class="button ${tone}"${named(`${label}…`)}>${label}…</summary>`;
  return html`<details class="confirm"${open}>${summary}${form}</details>`;
}

/** Fields that are only there when wanted: a form behind its heading. */
export function unfold(visit: Visit, summary: string, parts: ActParts): Html {
  const open = failedHere(visit, parts) === undefined ? "" : html` open`;
  return html`<details class="unfold"${open}><summary>${summary}</summary>${act(visit, parts)}</details>`;
}
