import { Refusal } from "../refusal.ts";

// A character, as Terraform counts them: what people take for one, however many code points it has.

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[ -~]*$/;

/**
 * Newer versions of Unicode join the consonants of conjuncts (Devanagari, Burmese …) into one character; Terraform's tables do
 * not: behind a mark or a joiner a letter begins the next character. Four letters are marks by their use.
 */
const CONJUNCT = /(?<=\p{M}|\u200d|\uff9e|\uff9f)(?!\u0e33|\u0eb3|\uff9e|\uff9f)(?=\p{L})/u;

/** Marks of Unicode 16 and 17, which Terraform's tables do not have yet: whether they join depends on its version. */
const NEWER_MARKS: readonly (readonly [first: number, last: number])[] = [
  [0x897, 0x897],
  [0x1acf, 0x1add],
  [0x1ae0, 0x1aeb],
  [0x10d69, 0x10d6d],
  [0x10efa, 0x10efc],
  [0x113b8, 0x113e2],
  [0x11b60, 0x11b67],
  [0x11f5a, 0x11f5a],
  [0x1611e, 0x1612f],
  [0x1e5ee, 0x1e5ef],
  [0x1e6e3, 0x1e6f5],
];

function isNewerMark(character: string): boolean {
  const point = character.codePointAt(0) ?? 0;
  return NEWER_MARKS.some(([first, last]) => first <= point && point <= last);
}

/** The characters of a text (the extended grapheme clusters of Unicode). @throws Refusal for marks that are too new. */
export function charactersOf(text: string): readonly string[] {
  if (ASCII.test(text)) return text.split("");
  if (Array.from(text).some(isNewerMark))
    throw new Refusal("counting the characters of a text with marks of Unicode 16 is not supported", 0);
  return Array.from(segmenter.segment(text), ({ segment }) => segment).flatMap((segment) =>
    segment.length > 1 ? segment.split(CONJUNCT) : [segment],
  );
}
