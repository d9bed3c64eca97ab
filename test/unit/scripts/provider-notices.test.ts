import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProvider } from "../../../scripts/build-provider.ts";
import { noticesIn, noticesOf } from "../../../scripts/provider-notices.ts";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "hostform-notices-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A package with these files, in a folder of modules. */
async function install(name: string, files: Readonly<Record<string, string>>, at = "node_modules"): Promise<void> {
  const folder = path.join(root, at, name);
  await mkdir(folder, { recursive: true });
  const described = { "package.json": JSON.stringify({ name, version: "1.2.3", license: "MIT" }), ...files };
  for (const [file, text] of Object.entries(described)) await writeFile(path.join(folder, file), text);
}

describe("the notices of bundled packages", () => {
  it("have each package once, with all texts of its licence and what stands in its bundled files alone", async () => {
    await install("b", { LICENSE: "The licence of b.\r\n", "NOTICE.txt": "Made by b.", "README.md": "Read." });
    await install("@a/one", {
      "LICENSE-MIT": "The licence of one.",
      "x.js": "// Copyright 2008 Somebody\n// All rights.\nlet x;\n// not this\n",
      "y.js": "/*! Copyright 2008 Somebody\n * All rights. */\n",
      "z.js": "// Copyright 1999 Nobody: not bundled\n",
    });
    const inputs = ["node_modules/b/i.js", "src/main.ts", "node_modules/@a/one/x.js", "node_modules/@a/one/y.js"];
    await writeFile(path.join(root, "node_modules/b/i.js"), "export {};");
    const text = await noticesOf(inputs, root);
    expect(text.split(/\n={80}\n\n/).slice(1)).toEqual([
      "@a/one 1.2.3, MIT\n\nThe licence of one.\n\nCopyright 2008 Somebody\nAll rights.\n",
      "b 1.2.3, MIT\n\nThe licence of b.\n\nMade by b.\n",
    ]);
    expect(await noticesOf(inputs.toReversed(), root), "in whatever order").toBe(text);
  });

  it("has one package that lies in two places once", async () => {
    for (const at of ["node_modules", "node_modules/b/node_modules"]) {
      await install("c", { LICENSE: "The licence of c.", "i.js": "" }, at);
    }
    const text = await noticesOf(["node_modules/c/i.js", "node_modules/b/node_modules/c/i.js"], root);
    expect(text.split("The licence of c.")).toHaveLength(2);
  });

  it("are refused for a package without any licence", async () => {
    await install("bare", { "i.js": "" });
    await expect(noticesOf(["node_modules/bare/i.js"], root)).rejects.toThrow(/bare .*scripts\/licenses/);
  });

  it.each([
    ["// The licence of life is long\nlet a;", []],
    ["  // Copyright (c) 2011 A\n  // and B\n", ["Copyright (c) 2011 A\nand B"]],
    ["x; /*! ws. MIT License. E */ y;", ["ws. MIT License. E"]],
    ["/**\n * @license MIT License.\n *\n * Text\n */", ["@license MIT License.\n\nText"]],
  ])("in the source %j are %j", (source, found) => expect(noticesIn(source)).toEqual(found));
});

it("the provider is built with those of all that it embeds, the same each time", { timeout: 30_000 }, async () => {
  const notices = async (name: string) => {
    await mkdir(path.join(root, name));
    await buildProvider(path.join(root, name, "provider.mjs"));
    return readFile(path.join(root, name, "provider.NOTICES.txt"), "utf8");
  };
  const text = await notices("first");
  const heads = [...text.matchAll(/={80}\n\n(\S+) \d+\.\d+\.\d+, (.*)\n/g)].map(([, name, license]) => [name, license]);
  expect(heads).toEqual([
    ["@bufbuild/protobuf", "Apache-2.0 AND BSD-3-Clause"],
    ["@msgpack/msgpack", "ISC"],
    ["undici", "MIT"],
    ["zod", "MIT"],
  ]);
  for (const words of [
    "TERMS AND CONDITIONS FOR USE, REPRODUCTION",
    "Copyright 2008 Google Inc.",
    "Copyright 2019 The MessagePack Community.",
    "Matteo Collina and Undici contributors",
    "Copyright Fedor Indutny, 2018.",
    "Einar Otto Stangvik",
    "Colin McDonnell",
  ])
    expect(text).toContain(words);
  expect(text, "no path of this machine").not.toContain(path.resolve(import.meta.dirname, "../../.."));
  expect(await notices("second")).toBe(text);
});
