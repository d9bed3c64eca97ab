// Names that read like another one: letters of several scripts in one label, letters that only look Latin, or a known name in disguise.
import { domainToUnicode } from "node:url";

/** Scripts that a domain label can be of. A letter of any other script counts as `another script`. */
const SCRIPTS = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Armenian",
  "Georgian",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Thai",
  "Han",
  "Hiragana",
  "Katakana",
  "Bopomofo",
  "Hangul",
  "Cherokee",
  "Coptic",
] as const;
const PATTERNS = SCRIPTS.map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const);

/** Scripts that are written together (UTS 39, highly restrictive). */
const TOGETHER: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

/** Letters and digits that read as a Latin letter (from the confusables of UTS 39), each group behind its letter. */
const READS_AS =
  "aаαɑ bЬьв cсϲ dԁ eеҽε gɡց hһհн iіıι1lӏ jјϳ kкκ lӏ mм nոпη oоοօσ0 pрρ qԛ rг sѕ tтτ uսυ vνѵ wԝωшա xхχ yуγү zᴢ";
const LETTERS = new Map(
  READS_AS.split(" ").flatMap(([letter = "", ...others]) => others.map((other) => [other, letter] as const)),
);

/** The form in which names are compared by their looks: `rn` reads as `m`, `0` as `o`, `1` and `l` as `i`, accents are dropped. */
export const skeleton = (name: string): string =>
  [...name.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "")]
    .map((letter) => LETTERS.get(letter) ?? letter)
    .join("")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");

const scriptsOf = (label: string): string[] => {
  const found = [...label].flatMap((letter) => {
    if (!/\p{L}/u.test(letter) || /\p{Script=Common}/u.test(letter)) return [];
    return PATTERNS.find(([, pattern]) => pattern.test(letter))?.[0] ?? "another script";
  });
  return [...new Set(found)];
};

/**
 * The reason why a domain is easily mistaken for another one, judged by its own letters; undefined if nothing is suspicious.
 * @param domain its A-labels, its U-labels, or both.
 */
export function mixture(domain: string): string | undefined {
  for (const label of domainToUnicode(domain).split(".")) {
    if (/^[ -~]*$/.test(label)) continue;
    const scripts = scriptsOf(label);
    const isUsual = scripts.length < 2 || TOGETHER.some((usual) => scripts.every((one) => usual.includes(one)));
    if (!isUsual) return `mixed scripts: ${scripts.join(" and ")}`;
    if (scripts[0] !== "Latin" && /^[a-z\d-]+$/.test(skeleton(label))) return `${scripts[0]} letters that look Latin`;
  }
  return undefined;
}

/** Finds names that look like a known one and are another. */
export function lookAlikes(known: Iterable<string>): (domain: string) => string | undefined {
  const bySkeleton = new Map<string, string>();
  const names = new Set(known);
  for (const name of names) bySkeleton.set(skeleton(domainToUnicode(name)), name);
  return (domain) => (names.has(domain) ? undefined : bySkeleton.get(skeleton(domainToUnicode(domain))));
}
