/**
 * Text functions: escaping for output, number formatting, suggestions. Names, messages and values come from the API and from
 * untrusted files: a service name may contain an escape sequence that clears the terminal, and a domain may contain a
 * bidirectional control that disguises it. Invisible characters and controls are printed as `\u001b`.
 */

// Controls (C0, DEL, C1), format characters (bidirectional, zero-width, tags), lone surrogates, separators and other
// invisible characters. Unicode's own classes stay correct with new characters.
const UNSAFE = /(?![ \u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Invisible characters, and characters that look like a normal space. */
export const INVISIBLE = /(?![\n\t \u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Like {@link UNSAFE}, but allows line breaks and tabs. */
const UNSAFE_EXCEPT_BREAKS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Returns the escape sequence of a character, for example `\\u001b`. */
export function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Escapes text for one line: newlines and tabs become `\n` and `\t`, other controls `\u001b`. */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? "\\n" : character === "\t" ? "\\t" : visible(character),
  );
}

/** Escapes multi-line text: newlines and tabs stay (CRLF becomes LF), other controls are escaped. */
export function escapeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSAFE_EXCEPT_BREAKS, visible);
}

/** Returns a quoted single-line string literal for JSON and HCL. */
export function quote(text: string): string {
  return `"${escapeLine(text.replaceAll("\\", "\\\\").replaceAll('"', '\\"'))}"`;
}

/** Joins names for a sentence: `a, b and 3 more`. */
export function some(names: readonly string[], most = 10): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}

/** Returns a number with its noun: `1 order`, `2 orders`. */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Puts a text in shell single quotes, so that its command can be copied safely. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Error about bytes that are not UTF-8. The message completes a sentence and contains the position. */
export class NotUtf8 extends Error {
  /** Encoding problem, for example `not valid UTF-8, but in UTF-16`. */
  readonly what: string;
  /** Line and column of the first invalid byte, starting at 1. The column counts characters. */
  readonly line: number;
  readonly column: number;

  constructor(bytes: Uint8Array, before: string) {
    const lines = before.split(/\r\n|\r|\n/);
    const line = lines.length;
    const column = (lines.at(-1)?.length ?? 0) + 1;
    const [first, second] = bytes;
    const utf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) ? ", but in UTF-16" : "";
    const what = `not valid UTF-8${utf16}`;
    super(`it is ${what} (line ${line}, column ${column})`);
    this.what = what;
    this.line = line;
    this.column = column;
  }
}

/** Decodes UTF-8 bytes to a string. A byte order mark is kept. @throws NotUtf8 */
export function utf8(bytes: Uint8Array): string {
  const decoded = (end: number, whole = false): string | undefined => {
    try {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      return decoder.decode(bytes.subarray(0, end), { stream: !whole });
    } catch {
      return undefined;
    }
  };
  const text = decoded(bytes.length, true);
  if (text !== undefined) return text;
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decoded(middle) === undefined) bad = middle;
    else good = middle;
  }
  throw new NotUtf8(bytes, decoded(good) ?? "");
}

/**
 * Environment variables of CI runners that execute commands in logs: GitHub Actions (also Gitea and Forgejo), Azure
 * Pipelines, TeamCity.
 */
const AGENTS = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"] as const;

/** Returns true if a CI runner reads the output and executes commands in it. */
export function isCiLog(env: Readonly<Record<string, string | undefined>>): boolean {
  return AGENTS.some((name) => Boolean(env[name]));
}

/**
 * Pattern of command prefixes in CI logs: `##[` (GitHub), `##vso[` (Azure) and `##teamcity[` anywhere; `::` (GitHub) after
 * white space and colors. Runners ignore some characters in comparisons, so these may appear in between.
 */
const WEIGHTLESS = String.raw`\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\x00-\x08\x0e-\x1f\x7f-\x9f`;
const COLOUR = String.raw`\x1b\[[\d;]*m`;
/** Line breaks after which `^` matches. Without this exclusion, thousands of consecutive breaks would take seconds. */
const BREAKS = String.raw`\n\r\u2028\u2029`;
const COMMAND = new RegExp(
  String.raw`(#[${WEIGHTLESS}]*#[a-z${WEIGHTLESS}]{0,40})(\[)|^((?:${COLOUR}|(?![${BREAKS}])[\s${WEIGHTLESS}])*:[${WEIGHTLESS}]*)(:)`,
  "gimu",
);

/**
 * Escapes text so that no CI runner executes commands in it. The last character of a command prefix becomes `\u005b` or
 * `\u003a`, which is equivalent in JSON and HCL.
 * @param shown Returns the escape sequence of a character.
 */
export function breakCommands(text: string, shown: (character: string) => string = visible): string {
  return text.replace(COMMAND, (_, hash, bracket, space, colon) => `${hash ?? space}${shown(bracket ?? colon)}`);
}

/** Words without special meaning in a shell. In zsh, a leading `=` has one. */
const PLAIN = /^(?!=)[\p{L}\p{N}_./:@%+,=-]+$/u;
/** Characters that cannot be printed on a line of a message. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Quotes a string for a shell. Safe strings stay unquoted; others get single quotes. Unprintable characters need the
 * `$'a\x0ab'` syntax of bash, ksh and zsh.
 */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  if (!UNPRINTABLE.test(text)) return inQuotes(text);
  const bytes = (character: string) =>
    [...new TextEncoder().encode(character)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  const escaped = [...text].map((one) => (UNPRINTABLE.test(one) || one === "'" || one === "\\" ? bytes(one) : one));
  return `$'${escaped.join("")}'`;
}

/** Quotes a file path for a shell. A path with a leading hyphen gets `./`, because it would start an option. */
export const shellPath = (file: string): string => shellWord(file.startsWith("-") ? `./${file}` : file);

/**
 * Returns JSON that is safe on a terminal. `JSON.stringify` does not escape C1, DEL and bidirectional controls. Only strings
 * contain these, and there `\uXXXX` is equivalent.
 *
 * @param indent Spaces per level. 0: one line (NDJSON).
 */
export function jsonText(value: unknown, indent = 0): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, i) => visible(character.charAt(i))).join(""),
  );
}

/** Returns the candidate that is most similar to `word`. Undefined if none is similar. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // Compare only the name in an address, because all addresses of services begin with the same type.
  const limit = Math.max(1, Math.floor((word.length - word.lastIndexOf(".") - 1) / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns ` Did you mean "plan_id"?` or an empty string, to append to a sentence. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

/** Returns the number of edits (insert, delete, replace, swap) between two words, at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      current.push(least);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? limit;
}

/** Formats a number with grouped digits: `4,000`, in every locale. */
export function formatNumber(value: number, digits?: number): string {
  const format =
    formats.get(digits) ??
    new Intl.NumberFormat("en-US", { minimumFractionDigits: digits ?? 0, maximumFractionDigits: digits ?? 20 });
  formats.set(digits, format);
  return format.format(value);
}

/** Number formats by digits. Cached, because creating a format is slow. */
const formats = new Map<number | undefined, Intl.NumberFormat>();

/**
 * Formats an amount. Without `scale`: `4,000`. With scale 2: `40.00`. The specification does not define the scale (§2 Gaps).
 */
export function formatAmount(amount: number, scale?: number): string {
  if (scale === undefined) return formatNumber(amount);
  // With scale 0, an amount may have a fraction.
  return formatNumber(amount / 10 ** scale, Number.isInteger(amount) ? scale : Math.max(scale, 2));
}

/**
 * Formats money: `4000 (USD, API's unit)`; with scale 2: `40.00 USD`; null: `unknown`. An amount without a scale may be
 * cents, so it must not look like an amount in USD.
 */
export function formatMoney(amount: number | null, currency: string | null, scale?: number): string {
  if (amount === null) return "unknown";
  const of = currency === null ? "" : escapeLine(currency);
  if (scale === undefined) return `${amount} (${of === "" ? "" : `${of}, `}API's unit)`;
  const value = formatAmount(amount, scale);
  return of === "" ? value : `${value} ${of}`;
}

const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** Returns a unique notation of a decimal number: sign, digits without outer zeros, exponent. Undefined for other texts. */
export function canonicalDecimal(text: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(text) ?? [];
  const written = whole + fraction;
  if (written === "") return undefined;
  const digits = written.replace(/0+$/, "");
  const significant = digits.replace(/^0+/, "");
  const power = Number(exponent) - fraction.length + (written.length - digits.length);
  return significant === "" ? "0" : `${sign === "-" ? "-" : ""}${significant}e${power}`;
}

/** A number that JSON keeps as its original text. */
interface RawJson {
  readonly rawJSON: string;
}

/** `JSON.rawJSON` is in all supported Node versions, but not yet in the compiler's library. */
const json = JSON as typeof JSON & {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

export const { rawJSON, isRawJSON } = json;

/** A number with more digits than a JavaScript number can have. `String` and `JSON.stringify` return all digits. */
export class ExactNumber {
  readonly #digits: string;

  constructor(digits: string) {
    this.#digits = digits;
  }

  toString(): string {
    return this.#digits;
  }

  toJSON(): unknown {
    return rawJSON(this.#digits);
  }

  equals(other: unknown): boolean {
    return other instanceof ExactNumber && canonicalDecimal(other.#digits) === canonicalDecimal(this.#digits);
  }
}

/** Converts digits to a JavaScript number. If it cannot have exactly these digits, returns an {@link ExactNumber}. */
export function exactNumber(digits: string): number | ExactNumber {
  const number = Number(digits);
  const isSame = Number.isFinite(number) && canonicalDecimal(String(number)) === canonicalDecimal(digits);
  return isSame ? number : new ExactNumber(digits);
}

/** Pattern of a JSON text with a number that JavaScript may round. */
const LONG = /[\d.]{17}/;

/** Parses a JSON text. Keeps all digits of its numbers. @throws SyntaxError */
export const parseExact = (text: string): unknown =>
  LONG.test(text) ? parseNumbers(text, exactNumber) : JSON.parse(text);

const JSON_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** Returns true if an object of a JSON text has a key twice. Parsers differ in the value that they keep. @param parsed the parsed text. */
export function repeatsKeys(text: string, parsed: unknown): boolean {
  let keys = 0;
  for (const [, colon] of text.matchAll(JSON_STRING)) if (colon !== undefined) keys += 1;
  const open = [parsed];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    const values = Object.values(value);
    if (!Array.isArray(value)) keys -= values.length;
    for (const inner of values) open.push(inner);
  }
  return keys !== 0;
}

/** Parses a JSON text. @param read Converts each number whose text JavaScript would change. @throws SyntaxError */
export function parseNumbers(text: string, read: (digits: string) => unknown): unknown {
  const revive = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === "number" && source !== undefined && source !== String(value) ? read(source) : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** A mistake that zod found. */
interface Issue {
  readonly code?: string | undefined;
  readonly message: string;
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly inclusive?: boolean | undefined;
}

/** Returns the text about the expected value: the schema's own text, or zod's text in hostform's style. */
export function expectation(issue: Issue): string {
  const { code, message, minimum, maximum } = issue;
  if (code === "too_small" && message.startsWith("Too ")) return size("least", minimum, issue);
  if (code === "too_big" && message.startsWith("Too ")) return size("most", maximum, issue);
  const words = message
    .replace(/^Invalid (input|option): /, "")
    .replace(/^expected int, .*/, "expected a whole number")
    .replace(/^expected number, .*/, "expected a number")
    .replace(/^expected boolean, .*/, "expected true or false")
    .replace(/^expected (?:record|object)\b/, "expected map")
    .replace(/^expected array\b/, "expected list");
  return code === "invalid_value" ? words.replaceAll("|", ", ") : words;
}

function size(bound: "least" | "most", limit: Issue["minimum"], { origin, inclusive }: Issue): string {
  if (origin === "string" && bound === "least" && Number(limit) === 1) return "expected a string that is not empty";
  if (origin === "string") return `expected at ${bound} ${limit} characters`;
  if (origin === "array") return `expected at ${bound} ${limit} elements`;
  if (inclusive !== false) return `expected at ${bound} ${limit}`;
  return `expected ${bound === "least" ? "more" : "less"} than ${limit}`;
}
