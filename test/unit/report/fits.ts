import { expect } from "vitest";
import { widthOf } from "../../../src/report/text-style.ts";

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "" && word !== "#");
/** True for a duration. Two sessions may wait differently long, so their durations may differ. */
const isTime = (word: string) => /^(?:\d+s?|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))$/.test(word);

/**
 * Fails if a line is longer than the terminal and has several words, or if a word does not occur in the unwrapped text.
 */
export function expectFit(piped: string, shown: string, width: number): void {
  const tooLong = shown
    .split("\n")
    .filter((line) => widthOf(line) > width && !isCommand(line) && isBreakable(line.trim(), width));
  expect(tooLong).toEqual([]);
  const words = new Set(wordsOf(piped));
  expect(wordsOf(shown).filter((word) => !words.has(word) && !isTime(word))).toEqual([]);
}

/** True for a command on its own line. hostform never wraps such a line, because users copy it. */
const isCommand = (line: string) => line.startsWith("    hostform ");

/**
 * True if a line can be wrapped. hostform does not break text in quotes that fits into one line, because users copy
 * it.
 */
const isBreakable = (line: string, width: number) => {
  const unquoted = line.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => quoted.replaceAll(" ", "_"));
  return wordsOf(unquoted).length > 1 && wordsOf(unquoted).every((word) => widthOf(word) <= width);
};
