/**
 * Normalizes the values in natural keys: names, domains, e-mail addresses, URLs. Matching, differences, adoption and
 * duplicate checks compare normalized values. Requests contain A-labels (`xn--…`). Messages contain the U-label with the
 * A-label.
 */
import { domainToASCII, domainToUnicode } from "node:url";
import { mixture } from "./look-alike.ts";
import type { Json, Value } from "./value.ts";

/** Pattern of texts that are already folded. Avoids work in thousands of comparisons. */
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
 * Returns the text for comparison: NFC, lower case, decoded HTML entities, single spaces. Repeats until nothing changes,
 * because a host may escape a text twice. Undefined if the value is not a string.
 */
export function folded(value: unknown): string | undefined {
  if (typeof value !== "string" || PLAIN_TEXT.test(value)) return typeof value === "string" ? value : undefined;
  const next = value.normalize("NFC").replace(ENTITY, character).toLowerCase().normalize("NFC");
  const plain = next.replace(/\s+/gu, " ").trim();
  return plain === value ? plain : folded(plain);
}

/** Returns a function that compares normalized values. Values that cannot be normalized are never equal. */
export function sameBy(formOf: (value: unknown) => string | undefined): (a: unknown, b: unknown) => boolean {
  return (a, b) => formOf(a) !== undefined && formOf(a) === formOf(b);
}

/** Returns true if two strings have the same folded form (names, words of a fixed set). */
export const sameFolded = sameBy(folded);

/** Pattern of domains that are already normalized. */
const PLAIN_DOMAIN = /^(?:(?!xn--)[a-z\d-]+\.)+(?!xn--)[a-z]{2,}$/;
/** Characters that UTS 46 treats as a dot. */
const DOT = /[.\u3002\uff0e\uff61]/u;
const ENDING = /[\s.\u3002\uff0e\uff61]+$/u;
/** Suffix that prevents the parser from reading a numeric name as an IP address. */
const SUFFIX = ".invalid";

/**
 * Converts a name to A-labels (UTS 46). Undefined if this is impossible, or if the name contains URL characters such as `%`.
 */
function toAscii(name: string): string | undefined {
  if (/[%:/?#@\\[\]\s]/u.test(name)) return undefined;
  return domainToASCII(name + SUFFIX).slice(0, -SUFFIX.length) || undefined;
}

/**
 * Returns a domain for comparison and requests: lower case, A-labels, no trailing dot. If A-labels are impossible: the folded
 * text.
 */
export function foldedDomain(value: unknown): string | undefined {
  const text = folded(value)?.replace(ENDING, "");
  return text === undefined || PLAIN_DOMAIN.test(text) ? text : (toAscii(text) ?? text);
}

export const sameDomain = sameBy(foldedDomain);

/** Rewrites the domain of an e-mail address. A text without `@` is unchanged. */
function withDomain(address: string, rewrite: (domain: string) => string): string {
  const at = address.lastIndexOf("@") + 1;
  return at === 0 ? address : address.slice(0, at) + rewrite(address.slice(at));
}

const domainForm = (domain: string): string => foldedDomain(domain) ?? domain;

/** Returns an e-mail address for comparison, in lower case. */
export function foldedEmail(value: unknown): string | undefined {
  const text = folded(value);
  return text && withDomain(text, domainForm);
}

export const sameEmail = sameBy(foldedEmail);

/** Converts a pattern to a regular expression. Each part between two `*` matches at its first place only, so many `*` stay fast. */
function globOf(glob: string): RegExp {
  const [first, ...rest] = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("?", ".")
    .split(/\*+/);
  const last = rest.length - 1;
  const parts = rest.map((part, at) => (at === last ? `.*${part}` : `(?=(.*?${part}))\\${at + 1}`));
  return new RegExp(`^${first}${parts.join("")}$`, "su");
}

/** Returns the forms of a text for a pattern: folded, and with A-labels. */
const formsOf = (text: unknown) =>
  [folded(text), foldedDomain(text), foldedEmail(text)].filter((form) => form !== undefined);

/**
 * Returns true if a text matches a pattern such as `*.acme.example`. `*` matches any text, `?` one character. Domains of the pattern and
 * of the text may contain A-labels or U-labels.
 */
export function isNameLike(pattern: unknown, text: unknown): boolean {
  const globs = formsOf(pattern).map(globOf);
  // A-labels of a pattern such as `m\u00fc*.example` match no name, so compare U-labels too.
  return formsOf(text).some((form) => globs.some((glob) => glob.test(form) || glob.test(domainToUnicode(form))));
}

/** Returns an e-mail address for requests: the declared local part, and the domain as A-labels. */
export const sentEmail = (address: string): string => withDomain(address.trim(), domainForm);

/**
 * Returns a URL for comparison, as URL parsers write it: `https://a.example` gets the path `/`. Normalizes percent escapes
 * (RFC 3986 6.2.2): `%c3%bc` becomes `%C3%BC`, and `%7e` becomes `~`.
 */
export function normalUrl(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return (URL.parse(value)?.href ?? value).replace(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

export const sameUrl = sameBy(normalUrl);

/** Pattern of URLs in which every parser finds the same host. */
const PLAIN_HOST = /^https?:\/\/(?:[^\s/?#@\\]*@)?[^\s/?#@\\]+(?:[/?#]|$)/i;

/**
 * Returns true if every parser finds the same host in a URL. WHATWG parsers treat `\` as `/` and skip spaces and additional
 * slashes; RFC 3986 parsers do not. `https://a.example\@b.example` therefore has two possible hosts.
 */
export const hasPlainHost = (url: string): boolean => PLAIN_HOST.test(url);

/** Returns a URL for requests: as declared, but a non-ASCII host becomes A-labels. */
export const sentUrl = (url: string): string => (/^[ -~]*$/.test(url) ? url : (URL.parse(url)?.href ?? url));

/** Pattern of masks for secrets: `***`, `xxxx`, `[hidden]`, an ellipsis. */
const MASK =
  /[*#\u2022\u25cf\u2588x]{3,}|-{3,}|_{3,}|\u2026|\.{3}|[[<({](?:removed|secret)[\])>}]|[[<({]?(?:redacted|hidden|filtered|masked)[\])>}]?/giu;

/** Returns true if `shown` is `sent` with masked parts. */
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
 * Returns true if the returned URL has the same target as the sent URL. Scheme, host, port and path must be equal; query and
 * credentials may be missing or masked. In the response to the request, a changed parameter value also counts as masked.
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

/** Returns only letters and digits, without accents. Removes more differences than {@link folded}. */
const bare = memo((name: string) =>
  (folded(name.replace(/&([a-z])(?:acute|caron|cedil|circ|grave|ring|slash|tilde|uml);/gi, "$1")) ?? "")
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]+/gu, ""),
);

/** Shortest name that the host may have cut. A cut at 20 characters may leave a trailing space. */
const SHORTEST_CUT = 19;

/**
 * Returns the beginning of a name that the host may have cut, possibly within an entity. Undefined if the name looks
 * complete.
 */
const cutOf = memo((name: string): string | undefined => {
  const beginning = name.replace(/(?:\u2026|\.{3})\s*$/u, "");
  if (beginning === name && name.trim().length < SHORTEST_CUT) return undefined;
  const cut = bare(beginning.replace(/&[a-z#\d]{0,7}$/i, ""));
  return cut.length < 8 ? undefined : cut;
});

/**
 * Returns true if two names may be the same: equal letters and digits, or the returned name is a prefix with at least 19
 * characters or an ellipsis.
 */
export function similarName(declared: unknown, shown: unknown): boolean {
  if (typeof declared !== "string" || typeof shown !== "string") return false;
  const whole = bare(declared);
  const other = bare(shown);
  if (whole === "" || other === "") return false;
  const cut = cutOf(shown);
  return whole === other || (cut !== undefined && whole.startsWith(cut) && whole.length > cut.length);
}

/** Returns true if two texts may be the same: equal letters and digits, or one is a prefix of the other. */
export function nearText(one: string, other: string): boolean {
  const a = bare(one);
  const b = bare(other);
  return a.startsWith(b) || b.startsWith(a);
}

/** Returns true if two domains differ only in a leading `www.`, which some hosts add or drop. */
export function similarDomain(declared: unknown, shown: unknown): boolean {
  const one = foldedDomain(declared);
  const other = foldedDomain(shown);
  return one !== undefined && other !== undefined && (one === `www.${other}` || other === `www.${one}`);
}

/** Returns true if one value is a prefix or suffix of the other. Case is ignored. */
export function isPart(sent: unknown, shown: unknown): boolean {
  const [short = "", long = ""] = [sent, shown]
    .map((value) => folded(String(value)) ?? "")
    .sort((a, b) => a.length - b.length);
  return short.length > 1 && (long.startsWith(short) || long.endsWith(short));
}

/** Returns true if the returned domain is the sent one in another format: as a URL, with or without `www.`, or shortened. */
export function isDomainForm(sent: unknown, shown: unknown): boolean {
  if (typeof sent !== "string" || typeof shown !== "string") return false;
  const name = shown.replace(/^https?:\/\//i, "").replace(/\/+$/, "");
  if (sameDomain(sent, name) || similarDomain(sent, name)) return true;
  const beginning = (foldedDomain(name) ?? "").replace(/(?:\u2026|\.{3})$/u, "");
  const isCut = cutOf(name) !== undefined;
  return isCut && (foldedDomain(sent) ?? "").startsWith(beginning);
}

/** Caches results, because thousands of names are compared with each other. */
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
 * Returns an object's name for people. International domains and e-mail addresses: U-label with A-label, and a warning mark
 * if the name is confusing. URLs: without secret parts, with both forms of their host.
 */
export function shownName(name: string): string {
  if (/^https?:/i.test(name)) return withForm(openUrl(name), URL.parse(name)?.hostname ?? "", "");
  const at = name.lastIndexOf("@") + 1;
  return withForm(name, foldedDomain(name.slice(at)) ?? "", name.slice(0, at));
}

/** Adds the other label form of a domain. @param user Part before the domain. */
function withForm(name: string, ascii: string, user: string): string {
  const unicode = /(?:^|\.)xn--/.test(ascii) ? domainToUnicode(ascii) : "";
  if (unicode === ascii || unicode === "") return name;
  const isUrl = /^https?:/i.test(name);
  const other = isUrl && name.toLowerCase().includes(ascii) ? unicode : `${user}${ascii}`;
  const mark = mixture(unicode);
  return `${isUrl ? name : `${user}${unicode}`} (${other}${mark === undefined ? "" : `, ${mark}`})`;
}

/** Removes user and query from a URL, because they may contain a token. Other texts are unchanged. */
export const openUrl = (text: string): string =>
  /^https?:/i.test(text) ? text.replace(/\/\/[^/?#]*@/, "//\u2026@").replace(/\?.*$/s, "?\u2026") : text;

/** Returns true for `localhost`, 127.0.0.0/8 and [::1]. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Returns a value as JSON, with {@link openUrl} applied to each string. */
export const openJson = (value: Value): string =>
  JSON.stringify(value, (_, part) => (typeof part === "string" ? openUrl(part) : part));

/** Returns the value with {@link openUrl} applied to each string. */
export const openValue = <V extends Json>(value: V): V => JSON.parse(openJson(value));

/**
 * Returns why a text is not a domain name. Undefined if it is one. Completes `"bad..name" is not a domain name: …`. Contains
 * at most one character of the name, which may be a secret.
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
