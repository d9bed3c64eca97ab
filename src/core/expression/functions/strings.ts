import { createHash } from "node:crypto";
import { CALLS } from "../../messages/expressions.ts";
import { Refusal } from "../refusal.ts";
import { bool, compareText, elementsOf, isKnown, isWhollyKnown, list, text, unknown } from "../typed-value.ts";
import { CallError, type Definition, integerIn, take, textOf, texts } from "./definition.ts";

// String functions. Characters are counted and mapped as in Terraform.

/** Defines a function of strings that returns a string. */
function ofTexts(names: readonly string[], compute: (...texts: string[]) => string): Definition {
  return {
    parameters: names.map((name) => take(name)),
    result: "string",
    run: (_, ...args) => text(compute(...args.map(textOf))),
  };
}

/** Defines a function of two strings that returns a bool. */
function question(names: readonly string[], ask: (subject: string, part: string) => boolean): Definition {
  return {
    parameters: names.map((name) => take(name)),
    result: "bool",
    run: (_, subject, part) => bool(ask(textOf(subject), textOf(part))),
  };
}

const LARGEST_INDENT = 10_000;

function trim(subject: string, cutset: string): string {
  const cut = new Set(cutset);
  const characters = [...subject];
  const first = characters.findIndex((character) => !cut.has(character));
  const last = characters.findLastIndex((character) => !cut.has(character));
  return first < 0 ? "" : characters.slice(first, last + 1).join("");
}

/** Replaces all occurrences. An empty `part` occurs before, between and after all code points. */
export function replaceText(subject: string, part: string, by: string): string {
  if (part !== "") return subject.split(part).join(by);
  return [...subject].reduce((all, character) => all + character + by, by);
}

const hash = (algorithm: string, encoding: "hex" | "base64"): Definition =>
  ofTexts(["str"], (subject) => createHash(algorithm).update(subject, "utf8").digest(encoding));

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeBase64(subject: string): string {
  // Terraform accepts line breaks anywhere.
  const encoded = subject.replace(/[\r\n]/g, "");
  if (!BASE64.test(encoded)) throw new CallError(CALLS.base64(subject));
  try {
    return utf8.decode(Buffer.from(encoded, "base64"));
  } catch {
    throw new CallError(CALLS.utf8);
  }
}

function urlencode(subject: string): string {
  return encodeURIComponent(subject.toWellFormed())
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

// Terraform's upper, lower and title map one character to one character: "ß" stays. JavaScript's toUpperCase would return
// "SS".

/** Greek letters with iota subscript. Each has one upper-case character, but JavaScript returns several. */
const GREEK_LOWER = /^[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7]$/;
const GREEK_SINGLE: Readonly<Record<string, string>> = { "\u1fb3": "\u1fbc", "\u1fc3": "\u1fcc", "\u1ff3": "\u1ffc" };

/** Letters whose case mapping is newer than Terraform's Unicode version. */
const NEWER =
  /^[\u019b\u0264\u1c89\u1c8a\ua7cb-\ua7cf\ua7d2-\ua7d5\ua7da-\ua7dc\u{10d50}-\u{10d65}\u{10d70}-\u{10d85}\u{16ea0}-\u{16ed3}]$/u;

const TITLE_PAIRS: Readonly<Record<string, string>> = {
  "\u01c4": "\u01c5",
  "\u01c6": "\u01c5",
  "\u01c7": "\u01c8",
  "\u01c9": "\u01c8",
  "\u01ca": "\u01cb",
  "\u01cc": "\u01cb",
  "\u01f1": "\u01f2",
  "\u01f3": "\u01f2",
};
/** Characters that are already in title case. Georgian has no capital letters at the beginning of words. */
const TITLE_SAME = /^[\u01c5\u01c8\u01cb\u01f2\u10d0-\u10fa\u10fd-\u10ff]$/;

function upperOf(character: string): string {
  if (NEWER.test(character)) return character;
  const upper = character.toUpperCase();
  if ([...upper].length === 1) return upper;
  if (GREEK_LOWER.test(character)) return String.fromCharCode(character.charCodeAt(0) + 8);
  return GREEK_SINGLE[character] ?? character;
}

function lowerOf(character: string): string {
  if (NEWER.test(character)) return character;
  return character === "\u0130" ? "i" : character.toLowerCase();
}

function titleOf(character: string): string {
  return TITLE_PAIRS[character] ?? (TITLE_SAME.test(character) ? character : upperOf(character));
}

/** Capitalizes words. In ASCII, every character except letters, digits and `_` separates words; otherwise only spaces do. */
function titleCase(text: string): string {
  let previous = " ";
  return Array.from(text, (character) => {
    const first = separates(previous);
    previous = character;
    return first ? titleOf(character) : character;
  }).join("");
}

const separates = (character: string): boolean =>
  character <= "\x7f" ? !/[0-9A-Za-z_]/.test(character) : SPACE.test(character);

// A character of Terraform is a grapheme cluster.

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[ -~]*$/;

/**
 * Position in a conjunct (Devanagari, Burmese …) where Terraform begins a new character: a letter after a mark or joiner.
 * Newer Unicode versions combine these letters into one character. Four letters count as marks.
 */
const CONJUNCT = /(?<=\p{M}|\u200d|\uff9e|\uff9f)(?!\u0e33|\u0eb3|\uff9e|\uff9f)(?=\p{L})/u;

/** Marks of Unicode 16 and 17. Terraform versions differ in how they combine these. */
const NEWER_MARKS =
  /[\u1acf-\u1add\u1ae0-\u1aeb\u0897\u{10d69}-\u{10d6d}\u{10efa}-\u{10efc}\u{113b8}-\u{113e2}\u{11b60}-\u{11b67}\u{11f5a}\u{1611e}-\u{1612f}\u{1e5ee}-\u{1e5ef}\u{1e6e3}-\u{1e6f5}]/u;

/** Returns the characters of a string (extended grapheme clusters). @throws Refusal if a mark is too new. */
export function charactersOf(text: string): readonly string[] {
  if (ASCII.test(text)) return text.split("");
  if (NEWER_MARKS.test(text)) throw new Refusal(CALLS.marks);
  return Array.from(segmenter.segment(text), ({ segment }) => segment).flatMap((segment) =>
    segment.length > 1 ? segment.split(CONJUNCT) : [segment],
  );
}

/** White space in Terraform. */
const SPACES = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACE = new RegExp(`^[${SPACES}]$`);
const SPACES_AROUND = new RegExp(`^[${SPACES}]+|[${SPACES}]+$`, "g");

export const STRINGS: Readonly<Record<string, Definition>> = {
  base64decode: ofTexts(["str"], decodeBase64),
  base64encode: ofTexts(["str"], (subject) => Buffer.from(subject, "utf8").toString("base64")),
  base64sha256: hash("sha256", "base64"),
  base64sha512: hash("sha512", "base64"),
  chomp: ofTexts(["str"], (subject) => subject.replace(/(?:\r\n?|\n)+$/, "")),
  endswith: question(["str", "suffix"], (subject, suffix) => subject.endsWith(suffix)),

  indent: {
    parameters: [take("spaces", "number"), take("str")],
    result: "string",
    run(_, spaces, subject) {
      const count = integerIn(spaces);
      if (count < 0) throw new CallError(CALLS.size, 0);
      if (count > LARGEST_INDENT) throw new Refusal(CALLS.indent(LARGEST_INDENT));
      return text(textOf(subject).replaceAll("\n", `\n${" ".repeat(count)}`));
    },
  },

  join: {
    parameters: [take("separator")],
    rest: take("lists", { list: "string" }),
    result: "string",
    run(_, separator, ...lists) {
      if (lists.length === 0) throw new CallError(CALLS.least(2));
      if (!lists.every(isWhollyKnown)) return unknown("string");
      const parts = lists.flatMap(elementsOf);
      if (parts.some(({ content }) => content === null)) throw new CallError(CALLS.null_element, 1);
      return text(parts.map(textOf).join(textOf(separator)));
    },
  },

  lower: {
    ...ofTexts(["str"], (subject) => Array.from(subject, lowerOf).join("")),
    parameters: [take("str", "string", "untyped")],
  },
  md5: hash("md5", "hex"),
  sha1: hash("sha1", "hex"),
  sha256: hash("sha256", "hex"),
  sha512: hash("sha512", "hex"),

  sort: {
    parameters: [take("list", { list: "string" }, "unknown")],
    result: { list: "string" },
    run(_, given) {
      if (!isKnown(given)) return unknown({ list: "string" });
      const items = elementsOf(given);
      // Even if elements are unknown, the length of the list is known.
      if (!isWhollyKnown(given)) return list("string", Array(items.length).fill(unknown("string")));
      if (items.some(({ content }) => content === null)) throw new CallError(CALLS.null_element, 0);
      return texts(items.map(textOf).sort(compareText));
    },
  },

  split: {
    parameters: [take("separator"), take("str")],
    result: { list: "string" },
    run: (_, ...args) => {
      const [separator = "", subject = ""] = args.map(textOf);
      return texts(separator === "" ? [...subject] : subject.split(separator));
    },
  },

  /** Even an unknown string starts with an empty prefix. */
  startswith: {
    parameters: [take("str", "string", "unknown"), take("prefix")],
    result: "bool",
    run(_, subject, prefix) {
      const start = textOf(prefix);
      if (!isKnown(subject) && start !== "") return unknown("bool");
      return bool(textOf(subject).startsWith(start));
    },
  },

  strcontains: question(["str", "substr"], (subject, part) => subject.includes(part)),

  strrev: {
    ...ofTexts(["str"], (subject) => [...charactersOf(subject)].reverse().join("")),
    parameters: [take("str", "string", "untyped")],
  },

  substr: {
    parameters: [
      take("str", "string", "untyped"),
      take("offset", "number", "untyped"),
      take("length", "number", "untyped"),
    ],
    result: "string",
    run(_, subject, from, count) {
      const offset = integerIn(from);
      const length = integerIn(count);
      const characters = charactersOf(textOf(subject));
      // Terraform reads length 0 with a negative offset as all characters.
      if (offset >= 0 && length === 0) return text("");
      const start = offset < 0 ? Math.max(offset + characters.length, 0) : offset;
      return text(characters.slice(start, length <= 0 ? undefined : start + length).join(""));
    },
  },

  title: ofTexts(["str"], titleCase),
  trim: ofTexts(["str", "cutset"], trim),
  trimprefix: ofTexts(["str", "prefix"], (subject, prefix) =>
    subject.startsWith(prefix) ? subject.slice(prefix.length) : subject,
  ),
  trimspace: ofTexts(["str"], (subject) => subject.replace(SPACES_AROUND, "")),
  trimsuffix: ofTexts(["str", "suffix"], (subject, suffix) =>
    suffix !== "" && subject.endsWith(suffix) ? subject.slice(0, -suffix.length) : subject,
  ),
  upper: {
    ...ofTexts(["str"], (subject) => Array.from(subject, upperOf).join("")),
    parameters: [take("str", "string", "untyped")],
  },
  urlencode: ofTexts(["str"], urlencode),
};
