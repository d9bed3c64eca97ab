import { Refusal } from "../refusal.ts";

// A character, as Terraform counts them: what people take for one, however many code points it has.

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[ -~]*$/;

/**
 * Newer versions of Unicode join the consonants of conjuncts (Devanagari, Burmese …) into one character; Terraform's tables do
 * not: behind a mark or a joiner a letter begins the next character. Four letters are marks by their use.
 */
const CONJUNCT = /(?<=[\p{M}\u200d\uff9e\uff9f])(?![\u0e33\u0eb3\uff9e\uff9f])(?=\p{L})/u;

/** Marks of Unicode 16 and 17, which Terraform's tables do not have yet: whether they join depends on its version. */
const NEWER_MARKS =
  /[\u0897\u1acf-\u1add\u1ae0-\u1aeb\u{10d69}-\u{10d6d}\u{10efa}-\u{10efc}\u{113b8}-\u{113e2}\u{11b60}-\u{11b67}\u{11f5a}\u{1611e}-\u{1612f}\u{1e5ee}\u{1e5ef}\u{1e6e3}-\u{1e6f5}]/u;

/** The characters of a text (the extended grapheme clusters of Unicode). @throws Refusal for marks that are too new. */
export function charactersOf(text: string): readonly string[] {
  if (ASCII.test(text)) return text.split("");
  if (NEWER_MARKS.test(text)) throw new Refusal("counting the characters of a text with marks of Unicode 16 is not supported", 0);
  return Array.from(segmenter.segment(text), ({ segment }) => segment).flatMap((segment) =>
    segment.length > 1 ? segment.split(CONJUNCT) : [segment],
  );
}
