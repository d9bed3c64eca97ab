import { kindNames } from "../core/kinds/names.gen.ts";
import { codes } from "../core/model/codes.ts";
import { ExactNumber, isObject } from "../core/model/index.ts";
import { escapeHtml, escapeLine, escapeText, jsonText } from "../report/escape.ts";

/** Mark in place of a secret. */
export const SECRET_MARK = "(secret)";

/**
 * Shorter values are left out: they occur by chance in any output (`true`, `view`, `1003`), and hiding them everywhere
 * would make it unreadable without hiding them from anybody.
 */
const SHORTEST_SECRET = 6;

/**
 * Knows every secret of a run and takes them out of texts. A secret is found as it is and JSON-escaped (however often),
 * HTML-escaped, URL-encoded, in hex and in base64 (of either alphabet), also in the middle of a longer base64 text; with line breaks, spaces, colours
 * or backslashes between its characters, because long lines are wrapped. Only the whole of it: what is hidden can be seen, so a text that
 * is hidden by the beginning of a secret says that it is one. What hostform cuts off, it cuts before or after a word (`shorten`).
 *
 * One pass over the text, whatever the number of secrets: white space and backslashes are left out, six characters find the
 * candidates, and these are compared.
 */
export class Redaction {
  readonly #known = new Set<string>();
  /** First six characters -> what begins with them. */
  readonly #forms = new Map<string, string[]>();
  /** Secrets of which white space and backslashes are so great a part that the pass does not see them. */
  readonly #sparse: RegExp[] = [];
  #longest = 0;
  readonly #announced = new Set<string>();
  #announce: ((secret: string) => void) | undefined;

  /** Calls back with each secret, once: those that were learned, and each that is learned later. */
  onLearn(callback: (secret: string) => void): void {
    this.#announce = callback;
    for (const secret of this.#announced) callback(secret);
  }

  /** Announces secrets; from now on they are hidden. What is not a text, or too short, is passed over. */
  learn(...values: readonly unknown[]): void {
    for (const value of values.flatMap(linesOf)) {
      if (this.#announced.has(value)) continue;
      this.#announced.add(value);
      this.#announce?.(value);
    }
    this.hide(...values);
  }

  /** Hides what may be a secret without announcing it: a CI runner would hide the word in the rest of its log. */
  hide(...values: readonly unknown[]): void {
    for (const value of values.flatMap(linesOf)) {
      if (this.#known.has(value)) continue;
      this.#known.add(value);
      for (const form of formsOf(value)) this.#add(form);
      if (bonesOf(value).bare.length < SHORTEST_SECRET && value.trim() !== "") this.#sparse.push(sparsePattern(value));
    }
  }

  /** The text with a mark in place of each secret. */
  redact(text: string): string {
    let result = text;
    for (const sparse of this.#sparse) result = result.replace(sparse, SECRET_MARK);
    if (this.#forms.size === 0) return result;
    let redacted = "";
    let from = 0;
    for (const [start, end] of this.#find(result)) {
      redacted += `${result.slice(from, start)}${SECRET_MARK}`;
      from = end;
    }
    return from === 0 ? result : redacted + result.slice(from);
  }

  /**
   * A value of a JSON document with a mark in place of each secret, in texts and in names. Words of the document itself and
   * its counts stay: programs decide by them, and a secret that is a part of such a word is not to be seen there.
   */
  redactValue(value: unknown): unknown {
    if (typeof value === "string") return isOwnWord(value) ? value : this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    // No count has so many digits, and no part of a number is looked at.
    if (value instanceof ExactNumber || (typeof value === "number" && Math.abs(value) >= 10_000_000))
      return this.redact(String(value)) === SECRET_MARK ? SECRET_MARK : value;
    if (!isObject(value)) return value;
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(
      entries.map(([name, item]) => [isOwnWord(name) ? name : this.redact(name), this.redactValue(item)]),
    );
  }

  /**
   * From where on the end of a text may be the beginning of a secret that the next write goes on with; its length when
   * nothing can be. A line that is ended is never kept waiting: the lines of a secret are known one by one.
   */
  undecided(text: string): number {
    if (this.#forms.size === 0 || text.endsWith("\n")) return text.length;
    // The end is enough, and what reaches into it.
    const offset = Math.max(0, text.length - 4 * this.#longest);
    const tail = text.slice(offset);
    const bones = bonesOf(tail);
    const open = this.#firstOpen(bones);
    if (open === undefined) return startOfEscape(text, text.length);
    const hidden = this.#find(tail).find(([start, end]) => start < open && open < end);
    return offset + (hidden?.[0] ?? startOfEscape(tail, open));
  }

  /** The first place from which the rest is the beginning of a form, and not the whole of it. */
  #firstOpen({ bare, at }: Bones): number | undefined {
    for (let start = Math.max(0, bare.length - this.#longest + 1); start < bare.length; start++) {
      const rest = bare.slice(start);
      // An environment may hold hundreds of secrets, some of them long.
      const forms =
        rest.length < SHORTEST_SECRET
          ? [...this.#forms.values()].flat()
          : this.#forms.get(rest.slice(0, SHORTEST_SECRET));
      if (forms?.some((form) => form.length > rest.length && form.startsWith(rest))) return at[start];
    }
    return undefined;
  }

  /** The parts of a text to hide, in order; what overlaps is one part. */
  #find(text: string): [start: number, end: number][] {
    const found: [number, number][] = [];
    const { bare, at } = bonesOf(text);
    for (let start = 0; start + SHORTEST_SECRET <= bare.length; start++) {
      const forms = this.#forms.get(bare.slice(start, start + SHORTEST_SECRET)) ?? [];
      const longest = Math.max(0, ...forms.filter((form) => bare.startsWith(form, start)).map(({ length }) => length));
      if (longest === 0) continue;
      const [first, end] = [at[start] ?? 0, (at[start + longest - 1] ?? 0) + 1];
      const last = found.at(-1);
      if (last !== undefined && first < last[1]) last[1] = Math.max(last[1], end);
      else found.push([startOfEscape(text, first), end]);
    }
    return found;
  }

  #add(form: string): void {
    if (form.length < SHORTEST_SECRET) return;
    const first = form.slice(0, SHORTEST_SECRET);
    this.#forms.set(first, [...(this.#forms.get(first) ?? []), form]);
    this.#longest = Math.max(this.#longest, form.length);
  }
}

/**
 * Keys and words of the documents in JSON that are hostform's own and that programs decide by: what is hidden in such a document
 * leaves them as they are. Shorter ones hold no secret that is long enough to be hidden.
 */
const JSON_WORDS = `
  action_reason actions address addresses after_sensitive after_unknown amount apply_complete apply_errored because
  apply_progress apply_start applyable attribute auto_approve awaiting base before before_sensitive billed cannot_update
  change_summary changes condition conditions column complete config create creating currency default deferred delete
  delete_because_no_resource_config destroy destroying detail diagnostic diagnostics effect effects elapsed_seconds
  endColumn endLine error_count errored events failed filename forget format_version held_seconds highlight_end_offset
  highlight_start_offset hostform id_key id_value implied_provider import importing index interrupted interval_seconds
  last_read lineage listing managed max_runs message messages module modifying next_seconds not-started not_planned not_read not_started operation
  orders outcome outcomes output_changes outputs payment pending places planned_change planned_values previous_address
  prior_state private progress project provider provider_name provisioning reason reasons reorder remedies removal
  remove replace replace_because_cannot_update replace_paths requests resource resource_addr resource_changes
  resource_drift resource_key resource_name resource_type resources result root_module schema_version seconds secret
  secret_to sensitive sensitive_values serial service services severity snippet start_line status summary suspend suspend-and-
  forget suspending target targets terraform terraform_version timestamp unchecked unfulfilled unknown unlisted unread unrecorded
  unsuspend unsuspending update values version waits_for warning warning_count action change context declared elapsed
  hosting queued removed skipped waiting @level @message @module @timestamp hostform.ui access_given access_raised access_reduced access_taken
  adopted client discount domain integration leaves monthly months off offline online own_form person plan recorded sentence totals
  undo figures sites_going_offline sites_offline people_gaining_access people_losing_access unpaid_invoices invoices not_checked sites
  grants others
`;

const ownWords: ReadonlySet<string> = new Set([...Object.keys(codes), ...JSON_WORDS.trim().split(/\s+/), ...kindNames]);
const isOwnWord = (text: string) => ownWords.has(text);

/** A secret and its lines: anyone who prints the lines of a key one by one prints the key. */
function linesOf(value: unknown): string[] {
  if (typeof value !== "string" || value.length < SHORTEST_SECRET) return [];
  const lines = value.includes("\n") ? value.split(/\r?\n/) : [];
  return [value, ...lines.filter((line) => line.length >= SHORTEST_SECRET)];
}

/**
 * Where the escape of a character begins, for example that of a quote in JSON. Without the character, its backslash would
 * escape the mark, and the document could not be read.
 */
function startOfEscape(text: string, at: number): number {
  let start = at;
  while (text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1 ? start : at;
}

/** White space, controls, backslashes, colours: they may stand between the characters of a secret. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are left out
const BETWEEN = /((?:\u001b\[[\d;]*m|[\u0000-\u0020\\])+)/;

/** A text without what may stand between the characters of a secret: its characters, and where they were. */
interface Bones {
  readonly bare: string;
  readonly at: Uint32Array;
}

function bonesOf(text: string): Bones {
  // A report may have ten million characters.
  const at = new Uint32Array(text.length);
  let bare = "";
  let offset = 0;
  for (const [i, part] of text.split(BETWEEN).entries()) {
    if (i % 2 === 0) {
      for (let k = 0; k < part.length; k++) at[bare.length + k] = offset + k;
      bare += part;
    }
    offset += part.length;
  }
  return { bare, at };
}

/** Finds a secret of few characters and much space or many backslashes, however often it is escaped. */
function sparsePattern(secret: string): RegExp {
  const parts = secret.match(/\s+|\\+|[^\s\\]/g) ?? [];
  const patterns = parts.map((part) =>
    /^\s/.test(part)
      ? "(?:\\s|\\\\[nrtf])+"
      : part.startsWith("\\")
        ? "\\\\+"
        : `\\\\*${part.replace(/[^\w]/u, "\\$&")}`,
  );
  return new RegExp(patterns.join(""), "g");
}

/** Every form in which a secret may stand in a text, reduced as texts are before they are searched. */
function formsOf(secret: string): Set<string> {
  // Nothing to escape, as in most of them.
  if (/^[\w.-]+$/.test(secret)) return new Set([secret, ...bytesForms(secret)]);
  const wellFormed = secret.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const strict = encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = new URLSearchParams([["", wellFormed]]).toString().slice(1);
  const addresses = [encoded, strict, query];
  const lowerCase = addresses.map((text) => text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  const texts = [secret, escapeLine(secret), escapeText(secret), escapeHtml(secret), jsonText(secret).slice(1, -1)];
  const json = JSON.stringify(secret).slice(1, -1);
  return new Set(
    [...texts, json, ...addresses, ...lowerCase, ...bytesForms(wellFormed)].map((form) => bonesOf(form).bare),
  );
}

/** A text as its bytes are written: in base64 and in hex. */
function bytesForms(text: string): string[] {
  const hex = Buffer.from(text).toString("hex");
  return [...base64Forms(text), hex, hex.toUpperCase()];
}

/** The part of a text that is the same in each base64 text that holds it: for each of the three places it can begin at. */
function base64Forms(text: string): string[] {
  const parts = [0, 1, 2].map((before) => {
    const whole = Buffer.from(`${"-".repeat(before)}${text}`);
    // A character stands for six bits: those that also hold bits of a neighbour are left out.
    return whole.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
  });
  const alone = Buffer.from(text).toString("base64").replace(/=+$/, "");
  return [alone, ...parts].flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}
