import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { agencyPages, FIRST_MINUTE, FOLDER, firstMinute, hashOf, RECORD } from "../../scripts/pictures.ts";
import { pages, root } from "./markdown.ts";

const AGAIN = "`npm run pictures` takes the pictures again";
const KB = 1024;

describe("the pictures of README and docs", () => {
  it("are those of the present pages: what each was made from is as it was", async () => {
    const { pictures, close } = await agencyPages();
    await close();
    const now = Object.fromEntries(pictures.map((picture) => [picture.name, hashOf(picture)]));
    expect(JSON.parse(readFileSync(path.join(FOLDER, RECORD), "utf8")), AGAIN).toEqual(now);
  });

  it("show at the terminal what the commands print", async () => {
    expect(readFileSync(path.join(FOLDER, FIRST_MINUTE), "utf8"), AGAIN).toBe(await firstMinute());
  });

  it("show at the terminal the declaration of the README, in text that can be selected, in light and dark", () => {
    const svg = readFileSync(path.join(FOLDER, FIRST_MINUTE), "utf8");
    const [, declaration = ""] = /```yaml\n(.*?)```/s.exec(readFileSync(path.join(root, "README.md"), "utf8")) ?? [];
    const lines = declaration.split("\n").filter((line) => line !== "");
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(svg).toContain(`>${line}</text>`);
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg).not.toMatch(/<(?:image|script|foreignObject)|https?:(?!\/\/www\.w3\.org)/);
  });

  it("are small, are each shown with words for who does not see them, and stay out of the package", () => {
    const shown = pages().flatMap(({ file, text }) =>
      [...text.matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, words = "", to = ""]) => ({
        words,
        file: path.posix.join(path.posix.dirname(file), to),
      })),
    );
    for (const name of readdirSync(FOLDER).filter((name) => name !== RECORD)) {
      const most = name.endsWith(".svg") ? 60 * KB : 150 * KB;
      expect(statSync(path.join(FOLDER, name)).size, name).toBeLessThanOrEqual(most);
      const uses = shown.filter(({ file }) => file === `docs/images/${name}`);
      expect(uses, `${name} is shown`).not.toEqual([]);
      for (const { words } of uses) expect(words.length, name).toBeGreaterThan(20);
    }
    const [packed] = JSON.parse(
      execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8" }),
    );
    const files: string[] = packed.files.map((one: { path: string }) => one.path);
    expect(files).toContain("docs/README.md");
    expect(files.filter((file) => file.startsWith("docs/images/"))).toEqual([]);
  });
});
