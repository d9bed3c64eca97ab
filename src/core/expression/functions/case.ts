// Terraform's upper, lower and title map each character by itself to one character ("ß" stays what it is in upper case),
// where JavaScript maps a text as a whole ("SS").

/** Characters whose upper case JavaScript writes with several, and that have one of their own: the Greek ones with a iota below. */
const GREEK_LOWER = /^[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7]$/;
const GREEK_SINGLE: Readonly<Record<string, string>> = { "\u1fb3": "\u1fbc", "\u1fc3": "\u1fcc", "\u1ff3": "\u1ffc" };

/** Letters that got a partner only in a version of Unicode that is newer than Terraform's tables. */
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
/** Already what a title has: the middle of three forms, and Georgian, which has no capital initials. */
const TITLE_SAME = /^[\u01c5\u01c8\u01cb\u01f2\u10d0-\u10fa\u10fd-\u10ff]$/;

const upperOf = (character: string): string => {
  if (NEWER.test(character)) return character;
  const upper = character.toUpperCase();
  if ([...upper].length === 1) return upper;
  if (GREEK_LOWER.test(character)) return String.fromCharCode(character.charCodeAt(0) + 8);
  return GREEK_SINGLE[character] ?? character;
};

const lowerOf = (character: string): string => {
  if (NEWER.test(character)) return character;
  return character === "\u0130" ? "i" : character.toLowerCase();
};

const titleOf = (character: string): string =>
  TITLE_PAIRS[character] ?? (TITLE_SAME.test(character) ? character : upperOf(character));

export const upperCase = (text: string): string => Array.from(text, upperOf).join("");
export const lowerCase = (text: string): string => Array.from(text, lowerOf).join("");

/** The first letter of each word. What is neither letter nor digit begins a new word in ASCII; outside of it, only spaces do. */
export function titleCase(text: string): string {
  let previous = " ";
  return Array.from(text, (character) => {
    const first = separates(previous);
    previous = character;
    return first ? titleOf(character) : character;
  }).join("");
}

const separates = (character: string): boolean =>
  character <= "\x7f" ? !/[0-9A-Za-z_]/.test(character) : SPACE.test(character);

/** What Terraform takes for a space. */
const SPACE = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;
const SPACES_AROUND =
  /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

export const trimSpace = (text: string): string => text.replace(SPACES_AROUND, "");
