/** Tests or lines of code prove each sentence of docs/limitations.md. The table in limitations.md names them. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { KNOWN_ELSEWHERE } from "../../src/core/expression/functions/index.ts";
import { root } from "./markdown.ts";

/** `[title](x.test.ts)`, `[/pattern/](x.ts)` or `[no /pattern/](x.ts)`. */
const LINK = /\[((?:[^[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)/g;

const read = (file: string) => readFileSync(file, "utf8");
const page = read(path.join(root, "docs/limitations.md"));
const table = read(path.join(import.meta.dirname, "limitations.md"));

const rows = table
  .split("\n")
  .filter((line) => /^\| (?!---|sentences )/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, quotes = "", evidence = ""]) => ({ quotes: quotes.split(" … "), evidence }));

/** Returns the sentences of the page's lists, without links and emphasis. */
function sentencesOf(text: string): string[] {
  const items: string[][] = [];
  for (const line of text.split("\n")) {
    if (/^(?:- |\d+\. )/.test(line)) items.push([line.replace(/^\S+ /, "")]);
    else if (/^\s+\S/.test(line)) items.at(-1)?.push(line.trim());
    else if (!/^$|^#|:$/.test(line)) items.push([line]);
  }
  return items.flatMap((lines) =>
    lines
      .join(" ")
      .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
      .replaceAll("**", "")
      .split(/(?<=[.!?])\s+/),
  );
}

const sentences = sentencesOf(page);

/**
 * Returns the wrong parts of a row's evidence: links whose file lacks the test or the pattern, and evidence that is
 * not a list of links.
 */
function missing(evidence: string): string[] {
  const links = [...evidence.matchAll(LINK)];
  const isHeld = ([, text = "", link = ""]: RegExpExecArray) => {
    const file = path.resolve(import.meta.dirname, link);
    if (!existsSync(file)) return false;
    if (file.endsWith(".test.ts")) return ['"', "`"].some((mark) => read(file).includes(`${mark}${text}${mark}`));
    const [, no, pattern] = /^(no )?\/(.+)\/$/.exec(text) ?? [];
    return pattern !== undefined && new RegExp(pattern, "m").test(read(file)) === (no === undefined);
  };
  const isOnlyLinks = /^link(?:, link)*$/.test(evidence.replace(LINK, "link"));
  return [...links.filter((link) => !isHeld(link)).map(([text]) => text), ...(isOnlyLinks ? [] : [evidence])];
}

describe("docs/limitations.md", () => {
  it("has a row for each sentence", () => {
    const quotes = rows.flatMap((row) => row.quotes);
    expect(sentences.length).toBeGreaterThan(100);
    expect(sentences.filter((sentence) => !quotes.some((quote) => sentence.includes(quote)))).toEqual([]);
  });

  it("has one sentence for each quote of a row", () => {
    const quotes = rows.flatMap((row) => row.quotes);
    expect(quotes.filter((quote) => sentences.filter((one) => one.includes(quote)).length !== 1)).toEqual([]);
  });

  it.each(rows)("has correct evidence for: $quotes.0", ({ evidence }) => {
    expect(missing(evidence)).toEqual([]);
  });

  it.each([
    "",
    "[is no test](limitations.test.ts)",
    "[/is gone from here/](../../docs/limitations.md)",
    "[has a row for each sentence](limitations.test.ts), [/# Limitations/](../../docs/limitations.md) and more",
  ])("is not held by %j", (evidence) => {
    expect(missing(evidence)).toHaveLength(1);
  });

  it("names each function that hostform refuses", () => {
    const named = [...page.matchAll(/`([a-z0-9]+)(…?)`/g)].map(([, name = "", more]) => ({ name, more: more !== "" }));
    const isNamed = (one: string) => named.some(({ name, more }) => (more ? one.startsWith(name) : one === name));
    expect([...KNOWN_ELSEWHERE].filter((one) => !isNamed(one))).toEqual([]);
  });
});
