// The constructs for CDKTF and CDK Terrain as CommonJS: the folders `cdktf/` and `cdktn/` of the published package.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { bindingsOf, LIBRARIES, type Library } from "./bindings.ts";

const root = path.resolve(import.meta.dirname, "..");
const sources = path.join(root, "src/constructs");

/**
 * Makes or replaces `cdktf/` and `cdktn/` in `folder`: `index.js` with everything public, `lib/NAME` for deep imports, and
 * their declarations. They are physical folders, each with a `package.json` that says CommonJS, since `moduleResolution: node10`
 * does not read `exports`.
 *
 * @param folder absolute; the package's root, or any other from which `constructs` and the library are found
 * @throws Error with the compiler's words when the sources do not compile
 */
export async function buildConstructs(folder: string, libraries: readonly Library[] = LIBRARIES): Promise<void> {
  await Promise.all(libraries.map((library) => build(library, path.join(folder, library))));
}

async function build(library: Library, target: string): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), `hostform-${library}-`));
  try {
    await symlink(path.join(root, "node_modules"), path.join(work, "node_modules"), "junction");
    await write(path.join(work, "package.json"), COMMONJS);
    const { compilerOptions } = JSON.parse(await readFile(path.join(root, "tsconfig.constructs.json"), "utf8"));
    const config = { compilerOptions: { ...compilerOptions, rootDir: "from", outDir: "made" }, include: ["from"] };
    await write(path.join(work, "tsconfig.json"), JSON.stringify(config));
    await writeSources(library, path.join(work, "from"));
    await compile(library, work);

    const made = path.join(work, "made");
    await write(path.join(made, "package.json"), COMMONJS);
    await write(path.join(made, "peer.js"), peer(library));
    const entries = (await readdir(made, { recursive: true })).filter((name) => /^(?:lib\/.*)?index\.js$/.test(name));
    for (const name of entries) await lead(path.join(made, name), made);
    await rm(target, { recursive: true, force: true });
    await cp(made, target, { recursive: true });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const COMMONJS = `${JSON.stringify({ type: "commonjs", main: "index.js", types: "index.d.ts" })}\n`;

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** The sources as they are laid out in the package: bindings and `src/constructs` in one folder. */
async function writeSources(library: Library, to: string): Promise<void> {
  const index = 'export * from "./bindings";\nexport * from "./sites/index";\n';
  await write(path.join(to, "index.ts"), index);
  for (const [name, text] of await bindingsOf(library, root))
    await write(path.join(to, name === "index.ts" ? "bindings.ts" : name), checkable(text));
  await write(path.join(to, CALLED), await readFile(path.join(sources, CALLED), "utf8"));
  const from = path.join(sources, "sites");
  for (const name of (await readdir(from, { recursive: true })).filter((one) => one.endsWith(".ts")))
    await write(path.join(to, "sites", name), built(await readFile(path.join(from, name), "utf8"), library));
}

/** What the bindings of both libraries call. */
const CALLED = "binding-checks.ts";

/** Generated code passes the rules of `tsconfig.constructs.json`, so it is checked here. */
const checkable = (text: string) =>
  relative(
    text.replace(/^\/\/ @ts-nocheck\n/m, "").replaceAll(/"(?:\.\.\/)+src\/constructs\/(?=[a-z-]+\.ts")/g, '"../../'),
  );

/** One source for both libraries: written against `cdktf`, of which only import specifiers name it. */
const built = (text: string, library: Library) =>
  relative(
    text
      .replaceAll(/(?<=\bfrom |\bimport )"cdktf"/g, `"${library}"`)
      .replaceAll(/(?<=\bfrom ")(?:\.\.\/)+bindings\/cdktf\/(?=lib\/)/g, "../"),
  );

/** In CommonJS, imports have no extension, so that every compiler finds the declarations. */
const relative = (text: string) => text.replaceAll(/(?<=\bfrom ")(\.{1,2}\/[^"]+)\.ts(?=")/g, "$1");

async function compile(library: Library, work: string): Promise<void> {
  const compiler = spawn(process.execPath, [path.join(root, "node_modules/.bin/tsc"), "-p", work], { cwd: work });
  let said = "";
  for (const stream of [compiler.stdout, compiler.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += text));
  const code = await new Promise((resolve, reject) => compiler.on("close", resolve).on("error", reject));
  if (code !== 0) throw new Error(`The constructs for ${library} do not compile:\n${said}`);
}

/** What an entry loads first. */
const peer = (library: Library) => `"use strict";
// Names the packages to install, where Node would name a file of this package.
try {
  require("constructs");
  require("${library}");
} catch (error) {
  if (error.code !== "MODULE_NOT_FOUND" || !/'(?:constructs|${library})'/.test(error.message)) throw error;
  throw new Error(
    "hostform/${library} needs the packages ${library} and constructs: npm install ${library} constructs. (An app of ${other(library)} imports hostform/${other(library)}.)",
    { cause: error },
  );
}
`;

const other = (library: Library) => LIBRARIES.find((one) => one !== library);

async function lead(file: string, base: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const to = path.relative(path.dirname(file), path.join(base, "peer.js")).replaceAll(path.sep, "/");
  const first = `require("${to.startsWith(".") ? to : `./${to}`}");\n`;
  await writeFile(
    file,
    text.replace(/^"use strict";\n/, (strict) => strict + first),
  );
}
