import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProvider } from "../../../scripts/build/dist.ts";
import { billOfMaterials, embeddedFiles, noticesIn, noticesOf, packagesOf } from "../../../scripts/build/notices.ts";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "hostform-notices-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Installs a package with these files in a modules folder. */
async function install(name: string, files: Readonly<Record<string, string>>, at = "node_modules"): Promise<void> {
  const folder = path.join(root, at, name);
  await mkdir(folder, { recursive: true });
  const described = { "package.json": JSON.stringify({ name, version: "1.2.3", license: "MIT" }), ...files };
  for (const [file, text] of Object.entries(described)) await writeFile(path.join(folder, file), text);
}

/** Returns the notices of a bundle of these files. */
const notices = async (...inputs: string[]) => noticesOf(await packagesOf(inputs, root), "Licences:");

describe("the notices of bundled packages", () => {
  it("contain each package once, with all texts of its licence and the notices in its bundled files", async () => {
    await install("b", { LICENSE: "The licence of b.\r\n", "NOTICE.txt": "Made by b.", "README.md": "Read." });
    await install("@a/one", {
      "LICENSE-MIT": "The licence of one.",
      "x.js": "// Copyright 2008 Somebody\n// All rights.\nlet x;\n// not this\n",
      "y.js": "/*! Copyright 2008 Somebody\n * All rights. */\n",
      "z.js": "// Copyright 1999 Nobody: not bundled\n",
    });
    const inputs = ["node_modules/b/i.js", "src/main.ts", "node_modules/@a/one/x.js", "node_modules/@a/one/y.js"];
    await writeFile(path.join(root, "node_modules/b/i.js"), "export {};");
    const text = await notices(...inputs);
    expect(text.split(/\n={80}\n\n/).slice(1)).toEqual([
      "@a/one 1.2.3, MIT\n\nThe licence of one.\n\nCopyright 2008 Somebody\nAll rights.\n",
      "b 1.2.3, MIT\n\nThe licence of b.\n\nMade by b.\n",
    ]);
    expect(await notices(...inputs.toReversed()), "in whatever order").toBe(text);
  });

  it("contain a package in two folders once", async () => {
    for (const at of ["node_modules", "node_modules/b/node_modules"]) {
      await install("c", { LICENSE: "The licence of c.", "i.js": "" }, at);
    }
    const text = await notices("node_modules/c/i.js", "node_modules/b/node_modules/c/i.js");
    expect(text.split("The licence of c.")).toHaveLength(2);
  });

  it("are rejected for a package without a licence", async () => {
    await install("bare", { "i.js": "" });
    await expect(notices("node_modules/bare/i.js")).rejects.toThrow(/bare .*scripts\/build\/licenses/);
  });

  it.each([
    ["// The licence of life is long\nlet a;", []],
    ["  // Copyright (c) 2011 A\n  // and B\n", ["Copyright (c) 2011 A\nand B"]],
    ["x; /*! ws. MIT License. E */ y;", ["ws. MIT License. E"]],
    ["/**\n * @license MIT License.\n *\n * Text\n */", ["@license MIT License.\n\nText"]],
  ])("in the source %j are %j", (source, found) => expect(noticesIn(source)).toEqual(found));
});

describe("the bill of materials", () => {
  const product = { name: "hostform", version: "1.0.0", license: "MIT", description: "It." };
  const integrity = `sha512-${Buffer.from("digest").toString("base64")}`;
  const bill = async (lock: Readonly<Record<string, { version: string; integrity?: string }>>) => {
    await install("@s/p", { LICENSE: "The licence of p.", "i.js": "" });
    const packages = await packagesOf(["node_modules/@s/p/i.js"], root);
    return JSON.parse(billOfMaterials(packages, product, { packages: lock }));
  };

  it("names each package by its URL, with the digest of the lock file, as a part of the product", async () => {
    const { components, dependencies, metadata } = await bill({ "node_modules/@s/p": { version: "1.2.3", integrity } });
    expect(components).toEqual([
      {
        type: "library",
        "bom-ref": "pkg:npm/%40s/p@1.2.3",
        group: "@s",
        name: "p",
        version: "1.2.3",
        licenses: [{ license: { id: "MIT" } }],
        purl: "pkg:npm/%40s/p@1.2.3",
        hashes: [{ alg: "SHA-512", content: Buffer.from("digest").toString("hex") }],
      },
    ]);
    expect(metadata.component.purl).toBe("pkg:npm/hostform@1.0.0");
    expect(dependencies[0]).toEqual({ ref: "pkg:npm/hostform@1.0.0", dependsOn: ["pkg:npm/%40s/p@1.2.3"] });
  });

  it.each([
    ["a lock file without it", {}],
    ["another version there", { "node_modules/@s/p": { version: "9.0.0", integrity } }],
    ["no digest there", { "node_modules/@s/p": { version: "1.2.3" } }],
  ])("is refused for %s", async (_, lock) => {
    await expect(bill(lock)).rejects.toThrow("no SHA-512 of @s/p 1.2.3");
  });
});

describe("the files of a bundle", () => {
  /** Bundles a program that imports the package `whole`. */
  async function filesWith(...plugins: Plugin[]): Promise<string[]> {
    await install("whole", { "index.js": "export const published = 1;\n" });
    const stdin = { contents: 'import { published } from "whole"; console.log(published);', resolveDir: root };
    const options = { stdin, bundle: true, write: false, metafile: true, logLevel: "silent" } as const;
    const { metafile } = await build({ ...options, absWorkingDir: root, plugins });
    return embeddedFiles(metafile, root);
  }
  const contents = "export const published = 2; // replaced";

  it("come from the published packages", async () => {
    expect(await filesWith()).toEqual(["node_modules/whole/index.js", "<stdin>"]);
  });

  it.each<[string, Plugin["setup"]]>([
    [
      "a module takes the place of a package",
      ({ onResolve, onLoad }) => {
        onResolve({ filter: /^whole$/ }, () => ({ path: "whole", namespace: "parts" }));
        onLoad({ filter: /.*/, namespace: "parts" }, () => ({ contents }));
      },
    ],
    ["a file of a package is rewritten", ({ onLoad }) => onLoad({ filter: /whole/ }, () => ({ contents }))],
  ])("are rejected if %s", async (_, setup) => {
    await expect(filesWith({ name: "test", setup })).rejects.toThrow(/other contents than these files: .*whole/);
  });
});

it("the provider is built with the notices of all embedded packages, with the same bytes each time", {
  timeout: 30_000,
}, async () => {
  const notices = async (name: string) => {
    await buildProvider(path.join(root, name));
    return readFile(path.join(root, name, "provider.NOTICES.txt"), "utf8");
  };
  const text = await notices("first");
  const heads = [...text.matchAll(/={80}\n\n(\S+) \d+\.\d+\.\d+, (.*)\n/g)].map(([, name, license]) => [name, license]);
  expect(heads).toEqual([
    ["@bufbuild/protobuf", "Apache-2.0 AND BSD-3-Clause"],
    ["@msgpack/msgpack", "ISC"],
    ["pg", "MIT"],
    ["pg-connection-string", "MIT"],
    ["pg-int8", "ISC"],
    ["pg-pool", "MIT"],
    ["pg-protocol", "MIT"],
    ["pg-types", "MIT"],
    ["pgpass", "MIT"],
    ["postgres-array", "MIT"],
    ["postgres-bytea", "MIT"],
    ["postgres-date", "MIT"],
    ["postgres-interval", "MIT"],
    ["split2", "ISC"],
    ["undici", "MIT"],
    ["xtend", "MIT"],
    ["yaml", "ISC"],
    ["zod", "MIT"],
  ]);
  for (const words of [
    "TERMS AND CONDITIONS FOR USE, REPRODUCTION",
    "Copyright 2008 Google Inc.",
    "Copyright 2019 The MessagePack Community.",
    "Matteo Collina and Undici contributors",
    "Copyright Fedor Indutny, 2018.",
    "Eemeli Aro",
    "Colin McDonnell",
  ])
    expect(text).toContain(words);
  expect(text, "no path of this machine").not.toContain(path.resolve(import.meta.dirname, "../../.."));
  expect(await notices("second")).toBe(text);
});
