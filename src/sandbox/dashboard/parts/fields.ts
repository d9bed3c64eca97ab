/** The controls of forms: each with its label, its hint, and what was wrong with it the last time. */
import { html } from "hono/html";
import type { Html } from "./text.ts";

/** What was typed into a form that was refused, so that nobody types it twice; empty for a fresh form. */
export interface Kept {
  value(name: string): string | undefined;
  values(name: string): string[] | undefined;
  error(name: string): string | undefined;
  /** Makes ids unique on pages that hold the same form several times. */
  prefix: string;
}

interface FieldParts {
  name: string;
  label: string;
  hint?: Html | string;
  required?: boolean;
}

function notes(id: string, hint: Html | string | undefined, error: string | undefined): Html {
  return html`${hint === undefined ? "" : html`<span class="hint" id="${id}-hint">${hint}</span>`}
${error === undefined ? "" : html`<span class="problem" id="${id}-problem">${error}</span>`}`;
}

function described(id: string, hint: unknown, error: string | undefined): string {
  return [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-problem`].filter(Boolean).join(" ");
}

export interface TextParts extends FieldParts {
  type?: "text" | "email" | "url" | "password" | "number" | "search";
  value?: string;
  min?: number;
  max?: number;
  step?: string;
  placeholder?: string;
  size?: number;
}

/** One line of text, or a number. */
export function textField(kept: Kept, parts: TextParts): Html {
  const { name, label, hint, required = false, type = "text", value = "", min, max, step, placeholder, size } = parts;
  const id = `${kept.prefix}-${name}`;
  const error = kept.error(name);
  // A password that was refused is typed again: it is not sent back.
  const now = type === "password" ? "" : (kept.value(name) ?? value);
  const limits = html`${min === undefined ? "" : html` min="${min}"`}${max === undefined ? "" : html` max="${max}"`}${
    step === undefined ? "" : html` step="${step}"`
  }${size === undefined ? "" : html` size="${size}"`}${placeholder === undefined ? "" : html` placeholder="${placeholder}"`}`;
  const state = html`${required ? html` required` : ""}${error === undefined ? "" : html` aria-invalid="true"`}${
    described(id, hint, error) === "" ? "" : html` aria-describedby="${described(id, hint, error)}"`
  }`;
  return html`<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" value="${now}" autocomplete="off" spellcheck="false"${limits}${state}>
${notes(id, hint, error)}</div>`;
}

/** One of several values. */
export function selectField(
  kept: Kept,
  parts: FieldParts & { options: readonly (readonly [value: string, label: string])[]; value?: string },
): Html {
  const { name, label, hint, options, value } = parts;
  const id = `${kept.prefix}-${name}`;
  const error = kept.error(name);
  const now = kept.value(name) ?? value;
  const about = described(id, hint, error);
  return html`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${name}"${about === "" ? "" : html` aria-describedby="${about}"`}>${options.map(
    ([word, text]) => html`<option value="${word}"${word === now ? html` selected` : ""}>${text}</option>`,
  )}</select>
${notes(id, hint, error)}</div>`;
}

/** Any of several values. */
export function checkboxes(
  kept: Kept,
  parts: FieldParts & { options: readonly (readonly [value: string, label: string])[]; checked?: readonly string[] },
): Html {
  const { name, label, hint, options, checked = [] } = parts;
  const id = `${kept.prefix}-${name}`;
  const error = kept.error(name);
  const now = kept.values(name) ?? checked;
  const about = described(id, hint, error);
  return html`<fieldset class="field"${about === "" ? "" : html` aria-describedby="${about}"`}><legend>${label}</legend>
<div class="checks">${options.map(
    ([word, text]) =>
      html`<label class="check"><input type="checkbox" name="${name}" value="${word}"${
        now.includes(word) ? html` checked` : ""
      }> ${text}</label>`,
  )}</div>
${notes(id, hint, error)}</fieldset>`;
}
