import { html } from "hono/html";
import {
  breakCommands,
  type EnvVars,
  ExactNumber,
  errorOf,
  HostformError,
  hiddenText,
  isCredential,
  isObject,
  visible,
} from "../core/model/index.ts";
import { escapeLine, escapeOutput, escapeText, jsonText } from "../report/escape.ts";

/** Shorter values stand in any output by chance. */
const SHORTEST_SECRET = 8;

/** Words, numbers and dates: anyone guesses them, and without them the output means nothing. */
const ORDINARY = /^(?:[A-Z]?[a-z]+(?:_[a-z]+)*|[\d.,:-]+)$/;
const LONGEST_ORDINARY = 15;

/** A value of a plan that approvers decide by: no search for secrets rewrites it. */
export type Field = readonly [name: string, value: string];

/**
 * Knows the secrets of a run and takes them out of texts: a net below what servers echo. What hostform itself declares, records
 * and reads as sensitive carries its origin and is never rendered. A secret is found whole, as it is and as our own documents
 * escape it. What hostform cuts off, it cuts before or after a word (`shorten`).
 */
export class Redaction {
  /** First characters -> what begins with them, the longest first. */
  readonly #forms = new Map<string, { readonly form: string; readonly mark: string }[]>();
  /** Secrets with white space: texts are wrapped there. */
  readonly #spaced: { readonly pattern: RegExp; readonly mark: string }[] = [];
  readonly #announced = new Set<string>();
  readonly #open = new Set<string>();
  #announce: ((secret: string) => void) | undefined;
  #fields: readonly Field[] = [];

  /** Calls back with each secret, once: those that were learned, and each that is learned later. */
  onLearn(callback: (secret: string) => void): void {
    this.#announce = callback;
    for (const secret of this.#announced) callback(secret);
  }

  /** Notes a text that the declaration shows to everybody. */
  open(text: string): void {
    this.#open.add(text);
  }

  isOpen(text: string): boolean {
    return this.#open.has(text);
  }

  /** Hides secrets, or lists of them, from now on. Passes over what is no text, too short or an ordinary word. @param from their source. */
  learn(from: string, first: unknown, ...more: readonly unknown[]): void {
    for (const secret of [first, ...more].flat().flatMap(linesOf)) {
      if (this.#announced.has(secret)) continue;
      this.#announced.add(secret);
      this.#announce?.(secret);
      const mark = hiddenText({ from: [from] });
      const forms = new Set([secret, escapeLine(secret), escapeText(secret), inHtml(secret), inJson(secret)]);
      for (const form of forms) {
        const parts = form.split(/\s+/).filter(Boolean);
        if (parts.length > 1) this.#spaced.push({ pattern: new RegExp(parts.map(literal).join("\\s+"), "g"), mark });
        else this.#add(form, mark);
      }
    }
  }

  #add(form: string, mark: string): void {
    const first = form.slice(0, SHORTEST_SECRET);
    const others = this.#forms.get(first) ?? [];
    this.#forms.set(
      first,
      [...others, { form, mark }].toSorted((a, b) => b.form.length - a.form.length),
    );
  }

  /** The text with the source in place of each secret. */
  redact(text: string): string {
    const spaced = this.#spaced.reduce((result, { pattern, mark }) => result.replace(pattern, mark), text);
    if (this.#forms.size === 0) return spaced;
    let redacted = "";
    let from = 0;
    for (let at = 0; at + SHORTEST_SECRET <= spaced.length; at++) {
      const found = this.#forms
        .get(spaced.slice(at, at + SHORTEST_SECRET))
        ?.find(({ form }) => spaced.startsWith(form, at));
      if (found === undefined) continue;
      redacted += spaced.slice(from, at) + found.mark;
      from = at + found.form.length;
      at = from - 1;
    }
    return redacted + spaced.slice(from);
  }

  /** A value of a JSON document with the source in place of each secret, in texts and in names. Numbers stay. */
  redactValue(value: unknown): unknown {
    if (typeof value === "string") return this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (!isObject(value) || value instanceof ExactNumber) return value;
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([name, item]) => [this.redact(name), this.redactValue(item)]));
  }

  /**
   * Refuses a known secret in what approvers decide by. @param fields of the plan; default: those that were given before, after
   * another secret became known.
   * @throws HostformError `config.sensitive`
   */
  refuseIn(fields = this.#fields): void {
    this.#fields = fields;
    const hidden = fields.flatMap(([field, value]) => {
      const redacted = this.redact(value);
      return redacted === value ? [] : [holdsSecret(field, /\(sensitive: (.*?)\)/.exec(redacted)?.[1] ?? "a secret")];
    });
    if (hidden.length > 0) throw new HostformError(hidden);
  }
}

/** The ways in which a text that leaves shows what would begin a command of a CI's agent: as its readers take it literally. */
const SHOWN = {
  /** Also JSON and HCL: `\u005b` means the same within their strings. */
  text: visible,
  markdown: (character: string) => `\\${character}`,
  html: (character: string) => `&#${character.charCodeAt(0)};`,
} as const;

export type LeavingFormat = keyof typeof SHOWN | "terminal";

/**
 * The one way out: streams, reports, saved plans, pages, comments and logs pass it. Known secrets are hidden, what would act on a
 * terminal is shown, and the commands that an agent of a CI would execute are broken, except on a terminal.
 * @param line what the last line has so far, where a text is written in pieces.
 */
export function leaving(text: string, redaction: Redaction, format: LeavingFormat = "text", line = ""): string {
  const safe = escapeOutput(redaction.redact(text));
  // The earlier part of the line holds no command, so only the last character of one can need a change: it is in the text.
  return format === "terminal" ? safe : breakCommands(line + safe, SHOWN[format]).slice(line.length);
}

/** The same for a document in JSON. Secrets are hidden in its values, before they are escaped. */
export function leavingJson(value: unknown, redaction: Redaction, indent = 0): string {
  return `${breakCommands(jsonText(redaction.redactValue(value), indent))}\n`;
}

const holdsSecret = (field: string, from: string) =>
  errorOf("config.sensitive", `${field} holds a secret of this run: ${from}`, {
    detail: "Reports must show this value, and hide the secret.",
    remedies: [`Change the secret, which can be guessed; or remove ${from} if it is none.`],
  });

/** Announces the credentials of the environment. */
export function learnEnvironment(redaction: Redaction, env: EnvVars): void {
  for (const name of Object.keys(env)) if (isCredential(name)) learnVariable(redaction, env, name);
}

/** Announces the value of a variable that is named as the place of a secret. */
export function learnVariable(redaction: Redaction, env: EnvVars, name: string): void {
  learnToken(redaction, env[name], `env.${name}`);
}

/** Announces an API token. Of `12|abc…` the part behind the bar is the secret one. */
export function learnToken(redaction: Redaction, token: string | undefined, from: string): void {
  redaction.learn(from, token, token?.slice(token.indexOf("|") + 1));
}

/** A secret and its lines, without the space around them: anyone who prints the lines of a key one by one prints the key. */
function linesOf(value: unknown): string[] {
  if (typeof value !== "string") return [];
  const lines = [value, ...value.split("\n")].map((line) => line.trim());
  return lines.filter(
    (line) => line.length >= SHORTEST_SECRET && !(line.length <= LONGEST_ORDINARY && ORDINARY.test(line)),
  );
}

/** A text as a part of a pattern that means itself. */
const literal = (text: string) => text.replace(/[^\w]/g, "\\$&");

const inJson = (text: string) => jsonText(text).slice(1, -1);
const inHtml = (text: string) => escapeText(String(html`${text}`));
