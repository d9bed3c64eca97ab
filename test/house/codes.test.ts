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
  const text = [...all.values()].join("\n");
  const isEmitted = (code: string) => {
    const name = code.replaceAll(".", "\\.");
    const condition = code.replace(/^condition\./, "");
    const call = new RegExp(`["'\`]${name}(?:/[\\w-]+)?["'\`]|^ {2}${name}: |conditionFor\\("${condition}[/"]`, "m");
    return call.test(text);
  };
  expect(Object.keys(codes).filter((code) => !isEmitted(code))).toEqual([]);
});

/** Folders whose texts are all in the catalogue. */
const SPEAKING = /^core\/(?:api|engine|files|kinds|lifecycle|local|policy)\//;

it("folders that use the catalogue contain no text of a diagnostic", () => {
  const speaking = [...all].filter(
    ([file, text]) => SPEAKING.test(file) && /(?<!#)\b(?:errorOf|warningOf|fail)\(/.test(text),
  );
  expect(speaking.map(([file]) => file)).toEqual([]);
});
