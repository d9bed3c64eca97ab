import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "../..");

/** HTML comments before a block: `<!-- exit: 1 -->`, `<!-- not run: reason -->`. */
export type Directives = ReadonlyMap<string, string>;

/** A fenced block of a page. */
export interface Block {
  readonly lang: string;
  /** Text without the fences. Ends with a line break unless the block is empty. */
  readonly text: string;
  /** Line of the opening fence. The first line of the page is 1. */
  readonly line: number;
  /** Line of the closing fence. */
  readonly end: number;
  readonly directives: Directives;
}

export interface Page {
  /** Path relative to the project: `docs/yaml.md`. */
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

const AGENT = ["AGENTS.md", "integrations/agent/SKILL.md"];

/** Returns all pages for users, handwritten and generated. */
export function pages(): Page[] {
  const folders = globSync("{docs,examples}/**/*.md", { cwd: root }).toSorted();
  const files = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...AGENT, ...folders];
  return files.map((file) => readPage(file, readFileSync(path.join(root, file), "utf8")));
}

/** Decides whether this page belongs to a Terraform registry. */
export const isOfRegistry = (file: string): boolean =>
  /^docs\/(?:index\.md$|(?:guides|resources|data-sources|list-resources|ephemeral-resources|actions|functions)\/)/.test(
    file,
  );

/**
 * Splits a page into its blocks.
 * @throws Error for an unclosed fence, or for an indented fence, which the pattern would miss.
 */
export function readPage(file: string, text: string): Page {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const opening = /^(\s*)(`{3,}|~{3,})\s*(\S*)/.exec(lines[at] ?? "");
    if (opening === null) continue;
    const [, indent = "", fence = "", lang = ""] = opening;
    if (indent !== "") throw new Error(`${file}:${at + 1}: an indented block is not looked at; begin it at the margin`);
    const end = lines.indexOf(fence, at + 1);
    if (end < 0) throw new Error(`${file}:${at + 1}: the block is not closed`);
    const body = lines.slice(at + 1, end).map((line) => `${line}\n`);
    blocks.push({
      lang,
      text: body.join(""),
      line: at + 1,
      end: end + 1,
      directives: directivesOf(lines.slice(0, at)),
    });
    at = end;
  }
  return { file, text, blocks };
}

/** Returns the HTML comments on the lines before a block. */
function directivesOf(before: readonly string[]): Directives {
  const directives = new Map<string, string>();
  for (const line of before.toReversed()) {
    const comment = /^<!--\s*([a-z ]+):\s*(.+?)\s*-->$/.exec(line);
    if (comment === null) break;
    directives.set(comment[1] ?? "", comment[2] ?? "");
  }
  return directives;
}

/** Returns the text without blocks and HTML comments. */
export function prose({ text, blocks }: Page): string {
  const lines = text.split("\n");
  for (const { line, end } of blocks) lines.fill("", line - 1, end);
  return lines.join("\n").replace(/<!--[\s\S]*?-->/g, "");
}

/** Returns the links of a page to headings and to other files of the project. */
export const links = (page: Page): string[] =>
  [...prose(page).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, to = ""]) => to);

/** Returns GitHub's anchor of a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
