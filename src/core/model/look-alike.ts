// Finds names that imitate other names: mixed scripts in one label, letters that look Latin, or a name that looks like a
// known name.
import { domainToUnicode } from "node:url";

/** Scripts of domain labels that messages can name. Any other script is `another script`. */
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

/** Scripts that are usually written together (UTS 39, highly restrictive). */
const TOGETHER: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

/**
 * Letters and digits that look like a Latin letter (from the UTS 39 confusables). Each group begins with the Latin letter.
 */
const READS_AS =
  "aаαɑ bЬьв cсϲ dԁ eеҽε gɡց hһհн iіıι1lӏ jјϳ kкκ lӏ mм nոпη oоοօσ0 pрρ qԛ rг sѕ tтτ uսυ vνѵ wԝωшա xхχ yуγү zᴢ";
const LETTERS = new Map(
  READS_AS.split(" ").flatMap(([letter = "", ...others]) => others.map((other) => [other, letter] as const)),
);

/**
 * Returns a form that is equal for names that look alike: `rn` becomes `m`, `0` becomes `o`, `1` and `l` become `i`, accents
 * are removed.
 */
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
 * Returns why the letters of a domain are confusing. Undefined if they are not.
 * @param domain Domain as A-labels, U-labels, or mixed.
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

/** Returns the function that finds the known name that another name imitates. */
export function lookAlikes(known: Iterable<string>): (domain: string) => string | undefined {
  const bySkeleton = new Map<string, string>();
  const names = new Set(known);
  for (const name of names) bySkeleton.set(skeleton(domainToUnicode(name)), name);
  return (domain) => (names.has(domain) ? undefined : bySkeleton.get(skeleton(domainToUnicode(domain))));
}
