import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { itWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { type Block, type Page, pages, readPage, root } from "./markdown.ts";
import { agrees, hasGaps, steadyLines } from "./output.ts";
import { isRun, type Run, runPage, usesTerraform } from "./shell.ts";

/** `UPDATE_DOCS=1 npm test -- test/docs/pages.test.ts` writes the real output into the pages. */
const UPDATE = process.env.UPDATE_DOCS === "1";

/** A `sh` block with its result, and the `text` block after it. */
interface Checked extends Run {
  readonly block: Block;
  readonly expected: number;
  readonly shown: Block | undefined;
}

/**
 * Pairs the executed blocks of the page with their runs.
 * @param runs Results of the executed blocks, in their order.
 */
function together({ blocks }: Page, runs: readonly Run[]): Checked[] {
  return blocks.filter(isRun).map((block, index) => {
    const next = blocks.slice(blocks.indexOf(block) + 1).find(({ lang }) => lang === "text" || lang === "sh");
    const run = runs[index] ?? { code: undefined, output: "" };
    const expected = Number(block.directives.get("exit") ?? 0);
    return { ...run, block, expected, shown: next?.lang === "text" ? next : undefined };
  });
}

/** Returns each difference between a page and its runs. */
function mistakes(page: Page, runs: readonly Run[]): string[] {
  return together(page, runs).flatMap(({ block, code, expected, output, shown }) => {
    const where = `${page.file}:${block.line}`;
    if (code !== expected) return [`${where}: ended with ${code ?? "a failure"} in place of ${expected}:\n${output}`];
    if (shown === undefined || agrees(shown.text, output)) return [];
    return [`${where}: prints\n${steadyLines(output).join("\n")}\nbut the page shows\n${shown.text}`];
  });
}

/**
 * Returns the page with the real output. Keeps outputs with gaps, because only a person can select the omitted lines.
 */
function updated(page: Page, runs: readonly Run[]): string {
  const lines = page.text.split("\n");
  for (const { code, expected, output, shown } of together(page, runs).toReversed()) {
    if (code !== expected || shown === undefined || hasGaps(shown.text) || agrees(shown.text, output)) continue;
    lines.splice(shown.line, shown.end - shown.line - 1, ...output.trimEnd().split("\n"));
  }
  return lines.join("\n");
}

describe("the commands of the pages have the documented results", { timeout: 160_000 }, () => {
  // The page about watch waits longest, so it starts first.
  const run = pages()
    .filter(({ blocks }) => blocks.some(isRun))
    .sort((a, b) => Number(b.file === "docs/watch.md") - Number(a.file === "docs/watch.md"));
  const lacking = TERRAFORM.path === undefined ? run.filter(usesTerraform) : [];
  for (const { file } of lacking) itWith(TERRAFORM)(file, () => undefined);

  it.concurrent.for(run.filter((page) => !lacking.includes(page)))("$file", async (page, { expect }) => {
    const runs = await runPage(page);
    const text = UPDATE ? updated(page, runs) : page.text;
    if (text !== page.text) writeFileSync(path.join(root, page.file), text);
    expect(mistakes(readPage(page.file, text), runs)).toEqual([]);
  });
});

describe("the check of the pages", () => {
  const check = async (body: string) => {
    const page = readPage("test.md", body);
    return mistakes(page, await runPage(page));
  };

  it.each([
    ["another output", "```sh\necho one\n```\n```text\ntwo\n```\n", /prints\none\nbut the page shows\ntwo/],
    [
      "an exit code that differs from the page",
      "<!-- exit: 2 -->\n```sh\nhostform plan\n```\n",
      /ended with 1 in place of 2/,
    ],
    ["a block after a failure", "```sh\nfalse\n```\n```sh\ntrue\n```\n", /test.md:4: ended with a failure/],
  ])("fails for %s", async (_, body, words) => {
    expect((await check(body)).join("\n")).toMatch(words);
  });

  it("distinguishes amounts and numbers, but not dates, ids and durations", () => {
    expect(agrees("billed 450 USD", "billed 451 USD")).toBe(false);
    expect(agrees("a: Creating...\nb: Creating...", "b: Creating...\na: Creating...")).toBe(true);
    expect(agrees("3 requests in 2 s. [id=1003] 2026-11-28", "4 requests in under 1 s. [id=1004] 2027-01-02")).toBe(
      true,
    );
    expect(agrees("one\n…\nfour", "one\ntwo\nthree\nfour")).toBe(true);
    expect(agrees("one\n…\nfive", "one\ntwo\nthree\nfour")).toBe(false);
  });

  it("skips only listed blocks, each with a reason", () => {
    const skipped = pages().flatMap(({ blocks }) =>
      blocks.filter(({ lang, directives }) => lang === "sh" && directives.has("not run")),
    );
    expect(skipped.length).toBeLessThan(16);
  });
});
