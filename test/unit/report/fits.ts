import { expect } from "vitest";
import { widthOf } from "../../../src/report/text-style.ts";

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "" && word !== "#");
/** Two sessions on a busy machine need not wait equally long: "1s" and "3" are no broken words. */
const isTime = (word: string) => /^(?:\d+s?|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))$/.test(word);

/**
 * Text on a terminal: no line is longer than the terminal is wide, except for one word, and each word is one of the text that
 * was not made to fit.
 */
export function expectFit(piped: string, shown: string, width: number): void {
  const tooLong = shown
    .split("\n")
    .filter((line) => widthOf(line) > width && !isCommand(line) && isBreakable(line.trim(), width));
  expect(tooLong).toEqual([]);
  const words = new Set(wordsOf(piped));
  expect(wordsOf(shown).filter((word) => !words.has(word) && !isTime(word))).toEqual([]);
}

/** A command on a line of its own is copied, and stays whole. */
const isCommand = (line: string) => line.startsWith("    hostform ");

/** What is in quotes is copied, and stays whole where it is no longer than a line. */
const isBreakable = (line: string, width: number) => {
  const unquoted = line.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => quoted.replaceAll(" ", "_"));
  return wordsOf(unquoted).length > 1 && wordsOf(unquoted).every((word) => widthOf(word) <= width);
};
