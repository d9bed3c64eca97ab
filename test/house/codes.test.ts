/** Diagnostic codes: the sources use each code, and the catalogue contains each text. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { codes } from "../../src/core/model/index.ts";

const ROOT = path.resolve(import.meta.dirname, "../../src");
const TABLE = "core/model/codes.ts";
const sources = globSync("**/*.ts", { cwd: ROOT }).filter((file) => file !== TABLE);
const all = new Map(sources.map((file) => [file, readFileSync(path.join(ROOT, file), "utf8")]));

it("a message, an error or a condition uses each code of the table", () => {
  const emitted = new Set<string>();
  for (const text of all.values()) {
    for (const [, code = ""] of text.matchAll(/["'`]([\w.]+)(?:\/[\w-]+)?(?=["'`])/g)) emitted.add(code);
    for (const [, code = ""] of text.matchAll(/^ {2}([\w.]+): /gm)) emitted.add(code);
    for (const [, condition = ""] of text.matchAll(/conditionFor\("(\w+)[/"]/g)) emitted.add(`condition.${condition}`);
  }
  expect(Object.keys(codes).filter((code) => !emitted.has(code))).toEqual([]);
});

/** Folders whose texts are all in the catalogue. */
const SPEAKING = /^core\/(?:api|engine|files|kinds|lifecycle|local|policy)\//;

it("folders that use the catalogue contain no text of a diagnostic", () => {
  const speaking = [...all].filter(
    ([file, text]) => SPEAKING.test(file) && /(?<!#)\b(?:errorOf|warningOf|fail)\(/.test(text),
  );
  expect(speaking.map(([file]) => file)).toEqual([]);
});
