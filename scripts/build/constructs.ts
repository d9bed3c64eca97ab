// The constructs for CDKTF and CDK Terrain as CommonJS: the folders `cdktf/` and `cdktn/` of `dist`.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { bindingsOf, LIBRARIES, type Library } from "../bindings/kept.ts";

const root = path.resolve(import.meta.dirname, "../..");
const sources = path.join(root, "src/constructs");
const CHECKS = "binding-checks.ts";
const COMMONJS = `${JSON.stringify({ type: "commonjs", main: "index.js", types: "index.d.ts" })}\n`;

/** Every compiler and resolution of users finds the emitted declarations. Generated code passes these rules. */
const compilerOptions = {
  target: "es2022",
  lib: ["es2022"],
  module: "node16",
  moduleResolution: "node16",
  types: ["node"],
  strict: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  useDefineForClassFields: false,
  stripInternal: true,
  declaration: true,
  skipLibCheck: true,
  rootDir: "from",
  outDir: "made",
};

/**
 * Replaces `cdktf/` and `cdktn/` in `folder`: `index.js` with everything public, `lib/NAME` for deep imports, declarations, and a
 * `package.json` that says CommonJS.
 *
 * @param folder absolute; `constructs` and the library must be found from there
 * @throws Error with the compiler's words
 */
export async function buildConstructs(folder: string): Promise<void> {
  await Promise.all(LIBRARIES.map((library) => build(library, path.join(folder, library))));
}

async function build(library: Library, target: string): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), `hostform-${library}-`));
  try {
    await symlink(path.join(root, "node_modules"), path.join(work, "node_modules"), "junction");
    await write(path.join(work, "package.json"), COMMONJS);
    await write(path.join(work, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["from"] }));
    await writeSources(library, path.join(work, "from"));
    const compiler = [path.join(root, "node_modules/.bin/tsc"), "-p", work];
    await promisify(execFile)(process.execPath, compiler, { cwd: work }).catch(({ stdout, stderr }) => {
      throw new Error(`The constructs for ${library} do not compile:\n${stdout}${stderr}`);
    });

    const made = path.join(work, "made");
    await write(path.join(made, "package.json"), COMMONJS);
    await write(path.join(made, "peer.js"), peer(library));
    for (const name of await readdir(made, { recursive: true })) {
      if (!/^(?:lib\/.*)?index\.js$/.test(name.replaceAll(path.sep, "/"))) continue;
      const file = path.join(made, name);
      const to = path.relative(path.dirname(file), path.join(made, "peer.js")).replaceAll(path.sep, "/");
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace('"use strict";\n', `$&require("${to.startsWith(".") ? to : `./${to}`}");\n`));
    }
    await rm(target, { recursive: true, force: true });
    await cp(made, target, { recursive: true });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Lays the bindings and `src/constructs` out in one folder, as the package has them. */
async function writeSources(library: Library, to: string): Promise<void> {
  await write(path.join(to, "index.ts"), 'export * from "./bindings";\nexport * from "./sites/index";\n');
  for (const [name, text] of await bindingsOf(library, root)) {
    const checked = text
      .replace(/^\/\/ @ts-nocheck\n/m, "")
      .replaceAll(/"(?:\.\.\/)+src\/constructs\/(?=[a-z-]+\.ts")/g, '"../../');
    await write(path.join(to, name === "index.ts" ? "bindings.ts" : name), relative(checked));
  }
  await write(path.join(to, CHECKS), await readFile(path.join(sources, CHECKS), "utf8"));
  const from = path.join(sources, "sites");
  for (const name of (await readdir(from, { recursive: true })).filter((one) => one.endsWith(".ts"))) {
    // One source, written against `cdktf`: only import specifiers name the library.
    const text = (await readFile(path.join(from, name), "utf8"))
      .replaceAll(/(?<=\bfrom |\bimport )"cdktf"/g, `"${library}"`)
      .replaceAll(/(?<=\bfrom ")(?:\.\.\/)+bindings\/cdktf\/(?=lib\/)/g, "../");
    await write(path.join(to, "sites", name), relative(text));
  }
}

/** Imports of CommonJS have no extension, so that every compiler finds the declarations. */
const relative = (text: string) => text.replaceAll(/(?<=\bfrom ")(\.{1,2}\/[^"]+)\.ts(?=")/g, "$1");

/** Each entry loads this first: it names the packages to install where Node would name a file of this package. */
function peer(library: Library): string {
  const other = LIBRARIES.find((one) => one !== library);
  return `"use strict";
try {
  require("constructs");
  require("${library}");
} catch (error) {
  if (error.code !== "MODULE_NOT_FOUND" || !/'(?:constructs|${library})'/.test(error.message)) throw error;
  throw new Error(
    "hostform/${library} needs the packages ${library} and constructs: npm install ${library} constructs. (An app of ${other} imports hostform/${other}.)",
    { cause: error },
  );
}
`;
}
