import { html } from "hono/html";
import {
  breakCommands,
  type EnvVars,
  ExactNumber,
  errorOf,
  failWith,
  hiddenText,
  isCredential,
  isObject,
  visible,
} from "../core/model/index.ts";
import { escapeLine, escapeOutput, escapeText, jsonText } from "../report/escape.ts";

/** Minimum length of a redacted value. Shorter values occur by chance. */
const SHORTEST_SECRET = 8;

/** Pattern of ordinary words, numbers and dates. These are easy to guess, and the output needs them. */
const ORDINARY = /^(?:[A-Z]?[a-z]+(?:_[a-z]+)*|[\d.,:-]+)$/;
const LONGEST_ORDINARY = 15;

/** Name and value of an attribute that approvers must read. The value must not be redacted. */
export type Field = readonly [name: string, value: string];

/**
 * Removes secrets from texts: a last protection, for example against servers that repeat a secret. (Sensitive values of the
 * declaration, the state and the account are hidden earlier, by their origin.) Finds complete secrets only, plain or escaped.
 * Therefore `shorten` never cuts inside a word.
 */
export class Redaction {
  /** Notations of secrets by their first characters, longest first. */
  readonly #forms = new Map<string, (Mark & { readonly form: string })[]>();
  /** Secrets with white space, in which line wrapping may add line breaks. */
  readonly #spaced: (Mark & { readonly pattern: RegExp })[] = [];
  readonly #announced = new Set<string>();
  readonly #open = new Set<string>();
  #announce: ((secret: string) => void) | undefined;
  #fields: readonly Field[] = [];

  /** Calls `callback` once for each secret, including earlier ones. */
  onLearn(callback: (secret: string) => void): void {
    this.#announce = callback;
    for (const secret of this.#announced) callback(secret);
  }

  /** Registers a text that the declaration contains as a public value. */
  open(text: string): void {
    this.#open.add(text);
  }

  isOpen(text: string): boolean {
    return this.#open.has(text);
  }

  /**
   * Registers secrets, or lists of secrets. Ignores values that are not strings, too short, or ordinary words.
   * @param from Source of the secrets.
   */
  learn(from: string, first: unknown, ...more: readonly unknown[]): void {
    for (const secret of [first, ...more].flat().flatMap(linesOf)) {
      if (this.#announced.has(secret)) continue;
      this.#announced.add(secret);
      this.#announce?.(secret);
      const mark = hiddenText({ from: [from] });
      const forms = new Set([secret, escapeLine(secret), escapeText(secret), inHtml(secret), inJson(secret)]);
      for (const form of forms) {
        const parts = form.split(/\s+/).filter(Boolean);
        if (parts.length > 1) {
          this.#spaced.push({ pattern: new RegExp(parts.map(literal).join("\\s+"), "g"), mark, from });
          continue;
        }
        const first = form.slice(0, SHORTEST_SECRET);
        const others = this.#forms.get(first) ?? [];
        this.#forms.set(
          first,
          [...others, { form, mark, from }].toSorted((a, b) => b.form.length - a.form.length),
        );
      }
    }
  }

  /** Replaces each secret in the text with its source. @param onFound Receives the source of each secret. */
  redact(text: string, onFound?: (from: string) => void): string {
    let spaced = text;
    for (const { pattern, mark, from } of this.#spaced)
      spaced = spaced.replace(pattern, () => {
        onFound?.(from);
        return mark;
      });
    if (this.#forms.size === 0) return spaced;
    let redacted = "";
    let start = 0;
    for (let at = 0; at + SHORTEST_SECRET <= spaced.length; at++) {
      const found = this.#forms
        .get(spaced.slice(at, at + SHORTEST_SECRET))
        ?.find(({ form }) => spaced.startsWith(form, at));
      if (found === undefined) continue;
      onFound?.(found.from);
      redacted += spaced.slice(start, at) + found.mark;
      start = at + found.form.length;
      at = start - 1;
    }
    return redacted + spaced.slice(start);
  }

  /** Replaces each secret in the strings and keys of a JSON value with its source. Numbers stay. */
  redactValue(value: unknown): unknown {
    if (typeof value === "string") return this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (!isObject(value) || value instanceof ExactNumber) return value;
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([name, item]) => [this.redact(name), this.redactValue(item)]));
  }

  /**
   * Rejects a plan in which a secret would hide a value that approvers must read.
   * @param fields Values of the plan. Default: those of the last call, checked against secrets that were registered since.
   * @throws HostformError `config.sensitive`
   */
  refuseIn(fields = this.#fields): void {
    this.#fields = fields;
    const hidden = fields.flatMap(([field, value]) => {
      const sources: string[] = [];
      this.redact(value, (from) => sources.push(from));
      return sources.slice(0, 1).map((from) =>
        errorOf("config.sensitive", `${field} holds a secret of this run: ${from}`, {
          detail: "Reports must show this value, and hide the secret.",
          remedies: [`Change the secret, which can be guessed; or remove ${from} if it is none.`],
        }),
      );
    });
    failWith(hidden);
  }
}

/** Replacement of a secret, and its source. */
interface Mark {
  readonly mark: string;
  readonly from: string;
}

/** Escapes the character that would start a command for a CI runner. Each format displays the escape as that character. */
const SHOWN = {
  /** Also for JSON and HCL, where `\u005b` in a string means the same character. */
  text: visible,
  markdown: (character: string) => `\\${character}`,
  html: (character: string) => `&#${character.charCodeAt(0)};`,
} as const;

export type LeavingFormat = keyof typeof SHOWN | "terminal";

/**
 * Prepares text for output: streams, reports, saved plans, pages, comments and logs. All output must pass through this
 * function. It hides known secrets and escapes control characters. Except on a terminal, it also escapes commands for CI
 * runners.
 * @param line Beginning of the current line, if a text is written in parts.
 */
export function leaving(text: string, redaction: Redaction, format: LeavingFormat = "text", line = ""): string {
  const safe = escapeOutput(redaction.redact(text));
  // The caller has already written the beginning of the line. It contains no complete command, so only the new text needs escapes.
  return format === "terminal" ? safe : breakCommands(line + safe, SHOWN[format]).slice(line.length);
}

/** Prepares a JSON document for output. Hides secrets before it escapes values. */
export function leavingJson(value: unknown, redaction: Redaction, indent = 0): string {
  return `${breakCommands(jsonText(redaction.redactValue(value), indent))}\n`;
}

/** Registers the credentials in the environment. A kind of store, such as `memory`, is none. */
export function learnEnvironment(redaction: Redaction, env: EnvVars): void {
  for (const name of Object.keys(env))
    if (isCredential(name) && !(name === "HOSTFORM_STORE" && /^\w+$/.test(env[name] ?? "")))
      learnVariable(redaction, env, name);
}

/** Registers the value of a variable that contains a secret. */
export function learnVariable(redaction: Redaction, env: EnvVars, name: string): void {
  learnToken(redaction, env[name], `env.${name}`);
}

/** Registers an API token. In `12|abc…`, the part after the bar is the secret. */
export function learnToken(redaction: Redaction, token: string | undefined, from: string): void {
  redaction.learn(from, token, token?.slice(token.indexOf("|") + 1));
}

/** Returns a secret and its trimmed lines, because a program may print a key line by line. */
function linesOf(value: unknown): string[] {
  if (typeof value !== "string") return [];
  const lines = [value, ...value.split("\n")].map((line) => line.trim());
  return lines.filter(
    (line) => line.length >= SHORTEST_SECRET && !(line.length <= LONGEST_ORDINARY && ORDINARY.test(line)),
  );
}

const literal = (text: string) => text.replace(/[^\w]/g, "\\$&");

const inJson = (text: string) => jsonText(text).slice(1, -1);
const inHtml = (text: string) => escapeText(String(html`${text}`));
