/**
 * The one form of each value that natural keys are made of: names, domains, e-mail addresses, URLs. Matching, differences, adoption
 * and duplicates compare these forms. Requests carry domains as A-labels (`xn--…`); people read the U-label with the A-label
 * beside it.
 */
import { domainToASCII, domainToUnicode } from "node:url";
import { mixture } from "./look-alike.ts";
import type { Json, Value } from "./value.ts";

/** Texts that are their own folded form: most are, and thousands are compared. */
const PLAIN_TEXT = /^[!-%'-@[-~]+(?: [!-%'-@[-~]+)*$/;

const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[\da-f]{1,6});/gi;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function character(entity: string): string {
  const name = entity.slice(1, -1).toLowerCase();
  if (!name.startsWith("#")) return NAMED[name] ?? entity;
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0x10ffff ? entity : String.fromCodePoint(code);
}

/**
 * The form in which texts are compared: NFC, lower case, HTML entities as their characters, single blanks. Undefined for
 * anything but a string. A host may escape a text twice, so the form is applied until nothing changes.
 */
export function folded(value: unknown): string | undefined {
  if (typeof value !== "string" || PLAIN_TEXT.test(value)) return typeof value === "string" ? value : undefined;
  const next = value.normalize("NFC").replace(ENTITY, character).toLowerCase().normalize("NFC");
  const plain = next.replace(/\s+/gu, " ").trim();
  return plain === value ? plain : folded(plain);
}

/** Equality of two values that have the same form, if they have one. */
export function sameBy(formOf: (value: unknown) => string | undefined): (a: unknown, b: unknown) => boolean {
  return (a, b) => formOf(a) !== undefined && formOf(a) === formOf(b);
}

/** Equality of texts in their folded form (names, words of a fixed set). */
export const sameFolded = sameBy(folded);

/** Domains that have no other form. */
const PLAIN_DOMAIN = /^(?:(?!xn--)[a-z\d-]+\.)+(?!xn--)[a-z]{2,}$/;
/** The dots that UTS 46 takes for one. */
const DOT = /[.\u3002\uff0e\uff61]/u;
const ENDING = /[\s.\u3002\uff0e\uff61]+$/u;
/** Keeps a name of numbers from being read as an IP address. */
const SUFFIX = ".invalid";

/** The A-labels of a name, by UTS 46; undefined where it has none. A URL's other parts and percent signs are no part of a name. */
function toAscii(name: string): string | undefined {
  if (/[%:/?#@\\[\]\s]/u.test(name)) return undefined;
  return domainToASCII(name + SUFFIX).slice(0, -SUFFIX.length) || undefined;
}

/** The form in which domains are compared and sent: lower case, A-labels, without the root's dot. A text without such a form is folded. */
export function foldedDomain(value: unknown): string | undefined {
  const text = folded(value)?.replace(ENDING, "");
  return text === undefined || PLAIN_DOMAIN.test(text) ? text : (toAscii(text) ?? text);
}

export const sameDomain = sameBy(foldedDomain);

/** Rewrites the domain of an e-mail address; a text without an `@` stays as it is. */
function withDomain(address: string, rewrite: (domain: string) => string): string {
  const at = address.lastIndexOf("@") + 1;
  return at === 0 ? address : address.slice(0, at) + rewrite(address.slice(at));
}

const domainForm = (domain: string): string => foldedDomain(domain) ?? domain;

/** The form in which e-mail addresses are compared: a change of case is no change. */
export function foldedEmail(value: unknown): string | undefined {
  const text = folded(value);
  return text && withDomain(text, domainForm);
}

export const sameEmail = sameBy(foldedEmail);

/** The form in which an e-mail address is sent: the local part as it is declared, the domain as A-labels. */
export const sentEmail = (address: string): string => withDomain(address.trim(), domainForm);

/**
 * The form in which URLs are compared: as every URL parser writes it (`https://a.example` has the path `/`), with percent escapes
 * as RFC 3986 6.2.2 normalizes them: `%c3%bc` is `%C3%BC`, and `%7e` is `~`.
 */
export function normalUrl(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return (URL.parse(value)?.href ?? value).replace(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

export const sameUrl = sameBy(normalUrl);

/** A URL with one host between `//` and the path, perhaps behind credentials. */
const PLAIN_HOST = /^https?:\/\/(?:[^\s/?#@\\]*@)?[^\s/?#@\\]+(?:[/?#]|$)/i;

/**
 * Returns true for a URL whose host is the same to every parser. WHATWG's takes `\` for `/`, and passes over blanks and further
 * slashes; those of RFC 3986 do not, so `https://a.example\@b.example` leads to either.
 */
export const hasPlainHost = (url: string): boolean => PLAIN_HOST.test(url);

/** The form in which a URL is sent: as it is declared, a host in other letters as A-labels. */
export const sentUrl = (url: string): string => (/^[ -~]*$/.test(url) ? url : (URL.parse(url)?.href ?? url));

/** Characters in place of a secret: `***`, `xxxx`, `[hidden]`, an ellipsis. */
const MASK =
  /[*#\u2022\u25cf\u2588x]{3,}|-{3,}|_{3,}|\u2026|\.{3}|[[<({](?:removed|secret)[\])>}]|[[<({]?(?:redacted|hidden|filtered|masked)[\])>}]?/giu;

/** Returns true if a text is the sent one, parts of it masked. */
function isMasked(sent: string, shown: string): boolean {
  const [first = "", ...others] = shown.split(MASK);
  const last = others.pop();
  if (last === undefined) return sent === shown;
  let at = first.length;
  for (const part of others) {
    const found = sent.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return sent.startsWith(first) && sent.endsWith(last) && at <= sent.length - last.length;
}

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * Returns true if a shown URL leads where the sent one does: scheme, host, port and path are equal, and what remains of its query
 * and credentials is equal or masked. In the answer to the request, any value of a sent parameter and any word without a value
 * is a mask.
 */
export function isSameTarget(sent: unknown, shown: unknown, isAnswer = false): boolean {
  const from = URL.parse(String(sent));
  const to = URL.parse(String(shown));
  if (from === null || to === null || from.protocol !== to.protocol || from.host !== to.host) return false;
  const path = ({ pathname }: URL) => decoded(pathname).replace(/\/+$/, "");
  if (!isMasked(path(from), path(to))) return false;
  const left = [...from.searchParams];
  const isQuery = [...to.searchParams].every(([name, value]) => {
    const at = left.findIndex(([own, whole]) => own === name && (isAnswer || isMasked(whole, value)));
    if (at >= 0) left.splice(at, 1);
    return at >= 0 || (value === "" && from.search !== "" && (isAnswer || isMasked(from.search, name)));
  });
  const isUser = (["username", "password"] as const).every(
    (part) => to[part] === "" || isMasked(decoded(from[part]), decoded(to[part])),
  );
  return isQuery && isUser;
}

/** Letters and digits alone, without accents: for names that a host rewrites further than {@link folded} undoes. */
const bare = memo((name: string) =>
  (folded(name.replace(/&([a-z])(?:acute|caron|cedil|circ|grave|ring|slash|tilde|uml);/gi, "$1")) ?? "")
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]+/gu, ""),
);

/** The shortest name, as the host shows it, that may be a longer one cut off: a limit of 20 may leave a blank at the end. */
const SHORTEST_CUT = 19;

/** The beginning of a name that a host may have cut, maybe within an entity; undefined where it shows no sign of a cut. */
const cutOf = memo((name: string): string | undefined => {
  const beginning = name.replace(/(?:\u2026|\.{3})\s*$/u, "");
  if (beginning === name && name.trim().length < SHORTEST_CUT) return undefined;
  const cut = bare(beginning.replace(/&[a-z#\d]{0,7}$/i, ""));
  return cut.length < 8 ? undefined : cut;
});

/**
 * Returns true for two names, different in their folded form, that may be one: they have the same letters and digits, or the
 * shown one is the beginning of the declared one, of at least 19 characters or with an ellipsis.
 */
export function similarName(declared: unknown, shown: unknown): boolean {
  if (typeof declared !== "string" || typeof shown !== "string") return false;
  const whole = bare(declared);
  const other = bare(shown);
  if (whole === "" || other === "") return false;
  const cut = cutOf(shown);
  return whole === other || (cut !== undefined && whole.startsWith(cut) && whole.length > cut.length);
}

/** Returns true for two texts that may be one: they have the same letters and digits, or one begins with the other. */
export function nearText(one: string, other: string): boolean {
  const a = bare(one);
  const b = bare(other);
  return a.startsWith(b) || b.startsWith(a);
}

/** Returns true for two domains that differ in a leading `www.` alone, which some hosts add or drop. */
export function similarDomain(declared: unknown, shown: unknown): boolean {
  const one = foldedDomain(declared);
  const other = foldedDomain(shown);
  return one !== undefined && other !== undefined && (one === `www.${other}` || other === `www.${one}`);
}

/** Returns true if one of two values is the beginning or the end of the other, in whatever case. */
export function isPart(sent: unknown, shown: unknown): boolean {
  const [short = "", long = ""] = [sent, shown]
    .map((value) => folded(String(value)) ?? "")
    .sort((a, b) => a.length - b.length);
  return short.length > 1 && (long.startsWith(short) || long.endsWith(short));
}

/** Returns true for a shown domain that is another notation of the sent one: as a URL, with or without `www.`, or cut. */
export function isDomainForm(sent: unknown, shown: unknown): boolean {
  if (typeof sent !== "string" || typeof shown !== "string") return false;
  const name = shown.replace(/^https?:\/\//i, "").replace(/\/+$/, "");
  if (sameDomain(sent, name) || similarDomain(sent, name)) return true;
  const beginning = (foldedDomain(name) ?? "").replace(/(?:\u2026|\.{3})$/u, "");
  const isCut = cutOf(name) !== undefined;
  return isCut && (foldedDomain(sent) ?? "").startsWith(beginning);
}

/** Each of thousands of names is compared with each other one. */
function memo<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = compute(text);
    if (known.size < 20_000) known.set(text, made);
    return made;
  };
}

/**
 * The name of an object for people: an international domain or e-mail address as its U-label, with the A-label beside it and a mark
 * if the name is easily mistaken for another one; a URL without the parts that may be secret, with the other form of its host.
 */
export function shownName(name: string): string {
  if (/^https?:/i.test(name)) return withForm(openUrl(name), URL.parse(name)?.hostname ?? "", "");
  const at = name.lastIndexOf("@") + 1;
  return withForm(name, foldedDomain(name.slice(at)) ?? "", name.slice(0, at));
}

/** @param user the part in front of a domain; a text that is only both gets its U-label. */
function withForm(name: string, ascii: string, user: string): string {
  const unicode = /(?:^|\.)xn--/.test(ascii) ? domainToUnicode(ascii) : "";
  if (unicode === ascii || unicode === "") return name;
  const isUrl = /^https?:/i.test(name);
  const other = isUrl && name.toLowerCase().includes(ascii) ? unicode : `${user}${ascii}`;
  const mark = mixture(unicode);
  return `${isUrl ? name : `${user}${unicode}`} (${other}${mark === undefined ? "" : `, ${mark}`})`;
}

/** A URL without its user and its query, which may hold a token. Any other text stays as it is. */
export const openUrl = (text: string): string =>
  /^https?:/i.test(text) ? text.replace(/\/\/[^/?#]*@/, "//\u2026@").replace(/\?.*$/s, "?\u2026") : text;

/** A value as JSON, each URL in it without these parts. */
export const openJson = (value: Value): string =>
  JSON.stringify(value, (_, part) => (typeof part === "string" ? openUrl(part) : part));

/** The same as a value. */
export const openValue = <V extends Json>(value: V): V => JSON.parse(openJson(value));

/**
 * The reason why a text is no name that a domain or a website can have; undefined for one that is. The sentence completes
 * `"bad..name" is not a domain name: …`, and holds no part of the name, which may be a secret, but one character.
 */
export function domainProblem(text: string): string | undefined {
  const labels = text.split(DOT);
  if (labels.length > 1 && labels.at(-1) === "") labels.pop();
  const name = labels.join(".");
  if (name === "") return "it is empty";
  if (labels.includes("")) return "it has an empty label";
  if (labels.length < 2) return "it has one label, and a domain name has at least two";
  if (name.includes("*")) return "it has a wild card";
  if (name.includes("_")) return "it has an underscore, which no host name has";
  const [other] = /[^\p{L}\p{M}\p{N}.\u00b7\u0375\u05f3\u05f4\u30fb-]/u.exec(name) ?? [];
  if (other !== undefined) return `it has the character ${JSON.stringify(other)}`;
  const ascii = toAscii(name)?.split(".");
  if (ascii === undefined) return "its letters have no form for the domain name system (UTS 46)";
  const hyphen = [...labels, ...ascii].find((label) => label.startsWith("-") || label.endsWith("-"));
  if (hyphen !== undefined) return "one of its labels begins or ends with a hyphen";
  const long = ascii.find((label) => label.length > 63);
  if (long !== undefined) return `one of its labels has ${long.length} characters, and 63 are allowed`;
  if (ascii.join(".").length > 253) return `it has ${ascii.join(".").length} characters, and 253 are allowed`;
  const unreadable = ascii.find(
    (label) => label.startsWith("xn--") && domainToUnicode(label + SUFFIX).startsWith(label),
  );
  if (unreadable !== undefined) return "one of its labels begins with xn-- and is no A-label";
  const last = ascii.at(-1) ?? "";
  if (/^\d+$/.test(last)) return "its last label is a number, as in an IP address";
  return last.length < 2 ? "its last label is a single letter" : undefined;
}
