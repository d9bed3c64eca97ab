/**
 * The pages of the site, from the Markdown of the repository. A page keeps the path of its file, so that links between pages stay as they are.
 * Exception: `README.md` is the start page. The tasks of `docs/README.md` are the navigation. A linked file that is no page gets a page with
 * its text.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { links, pages, readPage, root } from "../../test/docs/markdown.ts";

const { dirname, join } = path.posix;
const TASKS = "docs/README.md";
/** Files that the site copies, for programs. */
const COPIED = /^(?:schemas|docs\/images)\//;

export interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
  readonly collapsed?: boolean;
}

/** Markdown of the pages, by path in the repository. */
export const PAGES: ReadonlyMap<string, string> = new Map(pages().map(({ file, text }) => [file, text]));

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

/** Files of the repository to which a text links. */
function linked(file: string, text: string): string[] {
  return links(readPage(file, text)).flatMap((link) => {
    const [to] = link.split("#");
    return to ? join(dirname(file), to).replace(/\/$/, "") : [];
  });
}

/** Returns the Markdown of the linked files and folders by path, and the files that the site copies. */
export function linkedFiles(): { sources: Map<string, string>; copied: string[] } {
  const files = new Set([...PAGES].flatMap(([file, text]) => linked(file, text)).filter((file) => !PAGES.has(file)));
  const { copied = [], sources = [] } = Object.groupBy(files, (file) => (COPIED.test(file) ? "copied" : "sources"));
  return { sources: new Map(sources.map((file) => [pageOf(file), sourcePage(file)])), copied };
}

const pageOf = (file: string) => (file.endsWith(".md") ? file : `${file}.md`);

function sourcePage(file: string): string {
  const isFolder = statSync(path.join(root, file)).isDirectory();
  const files = isFolder ? globSync(`${file}/**/*.*`, { cwd: root }).toSorted() : [file];
  const block = (one: string) => `\`\`\`\`\`${path.extname(one).slice(1)}\n${read(one).trimEnd()}\n\`\`\`\`\`\n`;
  const parts = files.map((one) => (isFolder ? `## ${one.slice(file.length + 1)}\n\n` : "") + block(one));
  return `# ${file}\n\n${parts.join("\n")}`;
}

/** Returns the address of a link in a page. */
export function siteLink(file: string, to: string): string {
  const [, target, hash = ""] = /^(?![a-z]+:)([^#]+)(#.*)?$/.exec(to) ?? [];
  if (target === undefined) return to;
  const wanted = join(dirname(file), target).replace(/\/$/, "");
  const address = COPIED.test(wanted) ? wanted : pageOf(wanted);
  return `/${address === "README.md" ? "index.md" : address}${hash}`;
}

/**
 * Returns a group for each heading of `docs/README.md`. A page without a row is below the README of its folder, or below the provider's page.
 * @throws Error for a page that would have no place.
 */
export function navigation(all = PAGES): Item[] {
  const [, ...sections] = (all.get(TASKS) ?? "").split(/^## /m);
  const groups = sections.map((section) => ({
    text: section.split("\n")[0] ?? "",
    files: [...new Set(linked(TASKS, section))].filter((file) => all.has(file)),
  }));
  const placed = new Set([TASKS, ...groups.flatMap(({ files }) => files)]);
  const below = Map.groupBy(
    [...all.keys()].filter((file) => !placed.has(file)),
    (file) => {
      const readme = `${dirname(file)}/README.md`;
      const parent = all.has(readme) ? readme : "docs/index.md";
      if (!placed.has(parent) || parent === TASKS) throw new Error(`${TASKS} has no row for ${file}.`);
      return parent;
    },
  );
  const itemOf = (file: string): Item => {
    const children = below.get(file)?.map(itemOf);
    const [, text = file] = /^# (.+)$/m.exec(all.get(file) ?? "") ?? [];
    const link = file === "README.md" ? "/" : `/${file.replace(/\.md$/, ".html")}`;
    return { text: text.replaceAll("`", ""), link, ...(children && { items: children, collapsed: true }) };
  };
  return [itemOf(TASKS), ...groups.map(({ text, files }) => ({ text, items: files.map(itemOf) }))];
}
