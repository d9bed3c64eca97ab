import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { agencyPages, FIRST_MINUTE, FOLDER, firstMinute, hashOf, RECORD } from "../../scripts/pictures.ts";
import { pages } from "./markdown.ts";

const AGAIN = "`npm run pictures` takes the pictures again";
const KB = 1024;

describe("the pictures of README and docs", () => {
  it("are current: their sources have not changed since their creation", async () => {
    const { pictures, close } = await agencyPages();
    await close();
    const now = Object.fromEntries(pictures.map((picture) => [picture.name, hashOf(picture)]));
    expect(JSON.parse(readFileSync(path.join(FOLDER, RECORD), "utf8")), AGAIN).toEqual(now);
  });

  it("show the output of the commands", async () => {
    expect(readFileSync(path.join(FOLDER, FIRST_MINUTE), "utf8"), AGAIN).toBe(await firstMinute());
  });

  it("are small and have a description on a page", () => {
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
  });
});
