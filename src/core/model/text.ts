/**
 * Texts: made safe to print, formatted numbers, the nearest word. This is the one place where text from elsewhere becomes safe to
 * print. Names, messages and values come from the API and from files of others: a service name may hold an escape sequence that
 * clears the terminal, a domain a bidirectional control that makes it read as another. Invisible characters and controls are
 * shown as `\u001b`.
 */

// Controls (C0, DEL, C1), formats (bidirectional, zero-width, tags), lone surrogates, line and paragraph separators and
// whatever else a font draws as nothing. Unicode's own classes, so that no list here grows old.
const UNSAFE = /(?![ \u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Characters that a reader cannot see or takes for a usual space: no-break and thin spaces among them. */
export const INVISIBLE = /(?![\n\t \u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Whatever is unsafe in a text of several lines. */
const UNSAFE_EXCEPT_BREAKS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** A character by its code: `\\u001b`. */
export function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Text that must stay on one line: newlines and tabs are shown as `\n` and `\t`, other controls as `\u001b`. */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? "\\n" : character === "\t" ? "\\t" : visible(character),
  );
}

/** Text that may run over several lines: newlines and tabs stay (CRLF becomes LF), other controls are shown. */
export function escapeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSAFE_EXCEPT_BREAKS, visible);
}

/** A string as a quoted literal on one line, as JSON and HCL write it. */
export function quote(text: string): string {
  return `"${escapeLine(text.replaceAll("\\", "\\\\").replaceAll('"', '\\"'))}"`;
}

/** `a, b and 3 more`: names in a sentence. */
export function some(names: readonly string[], most = 10): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}

/** `1 order`, `2 orders`. */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** A text in the single quotes of a shell: the command that it stands in can be copied, whatever is in it. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Bytes that are no text in UTF-8; the message names the place, and ends a sentence. */
export class NotUtf8 extends Error {
  /** `not valid UTF-8, but in UTF-16` */
  readonly what: string;
  /** Place of the first invalid byte, from 1; the column in characters. */
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

/** The text of bytes in UTF-8, with its byte order mark if it has one. @throws NotUtf8 */
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

/** Set by GitHub Actions (Gitea's and Forgejo's too), Azure Pipelines and TeamCity, whose agents act on what a log says. */
const AGENTS = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"] as const;

/** Returns true if an agent of a CI reads the output, and takes some of it as commands. */
export function isCiLog(env: Readonly<Record<string, string | undefined>>): boolean {
  return AGENTS.some((name) => Boolean(env[name]));
}

/**
 * What the agent of a CI acts on when it reads a line of a log: `##[` (GitHub), `##vso[` (Azure) and `##teamcity[` wherever
 * they stand, `::` (GitHub) behind white space and colours. Agents compare texts as a language does, so that characters
 * which weigh nothing may stand in between.
 */
const WEIGHTLESS = String.raw`\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\x00-\x08\x0e-\x1f\x7f-\x9f`;
const COLOUR = String.raw`\x1b\[[\d;]*m`;
/** Whatever a line begins after (`^`). Were it white space of the next line as well, thousands in a row would take seconds. */
const BREAKS = String.raw`\n\r\u2028\u2029`;
const COMMAND = new RegExp(
  String.raw`(#[${WEIGHTLESS}]*#[a-z${WEIGHTLESS}]{0,40})(\[)|^((?:${COLOUR}|(?![${BREAKS}])[\s${WEIGHTLESS}])*:[${WEIGHTLESS}]*)(:)`,
  "gimu",
);

/**
 * A text that no agent of a CI acts on, whatever stands in it: the last character of what begins a command is shown as
 * `\u005b` or `\u003a`, which means the same within JSON and HCL.
 * @param shown how that character is shown.
 */
export function breakCommands(text: string, shown: (character: string) => string = visible): string {
  return text.replace(COMMAND, (_, hash, bracket, space, colon) => `${hash ?? space}${shown(bracket ?? colon)}`);
}

/** Words that mean themselves to a shell. A `=` in front names a command to zsh. */
const PLAIN = /^(?!=)[\p{L}\p{N}_./:@%+,=-]+$/u;
/** Characters that a line of a message cannot hold. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * A word as a shell takes it literally: as it is where it may be, else in single quotes; one that cannot be printed in the quotes
 * of bash, ksh and zsh that know escapes, byte for byte (`$'a\x0ab'`).
 */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  if (!UNPRINTABLE.test(text)) return inQuotes(text);
  const bytes = (character: string) =>
    [...new TextEncoder().encode(character)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  const escaped = [...text].map((one) => (UNPRINTABLE.test(one) || one === "'" || one === "\\" ? bytes(one) : one));
  return `$'${escaped.join("")}'`;
}

/** A file as such a word. One that begins with a hyphen would be an option. */
export const shellPath = (file: string): string => shellWord(file.startsWith("-") ? `./${file}` : file);

/**
 * A JSON document whose text is safe on a terminal too. `JSON.stringify` leaves C1, DEL and bidirectional controls as
 * they are; they can stand in strings only, where `\uXXXX` means the same.
 *
 * @param indent spaces for each level; 0 gives one line (NDJSON).
 */
export function jsonText(value: unknown, indent = 0): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, i) => visible(character.charAt(i))).join(""),
  );
}

/** The candidate that `word` most probably was meant to be, or undefined when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // Only the name of an address counts: all services begin alike, which says nothing about distance.
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

/** ` Did you mean "plan_id"?` or an empty string: appended to a sentence. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

/** Edits (insert, delete, replace, swap of neighbours) between two words; gives up at `limit`. */
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

/** `4,000`: digits in groups, the same in every locale. */
export function formatNumber(value: number, digits?: number): string {
  const format =
    formats.get(digits) ??
    new Intl.NumberFormat("en-US", { minimumFractionDigits: digits ?? 0, maximumFractionDigits: digits ?? 20 });
  formats.set(digits, format);
  return format.format(value);
}

/** By digits: to make one takes longer than to use it a hundred times. */
const formats = new Map<number | undefined, Intl.NumberFormat>();

/** An amount in the API's own unit (§2 Gaps: its scale is not specified): `4,000`; with a scale of 2 `40.00`. */
export function formatAmount(amount: number, scale?: number): string {
  if (scale === undefined) return formatNumber(amount);
  // Amounts in the currency itself may have a fraction.
  return formatNumber(amount / 10 ** scale, Number.isInteger(amount) ? scale : Math.max(scale, 2));
}

/**
 * `4000 (USD, API's unit)`; with a scale of 2: `40.00 USD`; null is `unknown`. Without a scale it may be cents: such an amount
 * must not read as one of the currency.
 */
export function formatMoney(amount: number | null, currency: string | null, scale?: number): string {
  if (amount === null) return "unknown";
  const of = currency === null ? "" : escapeLine(currency);
  if (scale === undefined) return `${amount} (${of === "" ? "" : `${of}, `}API's unit)`;
  const value = formatAmount(amount, scale);
  return of === "" ? value : `${value} ${of}`;
}

const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** The one notation of a decimal number: sign, digits without zeros at either end, exponent. Undefined for other text. */
export function canonicalDecimal(text: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(text) ?? [];
  const written = whole + fraction;
  if (written === "") return undefined;
  const digits = written.replace(/0+$/, "");
  const significant = digits.replace(/^0+/, "");
  const power = Number(exponent) - fraction.length + (written.length - digits.length);
  return significant === "" ? "0" : `${sign === "-" ? "-" : ""}${significant}e${power}`;
}

/** A number kept as the text it was written in. */
interface RawJson {
  readonly rawJSON: string;
}

/** Standard since ES2026 and present in every Node that hostform runs on; the compiler's library lacks them still. */
const json = JSON as typeof JSON & {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

export const { rawJSON, isRawJSON } = json;

/** A number with more digits than a JavaScript number has. `String` and `JSON.stringify` write all of them. */
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

/** Returns the JavaScript number with this decimal notation, if there is one. */
export function exactNumber(digits: string): number | ExactNumber {
  const number = Number(digits);
  const isSame = Number.isFinite(number) && canonicalDecimal(String(number)) === canonicalDecimal(digits);
  return isSame ? number : new ExactNumber(digits);
}

/** Pattern of a number that JavaScript may round. */
const LONG = /[\d.]{17}/;

/** The value of a JSON text with all digits of its numbers. @throws SyntaxError */
export const parseExact = (text: string): unknown =>
  LONG.test(text) ? parseNumbers(text, exactNumber) : JSON.parse(text);

/** Parses a JSON text. @param read converts each number that JavaScript writes in another way. @throws SyntaxError */
export function parseNumbers(text: string, read: (digits: string) => unknown): unknown {
  const revive = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === "number" && source !== undefined && source !== String(value) ? read(source) : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}
