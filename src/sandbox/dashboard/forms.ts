/** Forms that work without a script, and their controls. */
import { html } from "hono/html";
import type { Html } from "./html.ts";
import type { Visit } from "./page.ts";

export interface ActParts {
  /** Key of the action in the page's `actions`. */
  do: string;
  /** Id of the record, on a page with several records. */
  id?: number;
  label: string;
  /** Object of the action for screen readers, such as "invoice INV-2026-000003". */
  about?: string;
  tone?: "primary" | "danger";
  fields?: (kept: Kept) => Html;
  /** Warning before an action that cannot be undone. The user must confirm it. */
  confirm?: string;
  /** True if the fields are in one line with the button. */
  inline?: boolean;
}

/**
 * Returns a form that searches the list at `path`.
 * @param fields Further fields.
 */
export function search(path: string, query: URLSearchParams, label: string, fields?: Html): Html {
  return html`<form method="get" action="${path}" class="filter" role="search">
<div class="field"><label for="q">${label}</label><input id="q" name="q" type="search" value="${query.get("q")}"></div>
${fields}
<button class="button">Show</button></form>`;
}

/** Returns the search text in lower case. */
export const searched = (query: URLSearchParams): string => (query.get("q") ?? "").trim().toLowerCase();

/** Id of the element with the message of a rejected form. A page has at most one. */
export const PROBLEM_ID = "problem";

/** Returns the input of this form if it was rejected, otherwise an empty input. */
function keptOf(visit: Visit, parts: ActParts): Kept {
  const failed = failedHere(visit, parts);
  const errors = Object.entries(failed?.errors ?? {});
  return {
    prefix: parts.id === undefined ? parts.do : `${parts.do}-${parts.id}`,
    value: (name) => failed && (failed.form.raw(name) ?? ""),
    values: (name) => failed?.form.all(name),
    // Includes errors of the field's items ("events.0").
    error: (name) => errors.find(([field]) => field === name || field.startsWith(`${name}.`))?.[1][0],
  };
}

function failedHere({ failed }: Visit, parts: ActParts): Visit["failed"] {
  if (failed === undefined || failed.form.action !== parts.do) return undefined;
  return failed.form.raw("id") === (parts.id === undefined ? undefined : String(parts.id)) ? failed : undefined;
}

/** Returns a form with its button and fields. A rejected form also has its message. */
export function act(visit: Visit, parts: ActParts): Html {
  const { label, about, tone = "", confirm, fields, inline = false } = parts;
  const failed = failedHere(visit, parts);
  const named = (text: string) => about !== undefined && html` aria-label="${`${text} ${about}`}"`;
  const button = html`<button class="button ${tone}" name="do" value="${parts.do}"${named(label)}>${label}</button>`;
  const form = html`<form method="post" action="${visit.here}" class="act${inline ? " inline" : ""}">
${parts.id !== undefined && html`<input type="hidden" name="id" value="${parts.id}">`}
${
  failed !== undefined &&
  html`<p class="problem" role="alert" tabindex="-1" autofocus id="${PROBLEM_ID}">${failed.message}</p>`
}
${confirm !== undefined && html`<p>${confirm}</p>`}
${fields === undefined ? "" : fields(keptOf(visit, parts))}
<div class="buttons">${button}</div></form>`;
  if (confirm === undefined) return form;
  const open = failed !== undefined && html` open`;
  const summary = html`<summary class="button ${tone}"${named(`${label}…`)}>${label}…</summary>`;
  return html`<details class="confirm"${open}>${summary}${form}</details>`;
}

/** Input of a rejected form, so that the user need not repeat it. Empty for a new form. */
export interface Kept {
  value(name: string): string | undefined;
  values(name: string): string[] | undefined;
  error(name: string): string | undefined;
  /** Prefix of ids, unique among the forms of a page. */
  prefix: string;
}

interface FieldParts {
  name: string;
  label: string;
  hint?: Html | string;
  required?: boolean;
}

function attribute(name: string, value: string | number | undefined): Html | false {
  return value !== undefined && html` ${name}="${value}"`;
}

/** Returns the id, description and error of a control. */
function control(kept: Kept, { name, hint }: FieldParts) {
  const id = `${kept.prefix}-${name}`;
  const error = kept.error(name);
  const ids = [hint === undefined ? [] : `${id}-hint`, error === undefined ? [] : `${id}-problem`].flat();
  const described = attribute("aria-describedby", ids.length === 0 ? undefined : ids.join(" "));
  const notes = html`${hint !== undefined && html`<span class="hint" id="${id}-hint">${hint}</span>`}
${error !== undefined && html`<span class="problem" id="${id}-problem">${error}</span>`}`;
  return { id, error, described, notes };
}

interface TextParts extends FieldParts {
  type?: "text" | "email" | "url" | "password" | "number" | "search";
  value?: string;
  min?: number;
  max?: number;
  step?: string;
  placeholder?: string;
  size?: number;
}

/** Returns a field for a number or one line of text. */
export function textField(kept: Kept, parts: TextParts): Html {
  const { name, label, required = false, type = "text", value = "", placeholder } = parts;
  const { id, error, described, notes } = control(kept, parts);
  // A rejected password must not be sent back.
  const now = type === "password" ? "" : (kept.value(name) ?? value);
  const limits = (["min", "max", "step", "size"] as const).map((limit) => attribute(limit, parts[limit]));
  const state = html`${required && html` required`}${error !== undefined && html` aria-invalid="true"`}${described}`;
  return html`<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" value="${now}" autocomplete="off" spellcheck="false"${limits}${attribute("placeholder", placeholder)}${state}>
${notes}</div>`;
}

type Options = readonly (readonly [value: string, label: string])[];

/** Returns a control for one of several values. */
export function selectField(kept: Kept, parts: FieldParts & { options: Options; value?: string }): Html {
  const { id, described, notes } = control(kept, parts);
  const now = kept.value(parts.name) ?? parts.value;
  return html`<div class="field"><label for="${id}">${parts.label}</label>
<select id="${id}" name="${parts.name}"${described}>${parts.options.map(
    ([word, text]) => html`<option value="${word}"${word === now && html` selected`}>${text}</option>`,
  )}</select>
${notes}</div>`;
}

/** Returns a control for any of several values. */
export function checkboxes(kept: Kept, parts: FieldParts & { options: Options; checked?: readonly string[] }): Html {
  const { described, notes } = control(kept, parts);
  const now = kept.values(parts.name) ?? parts.checked ?? [];
  return html`<fieldset class="field"${described}><legend>${parts.label}</legend>
<div class="checks">${parts.options.map(
    ([word, text]) =>
      html`<label class="check"><input type="checkbox" name="${parts.name}" value="${word}"${
        now.includes(word) && html` checked`
      }> ${text}</label>`,
  )}</div>
${notes}</fieldset>`;
}
