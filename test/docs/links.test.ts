import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { anchorOf, isOfRegistry, links, type Page, pages, prose, readPage, root } from "./markdown.ts";

const all = pages();

/** Returns the anchors of a page: explicit anchors, and anchors that GitHub derives from headings. */
function anchors(page: Page): Set<string> {
  const text = prose(page);
  const headings = [...text.matchAll(/^#{1,6}\s+(.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id)]);
}

function target(page: Page, link: string): { file: string; anchor: string | undefined } {
  const [to = "", anchor] = link.split("#");
  return { file: to === "" ? page.file : path.posix.join(path.posix.dirname(page.file), to), anchor };
}

/** Returns the error in a link, or undefined for a correct link. */
function broken(page: Page, link: string): string | undefined {
  const { file, anchor } = target(page, link);
  if (!existsSync(path.join(root, file))) return `${link}: there is no ${file}`;
  if (anchor === undefined) return undefined;
  const there = readPage(file, readFileSync(path.join(root, file), "utf8"));
  return anchors(there).has(anchor) ? undefined : `${link}: ${file} has no such heading`;
}

describe("links between pages", () => {
  it.each(all)("$file links only to existing files and headings", (page) => {
    expect(links(page).flatMap((link) => broken(page, link) ?? [])).toEqual([]);
  });

  it.each(all.filter(({ file }) => isOfRegistry(file)))("$file links only to pages that a registry shows", (page) => {
    const elsewhere = links(page).filter((link) => !isOfRegistry(target(page, link).file));
    expect(elsewhere).toEqual([]);
  });

  it("reach every page from the README", () => {
    const byFile = new Map(all.map((page) => [page.file, page]));
    const reached = new Set<string>();
    const open = ["README.md"];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      const page = byFile.get(file);
      if (page === undefined || reached.has(file)) continue;
      reached.add(file);
      open.push(...links(page).map((link) => target(page, link).file));
    }
    expect([...byFile.keys()].filter((file) => !reached.has(file))).toEqual([]);
  });

  it("all pages name only existing paths of the project", () => {
    const named = all.flatMap((page) =>
      [...prose(page).matchAll(/`((?:src|test|scripts|schemas|docs|examples|\.ci)\/[\w./-]*)`/g)].map(
        ([, file = ""]) => [page.file, file] as const,
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, file]) => !/[A-Z]{4}/.test(file) && !existsSync(path.join(root, file)))).toEqual([]);
  });

  it("all pages name only existing scripts", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { scripts: object };
    const named = all.flatMap(({ text }) => [...text.matchAll(/npm run ([a-z:]+)/g)].map(([, name = ""]) => name));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
