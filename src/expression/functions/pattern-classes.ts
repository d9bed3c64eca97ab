/** Code points: pairs of first and last, both included. */
export type Ranges = readonly (readonly [first: number, last: number])[];

const LAST = 0x10ffff;
const of = (first: string, last = first): readonly [number, number] => [
  first.codePointAt(0) ?? 0,
  last.codePointAt(0) ?? 0,
];

const DIGIT: Ranges = [of("0", "9")];
const UPPER: Ranges = [of("A", "Z")];
const LOWER: Ranges = [of("a", "z")];
const WORD: Ranges = [...DIGIT, ...UPPER, of("_"), ...LOWER];

/** `\d`, `\s`, `\w`: ASCII only. */
export const PERL: Readonly<Record<string, Ranges>> = {
  d: DIGIT,
  s: [of("\t", "\n"), of("\f", "\r"), of(" ")],
  w: WORD,
};

/** `[:alpha:]` and so on: ASCII only. */
export const POSIX: Readonly<Record<string, Ranges>> = {
  alnum: [...DIGIT, ...UPPER, ...LOWER],
  alpha: [...UPPER, ...LOWER],
  ascii: [[0, 0x7f]],
  blank: [of("\t"), of(" ")],
  cntrl: [
    [0, 0x1f],
    [0x7f, 0x7f],
  ],
  digit: DIGIT,
  graph: [of("!", "~")],
  lower: LOWER,
  print: [of(" ", "~")],
  punct: [of("!", "/"), of(":", "@"), of("[", "`"), of("{", "~")],
  space: [of("\t", "\r"), of(" ")],
  upper: UPPER,
  word: WORD,
  xdigit: [...DIGIT, of("A", "F"), of("a", "f")],
};

export const ALL: Ranges = [[0, LAST]];
export const ALL_BUT_LINE_FEED: Ranges = [
  [0, 9],
  [11, LAST],
];

export function holds(ranges: Ranges, point: number): boolean {
  return ranges.some(([first, last]) => first <= point && point <= last);
}

export function negated(ranges: Ranges): Ranges {
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (first > next) gaps.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  return next > LAST ? gaps : [...gaps, [next, LAST]];
}

/** Two letters beyond ASCII are the same as one of it when case does not matter: the Kelvin sign and the long s. */
const BEYOND: Readonly<Record<string, number>> = { k: 0x212a, s: 0x17f };

/** With the other case of each letter; undefined when something beyond ASCII is in it, for which there are no tables here. */
export function folded(ranges: Ranges): Ranges | undefined {
  if (ranges.some(([, last]) => last > 0x7f)) return undefined;
  const added: (readonly [number, number])[] = [];
  for (const letter of "abcdefghijklmnopqrstuvwxyz") {
    const upper = letter.toUpperCase();
    if (!holds(ranges, letter.charCodeAt(0)) && !holds(ranges, upper.charCodeAt(0))) continue;
    added.push(of(letter), of(upper));
    const beyond = BEYOND[letter];
    if (beyond !== undefined) added.push([beyond, beyond]);
  }
  return [...ranges, ...added];
}
