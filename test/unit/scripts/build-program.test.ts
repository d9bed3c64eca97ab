import { describe, expect, it } from "vitest";
import { BANNER, importBuiltinsLate } from "../../../scripts/build-program.ts";

const chunk = (...lines: string[]) => [BANNER, ...lines, ""].join("\n");

describe("importBuiltinsLate", () => {
  it("takes from Node's modules what is used, before anything else runs", () => {
    const text = chunk(
      'import { other } from "./chunk.js";',
      'import path from "node:path";',
      "use(path);",
      'import { readFile as readFile2, stat } from "node:fs/promises";',
      'import * as util from "node:util";',
      'import fs, { constants } from "node:fs";',
    );
    const late = importBuiltinsLate(text);
    expect(late).not.toMatch(/^import .*node:/m);
    expect(late.split("\n").filter((line) => line !== "")).toEqual([
      BANNER,
      'const path = globalThis.process.getBuiltinModule("node:path");',
      'const readFile2 = globalThis.process.getBuiltinModule("node:fs/promises").readFile;',
      'const stat = globalThis.process.getBuiltinModule("node:fs/promises").stat;',
      'const util = globalThis.process.getBuiltinModule("node:util");',
      'const fs = globalThis.process.getBuiltinModule("node:fs");',
      'const constants = globalThis.process.getBuiltinModule("node:fs").constants;',
      'import { other } from "./chunk.js";',
      "use(path);",
    ]);
  });

  it("takes the module that has the name of the global variable it is taken from", () => {
    const late = importBuiltinsLate(chunk('import process from "node:process";'));
    expect(new Function(`${late.replace(BANNER, "")}; return process;`)()).toBe(process);
  });

  it("reads names over several lines", () => {
    const late = importBuiltinsLate(chunk("import {", "  isAbsolute,", "  join as join2", '} from "node:path";'));
    expect(new Function(`${late.replace(BANNER, "")}; return [isAbsolute("/a"), join2("a", "b")];`)()).toEqual([
      true,
      "a/b",
    ]);
  });

  it("leaves other modules, imports that run, and texts as they are", () => {
    const text = chunk(
      'import x from "./node:x.js";',
      'const late = await import("node:fs");',
      "say(`",
      'import path from "node:path";',
      "`);",
    );
    expect(importBuiltinsLate(text)).toBe(text);
  });
});
